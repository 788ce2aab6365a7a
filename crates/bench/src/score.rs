//! All figures of one run.

use std::collections::BTreeMap;

use hydra_core::records::{Judged, Latency, Metrics, Retrieval, Task, Verdict};
use hydra_core::{Mode, TaskId};

use crate::{Benchmark, invocation_rate, mean_pass_at_k, retrieved_by_kind};

/// The records of one retriever with one generator.
#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    /// The retriever's name.
    pub retriever: &'a str,
    /// The generator's name.
    pub generator: &'a str,
    /// Whose behaviour this is.
    pub mode: Mode,
    /// The tasks that were asked.
    pub tasks: &'a [Task],
    /// What was retrieved.
    pub retrievals: &'a [Retrieval],
    /// Milliseconds of retrieval a task; empty if they were not measured.
    pub milliseconds: &'a [f64],
    /// The answers with their verdicts.
    pub judged: &'a [Judged],
}

/// The k of pass@k: 1, 3, 5 in the paper's Table 4; 1, 5, 10 in RepoExec.
const PASS_AT: [usize; 4] = [1, 3, 5, 10];

/// pass@1, 3, 5 and 10 (as far as there are answers; missing ones count as failed), DIR over the
/// answers that there are, verdicts, retrieval and latency.
pub fn score(benchmark: &dyn Benchmark, records: &Records<'_>) -> Metrics {
    let mut verdicts = BTreeMap::new();
    let mut exceptions = BTreeMap::new();
    let mut samples = BTreeMap::<&TaskId, usize>::new();
    for judged in records.judged {
        *samples.entry(&judged.task).or_default() += 1;
        let name = verdict_name(&judged.verdict).to_owned();
        *verdicts.entry(name).or_default() += 1;
        if let Verdict::Failed { exception, .. } = &judged.verdict {
            *exceptions.entry(exception.clone()).or_default() += 1;
        }
    }
    let most = samples.into_values().max().unwrap_or(0);
    let mut by_kind = retrieved_by_kind(records.tasks, records.retrievals);
    Metrics {
        benchmark: benchmark.name().to_owned(),
        retriever: records.retriever.to_owned(),
        generator: records.generator.to_owned(),
        mode: records.mode,
        tasks: records.tasks.len(),
        samples: most,
        pass_at: PASS_AT
            .into_iter()
            .filter_map(|k| Some((k, mean_pass_at_k(records.tasks, most, records.judged, k)?)))
            .collect(),
        dir: invocation_rate(benchmark, records.judged),
        verdicts,
        exceptions,
        retrieval: by_kind.remove("all").unwrap_or_default(),
        retrieval_by_kind: by_kind
            .into_iter()
            .map(|(kind, row)| (kind.to_owned(), row))
            .collect(),
        latency_ms: latency(records.milliseconds),
    }
}

/// A verdict's name in [`Metrics::verdicts`], as it stands in `verdicts.jsonl`.
fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed { .. } => "failed",
        Verdict::TimedOut => "timed_out",
        Verdict::OutOfMemory => "out_of_memory",
        Verdict::NoTestRan { .. } => "no_test_ran",
        Verdict::Infrastructure { .. } => "infrastructure",
    }
}

/// Minimum, maximum, mean and median; nothing of nothing.
pub fn latency(milliseconds: &[f64]) -> Option<Latency> {
    let mut sorted = milliseconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let n = sorted.len();
    Some(Latency {
        min,
        max,
        mean: sorted.iter().sum::<f64>() / n as f64,
        median: (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        let figures = latency(&[4.0, 1.0, 3.0, 8.0]);
        let wanted = Latency {
            min: 1.0,
            max: 8.0,
            mean: 4.0,
            median: 3.5,
        };
        assert_eq!(figures, Some(wanted));
        assert_eq!(latency(&[]), None);
    }
}
