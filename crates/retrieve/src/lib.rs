//! hydra-retrieve
