//! A generator over many tasks: concurrent, resumable, reproducible.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hydra_core::jsonl::{self, Journal};
use hydra_core::records::Answer;
use hydra_core::{CoreError, Progress, TaskId, hash};

use crate::{GenerateError, Generator};

/// A prompt and how many answers to it are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The task.
    pub task: TaskId,
    /// The whole prompt.
    pub prompt: String,
    /// How many answers. Fewer than there are already removes none.
    pub samples: usize,
}

/// An answer that could not be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The task.
    pub task: TaskId,
    /// The sample.
    pub sample: usize,
    /// Why.
    pub reason: String,
}

/// What a run came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Generated {
    /// All answers, in the order of the requests, then of the samples.
    pub answers: Vec<Answer>,
    /// The answers that are missing.
    pub failed: Vec<Failure>,
}

/// What the threads of a run share.
struct Shared {
    journal: Journal,
    answers: BTreeMap<(usize, usize), Answer>,
    failed: BTreeMap<(usize, usize), String>,
    fatal: Option<GenerateError>,
}

/// Asks for every answer that `out` lacks, `jobs` at a time.
///
/// Each answer is appended to `<out>.partial` as it comes; at the end, if none is missing, `out`
/// is written in the order of the requests, so that its bytes don't depend on `jobs` or on
/// interruptions. Single failures are collected; a run ends early only where the server can't be
/// reached or lets nobody in, or the disk refuses.
///
/// # Errors
/// [`GenerateError::OtherPrompt`] if there is an answer to a prompt that has changed since; or
/// what ended the run early.
pub fn generate(
    generator: &dyn Generator,
    requests: &[Request],
    out: &Path,
    jobs: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Generated, GenerateError> {
    let partial = &Journal::beside(out);
    let (journal, mut known) = Journal::open::<Answer>(partial)?;
    if out.exists() {
        known.extend(jsonl::read::<Answer>(out)?);
    }
    let prompts: Vec<String> = requests.iter().map(|r| hash::sha256(&r.prompt)).collect();
    let numbers: HashMap<&TaskId, usize> = requests
        .iter()
        .enumerate()
        .map(|(n, r)| (&r.task, n))
        .collect();
    let mut answers = BTreeMap::new();
    for answer in known {
        let Some(&number) = numbers.get(&answer.task) else {
            continue;
        };
        if answer.prompt != prompts[number] {
            return Err(GenerateError::OtherPrompt {
                path: if out.exists() { out } else { partial }.to_path_buf(),
                task: answer.task,
            });
        }
        answers.insert((number, answer.sample), answer);
    }
    let missing: Vec<(usize, usize)> = requests
        .iter()
        .enumerate()
        .flat_map(|(number, request)| (0..request.samples).map(move |s| (number, s)))
        .filter(|place| !answers.contains_key(place))
        .collect();

    let bar = progress.start("generate", Some(missing.len() as u64));
    let shared = Mutex::new(Shared {
        journal,
        answers,
        failed: BTreeMap::new(),
        fatal: None,
    });
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let Some(&(number, sample)) = missing.get(next.fetch_add(1, Ordering::Relaxed))
                    else {
                        return;
                    };
                    let request = &requests[number];
                    let result = generator.complete(&request.task, sample, &request.prompt, seed);
                    let mut shared = match shared.lock() {
                        Ok(shared) => shared,
                        Err(poisoned) => poisoned.into_inner(),
                    };
                    let outcome = result.map(|completion| Answer {
                        task: request.task.clone(),
                        sample,
                        completion: completion.text,
                        finish_reason: completion.finish_reason,
                        prompt: prompts[number].clone(),
                    });
                    if let Err(fatal) = keep(&mut shared, (number, sample), outcome) {
                        stop.store(true, Ordering::Relaxed);
                        shared.fatal.get_or_insert(fatal);
                    }
                    bar.advance(1);
                }
            });
        }
    });
    let shared = shared.into_inner().unwrap_or_else(|p| p.into_inner());
    if let Some(fatal) = shared.fatal {
        return Err(fatal);
    }
    let failed: Vec<Failure> = shared
        .failed
        .into_iter()
        .map(|((number, sample), reason)| Failure {
            task: requests[number].task.clone(),
            sample,
            reason,
        })
        .collect();
    let answers: Vec<Answer> = shared.answers.into_values().collect();
    if failed.is_empty() {
        jsonl::write(out, &answers)?;
        std::fs::remove_file(partial).map_err(CoreError::io(partial))?;
    }
    Ok(Generated { answers, failed })
}

/// Records an outcome; the error is one that ends the run.
fn keep(
    shared: &mut Shared,
    place: (usize, usize),
    outcome: Result<Answer, GenerateError>,
) -> Result<(), GenerateError> {
    match outcome {
        Ok(answer) => {
            shared.journal.append(&answer)?;
            shared.answers.insert(place, answer);
            Ok(())
        }
        Err(error) if error.ends_the_run() => Err(error),
        Err(error) => {
            shared.failed.insert(place, error.to_string());
            Ok(())
        }
    }
}
