use std::path::PathBuf;

use hydra_core::CoreError;

/// What can go wrong with a model.
#[derive(Debug, thiserror::Error)]
pub enum DarError {
    /// A file could not be read or written.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// A `config.json` that describes no encoder that is known here.
    #[error("{}: {reason}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Weights that can't be read, or that don't fit the configuration beside them.
    #[error("{}: {reason}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A checkpoint from which training can't go on.
    #[error(
        "{}: the checkpoint is damaged ({reason}); start again with --restart",
        path.display()
    )]
    Checkpoint {
        /// Its folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A tokenizer that can't be read or used.
    #[error("{}: {reason}", path.display())]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A text that could not be tokenised.
    #[error("a text could not be tokenised: {0}")]
    Text(String),
    /// Settings that no training can run with.
    #[error("training: {0}")]
    Settings(String),
    /// The loss is no number any more.
    #[error("the loss became {loss} at step {step}; a lower learning rate may help")]
    Diverged {
        /// The optimiser step.
        step: usize,
        /// The loss.
        loss: f64,
    },
    /// A model that answers with something that is no number.
    #[error("the model's scores are no numbers; its weights are broken")]
    NotFinite,
}
