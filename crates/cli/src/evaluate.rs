//! `hydra eval`: retrieve, generate, execute, score.
//!
//! The results folder holds `retrieval.jsonl`, `latency.json`, `answers.jsonl`,
//! `verdicts.jsonl` and `metrics.json`, and a `run.<stage>.json` for each stage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use hydra_bench::{
    Benchmark, Interpreter, RepoExec, RepoExecConfig, mean_pass_at_k, retrieved_by_kind,
};
use hydra_core::records::{Answer, Judged, Retrieval, Task, Verdict};
use hydra_core::{Progress, RunDir, RunSpec, Silent, jsonl, write_json};
use hydra_generate::{Generator, OpenAi, Reference, Replay, Request};
use hydra_pyindex::RepoIndex;
use hydra_retrieve::{Bm25, NoContext, Retriever};
use hydra_sandbox::{Isolation, Sandbox};
use serde_json::json;

use crate::args::{EvalArgs, GeneratorName, RetrieverName};
use crate::{Context, Done};

/// `hydra eval`.
pub fn eval(context: &Context, args: &EvalArgs) -> anyhow::Result<Done> {
    let benchmark = open(context, args)?;
    let tasks = pick(benchmark.tasks(), args.only.as_deref())?;
    let generator = generator(context, args, &benchmark, &tasks)?;
    let mut failed = retrieve(context, args, &benchmark, &tasks)?;
    failed += generate(context, args, generator.as_ref())?;
    failed += execute(context, args, &benchmark)?;
    score(context, args, &tasks, &generator.name())?;
    Ok(if failed > 0 {
        Done::SomeFailed
    } else {
        Done::All
    })
}

fn open(context: &Context, args: &EvalArgs) -> anyhow::Result<RepoExec> {
    if !args.projects.is_dir() {
        bail!("{}: no such folder (--projects)", args.projects.display());
    }
    let interpreter = Interpreter::find(&args.python)
        .with_context(|| format!("{} is no Python that can be started", args.python.display()))?;
    let settings = &context.settings.execute;
    Ok(RepoExec::open(RepoExecConfig {
        name: args.benchmark.clone(),
        tasks: args.tasks.clone(),
        projects: std::path::absolute(&args.projects)?,
        outputs: args
            .outputs
            .as_deref()
            .map(std::path::absolute)
            .transpose()?,
        interpreter,
        timeout: Duration::from_secs(settings.timeout),
        memory: settings.memory,
    })?)
}

fn pick(all: &[Task], only: Option<&str>) -> anyhow::Result<Vec<Task>> {
    let Some(only) = only else {
        return Ok(all.to_vec());
    };
    let mut ranges = Vec::new();
    for part in only.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
            (Ok(first), Ok(last)) if first <= last => ranges.push(first..=last),
            _ => bail!("--only {only}: {part:?} is neither a number nor a range such as 0-9"),
        }
    }
    let wanted = |task: &&Task| {
        let number = task.id.as_str().rsplit('/').next();
        number
            .and_then(|n| n.parse().ok())
            .is_some_and(|n: u64| ranges.iter().any(|r| r.contains(&n)))
    };
    let picked: Vec<Task> = all.iter().filter(wanted).cloned().collect();
    if picked.is_empty() {
        bail!("--only {only}: the benchmark has no such task");
    }
    Ok(picked)
}

fn generator(
    context: &Context,
    args: &EvalArgs,
    benchmark: &RepoExec,
    tasks: &[Task],
) -> anyhow::Result<Box<dyn Generator>> {
    Ok(match args.generator {
        GeneratorName::Reference => Box::new(Reference(
            tasks
                .iter()
                .filter_map(|t| Some((t.id.clone(), benchmark.reference(&t.id)?.to_owned())))
                .collect(),
        )),
        GeneratorName::Replay => {
            let file = args
                .replay
                .as_deref()
                .context("replay needs --replay FILE")?;
            Box::new(Replay::open(file, &args.benchmark)?)
        }
        GeneratorName::Openai => {
            let key = std::env::var("OPENAI_API_KEY").ok();
            Box::new(OpenAi::new(server(context, args), key)?)
        }
    })
}

fn server(context: &Context, args: &EvalArgs) -> hydra_generate::OpenAiConfig {
    let mut config = context.settings.openai.clone();
    if let Some(url) = &args.base_url {
        config.base_url.clone_from(url);
    }
    if let Some(model) = &args.model {
        config.model.clone_from(model);
    }
    config
}

fn retrieve(
    context: &Context,
    args: &EvalArgs,
    benchmark: &RepoExec,
    tasks: &[Task],
) -> anyhow::Result<usize> {
    let ids: Vec<&str> = tasks.iter().map(|t| t.id.as_str()).collect();
    let config = json!({
        "benchmark": args.benchmark,
        "retriever": args.retriever.as_str(),
        "tasks": ids,
    });
    let spec = RunSpec::new("retrieve", config, context.seed)
        .input("tasks", &args.tasks)?
        .input("projects", &args.projects)?;
    let outputs = ["retrieval.jsonl", "latency.json"];
    let run = RunDir::open(&args.out, spec, true, context.restart, &outputs)?;
    if run.finished() {
        return Ok(0);
    }
    let retriever: Box<dyn Retriever> = match args.retriever {
        RetrieverName::None => Box::new(NoContext),
        RetrieverName::Bm25 => Box::new(Bm25::default()),
    };
    let mut failed = 0;
    let mut indexes: BTreeMap<PathBuf, Option<RepoIndex>> = BTreeMap::new();
    let bar = context.bars.start("index", None);
    for task in tasks {
        let root = benchmark.sources(task);
        if indexes.contains_key(&root) {
            continue;
        }
        let index = match RepoIndex::build(&root, &Silent) {
            Ok(index) => Some(index),
            Err(error) => {
                context.bars.warn(&format!("{}: {error}", task.project));
                None
            }
        };
        indexes.insert(root, index);
        bar.advance(1);
    }
    drop(bar);
    let mut work = Vec::new();
    for task in tasks {
        match indexes.get(&benchmark.sources(task)) {
            Some(Some(index)) => work.push((task, index)),
            _ => failed += 1,
        }
    }
    let done = hydra_retrieve::retrieve(retriever.as_ref(), &work, &context.bars);
    for failure in &done.failed {
        context
            .bars
            .warn(&format!("{}: {}", failure.task, failure.reason));
    }
    failed += done.failed.len();
    if done.retrievals.is_empty() {
        bail!(
            "none of the {} tasks has its project in {}",
            tasks.len(),
            args.projects.display()
        );
    }
    jsonl::write(run.file("retrieval.jsonl"), &done.retrievals)?;
    write_json(run.file("latency.json"), &done.milliseconds)?;
    if failed == 0 {
        run.finish()?;
    }
    Ok(failed)
}

fn generate(
    context: &Context,
    args: &EvalArgs,
    generator: &dyn Generator,
) -> anyhow::Result<usize> {
    let samples = args.samples.unwrap_or(match args.generator {
        GeneratorName::Reference => 1,
        GeneratorName::Replay | GeneratorName::Openai => 5,
    });
    let asked = (args.generator == GeneratorName::Openai).then(|| server(context, args));
    let config = json!({"generator": generator.name(), "samples": samples, "server": asked});
    let retrieval = args.out.join("retrieval.jsonl");
    let mut spec = RunSpec::new("generate", config, context.seed).input("retrieval", &retrieval)?;
    if let Some(replay) = &args.replay {
        spec = spec.input("replay", replay)?;
    }
    let outputs = ["answers.jsonl", "answers.jsonl.partial"];
    let run = RunDir::open(&args.out, spec, true, context.restart, &outputs)?;
    if run.finished() {
        return Ok(0);
    }
    let requests: Vec<Request> = jsonl::read::<Retrieval>(&retrieval)?
        .into_iter()
        .map(|r| Request {
            task: r.task,
            prompt: r.prompt,
            samples,
        })
        .collect();
    let answers = run.file("answers.jsonl");
    let done = hydra_generate::generate(
        generator,
        &requests,
        &answers,
        context.jobs,
        context.seed,
        &context.bars,
    )?;
    for failure in &done.failed {
        let place = format!("{}, sample {}", failure.task, failure.sample);
        context.bars.warn(&format!("{place}: {}", failure.reason));
    }
    if done.failed.is_empty() {
        run.finish()?;
    } else if done.answers.is_empty() {
        bail!(
            "no answer at all; the first failure: {}",
            done.failed[0].reason
        );
    }
    Ok(done.failed.len())
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

fn execute(context: &Context, args: &EvalArgs, benchmark: &RepoExec) -> anyhow::Result<usize> {
    let answers = answers_file(&args.out);
    let config = json!({
        "execute": context.settings.execute,
        "isolation": !args.allow_no_isolation,
    });
    let spec = RunSpec::new("execute", config, context.seed)
        .input("answers", &answers)?
        .input("tasks", &args.tasks)?;
    let outputs = ["verdicts.jsonl", "verdicts.jsonl.partial"];
    let run = RunDir::open(&args.out, spec, true, context.restart, &outputs)?;
    if run.finished() {
        return Ok(0);
    }
    let sandbox = Sandbox::new(if args.allow_no_isolation {
        Isolation::Off
    } else {
        Isolation::Required
    })?;
    let answers: Vec<Answer> = jsonl::read(&answers)?;
    let verdicts = run.file("verdicts.jsonl");
    let judged = hydra_bench::execute(
        benchmark,
        &answers,
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
    Ok(0)
}

fn score(
    context: &Context,
    args: &EvalArgs,
    tasks: &[Task],
    generator: &str,
) -> anyhow::Result<()> {
    let judged: Vec<Judged> = jsonl::read(args.out.join("verdicts.jsonl"))?;
    let retrievals: Vec<Retrieval> = jsonl::read(args.out.join("retrieval.jsonl"))?;
    let mut verdicts = BTreeMap::<String, usize>::new();
    let mut exceptions = BTreeMap::<&str, usize>::new();
    for judged in &judged {
        let name = match &judged.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed { exception, .. } => {
                *exceptions.entry(exception).or_default() += 1;
                "failed"
            }
            Verdict::TimedOut => "timed_out",
            Verdict::OutOfMemory => "out_of_memory",
            Verdict::NoTestRan { .. } => "no_test_ran",
            Verdict::Infrastructure { .. } => "infrastructure",
        };
        *verdicts.entry(name.to_owned()).or_default() += 1;
    }
    let pass: BTreeMap<usize, f64> = [1, 3, 5]
        .into_iter()
        .filter_map(|k| Some((k, mean_pass_at_k(&judged, k)?)))
        .collect();
    let mut text = format!(
        "{} with {}, generator {generator}, faithful mode: {} tasks, {} answers\n\n",
        args.benchmark,
        args.retriever.as_str(),
        tasks.len(),
        judged.len()
    );
    for (k, value) in &pass {
        text += &format!("pass@{k}  {value:.5}\n");
    }
    for (name, count) in &verdicts {
        text += &format!("{name}  {count}\n");
    }
    text += "\n| retrieved | recall | precision | F1 | found / wanted / retrieved |\n|---|---|---|---|---|\n";
    let retrieval = retrieved_by_kind(tasks, &retrievals);
    let mut rows = serde_json::Map::new();
    for (kind, row) in &retrieval {
        text += &format!(
            "| {kind} | {:.4} | {:.4} | {:.4} | {} / {} / {} |\n",
            row.recall(),
            row.precision(),
            row.f1(),
            row.found,
            row.wanted,
            row.retrieved
        );
        rows.insert(
            (*kind).to_owned(),
            json!({"recall": row.recall(), "precision": row.precision(), "f1": row.f1(), "counts": row}),
        );
    }
    let metrics = json!({
        "benchmark": args.benchmark,
        "retriever": args.retriever.as_str(),
        "generator": generator,
        "mode": hydra_core::Mode::Faithful,
        "tasks": tasks.len(),
        "answers": judged.len(),
        "pass_at": pass,
        "verdicts": verdicts,
        "exceptions": exceptions,
        "retrieval": rows,
    });
    write_json(args.out.join("metrics.json"), &metrics)?;
    context.show(&metrics, &text);
    Ok(())
}
