//! Files on their way from a source into an unfinished repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hydra_core::{CoreError, RepoPath};

use crate::error::ItemError;
use crate::records::{Refusal, Skips};
use crate::{MineConfig, licence};

/// Why a single file is not taken though its repository is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skip {
    Link,
    Special,
    Submodule,
    LfsPointer,
    TooLarge,
    Binary,
    NotUtf8Name,
    UnsafeName,
    CaseCollision,
}

impl Skip {
    /// The words for it in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Special => "special file",
            Self::Submodule => "submodule",
            Self::LfsPointer => "git LFS pointer",
            Self::TooLarge => "too large",
            Self::Binary => "not text",
            Self::NotUtf8Name => "name not UTF-8",
            Self::UnsafeName => "unsafe name",
            Self::CaseCollision => "name differs from another only in case",
        }
    }
}

/// What was taken from a source into an unfinished repository.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub python: usize,
    pub files: usize,
    pub bytes: u64,
    pub version: Option<String>,
    pub licence: Option<String>,
    pub licence_file: Option<String>,
    /// The top-level folders that hold Python files, with `src/` looked through.
    pub packages: BTreeSet<String>,
    /// What was passed over.
    pub skipped: BTreeMap<String, Skips>,
    /// Files that are known to be in another repository.
    without: BTreeSet<String>,
    /// Every path that a file or folder has, in lower case, with its true spelling.
    spellings: BTreeMap<String, String>,
}

impl Taken {
    /// Leaves out the files of these paths.
    pub fn without(without: BTreeSet<String>) -> Self {
        Self {
            without,
            ..Self::default()
        }
    }

    /// Writes one file below `root`, within the limits, and notes what it tells. Whether it was
    /// written: what is no text, is a pointer to a file elsewhere, or would lie on top of another
    /// where case doesn't count is passed over.
    pub fn write(
        &mut self,
        root: &Path,
        path: &RepoPath,
        bytes: &[u8],
        config: &MineConfig,
    ) -> Result<bool, ItemError> {
        if let Some(skip) = unwanted(bytes) {
            self.skip(skip, path.as_str());
            return Ok(false);
        }
        if self.collides(path) {
            self.skip(Skip::CaseCollision, path.as_str());
            return Ok(false);
        }
        if self.without.contains(path.as_str()) {
            return Ok(false);
        }
        self.files += 1;
        self.bytes += bytes.len() as u64;
        if self.bytes > config.max_total_bytes || self.files > config.max_files {
            return Err(ItemError::refused(
                Refusal::TooLarge,
                format!(
                    "more than {} bytes or {} files",
                    config.max_total_bytes, config.max_files
                ),
            ));
        }
        let place: PathBuf = path.under(root);
        if let Some(parent) = place.parent() {
            std::fs::create_dir_all(parent).map_err(CoreError::io(parent))?;
        }
        std::fs::write(&place, bytes).map_err(CoreError::io(&place))?;
        self.note(path, bytes);
        Ok(true)
    }

    /// Notes a file that is passed over.
    pub fn skip(&mut self, reason: Skip, path: &str) {
        let skips = self.skipped.entry(reason.name().to_owned()).or_default();
        if skips.count == 0 {
            path.clone_into(&mut skips.first);
        }
        skips.count += 1;
    }

    /// Whether the file, or a folder above it, differs only in case from what is there already.
    fn collides(&mut self, path: &RepoPath) -> bool {
        let whole = path.as_str();
        let ends = whole.match_indices('/').map(|(at, _)| at);
        let ends: Vec<usize> = ends.chain([whole.len()]).collect();
        let differs = ends.iter().any(|&end| {
            self.spellings
                .get(&whole[..end].to_lowercase())
                .is_some_and(|known| known != &whole[..end])
        });
        if differs {
            return true;
        }
        for end in ends {
            self.spellings
                .insert(whole[..end].to_lowercase(), whole[..end].to_owned());
        }
        false
    }

    fn note(&mut self, path: &RepoPath, bytes: &[u8]) {
        let name = path.file_name();
        if name.ends_with(".py") {
            self.python += 1;
            let inside = path.as_str().strip_prefix("src/").unwrap_or(path.as_str());
            if let Some((top, _)) = inside.split_once('/') {
                self.packages.insert(top.to_owned());
            }
        } else if matches!(name, "METADATA" | "PKG-INFO") && self.licence.is_none() {
            let found = licence::parse(&String::from_utf8_lossy(bytes));
            self.version = found.version;
            self.licence = found.licence;
        } else if licence::is_licence_file(name) && self.licence_file.is_none() {
            self.licence_file = Some(name.to_owned());
        }
    }
}

/// Whether a file is one of Python, metadata or licence, by its name.
pub(crate) fn is_wanted(path: &RepoPath) -> bool {
    let name = path.file_name();
    name.ends_with(".py")
        || licence::is_licence_file(name)
        || matches!(
            name,
            "METADATA" | "PKG-INFO" | "pyproject.toml" | "setup.cfg"
        )
}

/// What a file's bytes say against it. A pointer's first line is fixed (git-lfs specification).
fn unwanted(bytes: &[u8]) -> Option<Skip> {
    if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        Some(Skip::LfsPointer)
    } else if bytes.contains(&0) {
        Some(Skip::Binary)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn put(files: &[(&str, &[u8])]) -> (Taken, tempfile::TempDir, Vec<bool>) {
        let root = tempfile::tempdir().unwrap();
        let mut taken = Taken::default();
        let config = MineConfig::default();
        let written = files
            .iter()
            .map(|(path, bytes)| {
                let path = RepoPath::new(*path).unwrap();
                taken.write(root.path(), &path, bytes, &config).unwrap()
            })
            .collect();
        (taken, root, written)
    }

    #[test]
    fn of_names_that_differ_in_case_the_first_stays() {
        let (taken, root, written) = put(&[
            ("pkg/mod.py", b"a = 1\n"),
            ("pkg/Mod.py", b"b = 1\n"),
            ("PKG/other.py", b"c = 1\n"),
            ("pkg/other.py", b"d = 1\n"),
        ]);
        assert_eq!(written, [true, false, false, true]);
        assert_eq!(taken.python, 2);
        let skips = &taken.skipped[Skip::CaseCollision.name()];
        assert_eq!((skips.count, skips.first.as_str()), (2, "pkg/Mod.py"));
        assert!(!root.path().join("PKG").exists());
    }

    #[test]
    fn pointers_and_binaries_are_no_sources() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
        let (taken, root, written) =
            put(&[("a.py", pointer), ("b.py", b"x = '\0'\n"), ("c.py", b"")]);
        assert_eq!(written, [false, false, true]);
        assert_eq!(taken.skipped.len(), 2);
        assert!(!root.path().join("a.py").exists());
    }
}
