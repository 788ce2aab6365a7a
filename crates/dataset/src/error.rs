//! What can go wrong with pairs.

use std::path::PathBuf;

use hydra_core::CoreError;
use hydra_pyindex::IndexError;

/// Why pairs could not be made or read. Every case names the file or the repository.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file could not be read or written, or a JSON line is broken (with its number).
    #[error(transparent)]
    Core(#[from] CoreError),
    /// A repository could not be indexed.
    #[error("repository {repository}: {source}")]
    Index {
        /// Its name.
        repository: String,
        /// What the index said.
        #[source]
        source: Box<IndexError>,
    },
    /// The corpus holds no repository.
    #[error("{}: holds no repository", path.display())]
    Empty {
        /// The corpus.
        path: PathBuf,
    },
    /// A Parquet file that cannot be written, or read.
    #[error("{}: {message}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A Parquet file that has neither the columns of our pairs nor those of the published ones.
    #[error("{}: no column {column:?}; needs query, candidate, label or text, label", path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The first column that is missing.
        column: &'static str,
    },
    /// A row of a Parquet file that is no pair.
    #[error("{}, row {row}: {message}", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        row: usize,
        /// What is wrong with it.
        message: String,
    },
}
