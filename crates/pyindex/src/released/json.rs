//! The two published files: JSON as Python's `json.dump(value, file, indent=2)` writes it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter, Serializer};

/// Two spaces a level, and every character outside printable ASCII escaped.
struct Ascii(PrettyFormatter<'static>);

/// Hands the layout to the inner formatter.
macro_rules! pretty {
    ($($name:ident($($arg:ident: $kind:ty),*);)*) => {$(
        fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $arg: $kind)*) -> io::Result<()> {
            self.0.$name(writer $(, $arg)*)
        }
    )*};
}

impl Formatter for Ascii {
    pretty! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(|c: char| !(' '..='~').contains(&c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            let mut others = rest[at..].chars();
            if let Some(c) = others.next() {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = others.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.0.write_char_escape(writer, escape)
    }
}

pub(super) fn write(writer: impl Write, value: &impl Serialize) -> Result<(), serde_json::Error> {
    let layout = Ascii(PrettyFormatter::with_indent(b"  "));
    value.serialize(&mut Serializer::with_formatter(writer, layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_and_escapes_are_pythons() {
        // json.dumps({"a": [1, "é\n\x7f\x01\"/\\😀"], "b": {}, "c": []}, indent=2)
        let value = serde_json::json!({"a": [1, "é\n\u{7f}\u{1}\"/\\😀"], "b": {}, "c": []});
        let mut text = Vec::new();
        write(&mut text, &value).expect("plain data");
        assert_eq!(
            String::from_utf8_lossy(&text),
            "{\n  \"a\": [\n    1,\n    \"\\u00e9\\n\\u007f\\u0001\\\"/\\\\\\ud83d\\ude00\"\n  ],\n  \"b\": {},\n  \"c\": []\n}"
        );
    }
}
