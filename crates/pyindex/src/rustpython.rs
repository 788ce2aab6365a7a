//! rustpython-parser's tree as ruff's nodes, so that one lowering serves both parsers.
//!
//! What rustpython's tree does not keep (where a name stands in a statement, where an `else`
//! begins, which brackets belong to a call) is looked up among its tokens, which are noted while
//! the parser reads them. So nothing is searched for in the text.
//!
//! Kinds, places and names come out as ruff has them: in all 11,646 files of a Python 3.11
//! installation, its packages included, that both parsers read. What differs:
//!
//! - Everything in an f-string has the place of the whole f-string, so that a visitor in source
//!   order meets parameters and arguments in there by kind.
//! - A concatenated string is one part; its range takes in all parts, its flags are the first's.
//!   The text of `{x=}` is a literal before the interpolation, which has the `!r` spelt out.
//!   Flags of bytes and f-strings are not kept.
//! - A line end in a string is `\n` here, as it is for Python; ruff keeps a `\r\n`.
//! - After a line that holds a backslash only, rustpython counts no indentation.
//! - rustpython does not read: f-strings as Python 3.12 has them (the outer quote, a line end or a
//!   comment inside an interpolation; a backslash before a quote; a third level), t-strings,
//!   defaults of type parameters, `except A, B:`, `{**a for b in c}`, tabs after spaces in an
//!   indentation.
//! - rustpython reads some of what ruff calls an error: `1 = 2`, `del f()`, `f(a for b in c, d)`,
//!   an emoji for a name.

mod definitions;
mod expressions;
mod literals;
mod parameters;
mod patterns;
mod statements;
mod tokens;

use ruff_python_ast::name::Name;
use ruff_python_ast::{self as ruff, AtomicNodeIndex, Expr};
use ruff_text_size::{TextLen, TextRange, TextSize};
use rustpython_parser::{Parse, ParseError, ast, text_size};

use tokens::{Tokens, offset};

/// Stack that must be left when a node is entered, and what is added where it is not.
const RED_ZONE: usize = 64 * 1024;
const STACK: usize = 4 * 1024 * 1024;

/// Parses with rustpython-parser and translates into ruff's nodes.
///
/// # Errors
///
/// The reason: `syntax error: ... at line N`.
pub(crate) fn parse(text: &str, path: &str) -> Result<ruff::ModModule, String> {
    let length = u32::try_from(text.len()).map_err(|_| "longer than 4 GiB".to_owned())?;
    let mut tokens = Tokens::default();
    let start = text_size::TextSize::default();
    let lexed = ast::ModModule::lex_starts_at(text, start).inspect(|result| {
        if let Ok((token, range)) = result {
            tokens.push(token, *range);
        }
    });
    let module = ast::ModModule::parse_tokens(lexed, path).map_err(|e| reason(text, &e))?;
    let translation = Translation {
        text,
        tokens: &tokens,
        inside: None,
    };
    Ok(ruff::ModModule {
        node_index: AtomicNodeIndex::NONE,
        range: TextRange::up_to(TextSize::new(length)),
        body: translation.suite(module.body),
    })
}

fn reason(text: &str, error: &ParseError) -> String {
    let end = text.len().min(u32::from(error.offset) as usize);
    let line = 1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..end]).count();
    format!("syntax error: {} at line {line}", error.error)
}

/// One file's translation: nodes are taken apart by value, so that no deep tree is left to drop.
#[derive(Clone, Copy)]
struct Translation<'a> {
    text: &'a str,
    tokens: &'a Tokens,
    /// The f-string that everything translated now is in: it has no tokens of its own, and
    /// stands for the place of all that it holds.
    inside: Option<TextRange>,
}

impl Translation<'_> {
    fn range(&self, range: text_size::TextRange) -> TextRange {
        self.inside
            .unwrap_or_else(|| TextRange::new(offset(range.start()), offset(range.end())))
    }

    /// The range with the brackets that hold nothing else.
    fn with_brackets(&self, range: TextRange) -> TextRange {
        match self.inside {
            Some(whole) => whole,
            None => self.tokens.with_brackets(range),
        }
    }

    fn is_bracketed(&self, range: TextRange) -> bool {
        self.inside.is_none() && self.tokens.is_pair(range)
    }

    /// The brackets that end a call.
    fn pair_ending(&self, call: TextRange) -> TextRange {
        match self.inside {
            Some(whole) => whole,
            None => self.tokens.pair_ending(call.end()).unwrap_or(call),
        }
    }

    /// A name that begins a range.
    fn identifier_starting(&self, id: ast::Identifier, range: TextRange) -> ruff::Identifier {
        let end = range.start() + id.as_str().text_len();
        let place = match self.inside {
            None if end <= range.end() => TextRange::new(range.start(), end),
            _ => range,
        };
        ruff::Identifier::new(name(id), place)
    }

    /// A name that ends a range.
    fn identifier_ending(&self, id: ast::Identifier, range: TextRange) -> ruff::Identifier {
        let start = range.end().checked_sub(id.as_str().text_len());
        let place = match start {
            Some(start) if self.inside.is_none() && range.start() <= start => {
                TextRange::new(start, range.end())
            }
            _ => range,
        };
        ruff::Identifier::new(name(id), place)
    }
}

/// The name as Python compares names: rustpython does not normalise them, ruff's lexer does.
fn name(id: ast::Identifier) -> Name {
    let text = String::from(id);
    if text.is_ascii() {
        return Name::from(text);
    }
    let parts: Vec<String> = text.split('.').map(normalised).collect();
    Name::from(parts.join("."))
}

fn normalised(part: &str) -> String {
    match ruff_python_parser::parse_expression(part).map(|parsed| parsed.into_expr()) {
        Ok(Expr::Name(name)) => name.id.into(),
        _ => part.to_owned(),
    }
}

#[cfg(test)]
#[path = "rustpython_tests.rs"]
mod tests;
