//! Opening benchmarks; `bench-env` and `doctor`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use hydra_bench::{
    Benchmark, EnvironmentConfig, Interpreter, RepoExec, RepoExecConfig, find_python,
};
use hydra_core::Progress;
use hydra_core::records::Task;
use serde_json::json;

use crate::args::{BenchEnvArgs, EnvName, TaskArgs};
use crate::settings::cache_folder;
use crate::{Context, Done};

/// The oldest Python that is still looked after when this was written.
const OLDEST: (u32, u32) = (3, 9);

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
}

/// Opens a benchmark and picks the tasks that `--only` names.
pub fn open(context: &Context, args: &TaskArgs) -> anyhow::Result<Opened> {
    // It becomes a part of ids and of a folder's name.
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name = &args.benchmark;
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        bail!("{name:?} is no name for a benchmark: letters, digits, '-', '_' and '.' make one");
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
        None => {
            let candidates = [PathBuf::from("python3"), PathBuf::from("python")];
            find_python(&candidates, "3.9 or newer", |found| found >= OLDEST)?
        }
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
        tasks,
        tasks_file: place.tasks,
        projects,
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
            let missing =
                || format!("{name} is a benchmark of your own: say --tasks and --projects");
            Place {
                tasks: args.tasks.clone().with_context(missing)?,
                projects: args.projects.clone().with_context(missing)?,
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
            _ => bail!("--only {only}: {part:?} is neither a number nor a range such as 0-9"),
        }
    }
    let wanted = |task: &&Task| {
        let number = task.id.as_str().rsplit('/').next();
        number
            .and_then(|n| n.parse().ok())
            .is_some_and(|n: u64| ranges.iter().any(|r| r.contains(&n)))
    };
    let picked: Vec<Task> = all.iter().filter(wanted).cloned().collect();
    if picked.is_empty() {
        bail!("--only {only}: the benchmark has no such task");
    }
    Ok(picked)
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
    context.show(&serde_json::to_value(&probe)?, &text);
    Ok(if probe.isolated {
        Done::All
    } else {
        Done::SomeFailed
    })
}
