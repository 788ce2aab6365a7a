//! What both fuzz targets share: a repository out of any bytes, and what must hold of its index.

use std::collections::HashSet;

use hydra_core::RepoPath;
use hydra_pyindex::{Options, Parser, RepoIndex, Unit};

/// The files that the parts of an input become.
const PATHS: [&str; 3] = ["a.py", "pkg/__init__.py", "pkg/b.py"];
/// Between two files; it is never part of UTF-8, so that any Python file is an input.
const BETWEEN: u8 = 0xff;

/// Up to three files; what is not UTF-8 is replaced.
pub fn files(data: &[u8]) -> Vec<(RepoPath, String)> {
    let texts = data.splitn(PATHS.len(), |byte| *byte == BETWEEN);
    let texts = texts.map(|text| String::from_utf8_lossy(text).into_owned());
    let paths = PATHS.map(|path| RepoPath::new(path).expect("a path"));
    paths.into_iter().zip(texts).collect()
}

/// The index of these files.
pub fn index(files: &[(RepoPath, String)], parser: Parser) -> RepoIndex {
    let options = Options {
        parser,
        jobs: 1,
        ..Options::default()
    };
    RepoIndex::from_sources_with(files.iter().cloned(), &options).expect("threads")
}

/// Asks everything of an index, and checks the answers against the texts.
pub fn check(index: &RepoIndex) {
    let mut ids = HashSet::new();
    for unit in index.units() {
        assert!(ids.insert(&unit.id), "{} twice", unit.id);
        assert_eq!(index.unit(&unit.id), Some(unit));
        check_unit(index, unit);
    }
    for path in index.files() {
        let _ = (
            index.imports(path),
            index.imported_files(path),
            index.import_statements(path),
        );
    }
}

fn check_unit(index: &RepoIndex, unit: &Unit) {
    let text = index.text(&unit.path).expect("its file is in the index");
    let slice = text.get(unit.start_byte..unit.end_byte);
    let slice = slice.expect("a span lies on boundaries of characters");
    assert!(!slice.is_empty(), "{} has no text", unit.id);
    let line = |at: usize| {
        1 + text.as_bytes()[..at]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
    };
    assert_eq!(unit.start_line, line(unit.start_byte), "{}", unit.id);
    assert_eq!(unit.end_line, line(unit.end_byte - 1), "{}", unit.id);
    assert!((unit.start_line..=unit.end_line).contains(&unit.head_line));
    assert_eq!(without_margins(slice), without_margins(&unit.source));
    for edge in index.edges(&unit.id) {
        assert!(
            index.unit(&edge.unit).is_some(),
            "{} is not there",
            edge.unit
        );
        assert!((1..=line(text.len())).contains(&edge.line), "{}", unit.id);
    }
    for other in index.pool(&unit.id) {
        assert_ne!(other.id, unit.id, "a function among its own candidates");
    }
}

fn without_margins(text: &str) -> Vec<&str> {
    text.split('\n')
        .map(|line| line.trim_start_matches([' ', '\t']))
        .collect()
}
