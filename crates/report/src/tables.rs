//! Tables 1, 3 and 4.

use std::collections::{BTreeMap, BTreeSet};

use hydra_core::Mode;
use hydra_core::records::{Metrics, Retrieved, ThresholdTable};

use crate::{Published, Table};

/// What stands where there is no figure.
const NONE: &str = "–";

/// Table 1: recall, precision, F1 and BRP of every threshold, the chosen one in bold.
pub fn threshold_table(table: &ThresholdTable, mode: Mode) -> Table {
    let rows = table.rows.iter().map(|row| {
        let threshold = format!("{:.2}", row.threshold);
        let best = (row.threshold - table.best).abs() < 1e-9;
        let figures = [row.recall, row.precision, row.f1, row.brp].map(percent);
        std::iter::once(if best {
            format!("**{threshold}**")
        } else {
            threshold
        })
        .chain(figures)
        .collect()
    });
    Table {
        title: "Table 1: the threshold".to_owned(),
        note: format!(
            "Per cent, of class 1 where p1 >= T; {mode} mode. {} positive and {} negative pairs, \
             weight of recall {:.4}.",
            table.positives, table.negatives, table.alpha
        ),
        header: text(["T", "Recall", "Precision", "F1", "BRP"]),
        rows: rows.collect(),
    }
}

/// Table 3: what was retrieved of the true dependencies, by kind. Generators don't matter here,
/// so each retriever, benchmark and mode has its rows once.
pub fn retrieval_table(metrics: &[Metrics]) -> Table {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for run in metrics {
        let mode = run.mode.to_string();
        if !seen.insert((&run.benchmark, &run.retriever, mode.clone())) {
            continue;
        }
        let kinds = run.retrieval_by_kind.iter();
        let kinds = kinds.map(|(kind, row)| (kind.as_str(), row));
        for (kind, row) in kinds.chain([("all", &run.retrieval)]) {
            rows.push(retrieval_row(run, &mode, kind, row));
        }
    }
    Table {
        title: "Table 3: retrieval of dependencies".to_owned(),
        note: "Per cent, micro-averaged over the dependencies of all tasks; methods count as \
               functions."
            .to_owned(),
        header: text([
            "Benchmark",
            "Retriever",
            "Mode",
            "Kind",
            "Recall",
            "Precision",
            "F1",
            "Found",
            "Wanted",
            "Retrieved",
        ]),
        rows,
    }
}

fn retrieval_row(run: &Metrics, mode: &str, kind: &str, row: &Retrieved) -> Vec<String> {
    vec![
        run.benchmark.clone(),
        run.retriever.clone(),
        mode.to_owned(),
        kind.to_owned(),
        percent(row.recall()),
        // A precision of nothing is not a precision of 0.
        if row.retrieved == 0 {
            NONE.to_owned()
        } else {
            percent(row.precision())
        },
        percent(row.f1()),
        row.found.to_string(),
        row.wanted.to_string(),
        row.retrieved.to_string(),
    ]
}

/// Table 4: pass@k and DIR of every retriever with every generator, then the published figures.
/// The columns are k = 1, 3, 5 and what else there are figures for.
pub fn generation_table(metrics: &[Metrics], published: &[Published]) -> Table {
    let passes = metrics.iter().map(|m| &m.pass_at);
    let passes = passes.chain(published.iter().map(|p| &p.pass_at));
    let ks: BTreeSet<usize> = passes
        .flat_map(|pass| pass.keys().copied())
        .chain([1, 3, 5])
        .collect();
    let cell = |figure: Option<&f64>| figure.map_or(NONE.to_owned(), |f| percent(*f));
    let ours = metrics.iter().map(|m| {
        let mut row = text([&m.benchmark, &m.retriever, &m.generator]);
        row.push(m.mode.to_string());
        row.push(answers(m));
        row.extend(ks.iter().map(|k| cell(m.pass_at.get(k))));
        row.push(cell(m.dir.as_ref()));
        row
    });
    let theirs = published.iter().map(|p| {
        let mut row = text([&p.benchmark, &p.retriever, &p.generator]);
        row.push("published".to_owned());
        row.push(format!("{} x {}", p.tasks, p.samples));
        row.extend(ks.iter().map(|k| cell(p.pass_at.get(k))));
        row.push(cell(p.dir.as_ref()));
        row
    });
    let mut note =
        "Per cent; answers are tasks x samples, and missing ones count as failed.".to_owned();
    let sources: BTreeSet<&str> = published.iter().map(|p| p.source.as_str()).collect();
    for source in sources {
        note += &format!(" Published: {source}");
    }
    let columns = ["Benchmark", "Retriever", "Generator", "Mode", "Answers"];
    Table {
        title: "Table 4: generation".to_owned(),
        note,
        header: text(columns)
            .into_iter()
            .chain(ks.iter().map(|k| format!("pass@{k}")))
            .chain(["DIR".to_owned()])
            .collect(),
        rows: ours.chain(theirs).collect(),
    }
}

/// Tasks times samples, and how many answers there are if some are missing.
fn answers(run: &Metrics) -> String {
    let there: usize = run.verdicts.values().sum();
    let all = format!("{} x {}", run.tasks, run.samples);
    if there == run.tasks * run.samples {
        all
    } else {
        format!("{there} of {all}")
    }
}

/// What became of the answers: how many passed, failed, ran out of time or memory, and by which
/// exceptions they failed.
pub fn verdict_table(metrics: &[Metrics]) -> Table {
    let list = |counts: &BTreeMap<String, usize>| {
        let mut counts: Vec<(&String, &usize)> = counts.iter().collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
        let parts = counts.iter().map(|(name, count)| format!("{name} {count}"));
        let text = parts.collect::<Vec<_>>().join(", ");
        if text.is_empty() {
            NONE.to_owned()
        } else {
            text
        }
    };
    let rows = metrics.iter().map(|run| {
        let mut row = text([&run.benchmark, &run.retriever, &run.generator]);
        row.push(run.mode.to_string());
        row.push(list(&run.verdicts));
        row.push(list(&run.exceptions));
        row
    });
    Table {
        title: "Verdicts and exceptions".to_owned(),
        note: "Answers by verdict; failed answers by the exception that left the check.".to_owned(),
        header: text([
            "Benchmark",
            "Retriever",
            "Generator",
            "Mode",
            "Verdicts",
            "Exceptions",
        ]),
        rows: rows.collect(),
    }
}

/// Retrieval latency of every retriever that was measured: wall time around retrieval alone.
pub fn latency_table(metrics: &[Metrics]) -> Table {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for run in metrics {
        let mode = run.mode.to_string();
        let Some(latency) = run.latency_ms else {
            continue;
        };
        if !seen.insert((&run.benchmark, &run.retriever, mode.clone())) {
            continue;
        }
        let mut row = text([&run.benchmark, &run.retriever, &mode]);
        let figures = [latency.min, latency.max, latency.mean, latency.median];
        row.extend(figures.map(|ms| format!("{ms:.1}")));
        rows.push(row);
    }
    Table {
        title: "Latency of retrieval".to_owned(),
        note: "Milliseconds a task on this machine; models are loaded once, before.".to_owned(),
        header: text([
            "Benchmark",
            "Retriever",
            "Mode",
            "Min",
            "Max",
            "Mean",
            "Median",
        ]),
        rows,
    }
}

fn text<T: AsRef<str>, const N: usize>(cells: [T; N]) -> Vec<String> {
    cells.iter().map(|c| c.as_ref().to_owned()).collect()
}

fn percent(part: f64) -> String {
    format!("{:.2}", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hydra_core::records::ThresholdRow;

    fn run(generator: &str) -> Metrics {
        let row = |found, wanted, retrieved| Retrieved {
            found,
            wanted,
            retrieved,
        };
        Metrics {
            benchmark: "mini".into(),
            retriever: "bm25".into(),
            generator: generator.into(),
            mode: Mode::Faithful,
            tasks: 4,
            samples: 3,
            pass_at: [(1, 0.25), (3, 0.5)].into(),
            dir: None,
            verdicts: [("passed".to_owned(), 3), ("failed".to_owned(), 9)].into(),
            exceptions: [].into(),
            retrieval: row(2, 4, 12),
            retrieval_by_kind: [
                ("class".to_owned(), row(0, 2, 0)),
                ("function".to_owned(), row(2, 2, 12)),
            ]
            .into(),
            latency_ms: None,
        }
    }

    #[test]
    fn table_1_marks_the_chosen_threshold() {
        let line = |threshold, recall| ThresholdRow {
            threshold,
            recall,
            precision: 0.5,
            f1: 0.6,
            brp: 0.7,
        };
        let grid = ThresholdTable {
            alpha: 0.8,
            positives: 10,
            negatives: 40,
            rows: vec![line(0.15, 0.95), line(0.15 + 0.05, 0.9)],
            best: 0.2,
        };
        let wanted = "\
### Table 1: the threshold

| T | Recall | Precision | F1 | BRP |
| --- | --- | --- | --- | --- |
| 0.15 | 95.00 | 50.00 | 60.00 | 70.00 |
| **0.20** | 90.00 | 50.00 | 60.00 | 70.00 |

Per cent, of class 1 where p1 >= T; as-released mode. 10 positive and 40 negative pairs, weight of recall 0.8000.
";
        let table = threshold_table(&grid, Mode::AsReleased);
        assert_eq!(table.to_markdown(), wanted);
    }

    #[test]
    fn table_3_has_a_retriever_once_whatever_the_generators() {
        let wanted = "\
### Table 3: retrieval of dependencies

| Benchmark | Retriever | Mode | Kind | Recall | Precision | F1 | Found | Wanted | Retrieved |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| mini | bm25 | faithful | class | 0.00 | – | 0.00 | 0 | 2 | 0 |
| mini | bm25 | faithful | function | 100.00 | 16.67 | 28.57 | 2 | 2 | 12 |
| mini | bm25 | faithful | all | 50.00 | 16.67 | 25.00 | 2 | 4 | 12 |

Per cent, micro-averaged over the dependencies of all tasks; methods count as functions.
";
        let table = retrieval_table(&[run("a"), run("b")]);
        assert_eq!(table.to_markdown(), wanted);
    }

    #[test]
    fn missing_answers_are_told() {
        let mut run = run("a");
        assert_eq!(answers(&run), "4 x 3");
        run.verdicts.remove("passed");
        assert_eq!(answers(&run), "9 of 4 x 3");
    }

    #[test]
    fn verdicts_and_latency_are_listed_as_they_were_counted() {
        let mut run = run("a");
        run.verdicts.insert("timed_out".to_owned(), 1);
        run.exceptions.insert("TypeError".to_owned(), 9);
        let text = verdict_table(std::slice::from_ref(&run)).to_markdown();
        assert!(
            text.contains("| failed 9, passed 3, timed_out 1 | TypeError 9 |"),
            "{text}"
        );
        assert!(latency_table(std::slice::from_ref(&run)).rows.is_empty());
        run.latency_ms = Some(hydra_core::records::Latency {
            min: 1.0,
            max: 4.0,
            mean: 2.5,
            median: 2.25,
        });
        let text = latency_table(&[run.clone(), run]).to_markdown();
        assert!(
            text.contains("| mini | bm25 | faithful | 1.0 | 4.0 | 2.5 | 2.2 |"),
            "{text}"
        );
    }

    #[test]
    fn table_4_sets_published_figures_below_ours() {
        let published = Published {
            source: "the authors' record.".into(),
            benchmark: "mini".into(),
            retriever: "full context".into(),
            generator: "phi-2".into(),
            tasks: 4,
            samples: 10,
            pass_at: [(1, 0.19042), (10, 0.27042)].into(),
            dir: Some(0.48133),
        };
        let wanted = "\
### Table 4: generation

| Benchmark | Retriever | Generator | Mode | Answers | pass@1 | pass@3 | pass@5 | pass@10 | DIR |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| mini | bm25 | a | faithful | 4 x 3 | 25.00 | 50.00 | – | – | – |
| mini | full context | phi-2 | published | 4 x 10 | 19.04 | – | – | 27.04 | 48.13 |

Per cent; answers are tasks x samples, and missing ones count as failed. Published: the authors' record.
";
        let table = generation_table(&[run("a")], &[published]);
        assert_eq!(table.to_markdown(), wanted);
    }
}
