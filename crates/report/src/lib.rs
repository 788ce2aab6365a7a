//! hydra-report
