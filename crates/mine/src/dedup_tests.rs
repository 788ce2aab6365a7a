#![allow(clippy::unwrap_used)]
use hydra_core::Silent;

use super::*;
use crate::records::GithubPin;

/// A file of 20 functions that no other `topic` has.
fn module(topic: &str) -> String {
    let function = |n| {
        format!(
            "def {topic}_{n}(rows, limit={n}):\n    found = [row for row in rows if row.{topic} > limit]\n    return sorted(found)[:{n}]\n"
        )
    };
    (1..=20).map(function).collect()
}

struct Repository {
    name: &'static str,
    stars: u64,
    files: Vec<(&'static str, String)>,
}

fn fates(repositories: &[Repository]) -> BTreeMap<String, Fate> {
    let root = tempfile::tempdir().unwrap();
    let records: Vec<Record> = repositories
        .iter()
        .map(|repository| {
            for (path, text) in &repository.files {
                let place = root.path().join(repository.name).join(path);
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                std::fs::write(place, text).unwrap();
            }
            Record {
                name: repository.name.to_owned(),
                github: Some(GithubPin {
                    id: 1,
                    full_name: repository.name.to_owned(),
                    commit: None,
                    stars: repository.stars,
                    forks: 0,
                    created_at: "2020-01-01T00:00:00Z".to_owned(),
                }),
                ..Record::default()
            }
        })
        .collect();
    let folder = |record: &Record| root.path().join(&record.name);
    plan(records.iter(), folder, &DedupConfig::default(), &Silent).unwrap()
}

fn dropped(fate: &Fate) -> Vec<(&str, &str)> {
    let pair = |d: &'_ Dropped| -> (&'static str, &'static str) {
        (
            Box::leak(d.path.clone().into_boxed_str()),
            Box::leak(d.survivor.clone().into_boxed_str()),
        )
    };
    fate.dropped.iter().map(pair).collect()
}

#[test]
fn a_copied_file_stays_where_the_stars_are() {
    let small = Repository {
        name: "a__small",
        stars: 10,
        files: vec![
            (
                "vendored.py",
                module("alpha").replace(
                    "    return",
                    "    # copy
    return",
                ),
            ),
            ("own.py", module("beta")),
            ("more.py", module("gamma")),
        ],
    };
    let big = Repository {
        name: "b__big",
        stars: 900,
        files: vec![
            ("lib/core.py", module("alpha")),
            ("lib/x.py", module("delta")),
        ],
    };
    let fates = fates(&[small, big]);
    assert_eq!(fates["b__big"], Fate::default());
    assert_eq!(fates["a__small"].near_duplicate, None);
    assert_eq!(
        dropped(&fates["a__small"]),
        [("vendored.py", "b__big/lib/core.py")]
    );
}

#[test]
fn a_repository_that_is_mostly_a_copy_is_refused_and_its_own_files_count_for_nobody() {
    let original = Repository {
        name: "o__original",
        stars: 50,
        files: ["one", "two", "three"]
            .map(|t| (t, module(t)))
            .map(|(t, m)| (leak(t), m))
            .to_vec(),
    };
    let mut copied = original.files.clone();
    // A few edits: still nearly the same.
    copied[0].1 = copied[0].1.replace("one_7", "first_7");
    copied.push(("extra.py", module("four")));
    let copy = Repository {
        name: "c__copy",
        stars: 40,
        files: copied,
    };
    let third = Repository {
        name: "t__third",
        stars: 30,
        files: vec![("four.py", module("four")), ("five.py", module("five"))],
    };
    let fates = fates(&[copy, third, original]);
    assert_eq!(
        fates["c__copy"].near_duplicate,
        Some(("o__original".to_owned(), 3, 4))
    );
    assert_eq!(fates["t__third"], Fate::default());
}

fn leak(topic: &str) -> &'static str {
    Box::leak(format!("{topic}.py").into_boxed_str())
}

#[test]
fn short_files_and_files_of_one_repository_are_not_compared() {
    let short = "from .core import *\n__version__ = '1'\n";
    let one = Repository {
        name: "one",
        stars: 1,
        files: vec![
            ("__init__.py", short.to_owned()),
            ("a.py", module("same")),
            ("b.py", module("same")),
        ],
    };
    let two = Repository {
        name: "two",
        stars: 1,
        files: vec![("__init__.py", short.to_owned()), ("c.py", module("other"))],
    };
    let fates = fates(&[one, two]);
    assert!(
        fates.values().all(|fate| *fate == Fate::default()),
        "{fates:?}"
    );
}
