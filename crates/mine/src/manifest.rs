//! A corpus from its manifest: the same commits and wheels, checked by their hashes.

use std::collections::BTreeSet;
use std::path::Path;

use hydra_core::{Progress, RepoPath, hash, jsonl};
use tempfile::TempDir;

use crate::corpus::{self, Corpus};
use crate::error::ItemError;
use crate::github::{GithubConfig, clone};
use crate::records::{MineSummary, Record};
use crate::several::several;
use crate::{MineConfig, MineError, Pin, download, unpack};

/// Where the sources of a record can be had again.
enum Origin {
    Commit { full_name: String, commit: String },
    Wheel(Pin),
}

/// Builds the corpus that a manifest describes: every repository at its commit, every wheel at its
/// version, without the files that were dropped, and the manifest itself with the same bytes.
/// What was refused then is refused now; nothing is judged anew.
///
/// A repository whose files don't have the manifest's hash is a failure in the summary.
///
/// # Errors
/// [`MineError::Manifest`] if a record says something that can't be rebuilt, such as a folder on
/// another machine; nothing is done then.
pub fn mine_manifest(
    manifest: &Path,
    github: &GithubConfig,
    config: &MineConfig,
    out: &Path,
    progress: &dyn Progress,
) -> Result<MineSummary, MineError> {
    github.check()?;
    let records: Vec<Record> = jsonl::read(manifest)?;
    let mut names = BTreeSet::new();
    let mut kept = Vec::new();
    for (line, record) in (1..).zip(&records) {
        let bad = |message: String| MineError::Manifest {
            path: manifest.to_path_buf(),
            line,
            message: format!("{:?}: {message}", record.name),
        };
        if !is_folder_name(&record.name) {
            return Err(bad("is no name of a folder".to_owned()));
        }
        if !names.insert(record.name.to_lowercase()) {
            return Err(bad("comes twice".to_owned()));
        }
        if record.refused.is_none() {
            kept.push((record, origin(record).map_err(bad)?));
        }
    }
    let mut corpus = Corpus::open(out, config)?;
    for record in records.iter().filter(|r| r.refused.is_some()) {
        corpus.note(record)?;
    }
    kept.retain(|(record, _)| !corpus.resume(&record.name, |old| old == *record));
    let task = progress.start("repositories", Some(kept.len() as u64));
    several(
        &kept,
        config.jobs,
        |(record, origin)| (*record, build(record, origin, github, config, out)),
        |(record, built)| {
            task.advance(1);
            task.message(&record.name);
            match built {
                Ok(folder) => {
                    corpus.install(&record.name, folder)?;
                    corpus.note(record)
                }
                Err(error) => {
                    corpus.fail(&record.name, error.to_string(), progress);
                    Ok(())
                }
            }
        },
    )?;
    corpus.close()
}

/// A single part of a path, and none of Hydra's own.
fn is_folder_name(name: &str) -> bool {
    RepoPath::new(name).is_ok() && !name.contains('/') && !name.starts_with('.')
}

fn origin(record: &Record) -> Result<Origin, String> {
    if record.sha256.is_none() {
        return Err("has no sha256 to check it by".to_owned());
    }
    if let Some(pin) = &record.github {
        let commit = pin.commit.clone().ok_or("has no commit")?;
        return Ok(Origin::Commit {
            full_name: pin.full_name.clone(),
            commit,
        });
    }
    match (&record.version, record.source.as_str()) {
        (Some(version), source) if source.ends_with(".whl") => Pin::new(&record.name, version)
            .map(Origin::Wheel)
            .ok_or_else(|| format!("version {version:?} is none")),
        (_, source) => Err(format!(
            "comes from a {source}; only GitHub's repositories and wheels can be fetched again"
        )),
    }
}

fn build(
    record: &Record,
    origin: &Origin,
    github: &GithubConfig,
    config: &MineConfig,
    out: &Path,
) -> Result<TempDir, ItemError> {
    let check = |found: String| match record.sha256.as_deref() {
        Some(wanted) if wanted == found => Ok(()),
        wanted => Err(ItemError::Failed(format!(
            "its files have the hash {found}, the manifest says {}",
            wanted.unwrap_or("none")
        ))),
    };
    match origin {
        Origin::Commit { full_name, commit } => {
            let without = record.dropped.iter().map(|d| d.path.clone()).collect();
            let settings = (github, config);
            let (folder, ..) = clone::repository(full_name, Some(commit), without, out, settings)?;
            check(hash::sha256_folder(folder.path())?)?;
            Ok(folder)
        }
        Origin::Wheel(pin) => {
            let wheel = download::wheel(pin, config)?;
            check(hash::sha256_file(&wheel)?)?;
            let folder = corpus::unfinished(out)?;
            unpack::unpack(&wheel, folder.path(), config)?;
            Ok(folder)
        }
    }
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
