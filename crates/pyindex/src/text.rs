//! The published text of queries, candidates and pairs.
//!
//! A pair is `Q</s>C`, both JSON as Python's `json.dumps(ensure_ascii=False)` writes it.

use hydra_core::python_json::dumps;
use hydra_core::records::UnitKind;
use serde::Serialize;

use crate::Unit;

/// The separator between query and candidate.
pub const SEPARATOR: &str = "</s>";
/// What the released package writes where there is no docstring.
const NO_DOCSTRING: &str = "DOCSTRING";

#[derive(Serialize)]
struct Query<'a> {
    name: &'a str,
    description: &'a str,
    signature: &'a str,
}

#[derive(Serialize)]
struct Candidate<'a> {
    name: &'a str,
    description: &'a str,
    code: &'a str,
    signature: &'a str,
}

/// The query of a function about to be written: keys name, description, signature.
pub fn query_text(name: &str, description: Option<&str>, signature: &str) -> String {
    json(&Query {
        name,
        description: description.unwrap_or(NO_DOCSTRING),
        signature,
    })
}

/// The query of a function unit.
pub fn unit_query(unit: &Unit) -> String {
    query_text(&unit.name, unit.docstring.as_deref(), &unit.signature)
}

/// A candidate: keys name, description, code, signature; a variable is its bare source.
pub fn candidate_text(unit: &Unit) -> String {
    if unit.kind == UnitKind::Variable {
        return unit.source.clone();
    }
    json(&Candidate {
        name: &unit.name,
        description: unit.docstring.as_deref().unwrap_or(NO_DOCSTRING),
        code: &unit.source,
        signature: &unit.signature,
    })
}

/// Query and candidate in one text.
pub fn pair_text(query: &str, candidate: &str) -> String {
    format!("{query}{SEPARATOR}{candidate}")
}

/// Structs of strings always serialise.
fn json(value: &impl Serialize) -> String {
    dumps(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_pythons_json() {
        // json.dumps({"name": "f", "description": "Say \"é\".", "signature": "def f():"}, ensure_ascii=False)
        assert_eq!(
            query_text("f", Some("Say \"é\"."), "def f():"),
            r#"{"name": "f", "description": "Say \"é\".", "signature": "def f():"}"#
        );
        assert!(query_text("f", None, "").contains("\"DOCSTRING\""));
    }
}
