//! The binary itself, as a user meets it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("crates/cli lies two folders below the workspace")
        .to_path_buf()
}

fn hydra(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("hydra"));
    command.current_dir(root()).arg("--quiet").args(args);
    command
}

fn run(args: &[&str]) -> Output {
    hydra(args).output().expect("the binary starts")
}

/// The command must fail with a message that holds every one of `words`.
fn refuses(args: &[&str], words: &[&str]) {
    let output = run(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{args:?}: {word:?} is not in {text}");
    }
    assert_eq!(text.trim_end().lines().count(), 1, "{args:?}: {text}");
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, text).expect("written");
    }
}

/// `count` repositories of two files, in which each function uses another file's.
fn repositories(folder: &Folder, count: usize) {
    for n in 0..count {
        let low: String = (0..40)
            .map(|i| format!("def low_{i}(x):\n    \"\"\"Add {i} and {n}.\"\"\"\n    return x + {i} + {n}\n\n"))
            .collect();
        let high: String = (0..40)
            .map(|i| format!("def high_{i}(x):\n    \"\"\"Twice low {i}.\"\"\"\n    return low.low_{i}(x) * 2\n\n"))
            .collect();
        folder.write(&format!("repos/r{n}/p/__init__.py"), "");
        folder.write(&format!("repos/r{n}/p/low.py"), &low);
        folder.write(
            &format!("repos/r{n}/p/high.py"),
            &format!("from . import low\n\n{high}"),
        );
    }
}

#[test]
fn wrong_inputs_are_refused_with_the_place_and_the_reason() {
    let folder = Folder::new();
    folder.write("empty/readme.txt", "");
    folder.write("bad.toml", "[mine]\npithon = \"x\"\n");
    let at = |name: &str| folder.at(name);
    refuses(&["index", &at("nowhere")], &["nowhere"]);
    refuses(&["index", &at("empty")], &["empty", "no Python"]);
    refuses(&["pairs", &at("nowhere"), "--out", &at("p")], &["nowhere"]);
    refuses(
        &["mine", "--from", &at("nowhere"), "--out", &at("m")],
        &["nowhere"],
    );
    refuses(&["--config", &at("no.toml"), "doctor"], &["no.toml"]);
    refuses(
        &["--config", &at("bad.toml"), "doctor"],
        &["bad.toml", "pithon"],
    );
    folder.write("list.txt", "# a comment\nattrs==1.0\nno version here\n");
    refuses(
        &[
            "mine",
            "--source",
            "wheels",
            "--list",
            &at("list.txt"),
            "--out",
            &at("w"),
        ],
        &["list.txt", "line 3"],
    );
}

/// A benchmark of one task in RepoExec's schema.
fn benchmark(folder: &Folder) {
    let solution = "def twice(x):\n    \"\"\"Twice x.\"\"\"\n    return scale(x, 2)";
    let low = "def scale(x, by):\n    return x * by\n";
    folder.write("projects/demo/demo/__init__.py", "");
    folder.write("projects/demo/demo/low.py", low);
    folder.write(
        "projects/demo/demo/high.py",
        &format!("from .low import scale\n\n{solution}\n"),
    );
    let record = serde_json::json!({
        "task_id": 3, "project": "demo", "module": "demo.high", "entry_point": "twice",
        "function_signature": "def twice(x):", "docstring": "Twice x.",
        "target_function_prompt": "def twice(x):\n    \"\"\"Twice x.\"\"\"",
        "solution": solution,
        "check": format!("import sys\nsys.path.insert(1, '/input/demo')\nfrom demo.low import scale\n{solution}\nassert twice(4) == 8\n"),
        "dependencies": [{"name": "scale", "kind": "function", "file": "demo/low.py"}],
    });
    folder.write("tasks.jsonl", &format!("{record}\n"));
}

#[test]
fn eval_goes_from_tasks_to_figures_and_names_what_is_wrong() {
    let folder = Folder::new();
    benchmark(&folder);
    let at = |name: &str| folder.at(name);
    let (tasks, projects) = (at("tasks.jsonl"), at("projects"));
    let eval = [
        "--json",
        "eval",
        "demo",
        "--tasks",
        &tasks,
        "--projects",
        &projects,
    ];
    let with = |more: &[&str]| [&eval[..], more].concat().join("\n");
    let call = |line: String| run(&line.split('\n').collect::<Vec<_>>());
    let output = call(with(&["--retriever", "bm25", "--out", &at("gold")]));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["pass_at"]["1"], 1.0);
    assert_eq!(value["retrieval"]["function"]["recall"], 1.0);

    folder.write(
        "recorded.jsonl",
        "{\"task_id\": 3, \"generation\": \"return x\"}\n{\"task_id\": 3, \"generation\": \"return scale(x, 2)\"}\n",
    );
    let recorded = at("recorded.jsonl");
    let replay = [
        "--generator",
        "replay",
        "--replay",
        &recorded,
        "-n",
        "2",
        "--out",
    ];
    let replayed = call(with(&[&replay[..], &[&at("replay")]].concat()));
    let value: serde_json::Value = serde_json::from_slice(&replayed.stdout).expect("JSON");
    assert_eq!(value["pass_at"]["1"], 0.5);
    assert_eq!(value["exceptions"]["AssertionError"], 1);

    let refused = |more: &[&str], words: &[&str]| {
        let line = with(more);
        refuses(&line.split('\n').collect::<Vec<_>>(), words);
    };
    refused(&["--only", "9", "--out", &at("e1")], &["--only 9"]);
    refused(
        &["--python", &at("nowhere"), "--out", &at("e2")],
        &["nowhere", "Python"],
    );
    let openai = [
        "--generator",
        "openai",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
    ];
    refused(
        &[&openai[..], &["--out", &at("e3")]].concat(),
        &["127.0.0.1:9"],
    );
    folder.write("tasks.jsonl", "{\"task_id\": 3}\n");
    refused(&["--out", &at("e4")], &["tasks.jsonl", "line 1"]);
}

#[test]
fn index_prints_json_for_scripts() {
    let folder = Folder::new();
    repositories(&folder, 1);
    let output = run(&["--json", "index", &folder.at("repos/r0")]);
    assert!(output.status.success());
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["files"], 3);
    assert_eq!(value["units"]["function"], 80);
    assert_eq!(value["dependencies"], 40);
}

#[test]
fn mine_and_pairs_survive_kills_with_the_same_bytes() {
    let folder = Folder::new();
    repositories(&folder, 12);
    folder.write("repos/scrapy/scrapy/__init__.py", "x = 1\n");
    let stages = |out: &str| {
        let corpus = folder.at(&format!("{out}/corpus"));
        let mine = vec!["mine".to_owned(), "--from".to_owned(), folder.at("repos")];
        let pairs = vec!["pairs".to_owned(), corpus.clone()];
        [(mine, corpus), (pairs, folder.at(&format!("{out}/pairs")))]
    };
    let command = |(args, out): &(Vec<String>, String)| {
        let mut all: Vec<&str> = args.iter().map(String::as_str).collect();
        all.extend(["--out", out]);
        hydra(&all)
    };
    for stage in &stages("straight") {
        let output = command(stage).output().expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
    }
    for stage in &stages("killed") {
        for milliseconds in [5, 20, 60, 150] {
            let mut killed = command(stage);
            let child = killed.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let mut child = child.expect("the binary starts");
            std::thread::sleep(Duration::from_millis(milliseconds));
            child.kill().expect("SIGKILL is sent");
            child.wait().expect("it ends");
        }
        let output = command(stage).output().expect("the binary starts");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
    }
    for part in ["corpus", "pairs"] {
        let left: Vec<_> = std::fs::read_dir(folder.at(&format!("killed/{part}")))
            .expect("a folder")
            .filter_map(|e| e.ok()?.file_name().into_string().ok())
            .filter(|name| name.starts_with(".hydra"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
    }
    let mut names = vec![
        "corpus/manifest.jsonl".to_owned(),
        "pairs/summary.json".to_owned(),
    ];
    for split in ["train", "train_downsampling", "valid", "test"] {
        names.extend(["parquet", "jsonl"].map(|end| format!("pairs/{split}.{end}")));
    }
    names.retain(|name| name != "pairs/train.jsonl");
    for name in names {
        let read = |out: &str| std::fs::read(folder.at(&format!("{out}/{name}"))).expect("there");
        assert!(
            read("straight") == read("killed"),
            "{name} differs after kills"
        );
    }
    let manifest =
        std::fs::read_to_string(folder.at("straight/corpus/manifest.jsonl")).expect("there");
    assert_eq!(manifest.lines().count(), 13);
    let refused = manifest
        .lines()
        .find(|line| line.contains("\"scrapy\""))
        .expect("listed");
    assert!(refused.contains("overlaps"), "{refused}");
}

#[test]
fn another_seed_in_the_same_folder_is_refused() {
    let folder = Folder::new();
    repositories(&folder, 3);
    let pairs = ["pairs", &folder.at("repos"), "--out", &folder.at("pairs")];
    assert!(run(&pairs).status.success());
    let mut other = vec!["--seed", "7"];
    other.extend(pairs);
    refuses(&other, &["seed 42 (now 7)", "--restart"]);
    other.push("--restart");
    assert!(run(&other).status.success());
}
