//! What can go wrong around a run.

use std::io;
use std::path::PathBuf;

use hydra_core::CoreError;

/// Why a program could not be run. What the program does wrong itself is no error.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine doesn't let us isolate.
    #[error("cannot isolate untrusted code here: {reason}; {remedy}")]
    Refused {
        /// What failed.
        reason: String,
        /// What to change.
        remedy: String,
    },
    /// The request itself makes no sense.
    #[error("sandbox request: {0}")]
    Spec(String),
    /// A step of building the box failed.
    #[error("building the box, {step}: {source}")]
    Setup {
        /// The step, with the path concerned where there is one.
        step: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The program could not be started inside.
    #[error("{}: cannot be started in the box: {source}", program.display())]
    Exec {
        /// The program, as seen inside.
        program: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The box ended without reporting.
    #[error("the box was lost: {0}")]
    Lost(String),
    /// A file outside could not be used.
    #[error(transparent)]
    Core(#[from] CoreError),
}

impl SandboxError {
    pub(crate) fn setup(step: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let step = step.into();
        move |source| Self::Setup { step, source }
    }
}
