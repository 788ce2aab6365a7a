//! Annotations: the names in them, and what a value of them is.

use ruff_python_ast::{self as ast, Expr};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::Lowering;
use super::assignments::with_uses;
use crate::EdgeKind;
use crate::outline::{Binding, UseId};
use crate::source::last_name;

/// A longer string is no annotation.
const MAX_ANNOTATION: usize = 400;

impl Lowering<'_> {
    /// Reads an annotation: every name in it is used; gives what a value of it is.
    pub(super) fn annotation(&mut self, annotation: &Expr) -> Vec<Binding> {
        self.deeper(|lowering| lowering.annotated(annotation))
    }

    pub(super) fn annotated(&mut self, annotation: &Expr) -> Vec<Binding> {
        match annotation {
            Expr::StringLiteral(e) => self.string_annotation(e),
            Expr::BinOp(e) if e.op == ast::Operator::BitOr => {
                let mut known = self.annotation(&e.left);
                known.extend(self.annotation(&e.right));
                known
            }
            Expr::Subscript(e) => self.generic(e),
            Expr::Name(_) | Expr::Attribute(_) => {
                if last_name(annotation) == Some("Self") {
                    self.expression(annotation, EdgeKind::Annotate);
                    return vec![Binding::AnnotatedSelf];
                }
                let values = self.expression(annotation, EdgeKind::Annotate);
                with_uses(&values, Binding::Annotated).into_vec()
            }
            other => {
                self.expression(other, EdgeKind::Annotate);
                Vec::new()
            }
        }
    }

    /// `Optional[C]`, `list[C]`, `type[C]`, `Base[C]`, ...
    pub(super) fn generic(&mut self, annotation: &ast::ExprSubscript) -> Vec<Binding> {
        let base = self.expression(&annotation.value, EdgeKind::Annotate);
        let arguments: &[Expr] = match &*annotation.slice {
            Expr::Tuple(all) => &all.elts,
            one => std::slice::from_ref(one),
        };
        let name = last_name(&annotation.value).unwrap_or_default();
        if matches!(name, "Literal") {
            // Strings in a Literal are values, not annotations.
            self.expressions(arguments, EdgeKind::Read);
            return Vec::new();
        }
        if name == "Annotated" {
            let known = arguments.first().map(|a| self.annotation(a));
            let outer = std::mem::replace(&mut self.strings_are_data, true);
            self.expressions(arguments.iter().skip(1), EdgeKind::Annotate);
            self.strings_are_data = outer;
            return known.unwrap_or_default();
        }
        let known: Vec<Vec<Binding>> = arguments.iter().map(|a| self.annotation(a)).collect();
        let wrap = |given: Option<&Vec<Binding>>, with: fn(UseId) -> Binding| {
            let given = given.map(Vec::as_slice).unwrap_or_default();
            let wrapped = given.iter().filter_map(|b| match b {
                Binding::Annotated(used) => Some(with(*used)),
                _ => None,
            });
            wrapped.collect()
        };
        match name {
            "Optional" | "Union" => known.concat(),
            "Final" | "ClassVar" | "Required" | "NotRequired" | "ReadOnly" | "InitVar"
            | "Awaitable" | "TypeGuard" => known.into_iter().next().unwrap_or_default(),
            "Coroutine" => known.into_iter().next_back().unwrap_or_default(),
            "type" | "Type" => wrap(known.first(), Binding::AnnotatedClass),
            "list" | "List" | "set" | "Set" | "frozenset" | "FrozenSet" | "tuple" | "Tuple"
            | "deque" | "Deque" | "Sequence" | "MutableSequence" | "Iterable" | "Iterator"
            | "Collection" | "Generator" | "AsyncIterable" | "AsyncIterator" | "AsyncGenerator"
            | "AbstractSet" | "MutableSet" | "KeysView" | "ValuesView" => {
                wrap(known.first(), Binding::AnnotatedElements)
            }
            "dict"
            | "Dict"
            | "Mapping"
            | "MutableMapping"
            | "defaultdict"
            | "DefaultDict"
            | "OrderedDict"
            | "ChainMap"
            | "WeakValueDictionary" => wrap(known.last(), Binding::AnnotatedValues),
            _ => with_uses(&base, Binding::Annotated).into_vec(),
        }
    }

    /// `def f(x: "Config")`: the text is an expression. One that is none names nothing.
    pub(super) fn string_annotation(&mut self, literal: &ast::ExprStringLiteral) -> Vec<Binding> {
        let text = literal.value.to_str();
        if text.len() > MAX_ANNOTATION || self.strings_are_data {
            return Vec::new();
        }
        let parsed = parse_unchecked(text.trim(), ParseOptions::from(Mode::Expression));
        if !parsed.errors().is_empty() {
            return Vec::new();
        }
        let ast::Mod::Expression(parsed) = parsed.into_syntax() else {
            return Vec::new();
        };
        if parsed.body.is_string_literal_expr() {
            return Vec::new();
        }
        let from = self.body.uses.len();
        let known = self.annotation(&parsed.body);
        // Positions inside the string mean nothing in the file.
        for used in &mut self.body.uses[from..] {
            used.at = literal.range.start().to_u32();
        }
        known
    }
}
