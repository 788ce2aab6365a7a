//! A file's import statements, and the files that they mean by the released rules.

use std::collections::BTreeSet;

use hydra_core::RepoPath;
use indexmap::{IndexMap, IndexSet};
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_python_ast::{Alias, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::names::is_standard;

/// An imported name and the one that it is bound to, if that is another.
type Bound = (String, Option<String>);

/// One import statement, wherever in the file it stands.
#[derive(Debug)]
pub(super) enum Import {
    Modules(Vec<Bound>),
    From {
        level: usize,
        module: Option<String>,
        names: Vec<Bound>,
    },
}

/// All imports of a file in source order.
pub(super) fn collect(module: &[Stmt]) -> Vec<Import> {
    let mut collector = Collector::default();
    collector.visit_body(module);
    collector.imports
}

#[derive(Default)]
struct Collector {
    imports: Vec<Import>,
}

fn bound(names: &[Alias]) -> Vec<Bound> {
    let one = |alias: &Alias| {
        let to = alias.asname.as_ref().map(ToString::to_string);
        (alias.name.to_string(), to)
    };
    names.iter().map(one).collect()
}

impl<'a> StatementVisitor<'a> for Collector {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => self.imports.push(Import::Modules(bound(&import.names))),
            Stmt::ImportFrom(import) => self.imports.push(Import::From {
                level: import.level as usize,
                module: import.module.as_ref().map(ToString::to_string),
                names: bound(&import.names),
            }),
            _ => stacker::maybe_grow(64 << 10, 4 << 20, || walk_stmt(self, stmt)),
        }
    }
}

/// The names that a file imports from one module.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// As bound in the file, repetitions included; `*` for all.
    pub listed: Vec<String>,
    set: FxHashSet<String>,
}

impl Names {
    pub fn has(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    pub fn star(&self) -> bool {
        self.has("*")
    }

    fn add(&mut self, name: &str) {
        self.listed.push(name.to_owned());
        self.set.insert(name.to_owned());
    }
}

/// A file's imports by the files that they mean. "Modules" are paths here, in the repository or
/// not: released `ast_parser.py` writes `a.b` as `a/b.py`.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// The statements, written out again on one line each.
    pub statements: Vec<String>,
    /// Of `import a.b`, in source order. The released indexer holds a set here.
    pub modules: IndexSet<String>,
    /// Of `from a.b import c`, in source order.
    pub from: IndexMap<String, Names>,
    /// What a name behind `as` stands for: a module's path, or `module/path.name`.
    pub aliases: FxHashMap<String, String>,
    /// The name in its module of a name behind `as`, the last one of the file.
    pub originals: FxHashMap<String, String>,
}

impl Imports {
    pub fn new(path: &RepoPath, imports: &[Import], modules: &BTreeSet<String>) -> Self {
        let mut made = Self::default();
        for import in imports {
            match import {
                Import::Modules(names) => made.add_modules(names),
                Import::From {
                    level,
                    module,
                    names,
                } => {
                    let dots = ".".repeat(*level);
                    let written = module.as_deref().unwrap_or("");
                    made.statements
                        .push(format!("from {dots}{written} import {}", list(names)));
                    made.add_from(resolve(path, *level, written, modules), names);
                }
            }
        }
        made
    }

    fn add_modules(&mut self, names: &[Bound]) {
        self.statements.push(format!("import {}", list(names)));
        for (name, to) in names {
            let module = module_path(name);
            if let Some(to) = to {
                self.aliases.insert(to.clone(), module.clone());
            }
            self.modules.insert(module);
        }
    }

    fn add_from(&mut self, module: String, names: &[Bound]) {
        let stem = module.replace(".py", "");
        let imported = self.from.entry(module).or_default();
        for (name, to) in names {
            let Some(to) = to else {
                imported.add(name);
                continue;
            };
            imported.add(to);
            self.originals.insert(to.clone(), name.clone());
            self.aliases.insert(to.clone(), format!("{stem}.{name}"));
        }
    }
}

/// Whether names from this module are never dependencies, though they are external entities.
pub(super) fn passed_over(module: &str) -> bool {
    is_standard(&module.replace('/', ".").replace(".py", ""))
}

/// `a.b` as `a/b.py`.
fn module_path(name: &str) -> String {
    format!("{}.py", name.replace('.', "/"))
}

fn list(names: &[Bound]) -> String {
    let one = |(name, to): &Bound| match to {
        Some(to) => format!("{name} as {to}"),
        None => name.clone(),
    };
    names.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Released `ast_parser.py`, module paths: a relative import that leads to no file of the
/// repository is read as an absolute one; an absolute one means a file beside this one first.
fn resolve(path: &RepoPath, level: usize, name: &str, modules: &BTreeSet<String>) -> String {
    let folder = path.as_str().rsplit_once('/').map_or("", |(f, _)| f);
    let parts: Vec<&str> = if folder.is_empty() {
        Vec::new()
    } else {
        folder.split('/').collect()
    };
    if level > 0
        && let Some(kept) = parts.len().checked_sub(level - 1)
    {
        let below = name.split('.').filter(|_| !name.is_empty());
        let target: Vec<&str> = parts[..kept].iter().copied().chain(below).collect();
        let target = format!("{}.py", target.join("/"));
        if modules.contains(&target) {
            return target;
        }
    }
    if name.is_empty() {
        return String::new();
    }
    let absolute = module_path(name);
    if level == 0 && !folder.is_empty() {
        let beside = format!("{folder}/{absolute}");
        if modules.contains(&beside) {
            return beside;
        }
    }
    absolute
}
