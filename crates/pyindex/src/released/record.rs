//! What the released indexer writes down.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use hydra_core::RepoPath;
use serde::{Deserialize, Serialize, Serializer};

/// Names a component: `name@path`, `Class.method@path` or `outer.inner@path`. Cheap to copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(from = "String")]
pub struct ComponentId(Arc<str>);

impl ComponentId {
    /// Wraps an id.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for ComponentId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Borrow<str> for ComponentId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ComponentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for ComponentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComponentType {
    /// A class of the module.
    Class,
    /// A function directly in such a class.
    Method,
    /// A function outside every other.
    Function,
    /// A function inside another.
    InnerFunction,
    /// A name that the module assigns.
    Variable,
}

impl ComponentType {
    /// Whether a component may depend on one of this type.
    pub(super) fn is_target(self) -> bool {
        matches!(self, Self::Class | Self::Function | Self::Variable)
    }
}

/// Components by type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    /// Classes.
    pub class: Vec<ComponentId>,
    /// Functions; neither methods nor inner functions.
    pub function: Vec<ComponentId>,
    /// Variables.
    pub variable: Vec<ComponentId>,
}

impl Calls {
    pub(super) fn by_type<'a>(
        ids: impl IntoIterator<Item = (ComponentType, &'a ComponentId)>,
    ) -> Self {
        let mut calls = Self::default();
        for (kind, id) in ids {
            match kind {
                ComponentType::Class => calls.class.push(id.clone()),
                ComponentType::Function => calls.function.push(id.clone()),
                ComponentType::Variable => calls.variable.push(id.clone()),
                ComponentType::Method | ComponentType::InnerFunction => {}
            }
        }
        calls
    }

    /// All ids: classes, functions, variables.
    pub fn iter(&self) -> impl Iterator<Item = &ComponentId> {
        let all = self.class.iter().chain(&self.function);
        all.chain(&self.variable)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.iter().count()
    }
}

/// A class, function or variable as the released indexer describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// Its name and file.
    pub id: ComponentId,
    /// What it is.
    pub component_type: ComponentType,
    /// Its bare name.
    pub clean_name: String,
    /// The file that defines it.
    pub relative_path: RepoPath,
    /// What it depends on.
    pub outgoing_calls: Calls,
    /// The line of `def`, `class` or the first target, from 1.
    pub start_line: usize,
    /// The last line, inclusive.
    pub end_line: usize,
    /// Whether it has a docstring.
    pub has_docstring: bool,
    /// The docstring, not cleaned; `DOCSTRING` where there is none, empty for a variable.
    pub docstring: String,
    /// Its source; whole lines for a variable.
    pub source_code: String,
    /// Its header on one line; empty for a variable.
    pub signature: String,
    /// What is neither a dependency of it nor noise: what holds it.
    pub(super) parents: Vec<ComponentId>,
}

/// A component in the form and field order of the published `dependency_graph.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "they are those of `Component`")]
pub struct Record<'a> {
    pub id: &'a ComponentId,
    pub component_type: ComponentType,
    pub clean_name: &'a str,
    /// The file's path on the machine that made the index.
    pub file_path: String,
    pub relative_path: &'a RepoPath,
    pub outgoing_calls: &'a Calls,
    pub start_line: usize,
    pub end_line: usize,
    pub has_docstring: bool,
    pub docstring: &'a str,
    pub source_code: &'a str,
    /// See [`ReleasedIndex::noise`](super::ReleasedIndex::noise).
    pub noise: Calls,
    /// The number of outgoing calls.
    pub out_count: usize,
    pub signature: &'a str,
}

/// A file's imports in the form of the published `external_knowledge.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalKnowledge {
    /// Every import statement, wherever it stands, written on one line.
    pub import_statements: Vec<String>,
    /// What they import from the repository, repetitions included; some may not exist.
    pub external_entity: Vec<ComponentId>,
}
