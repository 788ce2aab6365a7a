//! Figures that others published, as data.

use std::collections::BTreeMap;
use std::path::Path;

use hydra_core::{CoreError, read_json};
use serde::{Deserialize, Serialize};

use crate::ReportError;

/// A row of somebody else's results. A file of `results/reference` is a list of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Where the figures are from.
    pub source: String,
    /// The benchmark.
    pub benchmark: String,
    /// What the generator was shown.
    pub retriever: String,
    /// The generator.
    pub generator: String,
    /// Tasks scored.
    pub tasks: usize,
    /// Answers a task.
    pub samples: usize,
    /// pass@k by k.
    pub pass_at: BTreeMap<usize, f64>,
    /// The dependency invocation rate.
    pub dir: Option<f64>,
}

/// The rows of all `*.json` files of a folder, in the order of the files' names; none if there is
/// no such folder.
///
/// # Errors
/// A file that can't be read or isn't a list of [`Published`], with its name.
pub fn published(folder: &Path) -> Result<Vec<Published>, ReportError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(CoreError::io(folder))? {
        let path = entry.map_err(CoreError::io(folder))?.path();
        if path.extension().is_some_and(|e| e == "json") {
            files.push(path);
        }
    }
    files.sort();
    let mut rows = Vec::new();
    for path in files {
        rows.extend(read_json::<Vec<Published>>(path)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_references_of_the_repository_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/reference");
        let rows = published(&folder).unwrap();
        let phi2 = rows.iter().find(|r| r.generator == "phi-2").unwrap();
        assert_eq!(phi2.pass_at[&1], 0.19042);
        assert_eq!(phi2.dir, Some(0.48133));
    }

    #[test]
    fn a_broken_file_is_named_and_a_missing_folder_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(published(&folder.path().join("none")).unwrap().is_empty());
        std::fs::write(folder.path().join("bad.json"), "{").unwrap();
        let error = published(folder.path()).unwrap_err();
        assert!(error.to_string().contains("bad.json"), "{error}");
    }
}
