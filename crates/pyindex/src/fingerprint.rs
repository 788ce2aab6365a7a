//! Whether two pieces of Python are the same text, or nearly: tokens, their hash, their MinHash.
//!
//! [`read`] breaks texts into [`Tokens`]: comments, documentation strings, blank lines,
//! indentation, the style of quotes and trailing commas are gone, names and literals stay. Equal
//! [`Tokens::hash`]es mean equal programs but for those; [`Tokens::sketch`]es of nearly equal
//! programs agree in most places, so that [`Neighbours`] finds them without comparing all with all.
//!
//! ```
//! use hydra_pyindex::fingerprint::read;
//!
//! let texts = [
//!     "def f(a, b):\n    return a + b\n",
//!     "def f(\n    a,  # the first\n    b,\n):\n    \"\"\"Add.\"\"\"\n    return a + b\n",
//! ];
//! let files = read(&texts, |text| text)?;
//! assert_eq!(files[0].tokens.hash(), files[1].tokens.hash());
//! assert_eq!(files[0].functions[0].name, "f");
//! # Ok::<(), hydra_pyindex::IndexError>(())
//! ```

use std::collections::BTreeSet;
use std::hash::BuildHasherDefault;

use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32, SmallVecContainer};
use rayon::prelude::*;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHasher;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::{IndexError, load, parse};

/// Tokens in a row that a MinHash takes for one element of the set.
const SHINGLE: usize = 5;
/// MinHash values to a sketch: the estimated similarity's standard error is at most 0.045.
const SKETCH: usize = 128;
/// Decides the hash functions of a sketch.
const SEED: u64 = 42;
/// Sketches are compared when one of so many bands agrees in all its values: of pairs that are
/// 0.7 alike one in 6,500 has no such band, of pairs 0.8 alike one in twenty million.
const BANDS: usize = 32;
/// Values to a band.
const BAND_WIDTH: usize = SKETCH / BANDS;

/// A piece of Python without what doesn't change its meaning: one hash for each token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tokens(Vec<u64>);

/// MinHash values over five tokens in a row each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch(Vec<u32>);

/// A file's tokens and those of its functions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileTokens {
    /// All of them.
    pub tokens: Tokens,
    /// Each function, method and inner function, as they begin.
    pub functions: Vec<FunctionTokens>,
}

/// A function's tokens from `def` (or `async`) on: its decorators are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionTokens {
    /// Its bare name.
    pub name: String,
    /// The line of its first decorator or `def`, from 1.
    pub line: usize,
    /// Its tokens.
    pub tokens: Tokens,
}

/// Reads the tokens of many texts, in their order, on all cores.
///
/// A text that Python refuses gives what tokens it has; one that nests deeper than Python allows
/// gives its words, and no functions.
///
/// # Errors
/// Only where no thread can be started.
pub fn read<T: Sync>(
    items: &[T],
    text: impl Fn(&T) -> &str + Sync,
) -> Result<Vec<FileTokens>, IndexError> {
    load::with_room(0, || {
        items.par_iter().map(|item| file(text(item))).collect()
    })
}

fn file(text: &str) -> FileTokens {
    if u32::try_from(text.len()).is_err() || parse::refuse_depth(text).is_err() {
        let words = text.split_whitespace().map(|word| xxh3_64(word.as_bytes()));
        return FileTokens {
            tokens: Tokens(words.collect()),
            functions: Vec::new(),
        };
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    let (places, hashes): (Vec<usize>, Vec<u64>) = normalised(text, parsed.tokens()).unzip();
    let mut found = Functions::default();
    if let ast::Mod::Module(module) = parsed.syntax() {
        found.visit_body(&module.body);
    }
    let function = |(name, whole, range): (String, usize, TextRange)| {
        let first = places.partition_point(|p| *p < range.start().to_usize());
        let end = places.partition_point(|p| *p < range.end().to_usize());
        FunctionTokens {
            name,
            line: memchr::memchr_iter(b'\n', &text.as_bytes()[..whole]).count() + 1,
            tokens: Tokens(hashes[first..end].to_vec()),
        }
    };
    FileTokens {
        functions: found.0.into_iter().map(function).collect(),
        tokens: Tokens(hashes),
    }
}

/// Where each token that counts begins, and its hash.
fn normalised<'a>(text: &'a str, all: &'a [Token]) -> impl Iterator<Item = (usize, u64)> + 'a {
    use TokenKind as K;
    let solid: Vec<&Token> = all
        .iter()
        .filter(|t| !matches!(t.kind(), K::Comment | K::NonLogicalNewline))
        .collect();
    (0..solid.len()).filter_map(move |at| {
        let kind = solid[at].kind();
        let next = solid.get(at + 1).map(|t| t.kind());
        let before = at.checked_sub(1).map(|b| solid[b].kind());
        let starts = matches!(before, None | Some(K::Newline | K::Indent | K::Dedent));
        let ends = matches!(next, None | Some(K::Newline | K::EndOfFile | K::Semi));
        let gone = match kind {
            K::Newline | K::Indent | K::Dedent | K::EndOfFile | K::Semi => true,
            K::String => starts && ends,
            K::Comma => matches!(next, Some(K::Rpar | K::Rsqb | K::Rbrace)),
            _ => false,
        };
        let range = solid[at].range();
        let place = range.start().to_usize();
        (!gone).then(|| {
            let piece = text.get(place..range.end().to_usize()).unwrap_or_default();
            (place, token_hash(kind, piece))
        })
    })
}

fn token_hash(kind: TokenKind, piece: &str) -> u64 {
    match kind {
        TokenKind::String => {
            let at = piece.find(['"', '\'']).unwrap_or(0);
            let prefix = piece[..at].to_ascii_lowercase().replace('u', "");
            let value = without_quotes(&piece[at..])
                .replace("\\\"", "\"")
                .replace("\\'", "'");
            xxh3_64(format!("{prefix}\"{value}").as_bytes())
        }
        TokenKind::FStringStart | TokenKind::TStringStart => xxh3_64(b"f\""),
        TokenKind::FStringEnd | TokenKind::TStringEnd => xxh3_64(b"\"f"),
        _ => xxh3_64(piece.as_bytes()),
    }
}

/// A literal without the quotes around it, three or one; a broken one may lack the last.
fn without_quotes(literal: &str) -> &str {
    for quotes in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(rest) = literal.strip_prefix(quotes) {
            return rest.strip_suffix(quotes).unwrap_or(rest);
        }
    }
    literal
}

/// Functions with the place where each begins and the range without decorators.
#[derive(Default)]
struct Functions(Vec<(String, usize, TextRange)>);

impl<'a> Visitor<'a> for Functions {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::FunctionDef(def) = stmt {
            let range = def.range();
            let start = def
                .decorator_list
                .last()
                .map_or(range.start(), |d| d.range().end());
            self.0.push((
                def.name.to_string(),
                range.start().to_usize(),
                TextRange::new(start, range.end()),
            ));
        }
        visitor::walk_stmt(self, stmt);
    }
}

impl Tokens {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// 32 hexadecimal digits: XXH3 over all tokens.
    pub fn hash(&self) -> String {
        let bytes: Vec<u8> = self.0.iter().flat_map(|t| t.to_le_bytes()).collect();
        format!("{:032x}", xxh3_128(&bytes))
    }

    /// Five tokens in a row each; what is shorter is one element.
    fn shingles(&self) -> impl Iterator<Item = &[u64]> {
        self.0.windows(SHINGLE.min(self.0.len()).max(1))
    }

    /// The Jaccard similarity of what both hold, five tokens in a row at a time: 0 to 1. Two
    /// pieces without tokens are the same.
    pub fn similarity(&self, other: &Self) -> f64 {
        let (one, two): (BTreeSet<_>, BTreeSet<_>) =
            (self.shingles().collect(), other.shingles().collect());
        let shared = one.intersection(&two).count();
        match one.len() + two.len() - shared {
            0 => 1.0,
            all => shared as f64 / all as f64,
        }
    }
}

/// Makes sketches that can be compared with each other.
pub struct Sketcher(MinHasher32<BuildHasherDefault<FxHasher>>);

impl Default for Sketcher {
    fn default() -> Self {
        Self(MinHasher32::new_with_hasher_and_seed(
            SKETCH,
            BuildHasherDefault::default(),
            SEED,
        ))
    }
}

impl Sketcher {
    /// The MinHash of some tokens. Pieces without tokens all have the same.
    pub fn sketch(&self, tokens: &Tokens) -> Sketch {
        Sketch(self.0.create_signature(tokens.shingles().map(hash_of)))
    }
}

/// The lower half is what the MinHash takes of it.
fn hash_of(shingle: &[u64]) -> u64 {
    let bytes: Vec<u8> = shingle.iter().flat_map(|t| t.to_le_bytes()).collect();
    xxh3_64(&bytes)
}

/// Sketches by number, to be asked which of them are like another.
pub struct Neighbours(MinHashIndex<u32, u32, SmallVecContainer<u32, 2>>);

impl Neighbours {
    /// An empty set that finds what is at least `similarity` alike, by the sketches.
    pub fn new(similarity: f64) -> Self {
        Self(MinHashIndex::new_index(BANDS, BAND_WIDTH, similarity))
    }

    /// Adds a sketch under a number of the caller's.
    pub fn insert(&mut self, number: u32, sketch: Sketch) {
        self.0.insert(number, sketch.0);
    }

    /// The numbers of the sketches that are like this one, in order.
    pub fn like(&self, sketch: &Sketch) -> Vec<u32> {
        let mut found: Vec<u32> = self.0.query_owned(&sketch.0).into_iter().collect();
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
