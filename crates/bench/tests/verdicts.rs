//! Answers through the real sandbox, on a benchmark of one project.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hydra_bench::{Benchmark, Interpreter, RepoExec, RepoExecConfig, execute, mean_pass_at_k};
use hydra_core::records::{Answer, Judged, UnitKind, Verdict};
use hydra_core::{Silent, jsonl};
use hydra_sandbox::{Isolation, Sandbox};

fn python() -> PathBuf {
    let path = std::env::var_os("PATH").expect("PATH is set");
    let ask = |p: &Path| Interpreter::find(p).is_ok();
    std::env::split_paths(&path)
        .map(|folder| folder.join("python3"))
        .find(|p| p.is_file() && ask(p))
        .expect("python3 is on the PATH")
}

const SOLUTION: &str = "def double(x):\n    \"\"\"Twice x.\"\"\"\n    return x * FACTOR";

fn benchmark(folder: &Path) -> RepoExec {
    let package = folder.join("projects/test-apps/demo/demo");
    std::fs::create_dir_all(&package).expect("made");
    std::fs::write(package.join("__init__.py"), "").expect("written");
    std::fs::write(package.join("rates.py"), "FACTOR = 2\n").expect("written");
    std::fs::write(
        package.join("maths.py"),
        format!("from .rates import FACTOR\n\n{SOLUTION}\n"),
    )
    .expect("written");
    let check = format!(
        "import sys\nsys.path.insert(1, '/input/test-apps/demo')\nfrom demo.rates import FACTOR\n\n{SOLUTION}\n\ndef test_0():\n    assert __name__ == 'builtins'\n    assert double(2) == 4\ndef test_1():\n    assert double('a') == 'aa', 'text'\ntest_0()\ntest_1()\n"
    );
    let record = serde_json::json!({
        "task_id": 7, "project": "test-apps/demo", "module": "demo.maths", "entry_point": "double",
        "function_signature": "def double(x):", "docstring": "Twice x.",
        "target_function_prompt": "def double(x):\n    \"\"\"Twice x.\"\"\"",
        "solution": SOLUTION, "check": check,
        "dependencies": [
            {"name": "FACTOR", "kind": "variable", "where": "cross-file", "file": "demo-1.0/demo/rates.py"},
            {"name": null, "kind": "other", "where": "?"},
        ],
    });
    jsonl::write(folder.join("tasks.jsonl"), [record]).expect("written");
    RepoExec::open(RepoExecConfig {
        name: "demo".to_owned(),
        tasks: folder.join("tasks.jsonl"),
        projects: folder.join("projects"),
        outputs: None,
        interpreter: Interpreter::find(&python()).expect("a Python"),
        timeout: Duration::from_secs(20),
        memory: 1 << 30,
    })
    .expect("a good benchmark")
}

fn answers(completions: &[&str]) -> Vec<Answer> {
    completions
        .iter()
        .enumerate()
        .map(|(sample, text)| Answer {
            task: "demo/7".into(),
            sample,
            completion: (*text).to_owned(),
            finish_reason: None,
            prompt: String::new(),
        })
        .collect()
}

fn run(bench: &RepoExec, folder: &Path, completions: &[&str], jobs: usize) -> Vec<Judged> {
    let sandbox = Sandbox::new(Isolation::Required).expect("isolation works here");
    let out = folder.join(format!("verdicts-{jobs}.jsonl"));
    execute(
        bench,
        &answers(completions),
        bench.tasks(),
        &sandbox,
        &out,
        jobs,
        &Silent,
    )
    .expect("it runs")
}

#[test]
fn the_task_is_read_with_its_file_and_dependencies() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = benchmark(folder.path());
    let task = &bench.tasks()[0];
    assert_eq!(task.id.as_str(), "demo/7");
    assert_eq!(task.path.as_str(), "demo/maths.py");
    assert_eq!(task.dependencies.len(), 1);
    assert_eq!(task.dependencies[0].kind, UnitKind::Variable);
    let file = task.dependencies[0].path.as_ref().map(|p| p.as_str());
    assert_eq!(file, Some("demo/rates.py"));
}

#[test]
fn each_answer_gets_the_verdict_that_it_deserves() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = benchmark(folder.path());
    let forged = "import json\nopen('/scratch/report.json', 'w').write(json.dumps({'nonce': 'x', 'passed': True}))\nimport os\nos._exit(0)\ndef double(x): pass";
    let judged = run(
        &bench,
        folder.path(),
        &[
            SOLUTION,
            "```python\ndef double(x):\n    return x * 2\n```",
            "def double(x):\n    return 4",
            "def double(x):\n    return y",
            "def double(x:\n",
            "import sys\nsys.exit(0)\ndef double(x): pass",
            "import os\nos._exit(0)\ndef double(x): pass",
            forged,
            "    return x + x",
        ],
        2,
    );
    let kinds: Vec<String> = judged
        .iter()
        .map(|j| match &j.verdict {
            Verdict::Passed => "passed".to_owned(),
            Verdict::Failed { exception, .. } => exception.clone(),
            Verdict::NoTestRan { .. } => "no test ran".to_owned(),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "passed",
            "passed",
            "AssertionError",
            "NameError",
            "SyntaxError",
            "SystemExit",
            "no test ran",
            "no test ran",
            "passed",
        ]
    );
    let pass = |samples| mean_pass_at_k(bench.tasks(), samples, &judged, 1);
    assert!(pass(9).is_some_and(|p| (p - 3.0 / 9.0).abs() < 1e-12));
    // Three answers that are missing fail.
    assert!(pass(12).is_some_and(|p| (p - 3.0 / 12.0).abs() < 1e-12));
}

#[test]
fn an_endless_answer_times_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bench = benchmark(folder.path());
    bench = RepoExec::open(RepoExecConfig {
        timeout: Duration::from_secs(2),
        ..bench.config().clone()
    })
    .expect("a good benchmark");
    let judged = run(
        &bench,
        folder.path(),
        &["def double(x):\n    while True: pass"],
        1,
    );
    assert_eq!(judged[0].verdict, Verdict::TimedOut);
}

#[test]
fn an_interrupted_run_ends_with_the_same_bytes_whatever_the_jobs() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = benchmark(folder.path());
    let completions = [
        SOLUTION,
        "def double(x):\n    return 4",
        SOLUTION,
        "def double(x):\n    return y",
    ];
    run(&bench, folder.path(), &completions, 1);
    let whole = std::fs::read_to_string(folder.path().join("verdicts-1.jsonl")).expect("written");
    let lines: Vec<&str> = whole.lines().collect();
    let journal = format!("{}\n{}", lines[3], &lines[0][..30]);
    std::fs::write(folder.path().join("verdicts-3.jsonl.partial"), journal).expect("written");
    run(&bench, folder.path(), &completions, 3);
    let resumed = std::fs::read_to_string(folder.path().join("verdicts-3.jsonl")).expect("written");
    assert_eq!(resumed, whole);
}

#[test]
fn a_missing_interpreter_is_infrastructure_and_writes_no_verdicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = benchmark(folder.path());
    let mut config = bench.config().clone();
    config.interpreter.executable = "/nowhere/python3".into();
    let bench = RepoExec::open(config).expect("a good benchmark");
    let judged = run(&bench, folder.path(), &[SOLUTION], 1);
    assert!(matches!(judged[0].verdict, Verdict::Infrastructure { .. }));
    assert!(!folder.path().join("verdicts-1.jsonl").exists());
}

#[test]
fn a_check_without_its_solution_is_named_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = benchmark(folder.path()).config().clone();
    let text = std::fs::read_to_string(&config.tasks).expect("there");
    std::fs::write(
        &config.tasks,
        text.replace("x * FACTOR\\n\\ndef test_0", "x\\n\\ndef test_0"),
    )
    .expect("written");
    let error = RepoExec::open(config).expect_err("no solution in the check");
    assert!(error.to_string().contains("line 1"), "{error}");
}
