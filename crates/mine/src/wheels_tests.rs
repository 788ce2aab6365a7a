#![allow(clippy::unwrap_used)]
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::sync::{MutexGuard, PoisonError};

use hydra_core::{Silent, jsonl};
use zip::write::{SimpleFileOptions, ZipWriter};

use super::*;

fn write_wheel(path: &Path, files: &[(&str, &str)]) {
    let mut writer = ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, text) in files {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
}

/// A child that another test starts while a script is being written holds the script open for a
/// moment, and the system then refuses to run it ("text file busy"): one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A folder with a list and a program that stands in for Python: it counts its calls, copies a
/// wheel that lies in `index/`, and fails as pip does where there is none.
fn setting(list: &str) -> (tempfile::TempDir, MineConfig, MutexGuard<'static, ()>) {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let work = tempfile::tempdir().unwrap();
    let root = work.path();
    std::fs::create_dir(root.join("index")).unwrap();
    std::fs::write(root.join("list.txt"), list).unwrap();
    let script = format!(
        "#!/bin/sh\necho x >> {root}/calls\nfor last; do :; done\n\
         while [ \"$1\" != -d ]; do shift; done\n\
         cp {root}/index/${{last%%==*}}-*.whl \"$2\" 2>/dev/null && exit 0\n\
         echo 'ERROR: connection reset' >&2\nexit 1\n",
        root = root.display()
    );
    let python = root.join("python");
    std::fs::write(&python, script).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let config = MineConfig {
        python,
        cache: root.join("cache"),
        attempts: 2,
        benchmarks: [("deveval".to_owned(), vec!["boltons".to_owned()])].into(),
        ..MineConfig::default()
    };
    (work, config, alone)
}

fn calls(work: &tempfile::TempDir) -> usize {
    std::fs::read_to_string(work.path().join("calls")).map_or(0, |t| t.lines().count())
}

#[test]
fn a_failed_item_is_reported_and_the_rest_goes_on() {
    let (work, config, _alone) = setting("gone==1.0\nBoltons==23.0.0\nalpha==1.0 # MIT\nevil==1\n");
    let index = work.path().join("index");
    write_wheel(
        &index.join("alpha-1.0-py3-none-any.whl"),
        &[
            ("alpha/__init__.py", "def f():\n    pass\n"),
            ("alpha-1.0.dist-info/METADATA", "License-Expression: MIT\n"),
        ],
    );
    write_wheel(
        &index.join("evil-1-py3-none-any.whl"),
        &[("../evil.py", "x = 1\n")],
    );
    let out = work.path().join("out");
    let list = work.path().join("list.txt");
    let summary = mine_wheels(&list, &config, &out, &Silent).unwrap();
    assert_eq!((summary.kept, summary.refused), (1, 2));
    assert_eq!(summary.failed.len(), 1);
    assert_eq!(summary.failed[0].name, "gone");
    assert!(
        summary.failed[0]
            .reason
            .contains("connection reset (2 attempts)")
    );
    // Two tries for the one that is gone, one for each that is there, none for the refused name.
    assert_eq!(calls(&work), 4);

    let records: Vec<Record> = jsonl::read(out.join("manifest.jsonl")).unwrap();
    let names: Vec<_> = records.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["alpha", "boltons", "evil"]);
    assert_eq!(records[0].licence.as_deref(), Some("MIT"));
    assert_eq!((records[0].files, records[0].functions), (1, 1));
    assert_eq!(records[0].source, "alpha-1.0-py3-none-any.whl");
    let reason = records[2].refused.as_deref().unwrap();
    assert!(reason.starts_with("unsafe archive"), "{reason}");
    assert!(!work.path().join("evil.py").exists());
}

#[test]
fn a_wheel_in_the_cache_is_not_fetched_again() {
    let (work, config, _alone) = setting("al-pha==1.0\n");
    std::fs::create_dir(&config.cache).unwrap();
    write_wheel(
        &config.cache.join("al_pha-1.0-py3-none-any.whl"),
        &[("a.py", "x = 1\n")],
    );
    let list = work.path().join("list.txt");
    let out = work.path().join("out");
    let first = mine_wheels(&list, &config, &out, &Silent).unwrap();
    let manifest = std::fs::read(out.join("manifest.jsonl")).unwrap();
    let second = mine_wheels(&list, &config, &out, &Silent).unwrap();
    assert_eq!((first.kept, first.resumed), (1, 0));
    assert_eq!((second.kept, second.resumed), (1, 1));
    assert_eq!(calls(&work), 0);
    assert_eq!(std::fs::read(out.join("manifest.jsonl")).unwrap(), manifest);
}

#[test]
fn a_wheel_without_python_is_refused() {
    let (work, config, _alone) = setting("empty==1\n");
    write_wheel(
        &work.path().join("index/empty-1-py3-none-any.whl"),
        &[("empty-1.dist-info/METADATA", "Version: 1\n")],
    );
    let out = work.path().join("out");
    let summary = mine_wheels(&work.path().join("list.txt"), &config, &out, &Silent).unwrap();
    assert_eq!((summary.kept, summary.refused), (0, 1));
}

#[test]
fn a_pip_that_hangs_is_ended() {
    let (work, mut config, _alone) = setting("slow==1\n");
    std::fs::write(&config.python, "#!/bin/sh\nexec sleep 60\n").unwrap();
    config.download_timeout_s = 0;
    config.attempts = 1;
    let out = work.path().join("out");
    let summary = mine_wheels(&work.path().join("list.txt"), &config, &out, &Silent).unwrap();
    assert!(summary.failed[0].reason.contains("took more than 0 s"));
}

/// The names of the benchmarks as the development data holds them.
#[test]
fn the_configured_names_are_those_of_the_benchmarks() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = workspace.join("../shared/data");
    if !data.exists() {
        println!("skipped: {} is absent", data.display());
        return;
    }
    let text = std::fs::read_to_string(workspace.join("configs/benchmark-projects.toml")).unwrap();
    // The file is plain enough: every name is alone on its line, in quotes.
    let mut config = MineConfig::default();
    let names = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix('"')?.strip_suffix("\","));
    let names: Vec<_> = names.map(str::to_owned).collect();
    assert_eq!(names.len(), 23 + 115);
    config.benchmarks.insert("all".to_owned(), names);

    let projects = std::fs::read(data.join("repoexec/projects.json")).unwrap();
    let projects: Vec<serde_json::Value> = serde_json::from_slice(&projects).unwrap();
    for project in projects {
        let name = project["package"].as_str().unwrap();
        assert!(config.overlap(name).is_some(), "{name}");
    }
    let tasks: Vec<serde_json::Value> =
        jsonl::read(data.join("deveval/data_upstream.jsonl")).unwrap();
    for task in tasks {
        let name = task["project_path"]
            .as_str()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap();
        assert!(config.overlap(name).is_some(), "{name}");
    }
    for pin in read_list(&data.join("corpora/wheels-148.txt")).unwrap() {
        assert_eq!(config.overlap(&pin.name), None);
    }
}
