//! A corpus under construction: repositories in place, the journal, the manifest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hydra_core::jsonl::{self, Journal};
use hydra_core::records::UnitKind;
use hydra_core::{CoreError, Progress, Silent};
use hydra_pyindex::{IndexError, RepoIndex};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::error::ItemError;
use crate::licence;
use crate::{MineConfig, MineError};

/// The finished manifest.
const MANIFEST: &str = "manifest.jsonl";
/// The manifest of a run that has not ended yet.
const PARTIAL: &str = "manifest.partial.jsonl";
/// Unfinished repositories lie in folders that start so; a later run clears them.
const UNFINISHED: &str = ".hydra-mine-";

/// A repository that was kept or refused: a line of `manifest.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The repository's name and its folder in the corpus.
    pub name: String,
    /// Its version, where one is known.
    pub version: Option<String>,
    /// The hash of the wheel, or of the sources taken from a folder; nothing where a name alone
    /// was reason enough to refuse.
    pub sha256: Option<String>,
    /// The licence as the metadata names it, or else the name of the licence file.
    pub licence: Option<String>,
    /// Python files taken.
    pub files: usize,
    /// Functions and methods in them.
    pub functions: usize,
    /// `folder`, or the wheel's file name.
    pub source: String,
    /// Why it is not in the corpus; nothing for a repository that was kept.
    pub refused: Option<String>,
}

/// A repository that something went wrong with. It is in no manifest; another run tries again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The repository.
    pub name: String,
    /// What went wrong.
    pub reason: String,
}

/// How a mining run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MineSummary {
    /// Repositories in the corpus.
    pub kept: usize,
    /// Repositories refused, with their reasons in the manifest.
    pub refused: usize,
    /// Python files of the repositories kept.
    pub files: usize,
    /// Functions and methods of the repositories kept.
    pub functions: usize,
    /// Repositories taken over from an earlier run without work.
    pub resumed: usize,
    /// Repositories that failed, in the order of the input.
    pub failed: Vec<Failure>,
}

pub(crate) struct Corpus<'a> {
    out: &'a Path,
    config: &'a MineConfig,
    journal: Journal,
    known: BTreeMap<String, Record>,
    records: BTreeMap<String, Record>,
    summary: MineSummary,
}

impl<'a> Corpus<'a> {
    /// Opens `out`, reads what earlier runs finished and clears what they left half done.
    pub fn open(out: &'a Path, config: &'a MineConfig) -> Result<Self, MineError> {
        std::fs::create_dir_all(out).map_err(CoreError::io(out))?;
        for entry in std::fs::read_dir(out).map_err(CoreError::io(out))? {
            let path = entry.map_err(CoreError::io(out))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(UNFINISHED) && path.is_dir() {
                std::fs::remove_dir_all(&path).map_err(CoreError::io(&path))?;
            }
        }
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
            out,
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
        tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempdir_in(self.out)
            .map_err(CoreError::io(self.out))
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
            Err(ItemError::Refused(reason)) => {
                self.remove(&name)?;
                record.refused = Some(reason);
            }
            Err(ItemError::Failed(reason)) => {
                progress.warn(&format!("{name}: {reason}"));
                self.summary.failed.push(Failure { name, reason });
                return Ok(());
            }
        }
        self.journal.append(&record)?;
        self.records.insert(name, record);
        Ok(())
    }

    fn place(&self, record: &mut Record, folder: TempDir, taken: &Taken) -> Result<(), ItemError> {
        record.files = taken.python;
        record.version = record.version.take().or_else(|| taken.version.clone());
        record.licence = taken.licence.clone().or_else(|| taken.licence_file.clone());
        if taken.python < self.config.minimum_files.max(1) {
            return Err(ItemError::Refused(format!(
                "{} Python files, fewer than {}",
                taken.python,
                self.config.minimum_files.max(1)
            )));
        }
        if let Some(reason) = taken.packages.iter().find_map(|p| self.config.overlap(p)) {
            return Err(ItemError::Refused(reason));
        }
        let index = RepoIndex::build(folder.path(), &Silent).map_err(|e| match e {
            IndexError::NoPython { .. } => {
                ItemError::Refused("no Python file that can be parsed".to_owned())
            }
            other => ItemError::Failed(other.to_string()),
        })?;
        record.functions = index
            .units()
            .filter(|u| matches!(u.kind, UnitKind::Function | UnitKind::Method))
            .count();
        self.remove(&record.name)?;
        let place = self.out.join(&record.name);
        let folder = folder.keep();
        set_readable(&folder)?;
        std::fs::rename(&folder, &place).map_err(CoreError::io(&place))?;
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), CoreError> {
        let place = self.out.join(name);
        match std::fs::remove_dir_all(&place) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(CoreError::io(&place)(e)),
            _ => Ok(()),
        }
    }

    /// Writes the manifest and ends the journal.
    pub fn close(mut self) -> Result<MineSummary, MineError> {
        jsonl::write(self.out.join(MANIFEST), self.records.values())?;
        let partial = self.out.join(PARTIAL);
        drop(self.journal);
        std::fs::remove_file(&partial).map_err(CoreError::io(&partial))?;
        for record in self.records.values() {
            if record.refused.is_some() {
                self.summary.refused += 1;
            } else {
                self.summary.kept += 1;
                self.summary.files += record.files;
                self.summary.functions += record.functions;
            }
        }
        Ok(self.summary)
    }
}

/// Temporary folders belong to their maker alone; a corpus is read by others too.
fn set_readable(folder: &Path) -> Result<(), CoreError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
        .map_err(CoreError::io(folder))
}

/// What was taken from a source into an unfinished repository.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub python: usize,
    pub files: usize,
    pub bytes: u64,
    pub version: Option<String>,
    pub licence: Option<String>,
    pub licence_file: Option<String>,
    /// The top-level folders that hold Python files, with `src/` looked through.
    pub packages: std::collections::BTreeSet<String>,
}

impl Taken {
    /// Writes one file below `root`, within the limits, and notes what it tells.
    pub fn write(
        &mut self,
        root: &Path,
        path: &hydra_core::RepoPath,
        bytes: &[u8],
        config: &MineConfig,
    ) -> Result<(), ItemError> {
        self.files += 1;
        self.bytes += bytes.len() as u64;
        if self.bytes > config.max_total_bytes || self.files > config.max_files {
            return Err(ItemError::Refused(format!(
                "more than {} bytes or {} files",
                config.max_total_bytes, config.max_files
            )));
        }
        let place: PathBuf = path.under(root);
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(CoreError::io(parent))?;
        }
        std::fs::write(&place, bytes).map_err(CoreError::io(&place))?;
        self.note(path, bytes);
        Ok(())
    }

    fn note(&mut self, path: &hydra_core::RepoPath, bytes: &[u8]) {
        let name = path.file_name();
        if name.ends_with(".py") {
            self.python += 1;
            let inside = path.as_str().strip_prefix("src/").unwrap_or(path.as_str());
            if let Some((top, _)) = inside.split_once('/') {
                self.packages.insert(top.to_owned());
            }
        } else if matches!(name, "METADATA" | "PKG-INFO") && self.licence.is_none() {
            let found = licence::parse(&String::from_utf8_lossy(bytes));
            self.version = found.version;
            self.licence = found.licence;
        } else if licence::is_licence_file(name) && self.licence_file.is_none() {
            self.licence_file = Some(name.to_owned());
        }
    }
}
