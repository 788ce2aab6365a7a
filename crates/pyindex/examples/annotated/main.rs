//! The index against the dependencies that two benchmarks name: how many of them it finds, and how
//! much it finds besides.
//!
//! ```text
//! cargo run --release -p hydra-pyindex --example annotated -- \
//!     repoexec --tasks repoexec.jsonl --projects FOLDER [--json FILE]
//! cargo run --release -p hydra-pyindex --example annotated -- \
//!     deveval --records data_hydra.jsonl --sources FOLDER [--project NAME...] [--json FILE]
//! ```
//!
//! `repoexec` lists every miss; `deveval` prints every k-th miss and every k-th dependency that is
//! not annotated, `--json` writes all of them.

mod deveval;
mod names;
mod repoexec;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use hydra_core::RepoPath;
use hydra_pyindex::{RepoIndex, Unit};
use serde::Serialize;

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// A file that can't be read or written, or a bad record.
    #[error(transparent)]
    Core(#[from] hydra_core::CoreError),
    /// A project that can't be indexed.
    #[error("{}: {error}", root.display())]
    Index {
        /// The project's folder.
        root: PathBuf,
        /// What the index says.
        error: hydra_pyindex::IndexError,
    },
    /// A path in a record that leaves its project.
    #[error("{0}")]
    Path(#[from] hydra_core::PathError),
    /// An argument that names nothing.
    #[error("{0}")]
    Usage(String),
    /// The answer can't be printed.
    #[error("cannot print: {0}")]
    Print(std::io::Error),
    /// The report can't be written.
    #[error("{}: {error}", path.display())]
    Json {
        /// The report's file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
}

/// The index against the dependencies that benchmarks name.
#[derive(Debug, Parser)]
enum Command {
    /// RepoExec: recall of the named functions, classes and variables.
    Repoexec(repoexec::Arguments),
    /// DevEval: precision and recall of the named members, names and modules.
    Deveval(deveval::Arguments),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Repoexec(arguments) => repoexec::run(&arguments),
        Command::Deveval(arguments) => deveval::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Indexes a project.
pub(crate) fn index(root: &Path) -> Result<RepoIndex, Error> {
    RepoIndex::build(root, &hydra_core::Silent).map_err(|error| Error::Index {
        root: root.to_path_buf(),
        error,
    })
}

/// A word of one of the index's enums, as it is written in JSON: `self_member`.
pub(crate) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "?".to_owned(),
    }
}

/// Writes the report.
pub(crate) fn write_json(path: &Path, report: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(report).map_err(|error| Error::Json {
        path: path.to_path_buf(),
        error,
    })?;
    std::fs::write(path, text).map_err(hydra_core::CoreError::io(path))?;
    Ok(())
}

/// A project's files as lines, read when first asked for.
pub(crate) struct Lines<'a> {
    root: &'a Path,
    files: HashMap<RepoPath, Vec<String>>,
}

impl<'a> Lines<'a> {
    /// Nothing is read yet.
    pub fn new(root: &'a Path) -> Self {
        let files = HashMap::new();
        Self { root, files }
    }

    /// The lines of a file; none if it can't be read.
    pub fn of(&mut self, path: &RepoPath) -> &[String] {
        self.files.entry(path.clone()).or_insert_with(|| {
            let bytes = std::fs::read(path.under(self.root)).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            text.lines().map(str::to_owned).collect()
        })
    }

    /// The first line of a unit, its head left out, that holds a name; else its first line.
    pub fn of_use(&mut self, unit: &Unit, name: &str) -> usize {
        let lines = self.of(&unit.path);
        let last = unit.end_line.min(lines.len());
        let used = |&line: &usize| {
            line.checked_sub(1)
                .is_some_and(|at| holds(&lines[at], name))
        };
        let found = (unit.start_line + 1..=last).find(used);
        found.unwrap_or(unit.start_line)
    }
}

/// Whether a text holds a name as a whole word.
pub(crate) fn holds(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}
