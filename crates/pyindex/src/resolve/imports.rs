//! Names of other modules: imports, re-exports, star imports, `__all__`.

use std::collections::BTreeSet;

use super::memos::Answer;
use super::value::{Meaning, Reach, Value, Values};
use super::{Place, Resolver, World};
use crate::modules::{Found, ModuleId};
use crate::outline::Binding;
use crate::unit::{ImportTarget, Provenance};

impl<W: World> Resolver<'_, W> {
    /// The units and modules that an import of `name` from a module means.
    pub fn imported(&mut self, module: ModuleId, name: &str) -> (Vec<Place>, Vec<ModuleId>) {
        let meaning = self.module_attribute(module, name, Provenance::Import);
        let modules = meaning.values.iter().filter_map(|value| match value {
            Value::Module(module) => Some(*module),
            _ => None,
        });
        let units = meaning.reached.iter().map(|(place, _)| *place);
        (units.collect(), modules.collect())
    }

    /// Why a name of a module could not be traced.
    pub fn unresolved(&mut self, module: ModuleId, name: &str) -> ImportTarget {
        let Some(file) = self.world.modules().file(module) else {
            return ImportTarget::Missing;
        };
        let outline = self.outline(file);
        let known = outline.body.names.get(name).is_some_and(|name| {
            let mut bounds = outline.bounds_of(0, name);
            bounds.any(|bound| bound.binding != Binding::Deleted)
        });
        if name == "*" {
            ImportTarget::Module(self.world.path(file))
        } else if known || outline.body.stars.iter().any(|star| star.scope == 0) {
            ImportTarget::Passed
        } else if outline.body.dynamic {
            ImportTarget::Dynamic
        } else {
            ImportTarget::Missing
        }
    }

    pub(super) fn global(&mut self, file: u32, name: &str) -> Answer {
        let outline = self.outline(file);
        match outline.body.names.get(name) {
            Some(name) => self.bound(file, 0, name),
            None => {
                let meaning = self.starred(file, name, None);
                self.memos.keep(meaning)
            }
        }
    }

    pub(super) fn module_attribute(
        &mut self,
        module: ModuleId,
        name: &str,
        how: Provenance,
    ) -> Meaning {
        let modules = self.world.modules();
        let own = modules.file(module).map(|file| self.global(file, name));
        match own.map(|own| self.memos.of(own)) {
            Some(own) if !own.is_empty() => Meaning {
                reached: own.reached.iter().map(|(place, _)| (*place, how)).collect(),
                values: Values::from_slice(&own.values),
            },
            _ => Meaning {
                reached: Reach::new(),
                values: modules
                    .child(module, name)
                    .map(Value::Module)
                    .into_iter()
                    .collect(),
            },
        }
    }

    /// A name that a module takes from `from m import *` behind `after`; the last such import
    /// wins.
    pub(super) fn starred(&mut self, file: u32, name: &str, after: Option<u32>) -> Meaning {
        let outline = self.outline(file);
        for star in outline.body.stars.iter().rev() {
            if star.scope != 0 || after.is_some_and(|event| star.event < event) || self.spent() {
                continue;
            }
            let module = outline.body.module(star.module);
            let Found::Module(module) = self.world.modules().resolve(file, module) else {
                continue;
            };
            let Some(exporter) = self.world.modules().file(module) else {
                continue;
            };
            let listed = self.exports(exporter, name);
            let visible = listed.unwrap_or(!name.starts_with('_'));
            if !visible || exporter == file {
                continue;
            }
            self.depth += 1;
            // With `__all__`, a submodule can be exported, too.
            let found = match listed {
                Some(_) => self.module_attribute(module, name, Provenance::Import),
                None => {
                    let global = self.global(exporter, name);
                    self.memos.of(global).clone()
                }
            };
            self.depth -= 1;
            if !found.is_empty() {
                let import = |(place, _): &(Place, Provenance)| (*place, Provenance::Import);
                return Meaning {
                    reached: found.reached.iter().map(import).collect(),
                    values: found.values,
                };
            }
        }
        Meaning::default()
    }

    /// Whether a module's `__all__` lists a name; nothing, if it has none that can be read.
    pub(super) fn exports(&mut self, file: u32, name: &str) -> Option<bool> {
        let outline = self.outline(file);
        let exports = outline.body.exported.as_ref()?;
        let name_here = outline.body.names.get(name);
        if name_here.is_some_and(|name| exports.names.contains(&name)) {
            return Some(true);
        }
        for used in &exports.others {
            if self.spent() {
                break;
            }
            // The use ends in the other module's own `__all__`.
            let mut reached = Vec::new();
            self.walk(file, *used, Some(&mut reached));
            let other = reached.last().map(|r| r.place.0).filter(|f| *f != file);
            self.depth += 1;
            let listed = other.and_then(|other| self.exports(other, name));
            self.depth -= 1;
            if listed == Some(true) {
                return listed;
            }
        }
        Some(false)
    }

    /// The files that a file's module-level imports mean, and those that define what they name.
    pub fn imported_files(&mut self) -> BTreeSet<u32> {
        let file = self.file;
        let outline = self.outline(file);
        let mut found = BTreeSet::new();
        for bound in &outline.body.bound {
            self.work = 0;
            match bound.binding {
                Binding::Module(module) | Binding::Package(module) if bound.scope == 0 => {
                    let name = outline.body.module(module);
                    let modules = self.world.modules();
                    if let Found::Module(module) = modules.resolve(file, name) {
                        found.extend(modules.file(module));
                    }
                    if matches!(bound.binding, Binding::Package(_)) {
                        let package = modules.package(file, name);
                        found.extend(package.and_then(|package| modules.file(package)));
                    }
                }
                Binding::Member(module, name) if bound.scope == 0 => {
                    let module = outline.body.module(module);
                    let Found::Module(module) = self.world.modules().resolve(file, module) else {
                        continue;
                    };
                    found.extend(self.world.modules().file(module));
                    let name = outline.body.names.text(name);
                    let meaning = self.module_attribute(module, name, Provenance::Import);
                    found.extend(meaning.reached.iter().map(|((definer, _), _)| *definer));
                    for value in meaning.values {
                        if let Value::Module(module) = value {
                            found.extend(self.world.modules().file(module));
                        }
                    }
                }
                _ => {}
            }
        }
        for star in &outline.body.stars {
            let module = outline.body.module(star.module);
            let exporter = match self.world.modules().resolve(file, module) {
                Found::Module(module) if star.scope == 0 => self.world.modules().file(module),
                _ => None,
            };
            let Some(exporter) = exporter else { continue };
            found.insert(exporter);
            let exports = self.outline(exporter);
            for bound in exports.body.bound.iter().filter(|b| b.scope == 0) {
                self.work = 0;
                let meaning = self.name(exporter, 0, bound.name);
                found.extend(
                    self.memos
                        .of(meaning)
                        .reached
                        .iter()
                        .map(|((definer, _), _)| *definer),
                );
            }
        }
        found.remove(&file);
        found
    }
}
