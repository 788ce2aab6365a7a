//! What the manifest and the summary say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A repository that was kept or refused: a line of `manifest.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The repository's name and its folder in the corpus.
    pub name: String,
    /// Its version, where one is known.
    pub version: Option<String>,
    /// The hash of the wheel, or of the files in the corpus; nothing where it was refused before
    /// there were any.
    pub sha256: Option<String>,
    /// The licence: an SPDX id where the source gives one, or as the metadata names it, or else
    /// the name of the licence file.
    pub licence: Option<String>,
    /// Python files taken.
    pub files: usize,
    /// Functions and methods in them.
    pub functions: usize,
    /// `folder`, `github`, `stack`, or the wheel's file name.
    pub source: String,
    /// Why it is not in the corpus; nothing for a repository that was kept.
    pub refused: Option<String>,
    /// The reason's class, where it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// Where it came from on GitHub.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github: Option<GithubPin>,
    /// Files that were passed over, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, Skips>,
    /// Files that were left out since another repository holds the same, by path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
    /// The repository that stays in place of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survivor: Option<String>,
}

/// A repository on GitHub at a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GithubPin {
    /// The number that stays when it is renamed.
    pub id: u64,
    /// `owner/name`.
    pub full_name: String,
    /// The commit; nothing where it was refused before one was fetched.
    pub commit: Option<String>,
    /// Stars when it was found.
    pub stars: u64,
    /// Forks when it was found.
    pub forks: u64,
    /// When it was made (RFC 3339).
    pub created_at: String,
}

/// Files that were passed over for one reason.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skips {
    /// How many.
    pub count: usize,
    /// The first of them.
    pub first: String,
}

/// A file that another repository holds too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The file.
    pub path: String,
    /// `repository/path` of the one that stays.
    pub survivor: String,
}

/// Why a repository is not in a corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// It is a benchmark's project, by its name, a package's, its parent's or its template's.
    Benchmark,
    /// It holds the solution of a benchmark's task.
    Solution,
    /// Another repository holds nearly all of its files.
    NearDuplicate,
    /// Its licence is not on the list, or it names none.
    Licence,
    /// It is a fork.
    Fork,
    /// It is archived.
    Archived,
    /// It mirrors a repository elsewhere.
    Mirror,
    /// It is a template, or was made from one.
    Template,
    /// Its owner opted out.
    OptedOut,
    /// It has fewer stars, forks or Python files than asked for.
    TooFew,
    /// It passes a limit of size, number or time.
    TooLarge,
    /// Its archive or tree is made to do harm, or broken.
    Unsafe,
    /// It is no longer there, or not for everybody.
    Gone,
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
    /// Refused repositories by the class of the reason.
    pub refusals: BTreeMap<Refusal, usize>,
    /// Python files of the repositories kept.
    pub files: usize,
    /// Functions and methods of the repositories kept.
    pub functions: usize,
    /// Files of the repositories kept that were passed over, by reason.
    pub skipped: BTreeMap<String, usize>,
    /// Files of the repositories kept that were left out as duplicates.
    pub dropped: usize,
    /// Repositories taken over from an earlier run without work.
    pub resumed: usize,
    /// Search results that GitHub would not show, however small the slice.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Repositories that failed, in the order of the input.
    pub failed: Vec<Failure>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl MineSummary {
    /// Counts what a manifest says.
    pub(crate) fn count<'r>(&mut self, records: impl IntoIterator<Item = &'r Record>) {
        for record in records {
            if record.refused.is_some() {
                self.refused += 1;
                if let Some(refusal) = record.refusal {
                    *self.refusals.entry(refusal).or_default() += 1;
                }
                continue;
            }
            self.kept += 1;
            self.files += record.files;
            self.functions += record.functions;
            self.dropped += record.dropped.len();
            for (reason, skips) in &record.skipped {
                *self.skipped.entry(reason.clone()).or_default() += skips.count;
            }
        }
    }
}
