//! Expressions: every use of a name, and what a value may be.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};
use smallvec::SmallVec;

use super::assignments::{Store, elements, with_uses};
use super::{Lowering, Values};
use crate::EdgeKind;
use crate::outline::{Binding, Root, ScopeKind, Step, Sym, Use, UseId};

/// A long literal's first items stand for all.
const MAX_ITEMS: usize = 8;
/// More than resolution makes something of; a long chain of `or` has more.
const MAX_VALUES: usize = 9;

type Links<'e> = SmallVec<[&'e Expr; 6]>;

/// A chain `root.a(...)[i].b`, seen from its end.
struct Chain<'e> {
    root: Root,
    at: TextRange,
    /// From the root outwards.
    links: Links<'e>,
}

impl Lowering<'_> {
    pub(super) fn expressions<'e>(
        &mut self,
        expressions: impl IntoIterator<Item = &'e Expr>,
        kind: EdgeKind,
    ) {
        for expression in expressions {
            self.expression(expression, kind);
        }
    }

    /// Notes every use in an expression; gives those that its value may come from. `kind` is how
    /// the outermost name is used.
    pub(super) fn expression(&mut self, expression: &Expr, kind: EdgeKind) -> Values {
        self.deeper(|lowering| lowering.visit(expression, kind))
    }

    pub(super) fn visit(&mut self, expression: &Expr, kind: EdgeKind) -> Values {
        // Inside an annotation every name is part of the annotation.
        let inner = match kind {
            EdgeKind::Annotate => kind,
            _ => EdgeKind::Read,
        };
        match expression {
            Expr::Name(_)
            | Expr::Attribute(_)
            | Expr::Call(_)
            | Expr::Subscript(_)
            | Expr::Await(_) => {
                return self.chain(expression, kind, inner);
            }
            Expr::Starred(e) => {
                self.expression(&e.value, kind);
            }
            Expr::Named(e) => {
                let values = self.expression(&e.value, inner);
                self.walrus(&e.target, &values);
                return values;
            }
            Expr::If(e) => {
                self.expression(&e.test, inner);
                let mut values = self.expression(&e.body, inner);
                values.extend(self.expression(&e.orelse, inner));
                values.truncate(MAX_VALUES);
                return values;
            }
            Expr::BoolOp(e) => {
                let mut values = Values::new();
                for value in &e.values {
                    values.extend(self.expression(value, inner));
                    values.truncate(MAX_VALUES);
                }
                return values;
            }
            Expr::BinOp(e) => {
                self.expression(&e.left, inner);
                self.expression(&e.right, inner);
            }
            Expr::UnaryOp(e) => {
                self.expression(&e.operand, inner);
            }
            Expr::Compare(e) => {
                self.expression(&e.left, inner);
                let mut last = Values::new();
                for comparator in &*e.comparators {
                    last = self.expression(comparator, inner);
                }
                self.narrow_type(e, &last);
            }
            Expr::Lambda(e) => {
                let known = match &e.parameters {
                    Some(parameters) => self.parameters(parameters),
                    None => Vec::new(),
                };
                self.within(ScopeKind::Function, None, |inside| {
                    for (name, bindings) in known {
                        inside.bind_all(name, &bindings);
                    }
                    inside.expression(&e.body, inner);
                });
            }
            Expr::Dict(e) => {
                let mut values = Values::new();
                for item in &e.items {
                    self.expressions(item.key.as_ref(), inner);
                    let given = self.expression(&item.value, inner);
                    add_items(&mut values, &given, Binding::MapItems);
                }
                return values;
            }
            Expr::Set(e) => return self.items(&e.elts, inner),
            Expr::List(e) => return self.items(&e.elts, kind),
            Expr::Tuple(e) => return self.items(&e.elts, kind),
            Expr::ListComp(e) => return self.comprehension(&e.generators, None, &e.elt),
            Expr::SetComp(e) => return self.comprehension(&e.generators, None, &e.elt),
            Expr::Generator(e) => return self.comprehension(&e.generators, None, &e.elt),
            Expr::DictComp(e) => {
                return self.comprehension(&e.generators, e.key.as_deref(), &e.value);
            }
            Expr::Yield(e) => {
                if let Some(value) = &e.value {
                    let values = self.expression(value, inner);
                    // A tuple of one's own is as good as its parts.
                    let items = values.into_iter().filter_map(|value| match value {
                        Binding::Of(used) | Binding::Items(used) => Some(Binding::Items(used)),
                        _ => None,
                    });
                    self.gives(items.collect());
                }
            }
            Expr::YieldFrom(e) => {
                self.expression(&e.value, inner);
            }
            Expr::FString(e) => self.interpolations(e.value.elements(), e.range, inner),
            Expr::TString(e) => self.interpolations(e.value.elements(), e.range, inner),
            Expr::StringLiteral(e) => {
                if kind == EdgeKind::Annotate {
                    self.string_annotation(e);
                }
            }
            Expr::Slice(e) => {
                self.expressions(e.lower.as_deref(), inner);
                self.expressions(e.upper.as_deref(), inner);
                self.expressions(e.step.as_deref(), inner);
            }
            Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
            | Expr::IpyEscapeCommand(_) => {}
        }
        Values::new()
    }

    /// A list, tuple or set of expressions.
    pub(super) fn items(&mut self, all: &[Expr], kind: EdgeKind) -> Values {
        let mut values = Values::new();
        for one in all {
            let given = self.expression(one, kind);
            add_items(&mut values, &given, Binding::Items);
        }
        values
    }

    /// What stands in a string has the place of the outermost string: not every parser knows more.
    fn interpolations<'e>(
        &mut self,
        elements: impl Iterator<Item = &'e ast::InterpolatedStringElement>,
        range: TextRange,
        kind: EdgeKind,
    ) {
        let outer = self.string;
        self.string = outer.or(Some(range));
        let from = self.body.uses.len();
        for element in elements {
            self.interpolated(element, kind);
        }
        for used in &mut self.body.uses[from..] {
            used.at = range.start().to_u32();
        }
        self.string = outer;
    }

    pub(super) fn interpolated(
        &mut self,
        element: &ast::InterpolatedStringElement,
        kind: EdgeKind,
    ) {
        if let ast::InterpolatedStringElement::Interpolation(inner) = element {
            self.expression(&inner.expression, kind);
            if let Some(spec) = &inner.format_spec {
                for element in &spec.elements {
                    self.interpolated(element, kind);
                }
            }
        }
    }

    /// A chain is one use; what it is called with and subscripted by are uses of their own.
    pub(super) fn chain(&mut self, expression: &Expr, kind: EdgeKind, inner: EdgeKind) -> Values {
        if let Expr::Call(call) = expression
            && let Some(values) = self.named_attribute(call, inner)
        {
            return values;
        }
        let Some(chain) = self.trace(expression, inner) else {
            return Values::new();
        };
        let first_step = self.body.steps.len() as u32;
        for link in &chain.links {
            let step = match link {
                Expr::Attribute(e) => Step::Attribute(self.names.intern(&e.attr.id)),
                Expr::Call(_) => Step::Call,
                Expr::Await(_) => Step::Await,
                _ => Step::Subscript,
            };
            self.body.steps.push(step);
        }
        let steps = self.body.steps.len() as u32 - first_step;
        let used = Use {
            owner: self.owner,
            scope: self.scope,
            root: chain.root,
            first_step,
            steps,
            kind,
            event: self.event,
            at: chain.at.start().to_u32(),
        };
        self.body.uses.push(used);
        let number = (self.body.uses.len() - 1) as UseId;
        let from = self.body.uses.len() as UseId;
        for link in &chain.links {
            self.arguments(link, inner);
        }
        if let ([Expr::Call(call)], Expr::Call(_)) = (&chain.links[..], expression) {
            self.narrow(call, from);
        }
        Values::from_elem(Binding::Of(number), 1)
    }

    fn trace<'e>(&mut self, expression: &'e Expr, inner: EdgeKind) -> Option<Chain<'e>> {
        let mut links = Links::new();
        let mut at = expression;
        loop {
            match at {
                Expr::Name(name) => {
                    if name.id.is_empty() {
                        // What the parser puts where a name is missing.
                        return self.inside(&links, inner);
                    }
                    links.reverse();
                    return Some(Chain {
                        root: Root::Name(self.intern(&name.id)),
                        at: name.range,
                        links,
                    });
                }
                Expr::Attribute(e) => {
                    links.push(at);
                    at = &e.value;
                }
                Expr::Subscript(e) => {
                    links.push(at);
                    at = &e.value;
                }
                Expr::Await(e) => {
                    links.push(at);
                    at = &e.value;
                }
                Expr::Call(call) => {
                    let is_super = matches!(&*call.func, Expr::Name(n) if &*n.id == "super");
                    if is_super && !links.is_empty() {
                        self.expressions(&*call.arguments.args, inner);
                        links.reverse();
                        return Some(Chain {
                            root: Root::Super,
                            at: call.range(),
                            links,
                        });
                    }
                    links.push(at);
                    at = &call.func;
                }
                root => {
                    self.expression(root, inner);
                    return self.inside(&links, inner);
                }
            }
        }
    }

    /// The root is no name: only what stands in the brackets is used.
    fn inside<'e>(&mut self, links: &[&'e Expr], inner: EdgeKind) -> Option<Chain<'e>> {
        for link in links.iter().rev() {
            self.arguments(link, inner);
        }
        None
    }

    pub(super) fn arguments(&mut self, link: &Expr, inner: EdgeKind) {
        match link {
            Expr::Call(e) => {
                self.expressions(&*e.arguments.args, inner);
                for keyword in &e.arguments.keywords {
                    self.expression(&keyword.value, inner);
                }
            }
            Expr::Subscript(e) => {
                self.expression(&e.slice, inner);
            }
            _ => {}
        }
    }

    /// `(name := value)` binds in the function around the comprehensions.
    pub(super) fn walrus(&mut self, target: &Expr, values: &[Binding]) {
        let scope = self.scope;
        while self.kind_of(self.scope) == ScopeKind::Comprehension {
            let parent = self.body.scopes[self.scope as usize].parent;
            self.scope = parent.unwrap_or(0);
        }
        let range = self.string.unwrap_or(target.range());
        self.store(target, values, range, Store::Plain);
        self.scope = scope;
    }

    pub(super) fn comprehension(
        &mut self,
        generators: &[ast::Comprehension],
        key: Option<&Expr>,
        element: &Expr,
    ) -> Values {
        // The first iterable is evaluated outside.
        let mut values = match generators.first() {
            Some(first) => self.expression(&first.iter, EdgeKind::Read),
            None => Values::new(),
        };
        let mut items = Values::new();
        self.within(ScopeKind::Comprehension, None, |inside| {
            for (number, generator) in generators.iter().enumerate() {
                if number > 0 {
                    values = inside.expression(&generator.iter, EdgeKind::Read);
                }
                let target = &generator.target;
                inside.store(target, &elements(&values), target.range(), Store::Loop);
                inside.expressions(&generator.ifs, EdgeKind::Read);
            }
            inside.expressions(key, EdgeKind::Read);
            let given = inside.expression(element, EdgeKind::Read);
            let item = match key {
                Some(_) => Binding::MapItems,
                None => Binding::Items,
            };
            add_items(&mut items, &given, item);
        });
        items
    }

    /// `global name; name = ...` in a function.
    pub(super) fn note_write(&mut self, name: Sym, range: TextRange) {
        self.body.uses.push(Use {
            owner: self.owner,
            scope: self.scope,
            root: Root::Name(name),
            first_step: self.body.steps.len() as u32,
            steps: 0,
            kind: EdgeKind::Write,
            event: self.event,
            at: range.start().to_u32(),
        });
    }
}

/// What a literal holds, as far as a few items tell.
fn add_items(items: &mut Values, values: &[Binding], item: fn(UseId) -> Binding) {
    if items.len() < MAX_ITEMS {
        items.extend(with_uses(values, item));
    }
}
