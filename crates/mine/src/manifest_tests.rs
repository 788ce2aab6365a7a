#![allow(clippy::unwrap_used)]
use std::io::Write;

use hydra_core::Silent;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;
use crate::mine_wheels;

/// A cache with one wheel, and the corpus that is mined from it.
fn corpus() -> (TempDir, MineConfig) {
    let work = tempfile::tempdir().unwrap();
    let config = MineConfig {
        cache: work.path().join("cache"),
        // Nothing must be fetched: what is asked for lies in the cache.
        python: work.path().join("no-python"),
        attempts: 1,
        benchmarks: [("deveval".to_owned(), vec!["boltons".to_owned()])].into(),
        ..MineConfig::default()
    };
    std::fs::create_dir(&config.cache).unwrap();
    write_wheel(&work.path().join("cache/alpha-1.0-py3-none-any.whl"), "1");
    let list = work.path().join("list.txt");
    std::fs::write(&list, "boltons==23.0.0\nalpha==1.0\n").unwrap();
    let summary = mine_wheels(&list, &config, &work.path().join("mined"), &Silent).unwrap();
    assert_eq!((summary.kept, summary.refused), (1, 1));
    (work, config)
}

fn write_wheel(path: &Path, value: &str) {
    let mut writer = ZipWriter::new(std::fs::File::create(path).unwrap());
    writer
        .start_file("alpha/__init__.py", SimpleFileOptions::default())
        .unwrap();
    writeln!(writer, "def f():\n    return {value}").unwrap();
    writer.finish().unwrap();
}

fn rebuild(work: &Path, manifest: &Path, config: &MineConfig) -> Result<MineSummary, MineError> {
    let github = GithubConfig::default();
    mine_manifest(manifest, &github, config, &work.join("again"), &Silent)
}

#[test]
fn wheels_are_rebuilt_with_the_same_manifest_and_files() {
    let (work, config) = corpus();
    let manifest = work.path().join("mined/manifest.jsonl");
    let summary = rebuild(work.path(), &manifest, &config).unwrap();
    assert_eq!((summary.kept, summary.refused), (1, 1));
    let read = |path: &str| std::fs::read(work.path().join(path)).unwrap();
    assert_eq!(read("again/manifest.jsonl"), read("mined/manifest.jsonl"));
    assert_eq!(
        read("again/alpha/alpha/__init__.py"),
        read("mined/alpha/alpha/__init__.py")
    );
    let summary = rebuild(work.path(), &manifest, &config).unwrap();
    assert_eq!(summary.resumed, 1);
}

#[test]
fn another_wheel_under_the_same_name_is_not_taken() {
    let (work, config) = corpus();
    write_wheel(&work.path().join("cache/alpha-1.0-py3-none-any.whl"), "2");
    let manifest = work.path().join("mined/manifest.jsonl");
    let summary = rebuild(work.path(), &manifest, &config).unwrap();
    assert_eq!(summary.kept, 0);
    assert_eq!(summary.failed[0].name, "alpha");
    assert!(
        summary.failed[0].reason.contains("hash"),
        "{:?}",
        summary.failed
    );
    assert!(!work.path().join("again/alpha").exists());
}

#[test]
fn what_can_not_be_fetched_again_is_an_error_before_any_work() {
    let (work, config) = corpus();
    let manifest = work.path().join("bad.jsonl");
    let whole = std::fs::read_to_string(work.path().join("mined/manifest.jsonl")).unwrap();
    let line = whole.lines().next().unwrap();
    for (from, to, word) in [
        ("alpha-1.0-py3-none-any.whl", "folder", "folder"),
        (
            r#""name":"alpha""#,
            r#""name":"../alpha""#,
            "name of a folder",
        ),
        (
            r#""name":"alpha""#,
            r#""name":".hydra-mine-x""#,
            "name of a folder",
        ),
        (
            r#""version":"1.0""#,
            r#""version":"--index-url""#,
            "version",
        ),
    ] {
        let text = line.replace(from, to);
        assert_ne!(text, line);
        std::fs::write(&manifest, text + "\n").unwrap();
        let error = rebuild(work.path(), &manifest, &config)
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 1") && error.contains(word), "{error}");
    }
    std::fs::write(&manifest, format!("{line}\n{line}\n")).unwrap();
    let error = rebuild(work.path(), &manifest, &config)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2") && error.contains("twice"),
        "{error}"
    );
    assert!(!work.path().join("again").exists());
}
