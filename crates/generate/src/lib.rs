//! Generators: whoever turns a prompt into a completion.
//!
//! [`Generator`] is the seam; [`Reference`] answers with the benchmark's own solutions,
//! [`Replay`] with recorded answers, [`OpenAi`] asks any server that speaks OpenAI's chat
//! completions. [`generate`] runs a generator over many tasks at once and keeps every answer the
//! moment it comes.
//!
//! ```
//! use hydra_generate::{Generator, Reference};
//!
//! let gold = Reference([("mini/0".into(), "def f(): ...".to_owned())].into());
//! let completion = gold.complete(&"mini/0".into(), 0, "the prompt", 42)?;
//! assert_eq!(completion.text, "def f(): ...");
//! # Ok::<(), hydra_generate::GenerateError>(())
//! ```

mod openai;
mod recorded;
mod run;

pub use openai::{OpenAi, OpenAiConfig};
pub use recorded::{Reference, Replay};
pub use run::{Failure, Generated, Request, generate};

use std::path::PathBuf;

use hydra_core::TaskId;

/// One completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// The raw text.
    pub text: String,
    /// Why the generator stopped.
    pub finish_reason: Option<String>,
}

/// Whoever turns a prompt into a completion.
pub trait Generator: Sync {
    /// The name in tables.
    fn name(&self) -> String;

    /// Whether it can be asked at all. To be called before anything is thrown away for its sake.
    ///
    /// # Errors
    /// What every request would fail with.
    fn ready(&self) -> Result<(), GenerateError> {
        Ok(())
    }

    /// The `sample`-th completion of a task. The same seed and sample give the same completion
    /// as far as the generator can promise that.
    ///
    /// # Errors
    /// One for which [`GenerateError::ends_the_run`] holds ends a whole run; any other only this
    /// answer.
    fn complete(
        &self,
        task: &TaskId,
        sample: usize,
        prompt: &str,
        seed: u64,
    ) -> Result<Completion, GenerateError>;
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// A file could not be read or written.
    #[error(transparent)]
    Core(#[from] hydra_core::CoreError),
    /// Nothing is recorded for this answer.
    #[error("no recorded answer for {task}, sample {sample}")]
    Missing {
        /// The task.
        task: TaskId,
        /// The sample.
        sample: usize,
    },
    /// Nobody answers at the server's address.
    #[error("the server at {url} does not answer ({reason}); is it running?")]
    Unreachable {
        /// The server.
        url: String,
        /// What the network said.
        reason: String,
    },
    /// The server refused the request.
    #[error("the server at {url} said {status}: {message}")]
    Refused {
        /// The server.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The start of its message.
        message: String,
    },
    /// Every attempt failed.
    #[error("the server at {url} failed {attempts} times, at last: {reason}")]
    GaveUp {
        /// The server.
        url: String,
        /// How often it was asked.
        attempts: u32,
        /// The last failure.
        reason: String,
    },
    /// There are answers already, but to another prompt.
    #[error(
        "{}: holds answers to another prompt of {task}; use --restart to ask anew, or another folder",
        path.display()
    )]
    OtherPrompt {
        /// The file with the answers.
        path: PathBuf,
        /// The task.
        task: TaskId,
    },
    /// A setting that cannot be used.
    #[error("{0}")]
    Config(String),
}

impl GenerateError {
    /// Whether every other request would fail in the same way: nobody there, no permission, no
    /// such address.
    pub fn ends_the_run(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Config(_) | Self::Core(_) => true,
            Self::Refused { status, .. } => matches!(status, 401 | 403 | 404 | 405),
            _ => false,
        }
    }
}
