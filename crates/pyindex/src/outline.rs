//! What resolution needs to know of a file: its units, its scopes, what names are bound to, and
//! every use of a name.
//!
//! A parser's tree is lowered into this once and thrown away, so that resolution does not depend
//! on the parser, and a cache can keep it. Everything is flat: names are numbers into a table of
//! the file, and a use is a root name with a run of steps.

mod bounds;
mod names;

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};

use crate::EdgeKind;
use crate::modules::ModulePath;
use crate::unit::{Roles, UnitKind};
pub(crate) use bounds::BoundIndex;
pub(crate) use names::{Interner, Names};

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
    /// Names and docstrings, one behind the other.
    pub texts: String,
    /// Where the module-level import statements stand, in bytes.
    pub import_statements: Vec<(u32, u32)>,
    /// The absolute modules that are imported anywhere, for those of two parts or more: `a.b`.
    pub absolute: Vec<Piece>,
    /// Lines of the file.
    pub lines: u32,
    /// What the parser could not read; the rest is here.
    pub broken: Option<Box<str>>,
}

/// A piece of [`Facts::texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    start: u32,
    end: u32,
}

/// A unit, without the texts that can be cut out of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RawUnit {
    pub kind: UnitKind,
    pub roles: Roles,
    pub name: Piece,
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
    pub docstring: Option<Piece>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outline {
    pub facts: Facts,
    pub body: Body,
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
    pub declared: Option<Box<Declared>>,
}

/// What few scopes have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Declared {
    /// Names declared `global`.
    pub globals: Vec<Sym>,
    /// Names declared `nonlocal`.
    pub nonlocals: Vec<Sym>,
}

impl Scope {
    pub fn is_global(&self, name: Sym) -> bool {
        let declared = self.declared.as_ref();
        declared.is_some_and(|declared| declared.globals.contains(&name))
    }

    pub fn is_nonlocal(&self, name: Sym) -> bool {
        let declared = self.declared.as_ref();
        declared.is_some_and(|declared| declared.nonlocals.contains(&name))
    }
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ModuleName {
    /// The number of leading dots.
    pub level: u32,
    /// `a.b.c`
    pub name: Sym,
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

impl Binding {
    /// The use that says what is known.
    pub fn used(self) -> Option<UseId> {
        match self {
            Self::Of(used)
            | Self::Element(used)
            | Self::Entered(used)
            | Self::Items(used)
            | Self::MapItems(used)
            | Self::Annotated(used)
            | Self::AnnotatedClass(used)
            | Self::AnnotatedElements(used)
            | Self::AnnotatedValues(used) => Some(used),
            _ => None,
        }
    }

    /// The same by another use.
    pub fn by(self, used: UseId) -> Self {
        match self {
            Self::Of(_) => Self::Of(used),
            Self::Element(_) => Self::Element(used),
            Self::Entered(_) => Self::Entered(used),
            Self::Items(_) => Self::Items(used),
            Self::MapItems(_) => Self::MapItems(used),
            Self::Annotated(_) => Self::Annotated(used),
            Self::AnnotatedClass(_) => Self::AnnotatedClass(used),
            Self::AnnotatedElements(_) => Self::AnnotatedElements(used),
            Self::AnnotatedValues(_) => Self::AnnotatedValues(used),
            other => other,
        }
    }

    /// Whether nothing is known.
    pub fn says_nothing(self) -> bool {
        matches!(self, Self::Value | Self::Deleted)
    }
}

impl Body {
    /// Forgets everything; the memory stays.
    pub fn clear(&mut self) {
        let Self {
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
            shared,
            dynamic,
        } = self;
        *names = Names::default();
        scopes.clear();
        homes.clear();
        bound.clear();
        modules.clear();
        uses.clear();
        steps.clear();
        bases.clear();
        returns.clear();
        stars.clear();
        *exported = None;
        shared.clear();
        *dynamic = false;
    }

    pub fn module(&self, number: u32) -> ModulePath<'_> {
        let module = self.modules[number as usize];
        ModulePath {
            level: module.level,
            name: self.names.text(module.name),
        }
    }

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
            let name = self.facts.piece(unit.name);
            (unit.kind, unit.roles, name, unit.parent).hash(&mut hash);
        }
        names.hash(&mut hash);
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
        (bound.len(), uses.len(), stars.len()).hash(&mut hash);
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
    /// Forgets everything; the memory stays.
    pub fn clear(&mut self) {
        let Self {
            units,
            texts,
            import_statements,
            absolute,
            lines,
            broken,
        } = self;
        units.clear();
        texts.clear();
        import_statements.clear();
        absolute.clear();
        *lines = 0;
        *broken = None;
    }

    pub fn piece(&self, piece: Piece) -> &str {
        let piece = piece.start as usize..piece.end as usize;
        self.texts.get(piece).unwrap_or_default()
    }

    pub fn name(&self, unit: &RawUnit) -> &str {
        self.piece(unit.name)
    }

    pub fn docstring(&self, unit: &RawUnit) -> Option<&str> {
        Some(self.piece(unit.docstring?))
    }

    /// Adds a text. All of them together are no longer than the file, of less than 4 GiB.
    pub fn add(&mut self, text: &str) -> Piece {
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        Piece {
            start,
            end: self.texts.len() as u32,
        }
    }

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
