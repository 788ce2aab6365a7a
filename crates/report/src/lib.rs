//! The paper's tables 1, 3 and 4 out of recorded figures.
//!
//! [`threshold_table`], [`retrieval_table`], [`generation_table`] and their kin turn
//! [`ThresholdTable`](hydra_core::records::ThresholdTable) and
//! [`Metrics`](hydra_core::records::Metrics) into a [`Table`], which is Markdown by
//! [`Table::to_markdown`] and JSON by serde. [`published`] reads reference figures
//! (`results/reference/*.json`) that stand among ours, each with its source.
//!
//! ```
//! use hydra_core::Mode;
//! use hydra_core::records::{ThresholdRow, ThresholdTable};
//! use hydra_report::threshold_table;
//!
//! let row = ThresholdRow { threshold: 0.25, recall: 0.9, precision: 0.5, f1: 0.6429, brp: 0.7 };
//! let grid = ThresholdTable { alpha: 0.8, positives: 10, negatives: 40, rows: vec![row], best: 0.25 };
//! let table = threshold_table(&grid, Mode::Faithful);
//! assert!(table.to_markdown().contains("| **0.25** | 90.00 | 50.00 | 64.29 | 70.00 |"));
//! ```

mod published;
mod table;
mod tables;

pub use published::{Published, published};
pub use table::Table;
pub use tables::{
    generation_table, latency_table, retrieval_table, threshold_table, verdict_table,
};

use hydra_core::CoreError;

/// What can go wrong with a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file of figures could not be read.
    #[error(transparent)]
    Core(#[from] CoreError),
}
