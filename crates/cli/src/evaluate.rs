//! The last stages: `retrieve`, `generate`, `execute`, `score`, and `eval`, which is all of them.
//!
//! A results folder of `eval` holds a folder for each retriever, and in it the stages' files:
//! `retrieval.jsonl`, `latency.json`, `answers.jsonl`, `verdicts.jsonl`, `metrics.json`, and a
//! `run.<stage>.json` for each stage.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use hydra_bench::{Benchmark, Records};
use hydra_core::records::{Answer, Judged, Metrics, Retrieval, ThresholdTable, Verdict};
use hydra_core::{Mode, Progress, RunDir, RunInfo, RunSpec, jsonl, read_json, write_json};
use hydra_dar::{DarScorer, Embedder};
use hydra_generate::{Generator, OpenAi, Reference, Replay, Request};
use hydra_retrieve::{Bm25, Dar, Dense, Hydra, NoContext, Retriever};
use hydra_sandbox::{Isolation, Sandbox};
use serde_json::json;

use crate::args::{
    EvalArgs, ExecuteArgs, GenerateArgs, GeneratorArgs, GeneratorName, IsolationArgs, ModelArgs,
    RetrieveArgs, RetrieverName, ScoreArgs, TablesArgs,
};
use crate::benchmark::{self, Opened};
use crate::{Context, Done, tables, usage};

/// `hydra retrieve`.
pub fn retrieve(context: &Context, args: &RetrieveArgs) -> anyhow::Result<Done> {
    let opened = benchmark::open(context, &args.tasks)?;
    check_models(&args.retrievers, &args.models)?;
    let mut done = Done::All;
    let mut runs = Vec::new();
    for &name in &args.retrievers {
        let dir = match args.retrievers.len() {
            1 => args.out.clone(),
            _ => args.out.join(name.as_str()),
        };
        if let Done::SomeFailed = retrieve_into(context, &opened, name, &args.models, &dir)? {
            done = Done::SomeFailed;
        }
        runs.push(measure(&opened, "none", &dir, &[])?);
    }
    let tables = [
        hydra_report::retrieval_table(&runs),
        hydra_report::latency_table(&runs),
    ];
    let text = tables
        .each_ref()
        .map(hydra_report::Table::to_markdown)
        .join("\n");
    context.show(&json!({"tables": tables, "metrics": runs}), &text);
    Ok(done)
}

fn retrieve_into(
    context: &Context,
    opened: &Opened,
    name: RetrieverName,
    models: &ModelArgs,
    out: &Path,
) -> anyhow::Result<Done> {
    let ids: Vec<&str> = opened.tasks.iter().map(|t| t.id.as_str()).collect();
    let learned = is_learned(name);
    let threshold = learned.then(|| threshold(models)).transpose()?;
    let config = json!({
        "benchmark": opened.benchmark.name(),
        "retriever": name.as_str(),
        "settings": context.settings.retrieve,
        "threshold": threshold,
        "tasks": ids,
    });
    let mut spec = RunSpec::new("retrieve", config, context.seed)
        .input("tasks", &opened.tasks_file)?
        .hashed("projects", opened.projects_hash()?);
    if learned {
        spec = spec.input("dar", dar_folder(models)?.join("model"))?;
    }
    if name == RetrieverName::Dense {
        spec = spec.input("dense", dense_folder(models)?)?;
    }
    let outputs = ["retrieval.jsonl", "latency.json", "retrieval.jsonl.partial"];
    let mut run = RunDir::open(out, spec, true, context.restart, &outputs)?;
    if run.finished() {
        return Ok(Done::All);
    }
    let retriever = make_retriever(context, name, models, threshold)?;
    let indexes = opened.indexes(context);
    let work: Vec<_> = opened
        .tasks
        .iter()
        .filter_map(|task| Some((task, indexes.get(&opened.benchmark.sources(task))?)))
        .collect();
    let mut failed = opened.tasks.len() - work.len();
    run.begin()?;
    let records = run.file("retrieval.jsonl");
    let done = hydra_retrieve::retrieve(retriever.as_ref(), &work, &records, &context.bars)?;
    for failure in &done.failed {
        let text = format!("{}: {}", failure.task, failure.reason);
        context.bars.warn(&text);
    }
    failed += done.failed.len();
    if done.retrievals.is_empty() {
        bail!(
            "none of the {} tasks has its project in {}",
            opened.tasks.len(),
            opened.projects.display()
        );
    }
    write_json(run.file("latency.json"), &done.milliseconds)?;
    if failed > 0 {
        return Ok(Done::SomeFailed);
    }
    run.finish()?;
    Ok(Done::All)
}

fn is_learned(name: RetrieverName) -> bool {
    matches!(name, RetrieverName::Dar | RetrieverName::Hydra)
}

/// What a retriever lacks is said before the first one runs for an hour.
fn check_models(names: &[RetrieverName], models: &ModelArgs) -> anyhow::Result<()> {
    for &name in names {
        if is_learned(name) {
            threshold(models)?;
        }
        if name == RetrieverName::Dense {
            dense_folder(models)?;
        }
    }
    Ok(())
}

fn dar_folder(models: &ModelArgs) -> anyhow::Result<&Path> {
    let folder = models.dar.as_deref();
    folder.ok_or_else(|| {
        usage("this retriever needs --dar RUN, a folder made by `hydra train`".to_owned())
    })
}

fn dense_folder(models: &ModelArgs) -> anyhow::Result<&Path> {
    let folder = models.dense.as_deref();
    folder.ok_or_else(|| {
        usage("dense retrieval needs --dense MODEL, a local encoder folder".to_owned())
    })
}

fn threshold(models: &ModelArgs) -> anyhow::Result<f64> {
    let run = dar_folder(models)?;
    if let Some(threshold) = models.threshold {
        return Ok(threshold);
    }
    let path = run.join("threshold.json");
    if !path.exists() {
        bail!(
            "{}: no such file; run `hydra threshold --run {}` or say --threshold",
            path.display(),
            run.display()
        );
    }
    Ok(read_json::<ThresholdTable>(path)?.best)
}

fn make_retriever(
    context: &Context,
    name: RetrieverName,
    models: &ModelArgs,
    threshold: Option<f64>,
) -> anyhow::Result<Box<dyn Retriever>> {
    let settings = &context.settings.retrieve;
    let device = Default::default();
    let dar = || -> anyhow::Result<Dar> {
        let scorer = DarScorer::load(&dar_folder(models)?.join("model"), &device)?;
        Ok(Dar::new(scorer, threshold.context("no threshold")?))
    };
    Ok(match name {
        RetrieverName::None => Box::new(NoContext),
        RetrieverName::Bm25 => Box::new(Bm25 {
            top: settings.bm25_top,
        }),
        RetrieverName::Dense => {
            let embedder = Embedder::load(dense_folder(models)?, &device)?;
            Box::new(Dense::new(embedder, settings.dense_top))
        }
        RetrieverName::Dar => Box::new(dar()?),
        RetrieverName::Hydra => Box::new(Hydra {
            bm25: Bm25 {
                top: settings.hydra_bm25_top,
            },
            dar: dar()?,
        }),
    })
}

/// `hydra generate`.
pub fn generate(context: &Context, args: &GenerateArgs) -> anyhow::Result<Done> {
    let opened = benchmark::open(context, &args.tasks)?;
    let retriever = retrievals(&args.dir)?
        .first()
        .map_or_else(|| "none".to_owned(), |r| r.retriever.clone());
    let (done, answers) = generate_into(context, &opened, &args.generator, &retriever, &args.dir)?;
    let file = answers_file(&args.dir);
    context.show(
        &json!({"answers": answers, "file": file}),
        &format!("{answers} answers\n{}", file.display()),
    );
    Ok(done)
}

fn retrievals(dir: &Path) -> anyhow::Result<Vec<Retrieval>> {
    let path = dir.join("retrieval.jsonl");
    if !path.exists() {
        bail!(
            "{}: no such file; run `hydra retrieve` first",
            path.display()
        );
    }
    Ok(jsonl::read(path)?)
}

fn make_generator(
    context: &Context,
    opened: &Opened,
    args: &GeneratorArgs,
    retriever: &str,
) -> anyhow::Result<Box<dyn Generator>> {
    Ok(match args.generator {
        GeneratorName::Reference => Box::new(Reference(
            opened
                .tasks
                .iter()
                .filter_map(|t| {
                    let solution = opened.benchmark.reference(&t.id)?;
                    Some((t.id.clone(), solution.to_owned()))
                })
                .collect(),
        )),
        GeneratorName::Replay => {
            let file = replay_file(args, retriever)
                .ok_or_else(|| usage("replay needs --replay FILE".to_owned()))?;
            Box::new(Replay::open(&file, opened.benchmark.name())?)
        }
        GeneratorName::Openai => {
            let key = std::env::var("OPENAI_API_KEY").ok();
            // What can't be used as said is wrong usage.
            Box::new(OpenAi::new(server(context, args), key).map_err(|e| usage(e.to_string()))?)
        }
    })
}

fn replay_file(args: &GeneratorArgs, retriever: &str) -> Option<PathBuf> {
    let name = args.replay.as_ref()?;
    Some(name.replace("{retriever}", retriever).into())
}

fn server(context: &Context, args: &GeneratorArgs) -> hydra_generate::OpenAiConfig {
    let mut config = context.settings.openai.clone();
    args.apply(&mut config);
    config
}

/// How the generator is called in tables: a recording by its kind, since each retriever has its
/// own file.
fn generator_name(context: &Context, args: &GeneratorArgs) -> String {
    match args.generator {
        GeneratorName::Reference => "reference".to_owned(),
        GeneratorName::Replay => "replay".to_owned(),
        GeneratorName::Openai => server(context, args).model,
    }
}

/// Returns how many answers there are.
fn generate_into(
    context: &Context,
    opened: &Opened,
    args: &GeneratorArgs,
    retriever: &str,
    dir: &Path,
) -> anyhow::Result<(Done, usize)> {
    let generator = make_generator(context, opened, args, retriever)?;
    let samples = args.samples.unwrap_or(match args.generator {
        GeneratorName::Reference => 1,
        GeneratorName::Replay | GeneratorName::Openai => 5,
    });
    let asked = (args.generator == GeneratorName::Openai).then(|| server(context, args));
    let config = json!({
        "generator": generator_name(context, args),
        "samples": samples,
        "server": asked,
    });
    // The prompts are no input: each answer knows its own, so that a retrieval can be completed
    // after the first answers came.
    let mut spec = RunSpec::new("generate", config, context.seed);
    if let Some(replay) = replay_file(args, retriever) {
        spec = spec.input("replay", replay)?;
    }
    let outputs = ["answers.jsonl", "answers.jsonl.partial"];
    let mut run = RunDir::open(dir, spec, true, context.restart, &outputs)?;
    if context.restart || !run.finished() {
        generator.ready()?;
    }
    // Those that --only leaves out keep the answers that they have.
    let requests: Vec<Request> = retrievals(dir)?
        .into_iter()
        .map(|r| Request {
            samples: if opened.picks(&r.task) { samples } else { 0 },
            task: r.task,
            prompt: r.prompt,
        })
        .collect();
    if requests.iter().all(|request| request.samples == 0) {
        bail!(
            "{}: holds no prompt of these tasks; run `hydra retrieve` for them first",
            dir.join("retrieval.jsonl").display()
        );
    }
    run.begin()?;
    let done = hydra_generate::generate(
        generator.as_ref(),
        &requests,
        &run.file("answers.jsonl"),
        context.jobs,
        context.seed,
        &context.bars,
    )?;
    for failure in &done.failed {
        let place = format!("{}, sample {}", failure.task, failure.sample);
        context.bars.warn(&format!("{place}: {}", failure.reason));
    }
    let count = done
        .answers
        .iter()
        .filter(|a| opened.picks(&a.task))
        .count();
    match done.failed.first() {
        None => {
            run.finish()?;
            Ok((Done::All, count))
        }
        Some(first) if count == 0 => {
            bail!("no answer at all; the first failure: {}", first.reason)
        }
        Some(_) => Ok((Done::SomeFailed, count)),
    }
}

/// The answers so far: the finished file, or the journal of an unfinished run.
fn answers_file(out: &Path) -> PathBuf {
    let whole = out.join("answers.jsonl");
    if whole.exists() {
        whole
    } else {
        out.join("answers.jsonl.partial")
    }
}

/// `hydra execute`.
pub fn execute(context: &Context, args: &ExecuteArgs) -> anyhow::Result<Done> {
    let opened = benchmark::open(context, &args.tasks)?;
    let judged = execute_into(context, &opened, &args.isolation, &args.dir)?;
    let passed = judged.iter().filter(|j| j.verdict.passed()).count();
    context.show(
        &json!({"answers": judged.len(), "passed": passed}),
        &format!("{passed} of {} answers passed", judged.len()),
    );
    Ok(Done::All)
}

fn execute_into(
    context: &Context,
    opened: &Opened,
    isolation: &IsolationArgs,
    dir: &Path,
) -> anyhow::Result<Vec<Judged>> {
    let answers = answers_file(dir);
    if !answers.exists() {
        bail!(
            "{}: holds no answers; run `hydra generate` first",
            dir.display()
        );
    }
    let config = json!({
        "execute": context.settings.execute,
        "isolation": !isolation.allow_no_isolation,
    });
    // The answers are no input: verdicts are kept by the code that they are of, so that answers
    // which came later are tested beside them.
    let spec = RunSpec::new("execute", config, context.seed).input("tasks", &opened.tasks_file)?;
    let outputs = ["verdicts.jsonl", "verdicts.jsonl.partial"];
    let mut run = RunDir::open(dir, spec, true, context.restart, &outputs)?;
    let verdicts = run.file("verdicts.jsonl");
    let sandbox = Sandbox::new(if isolation.allow_no_isolation {
        Isolation::Off
    } else {
        Isolation::Required
    })?;
    let answers: Vec<Answer> = jsonl::read(&answers)?;
    if !answers.iter().any(|answer| opened.picks(&answer.task)) {
        bail!(
            "{}: holds no answer to these tasks; run `hydra generate` first",
            dir.display()
        );
    }
    run.begin()?;
    let mut judged = hydra_bench::execute(
        &opened.benchmark,
        &answers,
        &opened.tasks,
        &sandbox,
        &verdicts,
        context.jobs,
        &context.bars,
    )?;
    let mut spoilt = 0;
    for judged in &judged {
        if let Verdict::Infrastructure { reason } = &judged.verdict {
            spoilt += 1;
            let place = format!("{}, sample {}", judged.task, judged.sample);
            context.bars.warn(&format!("{place}: {reason}"));
        }
    }
    if spoilt > 0 {
        bail!("{spoilt} answers could not be tested; nothing is scored");
    }
    run.finish()?;
    judged.retain(|judged| opened.picks(&judged.task));
    Ok(judged)
}

/// `hydra score`.
pub fn score(context: &Context, args: &ScoreArgs) -> anyhow::Result<Done> {
    let opened = benchmark::open(context, &args.tasks)?;
    let generator = match (&args.generator, &generator_of(&args.dir)?) {
        (Some(said), Some(known)) if said != known => bail!(
            "{}: these answers are {known}'s, not {said}'s; leave --generator out",
            args.dir.display()
        ),
        (Some(name), _) | (None, Some(name)) => name.clone(),
        (None, None) => bail!(
            "{}: it is not recorded whose answers these are; say --generator NAME",
            args.dir.display()
        ),
    };
    let metrics = score_into(context, &opened, &generator, &args.dir)?;
    let runs = std::slice::from_ref(&metrics);
    let text = [
        hydra_report::retrieval_table(runs).to_markdown(),
        hydra_report::generation_table(runs, &[]).to_markdown(),
        hydra_report::verdict_table(runs).to_markdown(),
    ];
    context.show(&serde_json::to_value(&metrics)?, &text.join("\n"));
    let tested: usize = metrics.verdicts.values().sum();
    Ok(if tested < metrics.tasks * metrics.samples {
        Done::SomeFailed
    } else {
        Done::All
    })
}

/// Whose answers a folder holds, by the record of `generate`.
fn generator_of(dir: &Path) -> anyhow::Result<Option<String>> {
    let record = dir.join("run.generate.json");
    if !record.exists() {
        return Ok(None);
    }
    let info: RunInfo = read_json(record)?;
    Ok(info.spec.config["generator"].as_str().map(str::to_owned))
}

fn score_into(
    context: &Context,
    opened: &Opened,
    generator: &str,
    dir: &Path,
) -> anyhow::Result<Metrics> {
    let verdicts = dir.join("verdicts.jsonl");
    if !verdicts.exists() {
        bail!(
            "{}: no such file; run `hydra execute` first",
            verdicts.display()
        );
    }
    let mut judged: Vec<Judged> = jsonl::read(&verdicts)?;
    judged.retain(|judged| opened.picks(&judged.task));
    let spec = RunSpec::new("score", json!({"generator": generator}), context.seed)
        .input("verdicts", &verdicts)?
        .input("retrieval", dir.join("retrieval.jsonl"))?;
    // It takes no time, and new verdicts are to be scored anew.
    let mut run = RunDir::open(dir, spec, true, true, &["metrics.json"])?;
    let metrics = measure(opened, generator, dir, &judged)?;
    run.begin()?;
    let (there, all) = (judged.len(), metrics.tasks * metrics.samples);
    if there < all {
        context.bars.warn(&format!(
            "{}: {} of {all} answers are missing and count as failed",
            dir.display(),
            all - there
        ));
    }
    write_json(run.file("metrics.json"), &metrics)?;
    run.finish()?;
    Ok(metrics)
}

/// The figures of a results folder with these verdicts.
fn measure(
    opened: &Opened,
    generator: &str,
    dir: &Path,
    judged: &[Judged],
) -> anyhow::Result<Metrics> {
    let mut found = retrievals(dir)?;
    let latency = dir.join("latency.json");
    let mut milliseconds: Vec<f64> = if latency.exists() {
        read_json(&latency)?
    } else {
        Vec::new()
    };
    if !milliseconds.is_empty() {
        if milliseconds.len() != found.len() {
            bail!(
                "{}: holds {} times for {} retrievals",
                latency.display(),
                milliseconds.len(),
                found.len()
            );
        }
        let picked = found.iter().map(|r| opened.picks(&r.task));
        milliseconds = picked
            .zip(milliseconds)
            .filter_map(|(picked, time)| picked.then_some(time))
            .collect();
    }
    found.retain(|r| opened.picks(&r.task));
    let first = found.first();
    let records = Records {
        retriever: first.map_or("none", |r| r.retriever.as_str()),
        generator,
        mode: first.map_or(Mode::Faithful, |r| r.mode),
        tasks: &opened.tasks,
        retrievals: &found,
        milliseconds: &milliseconds,
        judged,
    };
    Ok(hydra_bench::score(&opened.benchmark, &records))
}

/// `hydra eval`.
pub fn eval(context: &Context, args: &EvalArgs) -> anyhow::Result<Done> {
    let opened = benchmark::open(context, &args.tasks)?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => Path::new("results").join(&args.tasks.benchmark),
    };
    check_models(&args.retrievers, &args.models)?;
    let generator = generator_name(context, &args.generator);
    if context.restart {
        // Nothing is thrown away for a server that is down.
        for name in &args.retrievers {
            make_generator(context, &opened, &args.generator, name.as_str())?.ready()?;
        }
    }
    let mut done = Done::All;
    for &name in &args.retrievers {
        let dir = out.join(name.as_str());
        let retrieved = retrieve_into(context, &opened, name, &args.models, &dir)?;
        let (generated, _) = generate_into(context, &opened, &args.generator, name.as_str(), &dir)?;
        execute_into(context, &opened, &args.isolation, &dir)?;
        score_into(context, &opened, &generator, &dir)?;
        for step in [retrieved, generated] {
            if matches!(step, Done::SomeFailed) {
                done = Done::SomeFailed;
            }
        }
    }
    let mut folders = vec![out.clone()];
    folders.extend(args.models.dar.clone());
    tables::tables(
        context,
        &TablesArgs {
            folders,
            out: Some(out),
        },
    )?;
    Ok(done)
}
