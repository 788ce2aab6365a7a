//! `hydra reproduce`: the whole way in one command.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;

use crate::args::{
    EvalArgs, GeneratorArgs, GeneratorName, MineArgs, ModelArgs, PairsArgs, Profile, ReproduceArgs,
    RetrieverName, Source, SplitArg, TablesArgs, TaskArgs, ThresholdArgs, TrainArgs,
};
use crate::{Context, Done, evaluate, tables, training};

/// What the repository carries.
const MINI_CORPUS: &str = "datasets/mini/corpus";
const MINI_ANSWERS: &str = "datasets/mini/benchmark/answers-{retriever}.jsonl";
/// The settings of the mini profile, where no `--config` is given.
pub const MINI_CONFIG: &str = "configs/mini.toml";

/// `hydra reproduce`.
pub fn reproduce(context: &Context, args: &ReproduceArgs) -> anyhow::Result<Done> {
    match args.profile {
        Profile::Mini => mini(context, args),
    }
}

fn mini(context: &Context, args: &ReproduceArgs) -> anyhow::Result<Done> {
    if !Path::new(MINI_CORPUS).is_dir() {
        bail!("{MINI_CORPUS}: no such folder; run this from the root of Hydra's checkout");
    }
    let started = Instant::now();
    let out = |part: &str| args.out.join(part);
    // The stages are silent; the tables at the end are the result.
    context.hush(true);
    let mined = training::mine(
        context,
        &MineArgs {
            source: Source::Folder,
            from: Some(MINI_CORPUS.into()),
            list: None,
            out: out("corpus"),
        },
    )?;
    if matches!(mined, Done::SomeFailed) {
        bail!("the bundled corpus could not be mined whole");
    }
    training::pairs(
        context,
        &PairsArgs {
            corpus: out("corpus"),
            out: out("pairs"),
            split: SplitArg::Repository,
            full_jsonl: false,
        },
    )?;
    training::train(
        context,
        &TrainArgs {
            pairs: Some(out("pairs")),
            train: None,
            valid: None,
            model: None,
            steps: None,
            batch: None,
            accumulation: None,
            max_tokens: None,
            learning_rate: None,
            out: out("dar"),
        },
    )?;
    training::threshold(
        context,
        &ThresholdArgs {
            run: out("dar"),
            pairs: out("pairs"),
            sample: None,
        },
    )?;
    let done = evaluate::eval(
        context,
        &EvalArgs {
            tasks: TaskArgs {
                benchmark: "mini".to_owned(),
                tasks: None,
                env: None,
                projects: None,
                outputs: None,
                python: None,
                only: None,
            },
            retrievers: vec![
                RetrieverName::None,
                RetrieverName::Bm25,
                RetrieverName::Dense,
                RetrieverName::Dar,
                RetrieverName::Hydra,
            ],
            models: ModelArgs {
                dar: Some(out("dar")),
                dense: Some(out("dar").join("model")),
                threshold: None,
            },
            generator: GeneratorArgs {
                generator: GeneratorName::Replay,
                replay: Some(MINI_ANSWERS.to_owned()),
                base_url: None,
                model: None,
                samples: Some(5),
                max_tokens: None,
            },
            isolation: args.isolation.clone(),
            out: Some(out("eval")),
        },
    )?;
    context.hush(false);
    tables::tables(
        context,
        &TablesArgs {
            folders: vec![out("dar"), out("eval")],
            out: Some(args.out.clone()),
        },
    )?;
    if !context.json {
        eprintln!(
            "everything is in {}; {:.0} s",
            args.out.display(),
            started.elapsed().as_secs_f64()
        );
    }
    Ok(done)
}
