//! Where a killed training goes on.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use hydra_core::{CoreError, jsonl, read_json, write_atomic, write_json};
use serde::{Deserialize, Serialize};

use crate::DarError;
use crate::train::{Line, Validation};
use crate::weights::{self, Named};

const PREFIX: &str = "checkpoint-";
/// While it is written. A folder of this name is never read.
const UNFINISHED: &str = "checkpoint.unfinished";

/// A checkpoint on disk.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    folder: PathBuf,
    pub step: usize,
    /// Lines of `metrics.jsonl` at that time.
    pub lines: usize,
    pub best: Option<(usize, Validation)>,
}

#[derive(Serialize, Deserialize)]
struct State {
    step: usize,
    lines: usize,
    /// The best step with its figures by their bits: text may lose a figure's last one.
    best: Option<(usize, [u64; 4])>,
}

impl Checkpoint {
    /// The latest one in a run's folder.
    pub(crate) fn latest(out: &Path) -> Result<Option<Self>, DarError> {
        let Some((_, folder)) = folders(out)?.into_iter().max() else {
            return Ok(None);
        };
        let state: State =
            read_json(folder.join("state.json")).map_err(|error| damaged(&folder, error.into()))?;
        Ok(Some(Self {
            folder,
            step: state.step,
            lines: state.lines,
            best: state.best.map(|(step, bits)| {
                let [loss, recall, precision, f1] = bits.map(f64::from_bits);
                let figures = Validation {
                    loss,
                    recall,
                    precision,
                    f1,
                };
                (step, figures)
            }),
        }))
    }

    /// The model's values, which must have `shapes`, and the optimiser's moments.
    pub(crate) fn values(
        &self,
        shapes: &BTreeMap<String, Vec<usize>>,
    ) -> Result<(Named, Named), DarError> {
        let model = weights::read(&self.folder.join("model.safetensors"), shapes, |_| false);
        let moments = weights::read_all(&self.folder.join("moments.safetensors"));
        let damaged = |error| damaged(&self.folder, error);
        Ok((model.map_err(damaged)?, moments.map_err(damaged)?))
    }

    /// Writes a whole folder beside and renames it; the one before goes when it is there.
    pub(crate) fn save(
        out: &Path,
        step: usize,
        lines: usize,
        best: Option<(usize, Validation)>,
        model: &Named,
        moments: &Named,
    ) -> Result<(), DarError> {
        let beside = out.join(UNFINISHED);
        remove(&beside)?;
        weights::write(&beside.join("model.safetensors"), model)?;
        weights::write(&beside.join("moments.safetensors"), moments)?;
        let best = best.map(|(step, v)| {
            let bits = [v.loss, v.recall, v.precision, v.f1].map(f64::to_bits);
            (step, bits)
        });
        write_json(beside.join("state.json"), &State { step, lines, best })?;
        let before = folders(out)?;
        let place = out.join(format!("{PREFIX}{step:06}"));
        remove(&place)?;
        std::fs::rename(&beside, &place).map_err(CoreError::io(&place))?;
        for (_, folder) in before {
            if folder != place {
                discard(out, &folder)?;
            }
        }
        Ok(())
    }

    pub(crate) fn remove_all(out: &Path) -> Result<(), DarError> {
        remove(&out.join(UNFINISHED))?;
        for (_, folder) in folders(out)? {
            discard(out, &folder)?;
        }
        Ok(())
    }
}

/// Removes a checkpoint so that a kill leaves the whole of it or nothing that is named so.
fn discard(out: &Path, folder: &Path) -> Result<(), DarError> {
    let doomed = out.join(UNFINISHED);
    std::fs::rename(folder, &doomed).map_err(CoreError::io(folder))?;
    remove(&doomed)
}

fn damaged(folder: &Path, error: DarError) -> DarError {
    DarError::Checkpoint {
        path: folder.to_path_buf(),
        reason: error.to_string(),
    }
}

fn folders(out: &Path) -> Result<Vec<(usize, PathBuf)>, DarError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(out).map_err(CoreError::io(out))? {
        let path = entry.map_err(CoreError::io(out))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(step) = name.strip_prefix(PREFIX).and_then(|n| n.parse().ok()) {
            found.push((step, path));
        }
    }
    Ok(found)
}

fn remove(folder: &Path) -> Result<(), DarError> {
    match std::fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(CoreError::io(folder)(e).into()),
        _ => Ok(()),
    }
}

/// `metrics.jsonl` while it grows.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    lines: usize,
}

impl Log {
    /// Keeps the first lines of what is there.
    pub(crate) fn open(path: &Path, keep: usize) -> Result<Self, DarError> {
        let before = if keep > 0 {
            std::fs::read_to_string(path).map_err(CoreError::io(path))?
        } else {
            String::new()
        };
        let kept: String = before.split_inclusive('\n').take(keep).collect();
        if kept.matches('\n').count() < keep {
            return Err(DarError::Core(CoreError::Document {
                path: path.to_path_buf(),
                message: "it is shorter than its checkpoint says; start again with --restart"
                    .to_owned(),
            }));
        }
        write_atomic(path, kept.as_bytes())?;
        let file = File::options()
            .append(true)
            .open(path)
            .map_err(CoreError::io(path))?;
        Ok(Self {
            path: path.to_path_buf(),
            file,
            lines: keep,
        })
    }

    pub(crate) fn append(&mut self, line: &Line) -> Result<(), DarError> {
        let mut text = serde_json::to_string(line).map_err(|e| CoreError::Document {
            path: self.path.clone(),
            message: e.to_string(),
        })?;
        text.push('\n');
        self.file
            .write_all(text.as_bytes())
            .map_err(CoreError::io(&self.path))?;
        self.lines += 1;
        Ok(())
    }

    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    /// The losses of all steps.
    pub(crate) fn losses(&self) -> Result<Vec<f64>, DarError> {
        let lines: Vec<Line> = jsonl::read(&self.path)?;
        Ok(lines
            .into_iter()
            .filter_map(|line| match line {
                Line::Train { loss, .. } => Some(loss),
                Line::Valid { .. } => None,
            })
            .collect())
    }
}
