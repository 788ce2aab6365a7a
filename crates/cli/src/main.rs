//! The `hydra` command: arguments, settings, progress and exit codes. Every command is a few
//! lines over a library call.
//!
//! Exit codes: 0 all done, 1 an error that stopped the command, 2 wrong usage, 3 done, but some
//! items failed (they are listed on standard error).

mod args;
mod benchmark;
mod evaluate;
mod indexing;
mod progress;
mod reproduce;
mod settings;
mod tables;
mod training;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Parser;

use args::{Cli, Command};
use progress::Bars;
use settings::Settings;

/// What a command leaves behind for the exit code.
pub enum Done {
    /// Every item succeeded.
    All,
    /// Some items failed and were named.
    SomeFailed,
}

/// An error in how a command was called: exit code 2, as for those that clap finds.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// An error in how a command was called.
pub fn usage(message: String) -> anyhow::Error {
    Usage(message).into()
}

/// What every command needs.
pub struct Context {
    settings: Settings,
    bars: Bars,
    json: bool,
    jobs: usize,
    seed: u64,
    restart: bool,
    hushed: AtomicBool,
}

impl Context {
    /// Keeps results back while a command runs others inside it.
    fn hush(&self, hushed: bool) {
        self.hushed.store(hushed, Ordering::Relaxed);
    }

    /// Prints a result: JSON for scripts, text for people.
    fn show(&self, json: &serde_json::Value, text: &str) {
        use std::io::Write;
        if self.hushed.load(Ordering::Relaxed) {
            return;
        }
        let line = if self.json {
            json.to_string()
        } else {
            progress::harmless(text.trim_end()).into_owned()
        };
        // A reader that went away (`hydra tables | head`) is no error; a full disk is one.
        if let Err(error) = writeln!(std::io::stdout(), "{line}")
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            eprintln!("hydra: standard output: {error}");
            std::process::exit(1);
        }
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(Done::All) => ExitCode::SUCCESS,
        Ok(Done::SomeFailed) => ExitCode::from(3),
        Err(error) => {
            eprintln!("hydra: {}", progress::harmless(&describe(&error)));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

/// An error with its causes, each told once: many repeat the one below them.
fn describe(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text += &format!(": {cause}");
        }
    }
    text
}

/// The settings with what a command's flags override in them.
fn in_force(mut settings: Settings, seed: u64, command: Option<&Command>) -> Settings {
    settings.seed = seed;
    match command {
        Some(Command::Train(args)) => args.apply(&mut settings.train),
        Some(Command::Generate(args)) => args.generator.apply(&mut settings.openai),
        Some(Command::Eval(args)) => args.generator.apply(&mut settings.openai),
        _ => {}
    }
    settings
}

fn run(cli: Cli) -> anyhow::Result<Done> {
    let global = cli.global;
    let profile = matches!(cli.command, Some(Command::Reproduce(_)));
    let file = global
        .config
        .or_else(|| profile.then(|| reproduce::MINI_CONFIG.into()));
    let settings = Settings::load(file.as_deref())?;
    let seed = global.seed.unwrap_or(settings.seed);
    if global.print_config {
        let settings = in_force(settings, seed, cli.command.as_ref());
        print!("{}", settings.to_toml()?);
        return Ok(Done::All);
    }
    let context = Context {
        settings,
        bars: Bars::new(global.quiet),
        json: global.json,
        jobs: global
            .jobs
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        seed,
        restart: global.restart,
        hushed: AtomicBool::new(false),
    };
    let Some(command) = cli.command else {
        return Err(usage("no command given; see `hydra --help`".to_owned()));
    };
    match command {
        Command::Mine(args) => training::mine(&context, &args),
        Command::Index(args) => indexing::index(&context, &args),
        Command::Deps(args) => indexing::deps(&context, &args),
        Command::Pairs(args) => training::pairs(&context, &args),
        Command::Train(args) => training::train(&context, &args),
        Command::Threshold(args) => training::threshold(&context, &args),
        Command::Retrieve(args) => evaluate::retrieve(&context, &args),
        Command::Generate(args) => evaluate::generate(&context, &args),
        Command::Execute(args) => evaluate::execute(&context, &args),
        Command::Score(args) => evaluate::score(&context, &args),
        Command::Eval(args) => evaluate::eval(&context, &args),
        Command::Tables(args) => tables::tables(&context, &args),
        Command::Reproduce(args) => reproduce::reproduce(&context, &args),
        Command::BenchEnv(args) => benchmark::prepare(&context, &args),
        Command::Doctor => benchmark::doctor(&context),
    }
}
