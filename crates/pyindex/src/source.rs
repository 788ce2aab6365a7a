//! Text that is cut out of a file: signatures, docstrings, sources moved to the left margin.

use ruff_python_ast::Expr;

/// `name` of `name`, `a.b.name`, `name(...)`, `a.name[...]`.
pub(crate) fn last_name(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr.id),
        Expr::Call(call) => last_name(&call.func),
        Expr::Subscript(subscript) => last_name(&subscript.value),
        _ => None,
    }
}

/// Where the text of a statement at `start` begins: at its line, if nothing stands before it
/// there, and at the comment lines right above of the same indentation. `#!` and encoding lines
/// belong to the file.
pub(crate) fn leading_start(text: &str, start: u32) -> u32 {
    let bytes = text.as_bytes();
    let mut first = line_start(bytes, start as usize);
    let margin = &bytes[first..start as usize];
    if !margin.iter().all(|b| matches!(b, b' ' | b'\t' | b'\x0c')) {
        return start;
    }
    while first > 0 {
        let crlf = bytes[..first].ends_with(b"\r\n");
        let above = line_start(bytes, first - if crlf { 2 } else { 1 });
        let line = &bytes[above..first];
        let comment = line.starts_with(margin) && line.get(margin.len()) == Some(&b'#');
        if !comment || file_comment(line, above) {
            break;
        }
        first = above;
    }
    first as u32
}

/// Where the lines of a file begin.
#[derive(Debug)]
pub(crate) struct Lines(Vec<u32>);

impl Lines {
    pub fn new(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        Self(
            std::iter::once(0)
                .chain(ends.map(|end| end as u32 + 1))
                .collect(),
        )
    }

    /// The line of a byte, from 1.
    pub fn of(&self, at: u32) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |end| end + 1)
}

fn file_comment(line: &[u8], at: usize) -> bool {
    let coding = memchr::memmem::find(line, b"coding:").or(memchr::memmem::find(line, b"coding="));
    at == 0 && line.starts_with(b"#!") || coding.is_some()
}

/// The header of a `def` or `class` that begins at `start`: up to the colon outside brackets,
/// white space collapsed, comments left out.
pub(crate) fn header(text: &str, start: usize) -> String {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut depth = 0usize;
    let mut at = start;
    while at < bytes.len() {
        let piece = match bytes[at] {
            b'#' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            b'"' | b'\'' => string_end(bytes, at),
            b'\\'
                if bytes
                    .get(at + 1)
                    .is_some_and(|b| matches!(b, b'\n' | b'\r')) =>
            {
                at += 1;
                continue;
            }
            byte => {
                match byte {
                    b'(' | b'[' | b'{' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                let width = text[at..].chars().next().map_or(1, char::len_utf8);
                out.push_str(&text[at..at + width]);
                if byte == b':' && depth == 0 {
                    break;
                }
                at += width;
                continue;
            }
        };
        out.push_str(&text[at..piece]);
        at = piece;
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where the string literal that begins at `at` ends, exclusive.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = bytes[at..].starts_with(&[quote; 3]);
    let width = if triple { 3 } else { 1 };
    let mut end = at + width;
    while end < bytes.len() {
        if bytes[end] == b'\\' {
            end += 2;
        } else if bytes[end..].starts_with(&[quote; 3][..width]) {
            return end + width;
        } else if !triple && bytes[end] == b'\n' {
            return end;
        } else {
            end += 1;
        }
    }
    bytes.len()
}

/// A docstring as Python's `inspect.cleandoc` returns it.
pub(crate) fn clean_docstring(raw: &str) -> String {
    let expanded: Vec<String> = raw.split('\n').map(expand_tabs).collect();
    let margin = expanded
        .iter()
        .skip(1)
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    let mut lines: Vec<&str> = expanded
        .iter()
        .enumerate()
        .map(|(number, line)| {
            if number == 0 {
                line.trim_start()
            } else {
                line.get(margin..).unwrap_or("")
            }
        })
        .collect();
    while lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    while lines.first().is_some_and(|line| line.is_empty()) {
        lines.remove(0);
    }
    lines.join("\n")
}

fn expand_tabs(line: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in line.chars() {
        if c == '\t' {
            let width = 8 - column % 8;
            out.extend(std::iter::repeat_n(' ', width));
            column += width;
        } else {
            out.push(c);
            column += 1;
        }
    }
    out
}

/// Removes the first line's indentation from every line that has it.
pub(crate) fn dedent(source: &str) -> String {
    let margin = &source[..source.len() - source.trim_start_matches([' ', '\t']).len()];
    if margin.is_empty() {
        return source.to_owned();
    }
    source
        .split('\n')
        .map(|line| line.strip_prefix(margin).unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_ends_at_the_colon_outside_brackets_and_strings() {
        let text =
            "def f(a: int = 1,  # one: two\n      b=':)', *c: 'x') -> Dict[str, int]:\n  pass";
        assert_eq!(
            header(text, 0),
            "def f(a: int = 1, b=':)', *c: 'x') -> Dict[str, int]:"
        );
    }

    #[test]
    fn docstrings_are_cleaned_as_inspect_does() {
        // inspect.cleandoc on the same text
        assert_eq!(
            clean_docstring("\n    One.\n\n      Two.\n    Three.\n    "),
            "One.\n\n  Two.\nThree."
        );
        assert_eq!(clean_docstring("  One.\n    Two."), "One.\nTwo.");
    }

    #[test]
    fn dedent_keeps_what_is_not_indented() {
        assert_eq!(dedent("    a\n        b\nc"), "a\n    b\nc");
    }
}
