//! The `hydra` command: arguments, settings, progress and exit codes. Every command is a few
//! lines over a library call.
//!
//! Exit codes: 0 all done, 1 an error that stopped the command, 2 wrong usage, 3 done, but some
//! items failed (they are listed on standard error).

mod args;
mod evaluate;
mod progress;
mod settings;
mod stages;

use std::process::ExitCode;

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

/// What every command needs.
pub struct Context {
    settings: Settings,
    bars: Bars,
    json: bool,
    jobs: usize,
    seed: u64,
    restart: bool,
}

impl Context {
    /// Prints a result: JSON for scripts, text for people.
    fn show(&self, json: &serde_json::Value, text: &str) {
        use std::io::Write;
        let line = if self.json {
            json.to_string()
        } else {
            text.trim_end().to_owned()
        };
        // A reader that went away (`hydra tables | head`) is no error.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(Done::All) => ExitCode::SUCCESS,
        Ok(Done::SomeFailed) => ExitCode::from(3),
        Err(error) => {
            eprintln!("hydra: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<Done> {
    let global = cli.global;
    let settings = Settings::load(global.config.as_deref())?;
    let seed = global.seed.unwrap_or(settings.seed);
    if global.print_config {
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
    };
    let Some(command) = cli.command else {
        anyhow::bail!("no command given; see `hydra --help`");
    };
    match command {
        Command::Mine(args) => stages::mine(&context, &args),
        Command::Index(args) => stages::index(&context, &args),
        Command::Pairs(args) => stages::pairs(&context, &args),
        Command::Eval(args) => evaluate::eval(&context, &args),
        Command::Doctor => stages::doctor(&context),
    }
}
