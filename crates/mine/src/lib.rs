//! Turns packages and folders into a corpus: one folder of plain Python sources per repository and
//! a manifest that says where each came from.
//!
//! [`mine_folder`] reads a folder of repositories that is already on this machine; [`mine_wheels`]
//! reads a list of `name==version` lines and fetches their wheels with `pip download`, which runs
//! no code of the package. Both take a [`MineConfig`], write `out/<name>/...` and
//! `out/manifest.jsonl` (a [`Record`] a line, sorted by name), and return a [`MineSummary`].
//!
//! Three promises: nothing of a repository is executed; nothing is written outside `out/<name>/`,
//! whatever an archive says; a repository that overlaps a benchmark never enters the corpus, and
//! the manifest says that it was refused and why. A repository becomes visible by one rename when
//! it is complete, so a killed run goes on where it stopped.
//!
//! ```
//! use hydra_core::Silent;
//! use hydra_mine::{MineConfig, mine_folder};
//!
//! let work = tempfile::tempdir()?;
//! let repository = work.path().join("repositories/greeter");
//! std::fs::create_dir_all(&repository)?;
//! std::fs::write(repository.join("greet.py"), "def hello():\n    return 'hello'\n")?;
//!
//! let out = work.path().join("corpus");
//! let summary = mine_folder(
//!     &work.path().join("repositories"),
//!     &MineConfig::default(),
//!     &out,
//!     &Silent,
//! )?;
//! assert_eq!((summary.kept, summary.refused), (1, 0));
//! assert!(out.join("greeter/greet.py").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod corpus;
mod decontaminate;
mod dedup;
mod download;
mod error;
mod folder;
mod github;
mod licence;
mod manifest;
mod names;
mod records;
mod several;
mod staging;
mod taken;
mod unpack;
mod wheels;

pub use config::{BenchmarkProjects, MineConfig};
pub use decontaminate::{MIN_SOLUTION_TOKENS, Solution, Solutions};
pub use dedup::DedupConfig;
pub use error::MineError;
pub use folder::mine_folder;
pub use github::{GithubConfig, mine_github};
pub use manifest::mine_manifest;
pub use names::{Pin, normalise, read_list};
pub use records::{Dropped, Failure, GithubPin, MineSummary, Record, Refusal, Skips};
pub use wheels::mine_wheels;
