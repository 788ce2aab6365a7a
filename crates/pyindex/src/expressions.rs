//! A syntax tree into an [`crate::outline::Outline`]: expressions, annotations and patterns.

use ruff_python_ast::{self as ast, Expr, Pattern};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use crate::EdgeKind;
use crate::lower::{Lowering, Store, Values, elements, with_uses};
use crate::outline::{Binding, Root, ScopeKind, Step, Sym, Use, UseId};
use crate::source::last_name;

/// The stack that must be left for an expression, and what is added when it isn't: a generated
/// file may nest deeper than any thread's stack.
const STACK_LEFT: usize = 128 << 10;
const STACK_MORE: usize = 4 << 20;
/// A longer string is no annotation.
const MAX_ANNOTATION: usize = 400;

/// A long literal's first items stand for all.
const MAX_ITEMS: usize = 8;

/// A chain `root.a(...)[i].b`, seen from its end.
struct Chain<'e> {
    root: Root,
    at: TextRange,
    /// From the root outwards.
    links: Vec<&'e Expr>,
}

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

    /// Notes every use in an expression; gives those that its value may come from. `kind` is how
    /// the outermost name is used.
    pub(crate) fn expression(&mut self, expression: &Expr, kind: EdgeKind) -> Values {
        self.depth += 1;
        let values = if self.depth.is_multiple_of(16) {
            stacker::maybe_grow(STACK_LEFT, STACK_MORE, || self.visit(expression, kind))
        } else {
            self.visit(expression, kind)
        };
        self.depth -= 1;
        values
    }

    fn visit(&mut self, expression: &Expr, kind: EdgeKind) -> Values {
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
                return values;
            }
            Expr::BoolOp(e) => {
                let mut values = Values::new();
                for value in &e.values {
                    values.extend(self.expression(value, inner));
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
            Expr::FString(e) => {
                for element in e.value.elements() {
                    self.interpolated(element, inner);
                }
            }
            Expr::TString(e) => {
                for element in e.value.elements() {
                    self.interpolated(element, inner);
                }
            }
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
    fn items(&mut self, all: &[Expr], kind: EdgeKind) -> Values {
        let mut values = Values::new();
        for one in all {
            let given = self.expression(one, kind);
            add_items(&mut values, &given, Binding::Items);
        }
        values
    }

    fn interpolated(&mut self, element: &ast::InterpolatedStringElement, kind: EdgeKind) {
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
    fn chain(&mut self, expression: &Expr, kind: EdgeKind, inner: EdgeKind) -> Values {
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
                Expr::Attribute(e) => Step::Attribute(self.body.names.intern(&e.attr.id)),
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
        let mut links = Vec::new();
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

    /// `isinstance(x, C)`, `issubclass(x, C)` in a function: the local name may be a C. `from` is
    /// the first use of the arguments.
    fn narrow(&mut self, call: &ast::ExprCall, from: UseId) {
        let [Expr::Name(object), classes] = &*call.arguments.args else {
            return;
        };
        let known = match &*call.func {
            Expr::Name(name) if &*name.id == "isinstance" => Binding::Annotated,
            Expr::Name(name) if &*name.id == "issubclass" => Binding::AnnotatedClass,
            _ => return,
        };
        let classes = match classes {
            Expr::Tuple(all) => &all.elts[..],
            one => std::slice::from_ref(one),
        };
        let named = |class: &Expr| matches!(class, Expr::Name(_) | Expr::Attribute(_));
        if classes.iter().all(named) {
            // The object is the first use, its classes are the next ones.
            let last = self.body.uses.len() as UseId;
            self.narrow_to(object, from + 1..last, known);
        }
    }

    /// `type(x) is C`, `type(x) == C`
    fn narrow_type(&mut self, test: &ast::ExprCompare, class: &Values) {
        let (Expr::Call(call), [Expr::Name(_) | Expr::Attribute(_)]) =
            (&*test.left, &*test.comparators)
        else {
            return;
        };
        let is_type = matches!(&*call.func, Expr::Name(name) if &*name.id == "type");
        let same = matches!(test.ops[..], [ast::CmpOp::Is | ast::CmpOp::Eq]);
        if let (true, true, [Expr::Name(object)], [Binding::Of(class)]) =
            (is_type, same, &*call.arguments.args, &class[..])
        {
            self.narrow_to(object, *class..class + 1, Binding::Annotated);
        }
    }

    fn narrow_to(
        &mut self,
        object: &ast::ExprName,
        classes: std::ops::Range<UseId>,
        known: fn(UseId) -> Binding,
    ) {
        let name = self.intern(&object.id);
        if self.kind_of(self.scope) == ScopeKind::Function && self.is_bound(name) {
            for class in classes {
                self.bind(name, known(class));
            }
        }
    }

    /// `getattr(x, "name", default)` with a literal name: a use of `x.name`.
    fn named_attribute(&mut self, call: &ast::ExprCall, kind: EdgeKind) -> Option<Values> {
        let (object, name, default) = match &*call.arguments.args {
            [object, Expr::StringLiteral(name)] => (object, name, None),
            [object, Expr::StringLiteral(name), default] => (object, name, Some(default)),
            _ => return None,
        };
        let is_getattr = matches!(&*call.func, Expr::Name(name) if &*name.id == "getattr");
        if !is_getattr || !matches!(object, Expr::Name(_) | Expr::Attribute(_)) {
            return None;
        }
        let mut values = self.expression(object, kind);
        if let [Binding::Of(number)] = values[..]
            && let Some(used) = self.body.uses.get(number as usize).copied()
        {
            let steps = self.body.steps_of(&used).to_vec();
            let first_step = self.body.steps.len() as u32;
            self.body.steps.extend(steps);
            let name = self.intern(name.value.to_str());
            self.body.steps.push(Step::Attribute(name));
            self.body.uses[number as usize] = Use {
                first_step,
                steps: used.steps + 1,
                ..used
            };
        }
        if let Some(default) = default {
            values.extend(self.expression(default, kind));
        }
        Some(values)
    }

    /// The root is no name: only what stands in the brackets is used.
    fn inside<'e>(&mut self, links: &[&'e Expr], inner: EdgeKind) -> Option<Chain<'e>> {
        for link in links.iter().rev() {
            self.arguments(link, inner);
        }
        None
    }

    fn arguments(&mut self, link: &Expr, inner: EdgeKind) {
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
    fn walrus(&mut self, target: &Expr, values: &[Binding]) {
        let scope = self.scope;
        while self.kind_of(self.scope) == ScopeKind::Comprehension {
            let parent = self.body.scopes[self.scope as usize].parent;
            self.scope = parent.unwrap_or(0);
        }
        self.store(target, values, target.range(), Store::Plain);
        self.scope = scope;
    }

    fn comprehension(
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
    pub(crate) fn note_write(&mut self, name: Sym, range: TextRange) {
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

    /// Reads an annotation: every name in it is used; gives what a value of it is.
    pub(crate) fn annotation(&mut self, annotation: &Expr) -> Vec<Binding> {
        self.depth += 1;
        let known = if self.depth.is_multiple_of(16) {
            stacker::maybe_grow(STACK_LEFT, STACK_MORE, || self.annotated(annotation))
        } else {
            self.annotated(annotation)
        };
        self.depth -= 1;
        known
    }

    fn annotated(&mut self, annotation: &Expr) -> Vec<Binding> {
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
    fn generic(&mut self, annotation: &ast::ExprSubscript) -> Vec<Binding> {
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
    fn string_annotation(&mut self, literal: &ast::ExprStringLiteral) -> Vec<Binding> {
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

    /// Binds the names of a pattern; `subject` is what is known of what it is matched with.
    pub(crate) fn pattern(&mut self, pattern: &Pattern, subject: &[Binding]) {
        self.depth += 1;
        if self.depth.is_multiple_of(16) {
            stacker::maybe_grow(STACK_LEFT, STACK_MORE, || self.matched(pattern, subject));
        } else {
            self.matched(pattern, subject);
        }
        self.depth -= 1;
    }

    fn matched(&mut self, pattern: &Pattern, subject: &[Binding]) {
        match pattern {
            Pattern::MatchValue(p) => {
                self.expression(&p.value, EdgeKind::Read);
            }
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(p) => p.patterns.iter().for_each(|p| self.pattern(p, &[])),
            Pattern::MatchMapping(p) => {
                self.expressions(&p.keys, EdgeKind::Read);
                p.patterns.iter().for_each(|p| self.pattern(p, &[]));
                self.capture(p.rest.as_ref(), &[]);
            }
            Pattern::MatchClass(p) => {
                self.expression(&p.cls, EdgeKind::Read);
                p.arguments
                    .patterns
                    .iter()
                    .for_each(|p| self.pattern(p, &[]));
                for keyword in &p.arguments.keywords {
                    self.pattern(&keyword.pattern, &[]);
                }
            }
            Pattern::MatchStar(p) => self.capture(p.name.as_ref(), &[]),
            Pattern::MatchAs(p) => match &p.pattern {
                Some(inner) => {
                    let from = self.body.uses.len() as UseId;
                    self.pattern(inner, subject);
                    // `case C(...) as c`: the class is the first use in the pattern.
                    let class = matches!(**inner, Pattern::MatchClass(_));
                    let known = [Binding::Annotated(from)];
                    self.capture(p.name.as_ref(), if class { &known } else { &[] });
                }
                None => self.capture(p.name.as_ref(), subject),
            },
            Pattern::MatchOr(p) => p.patterns.iter().for_each(|p| self.pattern(p, subject)),
        }
    }

    fn capture(&mut self, name: Option<&ast::Identifier>, known: &[Binding]) {
        if let Some(name) = name {
            let name = self.intern(&name.id);
            self.bind_all(name, known);
        }
    }
}

/// What a literal holds, as far as a few items tell.
fn add_items(items: &mut Values, values: &[Binding], item: fn(UseId) -> Binding) {
    if items.len() < MAX_ITEMS {
        items.extend(with_uses(values, item));
    }
}
