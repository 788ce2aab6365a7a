//! hydra-dar
