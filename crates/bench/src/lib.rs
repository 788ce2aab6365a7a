//! hydra-bench
