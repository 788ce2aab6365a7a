//! What a dotted name such as `boltons.ioutils.SpooledStringIO.buffer` means in a repository.
//!
//! This looks names up by file and by the text of import statements, not by the index's resolver,
//! which is what is measured.

use std::collections::BTreeSet;

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
    /// A name that a module of the repository should have; no unit is called so.
    NoUnit {
        /// The module.
        path: RepoPath,
        /// Whether its text holds the name's last part where something is bound or defined.
        bound: bool,
    },
    /// No module of the repository begins the name.
    Outside,
}

/// The names of a repository.
pub(crate) struct Names<'a> {
    index: &'a RepoIndex,
    files: BTreeSet<&'a RepoPath>,
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

    /// What `dotted` means, seen from the folder `root` (empty: the repository's).
    pub fn meaning(&self, root: &str, dotted: &str, text: impl Fn(&RepoPath) -> String) -> Meaning {
        let parts: Vec<String> = dotted.split('.').map(str::to_owned).collect();
        match self.look_up(root, &parts, 0) {
            Meaning::NoUnit { path, .. } => {
                let name = parts.last().map(String::as_str).unwrap_or_default();
                let bound = text(&path).lines().any(|line| binds(line, name));
                Meaning::NoUnit { path, bound }
            }
            meaning => meaning,
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

    fn look_up(&self, root: &str, parts: &[String], hops: usize) -> Meaning {
        if hops > MOST_HOPS {
            return Meaning::Outside;
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
                && let units @ Meaning::Units(_) =
                    self.member(root, &package, std::slice::from_ref(name), hops)
            {
                return units;
            }
            return Meaning::Module;
        }
        Meaning::Outside
    }

    fn member(&self, root: &str, file: &RepoPath, rest: &[String], hops: usize) -> Meaning {
        let units = self.named(file, &rest.join("."));
        if !units.is_empty() {
            return Meaning::Units(units);
        }
        let first = &rest[0];
        let owner = self.index.find(file, first);
        if let Some(class) = owner {
            let inherited = self.inherited(class, &rest[1..].join("."));
            if !inherited.is_empty() {
                return Meaning::Units(inherited);
            }
        } else {
            for import in self.imports(file) {
                let (module, name) = match import {
                    (bound, Import::Module(module)) if bound == *first => (module, None),
                    (bound, Import::Name(module, name)) if bound == *first => (module, Some(name)),
                    (_, Import::Name(module, name)) if name == "*" => (module, Some(first.clone())),
                    _ => continue,
                };
                let mut parts = module;
                parts.extend(name);
                parts.extend(rest[1..].iter().cloned());
                // An absolute import begins with no folder, a relative one with the file's.
                let found = self.look_up_import(root, file, parts, hops + 1);
                if matches!(found, Meaning::Units(_) | Meaning::Module) {
                    return found;
                }
            }
        }
        let path = file.clone();
        Meaning::NoUnit { path, bound: false }
    }

    /// Relative parts begin with dots.
    fn look_up_import(
        &self,
        root: &str,
        file: &RepoPath,
        mut parts: Vec<String>,
        hops: usize,
    ) -> Meaning {
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

    /// The units of a member in the nearest base class that has it.
    fn inherited(&self, class: &Unit, member: &str) -> Vec<UnitId> {
        let mut waiting = vec![class.id.clone()];
        let mut at = 0;
        while at < waiting.len() {
            let Some(class) = self.index.unit(&waiting[at]) else {
                at += 1;
                continue;
            };
            let units = self.named(&class.path, &format!("{}.{member}", class.qualname));
            if !units.is_empty() {
                return units;
            }
            for edge in self.index.edges(&class.id) {
                if edge.kind == EdgeKind::Inherit && !waiting.contains(&edge.unit) {
                    waiting.push(edge.unit);
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

/// Whether a line looks as if it defined or bound a name: `def n`, `class n`, `.n =`, `n: T`,
/// `n, m =`, `for n in`, `as n`, `import n`.
fn binds(line: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        if before.ends_with(part) || after.starts_with(part) {
            return false;
        }
        let before = before.trim();
        let after = after.trim_start();
        let assigned = after.starts_with('=') && !after.starts_with("==");
        let head =
            before.is_empty() || before.ends_with('.') || before.ends_with(',') || before == "(";
        ["def", "class", "as", "for", "import"]
            .iter()
            .any(|w| before.ends_with(w))
            || before.contains("import ")
            || (assigned && head)
            || (head && (after.starts_with(':') || (after.starts_with(',') && line.contains('='))))
            || (before.ends_with(['"', '\'']) && after.starts_with(['"', '\'']))
    })
}
