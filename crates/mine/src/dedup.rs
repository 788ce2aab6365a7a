//! The same code more than once: which repository keeps it?
//!
//! Repositories are ranked by stars, then age, then name. Going down the ranks, each file is
//! compared with what higher ranks keep: by the hash of its tokens, then by MinHash. One that
//! finds its like is dropped; a repository of which nearly all is found in a single other one is
//! refused whole. Files of one repository are never compared with each other, nor are short ones,
//! which are alike everywhere.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use hydra_core::{CoreError, Progress, RepoPath};
use hydra_pyindex::fingerprint::{self, FileTokens, Neighbours, Sketch, Sketcher};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::MineError;
use crate::records::{Dropped, Record};

/// When code counts as the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DedupConfig {
    /// The fewest tokens of a file that is compared.
    pub min_tokens: usize,
    /// The similarity of two files' tokens, five in a row at a time, from which on they are the
    /// same.
    pub file_similarity: f64,
    /// The share of a repository's files, found in a single other one, from which on it is
    /// refused.
    pub repository_share: f64,
}

impl Default for DedupConfig {
    fn default() -> Self {
        Self {
            // An `__init__.py` with a few imports is no work of anybody's.
            min_tokens: 50,
            // The threshold of The Stack's own near-de-duplication (The Stack paper, section 4.2).
            file_similarity: 0.85,
            repository_share: 0.7,
        }
    }
}

/// What becomes of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    /// The repository that stays in its place, and how many of how many files it shares.
    pub near_duplicate: Option<(String, usize, usize)>,
    /// Files to leave out.
    pub dropped: Vec<Dropped>,
}

/// A file that stays, as others are compared with it.
struct Kept {
    repository: usize,
    path: RepoPath,
}

/// Finds out what each repository keeps. `folder` says where one lies.
pub(crate) fn plan<'r>(
    records: impl Iterator<Item = &'r Record>,
    folder: impl Fn(&Record) -> std::path::PathBuf,
    config: &DedupConfig,
    progress: &dyn Progress,
) -> Result<BTreeMap<String, Fate>, MineError> {
    let mut ranked: Vec<&Record> = records.collect();
    ranked.sort_by(|a, b| rank(a).cmp(&rank(b)));
    let mut seen = Seen::new(config);
    let mut fates = BTreeMap::new();
    let task = progress.start("compare", Some(ranked.len() as u64));
    for (number, record) in ranked.iter().enumerate() {
        task.message(&record.name);
        let files = files(&folder(record))?;
        let fate = seen.judge(number, files, &ranked);
        fates.insert(record.name.clone(), fate);
        task.advance(1);
    }
    Ok(fates)
}

/// Most stars first, then the oldest, then by name. Where stars aren't known, only the name.
fn rank(record: &Record) -> (std::cmp::Reverse<u64>, &str, &str) {
    let github = record.github.as_ref();
    (
        std::cmp::Reverse(github.map_or(0, |g| g.stars)),
        github.map_or("", |g| &g.created_at),
        &record.name,
    )
}

/// What is left of all files so far, as far as it takes to find their like.
struct Seen<'c> {
    config: &'c DedupConfig,
    sketcher: Sketcher,
    kept: Vec<Kept>,
    exact: HashMap<String, u32>,
    near: Neighbours,
}

/// A file that is long enough to be compared.
struct Fingerprint {
    path: RepoPath,
    hash: String,
    sketch: Sketch,
}

impl<'c> Seen<'c> {
    fn new(config: &'c DedupConfig) -> Self {
        Self {
            config,
            sketcher: Sketcher::default(),
            kept: Vec::new(),
            exact: HashMap::new(),
            near: Neighbours::new(config.file_similarity),
        }
    }

    fn judge(
        &mut self,
        number: usize,
        files: Vec<(RepoPath, FileTokens)>,
        ranked: &[&Record],
    ) -> Fate {
        let compared: Vec<Fingerprint> = files
            .into_par_iter()
            .filter(|(_, file)| file.tokens.len() >= self.config.min_tokens)
            .map(|(path, file)| Fingerprint {
                path,
                hash: file.tokens.hash(),
                sketch: self.sketcher.sketch(&file.tokens),
            })
            .collect();
        let likes: Vec<Option<u32>> = compared.par_iter().map(|file| self.like(file)).collect();
        if let Some(near_duplicate) = self.duplicated(&likes, ranked) {
            return Fate {
                near_duplicate: Some(near_duplicate),
                dropped: Vec::new(),
            };
        }
        let mut fate = Fate::default();
        for (file, like) in compared.into_iter().zip(likes) {
            match like {
                Some(like) => fate.dropped.push(self.dropped(&file.path, like, ranked)),
                None => self.keep(number, file),
            }
        }
        fate
    }

    /// The highest-ranked file that is like this one.
    fn like(&self, file: &Fingerprint) -> Option<u32> {
        let exact = self.exact.get(&file.hash).copied();
        exact.or_else(|| self.near.like(&file.sketch).first().copied())
    }

    /// Whether one repository holds so much of it that the rest isn't worth keeping.
    fn duplicated(
        &self,
        likes: &[Option<u32>],
        ranked: &[&Record],
    ) -> Option<(String, usize, usize)> {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for like in likes.iter().flatten() {
            *shared
                .entry(self.kept[*like as usize].repository)
                .or_default() += 1;
        }
        let (&most, &count) = shared
            .iter()
            .max_by_key(|(repository, count)| (**count, std::cmp::Reverse(**repository)))?;
        let share = count as f64 / likes.len() as f64;
        (share >= self.config.repository_share)
            .then(|| (ranked[most].name.clone(), count, likes.len()))
    }

    fn dropped(&self, path: &RepoPath, like: u32, ranked: &[&Record]) -> Dropped {
        let kept = &self.kept[like as usize];
        Dropped {
            path: path.as_str().to_owned(),
            survivor: format!("{}/{}", ranked[kept.repository].name, kept.path),
        }
    }

    fn keep(&mut self, repository: usize, file: Fingerprint) {
        let number = self.kept.len() as u32;
        self.kept.push(Kept {
            repository,
            path: file.path,
        });
        self.exact.entry(file.hash).or_insert(number);
        self.near.insert(number, file.sketch);
    }
}

/// The tokens of a repository's Python files, by path.
pub(crate) fn files(folder: &Path) -> Result<Vec<(RepoPath, FileTokens)>, MineError> {
    let mut texts = Vec::new();
    for path in python_files(folder)? {
        let place = path.under(folder);
        let bytes = std::fs::read(&place).map_err(CoreError::io(&place))?;
        texts.push((path, String::from_utf8_lossy(&bytes).into_owned()));
    }
    let tokens = fingerprint::read(&texts, |(_, text)| text)?;
    Ok(texts
        .into_iter()
        .map(|(path, _)| path)
        .zip(tokens)
        .collect())
}

/// The Python files below a folder that this program wrote, by path.
fn python_files(folder: &Path) -> Result<Vec<RepoPath>, CoreError> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(below) = folders.pop() {
        for entry in std::fs::read_dir(&below).map_err(CoreError::io(&below))? {
            let path = entry.map_err(CoreError::io(&below))?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "py")
                && let Ok(inside) = path.strip_prefix(folder)
                && let Ok(inside) = RepoPath::new(inside.to_string_lossy())
            {
                found.push(inside);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
#[path = "dedup_tests.rs"]
mod tests;
