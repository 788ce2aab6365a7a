//! Repositories that can only be judged together: gathered first, compared, then put in place.
//!
//! Everything is gathered in a hidden folder, a corpus of its own. At the end duplicates are
//! found, and what stays is linked into the corpus proper, so that a run that was killed, or in
//! which some repositories failed, compares all of them anew and ends the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hydra_core::records::UnitKind;
use hydra_core::{CoreError, Progress, Silent, hash, jsonl};
use hydra_pyindex::RepoIndex;
use tempfile::TempDir;

use crate::corpus::{self, Corpus};
use crate::dedup::{self, Fate};
use crate::error::ItemError;
use crate::records::{MineSummary, Record, Refusal};
use crate::taken::Taken;
use crate::{MineConfig, MineError};

/// The folder of what was gathered.
pub(crate) const STAGED: &str = ".hydra-staged";

pub(crate) struct Staging<'a> {
    out: &'a Path,
    config: &'a MineConfig,
    gathered: Corpus<'a>,
}

impl<'a> Staging<'a> {
    /// Opens what earlier runs gathered.
    pub fn open(out: &'a Path, config: &'a MineConfig) -> Result<Self, MineError> {
        std::fs::create_dir_all(out).map_err(CoreError::io(out))?;
        corpus::clear_unfinished(out)?;
        Ok(Self {
            out,
            config,
            gathered: Corpus::open(&out.join(STAGED), config)?,
        })
    }

    /// The summary of a run that has nothing left to do.
    ///
    /// # Errors
    /// [`MineError::Lost`] if a repository that the manifest names is no longer there.
    pub fn finished(out: &Path) -> Result<Option<MineSummary>, MineError> {
        let manifest = out.join(corpus::MANIFEST);
        if !manifest.exists() || out.join(STAGED).exists() {
            return Ok(None);
        }
        let records: Vec<Record> = jsonl::read(&manifest)?;
        let lost = |r: &&Record| r.refused.is_none() && !out.join(&r.name).is_dir();
        if let Some(record) = records.iter().find(lost) {
            return Err(MineError::Lost {
                path: out.join(&record.name),
                manifest,
            });
        }
        let mut summary = MineSummary {
            resumed: records.len(),
            ..MineSummary::default()
        };
        summary.count(&records);
        Ok(Some(summary))
    }

    /// Where the gathered repositories lie; what a source remembers between runs goes there too.
    pub fn folder(&self) -> PathBuf {
        self.out.join(STAGED)
    }

    /// As [`Corpus::resume`].
    pub fn resume(&mut self, name: &str, same: impl FnOnce(&Record) -> bool) -> bool {
        self.gathered.resume(name, same)
    }

    /// As [`Corpus::finish`].
    pub fn finish(
        &mut self,
        record: Record,
        built: Result<(TempDir, Taken), ItemError>,
        progress: &dyn Progress,
    ) -> Result<(), MineError> {
        self.gathered.finish(record, built, progress)
    }

    /// Leaves out duplicates, puts the rest in place and writes the manifest. What was gathered
    /// goes, unless something failed and another run will need it.
    pub fn close(self, progress: &dyn Progress) -> Result<MineSummary, MineError> {
        let staged = self.folder();
        let (mut records, mut summary) = self.gathered.into_records();
        let fates = dedup::plan(
            records.values().filter(|r| r.refused.is_none()),
            |record| staged.join(&record.name),
            &self.config.dedup,
            progress,
        )?;
        let task = progress.start("place", Some(fates.len() as u64));
        for (name, fate) in &fates {
            if let Some(record) = records.get_mut(name) {
                settle(record, fate, &staged.join(name), self.out, self.config)?;
            }
            task.advance(1);
        }
        for record in records.values().filter(|r| r.refused.is_some()) {
            corpus::remove(self.out, &record.name)?;
        }
        jsonl::write(self.out.join(corpus::MANIFEST), records.values())?;
        summary.count(records.values());
        if summary.failed.is_empty() {
            // Renamed first: half of a gathered corpus must not be taken for one.
            let old = self.out.join(corpus::UNFINISHED);
            std::fs::rename(&staged, &old).map_err(CoreError::io(&staged))?;
            std::fs::remove_dir_all(&old).map_err(CoreError::io(&old))?;
        }
        Ok(summary)
    }
}

/// Puts a repository in place without what is dropped, or says why not.
fn settle(
    record: &mut Record,
    fate: &Fate,
    staged: &Path,
    out: &Path,
    config: &MineConfig,
) -> Result<(), MineError> {
    if let Some((survivor, shared, files)) = &fate.near_duplicate {
        record.refused = Some(format!(
            "near-duplicate of {survivor}: {shared} of {files} files"
        ));
        record.refusal = Some(Refusal::NearDuplicate);
        record.survivor = Some(survivor.clone());
        return Ok(());
    }
    record.dropped.clone_from(&fate.dropped);
    record.files -= fate.dropped.len();
    let minimum = config.minimum_files.max(1);
    if record.files < minimum {
        record.refused = Some(format!(
            "{} Python files that no other repository holds, fewer than {minimum}",
            record.files
        ));
        record.refusal = Some(Refusal::TooFew);
        return Ok(());
    }
    let folder = corpus::unfinished(out)?;
    let without: BTreeSet<&str> = fate.dropped.iter().map(|d| d.path.as_str()).collect();
    link_tree(staged, folder.path(), &without)?;
    if !without.is_empty() {
        record.functions = functions(folder.path())?;
    }
    record.sha256 = Some(hash::sha256_folder(folder.path())?);
    corpus::install(out, &record.name, folder)?;
    Ok(())
}

/// Functions and methods below a folder; none where nothing is left that can be parsed.
fn functions(folder: &Path) -> Result<usize, MineError> {
    match RepoIndex::build(folder, &Silent) {
        Ok(index) => Ok(index
            .units()
            .filter(|u| matches!(u.kind, UnitKind::Function | UnitKind::Method))
            .count()),
        Err(hydra_pyindex::IndexError::NoPython { .. }) => Ok(0),
        Err(other) => Err(other.into()),
    }
}

/// Links a tree's files into another folder, or copies them where the file system has no links.
fn link_tree(from: &Path, to: &Path, without: &BTreeSet<&str>) -> Result<(), CoreError> {
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let here = from.join(&below);
        for entry in std::fs::read_dir(&here).map_err(CoreError::io(&here))? {
            let entry = entry.map_err(CoreError::io(&here))?;
            let inside = below.join(entry.file_name());
            let target = to.join(&inside);
            let kind = entry.file_type().map_err(CoreError::io(entry.path()))?;
            if kind.is_dir() {
                folders.push(inside);
            } else if !without.contains(inside.to_string_lossy().as_ref()) {
                // Made for its first file, so that a folder without files is none.
                if let Some(parent) = target.parent() {
                    std::fs::create_dir_all(parent).map_err(CoreError::io(parent))?;
                }
                std::fs::hard_link(entry.path(), &target)
                    .or_else(|_| std::fs::copy(entry.path(), &target).map(drop))
                    .map_err(CoreError::io(&target))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "staging_tests.rs"]
mod tests;
