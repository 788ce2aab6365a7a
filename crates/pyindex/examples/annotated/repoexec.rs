//! RepoExec: `dependencies` is a list of `{name, kind, where, file}`. `file` is the file that defines
//! the name, as a path inside the published archive (a source distribution's begins with a folder
//! such as `tornado-6.1/`, a wheel's does not). `where` is `in-file` (the target's own file),
//! `cross-file`, or `not found`, where no file is given. Kinds other than function, class and
//! variable have no name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hydra_core::{RepoPath, UnitId, jsonl};
use hydra_pyindex::{RepoIndex, Unit};
use serde::{Deserialize, Serialize};

use crate::table::line;
use crate::{Error, Lines, index, table, word, write_json};

/// What `repoexec` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The tasks (`repoexec.jsonl`).
    #[arg(long)]
    tasks: PathBuf,
    /// The folder that a task's `project` lies in.
    #[arg(long)]
    projects: PathBuf,
    /// Where to write all of it.
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Record {
    task_id: u64,
    project: String,
    module: String,
    entry_point: String,
    dependencies: Vec<Named>,
}

#[derive(Deserialize)]
struct Named {
    name: Option<String>,
    kind: String,
    #[serde(rename = "where")]
    place: Option<String>,
    file: Option<String>,
}

#[derive(Debug, Default, Clone, Serialize)]
struct Count {
    named: usize,
    found: usize,
}

#[derive(Debug, Serialize)]
struct Miss {
    task: u64,
    project: String,
    file: String,
    line: usize,
    target: String,
    dependency: String,
    kind: String,
    place: String,
    defined_in: Option<String>,
    reason: String,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    targets: usize,
    targets_found: usize,
    all: Count,
    kinds: BTreeMap<String, Count>,
    misses: Vec<Miss>,
}

/// Measures and prints.
///
/// # Errors
/// Tasks that can't be read, projects that can't be indexed.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut projects: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in jsonl::lines::<Record>(&arguments.tasks)? {
        let record = record?;
        let records = projects.entry(record.project.clone()).or_default();
        records.push(record);
    }
    let mut report = Report::default();
    for (project, records) in &projects {
        let root = RepoPath::new(project.clone())?.under(&arguments.projects);
        let index = index(&root)?;
        let mut lines = Lines::new(&root);
        for record in records {
            measure(&index, &root, record, &mut lines, &mut report)?;
        }
    }
    report.misses.sort_by_key(|miss| miss.task);
    let mut rows = vec![
        ["kind", "named", "found", "recall"]
            .map(str::to_owned)
            .into(),
    ];
    for (kind, count) in report
        .kinds
        .iter()
        .chain([(&"all".to_owned(), &report.all)])
    {
        let share = table::share(count.found, count.named);
        rows.push(vec![
            kind.clone(),
            count.named.to_string(),
            count.found.to_string(),
            share,
        ]);
    }
    let mut out = String::new();
    line!(
        out,
        "{} projects, {} targets, {} found\n",
        projects.len(),
        report.targets,
        report.targets_found
    );
    table::rows(&mut out, &rows);
    for miss in &report.misses {
        line!(
            out,
            "task {} {} {}:{} {} -> {} ({}, {}{}): {}",
            miss.task,
            miss.project,
            miss.file,
            miss.line,
            miss.target,
            miss.dependency,
            miss.kind,
            miss.place,
            miss.defined_in
                .as_ref()
                .map(|f| format!(" {f}"))
                .unwrap_or_default(),
            miss.reason
        );
    }
    table::show(&out)?;
    match &arguments.json {
        Some(path) => write_json(path, &report),
        None => Ok(()),
    }
}

fn measure(
    index: &RepoIndex,
    root: &Path,
    record: &Record,
    lines: &mut Lines<'_>,
    report: &mut Report,
) -> Result<(), Error> {
    let path = module_file(root, &record.module)?;
    let target = index.find(&path, &record.entry_point);
    report.targets += 1;
    report.targets_found += usize::from(target.is_some());
    let used: Vec<UnitId> = target
        .map(|target| {
            index
                .edges(&target.id)
                .into_iter()
                .map(|edge| edge.unit)
                .collect()
        })
        .unwrap_or_default();
    for named in &record.dependencies {
        let (Some(name), "function" | "class" | "variable") = (&named.name, named.kind.as_str())
        else {
            continue;
        };
        let file = named.file.as_deref().and_then(|file| inside(root, file));
        let reason = reason(
            index,
            target,
            &used,
            name,
            named.file.as_deref(),
            file.as_ref(),
        );
        let kind = report.kinds.entry(named.kind.clone()).or_default();
        for count in [kind, &mut report.all] {
            count.named += 1;
            count.found += usize::from(reason.is_none());
        }
        if let Some(reason) = reason {
            report.misses.push(Miss {
                task: record.task_id,
                project: record.project.clone(),
                file: path.to_string(),
                line: target.map_or(0, |target| lines.of_use(target, name)),
                target: record.entry_point.clone(),
                dependency: name.clone(),
                kind: named.kind.clone(),
                place: named.place.clone().unwrap_or_default(),
                defined_in: file.map(|file| file.to_string()).or(named.file.clone()),
                reason,
            });
        }
    }
    Ok(())
}

/// Why a named dependency is missed; nothing if it is found.
fn reason(
    index: &RepoIndex,
    target: Option<&Unit>,
    used: &[UnitId],
    name: &str,
    named: Option<&str>,
    file: Option<&RepoPath>,
) -> Option<String> {
    let Some(target) = target else {
        return Some("the target is not in the index".to_owned());
    };
    let of_that_name = used
        .iter()
        .filter_map(|id| index.unit(id))
        .filter(|unit| unit.name == name);
    let elsewhere = of_that_name.map(|unit| format!("; there is one to {}", unit.id));
    let elsewhere = elsewhere.collect::<String>();
    let Some(file) = file else {
        return Some(match named {
            Some(_) => "the file is not in the project".to_owned(),
            None => format!("the benchmark says no file{elsewhere}"),
        });
    };
    // Names are bare; one that is nested in something counts like one at the module's level.
    let mut units = index
        .file_units(file)
        .filter(|unit| unit.name == name)
        .peekable();
    let Some(&first) = units.peek() else {
        let indexed = index.files().any(|path| path == file);
        return Some(match indexed {
            true => format!("the file defines no unit of that name{elsewhere}"),
            false => "the file is not in the index".to_owned(),
        });
    };
    let ids: Vec<&UnitId> = units.map(|unit| &unit.id).collect();
    if ids.iter().any(|id| used.contains(id)) {
        None
    } else if ids.contains(&&target.id) {
        Some("the target itself: recursion is no edge".to_owned())
    } else {
        Some(format!(
            "no edge to {} {}{elsewhere}",
            word(first.kind),
            first.id
        ))
    }
}

/// `a.b` is `a/b.py` or `a/b/__init__.py`, whichever the project has.
fn module_file(root: &Path, module: &str) -> Result<RepoPath, Error> {
    let stem = module.replace('.', "/");
    let package = RepoPath::new(format!("{stem}/__init__.py"))?;
    if package.under(root).is_file() {
        return Ok(package);
    }
    Ok(RepoPath::new(format!("{stem}.py"))?)
}

/// A path of the archive as one of the project, without the leading folders that it doesn't have.
fn inside(root: &Path, file: &str) -> Option<RepoPath> {
    let starts = file.match_indices('/').map(|(at, _)| at + 1);
    std::iter::once(0)
        .chain(starts)
        .filter_map(|start| RepoPath::new(&file[start..]).ok())
        .find(|path| path.under(root).is_file())
}
