//! Retrievers: which units of a repository a function about to be written should be shown with.
//!
//! [`Retriever`] is the seam: it is given a [`Target`] — a task without its body, and its
//! leak-free pool — and returns ranked hits. [`Bm25`] ranks by the words of the prompt, [`Dense`]
//! by embeddings, [`Dar`] keeps what it holds for a dependency, [`Hydra`] joins BM25 and DAR, and
//! [`NoContext`] returns nothing. [`assemble_prompt`] writes the published prompt, and
//! [`retrieve`] does all of it for many tasks.
//!
//! ```
//! use hydra_retrieve::bm25_scores;
//!
//! let scores = bm25_scores(&["def price(item):", "RATE = 2", "x = 1"], "the RATE");
//! assert!(scores[1] > scores[0]);
//! ```

mod bm25;
mod learned;
mod prompt;
mod run;

pub use bm25::{Bm25, bm25_scores};
pub use learned::{Dar, Dense, Hydra};
pub use prompt::{INSTRUCTION, assemble_prompt};
pub use run::{Failure, Retrieved, retrieve};

use hydra_core::records::{Hit, Task};
use hydra_pyindex::Unit;

/// A function about to be written, and what may be shown with it.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    /// The task; it holds no body.
    pub task: &'a Task,
    /// The candidates, in file order.
    pub pool: Vec<&'a Unit>,
}

/// Somebody who picks from a pool.
pub trait Retriever: Sync {
    /// The name in files and tables.
    fn name(&self) -> &str;

    /// The chosen units, best first, ranks from 1.
    ///
    /// # Errors
    /// A model that fails on this target; others may still succeed.
    fn retrieve(&self, target: &Target) -> Result<Vec<Hit>, RetrieveError>;
}

/// Why nothing could be retrieved for a target.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] hydra_dar::DarError),
}

/// Shows nothing: the target alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoContext;

impl Retriever for NoContext {
    fn name(&self) -> &str {
        "none"
    }

    fn retrieve(&self, _: &Target) -> Result<Vec<Hit>, RetrieveError> {
        Ok(Vec::new())
    }
}

/// The `top` units with the highest scores; the first in the pool's order of those that are equal.
fn best(target: &Target, retriever: &str, scores: &[f64], top: usize) -> Vec<Hit> {
    let mut ranked: Vec<usize> = (0..scores.len()).collect();
    ranked.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    ranked
        .into_iter()
        .take(top)
        .enumerate()
        .map(|(rank, at)| hit(target.pool[at], retriever, scores[at], rank + 1))
        .collect()
}

/// A ranked unit as a record.
fn hit(unit: &Unit, retriever: &str, score: f64, rank: usize) -> Hit {
    Hit {
        unit: unit.id.clone(),
        kind: unit.kind,
        name: unit.name.clone(),
        path: unit.path.clone(),
        retriever: retriever.to_owned(),
        score,
        rank,
    }
}
