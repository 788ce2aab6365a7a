//! The identifiers of Python code that need not be valid: a scan that knows strings, comments,
//! brackets and continued lines, and nothing else of the grammar.

/// Words that are no identifiers (Python 3's `keyword.kwlist`).
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];
/// Words at the margin that go on with the statement above.
const CLAUSES: [&str; 4] = ["elif", "else", "except", "finally"];

/// A statement that begins at the left margin, with the block below it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Statement<'a> {
    /// A line that starts with `@`: the definition that follows is a statement of its own.
    pub decorator: bool,
    /// `import` or `from ... import`.
    pub import: bool,
    /// Its identifiers in order, keywords left out; those between the braces of an f-string
    /// are code and count, other text in strings does not.
    pub identifiers: Vec<&'a str>,
}

/// The statements at the left margin of `code`, in order.
pub(crate) fn statements(code: &str) -> Vec<Statement<'_>> {
    let mut scan = Scan {
        code,
        at: 0,
        found: Vec::new(),
    };
    scan.run();
    scan.found
}

struct Scan<'a> {
    code: &'a str,
    at: usize,
    found: Vec<Statement<'a>>,
}

impl<'a> Scan<'a> {
    fn run(&mut self) {
        let bytes = self.code.as_bytes();
        let mut depth = 0usize;
        let mut margin = true;
        while let Some(&byte) = bytes.get(self.at) {
            if margin && depth == 0 && !byte.is_ascii_whitespace() && byte != b'#' {
                self.begin();
            }
            margin = false;
            match byte {
                b'\n' => {
                    margin = true;
                    self.at += 1;
                }
                b'#' => self.skip(|b| b != b'\n'),
                // A continued line does not begin a statement.
                b'\\' => self.escape(),
                b'(' | b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' | b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    self.at += 1;
                }
                b'"' | b'\'' => self.string(false),
                b'0'..=b'9' => self.skip(|b| in_word(b) || b == b'.'),
                _ if in_word(byte) => self.word(),
                _ => self.at += 1,
            }
        }
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.code.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|&&b| wanted(b)).count();
    }

    /// Passes over a backslash and the character after it.
    fn escape(&mut self) {
        let next = self.code[self.at + 1..].chars().next();
        self.at += 1 + next.map_or(0, char::len_utf8);
    }

    fn begin(&mut self) {
        let rest = &self.code[self.at..];
        let first = first_word(rest);
        if CLAUSES.contains(&first) && !self.found.is_empty() {
            return;
        }
        self.found.push(Statement {
            decorator: rest.starts_with('@'),
            import: matches!(first, "import" | "from"),
            identifiers: Vec::new(),
        });
    }

    fn word(&mut self) {
        let word = first_word(&self.code[self.at..]);
        self.at += word.len();
        let quoted = matches!(self.code.as_bytes().get(self.at), Some(b'"' | b'\''));
        if quoted && is_prefix(word) {
            let formatted = word.contains(['f', 'F', 't', 'T']);
            self.string(formatted);
        } else {
            self.take(word);
        }
    }

    fn take(&mut self, word: &'a str) {
        if KEYWORDS.contains(&word) {
            return;
        }
        // Text that begins indented belongs to a statement without a head.
        if self.found.is_empty() {
            self.found.push(Statement::default());
        }
        if let Some(statement) = self.found.last_mut() {
            statement.identifiers.push(word);
        }
    }

    /// Passes over a string whose first quote is at hand.
    fn string(&mut self, formatted: bool) {
        let bytes = self.code.as_bytes();
        let quote = bytes[self.at];
        let triple = bytes[self.at..].starts_with(&[quote; 3]);
        let width = if triple { 3 } else { 1 };
        self.at += width;
        let mut fields = Vec::new();
        while let Some(&byte) = bytes.get(self.at) {
            if byte == b'\\' {
                self.escape();
            } else if byte == quote && (!triple || bytes[self.at..].starts_with(&[quote; 3])) {
                self.at += width;
                break;
            } else if byte == b'\n' && !triple {
                // It never ended; the next line is code again.
                break;
            } else if formatted && byte == b'{' {
                if bytes.get(self.at + 1) == Some(&b'{') {
                    self.at += 2;
                    continue;
                }
                let start = self.at + 1;
                self.at = field_end(bytes, start, quote);
                fields.push(start..self.at);
            } else {
                self.at += 1;
            }
        }
        for field in fields {
            self.field(&self.code[field], true);
        }
    }

    /// The code of a replacement field; a format specification may hold fields, one level deep.
    fn field(&mut self, text: &'a str, outer: bool) {
        let end = specification(text.as_bytes());
        for statement in statements(&text[..end]) {
            for word in statement.identifiers {
                self.take(word);
            }
        }
        if !outer {
            return;
        }
        let mut rest = &text[end..];
        while let Some(open) = rest.find('{') {
            let inner = &rest[open + 1..];
            let close = inner.find('}').unwrap_or(inner.len());
            self.field(&inner[..close], false);
            rest = &inner[close..];
        }
    }
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn first_word(text: &str) -> &str {
    let end = text.bytes().take_while(|&b| in_word(b)).count();
    &text[..end]
}

fn is_prefix(word: &str) -> bool {
    word.len() <= 2 && word.bytes().all(|b| b"rbuftRBUFT".contains(&b))
}

/// Where a replacement field ends: its closing brace, the string's own quote, or the text's end.
fn field_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut depth = 0usize;
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'}' if depth == 0 => return at,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ if byte == quote => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Where a field's conversion (`!r`) or format (`:>{width}`) begins, or its end.
fn specification(bytes: &[u8]) -> usize {
    let mut depth = 0usize;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' | b'!' if depth == 0 && bytes.get(at + 1) != Some(&b'=') => return at,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(code: &str) -> Vec<&str> {
        statements(code)
            .into_iter()
            .flat_map(|s| s.identifiers)
            .collect()
    }

    #[test]
    fn strings_comments_numbers_and_keywords_hold_no_identifiers() {
        let code = "x = 'a b' + r\"\\\" c\" # d\ny = '''e\nf''' if None else 0x1F + 1.5e3\n";
        assert_eq!(words(code), ["x", "y"]);
        assert_eq!(words("b = b'c'; ub = rb\"d\""), ["b", "ub"]);
    }

    #[test]
    fn what_an_f_string_computes_is_code() {
        let code = "f'a {b.c(d)!r} {{e}} {g:>{width}} {h == i} {j[1:k]}'";
        assert_eq!(
            words(code),
            ["b", "c", "d", "g", "width", "h", "i", "j", "k"]
        );
    }

    #[test]
    fn an_unfinished_string_ends_with_its_line() {
        assert_eq!(words("x = 'never\ny = z"), ["x", "y", "z"]);
        assert_eq!(words("x = \"\"\"never\ny = z"), ["x"]);
    }

    #[test]
    fn statements_begin_at_the_margin_and_keep_their_blocks() {
        let code = "from a import (\nb,\n)\n@deco\ndef f(x):\n    return y\n# c\ntry:\n    import g\nexcept E:\n    h = 1\nk = \\\nm\n";
        let found: Vec<(bool, bool, Vec<&str>)> = statements(code)
            .into_iter()
            .map(|s| (s.decorator, s.import, s.identifiers))
            .collect();
        assert_eq!(
            found,
            [
                (false, true, vec!["a", "b"]),
                (true, false, vec!["deco"]),
                (false, false, vec!["f", "x", "y"]),
                (false, false, vec!["g", "E", "h"]),
                (false, false, vec!["k", "m"]),
            ]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_scanned(text in "(f'|\"\"\"|'|\\{|\\}|:|!|\\\\|\n|#|é|x|1|\\(|\\)| ){0,60}") {
            statements(&text);
        }
    }
}
