//! The hydra binary.
fn main() {}
