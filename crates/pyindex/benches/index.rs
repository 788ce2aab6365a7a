//! How fast repositories are indexed, against the bare parser, in one run.
//!
//! `cargo bench -p hydra-pyindex --bench index -- FOLDER...` takes every folder as a repository.
//! Each round measures, in turn: the bare ruff parse of the same texts, which are in memory; the
//! whole index, cold: walking, reading, parsing, resolving every name, with nothing known before;
//! the same with an empty cache, which it fills; the same warm, with the filled one. Indexes are let go
//! of after the clock has stopped, trees as soon as they are parsed. The medians are printed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use hydra_core::Silent;
use hydra_pyindex::{Cache, IndexError, Options, RepoIndex};
use rayon::prelude::*;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

const ROUNDS: usize = 7;

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
        let parse = rows[0].1.as_secs_f64();
        let cold = rows[1].1.as_secs_f64();
        for (name, time) in &rows {
            let seconds = time.as_secs_f64();
            writeln!(
                out,
                "  {name:<28} {:>8.1} ms {:>11.0} lines/s {:>7.1} MB/s   {:>5.2} x parse   cold / this {:>5.1}",
                seconds * 1e3,
                lines as f64 / seconds,
                bytes as f64 / 1e6 / seconds,
                seconds / parse,
                cold / seconds,
            )?;
        }
    }
    Ok(())
}

type Row = (&'static str, Duration);

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
    let texts: Vec<&str> = indexes
        .iter()
        .flat_map(|index| index.files().filter_map(|path| index.text(path)))
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
        pool.install(|| {
            texts.par_iter().with_max_len(1).for_each(|text| {
                std::hint::black_box(parse_unchecked(text, ParseOptions::from(Mode::Module)));
            });
        });
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
    let medians = times.iter_mut().map(|all| {
        all.sort_unstable();
        all[all.len() / 2]
    });
    Ok(names.into_iter().zip(medians).collect())
}
