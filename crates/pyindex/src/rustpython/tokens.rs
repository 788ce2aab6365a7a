//! Where the tokens stand: the places that rustpython-parser's tree leaves out.

use ruff_text_size::{TextRange, TextSize};
use rustpython_parser::{Tok, text_size};

/// The kinds of token that a place is looked up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    As,
    At,
    Async,
    Case,
    Close,
    Colon,
    Comma,
    DoubleStar,
    Elif,
    Else,
    Equal,
    For,
    Import,
    Name,
    Open,
    Other,
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    range: TextRange,
    /// For a bracket: where the pair that it belongs to begins and ends.
    pair: TextRange,
}

/// All tokens that have a width, in source order.
///
/// Line ends and indentation are left out, so that neighbours are neighbours in the grammar.
#[derive(Default)]
pub(super) struct Tokens {
    tokens: Vec<Token>,
    open: Vec<usize>,
}

/// One parser's offset as the other's.
pub(super) fn offset(size: text_size::TextSize) -> TextSize {
    TextSize::new(u32::from(size))
}

impl Tokens {
    /// Adds the next token of the file.
    pub(super) fn push(&mut self, token: &Tok, range: text_size::TextRange) {
        if matches!(token, Tok::Newline | Tok::Indent | Tok::Dedent) || range.is_empty() {
            return;
        }
        let kind = kind(token);
        let range = TextRange::new(offset(range.start()), offset(range.end()));
        let mut pair = range;
        if kind == Kind::Open {
            self.open.push(self.tokens.len());
        } else if kind == Kind::Close
            && let Some(open) = self.open.pop().and_then(|i| self.tokens.get_mut(i))
        {
            pair = open.range.cover(range);
            open.pair = pair;
        }
        self.tokens.push(Token { kind, range, pair });
    }

    /// The index of the first token that begins at or behind `at`.
    fn index(&self, at: TextSize) -> usize {
        self.tokens.partition_point(|t| t.range.start() < at)
    }

    fn starting(&self, at: TextSize) -> Option<&Token> {
        self.tokens
            .get(self.index(at))
            .filter(|t| t.range.start() == at)
    }

    /// The last token that ends at or before `at`.
    fn previous(&self, at: TextSize) -> Option<&Token> {
        let end = self.tokens.partition_point(|t| t.range.end() <= at);
        self.tokens[..end].last()
    }

    /// Whether a token of this kind begins at `at`.
    pub(super) fn is(&self, at: TextSize, kind: Kind) -> bool {
        self.starting(at).is_some_and(|t| t.kind == kind)
    }

    /// The first token of a kind that begins at or behind `at`.
    pub(super) fn after(&self, at: TextSize, kind: Kind) -> Option<TextRange> {
        let behind = &self.tokens[self.index(at)..];
        behind.iter().find(|t| t.kind == kind).map(|t| t.range)
    }

    /// The last token of a kind that ends at or before `at`.
    pub(super) fn before(&self, at: TextSize, kind: Kind) -> Option<TextRange> {
        let end = self.tokens.partition_point(|t| t.range.end() <= at);
        let ahead = &self.tokens[..end];
        ahead.iter().rev().find(|t| t.kind == kind).map(|t| t.range)
    }

    /// Where the first token at or behind `at` begins.
    pub(super) fn next_start(&self, at: TextSize) -> TextSize {
        self.tokens
            .get(self.index(at))
            .map_or(at, |t| t.range.start())
    }

    /// The last token that ends at or before `at`: its kind and place.
    pub(super) fn last_before(&self, at: TextSize) -> Option<(Kind, TextRange)> {
        self.previous(at).map(|t| (t.kind, t.range))
    }

    /// The pair of brackets that the first token at or behind `at` opens.
    pub(super) fn pair_after(&self, at: TextSize) -> Option<TextRange> {
        let token = self.tokens.get(self.index(at))?;
        (token.kind == Kind::Open).then_some(token.pair)
    }

    /// The pair of brackets that closes at `end`.
    pub(super) fn pair_ending(&self, end: TextSize) -> Option<TextRange> {
        let token = self.previous(end)?;
        (token.kind == Kind::Close && token.range.end() == end).then_some(token.pair)
    }

    /// Whether a range begins with a bracket that ends it.
    pub(super) fn is_pair(&self, range: TextRange) -> bool {
        self.starting(range.start())
            .is_some_and(|t| t.kind == Kind::Open && t.pair == range)
    }

    /// The range with every pair of brackets around it that holds nothing else.
    pub(super) fn with_brackets(&self, mut range: TextRange) -> TextRange {
        while let Some(before) = self.previous(range.start())
            && let Some(behind) = self.tokens.get(self.index(range.end()))
            && before.kind == Kind::Open
            && behind.kind == Kind::Close
            && before.pair == behind.pair
        {
            range = before.pair;
        }
        range
    }
}

fn kind(token: &Tok) -> Kind {
    match token {
        Tok::As => Kind::As,
        Tok::At => Kind::At,
        Tok::Async => Kind::Async,
        Tok::Case => Kind::Case,
        Tok::Rpar | Tok::Rsqb | Tok::Rbrace => Kind::Close,
        Tok::Colon => Kind::Colon,
        Tok::Comma => Kind::Comma,
        Tok::DoubleStar => Kind::DoubleStar,
        Tok::Elif => Kind::Elif,
        Tok::Else => Kind::Else,
        Tok::Equal => Kind::Equal,
        Tok::For => Kind::For,
        Tok::Import => Kind::Import,
        Tok::Name { .. } => Kind::Name,
        Tok::Lpar | Tok::Lsqb | Tok::Lbrace => Kind::Open,
        _ => Kind::Other,
    }
}
