//! The edges of small repositories below `tests/fixtures/edges`, each against what is written
//! above its unit:
//!
//! ```python
//! # => call helper@pkg/low.py import
//! # => none
//! ```
//!
//! A block of comments directly above a unit's first line holds one line for every edge of the
//! unit (kind, target, provenance), or `none`. A block applies to every unit that begins on the
//! line below it. Units without such a block are not checked.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use hydra_core::Silent;
use hydra_pyindex::{RepoIndex, Unit};
use serde::Serialize;

const MARK: &str = "# =>";

/// What a fixture says of the units that begin on a line.
struct Case {
    /// From 1.
    line: usize,
    edges: BTreeSet<String>,
}

/// The cases of a file, and the lines that are malformed.
fn cases(text: &str) -> (Vec<Case>, Vec<(usize, String)>) {
    let mut found = Vec::new();
    let mut wrong = Vec::new();
    let mut block = Vec::new();
    for (before, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('#') {
            if let Some(edge) = line.strip_prefix(MARK) {
                let words: Vec<_> = edge.split_whitespace().collect();
                if words.len() != 3 && words != ["none"] {
                    wrong.push((before + 1, format!("neither an edge nor `none`: {line}")));
                }
                block.push(words.join(" "));
            }
        } else if !block.is_empty() {
            let written = block.len();
            let mut edges: BTreeSet<_> = block.drain(..).collect();
            if edges.len() != written {
                wrong.push((before, "an edge is written twice".to_owned()));
            }
            if edges.remove("none") && !edges.is_empty() {
                wrong.push((before, "`none` among edges".to_owned()));
            }
            found.push(Case {
                line: before + 1,
                edges,
            });
        }
    }
    if !block.is_empty() {
        wrong.push((text.lines().count(), "nothing below the block".to_owned()));
    }
    (found, wrong)
}

/// The word of a kind or a provenance.
fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("a word");
    match value.as_str().expect("a word") {
        "self_member" => "self",
        word => word,
    }
    .to_owned()
}

fn edges(index: &RepoIndex, unit: &Unit) -> BTreeSet<String> {
    index
        .edges(&unit.id)
        .into_iter()
        .map(|edge| {
            format!(
                "{} {} {}",
                word(edge.kind),
                edge.unit,
                word(edge.provenance)
            )
        })
        .collect()
}

fn python_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            python_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "py") {
            found.push(path);
        }
    }
}

#[test]
fn every_fixture_has_the_edges_that_it_says() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/edges");
    let mut repositories: Vec<_> = std::fs::read_dir(&fixtures)
        .expect("the fixtures")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    repositories.sort();
    // By theme: cases, of which negative, of which failing.
    let mut table = String::new();
    let mut report = String::new();
    let (mut count, mut negative, mut failing) = (0, 0, 0);
    for repository in &repositories {
        let (counted, negative_before, failed_before) = (count, negative, failing);
        let theme = repository
            .file_name()
            .expect("a name")
            .display()
            .to_string();
        let index = match RepoIndex::build(repository, &Silent) {
            Ok(index) => index,
            Err(error) => {
                failing += 1;
                _ = writeln!(report, "{theme}: {error}");
                continue;
            }
        };
        for skipped in index.skipped() {
            failing += 1;
            _ = writeln!(
                report,
                "{theme}/{}: skipped: {}",
                skipped.path, skipped.reason
            );
        }
        let mut files = Vec::new();
        python_files(repository, &mut files);
        files.sort();
        for file in files {
            let path = file.strip_prefix(repository).expect("below").display();
            let path = path.to_string();
            let text = std::fs::read_to_string(&file).expect("a text");
            let (cases, wrong) = cases(&text);
            for (line, reason) in wrong {
                failing += 1;
                _ = writeln!(report, "{theme}/{path}:{line}: {reason}");
            }
            for case in cases {
                count += 1;
                negative += usize::from(case.edges.is_empty());
                // A unit's text begins with the comment above it: here, with the case itself.
                let begins = |unit: &&Unit| {
                    let comments = unit.source.lines().take_while(|l| l.starts_with('#'));
                    unit.path.as_str() == path && unit.start_line + comments.count() == case.line
                };
                let mut units = index.units().filter(begins).peekable();
                if units.peek().is_none() {
                    failing += 1;
                    _ = writeln!(report, "{theme}/{path}:{}: no unit begins here", case.line);
                }
                for unit in units {
                    let got = edges(&index, unit);
                    if got == case.edges {
                        continue;
                    }
                    failing += 1;
                    _ = writeln!(report, "{theme}/{path}:{}: {}", case.line, unit.id);
                    for edge in case.edges.difference(&got) {
                        _ = writeln!(report, "    missing  {edge}");
                    }
                    for edge in got.difference(&case.edges) {
                        _ = writeln!(report, "    extra    {edge}");
                    }
                }
            }
        }
        _ = writeln!(
            table,
            "{theme:24} {:4} {:4} {:4}",
            count - counted,
            negative - negative_before,
            failing - failed_before
        );
    }
    println!("{table}{count} cases, {negative} of them negative");
    assert!(
        failing == 0,
        "{failing} failures in {count} cases:\n{report}"
    );
    assert!(count >= 150, "only {count} cases");
    assert!(negative >= 50, "only {negative} negative cases");
}
