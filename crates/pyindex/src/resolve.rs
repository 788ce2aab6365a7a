//! From a use of a name to the unit that it means.

use std::collections::BTreeSet;

use hydra_core::RepoPath;

use crate::modules::{Modules, Stem};
use crate::outline::{Binding, Local, Outline, Root, ScopeKind, Use};
use crate::unit::Provenance;

/// Chains of re-exports and of base classes end here; longer ones are cycles.
const MAX_CHAIN: usize = 32;

/// A unit, by file and place in the file.
pub(crate) type Place = (usize, Local);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entity {
    Unit(Place),
    Module(Stem),
    /// `self` or `cls` of a class.
    Instance(Place),
    /// `super()` in a class.
    Bases(Place),
}

pub(crate) struct Resolver<'a> {
    pub paths: &'a [RepoPath],
    pub outlines: &'a [Outline],
    pub modules: &'a Modules,
}

impl Resolver<'_> {
    /// Everything that a use passes on its way to what it means: `m.C.f` uses `C.f` of `m`;
    /// the last unit of the chain is what counts.
    pub fn resolve(&self, file: usize, used: &Use) -> Option<(Place, Provenance)> {
        let outline = &self.outlines[file];
        let (mut entity, mut provenance) = match &used.root {
            Root::Super => (
                Entity::Bases((file, self.class_around(file, used.scope)?)),
                Provenance::SelfMember,
            ),
            Root::Name(name) => {
                let scope = self.scope_of(outline, used.scope, name)?;
                self.bindings(file, scope, name)?
            }
        };
        for attribute in &used.attributes {
            let next = match &entity {
                Entity::Module(stem) => self.module_attribute(stem, attribute, 0),
                Entity::Unit(class) | Entity::Instance(class) => {
                    self.class_attribute(*class, attribute, true, 0)
                }
                Entity::Bases(class) => self.class_attribute(*class, attribute, false, 0),
            };
            let Some(next) = next else {
                // `CONSTANT.upper()` still uses CONSTANT; `module.missing` uses nothing.
                break;
            };
            provenance = match entity {
                Entity::Instance(_) | Entity::Bases(_) => Provenance::SelfMember,
                _ => Provenance::Attribute,
            };
            entity = next;
        }
        match entity {
            Entity::Unit(place) => Some((place, provenance)),
            _ => None,
        }
    }

    /// The class whose method a scope belongs to.
    fn class_around(&self, file: usize, scope: usize) -> Option<Local> {
        let scopes = &self.outlines[file].scopes;
        let mut at = Some(scope);
        while let Some(scope) = at {
            if scopes[scope].kind == ScopeKind::Class {
                return scopes[scope].unit;
            }
            at = scopes[scope].parent;
        }
        None
    }

    /// The scope in which a name is bound, by Python's rules: the own scope, then the functions
    /// around it, then the module; class bodies are passed over from inside.
    fn scope_of(&self, outline: &Outline, from: usize, name: &str) -> Option<usize> {
        let mut at = Some(from);
        while let Some(number) = at {
            let scope = &outline.scopes[number];
            if scope.globals.iter().any(|n| n == name) {
                return Some(0);
            }
            let visible = number == from || scope.kind != ScopeKind::Class;
            if visible && scope.names.contains_key(name) {
                return Some(number);
            }
            at = scope.parent;
        }
        // Not bound anywhere: perhaps by a star import of the module.
        (!outline.scopes[0].stars.is_empty()).then_some(0)
    }

    fn bindings(&self, file: usize, scope: usize, name: &str) -> Option<(Entity, Provenance)> {
        if scope == 0 {
            return self.module_name(file, name, 0);
        }
        let outline = &self.outlines[file];
        let all = outline.scopes[scope].names.get(name)?;
        // A name that is also assigned in a function may hold anything.
        if all.contains(&Binding::Value) {
            return None;
        }
        all.iter().rev().find_map(|b| self.binding(file, b, 0))
    }

    /// A module-level name: what imports bring in counts before what a fallback defines.
    fn module_name(&self, file: usize, name: &str, chain: usize) -> Option<(Entity, Provenance)> {
        let scope = &self.outlines[file].scopes[0];
        if let Some(all) = scope.names.get(name) {
            let imported = |b: &&Binding| !matches!(b, Binding::Unit(_));
            let units = all.iter().rev().filter(|b| !imported(b));
            return all
                .iter()
                .rev()
                .filter(imported)
                .chain(units)
                .find_map(|b| self.binding(file, b, chain));
        }
        if chain > MAX_CHAIN {
            return None;
        }
        scope.stars.iter().rev().find_map(|star| {
            let stem = self.modules.resolve(&self.paths[file], star)?;
            let exporter = self.modules.file(&stem)?;
            let visible = match &self.outlines[exporter].exported {
                Some(names) => names.iter().any(|n| n == name),
                None => !name.starts_with('_'),
            };
            let (entity, _) = visible
                .then(|| self.module_name(exporter, name, chain + 1))
                .flatten()?;
            Some((entity, Provenance::Import))
        })
    }

    fn binding(
        &self,
        file: usize,
        binding: &Binding,
        chain: usize,
    ) -> Option<(Entity, Provenance)> {
        let from = &self.paths[file];
        match binding {
            Binding::Unit(unit) => Some((Entity::Unit((file, *unit)), Provenance::Name)),
            Binding::Instance(class) => {
                Some((Entity::Instance((file, *class)), Provenance::SelfMember))
            }
            Binding::Value => None,
            Binding::Module(name) => {
                let stem = self.modules.resolve(from, name)?;
                Some((Entity::Module(stem), Provenance::Import))
            }
            Binding::Member(module, name) => {
                let stem = self.modules.resolve(from, module)?;
                let entity = self.module_attribute(&stem, name, chain)?;
                Some((entity, Provenance::Import))
            }
        }
    }

    fn module_attribute(&self, stem: &str, name: &str, chain: usize) -> Option<Entity> {
        if chain > MAX_CHAIN {
            return None;
        }
        let own = self
            .modules
            .file(stem)
            .and_then(|file| self.module_name(file, name, chain + 1));
        match own {
            Some((entity, _)) => Some(entity),
            None => self.modules.child(stem, name).map(Entity::Module),
        }
    }

    /// A member of a class, or else of its bases, in order.
    fn class_attribute(&self, class: Place, name: &str, own: bool, chain: usize) -> Option<Entity> {
        if chain > MAX_CHAIN {
            return None;
        }
        let (file, unit) = class;
        let outline = &self.outlines[file];
        let body = outline
            .scopes
            .iter()
            .find(|s| s.kind == ScopeKind::Class && s.unit == Some(unit))?;
        if own && let Some(all) = body.names.get(name) {
            return all.iter().rev().find_map(|binding| match binding {
                Binding::Unit(member) => Some(Entity::Unit((file, *member))),
                _ => None,
            });
        }
        outline.bases.get(&unit)?.iter().find_map(|base| {
            let (place, _) = self.resolve(file, base)?;
            (place != class)
                .then(|| self.class_attribute(place, name, true, chain + 1))
                .flatten()
        })
    }

    /// The files that a file's module-level imports mean, and those that define what they name.
    pub fn imported_files(&self, file: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let scope = &self.outlines[file].scopes[0];
        let from = &self.paths[file];
        let mut names: Vec<_> = scope.names.iter().collect();
        names.sort_by_key(|(name, _)| name.as_str());
        for binding in names.into_iter().flat_map(|(_, all)| all) {
            match binding {
                Binding::Module(name) => {
                    let stem = self.modules.resolve(from, name);
                    found.extend(stem.and_then(|s| self.modules.file(&s)));
                }
                Binding::Member(module, name) => {
                    let Some(stem) = self.modules.resolve(from, module) else {
                        continue;
                    };
                    found.extend(self.modules.file(&stem));
                    match self.module_attribute(&stem, name, 0) {
                        Some(Entity::Unit((definer, _))) => {
                            found.insert(definer);
                        }
                        Some(Entity::Module(stem)) => found.extend(self.modules.file(&stem)),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        for star in &scope.stars {
            let exporter = self
                .modules
                .resolve(from, star)
                .and_then(|stem| self.modules.file(&stem));
            let Some(exporter) = exporter else { continue };
            found.insert(exporter);
            for name in self.outlines[exporter].scopes[0].names.keys() {
                if let Some((Entity::Unit((definer, _)), _)) = self.module_name(exporter, name, 0) {
                    found.insert(definer);
                }
            }
        }
        found.remove(&file);
        found
    }
}
