//! The index, from outside.

mod edges;
mod resolution;
