//! The Python repository index: what is defined where, and what depends on what.
//!
//! [`RepoIndex`] parses every file of a repository into an outline (units, scopes, uses of
//! names) and answers from it: [`RepoIndex::dependencies`] traces a unit's names through scopes,
//! imports, re-exports and base classes to the units that they mean; [`RepoIndex::pool`] lists
//! what a retriever may choose from for a function about to be written. [`text`] writes units in
//! the published format. Nothing is ever imported or run.
//!
//! ```
//! use hydra_core::RepoPath;
//! use hydra_pyindex::RepoIndex;
//!
//! let sources = [
//!     ("shop/prices.py", "RATE = 2\ndef price(x):\n    return x * RATE\n"),
//!     ("shop/orders.py", "from . import prices as p\ndef total(xs):\n    return sum(p.price(x) for x in xs)\n"),
//! ];
//! let index = RepoIndex::from_sources(
//!     sources.map(|(path, text)| (RepoPath::new(path).unwrap(), text.to_owned())),
//! )?;
//! let used = index.dependencies(&"total@shop/orders.py".into());
//! assert_eq!(used[0].unit.as_str(), "price@shop/prices.py");
//! # Ok::<(), hydra_pyindex::IndexError>(())
//! ```

mod cache;
pub mod fingerprint;
mod index;
mod load;
mod lower;
mod modules;
mod outline;
mod parse;
pub mod released;
mod resolve;
mod rustpython;
mod source;
mod stdlib;
pub mod text;
mod unit;

pub use cache::Cache;
pub use index::{Options, RepoIndex, Work};
pub use parse::Parser;
pub use unit::{
    Dependency, Edge, EdgeKind, Import, ImportTarget, Provenance, Role, Skipped, Unit, UnitKind,
};

/// Why a repository could not be indexed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The file system refused.
    #[error(transparent)]
    Core(#[from] hydra_core::CoreError),
    /// There is nothing to index.
    #[error("{}: no Python file that can be read ({skipped} skipped)", root.display())]
    NoPython {
        /// The repository.
        root: std::path::PathBuf,
        /// How many files were skipped.
        skipped: usize,
    },
    /// The store of what was indexed before can't be used.
    #[error("the index's cache {}: {reason}", path.display())]
    Cache {
        /// The store.
        path: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// No thread could be started.
    #[error("cannot start the parser's threads: {0}")]
    Threads(String),
}
