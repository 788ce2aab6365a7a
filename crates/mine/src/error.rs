//! What stops a whole mining run. A single bad repository never does.

use std::path::PathBuf;

use hydra_core::CoreError;

use crate::records::Refusal;

/// Why a mining run could not be done.
#[derive(Debug, thiserror::Error)]
pub enum MineError {
    /// A file could not be read or written.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// The folder to mine is not there, or is no folder.
    #[error("{}: no such folder", path.display())]
    NoFolder {
        /// The folder asked for.
        path: PathBuf,
    },
    /// No sub-folder holds a Python file.
    #[error("{}: no sub-folder holds a Python file", path.display())]
    NoPython {
        /// The folder asked for.
        path: PathBuf,
    },
    /// The output lies inside the folder that is read.
    #[error("{}: lies inside the folder that is mined; choose another output folder", path.display())]
    Overlap {
        /// The output folder.
        path: PathBuf,
    },
    /// A repository that the manifest names is not in its folder.
    #[error(
        "{}: the corpus has lost this repository; rebuild it elsewhere with \
         `hydra mine --from-manifest {}`, or mine anew with --restart",
        path.display(), manifest.display()
    )]
    Lost {
        /// Where it should be.
        path: PathBuf,
        /// The manifest that names it.
        manifest: PathBuf,
    },
    /// A setting can't be meant.
    #[error("{message}")]
    Setting {
        /// Which, and why.
        message: String,
    },
    /// GitHub can't be talked to.
    #[error("GitHub: {message}")]
    Github {
        /// What it says, or what went wrong.
        message: String,
    },
    /// The sources could not be read as Python.
    #[error(transparent)]
    Index(#[from] hydra_pyindex::IndexError),
    /// A corpus can't be rebuilt from a manifest.
    #[error("{}, line {line}: {message}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// A line of the list is not `name==version`.
    #[error("{}, line {line}: {message}", path.display())]
    List {
        /// The list.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// Why one repository did not make it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ItemError {
    /// It must not be in the corpus: the same on every run, and recorded in the manifest.
    #[error("{reason}")]
    Refused {
        /// The class of the reason.
        class: Refusal,
        /// The reason in words.
        reason: String,
    },
    /// Something went wrong on the way; another run may succeed.
    #[error("{0}")]
    Failed(String),
}

impl ItemError {
    pub fn refused(class: Refusal, reason: impl Into<String>) -> Self {
        Self::Refused {
            class,
            reason: reason.into(),
        }
    }
}

impl From<CoreError> for ItemError {
    fn from(error: CoreError) -> Self {
        Self::Failed(error.to_string())
    }
}
