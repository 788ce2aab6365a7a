//! The index, from outside.

mod cache;
mod edges;
mod hostile;
mod imports;
mod properties;
mod released_parity;
mod released_rules;
mod resolution;
mod units;
