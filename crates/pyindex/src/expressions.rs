//! A rustpython-parser tree into an outline: expressions, targets and patterns.

use rustpython_parser::Parse;
use rustpython_parser::ast::{self, Expr, Pattern};

use crate::EdgeKind;
use crate::lower::{Lowering, all_arguments};
use crate::outline::{Binding, Root, ScopeKind, Use};

impl Lowering<'_> {
    pub(crate) fn expressions<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expr>,
        kind: EdgeKind,
    ) {
        for expression in expressions {
            self.expression(expression, kind);
        }
    }

    /// `a.b.c` or `super().b` as a use; nothing for other expressions.
    pub(crate) fn chain(&self, expression: &Expr, kind: EdgeKind) -> Option<Use> {
        let mut attributes = Vec::new();
        let mut at = expression;
        let root = loop {
            match at {
                Expr::Attribute(attribute) => {
                    attributes.push(attribute.attr.to_string());
                    at = &attribute.value;
                }
                Expr::Name(name) => break Root::Name(name.id.to_string()),
                Expr::Call(call) if !attributes.is_empty() => match &*call.func {
                    Expr::Name(name) if name.id.as_str() == "super" => break Root::Super,
                    _ => return None,
                },
                _ => return None,
            }
        };
        attributes.reverse();
        Some(Use {
            scope: self.scope,
            root,
            attributes,
            kind,
        })
    }

    /// Notes every use in an expression. `kind` is that of the outermost name.
    pub(crate) fn expression(&mut self, expression: &Expr, kind: EdgeKind) {
        if let Some(found) = self.chain(expression, kind) {
            self.outline.uses.push((self.unit, found));
            return;
        }
        // Inside an annotation every name is part of the annotation.
        let inner = if kind == EdgeKind::Annotate {
            kind
        } else {
            EdgeKind::Read
        };
        match expression {
            Expr::Name(_) => {}
            Expr::Attribute(e) => self.expression(&e.value, inner),
            Expr::Call(e) => {
                let called = match kind {
                    EdgeKind::Read => EdgeKind::Call,
                    other => other,
                };
                self.expression(&e.func, called);
                self.expressions(&e.args, inner);
                for keyword in &e.keywords {
                    self.expression(&keyword.value, inner);
                }
            }
            Expr::BoolOp(e) => self.expressions(&e.values, inner),
            Expr::NamedExpr(e) => {
                self.target(&e.target);
                self.expression(&e.value, inner);
            }
            Expr::BinOp(e) => {
                self.expression(&e.left, inner);
                self.expression(&e.right, inner);
            }
            Expr::UnaryOp(e) => self.expression(&e.operand, inner),
            Expr::Lambda(e) => {
                for default in e.args.defaults() {
                    self.expression(default, inner);
                }
                for (_, default) in e.args.split_kwonlyargs().1 {
                    self.expression(default, inner);
                }
                self.within(ScopeKind::Function, None, |inside| {
                    for argument in all_arguments(&e.args) {
                        inside.bind(&argument.arg, Binding::Value);
                    }
                    inside.expression(&e.body, inner);
                });
            }
            Expr::IfExp(e) => {
                self.expression(&e.test, inner);
                self.expression(&e.body, inner);
                self.expression(&e.orelse, inner);
            }
            Expr::Dict(e) => {
                self.expressions(e.keys.iter().flatten(), inner);
                self.expressions(&e.values, inner);
            }
            Expr::Set(e) => self.expressions(&e.elts, inner),
            Expr::ListComp(e) => self.comprehension(&e.generators, &[&e.elt]),
            Expr::SetComp(e) => self.comprehension(&e.generators, &[&e.elt]),
            Expr::GeneratorExp(e) => self.comprehension(&e.generators, &[&e.elt]),
            Expr::DictComp(e) => self.comprehension(&e.generators, &[&e.key, &e.value]),
            Expr::Await(e) => self.expression(&e.value, inner),
            Expr::Yield(e) => self.expressions(e.value.as_deref(), inner),
            Expr::YieldFrom(e) => self.expression(&e.value, inner),
            Expr::Compare(e) => {
                self.expression(&e.left, inner);
                self.expressions(&e.comparators, inner);
            }
            Expr::FormattedValue(e) => {
                self.expression(&e.value, inner);
                self.expressions(e.format_spec.as_deref(), inner);
            }
            Expr::JoinedStr(e) => self.expressions(&e.values, inner),
            Expr::Constant(e) => {
                if let (EdgeKind::Annotate, Some(text)) = (kind, e.value.as_str()) {
                    self.string_annotation(text);
                }
            }
            Expr::Subscript(e) => {
                self.expression(&e.value, kind);
                self.expression(&e.slice, inner);
            }
            Expr::Starred(e) => self.expression(&e.value, kind),
            Expr::List(e) => self.expressions(&e.elts, kind),
            Expr::Tuple(e) => self.expressions(&e.elts, kind),
            Expr::Slice(e) => {
                self.expressions(e.lower.as_deref(), inner);
                self.expressions(e.upper.as_deref(), inner);
                self.expressions(e.step.as_deref(), inner);
            }
        }
    }

    /// `def f(x: "Config")`: the text is an expression. One that is none names nothing.
    fn string_annotation(&mut self, text: &str) {
        if text.len() < 200
            && let Ok(parsed) = Expr::parse(text, "<annotation>")
            && !matches!(parsed, Expr::Constant(_))
        {
            self.expression(&parsed, EdgeKind::Annotate);
        }
    }

    fn comprehension(&mut self, generators: &[ast::Comprehension], elements: &[&Expr]) {
        // The first iterable is evaluated outside.
        if let Some(first) = generators.first() {
            self.expression(&first.iter, EdgeKind::Read);
        }
        self.within(ScopeKind::Function, None, |inside| {
            for (number, generator) in generators.iter().enumerate() {
                inside.target(&generator.target);
                if number > 0 {
                    inside.expression(&generator.iter, EdgeKind::Read);
                }
                inside.expressions(&generator.ifs, EdgeKind::Read);
            }
            for element in elements {
                inside.expression(element, EdgeKind::Read);
            }
        });
    }

    /// Binds the names of an assignment target; the objects of `a.b = ...` and `a[i] = ...` are
    /// read.
    pub(crate) fn target(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => self.bind(&name.id, Binding::Value),
            Expr::Tuple(e) => e.elts.iter().for_each(|t| self.target(t)),
            Expr::List(e) => e.elts.iter().for_each(|t| self.target(t)),
            Expr::Starred(e) => self.target(&e.value),
            other => self.expression(other, EdgeKind::Read),
        }
    }

    pub(crate) fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::MatchValue(p) => self.expression(&p.value, EdgeKind::Read),
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(p) => p.patterns.iter().for_each(|p| self.pattern(p)),
            Pattern::MatchMapping(p) => {
                self.expressions(&p.keys, EdgeKind::Read);
                p.patterns.iter().for_each(|p| self.pattern(p));
                if let Some(rest) = &p.rest {
                    self.bind(rest, Binding::Value);
                }
            }
            Pattern::MatchClass(p) => {
                self.expression(&p.cls, EdgeKind::Read);
                p.patterns.iter().for_each(|p| self.pattern(p));
                p.kwd_patterns.iter().for_each(|p| self.pattern(p));
            }
            Pattern::MatchStar(p) => {
                if let Some(name) = &p.name {
                    self.bind(name, Binding::Value);
                }
            }
            Pattern::MatchAs(p) => {
                if let Some(inner) = &p.pattern {
                    self.pattern(inner);
                }
                if let Some(name) = &p.name {
                    self.bind(name, Binding::Value);
                }
            }
            Pattern::MatchOr(p) => p.patterns.iter().for_each(|p| self.pattern(p)),
        }
    }
}
