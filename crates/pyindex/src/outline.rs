//! What resolution needs to know of a file: its units, its scopes, and every use of a name.
//!
//! A parser's tree is lowered into this once and thrown away, so that resolution does not depend
//! on the parser.

use std::collections::{BTreeMap, HashMap};

use crate::EdgeKind;
use crate::unit::Unit;

/// A unit's place in its file's list.
pub(crate) type Local = usize;

#[derive(Debug, Default)]
pub(crate) struct Outline {
    /// In source order.
    pub units: Vec<Unit>,
    /// The enclosing unit of each unit.
    pub parents: Vec<Option<Local>>,
    /// The base classes of each class, as written.
    pub bases: BTreeMap<Local, Vec<Use>>,
    /// The module's scope comes first.
    pub scopes: Vec<Scope>,
    /// Every use of a name, by the innermost unit that holds it.
    pub uses: Vec<(Option<Local>, Use)>,
    /// The source of the module-level import statements, in order.
    pub import_statements: Vec<String>,
    /// The names of `__all__`, where the file has one that can be read.
    pub exported: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    Function,
}

#[derive(Debug)]
pub(crate) struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<usize>,
    /// The class or function whose body this is.
    pub unit: Option<Local>,
    pub names: HashMap<String, Vec<Binding>>,
    /// Modules of `from m import *`.
    pub stars: Vec<ModuleName>,
    /// Names declared `global`.
    pub globals: Vec<String>,
    /// Names declared `nonlocal`.
    pub nonlocals: Vec<String>,
}

/// What a name stands for in a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Binding {
    Unit(Local),
    /// `import m`, `import m as x`.
    Module(ModuleName),
    /// `from m import f`.
    Member(ModuleName, String),
    /// The first parameter of a method of this class.
    Instance(Local),
    /// A parameter, a local variable, a loop target, ...
    Value,
}

/// A module as an import statement names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ModuleName {
    /// The number of leading dots.
    pub level: usize,
    pub parts: Vec<String>,
}

/// A use of a name: `root.attribute.attribute`, looked up from a scope.
#[derive(Debug, Clone)]
pub(crate) struct Use {
    pub scope: usize,
    pub root: Root,
    pub attributes: Vec<String>,
    pub kind: EdgeKind,
}

#[derive(Debug, Clone)]
pub(crate) enum Root {
    Name(String),
    /// `super()`
    Super,
}
