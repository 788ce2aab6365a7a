//! What resolution needs to know of a file: its units, its scopes, what names are bound to, and
//! every use of a name.
//!
//! A parser's tree is lowered into this once and thrown away, so that resolution does not depend
//! on the parser, and a cache can keep it. Everything is flat: names are numbers into a table of
//! the file, and a use is a root name with a run of steps.

use std::hash::{Hash, Hasher};

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

use crate::EdgeKind;
use crate::unit::{Role, UnitKind};

/// A name of the file, by its number in [`Outline::names`].
pub(crate) type Sym = u32;
/// A unit's place in its file's list.
pub(crate) type Local = u32;
/// A scope's place in its file's list; the module's is 0.
pub(crate) type ScopeId = u32;
/// A use's place in its file's list.
pub(crate) type UseId = u32;

/// What is kept of a file once its names have been resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// In the order in which they were met; attributes of instances come behind their class.
    pub units: Vec<RawUnit>,
    /// Where the module-level import statements stand, in bytes.
    pub import_statements: Vec<(u32, u32)>,
    /// The absolute modules that are imported anywhere, for those of two parts or more.
    pub absolute: Vec<Vec<Box<str>>>,
    /// Lines of the file.
    pub lines: u32,
    /// What the parser could not read; the rest is here.
    pub broken: Option<Box<str>>,
}

/// A unit, without the texts that can be cut out of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RawUnit {
    pub kind: UnitKind,
    pub roles: Vec<Role>,
    pub name: Box<str>,
    /// The enclosing unit.
    pub parent: Option<Local>,
    /// 1, or more where the file defines the same qualified name again.
    pub ordinal: u32,
    /// The unit whose statement this is: itself, or the first one of `a, b = ...`.
    pub statement: Local,
    /// The whole text with decorators and leading comments, in bytes.
    pub start: u32,
    pub end: u32,
    /// Where `def`, `async def`, `class` or the assignment begins.
    pub head: u32,
    /// The docstring's value as written.
    pub docstring: Option<Box<str>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outline {
    pub facts: Facts,
    pub body: Body,
    /// Of [`Body::bound`]; made again where it isn't at hand.
    #[serde(skip)]
    pub bounds: BoundIndex,
}

/// What only resolution reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    pub names: Names,
    pub scopes: Vec<Scope>,
    /// The scope that a unit's name is bound in, by unit.
    pub homes: Vec<ScopeId>,
    /// In source order.
    pub bound: Vec<Bound>,
    pub modules: Vec<ModuleName>,
    pub uses: Vec<Use>,
    pub steps: Vec<Step>,
    /// The base classes of each class, in order.
    pub bases: Vec<(Local, UseId)>,
    /// What functions are annotated to return, or else what their `return` statements give; by
    /// function.
    pub returns: Vec<(Local, Binding)>,
    /// `from m import *`.
    pub stars: Vec<Star>,
    /// `__all__`, where the file has one that can be read.
    pub exported: Option<Exports>,
    /// What the attributes of instances use: their statements belong to methods, too.
    pub shared: Vec<(UseId, Local)>,
    /// Whether the module has a `__getattr__`.
    pub dynamic: bool,
}

/// `from m import *`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Star {
    pub scope: ScopeId,
    pub module: u32,
    pub event: u32,
}

/// What `__all__` lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Exports {
    pub names: Vec<Sym>,
    /// Uses of other modules' lists: `__all__ += m.__all__`.
    pub others: Vec<UseId>,
}

/// The names of a file; each has a number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Names(IndexSet<Box<str>, FxBuildHasher>);

impl Names {
    pub fn intern(&mut self, name: &str) -> Sym {
        let at = match self.0.get_index_of(name) {
            Some(at) => at,
            None => self.0.insert_full(name.into()).0,
        };
        at as Sym
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, name: &str) -> Option<Sym> {
        self.0.get_index_of(name).map(|at| at as Sym)
    }

    pub fn text(&self, name: Sym) -> &str {
        self.0.get_index(name as usize).map_or("", |text| text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    Function,
    Comprehension,
    /// `def f[T]`, `class C[T]`, `type X[T]`: what stands in it sees the names of a class around.
    TypeParameters,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<ScopeId>,
    /// The class or function whose body this is.
    pub unit: Option<Local>,
    /// Names declared `global`.
    pub globals: Vec<Sym>,
    /// Names declared `nonlocal`.
    pub nonlocals: Vec<Sym>,
}

/// A name, bound in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bound {
    pub scope: ScopeId,
    pub name: Sym,
    pub binding: Binding,
    /// Whether it stands under `if`, `try`, `with`, a loop or `match`.
    pub conditional: bool,
    /// Whether only instances of the class have it.
    pub instance: bool,
    /// Bindings of one statement have one number.
    pub event: u32,
}

/// What a name stands for in a scope, or what is known of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Binding {
    Unit(Local),
    /// `import m`, `import a.b as x`.
    Module(u32),
    /// `import a.b.c` binds `a`.
    Package(u32),
    /// `from m import f`.
    Member(u32, Sym),
    /// The first parameter of a method of this class.
    Instance(Local),
    /// The first parameter of a class method of this class.
    Class(Local),
    /// The value of this use.
    Of(UseId),
    /// What iterating over the value of this use gives.
    Element(UseId),
    /// What `with` gives for the value of this use.
    Entered(UseId),
    /// A list, tuple, iterator, ... of values like that of this use.
    Items(UseId),
    /// A mapping to values like that of this use.
    MapItems(UseId),
    /// An instance of the class that this use names.
    Annotated(UseId),
    /// The class that this use names: `type[C]`.
    AnnotatedClass(UseId),
    /// A container of instances of the class that this use names: `list[C]`.
    AnnotatedElements(UseId),
    /// A mapping to instances of the class that this use names: `dict[str, C]`.
    AnnotatedValues(UseId),
    /// `typing.Self`.
    AnnotatedSelf,
    /// `del name`.
    Deleted,
    /// A parameter, a local variable, a loop target, ... of which nothing is known.
    Value,
}

/// A module as an import statement names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ModuleName {
    /// The number of leading dots.
    pub level: u32,
    pub parts: Vec<Box<str>>,
}

impl std::fmt::Display for ModuleName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for _ in 0..self.level {
            f.write_str(".")?;
        }
        f.write_str(&self.parts.join("."))
    }
}

/// A use of a name: `root.attribute(...).attribute`, looked up from a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Use {
    /// The innermost unit that holds it.
    pub owner: Option<Local>,
    pub scope: ScopeId,
    pub root: Root,
    /// Its steps, in [`Body::steps`].
    pub first_step: u32,
    pub steps: u32,
    pub kind: EdgeKind,
    /// The statement that it stands in: what is bound at that time is what a module or class
    /// body sees.
    pub event: u32,
    /// Where it stands, in bytes.
    pub at: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Root {
    Name(Sym),
    /// `super()`
    Super,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Step {
    Attribute(Sym),
    Call,
    Subscript,
    Await,
}

impl Body {
    pub fn steps_of(&self, used: &Use) -> &[Step] {
        let first = used.first_step as usize;
        &self.steps[first..first + used.steps as usize]
    }
}

impl Outline {
    /// A hash of what the answers about other files can rest on: everything that a
    /// [`Resolver`](crate::resolve::Resolver) reads of a file that is not its own. Where things
    /// stand in the text, docstrings, and which unit a use belongs to are no part of it, nor is
    /// the number of statements: only their order. It is compared with the same file's hash of
    /// before, and with no other.
    pub fn interface(&self) -> u64 {
        // Every field is named, so that a new one has to be thought of.
        let Body {
            names,
            scopes,
            homes,
            bound,
            modules,
            uses,
            steps,
            bases,
            returns,
            stars,
            exported,
            shared: _,
            dynamic,
        } = &self.body;
        let mut hash = FxHasher::default();
        for unit in &self.facts.units {
            (unit.kind, &unit.roles, &unit.name, unit.parent).hash(&mut hash);
        }
        for name in &names.0 {
            name.hash(&mut hash);
        }
        (scopes, homes, modules, steps, bases, returns).hash(&mut hash);
        (exported, dynamic).hash(&mut hash);
        let order = self.body.order_of_events();
        let order = |event: u32| order.get(event as usize).copied();
        for one in bound {
            (one.scope, one.name, one.binding).hash(&mut hash);
            (one.conditional, one.instance, order(one.event)).hash(&mut hash);
        }
        for one in uses {
            (one.scope, one.root, one.first_step, one.steps).hash(&mut hash);
            (one.kind, order(one.event)).hash(&mut hash);
        }
        for one in stars {
            (one.scope, one.module, order(one.event)).hash(&mut hash);
        }
        (bound.len(), uses.len(), stars.len(), names.0.len()).hash(&mut hash);
        hash.finish()
    }
}

impl Body {
    /// The place of each event among those that bind or use something: docstrings and `pass` are
    /// events, too.
    fn order_of_events(&self) -> Vec<u32> {
        let bound = self.bound.iter().map(|one| one.event);
        let uses = self.uses.iter().map(|one| one.event);
        let stars = self.stars.iter().map(|one| one.event);
        let mut order = Vec::new();
        for event in bound.chain(uses).chain(stars) {
            let event = event as usize;
            if order.len() <= event {
                order.resize(event + 1, 0);
            }
            order[event] = 1;
        }
        let mut before = 0;
        for event in &mut order {
            before += std::mem::replace(event, before);
        }
        order
    }
}

impl Facts {
    /// Whether `inner` is `outer` or lies in it.
    pub fn within(&self, inner: Local, outer: Local) -> bool {
        let mut at = Some(inner);
        while let Some(unit) = at {
            if unit == outer {
                return true;
            }
            at = self.units[unit as usize].parent;
        }
        false
    }
}

/// Finds the bindings of a name in a scope: a list of them by name, the last one first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BoundIndex {
    latest: FxHashMap<(ScopeId, Sym), u32>,
    /// Where the one before it stands; itself, if there is none.
    previous: Vec<u32>,
}

impl BoundIndex {
    pub fn new(bound: &[Bound]) -> Self {
        let mut index = Self::default();
        index.previous.reserve(bound.len());
        for one in bound {
            index.push(one.scope, one.name);
        }
        index
    }

    /// Of how many bindings it is.
    pub fn len(&self) -> usize {
        self.previous.len()
    }

    pub fn push(&mut self, scope: ScopeId, name: Sym) {
        let here = self.previous.len() as u32;
        let before = self.latest.insert((scope, name), here);
        self.previous.push(before.unwrap_or(here));
    }

    pub fn of<'b>(
        &self,
        bound: &'b [Bound],
        scope: ScopeId,
        name: Sym,
    ) -> impl Iterator<Item = &'b Bound> {
        let mut next = self.latest.get(&(scope, name)).copied();
        std::iter::from_fn(move || {
            let here = next?;
            let before = self.previous[here as usize];
            next = (before != here).then_some(before);
            bound.get(here as usize)
        })
    }
}
