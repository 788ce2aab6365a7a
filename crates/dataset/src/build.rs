//! A corpus in, four files of pairs out.

use std::collections::BTreeMap;
use std::path::Path;

use hydra_core::records::UnitKind;
use hydra_core::{CoreError, Progress, Silent, UnitId, jsonl, write_json};
use hydra_pyindex::{IndexError, RepoIndex, text};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::DatasetError;
use crate::plan::{self, Query};
use crate::split::{Part, Split, assign};
use crate::summary::{PairsSummary, PartSummary, SkippedRepository};
use crate::write::PairFiles;

/// Queries whose texts are in memory at the same time.
const QUERIES_AT_ONCE: usize = 128;

/// The file of train pairs with as many negatives as positives.
const DOWNSAMPLED: &str = "train_downsampling";

/// How pairs are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PairsConfig {
    /// What is dealt out 8:1:1.
    pub split: Split,
    /// Decides the split and which negatives stay.
    pub seed: u64,
    /// Also write `train.jsonl`, every train pair in the published form: many times the size of
    /// the Parquet file. The other splits always have theirs.
    pub full_jsonl: bool,
}

impl Default for PairsConfig {
    fn default() -> Self {
        Self {
            split: Split::Repository,
            // The released package's seed.
            seed: 42,
            full_jsonl: false,
        }
    }
}

/// A pair: a row of the Parquet files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairRecord {
    /// The repository.
    pub repo: String,
    /// The function that asks.
    pub query_unit: UnitId,
    /// The unit that may help.
    pub candidate_unit: UnitId,
    /// The candidate's kind.
    pub kind: UnitKind,
    /// The query's text.
    pub query: String,
    /// The candidate's text.
    pub candidate: String,
    /// 1 if the query's function uses the candidate, 0 if not.
    pub label: u8,
}

/// Makes the pairs of a corpus and writes them to `out`.
///
/// The repositories are those that `corpus/manifest.jsonl` names as kept, or every sub-folder
/// that isn't hidden where there is no manifest. One without Python is passed over and named in
/// the summary. All files appear together at the end.
pub fn build(
    corpus: &Path,
    config: &PairsConfig,
    out: &Path,
    progress: &dyn Progress,
) -> Result<PairsSummary, DatasetError> {
    let names = repositories(corpus)?;
    if names.is_empty() {
        return Err(DatasetError::Empty {
            path: corpus.to_path_buf(),
        });
    }
    let parts = assign(&names, config.seed);
    let mut output = Output::create(out, config.full_jsonl)?;
    let mut owed = 0;
    let task = progress.start("pairs", Some(names.len() as u64));
    for name in &names {
        task.message(name);
        let index = match RepoIndex::build(&corpus.join(name), &Silent) {
            Ok(index) => index,
            Err(error @ IndexError::NoPython { .. }) => {
                progress.warn(&format!("{name}: {error}"));
                output.summary.skipped.push(SkippedRepository {
                    name: name.clone(),
                    reason: error.to_string(),
                });
                task.advance(1);
                continue;
            }
            Err(source) => {
                return Err(DatasetError::Index {
                    repository: name.clone(),
                    source: Box::new(source),
                });
            }
        };
        let part = match config.split {
            Split::Repository => parts.get(name).copied().unwrap_or(Part::Train),
            Split::Pair => Part::Train,
        };
        let mut queries = plan::queries(&index, part);
        if config.split == Split::Pair {
            plan::deal_pairs(&mut queries, config.seed, name);
        }
        plan::balance(&mut queries, config.seed, name, &mut owed);
        output.add(name, &queries)?;
        task.advance(1);
    }
    if owed > 0 {
        progress.warn(&format!(
            "{DOWNSAMPLED}: {owed} fewer negatives than positives; the corpus has no more"
        ));
    }
    output.commit(out)
}

/// What a line of the corpus manifest says that matters here.
#[derive(Deserialize)]
struct Mined {
    name: String,
    refused: Option<String>,
}

fn repositories(corpus: &Path) -> Result<Vec<String>, CoreError> {
    let manifest = corpus.join("manifest.jsonl");
    let mut names = Vec::new();
    if manifest.exists() {
        let mined: Vec<Mined> = jsonl::read(&manifest)?;
        let kept = mined.into_iter().filter(|m| m.refused.is_none());
        names.extend(kept.map(|m| m.name));
    } else {
        for entry in std::fs::read_dir(corpus).map_err(CoreError::io(corpus))? {
            let entry = entry.map_err(CoreError::io(corpus))?;
            let kind = entry.file_type().map_err(CoreError::io(entry.path()))?;
            if let (true, Ok(name)) = (kind.is_dir(), entry.file_name().into_string())
                && !name.starts_with('.')
            {
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}

/// A split's files and numbers.
struct Stream {
    files: PairFiles,
    summary: PartSummary,
}

impl Stream {
    fn push(&mut self, pair: PairRecord, fresh: &mut Fresh) -> Result<(), DatasetError> {
        self.summary.count(pair.kind, pair.label);
        self.summary.repositories += usize::from(!std::mem::replace(&mut fresh.repository, true));
        self.summary.queries += usize::from(!std::mem::replace(&mut fresh.query, true));
        self.files.push(pair)
    }
}

/// Whether a split has seen the repository and the query in hand.
#[derive(Clone, Copy, Default)]
struct Fresh {
    repository: bool,
    query: bool,
}

struct Output {
    streams: BTreeMap<&'static str, Stream>,
    summary: PairsSummary,
}

impl Output {
    fn create(out: &Path, full_jsonl: bool) -> Result<Self, DatasetError> {
        let mut streams = BTreeMap::new();
        for name in Part::ALL.map(Part::name).into_iter().chain([DOWNSAMPLED]) {
            let lines = full_jsonl || name != Part::Train.name();
            let stream = Stream {
                files: PairFiles::create(out, name, lines)?,
                summary: PartSummary::default(),
            };
            streams.insert(name, stream);
        }
        Ok(Self {
            streams,
            summary: PairsSummary::default(),
        })
    }

    fn add(&mut self, repository: &str, queries: &[Query<'_>]) -> Result<(), DatasetError> {
        self.summary.repositories += 1;
        let mut fresh: BTreeMap<&str, Fresh> = BTreeMap::new();
        for some in queries.chunks(QUERIES_AT_ONCE) {
            // Texts are made in parallel and written in the order of the queries.
            let made: Vec<Vec<PairRecord>> = some
                .par_iter()
                .map(|query| records(repository, query))
                .collect();
            for (query, pairs) in some.iter().zip(made) {
                self.summary.outside_pool += query.outside_pool;
                fresh.values_mut().for_each(|f| f.query = false);
                for (candidate, pair) in query.candidates.iter().zip(pairs) {
                    if candidate.balanced {
                        self.push(DOWNSAMPLED, pair.clone(), &mut fresh)?;
                    }
                    self.push(candidate.part.name(), pair, &mut fresh)?;
                }
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        name: &'static str,
        pair: PairRecord,
        fresh: &mut BTreeMap<&str, Fresh>,
    ) -> Result<(), DatasetError> {
        match self.streams.get_mut(name) {
            Some(stream) => stream.push(pair, fresh.entry(name).or_default()),
            None => Ok(()),
        }
    }

    fn commit(mut self, out: &Path) -> Result<PairsSummary, DatasetError> {
        for (name, stream) in self.streams {
            stream.files.commit()?;
            self.summary.splits.insert(name.to_owned(), stream.summary);
        }
        write_json(out.join("summary.json"), &self.summary)?;
        Ok(self.summary)
    }
}

fn records(repository: &str, query: &Query<'_>) -> Vec<PairRecord> {
    let asked = text::unit_query(query.unit);
    let pair = |candidate: &plan::Candidate<'_>| PairRecord {
        repo: repository.to_owned(),
        query_unit: query.unit.id.clone(),
        candidate_unit: candidate.unit.id.clone(),
        kind: candidate.unit.kind,
        query: asked.clone(),
        candidate: text::candidate_text(candidate.unit),
        label: candidate.label,
    };
    query.candidates.iter().map(pair).collect()
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
