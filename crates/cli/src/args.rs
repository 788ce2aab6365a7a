//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Repository-level code generation, measured honestly. So far: mine, index, pairs,
/// and eval with BM25 or no context.
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
    /// How many items to work on at once [default: the number of processors].
    #[arg(long, short, global = true, value_name = "N", value_parser = positive)]
    pub jobs: Option<usize>,
    /// The seed of everything random [default: 42].
    #[arg(long, global = true, value_name = "N")]
    pub seed: Option<u64>,
    /// Throw away what an earlier run left instead of continuing it.
    #[arg(long, global = true)]
    pub restart: bool,
}

fn positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number from 1".to_owned()),
        Ok(n) => Ok(n),
    }
}

/// The commands, in the order in which a repository travels through them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Collect Python repositories into a pinned corpus with a manifest.
    Mine(MineArgs),
    /// Show the units and dependencies of one repository.
    Index(IndexArgs),
    /// Turn a corpus into (query, candidate, label) pairs (Algorithm 1).
    Pairs(PairsArgs),
    /// Retrieve context, ask for answers, run the tests, print the figures.
    Eval(EvalArgs),
    /// Say whether this machine can run untrusted code in isolation.
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
    /// Write every unit with its dependencies here, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
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
}

/// What stays together in one split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitArg {
    /// All pairs of a repository: the honest split.
    Repository,
    /// Nothing: each pair on its own, as released.
    Pair,
}

/// A retriever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RetrieverName {
    /// No context: the target alone.
    None,
    /// BM25's top 10.
    Bm25,
}

impl RetrieverName {
    /// The name in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bm25 => "bm25",
        }
    }
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

/// Arguments of `eval`.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// The benchmark's name in ids and tables, such as repoexec.
    pub benchmark: String,
    /// Its problems, in RepoExec's schema (JSON lines).
    #[arg(long, value_name = "FILE")]
    pub tasks: PathBuf,
    /// The folder of the projects' sources, which tests see as /input.
    #[arg(long, value_name = "DIR")]
    pub projects: PathBuf,
    /// The folder of recorded outputs, which tests see as /output.
    #[arg(long, value_name = "DIR")]
    pub outputs: Option<PathBuf>,
    /// The Python that runs the tests, with the packages that they need.
    #[arg(long, value_name = "FILE", default_value = "python3")]
    pub python: PathBuf,
    /// Take only these tasks: `3`, `0-9`, `1,5,20-29`.
    #[arg(long, value_name = "RANGES")]
    pub only: Option<String>,
    /// The retriever.
    #[arg(long, value_enum, default_value = "none")]
    pub retriever: RetrieverName,
    /// Who answers.
    #[arg(long, value_enum, default_value = "reference")]
    pub generator: GeneratorName,
    /// The recorded answers.
    #[arg(long, value_name = "FILE", required_if_eq("generator", "replay"))]
    pub replay: Option<PathBuf>,
    /// The server, such as http://127.0.0.1:8080/v1.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The model to ask the server for.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Answers a task [default: 5; 1 for reference].
    #[arg(long, short = 'n', value_name = "N", value_parser = positive)]
    pub samples: Option<usize>,
    /// Run answers without isolation where the machine has none. They can then read and change
    /// everything that you can.
    #[arg(long)]
    pub allow_no_isolation: bool,
    /// The results folder.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
