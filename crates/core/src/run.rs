//! A stage's place on disk, with the `run.json` that says how its files came about.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::atomic::{TEMPORARY_PREFIX, TEMPORARY_SUFFIX};
use crate::{CoreError, hash, read_json, write_json};

/// What decides a stage's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The stage: `mine`, `train`, ...
    pub stage: String,
    /// Its whole configuration.
    pub config: serde_json::Value,
    /// The SHA-256 of each input, by name.
    pub inputs: BTreeMap<String, String>,
    /// The seed.
    pub seed: u64,
}

impl RunSpec {
    /// Starts a description; [`RunSpec::input`] adds what the stage reads.
    pub fn new(stage: &str, config: serde_json::Value, seed: u64) -> Self {
        Self {
            stage: stage.to_owned(),
            config,
            inputs: BTreeMap::new(),
            seed,
        }
    }

    /// Adds an input file or folder by the hash of its content.
    pub fn input(mut self, name: &str, path: impl AsRef<Path>) -> Result<Self, CoreError> {
        let path = path.as_ref();
        let hash = if path.is_dir() {
            hash::sha256_folder(path)?
        } else {
            hash::sha256_file(path)?
        };
        self.inputs.insert(name.to_owned(), hash);
        Ok(self)
    }

    /// Adds an input by a hash that is known already.
    pub fn hashed(mut self, name: &str, hash: &str) -> Self {
        self.inputs.insert(name.to_owned(), hash.to_owned());
        self
    }
}

/// The content of `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// What decides the output.
    #[serde(flatten)]
    pub spec: RunSpec,
    /// Hydra's version.
    pub version: String,
    /// The commit of the checkout that the stage ran in, with `-dirty` behind it where files
    /// differ; absent outside a checkout.
    pub commit: Option<String>,
    /// Operating system, architecture, processors.
    pub machine: String,
    /// Seconds over all attempts.
    pub wall_seconds: f64,
    /// True once every output is complete.
    pub finished: bool,
}

/// The file whose lock says that a run is at work in its folder.
const LOCK: &str = ".hydra-lock";
/// How long to wait for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// A run's folder. No other run can open it while this one lives.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    info: RunInfo,
    name: String,
    started: Instant,
    earlier: f64,
    /// What a restart removes.
    doomed: Vec<String>,
    _lock: File,
}

impl RunDir {
    /// Opens `folder` for `spec`. A finished or interrupted run of the same spec is continued; a
    /// run of another spec is an error unless `restart` is set. Nothing that an earlier run left
    /// is touched before [`RunDir::begin`], so that a stage can check its inputs in between.
    ///
    /// The record is `run.json`, or `run.<stage>.json` where several stages share a folder
    /// (`shared`). `outputs` are what a restart removes.
    ///
    /// # Errors
    /// [`CoreError::OtherRun`] for a run of another spec, [`CoreError::Busy`] for one at work.
    pub fn open(
        folder: impl AsRef<Path>,
        spec: RunSpec,
        shared: bool,
        restart: bool,
        outputs: &[&str],
    ) -> Result<Self, CoreError> {
        let path = folder.as_ref().to_path_buf();
        let name = if shared {
            format!("run.{}.json", spec.stage)
        } else {
            "run.json".to_owned()
        };
        std::fs::create_dir_all(&path).map_err(CoreError::io(&path))?;
        let lock = lock_folder(&path)?;
        let record = path.join(&name);
        let mut earlier = 0.0;
        let mut finished = false;
        let mut doomed = Vec::new();
        if restart {
            doomed.extend(outputs.iter().map(|&output| output.to_owned()));
            doomed.push(name.clone());
        } else if record.exists() {
            let old: RunInfo = read_json(&record)?;
            if let Some(what) = difference(&old.spec, &spec) {
                return Err(CoreError::OtherRun { path, what });
            }
            earlier = old.wall_seconds;
            finished = old.finished;
        }
        Ok(Self {
            info: RunInfo {
                spec,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                commit: commit(),
                machine: machine(),
                wall_seconds: earlier,
                finished,
            },
            path,
            name,
            started: Instant::now(),
            earlier,
            doomed,
            _lock: lock,
        })
    }

    /// Claims the folder: removes what a restart throws away and what a killed run left half
    /// written, and records the run. To be called when every input is known to be usable.
    pub fn begin(&mut self) -> Result<(), CoreError> {
        sweep(&self.path)?;
        for output in std::mem::take(&mut self.doomed) {
            remove(&self.path.join(output))?;
        }
        if !self.info.finished {
            write_json(self.path.join(&self.name), &self.info)?;
        }
        Ok(())
    }

    /// Whether an earlier run already completed every output.
    pub fn finished(&self) -> bool {
        self.info.finished
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Records that every output is complete.
    pub fn finish(mut self) -> Result<RunInfo, CoreError> {
        self.info.wall_seconds = self.earlier + self.started.elapsed().as_secs_f64();
        self.info.finished = true;
        write_json(self.path.join(&self.name), &self.info)?;
        Ok(self.info)
    }
}

/// Keeps every other process that asks for the same out of `folder`, which must exist, for as
/// long as the file lives.
///
/// # Errors
/// [`CoreError::Busy`] if somebody else holds it.
pub fn lock_folder(folder: &Path) -> Result<File, CoreError> {
    let path = folder.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(CoreError::io(&path))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // The children of a run that was killed may live a moment longer.
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => {
                std::thread::sleep(PATIENCE / 20);
            }
            Err(TryLockError::WouldBlock) => return Err(CoreError::Busy(folder.to_path_buf())),
            Err(TryLockError::Error(error)) => return Err(CoreError::io(&path)(error)),
        }
    }
}

/// Removes the temporary files that a killed run left.
fn sweep(folder: &Path) -> Result<(), CoreError> {
    for entry in std::fs::read_dir(folder).map_err(CoreError::io(folder))? {
        let path = entry.map_err(CoreError::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(TEMPORARY_PREFIX) && name.ends_with(TEMPORARY_SUFFIX) {
            remove(&path)?;
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<(), CoreError> {
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(CoreError::io(path)(e)),
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path).map_err(CoreError::io(path)),
        Ok(_) => std::fs::remove_file(path).map_err(CoreError::io(path)),
    }
}

fn difference(old: &RunSpec, new: &RunSpec) -> Option<String> {
    if old.stage != new.stage {
        return Some(format!("another stage ({})", old.stage));
    }
    if old.seed != new.seed {
        return Some(format!("seed {} (now {})", old.seed, new.seed));
    }
    if old.config != new.config {
        let keys: Vec<_> = match (&old.config, &new.config) {
            (serde_json::Value::Object(a), serde_json::Value::Object(b)) => a
                .keys()
                .chain(b.keys().filter(|k| !a.contains_key(*k)))
                .filter(|k| a.get(*k) != b.get(*k))
                .cloned()
                .collect(),
            _ => Vec::new(),
        };
        return Some(format!("another configuration ({})", keys.join(", ")));
    }
    let changed: Vec<_> = old
        .inputs
        .keys()
        .chain(new.inputs.keys().filter(|k| !old.inputs.contains_key(*k)))
        .filter(|k| old.inputs.get(*k) != new.inputs.get(*k))
        .cloned()
        .collect();
    (!changed.is_empty()).then(|| format!("other inputs ({})", changed.join(", ")))
}

fn commit() -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let repository = git2::Repository::discover(here).ok()?;
    let head = repository.head().ok()?.peel_to_commit().ok()?;
    let mut options = git2::StatusOptions::new();
    options.include_untracked(false);
    let dirty = repository
        .statuses(Some(&mut options))
        .is_ok_and(|s| !s.is_empty());
    Some(format!(
        "{}{}",
        head.id(),
        if dirty { "-dirty" } else { "" }
    ))
}

fn machine() -> String {
    format!(
        "{} {}, {} processors",
        std::env::consts::OS,
        std::env::consts::ARCH,
        std::thread::available_parallelism().map_or(1, usize::from)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_another_seed_is_refused_until_restarted() -> Result<(), Box<dyn std::error::Error>>
    {
        let folder = tempfile::tempdir()?;
        let open = |seed, restart| {
            let spec = RunSpec::new("train", serde_json::json!({"lr": 1}), seed);
            RunDir::open(folder.path(), spec, false, restart, &["out"])
        };
        let mut run = open(1, false)?;
        run.begin()?;
        write_json(run.file("out"), &1)?;
        run.finish()?;
        assert!(open(1, false)?.finished());
        let error = open(2, false).expect_err("seed");
        assert!(error.to_string().contains("seed 1 (now 2)"), "{error}");
        let mut run = open(2, true)?;
        assert!(!run.finished());
        assert!(run.file("out").exists(), "removed before the run began");
        run.begin()?;
        assert!(!run.file("out").exists());
        Ok(())
    }

    #[test]
    fn a_folder_in_which_a_run_is_at_work_is_refused() -> Result<(), Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let open = || {
            let spec = RunSpec::new("train", serde_json::json!({}), 1);
            RunDir::open(folder.path(), spec, false, false, &[])
        };
        let run = open()?;
        assert!(matches!(open(), Err(CoreError::Busy(_))));
        drop(run);
        open()?;
        Ok(())
    }
}
