#![allow(clippy::unwrap_used)]
use hydra_core::{RepoPath, Silent};

use super::*;

/// A file of functions that no other `topic` has.
fn module(topic: &str) -> String {
    (1..=12)
        .map(|n| {
            format!("def {topic}_{n}(rows):\n    return [row.{topic} + {n} for row in rows]\n")
        })
        .collect()
}

fn gather(staging: &mut Staging<'_>, name: &str, files: &[(&str, String)]) {
    if staging.resume(name, |_| true) {
        return;
    }
    let folder = staging.gathered.unfinished().unwrap();
    let mut taken = Taken::default();
    for (path, text) in files {
        let path = RepoPath::new(*path).unwrap();
        let config = MineConfig::default();
        taken
            .write(folder.path(), &path, text.as_bytes(), &config)
            .unwrap();
    }
    let record = Record {
        name: name.to_owned(),
        source: "test".to_owned(),
        ..Record::default()
    };
    staging
        .finish(record, Ok((folder, taken)), &Silent)
        .unwrap();
}

fn everything() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    vec![
        (
            "a",
            vec![("core.py", module("x")), ("LICENSE", "MIT".to_owned())],
        ),
        (
            "b",
            vec![("pkg/core.py", module("x")), ("pkg/own.py", module("y"))],
        ),
        ("c", vec![("core.py", module("x"))]),
    ]
}

fn run(out: &Path, upto: usize, close: bool) -> Option<MineSummary> {
    let config = MineConfig::default();
    let mut staging = Staging::open(out, &config).unwrap();
    for (name, files) in everything().iter().take(upto) {
        gather(&mut staging, name, files);
    }
    close.then(|| staging.close(&Silent).unwrap())
}

#[test]
fn duplicates_are_left_out_with_their_survivors_named() {
    let out = tempfile::tempdir().unwrap();
    let summary = run(out.path(), 3, true).unwrap();
    assert_eq!((summary.kept, summary.refused, summary.dropped), (2, 1, 1));
    let records: Vec<Record> = jsonl::read(out.path().join("manifest.jsonl")).unwrap();
    assert_eq!(records[1].dropped[0].survivor, "a/core.py");
    assert_eq!((records[1].files, records[1].functions), (1, 12));
    assert_eq!(
        records[1].sha256,
        Some(hash::sha256_folder(out.path().join("b")).unwrap())
    );
    assert_eq!(records[2].survivor.as_deref(), Some("a"));
    assert_eq!(records[2].refusal, Some(Refusal::NearDuplicate));
    assert!(!out.path().join("b/pkg/core.py").exists() && !out.path().join("c").exists());
    assert!(!out.path().join(STAGED).exists());
}

#[test]
fn a_run_in_pieces_ends_like_one_in_one_piece() {
    let (whole, pieces) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(whole.path(), 3, true);
    run(pieces.path(), 1, false);
    run(pieces.path(), 2, false);
    let summary = run(pieces.path(), 3, true).unwrap();
    assert_eq!(summary.resumed, 2);
    assert_eq!(
        hash::sha256_folder(whole.path()).unwrap(),
        hash::sha256_folder(pieces.path()).unwrap()
    );
}

#[test]
fn a_finished_run_is_known_and_a_lost_repository_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    assert_eq!(Staging::finished(out.path()).unwrap(), None);
    run(out.path(), 3, true);
    assert_eq!(Staging::finished(out.path()).unwrap().unwrap().kept, 2);
    std::fs::remove_dir_all(out.path().join("a")).unwrap();
    let error = Staging::finished(out.path()).unwrap_err().to_string();
    assert!(error.contains("--from-manifest"), "{error}");
}
