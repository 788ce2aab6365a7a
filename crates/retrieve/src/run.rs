//! A retriever over many tasks.

use std::time::Instant;

use hydra_core::records::{Retrieval, Task};
use hydra_core::{Mode, Progress, TaskId};
use hydra_pyindex::RepoIndex;

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

/// Retrieves for every task, given the index of its project. The target is found by its file and
/// qualified name, and only its pool is handed on: the retriever never sees its body.
pub fn retrieve(
    retriever: &dyn Retriever,
    tasks: &[(&Task, &RepoIndex)],
    progress: &dyn Progress,
) -> Retrieved {
    let bar = progress.start("retrieve", Some(tasks.len() as u64));
    let mut done = Retrieved::default();
    for (task, index) in tasks {
        bar.advance(1);
        let Some(unit) = index.find(&task.path, &task.target) else {
            done.failed.push(Failure {
                task: task.id.clone(),
                reason: format!("{} has no {}", task.path, task.target),
            });
            continue;
        };
        let target = Target {
            task,
            pool: index.pool(&unit.id),
        };
        let start = Instant::now();
        let hits = match retriever.retrieve(&target) {
            Ok(hits) => hits,
            Err(error) => {
                done.failed.push(Failure {
                    task: task.id.clone(),
                    reason: error.to_string(),
                });
                continue;
            }
        };
        done.milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
        let imports = index.import_statements(&task.path);
        done.retrievals.push(Retrieval {
            task: task.id.clone(),
            retriever: retriever.name().to_owned(),
            mode: Mode::Faithful,
            pool: target.pool.len(),
            prompt: assemble_prompt(task, &imports, &hits, index),
            hits,
        });
    }
    done
}
