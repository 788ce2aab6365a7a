//! The index of one repository.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use hydra_core::{Progress, RepoPath, UnitId};
use rayon::prelude::*;

use crate::modules::Modules;
use crate::outline::{Local, Outline};
use crate::resolve::{Place, Resolver};
use crate::unit::{Dependency, Skipped, Unit};
use crate::{IndexError, load};

/// Every unit of a repository and what it depends on. All answers are in file order: by path,
/// then by place in the file.
#[derive(Debug)]
pub struct RepoIndex {
    paths: Vec<RepoPath>,
    outlines: Vec<Outline>,
    modules: Modules,
    places: HashMap<UnitId, Place>,
    skipped: Vec<Skipped>,
}

impl RepoIndex {
    /// Indexes the Python files below `root`. Links are not followed; a file that can't be read
    /// or parsed is left out, with the reason in [`RepoIndex::skipped`].
    ///
    /// # Errors
    /// [`IndexError::NoPython`] if nothing is left, and what the file system refuses.
    pub fn build(root: &Path, progress: &dyn Progress) -> Result<Self, IndexError> {
        let mut paths = Vec::new();
        let mut skipped = Vec::new();
        load::walk(root, &mut paths, &mut skipped)?;
        let bar = progress.start("index", Some(paths.len() as u64));
        let parsed: Vec<_> = load::with_room(|| {
            paths
                .into_par_iter()
                .map(|path| {
                    let outline = load::read(root, &path).and_then(|t| load::parse(&path, &t));
                    bar.advance(1);
                    (path, outline)
                })
                .collect()
        })?;
        let index = Self::assemble(parsed, skipped);
        if index.paths.is_empty() {
            return Err(IndexError::NoPython {
                root: root.to_path_buf(),
                skipped: index.skipped.len(),
            });
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
        let sources: BTreeMap<RepoPath, String> = sources.into_iter().collect();
        let parsed = load::with_room(|| {
            sources
                .into_par_iter()
                .map(|(path, text)| {
                    let outline = load::parse(&path, &text);
                    (path, outline)
                })
                .collect::<Vec<_>>()
        })?;
        Ok(Self::assemble(parsed, Vec::new()))
    }

    fn assemble(
        parsed: Vec<(RepoPath, Result<Outline, String>)>,
        mut skipped: Vec<Skipped>,
    ) -> Self {
        let mut paths = Vec::new();
        let mut outlines = Vec::new();
        for (path, outline) in parsed {
            match outline {
                Ok(outline) => {
                    paths.push(path);
                    outlines.push(outline);
                }
                Err(reason) => skipped.push(Skipped {
                    path: path.to_string(),
                    reason,
                }),
            }
        }
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        let modules = Modules::new(&paths);
        let mut places = HashMap::new();
        for (file, outline) in outlines.iter().enumerate() {
            for (local, unit) in outline.units.iter().enumerate() {
                places.insert(unit.id.clone(), (file, local));
            }
        }
        Self {
            paths,
            outlines,
            modules,
            places,
            skipped,
        }
    }

    fn resolver(&self) -> Resolver<'_> {
        Resolver {
            paths: &self.paths,
            outlines: &self.outlines,
            modules: &self.modules,
        }
    }

    fn file_of(&self, path: &RepoPath) -> Option<usize> {
        self.paths.binary_search(path).ok()
    }

    /// All units.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.outlines.iter().flat_map(|o| &o.units)
    }

    /// A unit by its id.
    pub fn unit(&self, id: &UnitId) -> Option<&Unit> {
        let &(file, local) = self.places.get(id)?;
        Some(&self.outlines[file].units[local])
    }

    /// The files in the index.
    pub fn files(&self) -> impl Iterator<Item = &RepoPath> {
        self.paths.iter()
    }

    /// The units of a file; none if it isn't in the index.
    pub fn file_units(&self, path: &RepoPath) -> impl Iterator<Item = &Unit> {
        let file = self.file_of(path);
        file.into_iter().flat_map(|f| &self.outlines[f].units)
    }

    /// The files that were left out.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The unit that a file defines under a qualified name; the last one of several.
    pub fn find(&self, path: &RepoPath, qualname: &str) -> Option<&Unit> {
        let units = &self.outlines[self.file_of(path)?].units;
        units.iter().rev().find(|unit| unit.qualname == qualname)
    }

    /// The module-level import statements of a file, as written.
    pub fn import_statements(&self, path: &RepoPath) -> Vec<String> {
        self.file_of(path)
            .map(|file| self.outlines[file].import_statements.clone())
            .unwrap_or_default()
    }

    /// What a unit uses inside its repository, what it holds included; never itself, what it
    /// holds, or what holds it.
    pub fn dependencies(&self, id: &UnitId) -> Vec<Dependency> {
        let Some(&(file, local)) = self.places.get(id) else {
            return Vec::new();
        };
        let outline = &self.outlines[file];
        let resolver = self.resolver();
        let mut found = BTreeMap::new();
        for (unit, used) in &outline.uses {
            if !unit.is_some_and(|unit| within(outline, unit, local)) {
                continue;
            }
            if let Some((place, provenance)) = resolver.resolve(file, used) {
                let related = place.0 == file
                    && (within(outline, place.1, local) || within(outline, local, place.1));
                if !related {
                    found.entry(place).or_insert((used.kind, provenance));
                }
            }
        }
        found
            .into_iter()
            .map(|((file, local), (kind, provenance))| Dependency {
                unit: self.outlines[file].units[local].id.clone(),
                kind,
                provenance,
            })
            .collect()
    }

    /// The files that a file's module-level imports mean (one hop), and those that define the
    /// imported names; without the file itself.
    pub fn imported_files(&self, path: &RepoPath) -> Vec<RepoPath> {
        let Some(file) = self.file_of(path) else {
            return Vec::new();
        };
        let files = self.resolver().imported_files(file);
        files.into_iter().map(|f| self.paths[f].clone()).collect()
    }

    /// The candidates of a function: the units of its file, then those of the imported files,
    /// without itself, what it holds, and what holds it, whose sources contain its body.
    /// Imports inside the function play no part.
    pub fn pool(&self, id: &UnitId) -> Vec<&Unit> {
        let Some(&(file, local)) = self.places.get(id) else {
            return Vec::new();
        };
        let outline = &self.outlines[file];
        let own =
            outline.units.iter().enumerate().filter(|&(other, _)| {
                !within(outline, other, local) && !within(outline, local, other)
            });
        let imported = self.resolver().imported_files(file);
        own.map(|(_, unit)| unit)
            .chain(imported.into_iter().flat_map(|f| &self.outlines[f].units))
            .collect()
    }
}

/// Whether `inner` is `outer` or lies in it.
fn within(outline: &Outline, inner: Local, outer: Local) -> bool {
    let mut at = Some(inner);
    while let Some(unit) = at {
        if unit == outer {
            return true;
        }
        at = outline.parents[unit];
    }
    false
}
