//! hydra-mine
