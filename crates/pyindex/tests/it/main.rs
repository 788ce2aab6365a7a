//! The index, from outside.

mod edges;
mod released_parity;
mod released_rules;
mod resolution;
