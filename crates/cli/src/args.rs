//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Repository-level code generation, measured honestly. So far: mine, index, pairs, and the
/// sandbox's probe.
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
