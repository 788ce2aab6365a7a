//! DevEval: `dependency` lists dotted names in `intra_class`, `intra_file` and `cross_file`.
//!
//! A name is a unit of the repository (through re-exports and base classes where it goes through
//! them), a module, or nothing that the repository defines. Edges lead from units to other units,
//! never to the target itself or to what holds it, so such entries (recursion, the target's own
//! class) and modules are counted apart. Recall is over the rest: entries that mean a unit, and
//! those that should but have none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use hydra_core::{RepoPath, UnitId, jsonl};
use hydra_pyindex::{Edge, RepoIndex, Unit};
use serde::{Deserialize, Serialize};

use crate::names::{Meaning, Names};
use crate::table::line;
use crate::{Error, Lines, holds, index, table, word, write_json};

/// What `deveval` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The records: `data_upstream.jsonl`, or `data_hydra.jsonl`, whose signatures are compared too.
    #[arg(long)]
    records: PathBuf,
    /// The folder that a record's `project_path` lies in.
    #[arg(long)]
    sources: PathBuf,
    /// A project, by its whole path or the last part of it; all that lie there if none is named.
    #[arg(long = "project", num_args = 1..)]
    projects: Vec<String>,
    /// How many misses and how many surplus dependencies to print.
    #[arg(long, default_value_t = 40)]
    sample: usize,
    /// Where to write all of it.
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Record {
    namespace: String,
    project_path: String,
    completion_path: String,
    signature_position: (usize, usize),
    dependency: BTreeMap<String, Vec<String>>,
    /// Only in the rewritten records.
    signature_content: Option<String>,
}

/// How the entries of a kind fared.
#[derive(Debug, Default, Clone, Serialize)]
struct Count {
    entries: usize,
    /// Modules: no units.
    modules: usize,
    /// The target, what holds it, or what it holds.
    own: usize,
    /// Nothing that the repository defines.
    nothing: usize,
    found: usize,
    missed: usize,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.modules += other.modules;
        self.own += other.own;
        self.nothing += other.nothing;
        self.found += other.found;
        self.missed += other.missed;
    }
}

/// An entry of the benchmark.
#[derive(Debug, Serialize)]
struct Entry {
    place: String,
    target: String,
    kind: String,
    entry: String,
    remark: String,
}

/// A dependency of ours that is not annotated.
#[derive(Debug, Serialize)]
struct Surplus {
    place: String,
    target: String,
    unit: UnitId,
    unit_kind: String,
    edge: String,
    provenance: String,
    remark: String,
}

/// A group of edges, and how many of them are annotated.
#[derive(Debug, Default, Clone, Serialize)]
struct Right {
    edges: usize,
    annotated: usize,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    project: String,
    records: usize,
    measured: usize,
    /// Records whose lines are not where the source has them, and those without a unit.
    unmatched: Vec<String>,
    kinds: BTreeMap<String, Count>,
    /// Edges to units, all of a target's counted once.
    edges: Right,
    /// The same without the projects none of whose records has an entry.
    edges_where_annotated: Right,
    /// The same by unit kind, edge kind and provenance.
    groups: BTreeMap<String, Right>,
    misses: Vec<Entry>,
    surplus: Vec<Surplus>,
    modules: Vec<Entry>,
    own: Vec<Entry>,
    nothing: Vec<Entry>,
}

impl Report {
    fn all(&self) -> Count {
        let mut all = Count::default();
        self.kinds.values().for_each(|count| all.add(count));
        all
    }

    fn take(&mut self, other: Self) {
        self.records += other.records;
        self.measured += other.measured;
        self.unmatched.extend(other.unmatched);
        for (kind, count) in other.kinds {
            self.kinds.entry(kind).or_default().add(&count);
        }
        let groups = other.groups.into_iter();
        for (group, right) in groups {
            let mine = self.groups.entry(group).or_default();
            mine.edges += right.edges;
            mine.annotated += right.annotated;
        }
        self.edges.edges += other.edges.edges;
        self.edges.annotated += other.edges.annotated;
        self.edges_where_annotated.edges += other.edges_where_annotated.edges;
        self.edges_where_annotated.annotated += other.edges_where_annotated.annotated;
        self.misses.extend(other.misses);
        self.surplus.extend(other.surplus);
        self.modules.extend(other.modules);
        self.own.extend(other.own);
        self.nothing.extend(other.nothing);
    }
}

/// Measures and prints.
///
/// # Errors
/// Records that can't be read, projects that can't be indexed or don't exist.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut projects: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in jsonl::lines::<Record>(&arguments.records)? {
        let record = record?;
        let records = projects.entry(record.project_path.clone()).or_default();
        records.push(record);
    }
    let named = |project: &str, name: &str| {
        let last = project.rsplit('/').next().unwrap_or(project);
        project == name || last == name
    };
    for name in &arguments.projects {
        if !projects.keys().any(|project| named(project, name)) {
            return Err(Error::Usage(format!("no record is of a project {name}")));
        }
    }
    let mut reports = Vec::new();
    for (project, records) in &projects {
        let wanted = arguments.projects.iter().any(|name| named(project, name));
        let root = RepoPath::new(project.clone())?.under(&arguments.sources);
        if wanted || (arguments.projects.is_empty() && root.is_dir()) {
            let index = index(&root)?;
            let mut lines = Lines::new(&root);
            reports.push(measure(&index, project, records, &mut lines)?);
        }
    }
    if reports.is_empty() {
        let folder = arguments.sources.display();
        return Err(Error::Usage(format!(
            "{folder} holds no project of the records"
        )));
    }
    let mut total = Report::default();
    let mut out = String::new();
    overview(&mut out, &reports);
    for report in reports {
        total.take(report);
    }
    print(&mut out, &total, arguments.sample);
    table::show(&out)?;
    match &arguments.json {
        Some(path) => write_json(path, &total),
        None => Ok(()),
    }
}

fn measure(
    index: &RepoIndex,
    project: &str,
    records: &[Record],
    lines: &mut Lines<'_>,
) -> Result<Report, Error> {
    let names = Names::new(index);
    let mut report = Report {
        project: project.to_owned(),
        records: records.len(),
        ..Report::default()
    };
    for record in records {
        let inside = record.completion_path.strip_prefix(project);
        let inside = inside.and_then(|path| path.strip_prefix('/'));
        let path = RepoPath::new(inside.unwrap_or_default())?;
        match target(index, record, &path, lines) {
            Some((target, root)) => {
                report.measured += 1;
                let seen = Seen {
                    index,
                    names: &names,
                    project,
                    record,
                    target,
                    root,
                };
                seen.compare(lines, &mut report);
            }
            None => report.unmatched.push(record.namespace.clone()),
        }
    }
    if report.all().entries > 0 {
        report.edges_where_annotated = report.edges.clone();
    }
    Ok(report)
}

/// The unit of a record and the folder that its dotted name begins in; nothing where the source has
/// other lines than the benchmark's.
fn target<'a>(
    index: &'a RepoIndex,
    record: &Record,
    path: &RepoPath,
    lines: &mut Lines<'_>,
) -> Option<(&'a Unit, String)> {
    let (first, last) = record.signature_position;
    let text = lines.of(path).get(first.checked_sub(1)?..last)?;
    let name = record.namespace.rsplit('.').next()?;
    let alike = match &record.signature_content {
        Some(signature) => text
            .iter()
            .map(|l| l.trim())
            .eq(signature.lines().map(str::trim)),
        None => text
            .iter()
            .any(|line| line.contains("def ") && holds(line, name)),
    };
    if !alike {
        return None;
    }
    let stem = path.as_str().strip_suffix(".py")?;
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    index.file_units(path).find_map(|unit| {
        let module = record
            .namespace
            .strip_suffix(&unit.qualname)?
            .strip_suffix('.')?;
        let root = stem.strip_suffix(&module.replace('.', "/"))?;
        let here = (unit.start_line..=unit.end_line).contains(&first);
        (here && (root.is_empty() || root.ends_with('/')))
            .then(|| (unit, root.trim_end_matches('/').to_owned()))
    })
}

/// One record and where it is looked at from.
struct Seen<'a> {
    index: &'a RepoIndex,
    names: &'a Names<'a>,
    project: &'a str,
    record: &'a Record,
    target: &'a Unit,
    root: String,
}

impl Seen<'_> {
    fn compare(&self, lines: &mut Lines<'_>, report: &mut Report) {
        let target = self.target;
        let used = self.index.edges(&target.id);
        let used_ids: BTreeSet<&UnitId> = used.iter().map(|edge| &edge.unit).collect();
        let mut annotated: BTreeSet<UnitId> = BTreeSet::new();
        let mut told = Vec::new();
        for (kind, entries) in &self.record.dependency {
            for entry in entries {
                let read = |path: &RepoPath| lines.of(path).to_vec();
                told.push((kind, entry, self.names.meaning(&self.root, entry, read)));
            }
        }
        for (kind, entry, meaning) in told {
            let count = report.kinds.entry(kind.clone()).or_default();
            count.entries += 1;
            let (list, remark) = match meaning {
                Meaning::Units(units) => {
                    annotated.extend(units.iter().cloned());
                    if units.iter().any(|unit| used_ids.contains(unit)) {
                        count.found += 1;
                        continue;
                    }
                    let related =
                        |id: &UnitId| self.index.unit(id).is_some_and(|u| self.related(u));
                    let told = units
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>()
                        .join(", ");
                    if units.iter().all(related) {
                        count.own += 1;
                        (&mut report.own, told)
                    } else {
                        count.missed += 1;
                        let kind = self.index.unit(&units[0]).map(|u| word(u.kind));
                        let kind = kind.unwrap_or_default();
                        let hint = self.hint(&used, entry);
                        (
                            &mut report.misses,
                            format!("no edge to {kind} {told}{hint}"),
                        )
                    }
                }
                Meaning::Module => {
                    count.modules += 1;
                    (&mut report.modules, String::new())
                }
                Meaning::NoUnit(how) => {
                    count.missed += 1;
                    let hint = self.hint(&used, entry);
                    (&mut report.misses, format!("{how}{hint}"))
                }
                Meaning::Nothing(why) => {
                    count.nothing += 1;
                    (&mut report.nothing, why)
                }
            };
            let name = entry.rsplit('.').next().unwrap_or(entry);
            let line = lines.of_use(target, name);
            list.push(Entry {
                place: self.place(line),
                target: target.qualname.clone(),
                kind: kind.clone(),
                entry: entry.clone(),
                remark,
            });
        }
        for edge in &used {
            self.judge(edge, &annotated, report);
        }
    }

    /// Whether an edge is annotated.
    fn judge(&self, edge: &Edge, annotated: &BTreeSet<UnitId>, report: &mut Report) {
        let Some(unit) = self.index.unit(&edge.unit) else {
            return;
        };
        let right = annotated.contains(&edge.unit);
        let group = [word(unit.kind), word(edge.kind), word(edge.provenance)].join(" ");
        for counted in [report.groups.entry(group).or_default(), &mut report.edges] {
            counted.edges += 1;
            counted.annotated += usize::from(right);
        }
        if right {
            return;
        }
        let line = edge.line;
        let member = format!("{}.", unit.qualname);
        let holds_entry = annotated
            .iter()
            .filter_map(|id| self.index.unit(id))
            .any(|other| other.path == unit.path && other.qualname.starts_with(&member));
        let entries = self.record.dependency.values().flatten();
        let same: Vec<&str> = entries
            .map(String::as_str)
            .filter(|entry| entry.rsplit('.').next() == Some(&unit.name))
            .collect();
        let remark = if holds_entry {
            "a member of it is annotated".to_owned()
        } else if !same.is_empty() {
            format!("annotated is {}", same.join(", "))
        } else if line <= self.record.signature_position.1 {
            "in the head".to_owned()
        } else {
            String::new()
        };
        report.surplus.push(Surplus {
            place: self.place(line),
            target: self.target.qualname.clone(),
            unit: edge.unit.clone(),
            unit_kind: word(unit.kind),
            edge: word(edge.kind),
            provenance: word(edge.provenance),
            remark,
        });
    }

    fn place(&self, line: usize) -> String {
        format!("{}/{}:{line}", self.project, self.target.path)
    }

    /// Whether a unit is the target, holds it or lies in it.
    fn related(&self, unit: &Unit) -> bool {
        let (a, b) = (&self.target.qualname, &unit.qualname);
        let within = |inner: &str, outer: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.target.path == unit.path && (within(a, b) || within(b, a))
    }

    /// An edge to another unit of an entry's name.
    fn hint(&self, used: &[Edge], entry: &str) -> String {
        let name = entry.rsplit('.').next().unwrap_or(entry);
        let units = used.iter().filter_map(|edge| self.index.unit(&edge.unit));
        let same = units.filter(|unit| unit.name == name);
        same.map(|unit| format!("; there is one to {}", unit.id))
            .collect()
    }
}

/// The table of projects.
fn overview(out: &mut String, reports: &[Report]) {
    let head = [
        "project",
        "records",
        "measured",
        "entries",
        "counted",
        "found",
        "recall",
        "edges",
        "annotated",
        "precision",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for report in reports {
        let all = report.all();
        rows.push(vec![
            report.project.clone(),
            report.records.to_string(),
            report.measured.to_string(),
            all.entries.to_string(),
            (all.found + all.missed).to_string(),
            all.found.to_string(),
            table::share(all.found, all.found + all.missed),
            report.edges.edges.to_string(),
            report.edges.annotated.to_string(),
            table::share(report.edges.annotated, report.edges.edges),
        ]);
    }
    table::rows(out, &rows);
}

fn print(out: &mut String, total: &Report, sample: usize) {
    line!(
        out,
        "{} records, {} measured\n",
        total.records,
        total.measured
    );
    let head = [
        "kind", "entries", "modules", "own", "nothing", "counted", "found", "recall",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let all = total.all();
    for (kind, count) in total.kinds.iter().chain([(&"all".to_owned(), &all)]) {
        rows.push(vec![
            kind.clone(),
            count.entries.to_string(),
            count.modules.to_string(),
            count.own.to_string(),
            count.nothing.to_string(),
            (count.found + count.missed).to_string(),
            count.found.to_string(),
            table::share(count.found, count.found + count.missed),
        ]);
    }
    table::rows(out, &rows);
    let head = ["our dependencies", "edges", "annotated", "precision"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let groups = total.groups.iter();
    let where_annotated = "all, of projects with any entry".to_owned();
    for (group, right) in groups.chain([
        (&"all".to_owned(), &total.edges),
        (&where_annotated, &total.edges_where_annotated),
    ]) {
        rows.push(vec![
            group.clone(),
            right.edges.to_string(),
            right.annotated.to_string(),
            table::share(right.annotated, right.edges),
        ]);
    }
    table::rows(out, &rows);
    for (title, entries) in [
        ("missed", &total.misses),
        ("modules", &total.modules),
        (
            "the target itself, what holds it or what it holds",
            &total.own,
        ),
        ("nothing that the repository defines", &total.nothing),
    ] {
        line!(out, "{title}: {}", entries.len());
        for entry in table::spread(entries, sample) {
            let Entry {
                place,
                target,
                kind,
                entry,
                remark,
            } = entry;
            line!(out, "  {place} {target} -> {entry} ({kind}) {remark}");
        }
        line!(out);
    }
    line!(out, "ours that are not annotated: {}", total.surplus.len());
    for surplus in table::spread(&total.surplus, sample) {
        let Surplus {
            place,
            target,
            unit,
            unit_kind,
            edge,
            provenance,
            remark,
        } = surplus;
        line!(
            out,
            "  {place} {target} -> {unit} ({unit_kind}, {edge}, {provenance}) {remark}"
        );
    }
}
