//! Paths inside a repository.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A path inside a repository: parts joined by `/`, never absolute, never with `.` or `..`,
/// never empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepoPath(String);

/// Why a text is not a [`RepoPath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not a path inside a repository: {reason}")]
pub struct PathError {
    /// The text.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl RepoPath {
    /// Checks and wraps a path.
    pub fn new(path: impl Into<String>) -> Result<Self, PathError> {
        let path = path.into();
        let reason = if path.is_empty() {
            "it is empty"
        } else if path.starts_with('/') {
            "it is absolute"
        } else if path.contains('\0') {
            "it holds a NUL byte"
        } else if path.contains('\\') {
            "it holds a backslash"
        } else if path
            .split('/')
            .any(|p| p.is_empty() || p == "." || p == "..")
        {
            "a part is empty, `.` or `..`"
        } else {
            return Ok(Self(path));
        };
        Err(PathError { path, reason })
    }

    /// The path as text, parts joined by `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder that holds it, or nothing at the top.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(p, _)| Self(p.to_owned()))
    }

    /// A path below this one.
    pub fn join(&self, below: &str) -> Result<Self, PathError> {
        Self::new(format!("{}/{below}", self.0))
    }

    /// Where it lies on this machine, given the repository's root.
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for RepoPath {
    type Error = PathError;
    fn try_from(path: String) -> Result<Self, PathError> {
        Self::new(path)
    }
}

impl From<RepoPath> for String {
    fn from(path: RepoPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_out_of_the_repository_are_refused() {
        for bad in [
            "",
            "/etc/passwd",
            "a/../b",
            "..",
            "a//b",
            "./a",
            "a\\b",
            "a\0b",
        ] {
            assert!(RepoPath::new(bad).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_path_stays_below_its_root(text in "[a./\\\\]{0,12}") {
            if let Ok(path) = RepoPath::new(text) {
                let root = Path::new("/root/of/repo");
                let full = path.under(root);
                prop_assert!(full.starts_with(root));
                prop_assert!(full.components().all(|c| c != std::path::Component::ParentDir));
            }
        }
    }
}
