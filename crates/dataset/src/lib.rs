//! hydra-dataset
