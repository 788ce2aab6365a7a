#![allow(clippy::unwrap_used)]
use std::collections::BTreeSet;
use std::path::PathBuf;

use hydra_core::hash;

use super::*;
use crate::{TextPair, read_pairs};

const FILES: [&str; 4] = ["train", "train_downsampling", "valid", "test"];

/// Ten repositories: in each, `run` uses two of the functions beside it, `plain` has neither a
/// docstring nor a dependency, and `told` has a docstring alone.
fn corpus(root: &Path) -> PathBuf {
    let corpus = root.join("corpus");
    for number in 0..10 {
        let folder = corpus.join(format!("repo{number}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut source = String::from(
            "LIMIT = 3\n\n\ndef plain():\n    return 1\n\n\n\
             def told():\n    \"\"\"Say “héllo” to \\\\ and /.\"\"\"\n    return 2\n\n\n\
             def run(a):\n    return plain() + told()\n",
        );
        for extra in 0..number {
            source += &format!("\n\ndef extra{extra}():\n    return {extra}\n");
        }
        std::fs::write(folder.join("m.py"), source).unwrap();
    }
    corpus
}

fn made(corpus: &Path, out: &Path, split: Split) -> PairsSummary {
    let config = PairsConfig {
        split,
        full_jsonl: true,
        ..PairsConfig::default()
    };
    build(corpus, &config, out, &Silent).unwrap()
}

fn records(out: &Path, name: &str) -> Vec<PairRecord> {
    use polars::prelude::{ParquetReader, SerReader};
    let file = std::fs::File::open(out.join(format!("{name}.parquet"))).unwrap();
    let frame = ParquetReader::new(file).finish().unwrap();
    let text = |row: usize, name: &str| {
        let column = frame.column(name).unwrap().str().unwrap();
        column.get(row).unwrap().to_owned()
    };
    let labels = frame.column("label").unwrap().i64().unwrap();
    (0..frame.height())
        .map(|row| PairRecord {
            repo: text(row, "repo"),
            query_unit: UnitId(text(row, "query_unit")),
            candidate_unit: UnitId(text(row, "candidate_unit")),
            kind: serde_json::from_value(text(row, "kind").into()).unwrap(),
            query: text(row, "query"),
            candidate: text(row, "candidate"),
            label: u8::try_from(labels.get(row).unwrap()).unwrap(),
        })
        .collect()
}

#[test]
fn queries_are_functions_with_a_docstring_or_a_dependency() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    let summary = made(&corpus, work.path(), Split::Repository);
    let mut queries = BTreeSet::new();
    let mut positives = BTreeSet::new();
    for name in ["train", "valid", "test"] {
        for pair in records(work.path(), name) {
            queries.insert(pair.query_unit.0.clone());
            if pair.label == 1 {
                positives.insert(format!("{} {}", pair.query_unit, pair.candidate_unit));
            }
            assert_ne!(pair.query_unit, pair.candidate_unit);
        }
    }
    assert_eq!(
        queries,
        ["run@m.py".to_owned(), "told@m.py".to_owned()].into()
    );
    assert_eq!(
        positives,
        [
            "run@m.py plain@m.py".to_owned(),
            "run@m.py told@m.py".to_owned()
        ]
        .into()
    );
    assert_eq!((summary.repositories, summary.outside_pool), (10, 0));
    // Two queries a repository; run@: 2 positives. 8, 1 and 1 repositories.
    let numbers = |n: &str| &summary.splits[n];
    assert_eq!(
        (numbers("train").queries, numbers("train").positives),
        (16, 16)
    );
    assert_eq!(
        (numbers("valid").queries, numbers("valid").positives),
        (2, 2)
    );
    assert_eq!(numbers("test").repositories, 1);
}

#[test]
fn no_repository_is_in_two_parts() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    made(&corpus, work.path(), Split::Repository);
    let repositories = |name| -> BTreeSet<String> {
        records(work.path(), name)
            .into_iter()
            .map(|p| p.repo)
            .collect()
    };
    let parts = ["train", "valid", "test"].map(repositories);
    assert_eq!(parts.each_ref().map(BTreeSet::len), [8, 1, 1]);
    assert!(parts[0].is_disjoint(&parts[1]));
    assert!(parts[0].is_disjoint(&parts[2]));
    assert!(parts[1].is_disjoint(&parts[2]));
}

#[test]
fn train_is_balanced_and_valid_is_not_touched() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    for split in [Split::Repository, Split::Pair] {
        let summary = made(&corpus, work.path(), split);
        let balanced = &summary.splits["train_downsampling"];
        let train = &summary.splits["train"];
        assert_eq!(balanced.positives, train.positives);
        assert_eq!(balanced.positives, balanced.negatives);
        assert!(train.negatives > train.positives);
        let whole: Vec<_> = FILES[..1]
            .iter()
            .flat_map(|n| records(work.path(), n))
            .collect();
        let kept = records(work.path(), "train_downsampling");
        assert!(kept.iter().all(|p| whole.contains(p)));
        // Candidates of told: LIMIT, plain, run, extras; of run: LIMIT, plain, told, extras.
        let all: usize = (0..10).map(|extras| 2 * (3 + extras)).sum();
        let found: usize = ["train", "valid", "test"]
            .iter()
            .map(|n| summary.splits[*n].positives + summary.splits[*n].negatives)
            .sum();
        assert_eq!(found, all);
    }
}

#[test]
fn pairs_can_be_dealt_out_singly() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    let summary = made(&corpus, work.path(), Split::Pair);
    let sizes = Part::ALL.map(|p| {
        let part = &summary.splits[p.name()];
        part.positives + part.negatives
    });
    let all: usize = sizes.iter().sum();
    assert!(
        sizes[0] > all * 7 / 10 && sizes[1] > 0 && sizes[2] > 0,
        "{sizes:?}"
    );
}

#[test]
fn the_bytes_are_the_same_whatever_the_threads() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    for split in [Split::Repository, Split::Pair] {
        let hashes = [1, 1, 4].map(|threads| {
            let out = tempfile::tempdir().unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
                .unwrap()
                .install(|| made(&corpus, out.path(), split));
            hash::sha256_folder(out.path()).unwrap()
        });
        assert_eq!(hashes[0], hashes[1]);
        assert_eq!(hashes[0], hashes[2]);
    }
}

#[test]
fn tables_and_lines_hold_the_same_pairs() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    made(&corpus, work.path(), Split::Repository);
    for name in FILES {
        let table = read_pairs(&work.path().join(format!("{name}.parquet"))).unwrap();
        let lines = read_pairs(&work.path().join(format!("{name}.jsonl"))).unwrap();
        assert!(!table.is_empty());
        assert_eq!(table, lines);
    }
}

#[test]
fn lines_are_written_as_python_writes_them() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    made(&corpus, work.path(), Split::Repository);
    let text = std::fs::read_to_string(work.path().join("train.jsonl")).unwrap();
    let line = text.lines().find(|l| l.contains("Say")).unwrap();
    // json.dumps({"text": ..., "label": 0}, ensure_ascii=False)
    assert!(
        line.starts_with("{\"text\": \"{\\\"name\\\": \\\""),
        "{line}"
    );
    assert!(line.contains("“héllo”"), "{line}");
    assert!(
        line.ends_with("\"label\": 0}") || line.ends_with("\"label\": 1}"),
        "{line}"
    );
    // A variable is its bare source (facts: the published format).
    assert!(text.contains("</s>LIMIT = 3\", \"label\": 0}"), "{text}");
}

#[test]
fn the_manifest_says_which_repositories_count() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    std::fs::write(
        corpus.join("manifest.jsonl"),
        "{\"name\":\"repo1\",\"refused\":null}\n{\"name\":\"repo2\",\"refused\":\"why\"}\n",
    )
    .unwrap();
    let summary = made(&corpus, work.path(), Split::Repository);
    assert_eq!(summary.repositories, 1);
    let repos: BTreeSet<_> = records(work.path(), "train")
        .into_iter()
        .map(|p| p.repo)
        .collect();
    assert_eq!(repos, ["repo1".to_owned()].into());
    // Nothing to validate with: the files are there, and empty.
    let empty: Vec<TextPair> = read_pairs(&work.path().join("valid.parquet")).unwrap();
    assert!(empty.is_empty());
}

#[test]
fn a_repository_without_python_is_named_and_passed_over() {
    let work = tempfile::tempdir().unwrap();
    let corpus = corpus(work.path());
    std::fs::create_dir(corpus.join("prose")).unwrap();
    std::fs::write(corpus.join("prose/README"), "text").unwrap();
    let summary = made(&corpus, work.path(), Split::Repository);
    assert_eq!(summary.skipped.len(), 1);
    assert_eq!(summary.skipped[0].name, "prose");
}

#[test]
fn an_empty_corpus_is_an_error() {
    let work = tempfile::tempdir().unwrap();
    let out = work.path().join("out");
    let error = build(work.path(), &PairsConfig::default(), &out, &Silent).unwrap_err();
    assert!(matches!(error, DatasetError::Empty { .. }), "{error}");
}

#[test]
fn a_repository_makes_up_for_the_negatives_that_an_earlier_one_lacks() {
    let work = tempfile::tempdir().unwrap();
    let corpus = work.path().join("corpus");
    let functions = |used: &[&str], unused: usize| {
        let mut source = String::new();
        for name in used {
            source += &format!("def {name}():\n    return 1\n\n\n");
        }
        for number in 0..unused {
            source += &format!("def unused{number}():\n    return 1\n\n\n");
        }
        let calls: Vec<_> = used.iter().map(|name| format!("{name}()")).collect();
        source + &format!("def run():\n    return {}\n", calls.join(" + "))
    };
    for (name, source) in [
        ("a", functions(&["g", "h"], 0)),
        ("b", functions(&["g"], 9)),
    ] {
        std::fs::create_dir_all(corpus.join(name)).unwrap();
        std::fs::write(corpus.join(name).join("m.py"), source).unwrap();
    }
    let summary = made(&corpus, work.path(), Split::Repository);
    let balanced = &summary.splits["train_downsampling"];
    assert_eq!((balanced.positives, balanced.negatives), (3, 3));
}
