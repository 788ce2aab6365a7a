//! The `as-released` mode: what the paper's published indexer says of a repository.
//!
//! [`ReleasedIndex`] reproduces `src/context_formulation/structured_indexer/ast_parser.py` of the
//! paper's package (solis-team/Hydra), the program behind its published figures, flaws included.
//! [`crate::RepoIndex`] is the correct index. `tests/released_parity.rs` compares this one with the
//! original's output; `scripts/parity/released_index.py` makes that.
//!
//! ```
//! use hydra_core::RepoPath;
//! use hydra_pyindex::released::ReleasedIndex;
//!
//! let sources = [
//!     ("m.py", "def f():\n    return 1\ndef g():\n    return 2\n"),
//!     ("use.py", "from m import f\nimport m\ndef h():\n    return f() + m.g()\n"),
//! ];
//! let sources = sources.map(|(path, text)| (RepoPath::new(path).unwrap(), text.to_owned()));
//! let index = ReleasedIndex::from_sources("/repo", sources)?;
//! let h = &index.components["h@use.py"];
//! assert_eq!(h.outgoing_calls.function[0].as_str(), "f@m.py");
//! // `m.g` isn't traced, so the true dependency is called noise.
//! assert_eq!(index.noise(h).function[0].as_str(), "g@m.py");
//! # Ok::<(), hydra_pyindex::IndexError>(())
//! ```
//!
//! # What it does
//!
//! Files
//! - Every `.py` file below the root; one that `ast.parse` refuses, or that begins with a byte-order
//!   mark or isn't UTF-8, has no components, but its path still counts as a module's.
//!
//! Components: `name@path`, of five types
//! - `variable`: a plain assignment directly in the module to a bare name; whole lines. Annotated,
//!   augmented, tuple and guarded ones are none. The last assignment counts.
//! - `class`: directly in the module. `method`: directly in such a class, `Class.name@path`.
//! - `function`: outside every function and not directly in a class, so that a method below an `if`
//!   of its class is a function.
//! - `inner_function`: `outer.name@path` with the nearest function around it; one directly in a
//!   class is none.
//! - A later component of an id takes an earlier one's place: functions over classes over variables,
//!   `f.g` of a function over `f.g` of a class.
//! - The source begins at `def` or `class`, without decorators and the first line's indentation.
//! - The docstring is the string as Python reads it, not cleaned; `DOCSTRING` stands for none, and
//!   nothing for a variable's.
//! - The signature goes by lines to one with a colon where the parentheses are even, those in strings
//!   and comments counted; what stands behind the colon stays.
//!
//! Dependencies
//! - A component's names are taken from the *first* definition of its name in breadth-first order:
//!   all methods of a name share those of the first one, and a guarded function may have a method's.
//!   An inner function below an `if` of its function has none of its own.
//! - Names count as local from the first plain assignment on that the visitor meets, which sees a body
//!   before its decorators and its result's annotation; nested functions share one set.
//!   Positional-or-keyword parameters are local in functions; all others, and every parameter in a
//!   class, aren't. Loop variables, `with ... as`, walrus and tuple targets aren't local.
//! - `self`, `cls` and builtins are never looked up; a builtin at the root of an attribute is.
//! - Attributes are looked up by their root alone: `self.m()` and `m.f()` lead nowhere. Strings,
//!   annotations included, aren't read.
//! - Imports of the whole file count, functions' own included. `import a.b` means `a/b.py` from the
//!   root and resolves nothing; `import m as x` reads `x` as a component `x` of `m`.
//! - `from m import f` means `m.py` beside the file, else from the root; a relative import that leads
//!   to no file is read as an absolute one; a package's `__init__.py` is never meant, so that
//!   `from . import m` and re-exports lead nowhere.
//! - Names from a module named like one of 29 standard ones aren't looked up, even if it is the
//!   repository's, except where a class calls their methods.
//! - A module that is imported with `*` gives only what it defines, also to a `from` import by name.
//! - A name that no import gives means the file's own component, whatever hides it.
//! - An id that doesn't exist stands for the first that begins with it.
//! - Targets are classes, functions and variables. A component may depend on itself, but not on the
//!   class or function around the first definition of its name.
//!
//! Noise
//! - The candidates that aren't dependencies: external entities, then the same file's components,
//!   classes and functions only, so that no variable is ever negative. Repetitions stay.
//! - External entities of a file: all components of `import m` and `from m import *`, the names of
//!   `from m import ...`, and those of a package by searching every file below it for one that
//!   defines them (under the name behind `as`).
//!
//! # What differs
//!
//! - Where the original follows the order of a set or of the file system, this one doesn't change from
//!   run to run: files by path, dependencies as the visitor first meets them, modules of `import`
//!   statements as they are written, a package's files by path.
//! - Links are never followed and `.git`, `__pycache__`, `.hg`, `.tox` and `node_modules` not entered;
//!   files of more than 2 MiB are skipped; so is what ruff's parser refuses and CPython's only later,
//!   such as a keyword given twice.
//! - The newest syntax is accepted, and builtins are those of CPython 3.11; the original takes those of
//!   the Python that runs it. A lone surrogate in a docstring becomes U+FFFD.
//! - Noise is worked out when asked for: a file of `n` functions has `n²` of it.

mod cut;
mod definitions;
mod imports;
mod json;
mod link;
mod names;
mod outline;
mod record;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Component as Part, Path, PathBuf};

use hydra_core::{AtomicFile, CoreError, Progress, RepoPath};
use indexmap::IndexMap;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use serde::{Serialize, Serializer};

use crate::{IndexError, Skipped, load};
pub use record::{Calls, Component, ComponentId, ComponentType, ExternalKnowledge, Record};

use link::Linker;
use outline::Outline;

/// What the released indexer says of a repository. See the [module](self) for its rules.
#[derive(Debug, Clone)]
pub struct ReleasedIndex {
    /// The repository, absolute.
    pub root: PathBuf,
    /// Files by path; in each its variables, classes with their methods, then functions breadth
    /// first. Those of a file stand together.
    pub components: IndexMap<ComponentId, Component>,
    /// The imports of every file that could be parsed, by path.
    pub external_knowledge: BTreeMap<RepoPath, ExternalKnowledge>,
    /// What was left out, by path.
    pub skipped: Vec<Skipped>,
}

impl ReleasedIndex {
    /// Indexes the Python files below `root`.
    ///
    /// # Errors
    /// [`IndexError::NoPython`] if no file can be parsed, and what the file system refuses.
    pub fn build(root: &Path, progress: &dyn Progress) -> Result<Self, IndexError> {
        let tree = load::with_room(0, || load::walk(root))??;
        let folder = load::open(root)?;
        let bar = progress.start("index as released", Some(tree.files.len() as u64));
        let read = |path: RepoPath| {
            let outline = outline::read(&folder, &path).and_then(outline::parse);
            bar.advance(1);
            (path, outline)
        };
        let files = load::with_room(0, || tree.files.into_par_iter().map(read).collect())?;
        let index = Self::assemble(absolute(root)?, files, tree.skipped)?;
        if index.external_knowledge.is_empty() {
            return Err(IndexError::NoPython {
                root: root.to_path_buf(),
                skipped: index.skipped.len(),
            });
        }
        Ok(index)
    }

    /// Indexes files in memory, as if they stood below `root`.
    ///
    /// # Errors
    /// If no thread can be started, or `root` can't be made absolute.
    pub fn from_sources(
        root: impl AsRef<Path>,
        sources: impl IntoIterator<Item = (RepoPath, String)>,
    ) -> Result<Self, IndexError> {
        let sources: BTreeMap<RepoPath, String> = sources.into_iter().collect();
        let parse = |(path, text)| (path, outline::parse(text));
        let files = load::with_room(0, || sources.into_par_iter().map(parse).collect())?;
        Self::assemble(absolute(root.as_ref())?, files, Vec::new())
    }

    fn assemble(
        root: PathBuf,
        files: Vec<(RepoPath, Result<Outline, String>)>,
        mut skipped: Vec<Skipped>,
    ) -> Result<Self, IndexError> {
        let modules: BTreeSet<String> = files.iter().map(|(path, _)| path.to_string()).collect();
        let mut outlines = Vec::new();
        for (path, outline) in files {
            match outline {
                Ok(outline) => outlines.push((path, outline)),
                Err(reason) => skipped.push(Skipped {
                    path: path.to_string(),
                    reason,
                }),
            }
        }
        skipped.sort_by(|a, b| a.path.cmp(&b.path));
        let drafts = outlines.iter();
        let mut components: IndexMap<ComponentId, Component> = drafts
            .flat_map(|(path, outline)| link::components(path, outline))
            .map(|component| (component.id.clone(), component))
            .collect();
        let linker = Linker::new(&modules, &components);
        let linked: Vec<_> = load::with_room(0, || {
            let linked = outlines.par_iter().map(|file| linker.file(file));
            linked.collect()
        })?;
        let mut external_knowledge = BTreeMap::new();
        let mut edges = Vec::with_capacity(components.len());
        for ((path, _), (of_file, external)) in outlines.into_iter().zip(linked) {
            edges.extend(of_file);
            external_knowledge.insert(path, external);
        }
        for (component, (parents, calls)) in components.values_mut().zip(edges) {
            component.parents = parents;
            component.outgoing_calls = calls;
        }
        Ok(Self {
            root,
            components,
            external_knowledge,
            skipped,
        })
    }

    /// The candidates that a component doesn't depend on: what its file imports, then what its file
    /// defines; never variables.
    pub fn noise(&self, component: &Component) -> Calls {
        let outgoing: FxHashSet<&ComponentId> = component.outgoing_calls.iter().collect();
        let external = self.external_knowledge.get(&component.relative_path);
        let external = external.into_iter().flat_map(|file| &file.external_entity);
        let own = self.of_file(component).filter(|id| **id != component.id);
        let ids = external.chain(own).filter(|id| {
            !outgoing.contains(id) && !component.parents.iter().any(|parent| parent == *id)
        });
        let typed = ids.filter_map(|id| Some((self.components.get(id)?.component_type, id)));
        Calls::by_type(typed.filter(|(kind, _)| *kind != ComponentType::Variable))
    }

    /// The components of a component's file.
    fn of_file(&self, component: &Component) -> impl Iterator<Item = &ComponentId> {
        let file = &component.relative_path;
        // Files stand one behind the other, by path.
        let first = self
            .components
            .partition_point(|_, other| other.relative_path < *file);
        let after = self
            .components
            .partition_point(|_, other| other.relative_path <= *file);
        let slice = self.components.get_range(first..after);
        slice.into_iter().flat_map(|components| components.keys())
    }

    /// A component as it is published.
    pub fn record<'a>(&self, component: &'a Component) -> Record<'a> {
        let path = component.relative_path.under(&self.root);
        Record {
            id: &component.id,
            component_type: component.component_type,
            clean_name: &component.clean_name,
            file_path: path.to_string_lossy().into_owned(),
            relative_path: &component.relative_path,
            outgoing_calls: &component.outgoing_calls,
            start_line: component.start_line,
            end_line: component.end_line,
            has_docstring: component.has_docstring,
            docstring: &component.docstring,
            source_code: &component.source_code,
            noise: self.noise(component),
            out_count: component.outgoing_calls.count(),
            signature: &component.signature,
        }
    }

    /// Writes `dependency_graph.json` and `external_knowledge.json` as the released indexer does:
    /// two spaces a level, ASCII only, no newline at the end.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn write(&self, folder: &Path) -> Result<(), IndexError> {
        write_file(&folder.join("dependency_graph.json"), &Graph(self))?;
        let external = folder.join("external_knowledge.json");
        write_file(&external, &self.external_knowledge)
    }
}

struct Graph<'a>(&'a ReleasedIndex);

impl Serialize for Graph<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let components = self.0.components.iter();
        serializer.collect_map(components.map(|(id, component)| (id, self.0.record(component))))
    }
}

fn write_file(path: &Path, value: &impl Serialize) -> Result<(), IndexError> {
    let mut file = AtomicFile::create(path)?;
    json::write(&mut file, value).map_err(|e| CoreError::io(path)(e.into()))?;
    file.flush().map_err(CoreError::io(path))?;
    file.commit()?;
    Ok(())
}

/// Python's `os.path.abspath`: links stay, `..` takes the part before it away.
fn absolute(path: &Path) -> Result<PathBuf, IndexError> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let full = std::path::absolute(path).map_err(CoreError::io(path))?;
    let mut plain = PathBuf::new();
    for part in full.components() {
        if part == Part::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    Ok(plain)
}
