//! Repositories that lie in a folder.

use std::path::Path;

use hydra_core::{CoreError, Progress, RepoPath, hash};

use crate::corpus::Corpus;
use crate::error::ItemError;
use crate::records::{MineSummary, Record, Refusal};
use crate::taken::{Skip, Taken, is_wanted};
use crate::{MineConfig, MineError};

/// Mines a folder of repositories: each sub-folder that holds a Python file is one, under the
/// sub-folder's name. Hidden folders, links and files that are no text or larger than
/// `max_file_bytes` are passed over.
///
/// The sources are hashed on every run, so a repository that changed is taken anew.
pub fn mine_folder(
    folder: &Path,
    config: &MineConfig,
    out: &Path,
    progress: &dyn Progress,
) -> Result<MineSummary, MineError> {
    if !folder.is_dir() {
        return Err(MineError::NoFolder {
            path: folder.to_path_buf(),
        });
    }
    std::fs::create_dir_all(out).map_err(CoreError::io(out))?;
    let inside = out.canonicalize().map_err(CoreError::io(out))?;
    if inside.starts_with(folder.canonicalize().map_err(CoreError::io(folder))?) {
        return Err(MineError::Overlap {
            path: out.to_path_buf(),
        });
    }
    let mut corpus = Corpus::open(out, config)?;
    let names = sub_folders(folder, progress)?;
    let task = progress.start("mine", Some(names.len() as u64));
    let mut found = false;
    for name in names {
        task.message(&name);
        let built = take(&corpus, &folder.join(&name), config);
        task.advance(1);
        if matches!(&built, Ok((_, taken)) if taken.python == 0) {
            continue;
        }
        found = true;
        let mut record = Record {
            name: name.clone(),
            source: "folder".to_owned(),
            ..Record::default()
        };
        if let Some(reason) = config.overlap(&name) {
            corpus.finish(
                record,
                Err(ItemError::refused(Refusal::Benchmark, reason)),
                progress,
            )?;
            continue;
        }
        if let Ok((sources, _)) = &built {
            record.sha256 = Some(hash::sha256_folder(sources.path())?);
            let same = |old: &Record| {
                old.refused.is_none() && old.source == "folder" && old.sha256 == record.sha256
            };
            if corpus.resume(&name, same) {
                continue;
            }
        }
        corpus.finish(record, built, progress)?;
    }
    if !found {
        return Err(MineError::NoPython {
            path: folder.to_path_buf(),
        });
    }
    corpus.close()
}

fn sub_folders(folder: &Path, progress: &dyn Progress) -> Result<Vec<String>, CoreError> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(CoreError::io(folder))? {
        let entry = entry.map_err(CoreError::io(folder))?;
        let kind = entry.file_type().map_err(CoreError::io(entry.path()))?;
        match entry.file_name().into_string() {
            Ok(name) if kind.is_dir() && !name.starts_with('.') => names.push(name),
            Err(name) if kind.is_dir() => progress.warn(&format!(
                "{}: passed over, its name is not UTF-8",
                name.display()
            )),
            _ => {}
        }
    }
    names.sort();
    Ok(names)
}

fn take(
    corpus: &Corpus<'_>,
    repository: &Path,
    config: &MineConfig,
) -> Result<(tempfile::TempDir, Taken), ItemError> {
    let target = corpus.unfinished()?;
    let mut taken = Taken::default();
    walk(repository, None, target.path(), config, &mut taken)?;
    Ok((target, taken))
}

fn walk(
    folder: &Path,
    below: Option<&RepoPath>,
    target: &Path,
    config: &MineConfig,
    taken: &mut Taken,
) -> Result<(), ItemError> {
    let mut entries = std::fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(CoreError::io(folder))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let full = entry.path();
        let shown = |name: &str| below.map_or(name.to_owned(), |b| format!("{b}/{name}"));
        let name = match entry.file_name().into_string() {
            Ok(name) => name,
            Err(name) => {
                taken.skip(Skip::NotUtf8Name, &shown(&name.to_string_lossy()));
                continue;
            }
        };
        if name.starts_with('.') {
            continue;
        }
        let path = match below {
            Some(below) => below.join(&name),
            None => RepoPath::new(&name),
        };
        let Ok(path) = path else {
            taken.skip(Skip::UnsafeName, &shown(&name));
            continue;
        };
        // Of the entry itself: a link is neither, so it is never followed.
        let kind = entry.file_type().map_err(CoreError::io(&full))?;
        if kind.is_dir() {
            walk(&full, Some(&path), target, config, taken)?;
        } else if kind.is_symlink() {
            taken.skip(Skip::Link, path.as_str());
        } else if !kind.is_file() {
            taken.skip(Skip::Special, path.as_str());
        } else if is_wanted(&path) {
            let size = entry.metadata().map_err(CoreError::io(&full))?.len();
            if size > config.max_file_bytes {
                taken.skip(Skip::TooLarge, path.as_str());
                continue;
            }
            let bytes = std::fs::read(&full).map_err(CoreError::io(&full))?;
            taken.write(target, &path, &bytes, config)?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
