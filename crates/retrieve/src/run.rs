//! A retriever over many tasks.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use hydra_core::jsonl::Journal;
use hydra_core::records::{Retrieval, Task};
use hydra_core::{CoreError, Mode, Progress, TaskId, write_atomic};
use hydra_pyindex::RepoIndex;
use serde::{Deserialize, Serialize};

use crate::{Retriever, Target, assemble_prompt};

/// A task that could not be retrieved for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The task.
    pub task: TaskId,
    /// Why.
    pub reason: String,
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Retrieved {
    /// One record a task, in the order of the tasks.
    pub retrievals: Vec<Retrieval>,
    /// Milliseconds around the retriever alone, for each record. Kept apart so that the records
    /// are the same in every run.
    pub milliseconds: Vec<f64>,
    /// Tasks whose target is not where the benchmark says, or for which the model failed.
    pub failed: Vec<Failure>,
}

/// A line of the journal: the record as the text that it will be, so that an interrupted run ends
/// with the same bytes.
#[derive(Serialize, Deserialize)]
struct Step {
    milliseconds: f64,
    retrieval: String,
}

/// Retrieves for every task that `out` lacks, given the index of its project. The target is found
/// by its file and qualified name, and only its pool is handed on: the retriever never sees its
/// body.
///
/// Each record is appended to `<out>.partial` as it comes; at the end, if no task failed, `out` is
/// written in the order of the tasks.
///
/// # Errors
/// Files that can't be read or written.
pub fn retrieve(
    retriever: &dyn Retriever,
    tasks: &[(&Task, &RepoIndex)],
    out: &Path,
    progress: &dyn Progress,
) -> Result<Retrieved, CoreError> {
    let partial = &Journal::beside(out);
    let (mut journal, steps) = Journal::open::<Step>(partial)?;
    let mut known = BTreeMap::new();
    for step in steps {
        let retrieval: Retrieval = document(partial, serde_json::from_str(&step.retrieval))?;
        known.insert(retrieval.task.clone(), (step, retrieval));
    }
    let bar = progress.start("retrieve", Some(tasks.len() as u64));
    let mut done = Retrieved::default();
    let mut lines = String::new();
    for (task, index) in tasks {
        let (step, retrieval) = match known.remove(&task.id) {
            Some(known) => known,
            None => match one(retriever, task, index) {
                Ok((milliseconds, retrieval)) => {
                    let step = Step {
                        milliseconds,
                        retrieval: document(out, serde_json::to_string(&retrieval))?,
                    };
                    journal.append(&step)?;
                    (step, retrieval)
                }
                Err(reason) => {
                    let task = task.id.clone();
                    done.failed.push(Failure { task, reason });
                    bar.advance(1);
                    continue;
                }
            },
        };
        lines += &step.retrieval;
        lines.push('\n');
        done.milliseconds.push(step.milliseconds);
        done.retrievals.push(retrieval);
        bar.advance(1);
    }
    write_atomic(out, lines.as_bytes())?;
    if done.failed.is_empty() {
        std::fs::remove_file(partial).map_err(CoreError::io(partial))?;
    }
    Ok(done)
}

fn document<T>(path: &Path, result: serde_json::Result<T>) -> Result<T, CoreError> {
    result.map_err(|e| CoreError::Document {
        path: path.to_path_buf(),
        message: e.to_string(),
    })
}

/// A task's record, and the milliseconds around the retriever alone; or why there is none.
fn one(
    retriever: &dyn Retriever,
    task: &Task,
    index: &RepoIndex,
) -> Result<(f64, Retrieval), String> {
    let unit = index
        .find(&task.path, &task.target)
        .ok_or_else(|| format!("{} has no {}", task.path, task.target))?;
    let target = Target {
        task,
        pool: index.pool(&unit.id),
    };
    let start = Instant::now();
    let hits = retriever.retrieve(&target).map_err(|e| e.to_string())?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let imports = index.import_statements(&task.path);
    let retrieval = Retrieval {
        task: task.id.clone(),
        retriever: retriever.name().to_owned(),
        mode: Mode::Faithful,
        pool: target.pool.len(),
        prompt: assemble_prompt(task, &imports, &hits, index),
        hits,
    };
    Ok((milliseconds, retrieval))
}
