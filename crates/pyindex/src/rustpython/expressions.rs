//! Expressions, strings and comprehensions.

use ruff_python_ast::{self as ruff, AtomicNodeIndex, Expr};
use ruff_text_size::{Ranged, TextRange};
use rustpython_parser::ast;

use super::tokens::Kind;
use super::{RED_ZONE, STACK, Translation};

impl Translation<'_> {
    pub(super) fn expression(&self, node: ast::Expr) -> Expr {
        stacker::maybe_grow(RED_ZONE, STACK, || self.any_expression(node))
    }

    pub(super) fn boxed(&self, node: ast::Expr) -> Box<Expr> {
        Box::new(self.expression(node))
    }

    pub(super) fn optional(&self, node: Option<Box<ast::Expr>>) -> Option<Box<Expr>> {
        node.map(|node| self.boxed(*node))
    }

    pub(super) fn expressions(&self, nodes: Vec<ast::Expr>) -> Vec<Expr> {
        nodes.into_iter().map(|n| self.expression(n)).collect()
    }

    fn any_expression(&self, node: ast::Expr) -> Expr {
        match node {
            ast::Expr::BoolOp(e) => self.bool_op(e),
            ast::Expr::BinOp(e) => self.bin_op(e),
            ast::Expr::UnaryOp(e) => self.unary_op(e),
            ast::Expr::Compare(e) => self.compare(e),
            ast::Expr::List(e) => self.list(e),
            ast::Expr::Tuple(e) => self.tuple(e),
            ast::Expr::Set(e) => self.set(e),
            ast::Expr::Dict(e) => self.dict(e),
            ast::Expr::Starred(e) => self.starred(e),
            ast::Expr::ListComp(e) => self.list_comp(e),
            ast::Expr::SetComp(e) => self.set_comp(e),
            ast::Expr::DictComp(e) => self.dict_comp(e),
            ast::Expr::GeneratorExp(e) => self.generator_exp(e),
            ast::Expr::Name(e) => self.name(e),
            ast::Expr::Attribute(e) => self.attribute(e),
            ast::Expr::Subscript(e) => self.subscript(e),
            ast::Expr::Slice(e) => self.slice(e),
            ast::Expr::Call(e) => self.call(e),
            ast::Expr::Constant(constant) => self.constant(constant),
            ast::Expr::JoinedStr(string) => self.format_string(string.range, string.values),
            ast::Expr::FormattedValue(value) => {
                self.format_string(value.range, vec![ast::Expr::FormattedValue(value)])
            }
            ast::Expr::NamedExpr(e) => self.named_expr(e),
            ast::Expr::Lambda(e) => self.lambda(e),
            ast::Expr::IfExp(e) => self.if_else(e),
            ast::Expr::Await(e) => self.awaiting(e),
            ast::Expr::Yield(e) => self.yielding(e),
            ast::Expr::YieldFrom(e) => self.yield_from(e),
        }
    }

    fn bool_op(&self, e: ast::ExprBoolOp) -> Expr {
        Expr::BoolOp(ruff::ExprBoolOp {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            op: match e.op {
                ast::BoolOp::And => ruff::BoolOp::And,
                ast::BoolOp::Or => ruff::BoolOp::Or,
            },
            values: self.expressions(e.values),
        })
    }

    fn bin_op(&self, e: ast::ExprBinOp) -> Expr {
        Expr::BinOp(ruff::ExprBinOp {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            left: self.boxed(*e.left),
            op: operator(e.op),
            right: self.boxed(*e.right),
        })
    }

    fn unary_op(&self, e: ast::ExprUnaryOp) -> Expr {
        Expr::UnaryOp(ruff::ExprUnaryOp {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            op: match e.op {
                ast::UnaryOp::Invert => ruff::UnaryOp::Invert,
                ast::UnaryOp::Not => ruff::UnaryOp::Not,
                ast::UnaryOp::UAdd => ruff::UnaryOp::UAdd,
                ast::UnaryOp::USub => ruff::UnaryOp::USub,
            },
            operand: self.boxed(*e.operand),
        })
    }

    fn compare(&self, e: ast::ExprCompare) -> Expr {
        Expr::Compare(ruff::ExprCompare {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            left: self.boxed(*e.left),
            ops: e.ops.into_iter().map(comparison).collect(),
            comparators: self.expressions(e.comparators).into(),
        })
    }

    fn list(&self, e: ast::ExprList) -> Expr {
        Expr::List(ruff::ExprList {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            elts: self.expressions(e.elts),
            ctx: context(e.ctx),
        })
    }

    fn tuple(&self, e: ast::ExprTuple) -> Expr {
        let range = self.range(e.range);
        Expr::Tuple(ruff::ExprTuple {
            node_index: AtomicNodeIndex::NONE,
            range,
            elts: self.expressions(e.elts),
            ctx: context(e.ctx),
            parenthesized: self.is_bracketed(range),
        })
    }

    fn set(&self, e: ast::ExprSet) -> Expr {
        Expr::Set(ruff::ExprSet {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            elts: self.expressions(e.elts),
        })
    }

    fn dict(&self, e: ast::ExprDict) -> Expr {
        Expr::Dict(ruff::ExprDict {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            items: e
                .keys
                .into_iter()
                .zip(e.values)
                .map(|(key, value)| ruff::DictItem {
                    key: key.map(|key| self.expression(key)),
                    value: self.expression(value),
                })
                .collect(),
        })
    }

    fn starred(&self, e: ast::ExprStarred) -> Expr {
        Expr::Starred(ruff::ExprStarred {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            value: self.boxed(*e.value),
            ctx: context(e.ctx),
        })
    }

    fn list_comp(&self, e: ast::ExprListComp) -> Expr {
        Expr::ListComp(ruff::ExprListComp {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            elt: self.boxed(*e.elt),
            generators: self.clauses(e.generators),
        })
    }

    fn set_comp(&self, e: ast::ExprSetComp) -> Expr {
        Expr::SetComp(ruff::ExprSetComp {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            elt: self.boxed(*e.elt),
            generators: self.clauses(e.generators),
        })
    }

    fn dict_comp(&self, e: ast::ExprDictComp) -> Expr {
        Expr::DictComp(ruff::ExprDictComp {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            key: Some(self.boxed(*e.key)),
            value: self.boxed(*e.value),
            generators: self.clauses(e.generators),
        })
    }

    fn generator_exp(&self, e: ast::ExprGeneratorExp) -> Expr {
        let range = self.range(e.range);
        Expr::Generator(ruff::ExprGenerator {
            node_index: AtomicNodeIndex::NONE,
            range,
            elt: self.boxed(*e.elt),
            generators: self.clauses(e.generators),
            parenthesized: self.is_bracketed(range),
        })
    }

    fn clauses(&self, nodes: Vec<ast::Comprehension>) -> Vec<ruff::Comprehension> {
        nodes.into_iter().map(|node| self.clause(node)).collect()
    }

    /// One `for ... in ... if ...` of a comprehension.
    fn clause(&self, node: ast::Comprehension) -> ruff::Comprehension {
        let target = self.expression(node.target);
        let iter = self.expression(node.iter);
        let ifs = self.expressions(node.ifs);
        let last = self.with_brackets(ifs.last().unwrap_or(&iter).range());
        ruff::Comprehension {
            range: self.clause_range(target.range(), last, node.is_async),
            node_index: AtomicNodeIndex::NONE,
            target,
            iter,
            ifs,
            is_async: node.is_async,
        }
    }

    fn clause_range(&self, target: TextRange, last: TextRange, is_async: bool) -> TextRange {
        if self.inside.is_some() {
            return target;
        }
        let mut start = target.start();
        for kind in [Some(Kind::For), is_async.then_some(Kind::Async)] {
            if let Some(word) = kind.and_then(|kind| self.tokens.before(start, kind)) {
                start = word.start();
            }
        }
        TextRange::new(start, last.end())
    }

    fn name(&self, e: ast::ExprName) -> Expr {
        Expr::Name(ruff::ExprName {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            id: super::name(e.id),
            ctx: context(e.ctx),
        })
    }

    fn attribute(&self, e: ast::ExprAttribute) -> Expr {
        let range = self.range(e.range);
        Expr::Attribute(ruff::ExprAttribute {
            node_index: AtomicNodeIndex::NONE,
            range,
            value: self.boxed(*e.value),
            attr: self.identifier_ending(e.attr, range),
            ctx: context(e.ctx),
        })
    }

    fn subscript(&self, e: ast::ExprSubscript) -> Expr {
        Expr::Subscript(ruff::ExprSubscript {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            value: self.boxed(*e.value),
            slice: Box::new(one_tuple(self.expression(*e.slice))),
            ctx: context(e.ctx),
        })
    }

    fn slice(&self, e: ast::ExprSlice) -> Expr {
        Expr::Slice(ruff::ExprSlice {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            lower: self.optional(e.lower),
            upper: self.optional(e.upper),
            step: self.optional(e.step),
        })
    }

    fn call(&self, e: ast::ExprCall) -> Expr {
        let range = self.range(e.range);
        Expr::Call(ruff::ExprCall {
            node_index: AtomicNodeIndex::NONE,
            range_start: range.start(),
            func: self.boxed(*e.func),
            arguments: self.arguments(e.args, e.keywords, self.pair_ending(range)),
        })
    }

    pub(super) fn arguments(
        &self,
        args: Vec<ast::Expr>,
        keywords: Vec<ast::Keyword>,
        range: TextRange,
    ) -> ruff::Arguments {
        ruff::Arguments {
            range,
            node_index: AtomicNodeIndex::NONE,
            args: self.expressions(args).into(),
            keywords: keywords.into_iter().map(|k| self.keyword(k)).collect(),
        }
    }

    fn keyword(&self, node: ast::Keyword) -> ruff::Keyword {
        let range = self.range(node.range);
        ruff::Keyword {
            range,
            node_index: AtomicNodeIndex::NONE,
            arg: node.arg.map(|arg| self.identifier_starting(arg, range)),
            value: self.expression(node.value),
        }
    }

    fn named_expr(&self, e: ast::ExprNamedExpr) -> Expr {
        let range = self.range(e.range);
        let value = self.boxed(*e.value);
        Expr::Named(ruff::ExprNamed {
            node_index: AtomicNodeIndex::NONE,
            // rustpython's range ends inside brackets around the value.
            range: range.cover(self.with_brackets(value.range())),
            target: self.boxed(*e.target),
            value,
        })
    }

    fn lambda(&self, e: ast::ExprLambda) -> Expr {
        let range = self.range(e.range);
        let body = self.boxed(*e.body);
        Expr::Lambda(ruff::ExprLambda {
            node_index: AtomicNodeIndex::NONE,
            range,
            parameters: self.lambda_parameters(*e.args, range, body.range()),
            body,
        })
    }

    fn if_else(&self, e: ast::ExprIfExp) -> Expr {
        Expr::If(ruff::ExprIf {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            test: self.boxed(*e.test),
            body: self.boxed(*e.body),
            orelse: self.boxed(*e.orelse),
        })
    }

    fn awaiting(&self, e: ast::ExprAwait) -> Expr {
        Expr::Await(ruff::ExprAwait {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            value: self.boxed(*e.value),
        })
    }

    fn yielding(&self, e: ast::ExprYield) -> Expr {
        Expr::Yield(ruff::ExprYield {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            value: self.optional(e.value),
        })
    }

    fn yield_from(&self, e: ast::ExprYieldFrom) -> Expr {
        Expr::YieldFrom(ruff::ExprYieldFrom {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(e.range),
            value: self.boxed(*e.value),
        })
    }
}

/// `x[*y]` is a subscript by a tuple; rustpython keeps the starred expression alone.
fn one_tuple(slice: Expr) -> Expr {
    match slice {
        Expr::Starred(starred) => Expr::Tuple(ruff::ExprTuple {
            node_index: AtomicNodeIndex::NONE,
            range: starred.range,
            elts: vec![Expr::Starred(starred)],
            ctx: ruff::ExprContext::Load,
            parenthesized: false,
        }),
        other => other,
    }
}

fn context(ctx: ast::ExprContext) -> ruff::ExprContext {
    match ctx {
        ast::ExprContext::Load => ruff::ExprContext::Load,
        ast::ExprContext::Store => ruff::ExprContext::Store,
        ast::ExprContext::Del => ruff::ExprContext::Del,
    }
}

pub(super) fn operator(op: ast::Operator) -> ruff::Operator {
    match op {
        ast::Operator::Add => ruff::Operator::Add,
        ast::Operator::Sub => ruff::Operator::Sub,
        ast::Operator::Mult => ruff::Operator::Mult,
        ast::Operator::MatMult => ruff::Operator::MatMult,
        ast::Operator::Div => ruff::Operator::Div,
        ast::Operator::Mod => ruff::Operator::Mod,
        ast::Operator::Pow => ruff::Operator::Pow,
        ast::Operator::LShift => ruff::Operator::LShift,
        ast::Operator::RShift => ruff::Operator::RShift,
        ast::Operator::BitOr => ruff::Operator::BitOr,
        ast::Operator::BitXor => ruff::Operator::BitXor,
        ast::Operator::BitAnd => ruff::Operator::BitAnd,
        ast::Operator::FloorDiv => ruff::Operator::FloorDiv,
    }
}

fn comparison(op: ast::CmpOp) -> ruff::CmpOp {
    match op {
        ast::CmpOp::Eq => ruff::CmpOp::Eq,
        ast::CmpOp::NotEq => ruff::CmpOp::NotEq,
        ast::CmpOp::Lt => ruff::CmpOp::Lt,
        ast::CmpOp::LtE => ruff::CmpOp::LtE,
        ast::CmpOp::Gt => ruff::CmpOp::Gt,
        ast::CmpOp::GtE => ruff::CmpOp::GtE,
        ast::CmpOp::Is => ruff::CmpOp::Is,
        ast::CmpOp::IsNot => ruff::CmpOp::IsNot,
        ast::CmpOp::In => ruff::CmpOp::In,
        ast::CmpOp::NotIn => ruff::CmpOp::NotIn,
    }
}
