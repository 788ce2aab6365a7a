//! hydra-generate
