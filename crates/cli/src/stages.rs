//! From sources to training pairs: `mine`, `index`, `pairs`.

use anyhow::{Context as _, bail};
use hydra_core::{Progress, RunDir, RunSpec, jsonl};
use hydra_dataset::{PairsConfig, PairsSummary, Split};
use hydra_mine::{MineConfig, mine_folder, mine_wheels};
use hydra_pyindex::RepoIndex;
use serde_json::json;

use crate::args::{IndexArgs, MineArgs, PairsArgs, Source, SplitArg};
use crate::{Context, Done};

/// `hydra mine`.
pub fn mine(context: &Context, args: &MineArgs) -> anyhow::Result<Done> {
    let from = match args.source {
        Source::Folder => args
            .from
            .as_deref()
            .context("--source folder needs --from DIR")?,
        Source::Wheels => args
            .list
            .as_deref()
            .context("--source wheels needs --list FILE")?,
    };
    let settings = &context.settings.mine;
    let names = std::fs::read_to_string(&settings.benchmark_projects)
        .with_context(|| format!("cannot read {}", settings.benchmark_projects.display()))?;
    let config = MineConfig {
        benchmarks: toml::from_str(&names).with_context(|| {
            format!(
                "{} is no list of projects",
                settings.benchmark_projects.display()
            )
        })?,
        python: settings.python.clone(),
        cache: crate::settings::cache_folder()?.join("wheels"),
        jobs: context.jobs,
        ..MineConfig::default()
    };
    let spec = RunSpec::new(
        "mine",
        json!({"source": format!("{:?}", args.source)}),
        context.seed,
    )
    .input("from", from)?
    .input("benchmark_projects", &settings.benchmark_projects)?;
    let run = RunDir::open(&args.out, spec, false, context.restart, &["manifest.jsonl"])?;
    let summary = match args.source {
        Source::Folder => mine_folder(from, &config, &args.out, &context.bars)?,
        Source::Wheels => mine_wheels(from, &config, &args.out, &context.bars)?,
    };
    for failure in &summary.failed {
        context
            .bars
            .warn(&format!("{}: {}", failure.name, failure.reason));
    }
    let done = if summary.failed.is_empty() {
        run.finish()?;
        Done::All
    } else {
        Done::SomeFailed
    };
    let text = format!(
        "{} repositories kept, {} refused, {} failed; {} files, {} functions\n{}",
        summary.kept,
        summary.refused,
        summary.failed.len(),
        summary.files,
        summary.functions,
        args.out.join("manifest.jsonl").display()
    );
    context.show(&serde_json::to_value(&summary)?, &text);
    Ok(done)
}

/// `hydra index`.
pub fn index(context: &Context, args: &IndexArgs) -> anyhow::Result<Done> {
    let index = RepoIndex::build(&args.repository, &context.bars)?;
    if let Some(out) = &args.out {
        let records = index
            .units()
            .map(|unit| json!({"unit": unit, "dependencies": index.dependencies(&unit.id)}));
        jsonl::write(out, records)?;
    }
    let mut kinds = std::collections::BTreeMap::<String, usize>::new();
    let mut edges = 0;
    for unit in index.units() {
        let kind = serde_json::to_value(unit.kind)?;
        *kinds
            .entry(kind.as_str().unwrap_or("unit").to_owned())
            .or_default() += 1;
        edges += index.dependencies(&unit.id).len();
    }
    for skipped in index.skipped() {
        context
            .bars
            .warn(&format!("skipped {}: {}", skipped.path, skipped.reason));
    }
    let files = index.files().count();
    let listed: Vec<_> = kinds
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    context.show(
        &json!({"files": files, "units": kinds, "dependencies": edges, "skipped": index.skipped()}),
        &format!(
            "{files} files, {}, {edges} dependencies, {} files skipped",
            listed.join(", "),
            index.skipped().len()
        ),
    );
    Ok(Done::All)
}

/// `hydra pairs`.
pub fn pairs(context: &Context, args: &PairsArgs) -> anyhow::Result<Done> {
    let config = PairsConfig {
        split: match args.split {
            SplitArg::Repository => Split::Repository,
            SplitArg::Pair => Split::Pair,
        },
        seed: context.seed,
    };
    if !args.corpus.is_dir() {
        bail!(
            "{}: no such folder; make a corpus with `hydra mine`",
            args.corpus.display()
        );
    }
    let manifest = args.corpus.join("manifest.jsonl");
    if !manifest.exists() && args.corpus.join("manifest.partial.jsonl").exists() {
        bail!(
            "{}: its mining did not end; run the same `hydra mine` again",
            args.corpus.display()
        );
    }
    let corpus = if manifest.exists() {
        &manifest
    } else {
        &args.corpus
    };
    let spec = RunSpec::new("pairs", serde_json::to_value(&config)?, context.seed)
        .input("corpus", corpus)?;
    let run = RunDir::open(&args.out, spec, false, context.restart, &["summary.json"])?;
    let summary_file = args.out.join("summary.json");
    let summary: PairsSummary = if run.finished() && summary_file.exists() {
        serde_json::from_slice(&std::fs::read(&summary_file)?)
            .with_context(|| format!("{} is no summary", summary_file.display()))?
    } else {
        let summary = hydra_dataset::build(&args.corpus, &config, &args.out, &context.bars)?;
        run.finish()?;
        summary
    };
    for skipped in &summary.skipped {
        context
            .bars
            .warn(&format!("{}: {}", skipped.name, skipped.reason));
    }
    context.show(&serde_json::to_value(&summary)?, &describe_pairs(&summary));
    Ok(Done::All)
}

fn describe_pairs(summary: &PairsSummary) -> String {
    let mut text = String::from(
        "| split | repositories | queries | kind | positives | negatives |\n|---|---|---|---|---|---|\n",
    );
    for (split, part) in &summary.splits {
        text += &format!(
            "| {split} | {} | {} | all | {} | {} |\n",
            part.repositories, part.queries, part.positives, part.negatives
        );
        for (kind, count) in &part.kinds {
            let kind = format!("{kind:?}").to_lowercase();
            text += &format!(
                "| | | | {kind} | {} | {} |\n",
                count.positives, count.negatives
            );
        }
    }
    text
}

/// `hydra doctor`.
pub fn doctor(context: &Context) -> anyhow::Result<Done> {
    let probe = hydra_sandbox::probe();
    let mut text = format!(
        "kernel         {}\nuser           {}\nmemory limit   {}\nisolation      ",
        probe.kernel, probe.uid, probe.memory_limit
    );
    match (&probe.refused, probe.launch_ms) {
        (Some(refused), _) => {
            text += &format!(
                "none: {}\nremedy         {}",
                refused.reason, refused.remedy
            );
        }
        (None, Some(ms)) => text += &format!("works, {ms:.1} ms a launch"),
        (None, None) => text += "works",
    }
    context.show(&serde_json::to_value(&probe)?, &text);
    Ok(if probe.isolated {
        Done::All
    } else {
        Done::SomeFailed
    })
}
