#![allow(clippy::unwrap_used)]
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use hydra_core::{Silent, jsonl};

use super::*;

fn repositories() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let work = tempfile::tempdir().unwrap();
    let folder = work.path().join("in");
    for (path, text) in [
        ("greeter/greet.py", "def hello():\n    return 'hello'\n"),
        ("greeter/LICENSE", "MIT License\n"),
        ("greeter/data.bin", "no source"),
        ("greeter/.hidden/x.py", "x = 1\n"),
        ("prose/README.md", "no Python here\n"),
        ("black/black.py", "def main():\n    pass\n"),
        (
            "counter/src/counter/a.py",
            "class C:\n    def m(self):\n        pass\n",
        ),
        (
            "counter/PKG-INFO",
            "Name: counter\nVersion: 2.0\nLicense: BSD-3-Clause\n",
        ),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let out = work.path().join("out");
    (work, folder, out)
}

fn config() -> MineConfig {
    MineConfig {
        benchmarks: [("repoexec".to_owned(), vec!["black".to_owned()])].into(),
        ..MineConfig::default()
    }
}

#[test]
fn each_sub_folder_with_python_is_a_repository() {
    let (_work, folder, out) = repositories();
    let summary = mine_folder(&folder, &config(), &out, &Silent).unwrap();
    assert_eq!((summary.kept, summary.refused), (2, 1));
    assert_eq!((summary.files, summary.functions), (2, 2));
    let records: Vec<Record> = jsonl::read(out.join("manifest.jsonl")).unwrap();
    let names: Vec<_> = records.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["black", "counter", "greeter"]);
    assert_eq!(
        records[0].refused.as_deref(),
        Some("overlaps repoexec: project black")
    );
    assert_eq!(records[1].licence.as_deref(), Some("BSD-3-Clause"));
    assert_eq!(records[1].version.as_deref(), Some("2.0"));
    assert_eq!(records[2].licence.as_deref(), Some("LICENSE"));
    assert!(!out.join("black").exists());
    assert!(out.join("greeter/LICENSE").exists());
    assert!(!out.join("greeter/data.bin").exists());
    assert!(!out.join("greeter/.hidden").exists());
    assert!(!out.join("manifest.partial.jsonl").exists());
}

#[test]
fn a_benchmark_project_inside_another_repository_is_refused() {
    let (_work, folder, out) = repositories();
    std::fs::create_dir_all(folder.join("fork/src/black")).unwrap();
    std::fs::write(folder.join("fork/src/black/x.py"), "x = 1\n").unwrap();
    let summary = mine_folder(&folder, &config(), &out, &Silent).unwrap();
    assert_eq!((summary.kept, summary.refused), (2, 2));
    assert!(!out.join("fork").exists());
}

#[test]
fn links_are_never_followed() {
    let (work, folder, out) = repositories();
    let secret = work.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    std::fs::write(secret.join("s.py"), "key = 1\n").unwrap();
    symlink(secret.join("s.py"), folder.join("greeter/s.py")).unwrap();
    symlink(&secret, folder.join("greeter/linked")).unwrap();
    symlink(&secret, folder.join("whole")).unwrap();
    let summary = mine_folder(&folder, &config(), &out, &Silent).unwrap();
    assert_eq!(summary.files, 2);
    assert!(!out.join("greeter/s.py").exists());
    assert!(!out.join("greeter/linked").exists());
    assert!(!out.join("whole").exists());
}

#[test]
fn a_second_run_takes_over_what_did_not_change() {
    let (_work, folder, out) = repositories();
    mine_folder(&folder, &config(), &out, &Silent).unwrap();
    let before = std::fs::read(out.join("manifest.jsonl")).unwrap();
    let summary = mine_folder(&folder, &config(), &out, &Silent).unwrap();
    assert_eq!(summary.resumed, 2);
    assert_eq!(std::fs::read(out.join("manifest.jsonl")).unwrap(), before);

    std::fs::write(folder.join("greeter/greet.py"), "x = 1\n").unwrap();
    let summary = mine_folder(&folder, &config(), &out, &Silent).unwrap();
    assert_eq!((summary.resumed, summary.functions), (1, 1));
    assert_eq!(
        std::fs::read(out.join("greeter/greet.py")).unwrap(),
        b"x = 1\n"
    );
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_manifest() {
    let (_work, folder, out) = repositories();
    mine_folder(&folder, &config(), &out, &Silent).unwrap();
    let manifest = std::fs::read_to_string(out.join("manifest.jsonl")).unwrap();
    // As a kill leaves it: some records, half a line, half a repository, no manifest.
    let second = manifest.lines().nth(1).unwrap();
    std::fs::write(
        out.join("manifest.partial.jsonl"),
        format!("{second}\n{{\"na"),
    )
    .unwrap();
    std::fs::remove_file(out.join("manifest.jsonl")).unwrap();
    std::fs::remove_dir_all(out.join("greeter")).unwrap();
    std::fs::create_dir(out.join(".hydra-mine-abc")).unwrap();
    let summary = mine_folder(&folder, &config(), &out, &Silent).unwrap();
    assert_eq!((summary.kept, summary.resumed), (2, 1));
    assert_eq!(
        std::fs::read_to_string(out.join("manifest.jsonl")).unwrap(),
        manifest
    );
    assert!(out.join("greeter/greet.py").exists());
    assert!(!out.join(".hydra-mine-abc").exists());
}

#[test]
fn large_files_and_binary_files_are_passed_over() {
    let (_work, folder, out) = repositories();
    std::fs::write(folder.join("greeter/large.py"), "x = 1\n".repeat(1000)).unwrap();
    std::fs::write(folder.join("greeter/binary.py"), b"\0\0").unwrap();
    let config = MineConfig {
        max_file_bytes: 1000,
        ..config()
    };
    let summary = mine_folder(&folder, &config, &out, &Silent).unwrap();
    assert_eq!(summary.files, 2);
}

#[test]
fn a_missing_folder_and_a_folder_without_python_are_errors() {
    let (work, _, out) = repositories();
    let missing = work.path().join("nowhere");
    let error = mine_folder(&missing, &config(), &out, &Silent).unwrap_err();
    assert!(matches!(error, MineError::NoFolder { .. }), "{error}");
    std::fs::create_dir_all(missing.join("a")).unwrap();
    std::fs::write(missing.join("a/README"), "text").unwrap();
    let error = mine_folder(&missing, &config(), &out, &Silent).unwrap_err();
    assert!(matches!(error, MineError::NoPython { .. }), "{error}");
    let error = mine_folder(&missing, &config(), &missing.join("out"), &Silent).unwrap_err();
    assert!(matches!(error, MineError::Overlap { .. }), "{error}");
}
