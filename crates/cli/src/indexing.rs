//! One repository: `index`, `deps`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use hydra_core::{Progress, RepoPath, UnitId, jsonl};
use hydra_pyindex::released::ReleasedIndex;
use hydra_pyindex::{
    Cache, Edge, ImportTarget, Options, Parser, RepoIndex, Skipped, Unit, UnitKind,
};
use serde_json::{Value, json};

use crate::args::{DepsArgs, IndexArgs, IndexMode, ParserArg, ReadingArgs};
use crate::progress::one_line;
use crate::settings::cache_folder;
use crate::{Context, Done, usage};

/// `hydra index`.
pub fn index(context: &Context, args: &IndexArgs) -> anyhow::Result<Done> {
    match args.mode {
        IndexMode::Faithful => faithful(context, args),
        IndexMode::AsReleased => as_released(context, args),
    }
}

fn faithful(context: &Context, args: &IndexArgs) -> anyhow::Result<Done> {
    let index = build(context, &args.repository, &args.reading)?;
    if let Some(out) = &args.out {
        let records = index
            .units()
            .map(|unit| json!({"unit": unit, "edges": index.edges(&unit.id)}));
        jsonl::write(out, records)?;
    }
    let kinds = UnitKind::ALL.map(|kind| (kind.name(), index.count(kind)));
    let kinds = BTreeMap::from(kinds);
    let broken: Vec<_> = index
        .broken()
        .map(|(path, reason)| Skipped {
            path: path.to_string(),
            reason: reason.to_owned(),
        })
        .collect();
    report(context, &broken, "only a part is indexed");
    report(context, index.skipped(), "skipped");
    let files = index.files().count();
    let (lines, bytes) = index.size();
    let listed: Vec<_> = kinds
        .iter()
        .map(|(kind, n)| format!("{n} {kind}"))
        .collect();
    let work = index.work();
    context.show(
        &json!({
            "mode": "faithful",
            "files": files,
            "lines": lines,
            "bytes": bytes,
            "units": kinds,
            "edges": index.edge_count(),
            "parsed": work.parsed,
            "resolved": work.resolved,
            "broken": broken,
            "skipped": index.skipped(),
        }),
        &format!(
            "{files} files, {lines} lines: {}; {} edges. {} files broken, {} skipped; {} parsed, {} \
             resolved, the rest known from before",
            listed.join(", "),
            index.edge_count(),
            broken.len(),
            index.skipped().len(),
            work.parsed,
            work.resolved,
        ),
    );
    Ok(Done::All)
}

fn as_released(context: &Context, args: &IndexArgs) -> anyhow::Result<Done> {
    if args.reading.parser != ParserArg::Ruff {
        return Err(usage(
            "--mode as-released reads with ruff's parser only".to_owned(),
        ));
    }
    // Said before the work, not behind it.
    if let Some(out) = args
        .out
        .as_ref()
        .filter(|out| out.exists() && !out.is_dir())
    {
        bail!(
            "{}: is a file; --mode as-released writes its two files into a folder",
            out.display()
        );
    }
    let index = ReleasedIndex::build(&args.repository, &context.bars)?;
    if let Some(out) = &args.out {
        index.write(out)?;
    }
    report(context, &index.skipped, "skipped");
    let outgoing: usize = index
        .components
        .values()
        .map(|component| component.outgoing_calls.count())
        .sum();
    context.show(
        &json!({
            "mode": "as-released",
            "files": index.external_knowledge.len(),
            "components": index.components.len(),
            "outgoing_calls": outgoing,
            "skipped": index.skipped,
        }),
        &format!(
            "as released: {} files, {} components, {outgoing} outgoing calls; {} files skipped",
            index.external_knowledge.len(),
            index.components.len(),
            index.skipped.len(),
        ),
    );
    Ok(Done::All)
}

fn report(context: &Context, files: &[Skipped], what: &str) {
    for file in files {
        let Skipped { path, reason } = file;
        let path = one_line(path);
        context.bars.warn(&format!("{path}: {what}: {reason}"));
    }
}

fn build(
    context: &Context,
    repository: &std::path::Path,
    reading: &ReadingArgs,
) -> anyhow::Result<RepoIndex> {
    let mut options = Options {
        parser: match reading.parser {
            ParserArg::Ruff => Parser::Ruff,
            ParserArg::Rustpython => Parser::Rustpython,
        },
        jobs: context.jobs,
        ..Options::default()
    };
    if let Some(bytes) = reading.max_bytes {
        options.max_bytes = bytes;
    }
    let cache = match (&reading.cache, reading.no_cache) {
        (_, true) => None,
        // A store that the user named must work; the one that nobody asked for need not.
        (Some(path), _) if !path.as_os_str().is_empty() => {
            let opened = Cache::open(path).map_err(|e| {
                anyhow::anyhow!("{e}; name another with --cache, or do without: --no-cache")
            });
            Some(opened?)
        }
        _ => {
            let opened = cache_folder().and_then(|f| Ok(Cache::open(f.join("index.sqlite"))?));
            match opened {
                Ok(cache) => Some(cache),
                Err(error) => {
                    let reason = format!("the index is made without a cache: {error}");
                    context.bars.warn(&reason);
                    None
                }
            }
        }
    };
    let index = RepoIndex::build_with(repository, &options, cache.as_ref(), &context.bars)?;
    Ok(index)
}

/// `hydra deps`.
pub fn deps(context: &Context, args: &DepsArgs) -> anyhow::Result<Done> {
    let (file, name) = target(&args.target)?;
    let path = RepoPath::new(file).map_err(|e| usage(e.to_string()))?;
    let index = build(context, &args.repository, &args.reading)?;
    let unit = find(&index, &path, &name)?;
    let tree = Tree::new(&index, &unit.id, args.depth);
    let own = tree.grouped(&unit.id);
    let unresolved: Vec<_> = index
        .imports(&path)
        .into_iter()
        .filter(|import| import.target == ImportTarget::Missing)
        .map(|import| match import.member {
            Some(member) => format!("from {} import {member}", import.module),
            None => format!("import {}", import.module),
        })
        .collect();
    if !unresolved.is_empty() {
        context.bars.warn(&format!(
            "{path}: the repository should have these and has not: {}",
            unresolved.join("; ")
        ));
    }
    let json = json!({
        "unit": unit.id,
        "kind": unit.kind,
        "line": unit.head_line,
        "missing_imports": unresolved,
        "edges": tree.json(&own, 1, &mut HashSet::new()),
    });
    let mut text = format!(
        "{}  ({}, line {})\n",
        one_line(unit.id.as_str()),
        unit.kind.name(),
        unit.head_line
    );
    tree.text(&own, 1, "", &mut HashSet::new(), &mut text);
    if text.lines().count() == 1 {
        text += "depends on nothing in its repository\n";
    }
    context.show(&json, &text);
    Ok(Done::All)
}

/// `file.py:name`, or an id as it is printed: `name@file.py`, `name@file.py#2`.
fn target(text: &str) -> anyhow::Result<(&str, String)> {
    let parts = match text.rsplit_once(':') {
        Some((file, name)) => Some((file, name.to_owned())),
        None => text.split_once('@').map(|(name, file)| {
            let ordinal = file
                .rsplit_once('#')
                .filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            match ordinal {
                Some((file, ordinal)) => (file, format!("{name}#{ordinal}")),
                None => (file, name.to_owned()),
            }
        }),
    };
    let parts = parts.filter(|(file, name)| !file.is_empty() && !name.is_empty());
    let (file, name) = parts.ok_or_else(|| {
        usage(format!(
            "{text:?} names no unit: write path/to/file.py:function or path/to/file.py:Class.method"
        ))
    })?;
    Ok((file.strip_prefix("./").unwrap_or(file), name))
}

/// The unit that the user means; the error names those that there are.
fn find<'i>(index: &'i RepoIndex, path: &RepoPath, name: &str) -> anyhow::Result<&'i Unit> {
    // `C.m#2` is the second of that name.
    let (qualname, ordinal) = match name.rsplit_once('#') {
        Some((qualname, ordinal)) => (qualname, format!("#{ordinal}")),
        None => (name, String::new()),
    };
    let id = UnitId(format!("{qualname}@{path}{ordinal}"));
    if let Some(unit) = index.unit(&id) {
        return Ok(unit);
    }
    if !index.files().any(|file| file == path) {
        if let Some(skipped) = index.skipped().iter().find(|s| s.path == path.as_str()) {
            bail!("{path} is not in the index: {}", skipped.reason);
        }
        let suffix = format!("/{}", path.file_name());
        let like: Vec<_> = index
            .files()
            .filter(|file| file.as_str().ends_with(&suffix))
            .take(5)
            .map(ToString::to_string)
            .collect();
        if like.is_empty() {
            bail!(
                "{path} is not in the repository, or no Python file; paths count from the \
                 repository's root"
            );
        }
        bail!(
            "{path} is not in the repository; there is {}",
            like.join(", ")
        );
    }
    let last = qualname.rsplit('.').next().unwrap_or(qualname);
    let names: Vec<_> = index
        .file_units(path)
        .map(|unit| {
            let ordinal = unit.id.as_str().rsplit_once(".py#");
            let ordinal = ordinal.map(|(_, n)| format!("#{n}")).unwrap_or_default();
            (unit.name.as_str(), format!("{}{ordinal}", unit.qualname))
        })
        .collect();
    let named: Vec<_> = names.iter().filter(|(name, _)| *name == last).collect();
    let listed = if named.is_empty() {
        names.iter().collect()
    } else {
        named
    };
    let listed: Vec<_> = listed
        .into_iter()
        .map(|(_, name)| name.as_str())
        .take(20)
        .collect();
    let there = match listed.is_empty() {
        true => "it has no units".to_owned(),
        false => format!("it has {}", listed.join(", ")),
    };
    Err(anyhow::anyhow!(there)).with_context(|| format!("{path} defines no {name}"))
}

/// Edges of edges, as far as they are followed. A unit's own edges are listed once, where it comes
/// nearest to the root.
struct Tree<'i> {
    index: &'i RepoIndex,
    depth: usize,
    /// How far each unit is from the root, and its edges.
    units: HashMap<UnitId, (usize, Groups)>,
}

/// The edges of a unit by the unit that they lead to.
type Groups = Vec<(UnitId, Vec<Edge>)>;

impl<'i> Tree<'i> {
    fn new(index: &'i RepoIndex, root: &UnitId, depth: usize) -> Self {
        let mut tree = Self {
            index,
            depth,
            units: HashMap::new(),
        };
        let mut level = vec![root.clone()];
        for distance in 0..=depth {
            let mut next = Vec::new();
            for unit in level {
                if tree.units.contains_key(&unit) {
                    continue;
                }
                let groups = tree.grouped(&unit);
                next.extend(groups.iter().map(|(other, _)| other.clone()));
                tree.units.insert(unit, (distance, groups));
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        tree
    }

    fn grouped(&self, id: &UnitId) -> Groups {
        let mut groups = Groups::new();
        for edge in self.index.edges(id) {
            match groups.last_mut() {
                Some((unit, edges)) if *unit == edge.unit => edges.push(edge),
                _ => groups.push((edge.unit.clone(), vec![edge])),
            }
        }
        groups
    }

    /// What to list below a unit that is met at a level: its edges, or that they stand elsewhere.
    fn below(&self, unit: &UnitId, level: usize, listed: &mut HashSet<UnitId>) -> Below<'_> {
        match self.units.get(unit) {
            Some((nearest, groups)) if level < self.depth && !groups.is_empty() => {
                if *nearest == level && listed.insert(unit.clone()) {
                    Below::Edges(groups)
                } else {
                    Below::Elsewhere
                }
            }
            _ => Below::Nothing,
        }
    }

    fn text(
        &self,
        groups: &Groups,
        level: usize,
        margin: &str,
        listed: &mut HashSet<UnitId>,
        out: &mut String,
    ) {
        let last = groups.len().saturating_sub(1);
        for (number, (unit, edges)) in groups.iter().enumerate() {
            let (branch, indent) = if number == last {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            let reasons: Vec<_> = edges
                .iter()
                .map(|e| {
                    let (kind, provenance) = (word(e.kind), word(e.provenance));
                    format!("{kind} by {provenance} on line {}", e.line)
                })
                .collect();
            let below = self.below(unit, level, listed);
            let more = match below {
                Below::Elsewhere => "  (its own are listed elsewhere)",
                _ => "",
            };
            let name = one_line(unit.as_str());
            let _ = writeln!(out, "{margin}{branch}{name}  {}{more}", reasons.join(", "));
            if let Below::Edges(groups) = below {
                let margin = format!("{margin}{indent}");
                self.text(groups, level + 1, &margin, listed, out);
            }
        }
    }

    fn json(&self, groups: &Groups, level: usize, listed: &mut HashSet<UnitId>) -> Value {
        let nodes = groups.iter().map(|(unit, edges)| {
            let reasons: Vec<_> = edges
                .iter()
                .map(|e| json!({"kind": e.kind, "provenance": e.provenance, "line": e.line}))
                .collect();
            let mut node = json!({"unit": unit, "reasons": reasons});
            match self.below(unit, level, listed) {
                Below::Edges(groups) => node["edges"] = self.json(groups, level + 1, listed),
                Below::Elsewhere => node["elsewhere"] = true.into(),
                Below::Nothing => {}
            }
            node
        });
        nodes.collect()
    }
}

enum Below<'t> {
    Edges(&'t Groups),
    Elsewhere,
    Nothing,
}

/// As it is written in JSON.
fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
