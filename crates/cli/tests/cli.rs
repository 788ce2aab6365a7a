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
    fails(1, args, words);
}

/// The same, for a command that was called wrongly.
fn misuses(args: &[&str], words: &[&str]) {
    fails(2, args, words);
}

fn fails(code: i32, args: &[&str], words: &[&str]) {
    let output = run(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
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
    folder.write("mine/own.py", "x = 1\n");
    folder.write("source/p/p.py", "x = 1\n");
    refuses(
        &["mine", "--from", &at("source"), "--out", &at("mine")],
        &["no corpus", "own.py"],
    );
    misuses(&["eval", "../x"], &["no name for a benchmark"]);
    misuses(&["eval", "mini", "--only", "x"], &["--only", "range"]);
    refuses(
        &[
            "index",
            &at("source"),
            "--mode",
            "as-released",
            "--out",
            &at("bad.toml"),
        ],
        &["bad.toml", "into a folder"],
    );
    // A thread a job: more than any machine runs would only fill its memory.
    let threads = run(&["index", ".", "-j", "100000"]);
    assert_eq!(threads.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&threads.stderr).contains("1 to 1024"));
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
    assert!(!Path::new(&at("w")).exists(), "claimed");
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
        "solution": solution, "solution_body": "    return scale(x, 2)",
        "prompt": "from .low import scale\n\ndef twice(x):", "isContained": false,
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
    let metrics = |output: &Output| -> serde_json::Value {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        value["metrics"][0].clone()
    };
    let value = metrics(&call(with(&["--retriever", "bm25", "--out", &at("gold")])));
    assert_eq!(value["pass_at"]["1"], 1.0);
    let function = &value["retrieval_by_kind"]["function"];
    assert_eq!(
        (&function["found"], &function["wanted"]),
        (&1.into(), &1.into())
    );
    assert_eq!(value["dir"], 1.0);

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
    let value = metrics(&call(with(&[&replay[..], &[&at("replay")]].concat())));
    assert_eq!(value["pass_at"]["1"], 0.5);
    assert_eq!(value["dir"], 0.5);
    assert_eq!(value["exceptions"]["AssertionError"], 1);

    let refused = |more: &[&str], words: &[&str]| {
        let line = with(more);
        refuses(&line.split('\n').collect::<Vec<_>>(), words);
    };
    refused(&["--only", "3,9", "--out", &at("e1")], &["9", "no task"]);
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
    let misused = |more: &[&str], words: &[&str]| {
        let line = with(more);
        misuses(&line.split('\n').collect::<Vec<_>>(), words);
    };
    misused(&["--only", "9-3", "--out", &at("e6")], &["3-9"]);
    let out = at("e5");
    misused(&["--retriever", "dar", "--out", &out], &["--dar", "train"]);
    for address in ["localhost:8080/v1", "foo", "file:///etc/passwd", "http://"] {
        let mut openai = openai;
        openai[3] = address;
        misused(&[&openai[..], &["--out", &out]].concat(), &[address]);
    }
    folder.write("tasks.jsonl", "{\"task_id\": 3}\n");
    refused(&["--out", &at("e4")], &["tasks.jsonl", "line 1"]);
    let nowhere = at("nowhere");
    refuses(
        &["eval", "mine", "--tasks", &nowhere, "--projects", &nowhere],
        &["nowhere"],
    );
    misuses(&["eval", "other"], &["--tasks and --projects"]);
    refuses(
        &["score", "mini", "--dir", &nowhere, "--generator", "x"],
        &["nowhere", "hydra execute"],
    );
    refuses(&["tables", &nowhere], &["nowhere"]);
}

#[test]
fn what_an_earlier_run_left_survives_a_start_that_fails() {
    let folder = Folder::new();
    benchmark(&folder);
    let at = |name: &str| folder.at(name);
    let (tasks, projects, out) = (at("tasks.jsonl"), at("projects"), at("out"));
    let place = ["demo", "--tasks", &tasks, "--projects", &projects];
    let down = [
        "--generator",
        "openai",
        "--base-url",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
    ];
    let output = run(&[&["eval"], &place[..], &["--out", &out]].concat());
    assert!(output.status.success(), "{output:?}");
    let answers = || std::fs::read(at("out/none/answers.jsonl")).expect("answers");
    let before = answers();
    let again = [&["eval"], &place[..], &["--out", &out, "--restart"], &down].concat();
    refuses(&again, &["127.0.0.1:9"]);
    assert_eq!(answers(), before);

    // Whose answers they are is on record.
    let dir = at("out/none");
    let score = [&["score"], &place[..], &["--dir", &dir]].concat();
    let output = run(&score);
    assert!(output.status.success(), "{output:?}");
    refuses(
        &[&score[..], &["--generator", "other"]].concat(),
        &["reference", "other"],
    );

    // A retriever that can't be loaded claims no folder.
    let (new, model) = (at("new"), at("nowhere"));
    let dense = ["--retriever", "dense", "--dense", &model, "--out", &new];
    refuses(&[&["retrieve"], &place[..], &dense].concat(), &["nowhere"]);
    assert!(!Path::new(&new).join("run.retrieve.json").exists());
}

#[test]
fn each_stage_keeps_to_the_tasks_that_only_names() {
    let folder = Folder::new();
    benchmark(&folder);
    let at = |name: &str| folder.at(name);
    let one = std::fs::read_to_string(at("tasks.jsonl")).expect("tasks");
    let two = one.replace("\"task_id\":3", "\"task_id\":4");
    assert_ne!(one, two);
    folder.write("tasks.jsonl", &(one + &two));
    let (tasks, projects, out) = (at("tasks.jsonl"), at("projects"), at("out"));
    let stage = |stage: &str, code: i32, more: &[&str]| {
        let place = ["--tasks", &tasks, "--projects", &projects];
        let output = run(&[&["--json", stage, "demo"], &place[..], more].concat());
        assert_eq!(output.status.code(), Some(code), "{stage}: {output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")
    };
    let lines = |name: &str| {
        let text = std::fs::read_to_string(Path::new(&out).join(name)).expect("a file");
        text.lines().count()
    };
    stage("retrieve", 0, &["--retriever", "none", "--out", &out]);
    let (here, only) = (["--dir", &out], ["--dir", &out, "--only", "4"]);
    let generate = ["--generator", "reference"];
    stage("generate", 0, &[&generate[..], &only].concat());
    assert_eq!(lines("answers.jsonl"), 1);
    assert_eq!(stage("execute", 0, &only)["answers"], 1);
    let metrics = stage("score", 0, &only);
    assert_eq!(
        (&metrics["tasks"], &metrics["pass_at"]["1"]),
        (&1.into(), &1.0.into())
    );
    // The other task has no verdict yet and counts as failed.
    assert_eq!(stage("score", 3, &here)["pass_at"]["1"], 0.5);

    // What was there stays when the rest comes, and when only a part is asked for again.
    stage("generate", 0, &[&generate[..], &here].concat());
    assert_eq!(stage("execute", 0, &here)["answers"], 2);
    stage("generate", 0, &[&generate[..], &only].concat());
    assert_eq!(stage("execute", 0, &only)["answers"], 1);
    assert_eq!((lines("answers.jsonl"), lines("verdicts.jsonl")), (2, 2));
    assert_eq!(stage("score", 0, &here)["pass_at"]["1"], 1.0);
}

#[test]
fn settings_in_force_are_those_with_the_flags() {
    let flags = ["train", "--pairs", "p", "--out", "o", "--batch", "7"];
    let output = run(&[&["--print-config", "--seed", "5"], &flags[..]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    assert!(text.contains("seed = 5\n"), "{text}");
    assert!(text.contains("batch = 7\n"), "{text}");
}

#[test]
fn index_prints_json_for_scripts() {
    let folder = Folder::new();
    repositories(&folder, 1);
    let cache = folder.at("index.sqlite");
    let repository = folder.at("repos/r0");
    let index = |parsed: usize| {
        let output = run(&["--json", "index", &repository, "--cache", &cache]);
        assert!(output.status.success());
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(value["files"], 3);
        assert_eq!(value["units"]["function"], 80);
        assert_eq!(value["edges"], 40);
        assert_eq!(value["parsed"], parsed);
        assert_eq!(value["resolved"], parsed);
    };
    index(3);
    index(0);
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
            .filter(|name| name.starts_with(".hydra") && name != ".hydra-lock")
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

/// Settings of a training of a few seconds.
const QUICK: &str = "[train]\nbatch = 4\naccumulation = 2\nepochs = 9\nmax_steps = 30\nmax_tokens = 48\nlearning_rate = 1e-3\neval_every = 10\nvalid_sample = 20\ncheckpoint_every = 4\n\n[train.tiny]\nlayers = 1\nhidden = 16\nheads = 2\nvocabulary = 400\npositions = 48\n\n[execute]\ntimeout = 10\n";

/// Pairs of which every other is a dependency, in the published form.
fn training_pairs(folder: &Folder) {
    let lines: String = (0..60)
        .map(|n| {
            let text = format!("{{\"name\": \"use_{n}\"}}</s>def low_{}(x):", n / 2);
            serde_json::json!({"text": text, "label": n % 2}).to_string() + "\n"
        })
        .collect();
    folder.write("train.jsonl", &lines);
    folder.write("valid.jsonl", &lines);
    folder.write("quick.toml", QUICK);
}

/// Runs a command, killing it after each of these times, then to its end.
fn killed(command: impl Fn() -> Command, milliseconds: &[u64]) {
    for &after in milliseconds {
        let mut child = command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        std::thread::sleep(Duration::from_millis(after));
        child.kill().expect("SIGKILL is sent");
        child.wait().expect("it ends");
    }
    let output = command().output().expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

fn same(folder: &Folder, straight: &str, killed: &str, names: &[&str]) {
    for name in names {
        let read = |out: &str| std::fs::read(folder.at(&format!("{out}/{name}"))).expect("there");
        assert!(read(straight) == read(killed), "{name} differs after kills");
    }
}

#[test]
fn train_survives_kills_with_the_same_bytes() {
    let folder = Folder::new();
    training_pairs(&folder);
    let (train, valid) = (folder.at("train.jsonl"), folder.at("valid.jsonl"));
    let quick = folder.at("quick.toml");
    let command = |out: &str| {
        let out = folder.at(out);
        let files = ["--train", &train, "--valid", &valid, "--out", &out];
        hydra(&[&["--config", &quick, "train"], &files[..]].concat())
    };
    killed(|| command("straight"), &[]);
    killed(|| command("killed"), &[150, 400, 900, 1500]);
    same(
        &folder,
        "straight",
        "killed",
        &[
            "model/model.safetensors",
            "model/config.json",
            "model/tokenizer.json",
            "metrics.jsonl",
            "summary.json",
        ],
    );
    // A finished run is shown again, one of another configuration refused.
    killed(|| command("straight"), &[]);
    let out = folder.at("straight");
    let train = ["train", "--train", &train, "--valid", &valid, "--out", &out];
    refuses(&train, &["another configuration", "--restart"]);
}

/// Answers every completion after a moment, with what only the request decides.
fn server() -> String {
    use std::io::{BufRead, BufReader, Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().expect("a length");
                    }
                    if line == "\r\n" {
                        break;
                    }
                }
                let mut body = vec![0; length];
                if reader.read_exact(&mut body).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(40));
                let sum: u64 = body.iter().map(|b| u64::from(*b)).sum();
                let content = format!("return scale(x, {})", sum % 3);
                let choice =
                    serde_json::json!({"message": {"content": content}, "finish_reason": "stop"});
                let text = serde_json::json!({"choices": [choice]}).to_string();
                let mut stream = stream;
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
                    text.len()
                );
            });
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn generate_and_execute_survive_kills_with_the_same_bytes() {
    let folder = Folder::new();
    benchmark(&folder);
    let url = server();
    let (tasks, projects) = (folder.at("tasks.jsonl"), folder.at("projects"));
    let place = ["demo", "--tasks", &tasks, "--projects", &projects];
    let stage = |name: &str, more: &[&str]| hydra(&[&[name], &place[..], more].concat());
    for (out, kills) in [("straight", &[][..]), ("killed", &[60, 250, 500][..])] {
        let dir = folder.at(out);
        killed(
            || stage("retrieve", &["--retriever", "bm25", "--out", &dir]),
            &[],
        );
        let openai = [
            "--generator",
            "openai",
            "--base-url",
            &url,
            "--model",
            "m",
            "-n",
            "40",
        ];
        killed(
            || stage("generate", &[&["--dir", &dir], &openai[..]].concat()),
            kills,
        );
    }
    same(
        &folder,
        "straight",
        "killed",
        &["retrieval.jsonl", "answers.jsonl"],
    );

    // Forty answers that all differ, so that each is a run of its own.
    let answers: String = (0..40)
        .map(|n| {
            let completion = format!("return scale(x, 2) + {n} - {n}");
            serde_json::json!({"task": "demo/3", "sample": n, "completion": completion}).to_string()
                + "\n"
        })
        .collect();
    folder.write("answers.jsonl", &answers);
    let replay = folder.at("answers.jsonl");
    for (out, kills) in [("straight2", &[][..]), ("killed2", &[100, 400, 700][..])] {
        let dir = folder.at(out);
        killed(
            || stage("retrieve", &["--retriever", "none", "--out", &dir]),
            &[],
        );
        let recorded = ["--generator", "replay", "--replay", &replay, "-n", "40"];
        killed(
            || stage("generate", &[&["--dir", &dir], &recorded[..]].concat()),
            &[],
        );
        killed(|| stage("execute", &["--dir", &dir]), kills);
        killed(
            || stage("score", &["--dir", &dir, "--generator", "replay"]),
            &[],
        );
    }
    same(
        &folder,
        "straight2",
        "killed2",
        &["answers.jsonl", "verdicts.jsonl"],
    );
    let verdicts = std::fs::read_to_string(folder.at("killed2/verdicts.jsonl")).expect("there");
    assert_eq!(verdicts.matches("\"passed\"").count(), 40, "{verdicts}");
    let metrics = std::fs::read_to_string(folder.at("killed2/metrics.json")).expect("there");
    let metrics: serde_json::Value = serde_json::from_str(&metrics).expect("JSON");
    let wanted = serde_json::json!({"1": 1.0, "3": 1.0, "5": 1.0, "10": 1.0});
    assert_eq!(metrics["pass_at"], wanted);
}

#[test]
fn training_inputs_that_are_wrong_are_named() {
    let folder = Folder::new();
    training_pairs(&folder);
    let at = |name: &str| folder.at(name);
    let (good, out) = (at("train.jsonl"), at("out"));
    let attempt = |train: &str, more: &[&str], words: &[&str]| {
        let files = ["train", "--train", train, "--valid", &good, "--out", &out];
        refuses(&[&files[..], more, &["--restart"]].concat(), words);
    };
    attempt(&at("nowhere.parquet"), &[], &["nowhere.parquet"]);
    folder.write("broken.parquet", "PAR1 this is no table");
    attempt(&at("broken.parquet"), &[], &["broken.parquet"]);
    folder.write(
        "broken.jsonl",
        "{\"text\": \"a</s>b\", \"label\": 1}\n{\"text\": \"a</s>b\"\n",
    );
    attempt(&at("broken.jsonl"), &[], &["broken.jsonl", "line 2"]);
    attempt(&good, &["--model", &at("nowhere")], &["nowhere"]);
    let fixture = root().join("crates/dar/tests/fixtures/bert");
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::create_dir_all(at("model")).expect("made");
        std::fs::copy(fixture.join(name), at(&format!("model/{name}"))).expect("copied");
    }
    let config = std::fs::read_to_string(at("model/config.json")).expect("there");
    folder.write(
        "model/config.json",
        &config.replace("\"hidden_size\": 16", "\"hidden_size\": 32"),
    );
    attempt(
        &good,
        &["--model", &at("model")],
        &["model.safetensors", "shape"],
    );
    refuses(
        &["threshold", "--run", &at("nowhere"), "--pairs", &good],
        &["nowhere", "hydra train"],
    );
}

#[test]
fn the_mini_profile_goes_from_the_corpus_to_the_tables() {
    let folder = Folder::new();
    folder.write("quick.toml", QUICK);
    let (quick, out) = (folder.at("quick.toml"), folder.at("out"));
    let output = run(&["--config", &quick, "--json", "reproduce", "--out", &out]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let titles: Vec<&str> = value["tables"]
        .as_array()
        .expect("tables")
        .iter()
        .filter_map(|table| table["title"].as_str())
        .collect();
    for wanted in ["Table 1", "Table 3", "Table 4"] {
        assert!(
            titles.iter().any(|title| title.starts_with(wanted)),
            "{titles:?}"
        );
    }
    let metrics = value["metrics"].as_array().expect("metrics");
    assert_eq!(metrics.len(), 5);
    for run in metrics {
        for figure in [&run["pass_at"]["1"], &run["pass_at"]["3"], &run["dir"]] {
            let figure = figure.as_f64().expect("a figure");
            assert!(figure > 0.0 && figure < 1.0, "{run}");
        }
        assert_eq!((&run["tasks"], &run["samples"]), (&37.into(), &5.into()));
    }
    // A second run has nothing to do and says the same.
    let again = run(&["--config", &quick, "--json", "reproduce", "--out", &out]);
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["tables"], value["tables"]);
}

#[test]
fn deps_shows_the_tree_and_names_what_there_is() {
    let folder = Folder::new();
    let repository = folder.at("shop");
    std::fs::create_dir_all(format!("{repository}/store")).expect("a folder");
    let write = |file: &str, text: &str| {
        std::fs::write(format!("{repository}/{file}"), text).expect("written");
    };
    write("store/__init__.py", "");
    write(
        "store/prices.py",
        "RATE = 2\n\ndef price(item):\n    return item * RATE\n",
    );
    write(
        "orders.py",
        "from store.prices import price\nfrom store.gone import lost\n\nclass Order:\n    def __init__(self, items):\n        self.items = items\n\n    def total(self):\n        return sum(price(i) for i in self.items)\n",
    );
    let deps = |target: &str| run(&["deps", &repository, target, "--no-cache"]);
    let output = deps("orders.py:Order.total");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "Order.total@orders.py  (method, line 8)\n\
         ├── Order.items@orders.py  read by self on line 9\n\
         └── price@store/prices.py  call by import on line 9\n\
         \u{20}   └── RATE@store/prices.py  read by name on line 4\n"
    );
    let warned = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(warned.contains("from store.gone import lost"), "{warned}");
    for (target, code, told) in [
        ("orders.py:Order.sum", 1, "Order.total"),
        ("prices.py:price", 1, "there is store/prices.py"),
        ("nothing.py:price", 1, "not in the repository"),
        ("orders.py", 2, "path/to/file.py:function"),
        ("/etc/passwd:x", 2, "absolute"),
    ] {
        let output = deps(target);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{target}: {error}");
        assert!(error.contains(told), "{target}: {error}");
    }
}
