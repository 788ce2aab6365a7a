//! Opening benchmarks; `bench-env` and `doctor`.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use hydra_bench::{
    Benchmark, EnvironmentConfig, Interpreter, RepoExec, RepoExecConfig, find_python,
};
use hydra_core::records::Task;
use hydra_core::{Progress, Silent, TaskId};
use hydra_pyindex::RepoIndex;
use serde_json::json;

use crate::args::{BenchEnvArgs, EnvName, TaskArgs};
use crate::settings::cache_folder;
use crate::{Context, Done, usage};

/// The oldest Python that is still looked after when this was written.
const OLDEST: (u32, u32) = (3, 9);
/// Where a Python of any version is looked for.
const ANY_PYTHON: [&str; 2] = ["python3", "python"];

/// A benchmark as a command meets it.
pub struct Opened {
    /// The benchmark.
    pub benchmark: RepoExec,
    /// The tasks that were picked.
    pub tasks: Vec<Task>,
    /// The task file.
    pub tasks_file: PathBuf,
    /// The projects' sources.
    pub projects: PathBuf,
    picked: HashSet<TaskId>,
    indexes: OnceCell<BTreeMap<PathBuf, RepoIndex>>,
    hash: OnceCell<String>,
}

impl Opened {
    /// Whether a task is among those that the command is for.
    pub fn picks(&self, task: &TaskId) -> bool {
        self.picked.contains(task)
    }

    /// The index of each project, by its folder, built when it is first asked for. A project that
    /// can't be indexed is named and left out.
    pub fn indexes(&self, context: &Context) -> &BTreeMap<PathBuf, RepoIndex> {
        self.indexes.get_or_init(|| {
            let roots: BTreeMap<PathBuf, &str> = self
                .tasks
                .iter()
                .map(|task| (self.benchmark.sources(task), task.project.as_str()))
                .collect();
            let bar = context.bars.start("index", Some(roots.len() as u64));
            let mut indexes = BTreeMap::new();
            for (root, project) in roots {
                bar.message(project);
                match RepoIndex::build(&root, &Silent) {
                    Ok(index) => drop(indexes.insert(root, index)),
                    Err(error) => context.bars.warn(&format!("{project}: {error}")),
                }
                bar.advance(1);
            }
            indexes
        })
    }

    /// The hash of the projects' sources, reckoned when it is first asked for.
    pub fn projects_hash(&self) -> anyhow::Result<&str> {
        if let Some(hash) = self.hash.get() {
            return Ok(hash);
        }
        let hash = hydra_core::hash::sha256_folder(&self.projects)?;
        Ok(self.hash.get_or_init(|| hash))
    }
}

/// Opens a benchmark and picks the tasks that `--only` names.
pub fn open(context: &Context, args: &TaskArgs) -> anyhow::Result<Opened> {
    // It becomes a part of ids and of a folder's name.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = &args.benchmark;
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err(usage(format!(
            "{name:?} is no name for a benchmark: letters, digits, '-', '_' and '.' make one"
        )));
    }
    let place = place(context, args)?;
    if !place.projects.is_dir() {
        bail!(
            "{}: no such folder{}",
            place.projects.display(),
            place.remedy
        );
    }
    let interpreter = match &place.python {
        Some(python) => Interpreter::find(python)
            .with_context(|| format!("{} is no Python that can be started", python.display()))?,
        None => find_python(&ANY_PYTHON.map(PathBuf::from), "3.9 or newer", |found| {
            found >= OLDEST
        })?,
    };
    let settings = &context.settings.execute;
    let projects = std::path::absolute(&place.projects)?;
    let benchmark = RepoExec::open(RepoExecConfig {
        name: args.benchmark.clone(),
        tasks: place.tasks.clone(),
        projects: projects.clone(),
        outputs: place
            .outputs
            .as_deref()
            .map(std::path::absolute)
            .transpose()?,
        interpreter,
        timeout: Duration::from_secs(settings.timeout),
        memory: settings.memory,
    })?;
    let tasks = pick(benchmark.tasks(), args.only.as_deref())?;
    Ok(Opened {
        benchmark,
        picked: tasks.iter().map(|task| task.id.clone()).collect(),
        tasks,
        tasks_file: place.tasks,
        projects,
        indexes: OnceCell::new(),
        hash: OnceCell::new(),
    })
}

struct Place {
    tasks: PathBuf,
    projects: PathBuf,
    outputs: Option<PathBuf>,
    python: Option<PathBuf>,
    /// What to do if the projects are not there.
    remedy: &'static str,
}

fn place(context: &Context, args: &TaskArgs) -> anyhow::Result<Place> {
    let settings = &context.settings;
    let mut place = match args.benchmark.as_str() {
        "mini" => Place {
            tasks: settings.mini.tasks.clone(),
            projects: settings.mini.tasks.with_file_name("projects"),
            outputs: None,
            python: None,
            remedy: "; run this from the root of Hydra's checkout",
        },
        "repoexec" => {
            let env = match args.env.as_ref().or(settings.repoexec.env.as_ref()) {
                Some(env) => env.clone(),
                None => cache_folder()?.join("env/repoexec"),
            };
            let outputs = env.join("outputs");
            Place {
                tasks: settings.repoexec.tasks.clone(),
                projects: env.join("projects"),
                outputs: outputs.is_dir().then_some(outputs),
                python: Some(env.join("python/bin/python")),
                remedy: "; make RepoExec's environment with `hydra bench-env repoexec`, or say \
                         --projects",
            }
        }
        name => {
            let missing = || {
                usage(format!(
                    "{name} is a benchmark of your own: say --tasks and --projects"
                ))
            };
            Place {
                tasks: args.tasks.clone().ok_or_else(missing)?,
                projects: args.projects.clone().ok_or_else(missing)?,
                outputs: None,
                python: None,
                remedy: " (--projects)",
            }
        }
    };
    if let Some(tasks) = &args.tasks {
        place.tasks.clone_from(tasks);
    }
    if let Some(projects) = &args.projects {
        place.projects.clone_from(projects);
    }
    if args.outputs.is_some() {
        place.outputs.clone_from(&args.outputs);
    }
    if args.python.is_some() {
        place.python.clone_from(&args.python);
    }
    if !place.tasks.is_file() {
        bail!(
            "{}: no such file; say where {}'s problems are with --tasks",
            place.tasks.display(),
            args.benchmark
        );
    }
    Ok(place)
}

fn pick(all: &[Task], only: Option<&str>) -> anyhow::Result<Vec<Task>> {
    let Some(only) = only else {
        return Ok(all.to_vec());
    };
    let mut ranges = Vec::new();
    for part in only.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
            (Ok(first), Ok(last)) if first <= last => ranges.push(first..=last),
            (Ok(first), Ok(last)) => {
                return Err(usage(format!(
                    "--only {only}: {part:?} runs backwards; say {last}-{first}"
                )));
            }
            _ => {
                return Err(usage(format!(
                    "--only {only}: {part:?} is neither a number nor a range such as 0-9"
                )));
            }
        }
    }
    let number = |task: &Task| -> Option<u64> { task.id.as_str().rsplit('/').next()?.parse().ok() };
    for range in &ranges {
        if !all.iter().filter_map(number).any(|n| range.contains(&n)) {
            let (first, last) = (range.start(), range.end());
            bail!("--only {only}: the benchmark has no task from {first} to {last}");
        }
    }
    let wanted = |task: &&Task| number(task).is_some_and(|n| ranges.iter().any(|r| r.contains(&n)));
    Ok(all.iter().filter(wanted).cloned().collect())
}

/// `hydra bench-env`.
pub fn prepare(context: &Context, args: &BenchEnvArgs) -> anyhow::Result<Done> {
    let EnvName::Repoexec = args.benchmark;
    let folder = match &args.env {
        Some(folder) => folder.clone(),
        None => cache_folder()?.join("env/repoexec"),
    };
    let pythons = match &args.python {
        Some(python) => vec![python.clone()],
        None => pythons("3.10"),
    };
    let config = EnvironmentConfig {
        pythons,
        version: (3, 10),
        projects: "configs/repoexec-projects.json".into(),
        lock: "configs/repoexec-py310.lock".into(),
        modules: "configs/repoexec-modules.json".into(),
        outputs: args.test_output.clone(),
    };
    if !config.projects.exists() {
        bail!(
            "{}: no such file; run this from the root of Hydra's checkout",
            config.projects.display()
        );
    }
    let built = hydra_bench::build(&config, &folder, &context.bars)?;
    if built.outputs.is_none() {
        context.bars.warn(
            "no recorded outputs: tests that read them will fail; give RepoExec's \
             test_output.tar.gz with --test-output",
        );
    }
    let text = format!(
        "python    {}\nprojects  {}\noutputs   {}",
        built.python.display(),
        built.projects.display(),
        built
            .outputs
            .as_ref()
            .map_or("none".into(), |o| o.display().to_string()),
    );
    let value = json!({
        "python": built.python,
        "projects": built.projects,
        "outputs": built.outputs,
    });
    context.show(&value, &text);
    Ok(Done::All)
}

/// Where a Python of a version may be: on the search path, or installed by pyenv.
fn pythons(version: &str) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from(format!("python{version}"))];
    let root = std::env::var_os("PYENV_ROOT")
        .map(PathBuf::from)
        .or_else(|| {
            let home = std::env::var_os("HOME")?;
            Some(Path::new(&home).join(".pyenv"))
        });
    let versions = root.map(|root| root.join("versions"));
    let entries = versions.and_then(|folder| std::fs::read_dir(folder).ok());
    let mut installed: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.strip_prefix(version)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .map(|entry| entry.path().join("bin/python"))
        .collect();
    installed.sort();
    installed.reverse();
    found.extend(installed);
    found
}

/// `hydra doctor`.
pub fn doctor(context: &Context) -> anyhow::Result<Done> {
    let probe = hydra_sandbox::probe();
    let mut text = format!(
        "kernel         {}\nuser           {}\nmemory limit   {}\nisolation      ",
        probe.kernel, probe.uid, probe.memory_limit
    );
    match (&probe.refused, probe.launch_ms) {
        (Some(refused), _) => {
            text += &format!(
                "none: {}\nremedy         {}",
                refused.reason, refused.remedy
            );
        }
        (None, Some(ms)) => text += &format!("works, {ms:.1} ms a launch"),
        (None, None) => text += "works",
    }
    let newer = find_python(&ANY_PYTHON.map(PathBuf::from), "3.9 or newer", |v| {
        v >= OLDEST
    });
    let repoexec = find_python(&pythons("3.10"), "3.10", |v| v == (3, 10));
    let mut value = serde_json::to_value(&probe)?;
    for (key, name, found) in [
        ("python", "python >= 3.9", newer),
        ("python_repoexec", "python 3.10", repoexec),
    ] {
        let (there, shown) = match found {
            Ok(found) => (
                Some(found.executable.clone()),
                found.executable.display().to_string(),
            ),
            Err(error) => (None, format!("none: {error}")),
        };
        text += &format!("\n{name:<15}{shown}");
        value[key] = json!(there);
    }
    context.show(&value, &text);
    Ok(if probe.isolated {
        Done::All
    } else {
        Done::SomeFailed
    })
}
