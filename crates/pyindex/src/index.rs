//! The index of one repository.

mod build;
mod fresh;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use hydra_core::{RepoPath, UnitId};

use crate::cache::{Identity, Resolved, SnapshotSkip};
use crate::load;
use crate::modules::{Found, ModulePath, Modules};
use crate::outline::{Binding, Facts, Local};
use crate::parse::Parser;
use crate::resolve::{Loaded, Memos, Resolver, World};
use crate::source::Lines;
use crate::unit::{Dependency, Edge, Import, ImportTarget, Skipped, Unit, UnitKind};
use build::Repository;

/// How to index.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// What reads the files.
    pub parser: Parser,
    /// Larger files are skipped.
    pub max_bytes: u64,
    /// Threads; 0 means one a core. The index is the same for any number.
    pub jobs: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            parser: Parser::default(),
            max_bytes: load::MAX_BYTES,
            jobs: 0,
        }
    }
}

/// What a cache saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Files that were parsed.
    pub parsed: usize,
    /// Files whose names were resolved.
    pub resolved: usize,
}

/// Every unit of a repository and what it depends on. All answers are in file order: by path,
/// then by place in the file.
#[derive(Debug)]
pub struct RepoIndex {
    files: Vec<File>,
    modules: Modules,
    skipped: Vec<Skipped>,
    /// The files that were read but can't be indexed.
    refused: Vec<SnapshotSkip>,
    parser: Parser,
    jobs: usize,
    work: Work,
}

#[derive(Debug)]
struct File {
    path: RepoPath,
    text: String,
    /// Of its bytes, where there is a cache.
    identity: Identity,
    /// [`Outline::interface`], where there is a cache.
    interface: u64,
    facts: Arc<Facts>,
    loaded: OnceLock<Box<Loaded>>,
    resolved: Resolved,
    units: OnceLock<Units>,
}

/// The units of a file with their texts, made when they are first asked for.
#[derive(Debug)]
struct Units {
    all: Vec<Unit>,
    /// By place in the file; an attribute of an instance stands behind its class in `all`.
    order: Vec<Local>,
    by_id: HashMap<UnitId, Local>,
    lines: Lines,
}

impl RepoIndex {
    fn file_of(&self, path: &RepoPath) -> Option<usize> {
        self.files.binary_search_by(|file| file.path.cmp(path)).ok()
    }

    /// The unit's file and place in it.
    fn place(&self, id: &UnitId) -> Option<(&File, Local)> {
        let (_, path) = id.as_str().split_once('@')?;
        let plain = path.rsplit_once('#').map(|(path, _)| path);
        [Some(path), plain].into_iter().flatten().find_map(|path| {
            let at = self.files.binary_search_by(|f| f.path.as_str().cmp(path));
            let file = &self.files[at.ok()?];
            Some((file, *file.units().by_id.get(id)?))
        })
    }

    /// What was done, and not taken from the cache.
    pub fn work(&self) -> Work {
        self.work
    }

    /// All units.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.files.iter().flat_map(File::in_order)
    }

    /// How many units there are of a kind; cheaper than making them.
    pub fn count(&self, kind: UnitKind) -> usize {
        let units = self.files.iter().flat_map(|f| &f.facts.units);
        units.filter(|u| u.kind == kind).count()
    }

    /// How many edges there are between innermost units.
    pub fn edge_count(&self) -> usize {
        self.files.iter().map(|f| f.resolved.edges.len()).sum()
    }

    /// Lines and bytes of all files together.
    pub fn size(&self) -> (usize, usize) {
        let lines = self.files.iter().map(|f| f.facts.lines as usize).sum();
        let bytes = self.files.iter().map(|f| f.text.len()).sum();
        (lines, bytes)
    }

    /// A unit by its id.
    pub fn unit(&self, id: &UnitId) -> Option<&Unit> {
        let (file, local) = self.place(id)?;
        file.units().all.get(local as usize)
    }

    /// The files in the index.
    pub fn files(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.iter().map(|f| &f.path)
    }

    /// The units of a file; none if it isn't in the index.
    pub fn file_units(&self, path: &RepoPath) -> impl Iterator<Item = &Unit> {
        let file = self.file_of(path);
        file.into_iter().flat_map(|f| self.files[f].in_order())
    }

    /// A file's text as it was decoded, without a byte-order mark; spans count its bytes.
    pub fn text(&self, path: &RepoPath) -> Option<&str> {
        self.file_of(path)
            .map(|file| self.files[file].text.as_str())
    }

    /// The files that were left out.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The files with syntax errors, of which only a part is in the index, and their first error.
    pub fn broken(&self) -> impl Iterator<Item = (&RepoPath, &str)> {
        self.files
            .iter()
            .filter_map(|f| Some((&f.path, f.facts.broken.as_deref()?)))
    }

    /// The unit that a file defines under a qualified name; the last one of several.
    pub fn find(&self, path: &RepoPath, qualname: &str) -> Option<&Unit> {
        let units = &self.files[self.file_of(path)?].units().all;
        units.iter().rev().find(|unit| unit.qualname == qualname)
    }

    /// The module-level import statements of a file, as written.
    pub fn import_statements(&self, path: &RepoPath) -> Vec<String> {
        let Some(file) = self.file_of(path).map(|f| &self.files[f]) else {
            return Vec::new();
        };
        let spans = file.facts.import_statements.iter();
        spans
            .filter_map(|(start, end)| file.text.get(*start as usize..*end as usize))
            .map(str::to_owned)
            .collect()
    }

    /// Every way in which a unit uses another of its repository, what it holds included; never
    /// itself, what it holds, or what holds it. By file and place of the other.
    pub fn edges(&self, id: &UnitId) -> Vec<Edge> {
        let Some((file, local)) = self.place(id) else {
            return Vec::new();
        };
        let facts = &file.facts;
        let own = facts.units[local as usize].statement;
        let number = self.file_of(&file.path).unwrap_or_default() as u32;
        let mut found = BTreeMap::new();
        for edge in &file.resolved.edges {
            let inside = facts.within(edge.from, local) || edge.from == own;
            let related = edge.to.0 == number
                && (facts.within(edge.to.1, local) || facts.within(local, edge.to.1));
            if inside && !related {
                let key = (edge.to, edge.kind, edge.provenance);
                let at = found.entry(key).or_insert(edge.at);
                *at = edge.at.min(*at);
            }
        }
        let lines = &file.units().lines;
        found
            .into_iter()
            .filter_map(|(((other, unit), kind, provenance), at)| {
                let unit = self
                    .files
                    .get(other as usize)?
                    .units()
                    .all
                    .get(unit as usize)?;
                Some(Edge {
                    unit: unit.id.clone(),
                    kind,
                    provenance,
                    line: lines.of(at),
                })
            })
            .collect()
    }

    /// The units that a unit uses, each once, with the first way in which it does: the edges of
    /// [`RepoIndex::edges`] by unit.
    pub fn dependencies(&self, id: &UnitId) -> Vec<Dependency> {
        let mut found: Vec<(usize, Dependency)> = Vec::new();
        for edge in self.edges(id) {
            let dependency = Dependency {
                unit: edge.unit,
                kind: edge.kind,
                provenance: edge.provenance,
            };
            match found.last_mut() {
                // Edges come by unit.
                Some((line, known)) if known.unit == dependency.unit => {
                    if edge.line < *line {
                        (*line, *known) = (edge.line, dependency);
                    }
                }
                _ => found.push((edge.line, dependency)),
            }
        }
        found
            .into_iter()
            .map(|(_, dependency)| dependency)
            .collect()
    }

    /// The files that a file's module-level imports mean (one hop), and those that define the
    /// imported names; without the file itself.
    pub fn imported_files(&self, path: &RepoPath) -> Vec<RepoPath> {
        let Some(file) = self.file_of(path) else {
            return Vec::new();
        };
        self.imported(file).map(|f| f.path.clone()).collect()
    }

    fn imported(&self, file: usize) -> impl Iterator<Item = &File> {
        let files = self.files[file].resolved.imported.iter();
        files.filter_map(|f| self.files.get(*f as usize))
    }

    /// What each name that a file imports means, in source order: a unit or module of the
    /// repository, something external, or something that the repository should have and has not.
    pub fn imports(&self, path: &RepoPath) -> Vec<Import> {
        let Some(file) = self.file_of(path) else {
            return Vec::new();
        };
        // Outlines may have to be made again, which takes the parser's stack. Its threads are
        // there since the index was built; if not, the answer is the same without them.
        load::with_room(self.jobs, || self.imports_of(file))
            .unwrap_or_else(|_| self.imports_of(file))
    }

    fn imports_of(&self, file: usize) -> Vec<Import> {
        let repository = Repository {
            files: &self.files,
            modules: &self.modules,
            parser: self.parser,
            cache: None,
        };
        let outline = repository.outline(file as u32);
        let mut memos = Memos::default();
        let mut resolver = Resolver::new(&repository, file as u32, &mut memos);
        let mut imports = Vec::new();
        let text = |name| outline.body.names.text(name).to_owned();
        for bound in &outline.body.bound {
            let (module, member) = match bound.binding {
                Binding::Module(module) | Binding::Package(module) => (module, None),
                Binding::Member(module, name) => (module, Some(text(name))),
                _ => continue,
            };
            let name = outline.body.module(module);
            imports.push(Import {
                module: name.to_string(),
                target: self.import_target(file as u32, name, member.as_deref(), &mut resolver),
                member,
                bound: text(bound.name),
            });
        }
        for star in &outline.body.stars {
            let name = outline.body.module(star.module);
            imports.push(Import {
                module: name.to_string(),
                target: self.import_target(file as u32, name, None, &mut resolver),
                member: Some("*".to_owned()),
                bound: "*".to_owned(),
            });
        }
        imports
    }

    fn import_target(
        &self,
        file: u32,
        name: ModulePath<'_>,
        member: Option<&str>,
        resolver: &mut Resolver<'_, Repository<'_>>,
    ) -> ImportTarget {
        let module = match self.modules.resolve(file, name) {
            Found::External => return ImportTarget::External,
            Found::Missing => return ImportTarget::Missing,
            Found::Module(module) => module,
        };
        let as_module = |module| match self.modules.file(module) {
            Some(file) => ImportTarget::Module(self.files[file as usize].path.clone()),
            None => ImportTarget::Namespace,
        };
        let Some(member) = member else {
            return as_module(module);
        };
        let (units, modules) = resolver.imported(module, member);
        let unit = units.first().and_then(|(file, unit)| {
            let units = self.files.get(*file as usize)?.units();
            units.all.get(*unit as usize)
        });
        match (unit, modules.first()) {
            (Some(unit), _) => ImportTarget::Unit(unit.id.clone()),
            (None, Some(module)) => as_module(*module),
            (None, None) => resolver.unresolved(module, member),
        }
    }

    /// The candidates of a function: the units of its file, then those of the imported files,
    /// without itself, what it holds, and what holds it, whose sources contain its body; and
    /// without attributes, which are part of their class. Imports inside the function play no
    /// part.
    pub fn pool(&self, id: &UnitId) -> Vec<&Unit> {
        let Some((file, local)) = self.place(id) else {
            return Vec::new();
        };
        let facts = &file.facts;
        let own = file.units();
        let own = own
            .order
            .iter()
            .filter(|other| !facts.within(**other, local) && !facts.within(local, **other));
        let number = self.file_of(&file.path).unwrap_or_default();
        own.map(|other| &file.units().all[*other as usize])
            .chain(self.imported(number).flat_map(File::in_order))
            .filter(|unit| unit.kind != UnitKind::Attribute)
            .collect()
    }
}

impl File {
    fn units(&self) -> &Units {
        self.units
            .get_or_init(|| Units::new(&self.path, &self.text, &self.facts))
    }

    fn in_order(&self) -> impl Iterator<Item = &Unit> {
        let units = self.units();
        units.order.iter().map(|unit| &units.all[*unit as usize])
    }
}

impl Units {
    fn new(path: &RepoPath, text: &str, facts: &Facts) -> Self {
        let lines = Lines::new(text);
        let mut all: Vec<Unit> = Vec::with_capacity(facts.units.len());
        let mut by_id = HashMap::with_capacity(facts.units.len());
        for (local, raw) in facts.units.iter().enumerate() {
            let unit = Unit::cut(path, text, &lines, facts, raw, &all);
            by_id.insert(unit.id.clone(), local as Local);
            all.push(unit);
        }
        let mut order: Vec<Local> = (0..all.len() as Local).collect();
        order.sort_by_key(|unit| facts.units[*unit as usize].head);
        Self {
            all,
            order,
            by_id,
            lines,
        }
    }
}
