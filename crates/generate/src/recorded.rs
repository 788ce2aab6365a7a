//! Answers that exist already: the benchmark's solutions, or a file.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use hydra_core::{TaskId, jsonl};
use serde::Deserialize;

use crate::{Completion, GenerateError, Generator};

/// The benchmark's own solutions: what every other generator is measured against.
#[derive(Debug, Clone, Default)]
pub struct Reference(pub BTreeMap<TaskId, String>);

impl Generator for Reference {
    fn name(&self) -> String {
        "reference".to_owned()
    }

    fn complete(
        &self,
        task: &TaskId,
        sample: usize,
        _: &str,
        _: u64,
    ) -> Result<Completion, GenerateError> {
        completion(self.0.get(task).cloned(), None, task, sample)
    }
}

fn completion(
    text: Option<String>,
    finish_reason: Option<String>,
    task: &TaskId,
    sample: usize,
) -> Result<Completion, GenerateError> {
    match text {
        Some(text) => Ok(Completion {
            text,
            finish_reason,
        }),
        None => Err(GenerateError::Missing {
            task: task.clone(),
            sample,
        }),
    }
}

/// Recorded answers from a file.
#[derive(Debug, Clone)]
pub struct Replay {
    name: String,
    answers: HashMap<(TaskId, usize), (String, Option<String>)>,
}

/// A line of a recording: ours, or the benchmark authors' form with a number for the task.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Ours {
        task: TaskId,
        sample: usize,
        completion: String,
        #[serde(default)]
        finish_reason: Option<String>,
    },
    Theirs {
        task_id: u64,
        #[serde(default)]
        prediction_id: Option<usize>,
        generation: String,
    },
}

impl Replay {
    /// Reads a recording: lines of `task`, `sample`, `completion` as `answers.jsonl` has them, or
    /// of `task_id` (a number, which becomes `benchmark/number`), `generation` and perhaps
    /// `prediction_id`; without the last, answers count up in file order.
    ///
    /// # Errors
    /// A file that can't be read, or a line that is neither, with its number.
    pub fn open(path: &Path, benchmark: &str) -> Result<Self, GenerateError> {
        let mut answers = HashMap::new();
        let mut counts = HashMap::<u64, usize>::new();
        for line in jsonl::lines::<Line>(path)? {
            let (key, value) = match line? {
                Line::Ours {
                    task,
                    sample,
                    completion,
                    finish_reason,
                } => ((task, sample), (completion, finish_reason)),
                Line::Theirs {
                    task_id,
                    prediction_id,
                    generation,
                } => {
                    let count = counts.entry(task_id).or_default();
                    let sample = prediction_id.unwrap_or(*count);
                    *count += 1;
                    let task = TaskId(format!("{benchmark}/{task_id}"));
                    ((task, sample), (generation, None))
                }
            };
            answers.insert(key, value);
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: format!("replay {name}"),
            answers,
        })
    }
}

impl Generator for Replay {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn complete(
        &self,
        task: &TaskId,
        sample: usize,
        _: &str,
        _: u64,
    ) -> Result<Completion, GenerateError> {
        let found = self.answers.get(&(task.clone(), sample)).cloned();
        let (text, reason) = found.unzip();
        completion(text, reason.flatten(), task, sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_recording_are_read() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("r.jsonl");
        std::fs::write(
            &path,
            "{\"task\": \"b/1\", \"sample\": 2, \"completion\": \"x\", \"finish_reason\": \"stop\"}\n\
             {\"task_id\": 7, \"generation\": \"y\"}\n{\"task_id\": 7, \"generation\": \"z\"}\n",
        )?;
        let replay = Replay::open(&path, "b")?;
        let text = |task: &str, sample| replay.complete(&task.into(), sample, "", 0);
        assert_eq!(text("b/1", 2)?.finish_reason.as_deref(), Some("stop"));
        assert_eq!(text("b/7", 1)?.text, "z");
        let error = text("b/7", 2).expect_err("only two are recorded");
        assert_eq!(error.to_string(), "no recorded answer for b/7, sample 2");
        Ok(())
    }

    #[test]
    fn a_line_that_is_no_answer_is_named() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("r.jsonl");
        std::fs::write(
            &path,
            "{\"task_id\": 7, \"generation\": \"y\"}\n{\"task_id\": 7}\n",
        )?;
        let error = Replay::open(&path, "b").expect_err("line 2");
        assert!(error.to_string().contains("line 2"), "{error}");
        Ok(())
    }
}
