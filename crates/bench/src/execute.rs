//! Answers through the sandbox: parallel, resumable, reproducible.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hydra_core::jsonl::{self, Journal};
use hydra_core::records::{Answer, Judged, Task, Verdict};
use hydra_core::{CoreError, Progress, TaskId, hash};
use hydra_sandbox::Sandbox;

use crate::{BenchError, Benchmark};

/// A piece of code to test and the answers that consist of it.
struct Job<'a> {
    task: &'a TaskId,
    code: String,
    answers: Vec<&'a Answer>,
}

/// Tests every answer to the `asked` tasks whose code has no verdict in `out` yet, `jobs` at a
/// time; equal code of a task runs once. Verdicts of other tasks are kept.
///
/// Each verdict is appended to `<out>.partial` as it comes; at the end `out` is written in the
/// order of the answers. A run that the machine spoilt is tried once more, then recorded as
/// [`Verdict::Infrastructure`]; such verdicts keep `out` from being written, so that another run
/// tries them again.
pub fn execute(
    benchmark: &dyn Benchmark,
    answers: &[Answer],
    asked: &[Task],
    sandbox: &Sandbox,
    out: &Path,
    jobs: usize,
    progress: &dyn Progress,
) -> Result<Vec<Judged>, BenchError> {
    let partial = &Journal::beside(out);
    let (journal, mut known) = Journal::open::<Judged>(partial)?;
    if out.exists() {
        known.extend(jsonl::read::<Judged>(out)?);
    }
    let mut done: BTreeMap<(TaskId, usize), Judged> = known
        .into_iter()
        .filter(|j| !matches!(j.verdict, Verdict::Infrastructure { .. }))
        .map(|j| ((j.task.clone(), j.sample), j))
        .collect();

    let tasks: HashMap<&TaskId, &Task> = benchmark.tasks().iter().map(|t| (&t.id, t)).collect();
    let asked: HashSet<&TaskId> = asked.iter().map(|t| &t.id).collect();
    let mut queue: Vec<Job> = Vec::new();
    let mut places = HashMap::new();
    for answer in answers {
        let task = tasks
            .get(&answer.task)
            .ok_or_else(|| BenchError::Task(answer.task.clone()))?;
        let code = benchmark.extract(task, &answer.completion);
        let key = (answer.task.clone(), answer.sample);
        // A verdict of other code, from an answer that has changed since, does not count.
        if done.get(&key).is_some_and(|known| known.code == code) {
            continue;
        }
        done.remove(&key);
        if !asked.contains(&answer.task) {
            continue;
        }
        let place = *places
            .entry((&answer.task, code.clone()))
            .or_insert_with(|| {
                queue.push(Job {
                    task: &answer.task,
                    code,
                    answers: Vec::new(),
                });
                queue.len() - 1
            });
        queue[place].answers.push(answer);
    }

    let bar = progress.start("execute", Some(queue.len() as u64));
    let next = AtomicUsize::new(0);
    let shared = Mutex::new((journal, Vec::<Judged>::new(), None::<BenchError>));
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, queue.len().max(1)) {
            scope.spawn(|| {
                while let Some(job) = queue.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = judge(benchmark, sandbox, job);
                    let mut shared = shared.lock().unwrap_or_else(|p| p.into_inner());
                    let (journal, judged, failed) = &mut *shared;
                    for answer in &job.answers {
                        let record = Judged {
                            task: answer.task.clone(),
                            sample: answer.sample,
                            code: job.code.clone(),
                            verdict: verdict.clone(),
                        };
                        if let Err(error) = journal.append(&record) {
                            failed.get_or_insert(error.into());
                        }
                        judged.push(record);
                    }
                    bar.advance(1);
                    if failed.is_some() {
                        return;
                    }
                }
            });
        }
    });
    let (_, judged, failed) = shared.into_inner().unwrap_or_else(|p| p.into_inner());
    if let Some(error) = failed {
        return Err(error);
    }
    done.extend(judged.into_iter().map(|j| ((j.task.clone(), j.sample), j)));
    let ordered: Vec<Judged> = answers
        .iter()
        .filter_map(|a| done.get(&(a.task.clone(), a.sample)).cloned())
        .collect();
    let spoilt = |j: &Judged| matches!(j.verdict, Verdict::Infrastructure { .. });
    if !ordered.iter().any(spoilt) {
        jsonl::write(out, &ordered)?;
        std::fs::remove_file(partial).map_err(CoreError::io(partial))?;
    }
    Ok(ordered)
}

fn judge(benchmark: &dyn Benchmark, sandbox: &Sandbox, job: &Job) -> Verdict {
    let mut reason = String::new();
    for attempt in 0..2 {
        let nonce = nonce(job, attempt);
        let outcome = match benchmark.spec(job.task, &job.code, &nonce) {
            Ok(spec) => sandbox.run(&spec).map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match outcome {
            Ok(outcome) => return benchmark.verdict(&outcome, &nonce),
            Err(why) => reason = why,
        }
    }
    Verdict::Infrastructure { reason }
}

/// Not to be guessed by the code under test: the time and the process are in it.
fn nonce(job: &Job, attempt: usize) -> String {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| d.as_nanos());
    let salt = format!("{now} {} {attempt} {:p}", std::process::id(), job);
    hash::sha256_parts([salt.as_bytes(), job.code.as_bytes()])
}
