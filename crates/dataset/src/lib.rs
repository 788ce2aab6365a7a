//! Training pairs from a corpus: which units does a function need, and which only stand nearby?
//!
//! [`build`] walks a folder of repositories (as `hydra-mine` writes it) and carries out the
//! paper's Algorithm 1: every function or method that has a docstring or a dependency is a query;
//! the units of its file and of the files that it imports are its candidates; those that it uses
//! are positives, the rest negatives. A [`PairsConfig`] says how the pairs are split; the outcome
//! is a [`PairsSummary`] and, in the output folder, `train`, `train_downsampling`, `valid` and
//! `test`, each as Parquet ([`PairRecord`]s) and as JSON lines `{text, label}` in the published
//! form, and `summary.json`.
//!
//! [`read_pairs`] reads any of these files, and the published dataset, back as [`TextPair`]s.
//!
//! Repositories are done one after the other and pairs are written as they come, so the cost in
//! memory is that of one repository. Files have the same bytes whatever the number of threads.
//!
//! ```
//! use hydra_core::Silent;
//! use hydra_dataset::{PairsConfig, build, read_pairs};
//!
//! let work = tempfile::tempdir()?;
//! let repository = work.path().join("corpus/greeter");
//! std::fs::create_dir_all(&repository)?;
//! std::fs::write(
//!     repository.join("greet.py"),
//!     "def name():\n    return 'you'\n\n\ndef hello():\n    \"\"\"Greet.\"\"\"\n    return name()\n",
//! )?;
//!
//! let out = work.path().join("pairs");
//! build(&work.path().join("corpus"), &PairsConfig::default(), &out, &Silent)?;
//! let pairs = read_pairs(&out.join("train.parquet"))?;
//! assert_eq!(pairs.iter().filter(|p| p.label == 1).count(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod error;
mod plan;
mod read;
mod split;
mod summary;
mod write;

pub use build::{PairRecord, PairsConfig, build};
pub use error::DatasetError;
pub use read::{TextPair, read_pairs};
pub use split::{Part, Split, assign};
pub use summary::{KindCount, PairsSummary, PartSummary, SkippedRepository};
