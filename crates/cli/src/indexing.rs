//! One repository: `index`, `deps`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use hydra_core::{Progress, RepoPath, UnitId, jsonl};
use hydra_pyindex::released::ReleasedIndex;
use hydra_pyindex::{
    Cache, Edge, ImportTarget, Options, Parser, RepoIndex, Skipped, Unit, UnitKind,
};
use serde_json::{Value, json};

use crate::args::{DepsArgs, IndexArgs, IndexMode, ParserArg, ReadingArgs};
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
    let kinds: BTreeMap<&str, usize> = [
        ("function", UnitKind::Function),
        ("method", UnitKind::Method),
        ("class", UnitKind::Class),
        ("variable", UnitKind::Variable),
        ("attribute", UnitKind::Attribute),
    ]
    .into_iter()
    .map(|(name, kind)| (name, index.count(kind)))
    .collect();
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
        (Some(path), _) => Some(Cache::open(path)?),
        (None, _) => match Cache::open(cache_folder()?.join("index.sqlite")) {
            Ok(cache) => Some(cache),
            Err(error) => {
                context
                    .bars
                    .warn(&format!("the index is made without a cache: {error}"));
                None
            }
        },
    };
    let index = RepoIndex::build_with(repository, &options, cache.as_ref(), &context.bars)?;
    Ok(index)
}

/// `hydra deps`.
pub fn deps(context: &Context, args: &DepsArgs) -> anyhow::Result<Done> {
    let (file, name) = args
        .target
        .rsplit_once(':')
        .filter(|(file, name)| !file.is_empty() && !name.is_empty())
        .ok_or_else(|| {
            usage(format!(
                "{:?} names no unit: write path/to/file.py:function or path/to/file.py:Class.method",
                args.target
            ))
        })?;
    let path = RepoPath::new(file).map_err(|e| usage(e.to_string()))?;
    let index = build(context, &args.repository, &args.reading)?;
    let unit = find(&index, &path, name)?;
    let tree = Tree {
        index: &index,
        depth: args.depth,
    };
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
        "edges": tree.json(&unit.id, 1, &mut HashSet::from([unit.id.clone()])),
    });
    let mut text = format!(
        "{}  ({}, line {})\n",
        unit.id,
        word(unit.kind),
        unit.head_line
    );
    let mut shown = HashSet::from([unit.id.clone()]);
    tree.text(&unit.id, 1, "", &mut shown, &mut text);
    if text.lines().count() == 1 {
        text += "depends on nothing in its repository\n";
    }
    context.show(&json, &text);
    Ok(Done::All)
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
            bail!("{path} is not in the repository, or no Python file");
        }
        bail!(
            "{path} is not in the repository; there is {}",
            like.join(", ")
        );
    }
    let last = qualname.rsplit('.').next().unwrap_or(qualname);
    let names: Vec<_> = index
        .file_units(path)
        .map(|unit| unit.qualname.as_str())
        .collect();
    let like: Vec<_> = names
        .iter()
        .filter(|known| known.rsplit('.').next() == Some(last))
        .copied()
        .collect();
    let listed = if like.is_empty() { &names } else { &like };
    let listed: Vec<_> = listed.iter().take(20).copied().collect();
    Err(anyhow::anyhow!("it has {}", listed.join(", ")))
        .with_context(|| format!("{path} defines no {name}"))
}

/// Edges of edges, as far as they are followed.
struct Tree<'i> {
    index: &'i RepoIndex,
    depth: usize,
}

impl Tree<'_> {
    /// The edges of a unit by the unit that they lead to.
    fn grouped(&self, id: &UnitId) -> Vec<(UnitId, Vec<Edge>)> {
        let mut groups: Vec<(UnitId, Vec<Edge>)> = Vec::new();
        for edge in self.index.edges(id) {
            match groups.last_mut() {
                Some((unit, edges)) if *unit == edge.unit => edges.push(edge),
                _ => groups.push((edge.unit.clone(), vec![edge])),
            }
        }
        groups
    }

    fn text(
        &self,
        id: &UnitId,
        level: usize,
        margin: &str,
        shown: &mut HashSet<UnitId>,
        out: &mut String,
    ) {
        let groups = self.grouped(id);
        let last = groups.len().saturating_sub(1);
        for (number, (unit, edges)) in groups.iter().enumerate() {
            let (branch, below) = if number == last {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            let reasons: Vec<_> = edges
                .iter()
                .map(|e| {
                    format!(
                        "{} by {} on line {}",
                        word(e.kind),
                        word(e.provenance),
                        e.line
                    )
                })
                .collect();
            let new = shown.insert(unit.clone());
            let more = !new && level < self.depth && !self.index.edges(unit).is_empty();
            let above = if more { "  (see above)" } else { "" };
            let _ = writeln!(out, "{margin}{branch}{unit}  {}{above}", reasons.join(", "));
            if new && level < self.depth {
                self.text(unit, level + 1, &format!("{margin}{below}"), shown, out);
            }
        }
    }

    /// As the text: a unit's own edges are listed where it comes first, `above` says so elsewhere.
    fn json(&self, id: &UnitId, level: usize, shown: &mut HashSet<UnitId>) -> Value {
        let groups = self.grouped(id).into_iter().map(|(unit, edges)| {
            let reasons: Vec<_> = edges
                .iter()
                .map(|e| json!({"kind": e.kind, "provenance": e.provenance, "line": e.line}))
                .collect();
            let mut node = json!({"unit": unit, "reasons": reasons});
            let new = shown.insert(unit.clone());
            if level < self.depth {
                if new {
                    node["edges"] = self.json(&unit, level + 1, shown);
                } else {
                    node["above"] = true.into();
                }
            }
            node
        });
        groups.collect()
    }
}

/// As it is written in JSON.
fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
