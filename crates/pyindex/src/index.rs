//! The index of one repository.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use hydra_core::{Progress, RepoPath, UnitId};
use rayon::prelude::*;

use crate::cache::{
    Cache, ContentHash, Resolved, Snapshot, SnapshotFile, SnapshotSkip, pack_outline,
};
use crate::modules::{Found, Modules};
use crate::outline::{Binding, Facts, Local, Outline};
use crate::parse::{Parser, outline};
use crate::resolve::{Loaded, Resolver, World};
use crate::source::Lines;
use crate::unit::{Dependency, Edge, Import, ImportTarget, Skipped, Unit, UnitKind};
use crate::{IndexError, load};

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
    work: Work,
}

#[derive(Debug)]
struct File {
    path: RepoPath,
    text: String,
    hash: ContentHash,
    /// [`Outline::interface`], where there is a cache.
    interface: u64,
    facts: Arc<Facts>,
    loaded: OnceLock<Loaded>,
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

/// A file that was read, and its outline if it isn't known from before.
struct Fresh {
    path: RepoPath,
    text: String,
    hash: ContentHash,
    known: Option<SnapshotFile>,
    outline: Option<Outline>,
    /// [`Outline::interface`], where there is a cache.
    interface: u64,
    parsed: bool,
}

/// A file that can't be indexed.
struct Refused {
    kept: SnapshotSkip,
    /// Whether a parser said so, and not the last index.
    parsed: bool,
}

/// The last index of the repository, taken apart.
#[derive(Default)]
struct Before {
    files: HashMap<String, Known>,
    /// How many files were in it.
    count: usize,
    roots: Vec<(u32, bool)>,
}

/// What the last index said of a file.
enum Known {
    Indexed(SnapshotFile),
    Refused(SnapshotSkip),
}

impl Before {
    fn new(snapshot: Snapshot) -> Self {
        let count = snapshot.files.len();
        let indexed = snapshot.files.into_iter();
        let indexed = indexed.map(|file| (file.path.clone(), Known::Indexed(file)));
        let refused = snapshot.refused.into_iter();
        let refused = refused.map(|file| (file.path.clone(), Known::Refused(file)));
        Self {
            files: indexed.chain(refused).collect(),
            count,
            roots: snapshot.roots,
        }
    }

    fn take(&mut self, path: &RepoPath) -> Option<Known> {
        self.files.remove(path.as_str())
    }
}

/// Files as resolution sees them: an outline that isn't there is fetched, or made again.
struct Repository<'a> {
    files: &'a [File],
    modules: &'a Modules,
    parser: Parser,
    cache: Option<&'a Cache>,
}

impl World for Repository<'_> {
    fn modules(&self) -> &Modules {
        self.modules
    }

    fn path(&self, file: u32) -> RepoPath {
        self.files[file as usize].path.clone()
    }

    fn outline(&self, file: u32) -> &Loaded {
        let file = &self.files[file as usize];
        file.loaded.get_or_init(|| {
            let stored = self
                .cache
                .and_then(|cache| cache.outline(self.parser, &file.hash).ok().flatten());
            // It was parsed before, or there would be no facts of it.
            let outline = stored
                .or_else(|| outline(self.parser, &file.text).ok())
                .unwrap_or_default();
            Loaded::with_facts(file.facts.clone(), outline.body, outline.bounds)
        })
    }
}

impl RepoIndex {
    /// Indexes the Python files below `root`. Links are not followed; a file that can't be read
    /// is left out, with the reason in [`RepoIndex::skipped`]; of a file with syntax errors what
    /// parses is kept ([`RepoIndex::broken`]).
    ///
    /// # Errors
    /// [`IndexError::NoPython`] if nothing is left, and what the file system refuses.
    pub fn build(root: &Path, progress: &dyn Progress) -> Result<Self, IndexError> {
        Self::build_with(root, &Options::default(), None, progress)
    }

    /// [`RepoIndex::build`] with options and a cache. A cache that fails is reported through
    /// `progress`, and the index is made without it.
    ///
    /// # Errors
    /// As for [`RepoIndex::build`].
    pub fn build_with(
        root: &Path,
        options: &Options,
        cache: Option<&Cache>,
        progress: &dyn Progress,
    ) -> Result<Self, IndexError> {
        let tree = load::walk(root)?;
        let mut before = Before::default();
        let mut store = None;
        if let (Some(cache), Ok(name)) = (cache, std::fs::canonicalize(root)) {
            let name = name.to_string_lossy().into_owned();
            match cache.snapshot(options.parser, &name) {
                Ok(snapshot) => {
                    before = Before::new(snapshot.unwrap_or_default());
                    store = Some((cache, name));
                }
                Err(e) => progress.warn(&format!("the index is made without the cache: {e}")),
            }
        }
        let cache = store.as_ref().map(|(cache, _)| *cache);
        let bar = progress.start("index", Some(tree.files.len() as u64));
        let (index, new) = load::with_room(options.jobs, || {
            let known: Vec<_> = tree
                .files
                .into_iter()
                .map(|path| (before.take(&path), path))
                .collect();
            let fresh = known
                .into_par_iter()
                .map(|(known, path)| {
                    let fresh = refresh(root, path, known, options, cache);
                    bar.advance(1);
                    fresh
                })
                .collect();
            let (skipped, metadata) = (tree.skipped, &tree.metadata);
            Self::assemble(fresh, skipped, metadata, options, cache, &before)
        })?;
        if index.files.is_empty() {
            return Err(IndexError::NoPython {
                root: root.to_path_buf(),
                skipped: index.skipped.len(),
            });
        }
        if let Some((cache, name)) = store
            && (index.work != Work::default() || before.count != index.files.len())
            && let Err(e) = cache.store(options.parser, &name, &new, &index.snapshot())
        {
            progress.warn(&format!("the index could not be kept: {e}"));
        }
        Ok(index)
    }

    /// Indexes files that are in memory.
    ///
    /// # Errors
    /// Only if no thread can be started.
    pub fn from_sources(
        sources: impl IntoIterator<Item = (RepoPath, String)>,
    ) -> Result<Self, IndexError> {
        Self::from_sources_with(sources, &Options::default())
    }

    /// [`RepoIndex::from_sources`] with options.
    ///
    /// # Errors
    /// Only if no thread can be started.
    pub fn from_sources_with(
        sources: impl IntoIterator<Item = (RepoPath, String)>,
        options: &Options,
    ) -> Result<Self, IndexError> {
        let sources: BTreeMap<RepoPath, String> = sources.into_iter().collect();
        load::with_room(options.jobs, || {
            let fresh = sources
                .into_par_iter()
                .map(|(path, text)| {
                    let hash = blake3::hash(text.as_bytes()).into();
                    read(
                        path,
                        hash,
                        load::decode(text.into_bytes()),
                        None,
                        options,
                        None,
                    )
                })
                .collect();
            let metadata = BTreeSet::new();
            Self::assemble(
                fresh,
                Vec::new(),
                &metadata,
                options,
                None,
                &Before::default(),
            )
            .0
        })
    }

    /// Puts the files together and resolves what is not known from before; also gives the
    /// outlines that a cache has not.
    fn assemble(
        fresh: Vec<Result<Fresh, Refused>>,
        mut skipped: Vec<Skipped>,
        metadata: &BTreeSet<String>,
        options: &Options,
        cache: Option<&Cache>,
        before: &Before,
    ) -> (Self, Vec<(ContentHash, Vec<u8>)>) {
        let mut read = Vec::with_capacity(fresh.len());
        let mut refused = Vec::new();
        let mut parsed = 0;
        for file in fresh {
            match file {
                Ok(file) => {
                    parsed += usize::from(file.parsed);
                    read.push(file);
                }
                Err(one) => {
                    parsed += usize::from(one.parsed);
                    skipped.push(Skipped {
                        path: one.kept.path.clone(),
                        reason: one.kept.reason.clone(),
                    });
                    refused.push(one.kept);
                }
            }
        }
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        let new = match cache {
            Some(_) => read
                .par_iter()
                .filter(|file| file.parsed)
                .filter_map(|file| {
                    let outline = file.outline.as_ref()?;
                    let packed = pack_outline(options.parser, &file.hash, outline);
                    Some((file.hash, packed))
                })
                .collect(),
            None => Vec::new(),
        };
        // The numbers of other files hold only while the list of files is the same.
        let comparable = read.len() == before.count && read.iter().all(|file| file.known.is_some());
        let mut unchanged = Vec::with_capacity(read.len());
        // What other files can see of it is what it was.
        let mut alike = Vec::with_capacity(read.len());
        let mut files: Vec<File> = Vec::with_capacity(read.len());
        for file in read {
            unchanged.push(file.outline.is_none());
            let known = file.known.as_ref();
            alike.push(known.is_some_and(|known| known.interface == file.interface));
            files.push(File::new(file));
        }
        let paths: Vec<RepoPath> = files.iter().map(|f| f.path.clone()).collect();
        let imports = files.iter().flat_map(|f| &f.facts.absolute);
        let modules = Modules::new(&paths, metadata, imports.map(Vec::as_slice));
        let same_modules = comparable && modules.roots().eq(before.roots.iter().copied());
        let stale: Vec<bool> = (0..files.len())
            .map(|number| {
                let consulted = &files[number].resolved.consulted;
                let holds = |other: &u32| alike.get(*other as usize) == Some(&true);
                !(same_modules && unchanged[number] && consulted.iter().all(holds))
            })
            .collect();
        let repository = Repository {
            files: &files,
            modules: &modules,
            parser: options.parser,
            cache,
        };
        let resolved: Vec<Option<Resolved>> = stale
            .par_iter()
            .enumerate()
            .map(|(number, stale)| stale.then(|| resolve(&repository, number as u32)))
            .collect();
        let work = Work {
            parsed,
            resolved: stale.iter().filter(|s| **s).count(),
        };
        for (file, resolved) in files.iter_mut().zip(resolved) {
            if let Some(resolved) = resolved {
                file.resolved = resolved;
            }
        }
        let index = Self {
            files,
            modules,
            skipped,
            refused,
            parser: options.parser,
            work,
        };
        (index, new)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            files: self
                .files
                .iter()
                .map(|file| SnapshotFile {
                    path: file.path.to_string(),
                    hash: file.hash,
                    interface: file.interface,
                    facts: (*file.facts).clone(),
                    resolved: file.resolved.clone(),
                })
                .collect(),
            refused: self.refused.clone(),
            roots: self.modules.roots().collect(),
        }
    }

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
        let repository = Repository {
            files: &self.files,
            modules: &self.modules,
            parser: self.parser,
            cache: None,
        };
        let outline = repository.outline(file as u32);
        let mut resolver = Resolver::new(&repository, file as u32);
        let mut imports = Vec::new();
        let text = |name| outline.body.names.text(name).to_owned();
        for bound in &outline.body.bound {
            let (module, member) = match bound.binding {
                Binding::Module(module) | Binding::Package(module) => (module, None),
                Binding::Member(module, name) => (module, Some(text(name))),
                _ => continue,
            };
            let name = &outline.body.modules[module as usize];
            imports.push(Import {
                module: name.to_string(),
                target: self.import_target(file as u32, name, member.as_deref(), &mut resolver),
                member,
                bound: text(bound.name),
            });
        }
        for star in &outline.body.stars {
            let name = &outline.body.modules[star.module as usize];
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
        name: &crate::outline::ModuleName,
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

/// Reads a file from disk, and lowers it unless it is known.
fn refresh(
    root: &Path,
    path: RepoPath,
    known: Option<Known>,
    options: &Options,
    cache: Option<&Cache>,
) -> Result<Fresh, Refused> {
    match load::read(root, &path, options.max_bytes) {
        Ok(bytes) => {
            let hash = blake3::hash(&bytes).into();
            read(path, hash, load::decode(bytes), known, options, cache)
        }
        Err(reason) => Err(Refused {
            kept: SnapshotSkip {
                path: path.to_string(),
                hash: ContentHash::default(),
                reason,
            },
            parsed: false,
        }),
    }
}

fn read(
    path: RepoPath,
    hash: ContentHash,
    text: Result<String, String>,
    known: Option<Known>,
    options: &Options,
    cache: Option<&Cache>,
) -> Result<Fresh, Refused> {
    let refused = |reason, parsed| Refused {
        kept: SnapshotSkip {
            path: path.to_string(),
            hash,
            reason,
        },
        parsed,
    };
    let text = text.map_err(|reason| refused(reason, false))?;
    let known = match known {
        Some(Known::Refused(kept)) if kept.hash == hash => {
            return Err(Refused {
                kept,
                parsed: false,
            });
        }
        Some(Known::Indexed(known)) => Some(known),
        _ => None,
    };
    let mut fresh = Fresh {
        path: path.clone(),
        text,
        hash,
        known,
        outline: None,
        interface: 0,
        parsed: false,
    };
    if let Some(known) = &fresh.known
        && known.hash == hash
    {
        fresh.interface = known.interface;
        return Ok(fresh);
    }
    // A store that fails now has been reported, or will be when it is written to.
    let stored = cache.and_then(|cache| cache.outline(options.parser, &hash).ok().flatten());
    fresh.parsed = stored.is_none();
    let outline = match stored {
        Some(outline) => outline,
        None => outline(options.parser, &fresh.text).map_err(|reason| refused(reason, true))?,
    };
    if cache.is_some() {
        fresh.interface = outline.interface();
    }
    fresh.outline = Some(outline);
    Ok(fresh)
}

fn resolve(repository: &Repository<'_>, file: u32) -> Resolved {
    let mut resolver = Resolver::new(repository, file);
    let edges = resolver.edges();
    let imported = resolver.imported_files().into_iter().collect();
    Resolved {
        edges,
        imported,
        consulted: resolver.consulted().into_iter().collect(),
    }
}

impl File {
    fn new(file: Fresh) -> Self {
        let loaded = OnceLock::new();
        let (facts, resolved) = match (file.outline, file.known) {
            (Some(outline), _) => {
                let new = Loaded::new(outline);
                let facts = new.facts.clone();
                let _ = loaded.set(new);
                (facts, Resolved::default())
            }
            (None, Some(known)) => (Arc::new(known.facts), known.resolved),
            (None, None) => Default::default(),
        };
        Self {
            path: file.path,
            text: file.text,
            hash: file.hash,
            interface: file.interface,
            facts,
            loaded,
            resolved,
            units: OnceLock::new(),
        }
    }

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
            let unit = Unit::cut(path, text, &lines, raw, &all);
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
