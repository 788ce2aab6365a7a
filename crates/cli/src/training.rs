//! From sources to a trained retriever: `mine`, `pairs`, `train`, `threshold`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hydra_core::records::ThresholdTable;
use hydra_core::{Mode, Progress, RunDir, RunSpec, read_json, write_json};
use hydra_dar::{Cpu, CpuTraining, DarScorer, EncoderConfig, Pair, TrainSummary};
use hydra_dataset::{PairsConfig, PairsSummary, Split, read_pairs};
use hydra_mine::{MineConfig, mine_folder, mine_wheels};
use serde_json::json;

use crate::args::{MineArgs, PairsArgs, Source, SplitArg, ThresholdArgs, TrainArgs};
use crate::{Context, Done, usage};

/// `hydra mine`.
pub fn mine(context: &Context, args: &MineArgs) -> anyhow::Result<Done> {
    let from = match args.source {
        Source::Folder => args
            .from
            .as_deref()
            .ok_or_else(|| usage("--source folder needs --from DIR".to_owned()))?,
        Source::Wheels => args
            .list
            .as_deref()
            .ok_or_else(|| usage("--source wheels needs --list FILE".to_owned()))?,
    };
    let settings = &context.settings.mine;
    let names = std::fs::read_to_string(&settings.benchmark_projects).with_context(|| {
        format!(
            "cannot read {}, the names that must not be mined; run this from the root of Hydra's \
             checkout, or name the file in the settings (mine.benchmark_projects)",
            settings.benchmark_projects.display()
        )
    })?;
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
    if args.source == Source::Wheels && hydra_mine::read_list(from)?.is_empty() {
        bail!("{}: holds no name==version line", from.display());
    }
    refuse_strange(&args.out)?;
    let mut run = RunDir::open(&args.out, spec, false, context.restart, &["manifest.jsonl"])?;
    run.begin()?;
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

/// A corpus replaces whole folders: one that holds something else is not a place for it.
fn refuse_strange(out: &Path) -> anyhow::Result<()> {
    if out.join("run.json").exists() {
        return Ok(());
    }
    let Ok(entries) = std::fs::read_dir(out) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        // What a run left that was killed at its very start.
        if !entry.file_name().to_string_lossy().starts_with(".hydra-") {
            bail!(
                "{}: holds something that is no corpus ({}); name an empty or a new folder",
                out.display(),
                entry.file_name().to_string_lossy()
            );
        }
    }
    Ok(())
}

/// `hydra pairs`.
pub fn pairs(context: &Context, args: &PairsArgs) -> anyhow::Result<Done> {
    let config = PairsConfig {
        split: match args.split {
            SplitArg::Repository => Split::Repository,
            SplitArg::Pair => Split::Pair,
        },
        seed: context.seed,
        full_jsonl: args.full_jsonl,
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
    let mut run = RunDir::open(&args.out, spec, false, context.restart, &["summary.json"])?;
    let summary_file = args.out.join("summary.json");
    let summary: PairsSummary = if run.finished() && summary_file.exists() {
        read_json(summary_file)?
    } else {
        run.begin()?;
        let summary = hydra_dataset::build(&args.corpus, &config, &args.out, &context.bars)?;
        run.finish()?;
        summary
    };
    for skipped in &summary.skipped {
        context
            .bars
            .warn(&format!("{}: {}", skipped.name, skipped.reason));
    }
    for split in ["train", "valid", "test"] {
        let positives = summary.splits.get(split).map_or(0, |part| part.positives);
        if positives == 0 {
            context.bars.warn(&format!(
                "{split} holds no positive pair: the corpus has too few repositories for a split"
            ));
        }
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

/// `hydra train`.
pub fn train(context: &Context, args: &TrainArgs) -> anyhow::Result<Done> {
    let mut config = context.settings.train.clone();
    args.apply(&mut config);
    let file = |split: &str| args.pairs.as_ref().map(|dir| dir.join(split));
    let train = args
        .train
        .clone()
        .or_else(|| file("train_downsampling.parquet"));
    let valid = args.valid.clone().or_else(|| file("valid.parquet"));
    let (train, valid) = train
        .zip(valid)
        .context("say --pairs DIR, or --train FILE and --valid FILE")?;
    // The model counts by its content, not by its place.
    let mut described = config.clone();
    described.model = None;
    let mut spec = RunSpec::new("train", serde_json::to_value(&described)?, context.seed)
        .input("train", &train)?
        .input("valid", &valid)?;
    if let Some(model) = &config.model {
        spec = spec.input("model", model)?;
    }
    let mut outputs = vec!["model".to_owned(), "metrics.jsonl".to_owned()];
    outputs.extend(["summary.json", "threshold.json", "run.threshold.json"].map(str::to_owned));
    outputs.extend(checkpoints(&args.out));
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    let mut run = RunDir::open(&args.out, spec, false, context.restart, &outputs)?;
    let summary_file = run.file("summary.json");
    let summary: TrainSummary = if run.finished() && summary_file.exists() {
        read_json(summary_file)?
    } else {
        // Everything is read and checked before the folder is claimed or, by --restart, emptied.
        let (train_pairs, valid_pairs) = (pairs_of(&train)?, pairs_of(&valid)?);
        hydra_dar::check_training(&config, &train_pairs, &valid_pairs)?;
        run.begin()?;
        let summary = hydra_dar::train::<CpuTraining>(
            &config,
            context.seed,
            &train_pairs,
            &valid_pairs,
            &args.out,
            &Default::default(),
            &context.bars,
        )?;
        run.finish()?;
        summary
    };
    let best = &summary.best;
    let text = format!(
        "{} steps over {} pairs; loss {:.4} at the start, {:.4} at the end\n\
         best at step {}: validation recall {:.4}, precision {:.4}, F1 {:.4} (at argmax, {} pairs)\n{}",
        summary.steps,
        summary.pairs,
        summary.loss[0],
        summary.loss[1],
        summary.best_step,
        best.recall,
        best.precision,
        best.f1,
        summary.valid,
        args.out.join("model").display()
    );
    context.show(&serde_json::to_value(&summary)?, &text);
    Ok(Done::All)
}

/// The checkpoint folders in a run's folder.
fn checkpoints(run: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(run).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("checkpoint"))
        .collect()
}

fn pairs_of(path: &Path) -> anyhow::Result<Vec<Pair>> {
    let pairs = read_pairs(path)?.into_iter().map(|pair| Pair {
        query: pair.query,
        candidate: pair.candidate,
        label: pair.label,
    });
    Ok(pairs.collect())
}

/// `hydra threshold`.
pub fn threshold(context: &Context, args: &ThresholdArgs) -> anyhow::Result<Done> {
    let path: PathBuf = if args.pairs.is_dir() {
        args.pairs.join("valid.parquet")
    } else {
        args.pairs.clone()
    };
    let model = args.run.join("model");
    if !model.is_dir() {
        bail!(
            "{}: no such folder; train with `hydra train --out {}` first",
            model.display(),
            args.run.display()
        );
    }
    let spec = RunSpec::new("threshold", json!({"sample": args.sample}), context.seed)
        .input("pairs", &path)?
        .input("model", &model)?;
    let mut run = RunDir::open(&args.run, spec, true, context.restart, &["threshold.json"])?;
    let file = run.file("threshold.json");
    let table: ThresholdTable = if run.finished() && file.exists() {
        read_json(file)?
    } else {
        let all = pairs_of(&path)?;
        let pairs = hydra_dar::sample(&all, args.sample.unwrap_or(0), context.seed);
        if pairs.is_empty() {
            bail!("{}: holds no pairs", path.display());
        }
        let scorer = DarScorer::<Cpu>::load(&model, &Default::default())?;
        run.begin()?;
        let scores = scorer.score_pairs(&pairs, &context.bars)?;
        let p1: Vec<f32> = scores.iter().map(|score| score.p1).collect();
        let labels: Vec<u8> = pairs.iter().map(|pair| pair.label).collect();
        let table = hydra_dar::brp_table(&p1, &labels);
        write_json(&file, &table)?;
        run.finish()?;
        table
    };
    let shown = hydra_report::threshold_table(&table, mode_of(&args.run)?);
    context.show(&serde_json::to_value(&table)?, &shown.to_markdown());
    Ok(Done::All)
}

/// How the model of a run reads its input.
pub fn mode_of(run: &Path) -> anyhow::Result<Mode> {
    let config = EncoderConfig::read(&run.join("model/config.json"))?;
    Ok(config.input.map_or(Mode::AsReleased, |input| input.mode))
}
