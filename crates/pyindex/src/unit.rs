//! Units and the edges between them.

use hydra_core::records::UnitKind;
use hydra_core::{RepoPath, UnitId};
use serde::{Deserialize, Serialize};

/// A function, method, class or module variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// `qualname@path`, with `#2`, `#3`, ... where the file defines the name again.
    pub id: UnitId,
    /// What it is.
    pub kind: UnitKind,
    /// Its bare name.
    pub name: String,
    /// Its name with those of the classes and functions around it: `Class.method`, `outer.inner`.
    pub qualname: String,
    /// The file that defines it.
    pub path: RepoPath,
    /// The first line, decorators included, from 1.
    pub start_line: usize,
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
    /// The whole source, decorators included, moved to the left margin.
    pub source: String,
    /// The class or function around it.
    pub parent: Option<UnitId>,
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
    SelfMember,
}

/// An edge from a unit to one that it uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// The unit that is used.
    pub unit: UnitId,
    /// How it is used first.
    pub kind: EdgeKind,
    /// How the name was traced.
    pub provenance: Provenance,
}

/// A file that is not in the index, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The path below the repository's root.
    pub path: String,
    /// Why it was left out.
    pub reason: String,
}
