//! The ground floor of Hydra: what every stage shares and nothing more.
//!
//! Three ideas live here. [`RepoPath`], [`UnitId`] and [`TaskId`] name things so that they
//! cannot be mixed up. [`records`] holds the plain structs that travel between stages as JSON
//! lines. [`RunDir`] is a stage's place on disk: it hashes the inputs, writes `run.json`, and
//! with [`AtomicFile`] makes sure that a killed stage never leaves half a file behind.
//!
//! ```
//! use hydra_core::RepoPath;
//! let path = RepoPath::new("pkg/sub/module.py")?;
//! assert_eq!(path.parent().map(|p| p.to_string()), Some("pkg/sub".into()));
//! assert!(RepoPath::new("../outside.py").is_err());
//! # Ok::<(), hydra_core::PathError>(())
//! ```

mod atomic;
pub mod hash;
mod ids;
pub mod jsonl;
mod path;
mod progress;
pub mod python_json;
pub mod records;
mod run;

pub use atomic::{AtomicFile, read_json, write_atomic, write_json};
pub use ids::{TaskId, UnitId};
pub use path::{PathError, RepoPath};
pub use progress::{Progress, Silent, Task as ProgressTask};
pub use run::{RunDir, RunInfo, RunSpec, lock_folder};

use std::path::{Path, PathBuf};

/// What can go wrong on the ground floor. Every case names the file.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder concerned.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A line of a JSON-lines file that isn't the record it should be.
    #[error("{}, line {line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A JSON document that isn't what it should be.
    #[error("{}: {message}", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A folder holds a run made from other inputs or another configuration.
    #[error(
        "{}: holds a run with {what}; use --restart to replace it, or another folder",
        path.display()
    )]
    OtherRun {
        /// The run's folder.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// Another process is at work in a run's folder.
    #[error("{}: another run is at work in it; wait for its end, or use another folder", _0.display())]
    Busy(PathBuf),
}

impl CoreError {
    /// Wraps an I/O error with the path it concerns: `.map_err(CoreError::io(path))`.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { path, source }
    }
}

/// Which behaviour a stage shows: the correct one, or that of the paper's released package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Right, leak-free, reproducible. The default.
    #[default]
    Faithful,
    /// What the published numbers came from, flaws included.
    AsReleased,
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Faithful => "faithful",
            Self::AsReleased => "as-released",
        })
    }
}
