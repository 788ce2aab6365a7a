//! Functions and classes.

use ruff_python_ast::{self as ruff, AtomicNodeIndex, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustpython_parser::ast;

use super::tokens::Kind;
use super::{Translation, name};

impl Translation<'_> {
    fn decorators(&self, nodes: Vec<ast::Expr>) -> ruff::DecoratorList {
        let decorators = nodes.into_iter().map(|node| {
            let expression = self.expression(node);
            let whole = self.with_brackets(expression.range());
            let at = self.tokens.before(whole.start(), Kind::At);
            ruff::Decorator {
                range: at.map_or(whole, |at| at.cover(whole)),
                node_index: AtomicNodeIndex::NONE,
                expression,
            }
        });
        decorators.collect()
    }

    /// A definition's range: its decorators are part of it in ruff's tree.
    fn definition(&self, range: TextRange, decorators: &[ruff::Decorator]) -> TextRange {
        match decorators.first() {
            Some(first) => TextRange::new(first.start(), range.end()),
            None => range,
        }
    }

    /// The name that a definition gives, and the brackets behind it: those of type parameters
    /// and those of parameters or base classes.
    fn header(&self, range: TextRange) -> (TextRange, Option<TextRange>, Option<TextRange>) {
        let place = self
            .tokens
            .after(range.start(), Kind::Name)
            .unwrap_or(range);
        let first = self.tokens.pair_after(place.end());
        let is_square = |pair: &TextRange| self.text[pair.start().to_usize()..].starts_with('[');
        let square = first.filter(is_square);
        let round = match square {
            Some(square) => self.tokens.pair_after(square.end()),
            None => first,
        };
        (place, square, round)
    }

    pub(super) fn function(&self, s: ast::StmtFunctionDef, is_async: bool) -> Stmt {
        let range = self.range(s.range);
        let (place, square, round) = self.header(range);
        let decorator_list = self.decorators(s.decorator_list);
        Stmt::FunctionDef(ruff::StmtFunctionDef {
            node_index: AtomicNodeIndex::NONE,
            range: self.definition(range, &decorator_list),
            is_async,
            decorator_list,
            name: ruff::Identifier::new(name(s.name), place),
            type_params: self.type_params(s.type_params, square),
            parameters: Box::new(self.parameters(*s.args, round.unwrap_or(range))),
            returns: self.optional(s.returns),
            body: self.suite(s.body),
        })
    }

    pub(super) fn class(&self, s: ast::StmtClassDef) -> Stmt {
        let range = self.range(s.range);
        let (place, square, round) = self.header(range);
        let decorator_list = self.decorators(s.decorator_list);
        Stmt::ClassDef(ruff::StmtClassDef {
            node_index: AtomicNodeIndex::NONE,
            range: self.definition(range, &decorator_list),
            decorator_list,
            name: ruff::Identifier::new(name(s.name), place),
            type_params: self.type_params(s.type_params, square),
            arguments: round.map(|round| Box::new(self.arguments(s.bases, s.keywords, round))),
            body: self.suite(s.body),
        })
    }
}

pub(super) fn plain_function(s: ast::StmtAsyncFunctionDef) -> ast::StmtFunctionDef {
    ast::StmtFunctionDef {
        range: s.range,
        name: s.name,
        args: s.args,
        body: s.body,
        decorator_list: s.decorator_list,
        returns: s.returns,
        type_comment: s.type_comment,
        type_params: s.type_params,
    }
}
