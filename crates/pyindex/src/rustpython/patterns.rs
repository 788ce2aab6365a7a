//! The patterns of `match`.

use ruff_python_ast::{self as ruff, AtomicNodeIndex, Pattern};
use ruff_text_size::{Ranged, TextRange};
use rustpython_parser::ast::{self, Constant};

use super::tokens::Kind;
use super::{RED_ZONE, STACK, Translation};

impl Translation<'_> {
    pub(super) fn pattern(&self, node: ast::Pattern) -> Pattern {
        stacker::maybe_grow(RED_ZONE, STACK, || self.any_pattern(node))
    }

    fn any_pattern(&self, node: ast::Pattern) -> Pattern {
        match node {
            ast::Pattern::MatchValue(p) => Pattern::MatchValue(ruff::PatternMatchValue {
                node_index: AtomicNodeIndex::NONE,
                range: self.range(p.range),
                value: self.boxed(*p.value),
            }),
            ast::Pattern::MatchSingleton(p) => {
                Pattern::MatchSingleton(ruff::PatternMatchSingleton {
                    node_index: AtomicNodeIndex::NONE,
                    range: self.range(p.range),
                    value: match p.value {
                        Constant::Bool(value) => ruff::Singleton::from(value),
                        _ => ruff::Singleton::None,
                    },
                })
            }
            ast::Pattern::MatchSequence(p) => Pattern::MatchSequence(ruff::PatternMatchSequence {
                node_index: AtomicNodeIndex::NONE,
                range: self.range(p.range),
                patterns: p.patterns.into_iter().map(|p| self.pattern(p)).collect(),
            }),
            ast::Pattern::MatchMapping(p) => self.mapping(p),
            ast::Pattern::MatchClass(p) => self.class_pattern(p),
            ast::Pattern::MatchStar(p) => {
                let range = self.range(p.range);
                Pattern::MatchStar(ruff::PatternMatchStar {
                    node_index: AtomicNodeIndex::NONE,
                    range,
                    name: p.name.map(|name| self.identifier_ending(name, range)),
                })
            }
            ast::Pattern::MatchAs(p) => {
                let range = self.range(p.range);
                Pattern::MatchAs(ruff::PatternMatchAs {
                    node_index: AtomicNodeIndex::NONE,
                    range,
                    pattern: p.pattern.map(|p| Box::new(self.pattern(*p))),
                    name: p.name.map(|name| self.identifier_ending(name, range)),
                })
            }
            ast::Pattern::MatchOr(p) => Pattern::MatchOr(ruff::PatternMatchOr {
                node_index: AtomicNodeIndex::NONE,
                range: self.range(p.range),
                patterns: p.patterns.into_iter().map(|p| self.pattern(p)).collect(),
            }),
        }
    }

    fn mapping(&self, node: ast::PatternMatchMapping) -> Pattern {
        let range = self.range(node.range);
        let rest = node.rest.map(|name| {
            let stars = self.tokens.before(range.end(), Kind::DoubleStar);
            let place = stars.and_then(|s| self.tokens.after(s.end(), Kind::Name));
            ruff::Identifier::new(super::name(name), place.unwrap_or(range))
        });
        Pattern::MatchMapping(ruff::PatternMatchMapping {
            node_index: AtomicNodeIndex::NONE,
            range,
            keys: node.keys.into_iter().map(|k| self.expression(k)).collect(),
            patterns: node.patterns.into_iter().map(|p| self.pattern(p)).collect(),
            rest,
        })
    }

    fn class_pattern(&self, node: ast::PatternMatchClass) -> Pattern {
        let range = self.range(node.range);
        let keywords = node.kwd_attrs.into_iter().zip(node.kwd_patterns);
        Pattern::MatchClass(ruff::PatternMatchClass {
            node_index: AtomicNodeIndex::NONE,
            range,
            cls: self.boxed(*node.cls),
            arguments: ruff::PatternArguments {
                range: self.pair_ending(range),
                node_index: AtomicNodeIndex::NONE,
                patterns: node.patterns.into_iter().map(|p| self.pattern(p)).collect(),
                keywords: keywords.map(|(k, p)| self.keyword_pattern(k, p)).collect(),
            },
        })
    }

    fn keyword_pattern(&self, attr: ast::Identifier, node: ast::Pattern) -> ruff::PatternKeyword {
        let pattern = self.pattern(node);
        let whole = self.with_brackets(pattern.range());
        let equal = self.tokens.before(whole.start(), Kind::Equal);
        let place = equal.and_then(|e| self.tokens.before(e.start(), Kind::Name));
        let place = place.unwrap_or(whole);
        ruff::PatternKeyword {
            range: TextRange::new(place.start(), whole.end()),
            node_index: AtomicNodeIndex::NONE,
            attr: ruff::Identifier::new(super::name(attr), place),
            pattern,
        }
    }
}
