//! JSON exactly as Python's `json.dumps(value, ensure_ascii=False)` writes it, the form in which
//! the published pairs are: `", "` and `": "` between items, text left as it is.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
    ) -> std::io::Result<()> {
        writer.write_all(b": ")
    }
}

/// Writes `value` as Python would. Floats are outside the format: Python and Rust spell some of
/// them differently.
pub fn dumps(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced))?;
    // serde_json only ever writes UTF-8.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_and_escapes_are_pythons() {
        // python3 -c 'import json; print(json.dumps({"a": [1, "é\n\x7f\x01\"/"], "b": {}}, ensure_ascii=False))'
        let value = serde_json::json!({"a": [1, "é\n\u{7f}\u{1}\"/"], "b": {}});
        let text = dumps(&value).expect("plain data");
        assert_eq!(text, "{\"a\": [1, \"é\\n\u{7f}\\u0001\\\"/\"], \"b\": {}}");
    }
}
