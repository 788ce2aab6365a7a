//! The published prompt.

use std::collections::BTreeMap;

use hydra_core::RepoPath;
use hydra_core::records::{Hit, Task, UnitKind};
use hydra_pyindex::{RepoIndex, Unit};

/// The first line of every prompt.
pub const INSTRUCTION: &str = "You are a Python programmer working with a repository. Here is all the context you may find useful to complete the function:";
const REQUEST: &str =
    "Based on the information above, please complete the function in the current file:";

/// The prompt for a task with what was retrieved: the instruction; each other file with its
/// classes, variables and functions; the current file with its imports, if something of it was
/// retrieved; the request; the task's signature and docstring. Files are in path order, units
/// of a kind in the order of the hits.
pub fn assemble_prompt(task: &Task, imports: &[String], hits: &[Hit], index: &RepoIndex) -> String {
    let mut files: BTreeMap<&RepoPath, Vec<&Unit>> = BTreeMap::new();
    for hit in hits {
        if let Some(unit) = index.unit(&hit.unit) {
            files.entry(&unit.path).or_default().push(unit);
        }
    }
    let current = files.remove(&task.path);
    let mut lines = vec![INSTRUCTION.to_owned()];
    for (path, units) in files {
        lines.push(format!("#FILE: {path}"));
        sources(&units, &mut lines);
    }
    if let Some(units) = current {
        lines.push(format!("#CURRENT FILE: {}", task.path));
        lines.extend(imports.iter().cloned());
        lines.push(String::new());
        sources(&units, &mut lines);
    }
    lines.push(REQUEST.to_owned());
    lines.push(task.prompt.clone());
    lines.join("\n")
}

fn sources(units: &[&Unit], lines: &mut Vec<String>) {
    let of = |wanted: &[UnitKind]| {
        let chosen = units.iter().filter(|u| wanted.contains(&u.kind));
        chosen.map(|u| u.source.clone()).collect::<Vec<_>>()
    };
    let ordered = of(&[UnitKind::Class])
        .into_iter()
        .chain(of(&[UnitKind::Variable]))
        .chain(of(&[UnitKind::Function, UnitKind::Method]));
    for source in ordered {
        lines.push(source);
        lines.push(String::new());
    }
}
