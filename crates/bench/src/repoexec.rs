//! RepoExec, and every benchmark in its schema.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hydra_core::records::{Task, TrueDependency, UnitKind, Verdict};
use hydra_core::{RepoPath, TaskId, jsonl};
use hydra_sandbox::{Bind, Limits, Outcome, Spec, Status};
use serde::Deserialize;

use crate::dir::expected;
use crate::{BenchError, Benchmark, extract};

const DRIVER: &str = include_str!("driver.py");
/// The accounts that every Debian system begins with (base-passwd).
const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n\
    daemon:x:1:1::/nonexistent:/bin/sh\n\
    bin:x:2:2::/nonexistent:/bin/sh\n\
    sys:x:3:3::/nonexistent:/bin/sh\n\
    sync:x:4:65534::/nonexistent:/bin/sh\n\
    games:x:5:60::/nonexistent:/bin/sh\n\
    man:x:6:12::/nonexistent:/bin/sh\n\
    lp:x:7:7::/nonexistent:/bin/sh\n\
    mail:x:8:8::/nonexistent:/bin/sh\n\
    news:x:9:9::/nonexistent:/bin/sh\n\
    uucp:x:10:10::/nonexistent:/bin/sh\n\
    proxy:x:13:13::/nonexistent:/bin/sh\n\
    www-data:x:33:33::/nonexistent:/bin/sh\n\
    backup:x:34:34::/nonexistent:/bin/sh\n\
    list:x:38:38::/nonexistent:/bin/sh\n\
    irc:x:39:39::/nonexistent:/bin/sh\n\
    nobody:x:65534:65534::/nonexistent:/bin/sh\n";
const GROUP: &str = "root:x:0:\n\
    daemon:x:1:\n\
    bin:x:2:\n\
    sys:x:3:\n\
    adm:x:4:\n\
    tty:x:5:\n\
    disk:x:6:\n\
    lp:x:7:\n\
    mail:x:8:\n\
    news:x:9:\n\
    uucp:x:10:\n\
    man:x:12:\n\
    proxy:x:13:\n\
    kmem:x:15:\n\
    dialout:x:20:\n\
    fax:x:21:\n\
    voice:x:22:\n\
    cdrom:x:24:\n\
    floppy:x:25:\n\
    tape:x:26:\n\
    sudo:x:27:\n\
    audio:x:29:\n\
    dip:x:30:\n\
    www-data:x:33:\n\
    backup:x:34:\n\
    operator:x:37:\n\
    list:x:38:\n\
    irc:x:39:\n\
    src:x:40:\n\
    shadow:x:42:\n\
    utmp:x:43:\n\
    video:x:44:\n\
    sasl:x:45:\n\
    plugdev:x:46:\n\
    staff:x:50:\n\
    games:x:60:\n\
    users:x:100:\n\
    nogroup:x:65534:\n";
/// Where Debian's types differ from those that Python knows by itself, as far as task 327 asks.
const MIME_TYPES: &str = "application/javascript js\n\
    application/vnd.novadigm.EXT ext\n\
    application/vnd.openxmlformats-officedocument.presentationml.presentation pptx\n\
    application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx\n\
    application/vnd.openxmlformats-officedocument.wordprocessingml.document docx\n\
    application/x-7z-compressed 7z\n\
    application/x-msdos-program com exe bat dll\n\
    application/xml xml\n\
    text/vnd.trolltech.linguist ts\n";
const REPORT: &str = "report.json";

/// A Python whose installation is shown to the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// The executable, as it is to be started (inside its virtual environment, if it has one).
    pub executable: PathBuf,
    /// The folders that hold it and its packages.
    pub folders: Vec<PathBuf>,
}

impl Interpreter {
    /// Asks an executable for its folders.
    ///
    /// # Errors
    /// If it can't be started or is no Python.
    pub fn find(executable: &Path) -> std::io::Result<Self> {
        let ask = "import sys; print(sys.executable); print(sys.prefix); print(sys.base_prefix)";
        let output = Command::new(executable).args(["-I", "-c", ask]).output()?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(std::io::Error::other(text));
        }
        // The executable may be a script that looks for the real one.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = text.lines().map(PathBuf::from);
        let executable = lines
            .next()
            .filter(|path| path.is_absolute())
            .ok_or_else(|| std::io::Error::other("it does not say where it is"))?;
        let mut folders: Vec<PathBuf> = lines.filter(|f| f != Path::new("/usr")).collect();
        folders.sort();
        folders.dedup();
        Ok(Self {
            executable,
            folders,
        })
    }
}

/// Where a benchmark in RepoExec's schema lies and how its tests run.
#[derive(Debug, Clone)]
pub struct RepoExecConfig {
    /// The benchmark's name.
    pub name: String,
    /// The task file (JSON lines).
    pub tasks: PathBuf,
    /// The folder of the projects; the tests see it as `/input`.
    pub projects: PathBuf,
    /// The folder of recorded outputs; the tests see it as `/output`.
    pub outputs: Option<PathBuf>,
    /// The Python that runs the tests.
    pub interpreter: Interpreter,
    /// Time on the clock for one answer: 120 s in the original harness.
    pub timeout: Duration,
    /// Bytes of memory for one answer.
    pub memory: u64,
}

#[derive(Deserialize)]
struct Record {
    task_id: u64,
    project: String,
    module: String,
    entry_point: String,
    function_signature: String,
    target_function_prompt: String,
    docstring: Option<String>,
    solution: String,
    check: String,
    dependencies: Vec<Named>,
    /// The full context: what the target's file and its imports offer.
    #[serde(default)]
    prompt: String,
    #[serde(default)]
    solution_body: String,
    #[serde(default, rename = "isContained")]
    is_contained: bool,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
    kind: String,
    #[serde(default)]
    file: Option<String>,
}

#[derive(Debug)]
struct Tested {
    entry_point: String,
    prompt: String,
    solution: String,
    check: String,
    expected: Option<BTreeSet<String>>,
}

/// A benchmark in RepoExec's schema.
#[derive(Debug)]
pub struct RepoExec {
    config: RepoExecConfig,
    tasks: Vec<Task>,
    tested: BTreeMap<TaskId, Tested>,
}

/// The driver's report.
#[derive(Deserialize)]
struct Report {
    nonce: String,
    passed: bool,
    #[serde(default)]
    exception: String,
    #[serde(default)]
    message: String,
}

impl RepoExec {
    /// Reads the tasks.
    ///
    /// # Errors
    /// A task file that can't be read, or a record that can't be used, with its line.
    pub fn open(config: RepoExecConfig) -> Result<Self, BenchError> {
        let mut tasks = Vec::new();
        let mut tested = BTreeMap::new();
        for (number, record) in jsonl::lines::<Record>(&config.tasks)?.enumerate() {
            let record = record?;
            let bad = |reason: String| BenchError::Record {
                path: config.tasks.clone(),
                line: number + 1,
                reason,
            };
            if record.check.matches(&record.solution).count() != 1 {
                return Err(bad(
                    "the check does not hold the solution exactly once".into()
                ));
            }
            let folder = RepoPath::new(record.project.clone()).map_err(|e| bad(e.to_string()))?;
            let root = folder.under(&config.projects);
            let path = module_file(&root, &record.module).map_err(|e| bad(e.to_string()))?;
            let id = TaskId(format!("{}/{}", config.name, record.task_id));
            tasks.push(Task {
                id: id.clone(),
                project: record.project,
                path,
                target: record.entry_point.clone(),
                prompt: record.target_function_prompt.clone(),
                signature: record.function_signature,
                docstring: record.docstring,
                dependencies: dependencies(&root, record.dependencies),
            });
            let entry = Tested {
                // A solution that stands by itself has no dependency to invoke.
                expected: (!record.is_contained)
                    .then(|| expected(&record.prompt, &record.solution_body, &record.entry_point)),
                entry_point: record.entry_point,
                prompt: record.target_function_prompt,
                solution: record.solution,
                check: record.check,
            };
            if tested.insert(id.clone(), entry).is_some() {
                return Err(bad(format!("{id} comes twice")));
            }
        }
        Ok(Self {
            config,
            tasks,
            tested,
        })
    }
}

impl RepoExec {
    /// How it was opened.
    pub fn config(&self) -> &RepoExecConfig {
        &self.config
    }
}

/// `a.b` is `a/b.py` or `a/b/__init__.py`, whichever the project has.
fn module_file(root: &Path, module: &str) -> Result<RepoPath, hydra_core::PathError> {
    let stem = module.replace('.', "/");
    let package = RepoPath::new(format!("{stem}/__init__.py"))?;
    if package.under(root).is_file() {
        return Ok(package);
    }
    RepoPath::new(format!("{stem}.py"))
}

/// The named dependencies of the three kinds. Files are given relative to what was published, so
/// leading folders that the project doesn't have are dropped.
fn dependencies(root: &Path, named: Vec<Named>) -> Vec<TrueDependency> {
    named
        .into_iter()
        .filter_map(|dependency| {
            let kind = match dependency.kind.as_str() {
                "function" => UnitKind::Function,
                "class" => UnitKind::Class,
                "variable" => UnitKind::Variable,
                _ => return None,
            };
            let path = dependency.file.and_then(|file| {
                let starts = file.match_indices('/').map(|(at, _)| at + 1);
                std::iter::once(0)
                    .chain(starts)
                    .filter_map(|start| RepoPath::new(&file[start..]).ok())
                    .find(|path| path.under(root).is_file())
            });
            Some(TrueDependency {
                name: dependency.name?,
                kind,
                path,
            })
        })
        .collect()
}

impl Benchmark for RepoExec {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    fn sources(&self, task: &Task) -> PathBuf {
        self.config.projects.join(&task.project)
    }

    fn reference(&self, task: &TaskId) -> Option<&str> {
        self.tested.get(task).map(|t| t.solution.as_str())
    }

    fn expected(&self, task: &TaskId) -> Option<&BTreeSet<String>> {
        self.tested.get(task)?.expected.as_ref()
    }

    fn extract(&self, task: &Task, completion: &str) -> String {
        match self.tested.get(&task.id) {
            Some(tested) => extract(&tested.entry_point, &tested.prompt, completion),
            None => completion.to_owned(),
        }
    }

    fn spec(&self, task: &TaskId, code: &str, nonce: &str) -> Result<Spec, BenchError> {
        let tested = self
            .tested
            .get(task)
            .ok_or_else(|| BenchError::Task(task.clone()))?;
        let check = tested.check.replacen(&tested.solution, code, 1);
        let mut spec = Spec::new(&self.config.interpreter.executable);
        spec.args = vec!["driver.py".into()];
        spec.stdin = format!("{nonce}\n").into_bytes();
        spec.env = [
            ("PYTHONHASHSEED", "0"),
            ("PYTHONDONTWRITEBYTECODE", "1"),
            ("LANG", "C.UTF-8"),
            ("HOME", "/root"),
            // Task 113 wants an absolute one; the driver changes into it.
            ("PWD", "/scratch/work"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("OMP_NUM_THREADS", "1"),
            ("OPENBLAS_NUM_THREADS", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
        spec.files = vec![
            ("/scratch/driver.py".into(), DRIVER.as_bytes().to_vec()),
            ("/scratch/check.py".into(), check.into_bytes()),
            // Tasks 138 and 139 look accounts up by name and number, and compare root's whole entry.
            ("/etc/passwd".into(), PASSWD.as_bytes().to_vec()),
            ("/etc/group".into(), GROUP.as_bytes().to_vec()),
            // Task 327 asks for the types of files.
            ("/etc/mime.types".into(), MIME_TYPES.as_bytes().to_vec()),
        ];
        let shown = |source: &Path, target: &str| Bind {
            source: source.to_path_buf(),
            target: target.into(),
        };
        spec.binds = self
            .config
            .interpreter
            .folders
            .iter()
            .map(|folder| Bind {
                source: folder.clone(),
                target: folder.clone(),
            })
            .chain([shown(&self.config.projects, "/input")])
            .chain(self.config.outputs.as_deref().map(|o| shown(o, "/output")))
            .collect();
        spec.limits = Limits {
            wall: self.config.timeout,
            cpu: self.config.timeout,
            memory: self.config.memory,
            processes: 256,
            file_size: 256 << 20,
            scratch: 512 << 20,
            output: 1 << 16,
        };
        spec.collect = vec![REPORT.to_owned()];
        Ok(spec)
    }

    fn verdict(&self, outcome: &Outcome, nonce: &str) -> Verdict {
        match outcome.status {
            Status::TimedOut => return Verdict::TimedOut,
            Status::OutOfMemory => return Verdict::OutOfMemory,
            Status::Exited(_) | Status::Signaled(_) => {}
        }
        let report = outcome
            .collected
            .get(REPORT)
            .and_then(|bytes| serde_json::from_slice::<Report>(bytes).ok())
            .filter(|report| report.nonce == nonce);
        match report {
            Some(report) if report.passed => Verdict::Passed,
            Some(report) => Verdict::Failed {
                exception: report.exception,
                message: report.message,
            },
            None => Verdict::NoTestRan {
                reason: format!("no report; {:?}", outcome.status),
            },
        }
    }
}
