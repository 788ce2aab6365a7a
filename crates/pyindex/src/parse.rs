//! From a text to an outline, by one of two parsers.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use ruff_python_ast::{self as ast, token::TokenKind};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use serde::{Deserialize, Serialize};

use crate::lower::{Scratch, lower};
use crate::outline::Outline;

/// CPython's tokenizer refuses more than 200 open brackets (`MAXLEVEL`).
const MAX_NESTING: usize = 200;
/// CPython's tokenizer refuses more than 100 levels of indentation (`MAXINDENT`); this is far
/// above, and bounds how deep statements nest.
const MAX_INDENTS: usize = 1000;
/// ruff's parser takes more stack for each `lambda` in the default of another. Python's own
/// gives up much earlier.
const MAX_LAMBDAS: usize = 10_000;
/// As many brackets as a byte can count.
const BLOCK: usize = 128;

/// What reads the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parser {
    /// ruff's parser: Python 3.14's grammar, and what parses in a broken file is kept.
    #[default]
    Ruff,
    /// rustpython-parser: Python 3.12's grammar without PEP 701; a broken file is left out.
    Rustpython,
}

impl Parser {
    /// The word for it in options and cache keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ruff => "ruff",
            Self::Rustpython => "rustpython",
        }
    }
}

/// Parses a file; the error is the reason to skip it.
pub(crate) fn outline(
    parser: Parser,
    text: &str,
    scratch: &mut Scratch,
) -> Result<Outline, String> {
    // Positions are 32 bits wide.
    if u32::try_from(text.len()).is_err() {
        return Err("larger than 4 GiB".to_owned());
    }
    refuse_depth(text)?;
    match parser {
        Parser::Ruff => {
            let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
            let broken = parsed.errors().first().map(|e| {
                let before = &text.as_bytes()[..e.location.start().to_usize().min(text.len())];
                let line = memchr::memchr_iter(b'\n', before).count() + 1;
                format!("syntax error on line {line}: {}", e.error)
            });
            match parsed.into_syntax() {
                ast::Mod::Module(module) => lower(text, &module.body, broken, scratch),
                ast::Mod::Expression(_) => return Err("not a module".to_owned()),
            }
        }
        Parser::Rustpython => {
            let module = crate::rustpython::parse(text, "module.py")?;
            lower(text, &module.body, None, scratch);
        }
    }
    // The tree is gone: what is kept doesn't lie between its pieces.
    Ok(scratch.take())
}

/// Refuses what nests deeper than Python itself reads, before a parser recurses into it.
pub(crate) fn refuse_depth(text: &str) -> Result<(), String> {
    if !may_be_deep(text.as_bytes()) {
        return Ok(());
    }
    // Brackets in strings and comments don't count: ask the lexer.
    let mut lexer = ruff_python_parser::lexer::lex(text, Mode::Module);
    let (mut depth, mut indents, mut lambdas) = (0usize, 0usize, 0usize);
    loop {
        match lexer.next_token() {
            TokenKind::EndOfFile => return Ok(()),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => depth += 1,
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                depth = depth.saturating_sub(1);
            }
            TokenKind::Lambda => lambdas += 1,
            TokenKind::Newline => lambdas = 0,
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(format!(
                "brackets nested deeper than {MAX_NESTING}, which Python refuses"
            ));
        }
        if lambdas > MAX_LAMBDAS {
            return Err(format!("more than {MAX_LAMBDAS} lambdas in one statement"));
        }
        if indents > MAX_INDENTS {
            return Err(format!(
                "indented deeper than {MAX_INDENTS} levels, which Python refuses"
            ));
        }
    }
}

/// Counts brackets wherever they stand and looks for very wide margins. Cheap, as it is done to
/// every file: block by block, taking all closing brackets of a block to come last. Closing
/// brackets in strings can hide depth from it, which then costs stack, of which there is plenty.
fn may_be_deep(bytes: &[u8]) -> bool {
    static MARGINS: LazyLock<[Finder; 2]> = LazyLock::new(|| {
        [b' ', b'\t'].map(|blank| Finder::new(&[blank; MAX_INDENTS]).into_owned())
    });
    let mut depth = 0usize;
    for block in bytes.chunks(BLOCK) {
        let (mut opened, mut closed) = (0u8, 0u8);
        for byte in block {
            opened += u8::from(matches!(byte, b'(' | b'[' | b'{'));
            closed += u8::from(matches!(byte, b')' | b']' | b'}'));
        }
        depth += usize::from(opened);
        if depth > MAX_NESTING {
            return true;
        }
        depth = depth.saturating_sub(usize::from(closed));
    }
    static LAMBDA: LazyLock<Finder> = LazyLock::new(|| Finder::new(b"lambda"));
    MARGINS.iter().any(|margin| margin.find(bytes).is_some())
        || LAMBDA.find_iter(bytes).nth(MAX_LAMBDAS).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_brackets_of_the_program_count_as_nesting() {
        let deep = |n: usize| format!("x = {}{}\n", "[".repeat(n), "]".repeat(n));
        assert!(outline(Parser::Ruff, &deep(200), &mut Scratch::default()).is_ok());
        assert!(
            outline(Parser::Ruff, &deep(201), &mut Scratch::default())
                .is_err_and(|e| e.contains("200"))
        );
        let text = format!("x = '{}'\n", "[".repeat(5000));
        assert!(outline(Parser::Ruff, &text, &mut Scratch::default()).is_ok());
    }

    #[test]
    fn a_broken_file_keeps_what_parses_and_says_where_it_breaks() {
        let text =
            "def good():\n    return 1\n\nprint 'python 2'\n\ndef also(x):\n    return good()\n";
        let outline =
            outline(Parser::Ruff, text, &mut Scratch::default()).expect("what parses is kept");
        let facts = &outline.facts;
        let names: Vec<&str> = facts.units.iter().map(|unit| facts.name(unit)).collect();
        assert_eq!(names, ["good", "also"]);
        assert!(outline.facts.broken.is_some_and(|b| b.contains("line 4")));
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod both_parsers;
