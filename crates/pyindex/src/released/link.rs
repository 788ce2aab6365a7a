//! From names to components, by the released rules.

use std::collections::BTreeSet;
use std::ops::Bound;

use hydra_core::RepoPath;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxHashMap;

use super::imports::{Imports, passed_over};
use super::outline::{Draft, Outline};
use super::uses::Use;
use super::{Calls, Component, ComponentId, ComponentType, ExternalKnowledge};

/// All components, without their dependencies.
type Components = IndexMap<ComponentId, Component>;

/// What is known of the whole repository.
pub(super) struct Linker<'a> {
    /// Every Python file that was found, whether it can be parsed or not.
    modules: &'a BTreeSet<String>,
    components: &'a Components,
    /// The places of the classes, functions and variables whose id ends with `@` and this.
    ends: FxHashMap<&'a str, Vec<usize>>,
    sorted: Vec<&'a str>,
}

/// The components of a file without dependencies, in the released order.
pub(super) fn components<'a>(
    path: &'a RepoPath,
    outline: &'a Outline,
) -> impl Iterator<Item = Component> + 'a {
    outline.drafts.iter().map(move |(name, draft)| Component {
        id: ComponentId::new(&format!("{name}@{path}")),
        component_type: draft.component_type,
        clean_name: draft.clean_name.clone(),
        relative_path: path.clone(),
        outgoing_calls: Calls::default(),
        start_line: draft.start_line,
        end_line: draft.end_line,
        has_docstring: draft.docstring.is_some(),
        docstring: match &draft.docstring {
            Some(text) => text.clone(),
            None if draft.component_type == ComponentType::Variable => String::new(),
            None => "DOCSTRING".to_owned(),
        },
        source_code: draft.source_code.clone(),
        signature: draft.signature.clone(),
        parents: Vec::new(),
    })
}

impl<'a> Linker<'a> {
    pub fn new(modules: &'a BTreeSet<String>, components: &'a Components) -> Self {
        let mut ends: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        let mut sorted = Vec::with_capacity(components.len());
        for (place, component) in components.values().enumerate() {
            let id = component.id.as_str();
            sorted.push(id);
            if component.component_type.is_target() {
                for (at, _) in id.match_indices('@') {
                    ends.entry(&id[at + 1..]).or_default().push(place);
                }
            }
        }
        sorted.sort_unstable();
        Self {
            modules,
            components,
            ends,
            sorted,
        }
    }

    /// The parents and dependencies of a file's components in their order, and its imports.
    pub fn file(
        &self,
        (path, outline): &(RepoPath, Outline),
    ) -> (Vec<(Vec<ComponentId>, Calls)>, ExternalKnowledge) {
        let imports = Imports::new(path, &outline.imports, self.modules);
        let one = |(name, draft): (&String, &Draft)| {
            let parents = self.parents(&format!("{name}@{path}"), draft);
            let calls = self.outgoing(path, &imports, &draft.uses, &parents);
            (parents, calls)
        };
        let edges = outline.drafts.iter().map(one).collect();
        (edges, self.external(imports))
    }

    /// What a component may never depend on: what holds it.
    fn parents(&self, id: &str, draft: &Draft) -> Vec<ComponentId> {
        // Released `ast_parser.py`: the part between the first and the second `@`, which is no
        // file's path where that path has an `@` itself.
        let mut parts = id.split('@');
        let dotted = parts.next().is_some_and(|name| name.contains('.'));
        let module = parts.next().unwrap_or("");
        let parents = draft.parents.iter();
        let ids = parents.map(|name| ComponentId::new(&format!("{name}@{module}")));
        let holds = |id: &ComponentId| {
            let kind = self.components.get(id).map(|c| c.component_type);
            matches!(kind, Some(ComponentType::Class | ComponentType::Function))
        };
        ids.filter(|id| !dotted || holds(id)).collect()
    }

    /// What a component depends on, in the order in which the names are met; the released
    /// indexer holds a set here.
    fn outgoing(
        &self,
        path: &RepoPath,
        imports: &Imports,
        uses: &[Use],
        parents: &[ComponentId],
    ) -> Calls {
        let parent = |id: &str| parents.iter().any(|p| p.as_str() == id);
        let named: IndexSet<String> = uses
            .iter()
            .filter_map(|one| self.target(path, imports, one))
            .filter(|id| !parent(id))
            .collect();
        let found: IndexSet<(ComponentType, &ComponentId)> = named
            .iter()
            .filter_map(|id| {
                self.components.get(id.as_str()).or_else(|| {
                    let near = self.first_with_prefix(id)?;
                    (!parent(near.id.as_str())).then_some(near)
                })
            })
            .map(|component| (component.component_type, &component.id))
            .collect();
        Calls::by_type(found)
    }

    /// The id that a use means, whether there is such a component or not.
    fn target(&self, path: &RepoPath, imports: &Imports, one: &Use) -> Option<String> {
        match one {
            Use::Name(name) => Some(
                self.aliased(imports, name)
                    .or_else(|| self.imported(imports, name))
                    .unwrap_or_else(|| format!("{name}@{path}")),
            ),
            Use::Root(name) => self.imported(imports, name),
            Use::Receiver(name) => {
                let found = imports
                    .from
                    .iter()
                    .find(|(module, names)| names.has(name) && self.modules.contains(*module));
                found.map(|(module, _)| format!("{name}@{module}"))
            }
        }
    }

    /// A name behind `as`. `import m as x` makes `x` a component of `m` itself.
    fn aliased(&self, imports: &Imports, name: &str) -> Option<String> {
        let original = imports.aliases.get(name)?;
        match original.rsplit_once('.') {
            Some((module, imported)) if !original.ends_with(".py") => {
                let module = format!("{}.py", module.replace('.', "/"));
                let known = self.modules.contains(&module);
                known.then(|| format!("{imported}@{module}"))
            }
            _ => {
                let known = self.modules.contains(original);
                known.then(|| format!("{name}@{original}"))
            }
        }
    }

    /// A name of `from m import ...`. A module that is also imported with `*` gives only what it
    /// defines itself.
    fn imported(&self, imports: &Imports, name: &str) -> Option<String> {
        imports.from.iter().find_map(|(module, names)| {
            if passed_over(module) || !self.modules.contains(module) {
                return None;
            }
            let id = format!("{name}@{module}");
            let found = if names.star() {
                let component = self.components.get(id.as_str());
                component.is_some_and(|c| c.component_type.is_target())
            } else {
                names.has(name)
            };
            found.then_some(id)
        })
    }

    /// Released `ast_parser.py`: an id that doesn't exist stands for the first that begins with
    /// it, such as one of `a.py.d/b.py` for one of `a.py`.
    fn first_with_prefix(&self, id: &str) -> Option<&'a Component> {
        let (_, module) = id.split_once('@')?;
        if !self.modules.contains(module) {
            return None;
        }
        let from = self.sorted.partition_point(|other| *other < id);
        let near = self.sorted[from..].iter();
        let places = near
            .take_while(|other| other.starts_with(id))
            .filter_map(|other| self.components.get_index_of(*other));
        let (_, component) = self.components.get_index(places.min()?)?;
        Some(component)
    }

    /// What a file imports: the candidates that come from other files.
    fn external(&self, imports: Imports) -> ExternalKnowledge {
        let mut entities = Vec::new();
        for module in &imports.modules {
            if self.modules.contains(module) {
                entities.extend(self.all_of(module));
            }
        }
        for (module, names) in &imports.from {
            let of_file = |name: &String| imports.originals.get(name).unwrap_or(name).clone();
            let listed = names.listed.iter().filter(|name| *name != "*");
            if self.modules.contains(module) {
                if names.star() {
                    entities.extend(self.all_of(module));
                    continue;
                }
                let ids = listed.map(|name| format!("{}@{module}", of_file(name)));
                entities.extend(
                    ids.filter_map(|id| self.components.get(id.as_str()))
                        .map(|c| c.id.clone()),
                );
                continue;
            }
            let package = module.replace(".py", "");
            if !self.modules.contains(&format!("{package}/__init__.py")) {
                continue;
            }
            entities.extend(listed.filter_map(|name| {
                // Looked for under the name behind `as`, written down under the other.
                let source = self.source_in(&package, name)?;
                Some(ComponentId::new(&format!("{}@{source}", of_file(name))))
            }));
        }
        ExternalKnowledge {
            import_statements: imports.statements,
            external_entity: entities,
        }
    }

    fn all_of(&self, module: &str) -> impl Iterator<Item = ComponentId> {
        let places = self.ends.get(module).into_iter().flatten();
        places.filter_map(|&place| {
            let (id, _) = self.components.get_index(place)?;
            Some(id.clone())
        })
    }

    /// The first file by path, at any depth of a package, that defines a name. The released
    /// indexer takes any.
    fn source_in(&self, package: &str, name: &str) -> Option<&'a str> {
        // A folder named so is cut out of the path wherever it stands.
        let init = format!("{package}/__init__.py");
        let folder = format!("{}/", init.replace("/__init__.py", ""));
        let from = (Bound::Included(folder.as_str()), Bound::Unbounded);
        self.modules
            .range::<str, _>(from)
            .take_while(|module| module.starts_with(&folder))
            .filter(|module| !module.ends_with("__init__.py"))
            .find(|module| {
                let id = format!("{name}@{module}");
                self.components.contains_key(id.as_str())
            })
            .map(String::as_str)
    }
}
