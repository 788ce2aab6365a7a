//! Text cut out of a file by lines, as the released indexer cuts it.

/// Python's text mode: `\r\n` and `\r` are read as `\n`.
pub(super) fn universal_newlines(text: String) -> String {
    if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text
    }
}

/// What Python's `str.isspace` and `\s` accept: the separators U+001C to U+001F too.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The word that begins a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Def,
    Class,
}

/// A file by lines.
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    /// The lines that hold `def `, from 0; a header is looked for in them alone.
    defs: Vec<usize>,
    /// The lines that hold `class `, from 0.
    classes: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        let mut lines = Self {
            text,
            starts,
            defs: Vec::new(),
            classes: Vec::new(),
        };
        for at in 0..lines.starts.len() {
            let line = lines.line(at).trim_matches(is_python_space);
            if line.contains("def ") {
                lines.defs.push(at);
            }
            if line.contains("class ") {
                lines.classes.push(at);
            }
        }
        lines
    }

    /// The line of a byte, from 1.
    pub fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    /// A line without its end, from 0.
    fn line(&self, at: usize) -> &'a str {
        let end = self.starts.get(at + 1).map_or(self.text.len(), |e| e - 1);
        &self.text[self.starts[at]..end]
    }

    /// Whole lines, from 1, both ends included.
    pub fn between(&self, first: usize, last: usize) -> &'a str {
        let end = self.starts.get(last).map_or(self.text.len(), |e| e - 1);
        &self.text[self.starts[first - 1]..end]
    }

    /// Released `ast_parser.py`, signatures: from the first line at or after `start_line` (from 1)
    /// with the keyword to the one that holds a colon while the parentheses are even; strings and
    /// comments count like code. A class ends at any line with a colon and no `(`.
    pub fn signature(&self, start_line: usize, keyword: Keyword) -> String {
        let candidates = match keyword {
            Keyword::Def => &self.defs,
            Keyword::Class => &self.classes,
        };
        let found = candidates.partition_point(|&at| at + 1 < start_line);
        let first = candidates.get(found).copied().unwrap_or(self.starts.len());
        let mut depth = 0i64;
        let mut last = first;
        while last < self.starts.len() {
            let line = self.line(last);
            last += 1;
            let open = line.matches('(').count();
            depth += open as i64 - line.matches(')').count() as i64;
            let even = depth == 0 || (keyword == Keyword::Class && open == 0);
            if even && line.contains(':') {
                break;
            }
        }
        let lines = (first..last).flat_map(|at| self.line(at).split(is_python_space));
        let words: Vec<&str> = lines.filter(|word| !word.is_empty()).collect();
        let mut signature = words.join(" ");
        if !signature.ends_with(':') {
            signature.push(':');
        }
        signature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn def(text: &str) -> String {
        Lines::new(text).signature(1, Keyword::Def)
    }

    #[test]
    fn a_signature_ends_at_a_colon_between_even_parentheses() {
        assert_eq!(
            def("def f(a,\n      b: int) \\\n    -> int:\n    pass\n"),
            // The colon of the annotation stands on a line that closes the parentheses.
            "def f(a, b: int) \\:"
        );
        assert_eq!(def("def f(\n    a,\n):\n    pass"), "def f( a, ):");
    }

    #[test]
    fn what_stands_behind_the_colon_stays_and_a_colon_is_added() {
        assert_eq!(def("def f(a): return a\n"), "def f(a): return a:");
        assert_eq!(def("def f():  # why\n"), "def f(): # why:");
    }

    #[test]
    fn parentheses_in_strings_count() {
        assert_eq!(
            def("def f(a='('):\n    g(1)\n    return ')'\nx = 1\n"),
            "def f(a='('): g(1) return ')' x = 1:"
        );
    }

    #[test]
    fn a_def_followed_by_a_tab_takes_the_next_line_that_says_def() {
        assert_eq!(
            def("def\tf():\n    pass\ndef g(): pass\n"),
            "def g(): pass:"
        );
        assert_eq!(def("def\tf():\n    pass\n"), ":");
    }

    #[test]
    fn a_class_ends_at_a_colon_on_a_line_without_a_parenthesis() {
        let text = "class C(\n    Base[1:2],\n    Other,\n):\n    pass\n";
        assert_eq!(
            Lines::new(text).signature(1, Keyword::Class),
            "class C( Base[1:2],:"
        );
    }

    #[test]
    fn separators_are_white_space_as_in_python() {
        assert_eq!(def("def f(a,\u{1f}\u{a0} b):"), "def f(a, b):");
    }
}
