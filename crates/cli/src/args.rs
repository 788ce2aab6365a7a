//! The command line.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Repository-level code generation, measured honestly: mine, index, pair, train, retrieve,
/// generate, execute, score.
#[derive(Debug, Parser)]
#[command(name = "hydra", version, arg_required_else_help = true)]
pub struct Cli {
    /// Options that every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// A settings file; flags override it, it overrides the defaults (the paper's settings).
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the settings in force and stop.
    #[arg(long, global = true)]
    pub print_config: bool,
    /// Print results as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    /// Draw no progress bars.
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// How many items to work on at once, at most 1024 [default: the number of processors].
    #[arg(long, short, global = true, value_name = "N", value_parser = jobs)]
    pub jobs: Option<usize>,
    /// The seed of everything random [default: 42].
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Throw away what an earlier run left instead of continuing it.
    #[arg(long, global = true)]
    pub restart: bool,
}

/// A path; an empty one, as an empty variable gives, says nothing.
fn maybe_empty() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Each job is a thread with a large stack.
fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("expected a whole number from 1 to 1024".to_owned()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number from 1".to_owned()),
        Ok(n) => Ok(n),
    }
}

/// More answers a task than anybody asks for; a typing error should not fill the memory.
const MOST_SAMPLES: usize = 10_000;

fn samples(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=MOST_SAMPLES).contains(&n) => Ok(n),
        _ => Err(format!("expected a whole number from 1 to {MOST_SAMPLES}")),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// The commands, in the order in which a repository travels through them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Collect Python repositories into a pinned corpus with a manifest.
    Mine(MineArgs),
    /// Show the units and dependencies of one repository.
    Index(IndexArgs),
    /// Show what one function depends on, and why.
    Deps(DepsArgs),
    /// Turn a corpus into (query, candidate, label) pairs (Algorithm 1).
    Pairs(PairsArgs),
    /// Train the dependency-aware retriever (DAR).
    Train(TrainArgs),
    /// Pick DAR's threshold by BRP (Table 1).
    Threshold(ThresholdArgs),
    /// Retrieve context for every task of a benchmark.
    Retrieve(RetrieveArgs),
    /// Ask a generator for answers to retrieved prompts.
    Generate(GenerateArgs),
    /// Run the benchmark's tests on answers, in the sandbox.
    Execute(ExecuteArgs),
    /// Compute pass@k, DIR and retrieval figures.
    Score(ScoreArgs),
    /// Retrieve, generate, execute and score in one go, then print the tables.
    Eval(EvalArgs),
    /// Print Tables 1, 3 and 4 of everything that there are figures for.
    #[command(alias = "report")]
    Tables(TablesArgs),
    /// Run the whole way, from corpus to tables.
    Reproduce(ReproduceArgs),
    /// Make the Python environment and project sources that a benchmark's tests need.
    BenchEnv(BenchEnvArgs),
    /// Say what this machine can do: isolation, interpreters.
    Doctor,
}

/// Where repositories come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Source {
    /// Each sub-folder of a folder is a repository.
    Folder,
    /// Published wheels, by `name==version` lines.
    Wheels,
}

/// Arguments of `mine`.
#[derive(Debug, Args)]
pub struct MineArgs {
    /// Where repositories come from.
    #[arg(long, value_enum, default_value = "folder")]
    pub source: Source,
    /// The folder of repositories (`--source folder`).
    #[arg(long, value_name = "DIR", required_if_eq("source", "folder"))]
    pub from: Option<PathBuf>,
    /// The list of wheels, one `name==version` a line (`--source wheels`).
    #[arg(long, value_name = "FILE", required_if_eq("source", "wheels"))]
    pub list: Option<PathBuf>,
    /// The corpus folder to make.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Arguments of `index`.
#[derive(Debug, Args)]
pub struct IndexArgs {
    /// The repository.
    pub repository: PathBuf,
    /// Write every unit with its edges here, one JSON object a line; as released, the folder of
    /// dependency_graph.json and external_knowledge.json.
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// The rules: right ones, or those of the paper's released indexer.
    #[arg(long, value_enum, default_value = "faithful")]
    pub mode: IndexMode,
    /// How to read it.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// Whose rules an index follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IndexMode {
    /// Scopes, imports, classes and types as Python has them.
    Faithful,
    /// By name, as the paper's released indexer does.
    AsReleased,
}

/// Arguments of `deps`.
#[derive(Debug, Args)]
pub struct DepsArgs {
    /// The repository.
    pub repository: PathBuf,
    /// The unit: `path/to/file.py:function`, `path/to/file.py:Class.method`; `...:function#2` is the
    /// second of that name. An id as it is printed will do, too.
    #[arg(value_name = "FILE:NAME")]
    pub target: String,
    /// How many steps to follow; a unit's own edges are listed once.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = positive)]
    pub depth: usize,
    /// How to read the repository.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// How a repository is read.
#[derive(Debug, Args)]
pub struct ReadingArgs {
    /// What parses the files.
    #[arg(long, value_enum, default_value = "ruff")]
    pub parser: ParserArg,
    /// Skip larger files [default: 2097152].
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<u64>,
    /// Where earlier indexes are kept [default: index.sqlite in the user's cache folder].
    #[arg(long, value_name = "FILE", env = "HYDRA_INDEX_CACHE", value_parser = maybe_empty())]
    pub cache: Option<PathBuf>,
    /// Neither use nor keep earlier indexes, whatever --cache or the environment says.
    #[arg(long)]
    pub no_cache: bool,
}

/// What parses Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ParserArg {
    /// ruff's parser: the newest grammar, and what parses in a broken file is kept.
    Ruff,
    /// rustpython-parser: Python 3.12 without PEP 701; broken files are left out.
    Rustpython,
}

/// Arguments of `pairs`.
#[derive(Debug, Args)]
pub struct PairsArgs {
    /// The corpus, as `mine` makes it: a folder of repositories.
    pub corpus: PathBuf,
    /// The dataset folder to make.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// What stays together in one split.
    #[arg(long, value_enum, default_value = "repository")]
    pub split: SplitArg,
    /// Also write train.jsonl, which holds every negative and is many times the size of
    /// train.parquet.
    #[arg(long)]
    pub full_jsonl: bool,
}

/// What stays together in one split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// All pairs of a repository: the honest split.
    Repository,
    /// Nothing: each pair on its own, as released.
    Pair,
}

/// Arguments of `train`. Flags override the settings file, whose section is `[train]`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// A dataset folder made by `pairs`: its train_downsampling and valid splits.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["train", "valid"], required_unless_present = "train")]
    pub pairs: Option<PathBuf>,
    /// Training pairs: Parquet or JSONL, ours or the published.
    #[arg(long, value_name = "FILE", requires = "valid")]
    pub train: Option<PathBuf>,
    /// Validation pairs.
    #[arg(long, value_name = "FILE", requires = "train")]
    pub valid: Option<PathBuf>,
    /// A local model folder in the hub's format [default: a fresh tiny encoder].
    #[arg(long, value_name = "DIR")]
    pub model: Option<PathBuf>,
    /// Stop after N optimiser steps.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub steps: Option<usize>,
    /// Pairs a batch [default: 32].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub batch: Option<usize>,
    /// Batches an optimiser step [default: 16].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub accumulation: Option<usize>,
    /// Tokens of a pair, at most [default: 512].
    #[arg(long, value_name = "N", value_parser = positive)]
    pub max_tokens: Option<usize>,
    /// The learning rate at the start [default: 2e-5].
    #[arg(long, value_name = "RATE")]
    pub learning_rate: Option<f64>,
    /// The run's folder.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

impl TrainArgs {
    /// Overrides settings by what was said.
    pub fn apply(&self, config: &mut hydra_dar::TrainConfig) {
        if self.model.is_some() {
            config.model.clone_from(&self.model);
        }
        if self.steps.is_some() {
            config.max_steps = self.steps;
        }
        config.batch = self.batch.unwrap_or(config.batch);
        config.accumulation = self.accumulation.unwrap_or(config.accumulation);
        config.max_tokens = self.max_tokens.unwrap_or(config.max_tokens);
        config.learning_rate = self.learning_rate.unwrap_or(config.learning_rate);
    }
}

/// Arguments of `threshold`.
#[derive(Debug, Args)]
pub struct ThresholdArgs {
    /// The run folder that `train` made.
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// Validation pairs: Parquet or JSONL, or a dataset folder (its `valid.parquet`).
    #[arg(long, value_name = "PATH")]
    pub pairs: PathBuf,
    /// Score only N pairs, drawn by the seed.
    #[arg(long, value_name = "N", value_parser = positive)]
    pub sample: Option<usize>,
}

/// Which tasks of which benchmark.
#[derive(Debug, Args)]
pub struct TaskArgs {
    /// The benchmark: mini, repoexec, or any name for a benchmark of your own in RepoExec's schema
    /// (then --tasks and --projects are needed).
    pub benchmark: String,
    /// The problems (JSON lines) [default for mini and repoexec: from the settings].
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// The environment that `bench-env` made [default for repoexec: in the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub env: Option<PathBuf>,
    /// The folder of the projects' sources, which tests see as /input [default: the
    /// environment's].
    #[arg(long, value_name = "DIR")]
    pub projects: Option<PathBuf>,
    /// The folder of recorded outputs, which tests see as /output [default: the environment's].
    #[arg(long, value_name = "DIR")]
    pub outputs: Option<PathBuf>,
    /// The Python that runs the tests [default: the environment's, or python3].
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
    /// Take only these tasks: `3`, `0-9`, `1,5,20-29`.
    #[arg(long, value_name = "RANGES")]
    pub only: Option<String>,
}

/// A retriever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RetrieverName {
    /// No context: the target alone.
    None,
    /// BM25's top 10.
    Bm25,
    /// The 10 nearest by embedding.
    Dense,
    /// Everything that DAR holds for a dependency.
    Dar,
    /// BM25's top 5, then DAR.
    Hydra,
}

impl RetrieverName {
    /// The name in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
            Self::Dar => "dar",
            Self::Hydra => "hydra",
        }
    }
}

/// The models that retrievers need.
#[derive(Debug, Args)]
pub struct ModelArgs {
    /// The run folder of a trained DAR (for `dar` and `hydra`).
    #[arg(long, value_name = "DIR")]
    pub dar: Option<PathBuf>,
    /// A local encoder folder in the hub's format (for `dense`).
    #[arg(long, value_name = "DIR")]
    pub dense: Option<PathBuf>,
    /// DAR's threshold [default: the run's threshold.json].
    #[arg(long, value_name = "T", value_parser = probability)]
    pub threshold: Option<f64>,
}

/// Arguments of `retrieve`.
#[derive(Debug, Args)]
pub struct RetrieveArgs {
    /// Which tasks.
    #[command(flatten)]
    pub tasks: TaskArgs,
    /// The retrievers, separated by commas.
    #[arg(long = "retriever", value_enum, value_delimiter = ',', required = true)]
    pub retrievers: Vec<RetrieverName>,
    /// The models.
    #[command(flatten)]
    pub models: ModelArgs,
    /// The folder for `retrieval.jsonl`; with several retrievers, each has a folder in it.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GeneratorName {
    /// The benchmark's own solutions: the gold check.
    Reference,
    /// Recorded answers from a file.
    Replay,
    /// Any server that speaks OpenAI's chat completions; the key comes from OPENAI_API_KEY.
    Openai,
}

/// How answers come about.
#[derive(Debug, Args)]
pub struct GeneratorArgs {
    /// Who answers.
    #[arg(long, value_enum, default_value = "reference")]
    pub generator: GeneratorName,
    /// The recorded answers (`--generator replay`); `{retriever}` stands for its name.
    #[arg(long, value_name = "FILE", required_if_eq("generator", "replay"))]
    pub replay: Option<String>,
    /// The server (`--generator openai`), such as http://127.0.0.1:8080/v1.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The model to ask the server for.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Answers a task [default: 5; 1 for reference].
    #[arg(long, short = 'n', value_name = "N", value_parser = samples)]
    pub samples: Option<usize>,
    /// At most so many tokens an answer.
    #[arg(long, value_name = "N")]
    pub max_tokens: Option<u32>,
}

impl GeneratorArgs {
    /// Overrides settings by what was said.
    pub fn apply(&self, config: &mut hydra_generate::OpenAiConfig) {
        if let Some(url) = &self.base_url {
            config.base_url.clone_from(url);
        }
        if let Some(model) = &self.model {
            config.model.clone_from(model);
        }
        config.max_tokens = self.max_tokens.unwrap_or(config.max_tokens);
    }
}

/// Arguments of `generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// Which tasks.
    #[command(flatten)]
    pub tasks: TaskArgs,
    /// The folder that holds `retrieval.jsonl`; `answers.jsonl` is written beside it.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// Who answers.
    #[command(flatten)]
    pub generator: GeneratorArgs,
}

/// Arguments of `execute`.
#[derive(Debug, Args)]
pub struct ExecuteArgs {
    /// Which tasks.
    #[command(flatten)]
    pub tasks: TaskArgs,
    /// The folder that holds `answers.jsonl`; `verdicts.jsonl` is written beside it.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// How answers are contained.
    #[command(flatten)]
    pub isolation: IsolationArgs,
}

/// How answers are contained.
#[derive(Debug, Clone, Args)]
pub struct IsolationArgs {
    /// Run answers without isolation where the machine has none. They can then read and change
    /// everything that you can.
    #[arg(long)]
    pub allow_no_isolation: bool,
}

/// Arguments of `score`.
#[derive(Debug, Args)]
pub struct ScoreArgs {
    /// Which tasks.
    #[command(flatten)]
    pub tasks: TaskArgs,
    /// The folder that holds `retrieval.jsonl` and `verdicts.jsonl`.
    #[arg(long, value_name = "DIR")]
    pub dir: PathBuf,
    /// The generator's name in the tables [default: the one that `generate` recorded].
    #[arg(long, value_name = "NAME")]
    pub generator: Option<String>,
}

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Which tasks.
    #[command(flatten)]
    pub tasks: TaskArgs,
    /// The retrievers, separated by commas.
    #[arg(
        long = "retriever",
        value_enum,
        value_delimiter = ',',
        default_value = "none"
    )]
    pub retrievers: Vec<RetrieverName>,
    /// The models.
    #[command(flatten)]
    pub models: ModelArgs,
    /// Who answers.
    #[command(flatten)]
    pub generator: GeneratorArgs,
    /// How answers are contained.
    #[command(flatten)]
    pub isolation: IsolationArgs,
    /// The results folder [default: results/<benchmark>].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `report` and `tables`.
#[derive(Debug, Args)]
pub struct TablesArgs {
    /// Folders to look through for metrics.json and threshold.json [default: results and
    /// experiments].
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Write tables.md and tables.json here as well.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profile {
    /// What the repository carries: minutes, no network.
    Mini,
}

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// How far to go.
    #[arg(long, value_enum, default_value = "mini")]
    pub profile: Profile,
    /// The folder for everything that is made.
    #[arg(long, value_name = "DIR", default_value = "results/reproduce-mini")]
    pub out: PathBuf,
    /// How answers are contained.
    #[command(flatten)]
    pub isolation: IsolationArgs,
}

/// Arguments of `bench-env`.
#[derive(Debug, Args)]
pub struct BenchEnvArgs {
    /// The benchmark.
    #[arg(value_enum)]
    pub benchmark: EnvName,
    /// The Python 3.10 to build on [default: python3.10 on the search path, or pyenv's].
    #[arg(long, value_name = "FILE")]
    pub python: Option<PathBuf>,
    /// The recorded outputs that tests read (RepoExec's test_output.tar.gz).
    #[arg(long, value_name = "FILE")]
    pub test_output: Option<PathBuf>,
    /// The environment folder [default: in the user's cache folder].
    #[arg(long, value_name = "DIR")]
    pub env: Option<PathBuf>,
}

/// A benchmark that needs an environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EnvName {
    /// RepoExec: Python 3.10, its packages, 23 projects (about 600 MB).
    Repoexec,
}
