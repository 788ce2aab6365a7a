//! Units and the edges between them.

pub use hydra_core::records::UnitKind;
use hydra_core::{RepoPath, UnitId};
use serde::{Deserialize, Serialize};

use crate::outline::{Facts, RawUnit};
use crate::source::{self, Lines};

/// A function, method, class, module variable or attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// `qualname@path`, with `#2`, `#3`, ... where the file defines the name again.
    pub id: UnitId,
    /// What it is.
    pub kind: UnitKind,
    /// What it is beside that.
    pub roles: Vec<Role>,
    /// Its bare name.
    pub name: String,
    /// Its name with those of the classes and functions around it: `Class.method`, `outer.inner`.
    pub qualname: String,
    /// The file that defines it.
    pub path: RepoPath,
    /// The first line, decorators and the comment above included, from 1.
    pub start_line: usize,
    /// The line of `def`, `class` or the assignment itself.
    pub head_line: usize,
    /// The last line, inclusive.
    pub end_line: usize,
    /// Where its text begins in the file, in bytes (after a byte-order mark).
    pub start_byte: usize,
    /// Where its text ends, exclusive.
    pub end_byte: usize,
    /// `def f(a, b=1) -> int:` or `class C(B):` on one line; empty for variables.
    pub signature: String,
    /// The docstring, cleaned as Python's `inspect.cleandoc` does.
    pub docstring: Option<String>,
    /// The docstring as the literal's value is.
    pub raw_docstring: Option<String>,
    /// The whole source, decorators and the comment right above included, moved to the left
    /// margin.
    pub source: String,
    /// The class or function around it.
    pub parent: Option<UnitId>,
}

/// What a unit is beside its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// `async def`
    Async,
    /// `@overload`
    Overload,
    /// `@property`, `@cached_property`
    Property,
    /// `@x.setter`
    Setter,
    /// `@x.deleter`
    Deleter,
    /// `@staticmethod`
    StaticMethod,
    /// `@classmethod`, or a method that is one without saying so (`__new__`).
    ClassMethod,
    /// An annotated name in the body of a dataclass, attrs class, NamedTuple or TypedDict.
    Field,
    /// A name that the body of an Enum assigns.
    EnumMember,
    /// `type X = ...`, `X: TypeAlias = ...`
    TypeAlias,
    /// `__all__`
    Exports,
    /// An attribute that a method gives to its instance.
    InstanceAttribute,
}

/// A set of roles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Roles(u16);

impl Roles {
    pub fn contains(self, role: Role) -> bool {
        self.0 & role.bit() != 0
    }

    pub fn insert(&mut self, role: Role) {
        self.0 |= role.bit();
    }

    /// In the order in which [`Role`] lists them.
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL
            .into_iter()
            .filter(move |role| self.contains(*role))
    }
}

impl From<Role> for Roles {
    fn from(role: Role) -> Self {
        Self(role.bit())
    }
}

impl Role {
    const ALL: [Self; 12] = [
        Self::Async,
        Self::Overload,
        Self::Property,
        Self::Setter,
        Self::Deleter,
        Self::StaticMethod,
        Self::ClassMethod,
        Self::Field,
        Self::EnumMember,
        Self::TypeAlias,
        Self::Exports,
        Self::InstanceAttribute,
    ];

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// How one unit uses another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// It calls it.
    Call,
    /// It reads it.
    Read,
    /// It is a subclass of it.
    Inherit,
    /// It is decorated with it.
    Decorate,
    /// It names it in an annotation.
    Annotate,
    /// It raises or catches it.
    Raise,
    /// It assigns to it, elsewhere than where it is defined.
    Write,
}

/// How a name was traced to its definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provenance {
    /// A name of the same file.
    Name,
    /// A name that an import binds.
    Import,
    /// An attribute of a module or class.
    Attribute,
    /// An attribute of `self`, `cls` or `super()`.
    #[serde(rename = "self")]
    SelfMember,
    /// An attribute of a value whose class was inferred.
    Inferred,
}

/// An edge from a unit to one that it uses, in one of the ways in which it does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// The unit that is used.
    pub unit: UnitId,
    /// How it is used.
    pub kind: EdgeKind,
    /// How the name was traced.
    pub provenance: Provenance,
    /// The line of the first such use.
    pub line: usize,
}

/// A unit that another uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The unit that is used.
    pub unit: UnitId,
    /// How it is used first.
    pub kind: EdgeKind,
    /// How the name was traced.
    pub provenance: Provenance,
}

/// What a name that a file imports stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// The module as the statement names it, dots included.
    pub module: String,
    /// The imported name of `from m import name`, `*` for all.
    pub member: Option<String>,
    /// The name that it is bound to.
    pub bound: String,
    /// What it means.
    pub target: ImportTarget,
}

/// Where an import leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportTarget {
    /// To a unit of the repository.
    Unit(UnitId),
    /// To a module of the repository.
    Module(RepoPath),
    /// To a folder of the repository without an `__init__.py`.
    Namespace,
    /// To something that a module of the repository imports from outside.
    Passed,
    /// To a name that a module's `__getattr__` may make.
    Dynamic,
    /// Out of the repository: the standard library, an installed package.
    External,
    /// Into the repository, where there is no such thing.
    Missing,
}

/// A file that is not in the index, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The path below the repository's root.
    pub path: String,
    /// Why it was left out.
    pub reason: String,
}

impl Unit {
    /// A unit with its texts, cut out of the file; `before` are the units in front of it.
    pub(crate) fn cut(
        path: &RepoPath,
        text: &str,
        lines: &Lines,
        facts: &Facts,
        raw: &RawUnit,
        before: &[Self],
    ) -> Self {
        let name = facts.name(raw);
        let docstring = facts.docstring(raw);
        let parent = raw.parent.and_then(|parent| before.get(parent as usize));
        let qualname = match parent {
            Some(parent) => format!("{}.{name}", parent.qualname),
            None => name.to_owned(),
        };
        let id = match raw.ordinal {
            1 => format!("{qualname}@{path}"),
            ordinal => format!("{qualname}@{path}#{ordinal}"),
        };
        let named = matches!(raw.kind, UnitKind::Variable | UnitKind::Attribute);
        let whole = text
            .get(raw.start as usize..raw.end as usize)
            .unwrap_or_default();
        Self {
            id: UnitId(id),
            kind: raw.kind,
            roles: raw.roles.iter().collect(),
            name: name.to_owned(),
            qualname,
            path: path.clone(),
            start_line: lines.of(raw.start),
            head_line: lines.of(raw.head),
            end_line: lines.of(raw.end.saturating_sub(1).max(raw.start)),
            start_byte: raw.start as usize,
            end_byte: raw.end as usize,
            signature: match named {
                true => String::new(),
                false => source::header(text, raw.head as usize),
            },
            docstring: docstring.map(source::clean_docstring),
            raw_docstring: docstring.map(str::to_owned),
            source: source::dedent(whole),
            parent: parent.map(|parent| parent.id.clone()),
        }
    }
}
