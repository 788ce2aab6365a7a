//! hydra-pyindex
