//! What a dotted name such as `boltons.ioutils.SpooledStringIO.buffer` means in a repository.
//!
//! This looks names up by file and by the text of import statements, not by the index's resolver,
//! which is what is measured.

use std::collections::BTreeSet;

use hydra_core::records::UnitKind;
use hydra_core::{RepoPath, UnitId};
use hydra_pyindex::{EdgeKind, RepoIndex, Unit};

/// Re-exports of re-exports; more is a circle.
const MOST_HOPS: usize = 12;

/// What a dotted name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The units of that name (an overloaded or guarded name has several).
    Units(Vec<UnitId>),
    /// A module.
    Module,
    /// A module or class binds the name, but no unit is called so; how it seems to be bound.
    NoUnit(String),
    /// The repository defines nothing of that name; why that seems so.
    Nothing(String),
}

/// The names of a repository.
pub(crate) struct Names<'a> {
    index: &'a RepoIndex,
    files: BTreeSet<&'a RepoPath>,
}

/// What a look-up says.
enum Found {
    Units(Vec<UnitId>),
    Module,
    /// The module has no such unit; the class that should have it, and its bases.
    Missing(RepoPath, Vec<UnitId>),
    /// An attribute of something that is neither a module nor a class.
    Below(UnitId),
    Outside,
}

enum Import {
    Module(Vec<String>),
    Name(Vec<String>, String),
}

impl<'a> Names<'a> {
    /// The names of an index.
    pub fn new(index: &'a RepoIndex) -> Self {
        let files = index.files().collect();
        Self { index, files }
    }

    /// What `dotted` means, seen from the folder `root` (empty: the repository's). `lines` reads
    /// a file.
    pub fn meaning(
        &self,
        root: &str,
        dotted: &str,
        mut lines: impl FnMut(&RepoPath) -> Vec<String>,
    ) -> Meaning {
        let parts: Vec<String> = dotted.split('.').map(str::to_owned).collect();
        let name = parts.last().map(String::as_str).unwrap_or_default();
        match self.look_up(root, &parts, 0) {
            Found::Units(units) => Meaning::Units(units),
            Found::Module => Meaning::Module,
            Found::Outside => Meaning::Nothing("no such module, or a name from outside".to_owned()),
            Found::Below(unit) => Meaning::Nothing(format!("{unit} is no class")),
            Found::Missing(path, classes) => {
                let classes: Vec<&Unit> = classes
                    .iter()
                    .filter_map(|id| self.index.unit(id))
                    .collect();
                let mut bound = None;
                if classes.is_empty() {
                    bound = binding(&lines(&path), name, |_| false);
                }
                for class in &classes {
                    let lines = lines(&class.path);
                    let first = class.start_line.saturating_sub(1);
                    let text = lines.get(first..class.end_line.min(lines.len()));
                    // A plain name in a method is the method's own.
                    let member = format!("{}.", class.qualname);
                    let local = |at: usize| {
                        self.index.file_units(&class.path).any(|unit| {
                            matches!(unit.kind, UnitKind::Method | UnitKind::Function)
                                && unit.qualname.starts_with(&member)
                                && (unit.start_line + 1..=unit.end_line).contains(&(at + first + 1))
                        })
                    };
                    bound = bound.max(binding(text.unwrap_or_default(), name, local));
                }
                match bound {
                    Some(Binding::Statement) => Meaning::NoUnit(format!("no unit in {path}")),
                    Some(Binding::Text) => Meaning::NoUnit(format!(
                        "no unit in {path}: only a string there names it (setattr?)"
                    )),
                    None if classes.is_empty() => {
                        Meaning::Nothing(format!("{path} binds no such name"))
                    }
                    None => Meaning::Nothing("neither the class nor its bases bind it".to_owned()),
                }
            }
        }
    }

    /// A module's file.
    fn module(&self, root: &str, parts: &[String]) -> Option<RepoPath> {
        let stem = parts.join("/");
        let ends = [format!("{stem}/__init__.py"), format!("{stem}.py")];
        let has = |path: String| RepoPath::new(path).ok().filter(|p| self.files.contains(p));
        let below = |folder: &str, end: &str| match folder {
            "" => end.to_owned(),
            folder => format!("{folder}/{end}"),
        };
        let here = ends.iter().find_map(|end| has(below(root, end)));
        // Another root: a folder that is itself no package.
        here.or_else(|| {
            ends.iter().find_map(|end| {
                self.files.iter().find_map(|path| {
                    let folder = match path.as_str().strip_suffix(end.as_str())? {
                        "" => "",
                        folder => folder.strip_suffix('/')?,
                    };
                    let package = has(below(folder, "__init__.py")).is_some();
                    (!package).then(|| (*path).clone())
                })
            })
        })
    }

    fn look_up(&self, root: &str, parts: &[String], hops: usize) -> Found {
        if hops > MOST_HOPS {
            return Found::Outside;
        }
        for length in (1..=parts.len()).rev() {
            let (module, rest) = parts.split_at(length);
            let Some(file) = self.module(root, module) else {
                continue;
            };
            if !rest.is_empty() {
                return self.member(root, &file, rest, hops);
            }
            // A package may bind a name that one of its modules has too.
            if let Some((name, package)) = module.split_last()
                && let Some(package) = self.module(root, package)
                && let units @ Found::Units(_) =
                    self.member(root, &package, std::slice::from_ref(name), hops)
            {
                return units;
            }
            return Found::Module;
        }
        Found::Outside
    }

    fn member(&self, root: &str, file: &RepoPath, rest: &[String], hops: usize) -> Found {
        let units = self.named(file, &rest.join("."));
        if !units.is_empty() {
            return Found::Units(units);
        }
        let mut classes = Vec::new();
        let owner = (1..rest.len())
            .rev()
            .find_map(|length| Some((self.index.find(file, &rest[..length].join("."))?, length)));
        if let Some((owner, length)) = owner {
            if owner.kind != UnitKind::Class {
                return Found::Below(owner.id.clone());
            }
            let inherited = self.inherited(owner, &rest[length..].join("."), &mut classes);
            if !inherited.is_empty() {
                return Found::Units(inherited);
            }
        } else {
            let first = &rest[0];
            let mut external = false;
            for import in self.imports(file) {
                let (module, name, star) = match import {
                    (bound, Import::Module(module)) if bound == *first => (module, None, false),
                    (bound, Import::Name(module, name)) if bound == *first => {
                        (module, Some(name), false)
                    }
                    (_, Import::Name(module, name)) if name == "*" => {
                        (module, Some(first.clone()), true)
                    }
                    _ => continue,
                };
                let mut parts = module;
                parts.extend(name);
                parts.extend(rest[1..].iter().cloned());
                let found = self.look_up_import(root, file, parts, hops + 1);
                match found {
                    Found::Outside => external |= !star,
                    Found::Missing(..) => {}
                    found => return found,
                }
            }
            if external {
                return Found::Outside;
            }
        }
        Found::Missing(file.clone(), classes)
    }

    /// Relative parts begin with dots.
    fn look_up_import(
        &self,
        root: &str,
        file: &RepoPath,
        mut parts: Vec<String>,
        hops: usize,
    ) -> Found {
        let level = parts[0].bytes().take_while(|&b| b == b'.').count();
        if level == 0 {
            return self.look_up(root, &parts, hops);
        }
        let mut folder = Some(file.clone());
        for _ in 0..level {
            folder = folder.and_then(|folder| folder.parent());
        }
        let folder = folder.as_ref().map_or("", RepoPath::as_str);
        parts[0] = parts[0][level..].to_owned();
        if parts[0].is_empty() {
            parts.remove(0);
        }
        if let (Some(init), false) = (
            RepoPath::new(format!("{folder}/__init__.py")).ok(),
            parts.is_empty(),
        ) && self.module(folder, &parts[..1]).is_none()
            && self.files.contains(&init)
            && init != *file
        {
            return self.member(root, &init, &parts, hops);
        }
        self.look_up(folder, &parts, hops)
    }

    /// All units of a file with a qualified name.
    fn named(&self, file: &RepoPath, qualname: &str) -> Vec<UnitId> {
        let units = self.index.file_units(file);
        let named = units.filter(|unit| unit.qualname == qualname);
        named.map(|unit| unit.id.clone()).collect()
    }

    /// The units of a member in the nearest class that has it; `classes` becomes the class and
    /// its bases.
    fn inherited(&self, class: &Unit, member: &str, classes: &mut Vec<UnitId>) -> Vec<UnitId> {
        classes.push(class.id.clone());
        let mut at = 0;
        while let Some(class) = classes.get(at).and_then(|id| self.index.unit(id)) {
            let units = self.named(&class.path, &format!("{}.{member}", class.qualname));
            if !units.is_empty() {
                return units;
            }
            for edge in self.index.edges(&class.id) {
                if edge.kind == EdgeKind::Inherit && !classes.contains(&edge.unit) {
                    classes.push(edge.unit);
                }
            }
            at += 1;
        }
        Vec::new()
    }

    /// The names that a module's import statements bind.
    fn imports(&self, file: &RepoPath) -> Vec<(String, Import)> {
        let mut found = Vec::new();
        for statement in self.index.import_statements(file) {
            let bare = statement
                .lines()
                .map(|line| line.split('#').next().unwrap_or(line));
            let text = bare
                .collect::<Vec<_>>()
                .join(" ")
                .replace(['(', ')', '\\', ';'], " ");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let dotted = |name: &str| -> Vec<String> {
                let level = name.bytes().take_while(|&b| b == b'.').count();
                let (dots, name) = name.split_at(level);
                let mut parts: Vec<String> = name.split('.').map(str::to_owned).collect();
                parts[0].insert_str(0, dots);
                parts
            };
            if let Some(names) = words.strip_prefix("import ") {
                for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
                    let (module, bound) = match name.split_once(" as ") {
                        Some((module, bound)) => (dotted(module), bound.to_owned()),
                        None => {
                            let top = name.split('.').next().unwrap_or(name);
                            (vec![top.to_owned()], top.to_owned())
                        }
                    };
                    found.push((bound, Import::Module(module)));
                }
            } else if let Some((module, names)) = words
                .strip_prefix("from ")
                .and_then(|rest| rest.split_once(" import "))
            {
                let module = module.replace(' ', "");
                for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
                    let (name, bound) = name.split_once(" as ").unwrap_or((name, name));
                    let import = Import::Name(dotted(&module), name.to_owned());
                    found.push((bound.to_owned(), import));
                }
            }
        }
        found
    }
}

/// How a text seems to bind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// It has the name as a string, as `setattr` wants it.
    Text,
    /// A statement binds it.
    Statement,
}

/// How a text seems to bind a name, the surest way. In the lines that are `local` only `x.name = `
/// counts.
fn binding(lines: &[String], name: &str, local: impl Fn(usize) -> bool) -> Option<Binding> {
    let mut all = lines.iter().enumerate();
    if all.any(|(at, line)| binds(line, name, local(at))) {
        return Some(Binding::Statement);
    }
    let quoted = ['"', '\''].map(|quote| format!("{quote}{name}{quote}"));
    let text = |line: &String| quoted.iter().any(|text| line.contains(text));
    lines.iter().any(text).then_some(Binding::Text)
}

/// Whether a line looks as if it defined or bound a name: `def n`, `class n`, `.n =`, `n: T`,
/// `n, m =`, `for n in`, `as n`, `import n`; a `local` line only if an attribute of that name.
fn binds(line: &str, name: &str, local: bool) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        if before.ends_with(part) || after.starts_with(part) {
            return false;
        }
        let before = before.trim();
        let after = after.trim_start();
        let assigned = after.starts_with('=') && !after.starts_with("==");
        // `self.a = self.b, self.c = ...`: targets all the way.
        let targets =
            |c: char| part(c) || matches!(c, '.' | ',' | ' ' | '*') || (c == '=' && assigned);
        if local && !(before.ends_with('.') && before.chars().all(targets)) {
            return false;
        }
        let head =
            before.is_empty() || before.ends_with('.') || before.ends_with(',') || before == "(";
        let word = before.split_whitespace().next_back().unwrap_or_default();
        ["def", "class", "as", "for", "import"].contains(&word)
            || before.contains("import ")
            || (assigned && head)
            || (head && (after.starts_with(':') || (after.starts_with(',') && line.contains('='))))
    })
}
