//! Packages from a list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hydra_core::{Progress, hash};

use crate::corpus::Corpus;
use crate::error::ItemError;
use crate::records::{MineSummary, Record, Refusal};
use crate::taken::Taken;
use crate::{MineConfig, MineError, Pin, download, normalise, read_list, unpack};

/// Mines the packages of a list of `name==version` lines, as wheels.
///
/// A wheel in `config.cache` is not fetched again, so a second run needs no network. A package
/// that cannot be fetched is a failure in the summary; the rest goes on.
pub fn mine_wheels(
    list: &Path,
    config: &MineConfig,
    out: &Path,
    progress: &dyn Progress,
) -> Result<MineSummary, MineError> {
    let pins = read_list(list)?;
    let mut corpus = Corpus::open(out, config)?;
    let mut missing = Vec::new();
    for pin in &pins {
        let record = record(pin);
        if let Some(reason) = config.overlap(&pin.name) {
            corpus.finish(
                record,
                Err(ItemError::refused(Refusal::Benchmark, reason)),
                progress,
            )?;
        } else if !corpus.resume(&record.name, |old| {
            // Limits may have changed since a refusal, and looking again costs no network.
            old.refused.is_none() && old.version == record.version && old.source != "folder"
        }) {
            missing.push(pin);
        }
    }
    let mut wheels = fetch_all(&missing, config, progress);
    let task = progress.start("unpack", Some(missing.len() as u64));
    for pin in missing {
        let mut record = record(pin);
        task.message(&record.name);
        let built = wheels
            .remove(&record.name)
            .unwrap_or_else(|| Err(ItemError::Failed("not fetched".to_owned())))
            .and_then(|wheel| take(&corpus, &mut record, &wheel, config));
        corpus.finish(record, built, progress)?;
        task.advance(1);
    }
    corpus.close()
}

fn record(pin: &Pin) -> Record {
    Record {
        name: normalise(&pin.name),
        version: Some(pin.version.clone()),
        source: "wheel".to_owned(),
        ..Record::default()
    }
}

fn take(
    corpus: &Corpus<'_>,
    record: &mut Record,
    wheel: &Path,
    config: &MineConfig,
) -> Result<(tempfile::TempDir, Taken), ItemError> {
    record.sha256 = Some(hash::sha256_file(wheel)?);
    let file = wheel.file_name().unwrap_or_default();
    record.source = file.to_string_lossy().into_owned();
    let target = corpus.unfinished()?;
    let taken = unpack::unpack(wheel, target.path(), config)?;
    Ok((target, taken))
}

type Fetched = BTreeMap<String, Result<PathBuf, ItemError>>;

/// Each pip waits for the network most of its time, so several run at once.
fn fetch_all(pins: &[&Pin], config: &MineConfig, progress: &dyn Progress) -> Fetched {
    let task = progress.start("download", Some(pins.len() as u64));
    let next = AtomicUsize::new(0);
    let fetched = Mutex::new(Fetched::new());
    std::thread::scope(|scope| {
        for _ in 0..config.jobs.max(1).min(pins.len()) {
            scope.spawn(|| {
                while let Some(pin) = pins.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wheel = download::wheel(pin, config);
                    if let Ok(mut fetched) = fetched.lock() {
                        fetched.insert(normalise(&pin.name), wheel);
                    }
                    task.advance(1);
                }
            });
        }
    });
    fetched.into_inner().unwrap_or_default()
}

#[cfg(test)]
#[path = "wheels_tests.rs"]
mod tests;
