//! What was made, in numbers.

use std::collections::BTreeMap;

use hydra_core::records::UnitKind;
use serde::{Deserialize, Serialize};

/// The content of `summary.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairsSummary {
    /// Repositories that were read.
    pub repositories: usize,
    /// Dependencies that lie outside their query's pool, so that no pair could be made of them.
    pub outside_pool: usize,
    /// The numbers of each file: `train`, `train_downsampling`, `valid`, `test`.
    pub splits: BTreeMap<String, PartSummary>,
    /// Repositories that gave nothing.
    pub skipped: Vec<SkippedRepository>,
}

/// One file's numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSummary {
    /// Repositories with at least one pair in it.
    pub repositories: usize,
    /// Queries with at least one pair in it.
    pub queries: usize,
    /// Pairs of label 1.
    pub positives: usize,
    /// Pairs of label 0.
    pub negatives: usize,
    /// Pairs by the candidate's kind.
    pub kinds: BTreeMap<UnitKind, KindCount>,
}

/// One kind's numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCount {
    /// Pairs of label 1.
    pub positives: usize,
    /// Pairs of label 0.
    pub negatives: usize,
}

/// A repository that gave no pairs because it could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRepository {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl PartSummary {
    pub(crate) fn count(&mut self, kind: UnitKind, label: u8) {
        let of_kind = self.kinds.entry(kind).or_default();
        if label == 1 {
            self.positives += 1;
            of_kind.positives += 1;
        } else {
            self.negatives += 1;
            of_kind.negatives += 1;
        }
    }
}
