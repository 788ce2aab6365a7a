//! A corpus under construction: repositories in place, the journal, the manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hydra_core::jsonl::{self, Journal};
use hydra_core::records::UnitKind;
use hydra_core::{CoreError, Progress, Silent};
use hydra_pyindex::{IndexError, RepoIndex};
use tempfile::TempDir;

use crate::dedup;
use crate::error::ItemError;
use crate::records::{Failure, MineSummary, Record, Refusal};
use crate::taken::Taken;
use crate::{MineConfig, MineError};

/// The finished manifest.
pub(crate) const MANIFEST: &str = "manifest.jsonl";
/// The manifest of a run that has not ended yet.
const PARTIAL: &str = "manifest.partial.jsonl";
/// Unfinished repositories lie in folders that start so; a later run clears them.
pub(crate) const UNFINISHED: &str = ".hydra-mine-";

/// Records by name, as a run leaves them.
pub(crate) type Records = BTreeMap<String, Record>;

pub(crate) struct Corpus<'a> {
    out: PathBuf,
    config: &'a MineConfig,
    journal: Journal,
    known: BTreeMap<String, Record>,
    records: Records,
    summary: MineSummary,
}

impl<'a> Corpus<'a> {
    /// Opens `out`, reads what earlier runs finished and clears what they left half done.
    pub fn open(out: &Path, config: &'a MineConfig) -> Result<Self, MineError> {
        std::fs::create_dir_all(out).map_err(CoreError::io(out))?;
        clear_unfinished(out)?;
        let (journal, partial) = Journal::open::<Record>(out.join(PARTIAL))?;
        let manifest = out.join(MANIFEST);
        let mut finished = Vec::new();
        if manifest.exists() {
            finished = jsonl::read(&manifest)?;
        }
        let known = finished
            .into_iter()
            .chain(partial)
            .map(|r: Record| (r.name.clone(), r))
            .collect();
        Ok(Self {
            out: out.to_path_buf(),
            config,
            journal,
            known,
            records: BTreeMap::new(),
            summary: MineSummary::default(),
        })
    }

    /// Takes `name` over from an earlier run if that run finished it and `same` agrees.
    pub fn resume(&mut self, name: &str, same: impl FnOnce(&Record) -> bool) -> bool {
        let Some(record) = self.known.get(name) else {
            return false;
        };
        let in_place = record.refused.is_some() || self.out.join(name).is_dir();
        if !in_place || !same(record) {
            return false;
        }
        self.summary.resumed += 1;
        self.records.insert(name.to_owned(), record.clone());
        true
    }

    /// A folder inside `out` for a repository under construction.
    pub fn unfinished(&self) -> Result<TempDir, CoreError> {
        unfinished(&self.out)
    }

    /// Counts what `folder` holds, moves it into place and records it; or records why not.
    pub fn finish(
        &mut self,
        mut record: Record,
        built: Result<(TempDir, Taken), ItemError>,
        progress: &dyn Progress,
    ) -> Result<(), MineError> {
        let name = record.name.clone();
        let outcome = built.and_then(|(folder, taken)| self.place(&mut record, folder, &taken));
        match outcome {
            Ok(()) => {}
            Err(ItemError::Refused { class, reason }) => {
                remove(&self.out, &name)?;
                record.refused = Some(reason);
                record.refusal = Some(class);
            }
            Err(ItemError::Failed(reason)) => {
                self.fail(&name, reason, progress);
                return Ok(());
            }
        }
        self.journal.append(&record)?;
        self.records.insert(name, record);
        Ok(())
    }

    /// Takes a record over as it is.
    pub fn note(&mut self, record: &Record) -> Result<(), MineError> {
        self.journal.append(record)?;
        self.records.insert(record.name.clone(), record.clone());
        Ok(())
    }

    /// Counts a repository that something went wrong with.
    pub fn fail(&mut self, name: &str, reason: String, progress: &dyn Progress) {
        progress.warn(&format!("{name}: {reason}"));
        self.summary.failed.push(Failure {
            name: name.to_owned(),
            reason,
        });
    }

    /// Moves a complete repository into place.
    pub fn install(&self, name: &str, folder: TempDir) -> Result<(), CoreError> {
        install(&self.out, name, folder)
    }

    fn place(&self, record: &mut Record, folder: TempDir, taken: &Taken) -> Result<(), ItemError> {
        record.files = taken.python;
        record.version = record.version.take().or_else(|| taken.version.clone());
        let stated = record.licence.take();
        record.licence = stated
            .or_else(|| taken.licence.clone())
            .or_else(|| taken.licence_file.clone());
        record.skipped.clone_from(&taken.skipped);
        let minimum = self.config.minimum_files.max(1);
        if taken.python < minimum {
            let reason = format!("{} Python files, fewer than {minimum}", taken.python);
            return Err(ItemError::refused(Refusal::TooFew, reason));
        }
        if let Some(reason) = taken.packages.iter().find_map(|p| self.config.overlap(p)) {
            return Err(ItemError::refused(Refusal::Benchmark, reason));
        }
        if !self.config.solutions.is_empty() {
            let files =
                dedup::files(folder.path()).map_err(|e| ItemError::Failed(e.to_string()))?;
            let files = files.iter().map(|(path, file)| (path, file));
            if let Some(reason) = self.config.solutions.found(files) {
                return Err(ItemError::refused(Refusal::Solution, reason));
            }
        }
        let index = RepoIndex::build(folder.path(), &Silent).map_err(|e| match e {
            IndexError::NoPython { .. } => ItemError::refused(
                Refusal::TooFew,
                "no Python file that can be parsed".to_owned(),
            ),
            other => ItemError::Failed(other.to_string()),
        })?;
        record.functions = index
            .units()
            .filter(|u| matches!(u.kind, UnitKind::Function | UnitKind::Method))
            .count();
        install(&self.out, &record.name, folder)?;
        Ok(())
    }

    /// What this run knows of each repository, without a manifest: for a corpus that only gathers.
    pub fn into_records(self) -> (Records, MineSummary) {
        (self.records, self.summary)
    }

    /// Writes the manifest and ends the journal.
    pub fn close(mut self) -> Result<MineSummary, MineError> {
        jsonl::write(self.out.join(MANIFEST), self.records.values())?;
        let partial = self.out.join(PARTIAL);
        drop(self.journal);
        std::fs::remove_file(&partial).map_err(CoreError::io(&partial))?;
        self.summary.count(self.records.values());
        Ok(self.summary)
    }
}

/// Temporary folders belong to their maker alone; a corpus is read by others too.
fn set_readable(folder: &Path) -> Result<(), CoreError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
        .map_err(CoreError::io(folder))
}

/// Removes what killed runs left half done.
pub(crate) fn clear_unfinished(out: &Path) -> Result<(), CoreError> {
    for entry in std::fs::read_dir(out).map_err(CoreError::io(out))? {
        let path = entry.map_err(CoreError::io(out))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(UNFINISHED) && path.is_dir() {
            std::fs::remove_dir_all(&path).map_err(CoreError::io(&path))?;
        }
    }
    Ok(())
}

/// A folder inside `out` for a repository under construction.
pub(crate) fn unfinished(out: &Path) -> Result<TempDir, CoreError> {
    tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempdir_in(out)
        .map_err(CoreError::io(out))
}

/// Moves a complete repository into place.
pub(crate) fn install(out: &Path, name: &str, folder: TempDir) -> Result<(), CoreError> {
    remove(out, name)?;
    let place = out.join(name);
    let folder = folder.keep();
    set_readable(&folder)?;
    std::fs::rename(&folder, &place).map_err(CoreError::io(&place))
}

/// Removes a repository, if it is there.
pub(crate) fn remove(out: &Path, name: &str) -> Result<(), CoreError> {
    let place = out.join(name);
    match std::fs::remove_dir_all(&place) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(CoreError::io(&place)(e)),
        _ => Ok(()),
    }
}
