//! Benchmarks: tasks, the tests that decide on an answer, and the scores.
//!
//! [`Benchmark`] is the seam; [`RepoExec`] implements it for every task file in RepoExec's
//! schema. [`execute`] runs answers through the sandbox and records a verdict for each;
//! [`score`] turns records into figures: [`pass_at_k`], [`invocation_rate`] (DIR),
//! [`retrieved_by_kind`]. [`build`] makes the environment that RepoExec's tests need.
//!
//! ```
//! use hydra_bench::pass_at_k;
//!
//! // 5 answers, 2 of them right: the chance that one drawn at random is right.
//! assert!(pass_at_k(5, 2, 1).is_some_and(|p| (p - 0.4).abs() < 1e-12));
//! assert_eq!(pass_at_k(5, 2, 6), None);
//! ```

mod dir;
mod environment;
mod execute;
mod extract;
mod identifiers;
mod metrics;
mod repoexec;
mod score;
mod unpack;

pub use dir::{invocation_rate, invoked};
pub use environment::{ArchiveKind, Environment, EnvironmentConfig, Project, build, find_python};
pub use execute::execute;
pub use extract::extract;
pub use metrics::{mean_pass_at_k, pass_at_k, retrieved_by_kind};
pub use repoexec::{Interpreter, RepoExec, RepoExecConfig};
pub use score::{Records, latency, score};

use hydra_core::records::{Task, Verdict};
use hydra_core::{CoreError, TaskId};
use hydra_sandbox::{Outcome, Spec};

/// A set of tasks with tests.
pub trait Benchmark: Sync {
    /// The name in ids, files and tables.
    fn name(&self) -> &str;

    /// The tasks, in the benchmark's order.
    fn tasks(&self) -> &[Task];

    /// The folder of a task's project, for the index.
    fn sources(&self, task: &Task) -> std::path::PathBuf;

    /// The benchmark's own solution.
    fn reference(&self, task: &TaskId) -> Option<&str>;

    /// The names that a right answer is expected to use, for the dependency invocation rate;
    /// nothing for a task that is left out of it.
    fn expected(&self, task: &TaskId) -> Option<&std::collections::BTreeSet<String>>;

    /// The code that is tested, out of a raw completion.
    fn extract(&self, task: &Task, completion: &str) -> String;

    /// What to run to test a piece of code. The nonce tells this run's report from a forged one.
    ///
    /// # Errors
    /// [`BenchError::Task`] for a task that is not the benchmark's.
    fn spec(&self, task: &TaskId, code: &str, nonce: &str) -> Result<Spec, BenchError>;

    /// What a finished run means.
    fn verdict(&self, outcome: &Outcome, nonce: &str) -> Verdict;
}

/// What can go wrong with a benchmark.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A file could not be read or written.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// A record of the task file that can't be used.
    #[error("{}, line {line}: {reason}", path.display())]
    Record {
        /// The task file.
        path: std::path::PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// No Python fits.
    #[error("Python {wanted} is needed and was not found: {tried}")]
    Python {
        /// The version.
        wanted: String,
        /// What each candidate is instead.
        tried: String,
    },
    /// A program that helps to build the environment failed.
    #[error("{what}: {message}")]
    Tool {
        /// What it was to do.
        what: String,
        /// What it said.
        message: String,
    },
    /// An archive that must not be used.
    #[error("{}: {reason}", path.display())]
    Archive {
        /// The archive.
        path: std::path::PathBuf,
        /// Why not.
        reason: String,
    },
    /// An id that the benchmark doesn't know.
    #[error("the benchmark has no task {0}")]
    Task(TaskId),
}
