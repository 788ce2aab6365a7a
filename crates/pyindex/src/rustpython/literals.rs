//! Constants, strings and f-strings.

use ruff_python_ast::str::{Quote, TripleQuotes};
use ruff_python_ast::str_prefix::StringLiteralPrefix;
use ruff_python_ast::{self as ruff, AtomicNodeIndex, Expr};
use ruff_text_size::TextRange;
use rustpython_parser::ast::bigint::BigInt;
use rustpython_parser::ast::{self, Constant};
use rustpython_parser::text_size;

use super::Translation;

impl Translation<'_> {
    pub(super) fn constant(&self, node: ast::ExprConstant) -> Expr {
        let range = self.range(node.range);
        let node_index = AtomicNodeIndex::NONE;
        match node.value {
            Constant::None => Expr::NoneLiteral(ruff::ExprNoneLiteral { node_index, range }),
            Constant::Ellipsis => {
                Expr::EllipsisLiteral(ruff::ExprEllipsisLiteral { node_index, range })
            }
            Constant::Bool(value) => Expr::BooleanLiteral(ruff::ExprBooleanLiteral {
                node_index,
                range,
                value,
            }),
            Constant::Str(value) => self.string(value, range),
            Constant::Bytes(value) => bytes(value, range),
            Constant::Int(value) => number(self.integer(&value, range), range),
            Constant::Float(value) => number(ruff::Number::Float(value), range),
            Constant::Complex { real, imag } => number(ruff::Number::Complex { real, imag }, range),
            // The parser never makes one; its optimizer would.
            Constant::Tuple(items) => Expr::Tuple(ruff::ExprTuple {
                node_index,
                range,
                elts: self.constants(items, node.range),
                ctx: ruff::ExprContext::Load,
                parenthesized: self.is_bracketed(range),
            }),
        }
    }

    fn constants(&self, items: Vec<Constant>, range: text_size::TextRange) -> Vec<Expr> {
        let constants = items.into_iter().map(|value| {
            ast::Expr::Constant(ast::ExprConstant {
                range,
                value,
                kind: None,
            })
        });
        self.expressions(constants.collect())
    }

    fn integer(&self, value: &BigInt, range: TextRange) -> ruff::Number {
        let digits = value.to_string();
        let written = self.text.get(range.to_std_range()).unwrap_or("");
        // ruff keeps what does not fit 64 bits as it is written, unless it is decimal.
        let token = match written.as_bytes() {
            [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..] => written,
            _ => &digits,
        };
        let token = if self.inside.is_some() {
            &digits
        } else {
            token
        };
        // Digits alone always parse.
        let int = ruff::Int::from_str_radix(&digits, 10, token);
        ruff::Number::Int(int.unwrap_or(ruff::Int::ZERO))
    }

    fn string(&self, value: String, range: TextRange) -> Expr {
        let literal = ruff::StringLiteral {
            range,
            node_index: AtomicNodeIndex::NONE,
            value: value.into(),
            flags: self.string_flags(range),
        };
        Expr::StringLiteral(ruff::ExprStringLiteral {
            node_index: AtomicNodeIndex::NONE,
            range,
            value: ruff::StringLiteralValue::single(literal),
        })
    }

    /// Prefix and quotes of the string that begins the range: where its content begins depends
    /// on them. Inside an f-string they are not known.
    fn string_flags(&self, range: TextRange) -> ruff::StringLiteralFlags {
        let flags = ruff::StringLiteralFlags::empty();
        if self.inside.is_some() {
            return flags;
        }
        let text = self.text.get(range.start().to_usize()..).unwrap_or("");
        let unquoted = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let Some(quote) = unquoted
            .chars()
            .next()
            .and_then(|c| Quote::try_from(c).ok())
        else {
            return flags;
        };
        let prefix = &text[..text.len() - unquoted.len()];
        let rest = unquoted.trim_start_matches(quote.as_char());
        let triple = unquoted.len() - rest.len() >= 3;
        flags
            .with_quote_style(quote)
            .with_triple_quotes(if triple {
                TripleQuotes::Yes
            } else {
                TripleQuotes::No
            })
            .with_prefix(match prefix {
                "r" => StringLiteralPrefix::Raw { uppercase: false },
                "R" => StringLiteralPrefix::Raw { uppercase: true },
                "u" | "U" => StringLiteralPrefix::Unicode,
                _ => StringLiteralPrefix::Empty,
            })
    }

    /// An f-string as one part, whatever it was concatenated from.
    pub(super) fn format_string(
        &self,
        range: text_size::TextRange,
        values: Vec<ast::Expr>,
    ) -> Expr {
        let range = self.range(range);
        let within = Translation {
            inside: Some(range),
            ..*self
        };
        let part = ruff::FString {
            range,
            node_index: AtomicNodeIndex::NONE,
            elements: within.elements(values),
            flags: ruff::FStringFlags::empty(),
        };
        Expr::FString(ruff::ExprFString {
            node_index: AtomicNodeIndex::NONE,
            range,
            value: ruff::FStringValue::single(part),
        })
    }

    fn elements(&self, values: Vec<ast::Expr>) -> ruff::InterpolatedStringElements {
        let elements: Vec<_> = values.into_iter().map(|v| self.element(v)).collect();
        elements.into()
    }

    fn element(&self, value: ast::Expr) -> ruff::InterpolatedStringElement {
        match value {
            ast::Expr::Constant(ast::ExprConstant {
                range,
                value: Constant::Str(text),
                ..
            }) => {
                ruff::InterpolatedStringElement::Literal(ruff::InterpolatedStringLiteralElement {
                    range: self.range(range),
                    node_index: AtomicNodeIndex::NONE,
                    value: text.into(),
                })
            }
            ast::Expr::FormattedValue(value) => {
                ruff::InterpolatedStringElement::Interpolation(self.interpolation(value))
            }
            // Nothing else stands in a joined string.
            other => {
                let expression = Box::new(self.expression(other));
                ruff::InterpolatedStringElement::Interpolation(ruff::InterpolatedElement {
                    range: ruff_text_size::Ranged::range(&*expression),
                    node_index: AtomicNodeIndex::NONE,
                    expression,
                    debug_text: None,
                    conversion: ruff::ConversionFlag::None,
                    format_spec: None,
                })
            }
        }
    }

    fn interpolation(&self, value: ast::ExprFormattedValue) -> ruff::InterpolatedElement {
        let range = self.range(value.range);
        ruff::InterpolatedElement {
            range,
            node_index: AtomicNodeIndex::NONE,
            expression: self.boxed(*value.value),
            // rustpython writes the text of `{x=}` out as a literal.
            debug_text: None,
            conversion: match value.conversion {
                ast::ConversionFlag::None => ruff::ConversionFlag::None,
                ast::ConversionFlag::Str => ruff::ConversionFlag::Str,
                ast::ConversionFlag::Ascii => ruff::ConversionFlag::Ascii,
                ast::ConversionFlag::Repr => ruff::ConversionFlag::Repr,
            },
            format_spec: value.format_spec.map(|spec| self.format_spec(*spec, range)),
        }
    }

    fn format_spec(
        &self,
        spec: ast::Expr,
        range: TextRange,
    ) -> Box<ruff::InterpolatedStringFormatSpec> {
        let values = match spec {
            ast::Expr::JoinedStr(joined) => joined.values,
            other => vec![other],
        };
        Box::new(ruff::InterpolatedStringFormatSpec {
            range,
            node_index: AtomicNodeIndex::NONE,
            elements: self.elements(values),
        })
    }
}

fn bytes(value: Vec<u8>, range: TextRange) -> Expr {
    let literal = ruff::BytesLiteral {
        range,
        node_index: AtomicNodeIndex::NONE,
        value: value.into(),
        flags: ruff::BytesLiteralFlags::empty(),
    };
    Expr::BytesLiteral(ruff::ExprBytesLiteral {
        node_index: AtomicNodeIndex::NONE,
        range,
        value: ruff::BytesLiteralValue::single(literal),
    })
}

fn number(value: ruff::Number, range: TextRange) -> Expr {
    Expr::NumberLiteral(ruff::ExprNumberLiteral {
        node_index: AtomicNodeIndex::NONE,
        range,
        value,
    })
}
