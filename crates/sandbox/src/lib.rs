//! hydra-sandbox
