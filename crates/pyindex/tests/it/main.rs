//! The index, from outside.

mod cache;
mod edges;
mod imports;
mod released_parity;
mod released_rules;
mod resolution;
mod robustness;
mod units;
