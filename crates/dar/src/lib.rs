//! The dependency-aware retriever (DAR): a cross-encoder that says whether a function about to be
//! written will depend on a candidate.
//!
//! [`train`] fine-tunes a BERT or RoBERTa encoder with the paper's head on [`Pair`]s; the result is
//! a folder in the hub's format. [`DarScorer`] loads it and scores candidates, [`brp_table`] picks
//! the threshold from such scores, [`Embedder`] makes embeddings for dense retrieval with the same
//! encoder. Everything is generic over burn's [`Backend`](burn::tensor::backend::Backend); [`Cpu`]
//! needs nothing installed.
//!
//! Weights are read from safetensors only, never unpickled, and checked against `config.json`
//! before a single tensor is made.
//!
//! burn is pinned to 0.21, whose tensors are generic over the backend. burn 0.22 drops the
//! generics for a run-time `Device`: a move touches the signatures of this crate and nothing else.
//!
//! ```
//! use hydra_dar::brp_table;
//!
//! let table = brp_table(&[0.9, 0.6, 0.3, 0.1], &[1, 1, 0, 0]);
//! assert_eq!(table.best, 0.35);
//! assert_eq!(table.rows[4].recall, 1.0);
//! ```

mod checkpoint;
mod config;
mod encoder;
mod error;
mod fresh;
mod infer;
mod model;
mod optimiser;
#[cfg(test)]
mod parity_tests;
mod threshold;
mod tokens;
mod train;
mod weights;

pub use config::{EncoderConfig, Family, InputConfig};
pub use error::DarError;
pub use fresh::TinyConfig;
pub use infer::{DarScorer, Embedder, Score};
pub use threshold::{brp, brp_table};
pub use train::{
    Line, Pair, Select, TrainConfig, TrainSummary, Validation, check_training, sample, train,
};

/// The default backend: pure Rust, on the processor.
pub type Cpu = burn_flex::Flex;
/// [`Cpu`] with gradients, for [`train`].
pub type CpuTraining = burn::backend::Autodiff<Cpu>;
