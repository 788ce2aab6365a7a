//! How fast repositories are indexed, against the bare parser, in one run.
//!
//! `cargo bench -p hydra-pyindex --bench index -- FOLDER...` takes every folder as a repository.
//! Each round measures, in turn, and each of it repository by repository: the bare ruff parse of the
//! same texts, which are in memory; the whole index, cold: walking, reading, parsing, resolving every
//! name, with nothing known before; the same with an empty cache, which it fills; the same warm, with
//! the filled one. Indexes are let go of after the clock has stopped, trees as soon as they are
//! parsed. Medians are printed: of the times, and of the ratios within a round, which a machine that
//! is now faster and now slower leaves alone.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hydra_core::Silent;
use hydra_pyindex::{Cache, IndexError, Options, RepoIndex};
use rayon::prelude::*;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folders: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .filter(|a| !a.to_string_lossy().starts_with("--"))
        .map(PathBuf::from)
        .collect();
    if folders.is_empty() {
        // `cargo bench` without arguments runs every benchmark; this one needs repositories.
        writeln!(io::stdout(), "index: give the repositories to measure on")?;
        return Ok(());
    }
    let mut indexes = Vec::new();
    for folder in &folders {
        match RepoIndex::build(folder, &Silent) {
            Ok(index) => indexes.push(index),
            Err(e @ IndexError::NoPython { .. }) => writeln!(io::stderr(), "{e}; left out")?,
            Err(e) => return Err(e.into()),
        }
    }
    let files: usize = indexes.iter().map(|i| i.files().count()).sum();
    let units: usize = indexes.iter().map(|i| i.units().count()).sum();
    let edges: usize = indexes.iter().map(RepoIndex::edge_count).sum();
    let (lines, bytes) = indexes
        .iter()
        .map(RepoIndex::size)
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} repositories, {files} files, {lines} lines, {:.1} MB, {units} units, {edges} edges",
        indexes.len(),
        bytes as f64 / 1e6,
    )?;
    for threads in [1, 2] {
        let rows = measure(&folders, &indexes, threads)?;
        writeln!(out, "\n{threads} thread(s), medians of {ROUNDS} rounds")?;
        for row in rows {
            writeln!(
                out,
                "  {:<28} {:>8.1} ms {:>11.0} lines/s {:>7.1} MB/s   {:>5.2} x parse   cold / this {:>5.1}",
                row.name,
                row.seconds * 1e3,
                lines as f64 / row.seconds,
                bytes as f64 / 1e6 / row.seconds,
                row.to_parse,
                row.cold_to_this,
            )?;
        }
    }
    Ok(())
}

/// Medians over the rounds.
struct Row {
    name: &'static str,
    seconds: f64,
    to_parse: f64,
    cold_to_this: f64,
}

fn measure(
    folders: &[PathBuf],
    indexes: &[RepoIndex],
    threads: usize,
) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    let options = Options {
        jobs: threads,
        ..Options::default()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(256 << 20)
        .build()?;
    let texts: Vec<Vec<&str>> = indexes
        .iter()
        .map(|index| index.files().filter_map(|path| index.text(path)).collect())
        .collect();
    let build = |cache: Option<&Cache>| -> Result<Duration, IndexError> {
        let mut kept = Vec::new();
        let begin = Instant::now();
        for folder in folders {
            match RepoIndex::build_with(folder, &options, cache, &Silent) {
                Ok(index) => kept.push(index),
                Err(IndexError::NoPython { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(begin.elapsed())
    };
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for texts in &texts {
            pool.install(|| {
                texts.par_iter().with_max_len(1).for_each(|text| {
                    std::hint::black_box(parse_unchecked(text, ParseOptions::from(Mode::Module)));
                });
            });
        }
        times[0].push(begin.elapsed());
        times[1].push(build(None)?);
        let folder = tempfile::tempdir()?;
        let cache = Cache::open(folder.path().join("index.sqlite"))?;
        times[2].push(build(Some(&cache))?);
        times[3].push(build(Some(&cache))?);
    }
    let names = [
        "ruff's parse alone",
        "whole index, cold",
        "whole index, filling a cache",
        "whole index, warm",
    ];
    let ratio = |above: &[Duration], below: &[Duration]| {
        let pairs = above.iter().zip(below);
        median(pairs.map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()))
    };
    let rows = names.into_iter().zip(&times).map(|(name, time)| Row {
        name,
        seconds: median(time.iter().map(Duration::as_secs_f64)),
        to_parse: ratio(time, &times[0]),
        cold_to_this: ratio(&times[1], time),
    });
    Ok(rows.collect())
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
