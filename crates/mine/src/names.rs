//! Project names and lists of them.

use std::collections::BTreeMap;
use std::path::Path;

use hydra_core::CoreError;

use crate::MineError;

/// A project at a version: a line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// The name as the list writes it.
    pub name: String,
    /// The version.
    pub version: String,
}

/// A project's name as PEP 503 compares it: lower case, runs of `-`, `_` and `.` become one `-`.
pub fn normalise(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            if !normal.ends_with('-') {
                normal.push('-');
            }
        } else {
            normal.extend(c.to_lowercase());
        }
    }
    normal
}

/// Reads a list of `name==version` lines; `#` starts a comment, blank lines are passed over. A
/// malformed line and a name that comes twice are errors with the line's number.
pub fn read_list(path: &Path) -> Result<Vec<Pin>, MineError> {
    let text = std::fs::read_to_string(path).map_err(CoreError::io(path))?;
    let mut seen = BTreeMap::new();
    let mut pins = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let bad = |message: String| MineError::List {
            path: path.to_path_buf(),
            line: number,
            message,
        };
        let pin = parse(line).ok_or_else(|| bad(format!("{line:?} is not name==version")))?;
        if let Some(first) = seen.insert(normalise(&pin.name), number) {
            return Err(bad(format!("{} is already on line {first}", pin.name)));
        }
        pins.push(pin);
    }
    Ok(pins)
}

fn parse(line: &str) -> Option<Pin> {
    let (name, version) = line.split_once("==")?;
    Pin::new(name.trim(), version.trim())
}

impl Pin {
    /// A project at a version, if both are such as an index has.
    pub fn new(name: &str, version: &str) -> Option<Self> {
        // PEP 508: letters and digits at both ends. No name can be taken for an option of pip or
        // for a path.
        let name_is_right = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.ends_with(|c: char| c.is_ascii_alphanumeric())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        // PEP 440: epoch, release, pre, post, dev and local parts.
        let version_is_right = version.starts_with(|c: char| c.is_ascii_alphanumeric())
            && version
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_.+!".contains(c));
        (name_is_right && version_is_right).then(|| Self {
            name: name.to_owned(),
            version: version.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Result<Vec<Pin>, MineError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        std::fs::write(&path, text).unwrap();
        read_list(&path)
    }

    #[test]
    fn comments_and_blank_lines_are_passed_over() {
        let pins = list("# pure Python\n\nattrs==26.1.0 # MIT\nrich == 15.0.0\n").unwrap();
        assert_eq!(pins.len(), 2);
        assert_eq!((&*pins[1].name, &*pins[1].version), ("rich", "15.0.0"));
    }

    #[test]
    fn a_malformed_line_is_named_by_number() {
        for line in [
            "rich",
            "rich>=1",
            "--index-url==x",
            "../x==1",
            "a==",
            "a==-r",
            "a b==1",
        ] {
            let error = list(&format!("attrs==1\n{line}\n"))
                .unwrap_err()
                .to_string();
            assert!(error.contains("line 2"), "{error}");
        }
    }

    #[test]
    fn a_name_that_comes_twice_is_an_error() {
        let error = list("Jinja2==1\nrich==2\njinja2==3\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 3") && error.contains("line 1"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn normalising_twice_is_normalising_once(name in "[A-Za-z0-9._-]{1,12}") {
            let once = normalise(&name);
            prop_assert_eq!(normalise(&once), once.clone());
            prop_assert!(!once.contains("--") && !once.contains('_') && !once.contains('.'));
        }
    }
}
