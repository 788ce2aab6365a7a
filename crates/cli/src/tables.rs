//! `hydra tables`: the paper's tables out of what there is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hydra_core::records::{Metrics, ThresholdTable};
use hydra_core::{read_json, write_atomic, write_json};
use hydra_report::Table;
use serde_json::json;

use crate::args::TablesArgs;
use crate::{Context, Done, training};

/// Figures that others published.
const REFERENCE: &str = "results/reference";
/// Where to look if nothing is said.
const FOLDERS: [&str; 2] = ["results", "experiments"];
/// The order of the retrievers in a table; others come before.
const ORDER: [&str; 5] = ["none", "bm25", "dense", "dar", "hydra"];
/// Folders below folders that are looked into: `results/<eval>/<retriever>/`, and one more.
const DEPTH: usize = 4;

/// `hydra tables`.
pub fn tables(context: &Context, args: &TablesArgs) -> anyhow::Result<Done> {
    let mut found = Found::default();
    if args.folders.is_empty() {
        for folder in FOLDERS.map(Path::new).into_iter().filter(|f| f.is_dir()) {
            found.look(folder, DEPTH)?;
        }
    }
    for folder in &args.folders {
        if !folder.is_dir() {
            bail!(
                "{}: no such folder; run `hydra eval` first",
                folder.display()
            );
        }
        found.look(folder, DEPTH)?;
    }
    let mut tables = Vec::new();
    for path in &found.thresholds {
        tables.push(threshold_table(path)?);
    }
    let mut runs: Vec<Metrics> = Vec::new();
    for path in &found.metrics {
        runs.push(read_json(path)?);
    }
    // As the paper's tables stand: from no context to Hydra.
    let place = |run: &Metrics| ORDER.iter().position(|name| *name == run.retriever);
    runs.sort_by(|a, b| {
        let key = |r: &Metrics| (r.benchmark.clone(), r.generator.clone(), place(r));
        key(a).cmp(&key(b))
    });
    if !runs.is_empty() {
        let mut published = hydra_report::published(Path::new(REFERENCE))?;
        published.retain(|row| runs.iter().any(|run| run.benchmark == row.benchmark));
        tables.push(hydra_report::retrieval_table(&runs));
        tables.push(hydra_report::generation_table(&runs, &published));
        tables.push(hydra_report::verdict_table(&runs));
        tables.push(hydra_report::latency_table(&runs));
    }
    if tables.is_empty() {
        bail!("there are no figures yet: no metrics.json and no threshold.json was found");
    }
    let text: Vec<String> = tables.iter().map(Table::to_markdown).collect();
    let text = text.join("\n");
    if let Some(out) = &args.out {
        write_atomic(out.join("tables.md"), text.as_bytes())?;
        write_json(out.join("tables.json"), &tables)?;
    }
    context.show(&json!({"tables": tables, "metrics": runs}), &text);
    Ok(Done::All)
}

fn threshold_table(path: &Path) -> anyhow::Result<Table> {
    let table: ThresholdTable = read_json(path)?;
    let run = path.parent().unwrap_or(Path::new("."));
    Ok(hydra_report::threshold_table(
        &table,
        training::mode_of(run)?,
    ))
}

/// Files with figures, in the order of their paths, each once.
#[derive(Default)]
struct Found {
    metrics: BTreeSet<PathBuf>,
    thresholds: BTreeSet<PathBuf>,
}

impl Found {
    fn look(&mut self, folder: &Path, depth: usize) -> anyhow::Result<()> {
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
            let path = entry.path();
            // A link is not followed: it may lead back up.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if depth > 0 {
                    self.look(&path, depth - 1)?;
                }
            } else if path.file_name().is_some_and(|name| name == "metrics.json") {
                self.metrics.insert(path);
            } else if path
                .file_name()
                .is_some_and(|name| name == "threshold.json")
            {
                self.thresholds.insert(path);
            }
        }
        Ok(())
    }
}
