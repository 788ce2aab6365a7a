//! Which file a module name means.
//!
//! The repository's files form a tree of modules. An absolute name is looked up from the package
//! roots, which are found, not guessed:
//!
//! - the parent of every top-level regular package;
//! - folders with packaging metadata, and the `src`, `lib` and `python` folders below them;
//! - the repository's own root;
//! - for the files in or below it alone, a folder of modules that is no package (a folder of
//!   scripts: Python puts it on the path when one of them is run);
//! - for namespace packages, evidence: where a file imports `a.b.c`, nothing else answers to `a`,
//!   and the whole of `a/b/c` stands below one folder, that folder is a root.

use std::collections::BTreeSet;

use hydra_core::RepoPath;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::stdlib;

/// A module or folder, by its place in the tree; the repository's root is 0.
pub(crate) type ModuleId = u32;

const TOP: ModuleId = 0;

#[derive(Debug, Default, Clone)]
struct Node {
    parent: ModuleId,
    children: FxHashMap<Box<str>, ModuleId>,
    /// The file whose module this is; a namespace package has none.
    file: Option<u32>,
    /// Whether that file is an `__init__.py`.
    package: bool,
    /// Whether files lie below it.
    folder: bool,
    depth: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PackageRoot {
    at: ModuleId,
    /// Whether only what lies below it sees it.
    local: bool,
}

/// A module as an import statement names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModulePath<'a> {
    /// The number of leading dots.
    pub level: u32,
    /// What follows them: `a.b.c`, or nothing.
    pub name: &'a str,
}

impl ModulePath<'_> {
    fn parts(&self) -> impl Iterator<Item = &str> {
        parts_of(self.name)
    }
}

impl std::fmt::Display for ModulePath<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for _ in 0..self.level {
            f.write_str(".")?;
        }
        f.write_str(self.name)
    }
}

/// `a`, `b` and `c` of `a.b.c`.
fn parts_of(name: &str) -> impl Iterator<Item = &str> {
    name.split('.').filter(|_| !name.is_empty())
}

/// What a module name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Module(ModuleId),
    /// A part of the name is in the repository, the rest is not.
    Missing,
    /// Nothing of it is in the repository.
    External,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Modules {
    nodes: Vec<Node>,
    /// The node of each file.
    of_file: Vec<ModuleId>,
    /// The roots that hold a top-level name.
    tops: FxHashMap<Box<str>, Vec<PackageRoot>>,
    roots: BTreeSet<PackageRoot>,
}

impl Modules {
    /// `metadata` are the folders that hold a `pyproject.toml` or the like; `imports` are the
    /// absolute modules that files import.
    pub fn new<'a>(
        paths: impl IntoIterator<Item = &'a RepoPath>,
        metadata: &BTreeSet<String>,
        imports: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut modules = Self {
            nodes: vec![Node {
                folder: true,
                ..Node::default()
            }],
            ..Self::default()
        };
        for (file, path) in paths.into_iter().enumerate() {
            modules.add(file as u32, path);
        }
        modules.find_roots(metadata);
        modules.index_roots();
        modules.follow_evidence(imports);
        modules
    }

    fn add(&mut self, file: u32, path: &RepoPath) {
        let mut at = TOP;
        let path = path.as_str();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        for part in folders.split('/').filter(|p| !p.is_empty()) {
            at = self.child_or_new(at, part);
            self.nodes[at as usize].folder = true;
        }
        let stem = name.strip_suffix(".py").unwrap_or(name);
        let package = stem == "__init__";
        if !package {
            at = self.child_or_new(at, stem);
        }
        let node = &mut self.nodes[at as usize];
        // A package's `__init__.py` wins over a module beside it, as in Python.
        if package || !node.package {
            node.file = Some(file);
            node.package = package;
        }
        self.of_file.push(at);
    }

    fn child_or_new(&mut self, at: ModuleId, name: &str) -> ModuleId {
        if let Some(child) = self.nodes[at as usize].children.get(name) {
            return *child;
        }
        let new = self.nodes.len() as ModuleId;
        let depth = self.nodes[at as usize].depth + 1;
        self.nodes.push(Node {
            parent: at,
            depth,
            ..Node::default()
        });
        self.nodes[at as usize].children.insert(name.into(), new);
        new
    }

    fn walk<'p>(
        &self,
        from: ModuleId,
        parts: impl IntoIterator<Item = &'p str>,
    ) -> Option<ModuleId> {
        parts.into_iter().try_fold(from, |at, part| {
            self.nodes[at as usize].children.get(part).copied()
        })
    }

    fn find_roots(&mut self, metadata: &BTreeSet<String>) {
        let mut roots = BTreeSet::new();
        let mut projects = vec![TOP];
        for folder in metadata {
            let parts = folder.split('/').filter(|p| !p.is_empty());
            projects.extend(self.walk(TOP, parts));
        }
        for (id, node) in self.nodes.iter().enumerate() {
            let id = id as ModuleId;
            let above = &self.nodes[node.parent as usize];
            if node.package && id != TOP && !above.package {
                roots.insert(PackageRoot {
                    at: node.parent,
                    local: false,
                });
            }
            if node.children.contains_key("setup") && !node.package {
                projects.push(id);
            }
        }
        for project in projects {
            let node = &self.nodes[project as usize];
            if !node.package || project == TOP {
                roots.insert(PackageRoot {
                    at: project,
                    local: false,
                });
            }
            for name in ["src", "lib", "python"] {
                if let Some(child) = node.children.get(name) {
                    let child_node = &self.nodes[*child as usize];
                    if child_node.folder && !child_node.package {
                        roots.insert(PackageRoot {
                            at: *child,
                            local: false,
                        });
                    }
                }
            }
        }
        for module in &self.of_file {
            let node = &self.nodes[*module as usize];
            let folder = node.parent;
            let known = PackageRoot {
                at: folder,
                local: false,
            };
            if !node.package && !self.nodes[folder as usize].package && !roots.contains(&known) {
                roots.insert(PackageRoot {
                    at: folder,
                    local: true,
                });
            }
        }
        self.roots = roots;
    }

    fn index_roots(&mut self) {
        self.tops.clear();
        for root in &self.roots {
            for name in self.nodes[root.at as usize].children.keys() {
                self.tops.entry(name.clone()).or_default().push(*root);
            }
        }
    }

    /// Folders that hold the whole path of an import whose first part no root holds.
    fn follow_evidence<'a>(&mut self, imports: impl IntoIterator<Item = &'a str>) {
        let unknown: FxHashSet<(&str, &str)> = imports
            .into_iter()
            .filter_map(|name| name.split_once('.'))
            .filter(|(top, _)| !stdlib::is_module(top) && !self.everywhere(top))
            .collect();
        if unknown.is_empty() {
            return;
        }
        let mut named: FxHashMap<&str, Vec<ModuleId>> = FxHashMap::default();
        for node in &self.nodes {
            for (name, child) in &node.children {
                named.entry(name).or_default().push(*child);
            }
        }
        let mut found = BTreeSet::new();
        for (top, rest) in unknown {
            for top in named.get(top).into_iter().flatten() {
                let above = self.nodes[*top as usize].parent;
                if self.walk(*top, parts_of(rest)).is_some() && !self.nodes[above as usize].package
                {
                    found.insert(PackageRoot {
                        at: above,
                        local: false,
                    });
                }
            }
        }
        if !found.is_empty() {
            self.roots.extend(found);
            self.index_roots();
        }
    }

    /// Whether a root that every file sees holds the name.
    fn everywhere(&self, top: &str) -> bool {
        let roots = self.tops.get(top);
        roots.is_some_and(|roots| roots.iter().any(|root| !root.local))
    }

    /// What resolution with these modules depends on beside the files' texts.
    pub fn roots(&self) -> impl Iterator<Item = (ModuleId, bool)> {
        self.roots.iter().map(|root| (root.at, root.local))
    }

    /// The file of a module; nothing for a namespace package.
    pub fn file(&self, module: ModuleId) -> Option<u32> {
        self.nodes[module as usize].file
    }

    pub fn of_file(&self, file: u32) -> ModuleId {
        self.of_file[file as usize]
    }

    /// A module inside a package.
    pub fn child(&self, package: ModuleId, name: &str) -> Option<ModuleId> {
        let node = &self.nodes[package as usize];
        if !node.folder {
            return None;
        }
        node.children.get(name).copied()
    }

    fn is_below(&self, inner: ModuleId, outer: ModuleId) -> bool {
        let mut at = inner;
        loop {
            if at == outer {
                return true;
            }
            if at == TOP {
                return false;
            }
            at = self.nodes[at as usize].parent;
        }
    }

    /// How many folders two modules share from the top.
    fn shared(&self, a: ModuleId, b: ModuleId) -> u32 {
        let (mut a, mut b) = (a, b);
        while a != b {
            if self.nodes[a as usize].depth >= self.nodes[b as usize].depth {
                a = self.nodes[a as usize].parent;
            } else {
                b = self.nodes[b as usize].parent;
            }
        }
        self.nodes[a as usize].depth
    }

    /// The module that `name` means in a file.
    pub fn resolve(&self, from: u32, name: ModulePath<'_>) -> Found {
        let own = self.of_file(from);
        if name.level == 0 {
            return self.absolute(own, name);
        }
        let node = &self.nodes[own as usize];
        let is_package = node.package && node.file == Some(from);
        let mut package = if is_package || own == TOP {
            own
        } else {
            node.parent
        };
        for _ in 1..name.level {
            if package == TOP {
                return Found::Missing;
            }
            package = self.nodes[package as usize].parent;
        }
        match self.walk(package, name.parts()) {
            Some(module) => Found::Module(module),
            None => Found::Missing,
        }
    }

    fn absolute(&self, own: ModuleId, name: ModulePath<'_>) -> Found {
        let Some(first) = name.parts().next() else {
            return Found::Missing;
        };
        let Some(roots) = self.tops.get(first) else {
            return Found::External;
        };
        let mut roots: SmallVec<[(u32, PackageRoot); 4]> = roots
            .iter()
            .filter(|root| !root.local || self.is_below(own, root.at))
            .map(|root| (self.shared(own, root.at), *root))
            .collect();
        if roots.is_empty() {
            return Found::External;
        }
        // The nearest first, then by path.
        roots.sort_by_key(|(near, root)| (std::cmp::Reverse(*near), root.at));
        let mut decided = None;
        for (near, root) in roots {
            if decided.is_some_and(|level| level != near) {
                break;
            }
            if let Some(module) = self.walk(root.at, name.parts()) {
                return Found::Module(module);
            }
            // A regular package hides those of the same name farther away; namespace packages
            // are one, wherever their parts lie.
            let top = self.walk(root.at, [first]);
            if top.is_some_and(|top| self.nodes[top as usize].file.is_some()) {
                decided = Some(near);
            }
        }
        Found::Missing
    }

    /// What `import a.b.c` binds `a` to.
    pub fn package(&self, from: u32, name: ModulePath<'_>) -> Option<ModuleId> {
        if let Found::Module(module) = self.resolve(from, name) {
            let above = name.parts().count().saturating_sub(1);
            return Some((0..above).fold(module, |at, _| self.nodes[at as usize].parent));
        }
        let top = ModulePath {
            level: 0,
            name: name.parts().next()?,
        };
        match self.absolute(self.of_file(from), top) {
            Found::Module(module) => Some(module),
            _ => None,
        }
    }
}
