//! What may enter a corpus, and how it is fetched.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::decontaminate::Solutions;
use crate::dedup::DedupConfig;
use crate::names::normalise;

/// Project names by benchmark, as `configs/benchmark-projects.toml` holds them.
pub type BenchmarkProjects = BTreeMap<String, Vec<String>>;

/// The settings of a mining run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MineConfig {
    /// The Python whose pip fetches wheels.
    pub python: PathBuf,
    /// Where wheels are kept between runs.
    pub cache: PathBuf,
    /// How often a download is tried before it counts as failed.
    pub attempts: usize,
    /// Seconds that one try may take.
    pub download_timeout_s: u64,
    /// Downloads at the same time.
    pub jobs: usize,
    /// The largest file that is taken, in bytes.
    pub max_file_bytes: u64,
    /// The most that one repository may hold, in bytes.
    pub max_total_bytes: u64,
    /// The most files that one repository may hold.
    pub max_files: usize,
    /// The highest ratio of plain to packed size inside an archive; text packs 3 to 10 times.
    pub max_ratio: u64,
    /// The fewest Python files of a repository (the paper takes 5 and more from GitHub).
    pub minimum_files: usize,
    /// Projects that must not enter a corpus, by the benchmark that they belong to.
    pub benchmarks: BenchmarkProjects,
    /// Solutions that must not be in a corpus.
    #[serde(skip)]
    pub solutions: Solutions,
    /// When code of different repositories counts as the same.
    pub dedup: DedupConfig,
}

impl Default for MineConfig {
    fn default() -> Self {
        Self {
            python: PathBuf::from("python3"),
            cache: PathBuf::from("datasets/cache/wheels"),
            attempts: 3,
            download_timeout_s: 300,
            jobs: 4,
            max_file_bytes: 8 << 20,
            max_total_bytes: 512 << 20,
            max_files: 50_000,
            max_ratio: 200,
            minimum_files: 1,
            benchmarks: BenchmarkProjects::new(),
            solutions: Solutions::default(),
            dedup: DedupConfig::default(),
        }
    }
}

impl MineConfig {
    /// Why a project of this name is refused, if it is.
    pub(crate) fn overlap(&self, name: &str) -> Option<String> {
        let name = normalise(name);
        self.benchmarks.iter().find_map(|(benchmark, projects)| {
            projects
                .iter()
                .any(|p| normalise(p) == name)
                .then(|| format!("overlaps {benchmark}: project {name}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_refused_in_every_spelling() {
        let config = MineConfig {
            benchmarks: [("repoexec".to_owned(), vec!["dataclasses-json".to_owned()])].into(),
            ..MineConfig::default()
        };
        for spelling in ["dataclasses-json", "Dataclasses_JSON", "dataclasses.json"] {
            assert_eq!(
                config.overlap(spelling).as_deref(),
                Some("overlaps repoexec: project dataclasses-json")
            );
        }
        assert_eq!(config.overlap("dataclasses"), None);
    }
}
