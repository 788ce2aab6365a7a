//! A syntax tree into an [`Outline`]: statements.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::outline::{
    Binding, Body, Bound, BoundIndex, Exports, Facts, Local, ModuleName, Outline, RawUnit, Scope,
    ScopeId, ScopeKind, Star, Sym, UseId,
};
use crate::source;
use crate::unit::{EdgeKind, Role, UnitKind};

/// What an expression's value may be.
pub(crate) type Values = SmallVec<[Binding; 2]>;

pub(crate) struct Lowering<'a> {
    pub(crate) text: &'a str,
    pub(crate) body: Body,
    facts: Facts,
    /// How often each qualified name was defined: (the one around it, the name).
    qualified: FxHashMap<(u32, Sym), Qualified>,
    /// The qualified name of each unit.
    qualified_of: Vec<u32>,
    modules: FxHashMap<ModuleName, u32>,
    pub(crate) scope: ScopeId,
    pub(crate) owner: Option<Local>,
    /// How many branches are open in the scope.
    branches: u32,
    pub(crate) event: u32,
    classes: Vec<ClassFrame>,
    /// The first parameter of the method at hand, and its class.
    receiver: Option<Receiver>,
    /// How deep the expression at hand lies.
    pub(crate) depth: u32,
    index: BoundIndex,
    /// The variable or attribute of each name of a scope.
    assigned: FxHashMap<(ScopeId, Sym), Local>,
    /// The first use of the statement at hand.
    first_use: UseId,
    /// The function at hand, if nothing says what it returns.
    unannotated: Option<Local>,
    /// Whether strings are data even where annotations stand.
    pub(crate) strings_are_data: bool,
}

#[derive(Debug, Clone, Copy)]
struct Qualified {
    number: u32,
    count: u32,
}

/// No qualified name around.
const TOP: u32 = u32::MAX;

struct ClassFrame {
    unit: Local,
    scope: ScopeId,
    members: Member,
    /// Attributes that methods give to their instance.
    pending: Vec<Pending>,
}

/// What an assignment in a class body makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Plain,
    Fields,
    Enum,
}

struct Pending {
    name: Sym,
    statement: TextRange,
    /// What the statement uses.
    uses: std::ops::Range<UseId>,
    bindings: Vec<Binding>,
}

#[derive(Clone, Copy)]
struct Receiver {
    name: Sym,
    frame: usize,
}

/// Lowers a whole file. `broken` says what the parser could not read of it.
pub(crate) fn lower(text: &str, body: &[Stmt], broken: Option<String>) -> Outline {
    let mut lowering = Lowering {
        text,
        body: Body::default(),
        facts: Facts::default(),
        qualified: FxHashMap::default(),
        qualified_of: Vec::new(),
        modules: FxHashMap::default(),
        scope: 0,
        owner: None,
        branches: 0,
        event: 0,
        classes: Vec::new(),
        receiver: None,
        depth: 0,
        index: BoundIndex::default(),
        assigned: FxHashMap::default(),
        first_use: 0,
        unannotated: None,
        strings_are_data: false,
    };
    lowering.open(ScopeKind::Module, None);
    lowering.statements(body);
    let Lowering {
        mut facts,
        mut body,
        ..
    } = lowering;
    body.returns.sort_by_key(|(function, _)| *function);
    body.shared.sort_unstable();
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    facts.lines = (ends + usize::from(!text.is_empty() && !text.ends_with('\n'))) as u32;
    facts.broken = broken.map(Into::into);
    facts.absolute = body
        .modules
        .iter()
        .filter(|m| m.level == 0 && m.parts.len() > 1)
        .map(|m| m.parts.clone())
        .collect();
    Outline { facts, body }
}

fn offset(at: ruff_text_size::TextSize) -> u32 {
    at.to_u32()
}

impl<'a> Lowering<'a> {
    fn open(&mut self, kind: ScopeKind, unit: Option<Local>) {
        let parent = (!self.body.scopes.is_empty()).then_some(self.scope);
        self.body.scopes.push(Scope {
            kind,
            parent,
            unit,
            globals: Vec::new(),
            nonlocals: Vec::new(),
        });
        self.scope = (self.body.scopes.len() - 1) as ScopeId;
    }

    /// Runs `inside` in a new scope and comes back.
    pub(crate) fn within(
        &mut self,
        kind: ScopeKind,
        unit: Option<Local>,
        inside: impl FnOnce(&mut Self),
    ) {
        let (scope, owner, branches) = (self.scope, self.owner, self.branches);
        self.open(kind, unit);
        if unit.is_some() {
            self.owner = unit;
        }
        self.branches = 0;
        inside(self);
        (self.scope, self.owner, self.branches) = (scope, owner, branches);
    }

    fn branch(&mut self, inside: impl FnOnce(&mut Self)) {
        self.branches += 1;
        inside(self);
        self.branches -= 1;
    }

    pub(crate) fn kind_of(&self, scope: ScopeId) -> ScopeKind {
        self.body.scopes[scope as usize].kind
    }

    pub(crate) fn next_event(&mut self) {
        self.event += 1;
    }

    /// Binds a name in the scope at hand, or where `global` says.
    pub(crate) fn bind(&mut self, name: Sym, binding: Binding) {
        let scope = &self.body.scopes[self.scope as usize];
        let (target, outside) = if scope.globals.contains(&name) {
            (0, self.scope != 0)
        } else if scope.nonlocals.contains(&name) {
            match self.enclosing_function(name) {
                Some(outer) => (outer, true),
                None => return,
            }
        } else {
            (self.scope, false)
        };
        self.bound(target, name, binding, self.branches > 0 || outside, false);
    }

    /// The nearest function around that binds the name already.
    fn enclosing_function(&self, name: Sym) -> Option<ScopeId> {
        let mut at = self.body.scopes[self.scope as usize].parent;
        while let Some(scope) = at {
            let here = self.kind_of(scope) == ScopeKind::Function;
            if here && self.bounds(scope, name).next().is_some() {
                return Some(scope);
            }
            at = self.body.scopes[scope as usize].parent;
        }
        None
    }

    fn bound(
        &mut self,
        scope: ScopeId,
        name: Sym,
        binding: Binding,
        conditional: bool,
        instance: bool,
    ) {
        self.index.push(scope, name);
        self.body.bound.push(Bound {
            scope,
            name,
            binding,
            conditional,
            instance,
            event: self.event,
        });
    }

    /// The bindings of a name in a scope, the last one first.
    fn bounds(&self, scope: ScopeId, name: Sym) -> impl Iterator<Item = &Bound> {
        self.index.of(&self.body.bound, scope, name)
    }

    pub(crate) fn bind_all(&mut self, name: Sym, bindings: &[Binding]) {
        if bindings.is_empty() {
            self.bind(name, Binding::Value);
        }
        for binding in bindings {
            self.bind(name, *binding);
        }
    }

    pub(crate) fn intern(&mut self, name: &str) -> Sym {
        self.body.names.intern(name)
    }

    fn add_unit(
        &mut self,
        kind: UnitKind,
        name: Sym,
        roles: Vec<Role>,
        range: TextRange,
        head: u32,
    ) -> Local {
        self.add_unit_in(self.owner, self.scope, kind, name, roles, range, head)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the fields of one record, named at its two callers"
    )]
    fn add_unit_in(
        &mut self,
        parent: Option<Local>,
        scope: ScopeId,
        kind: UnitKind,
        name: Sym,
        roles: Vec<Role>,
        range: TextRange,
        head: u32,
    ) -> Local {
        let around = parent.map_or(TOP, |p| self.qualified_of[p as usize]);
        let next = self.qualified.len() as u32;
        let entry = self.qualified.entry((around, name)).or_insert(Qualified {
            number: next,
            count: 0,
        });
        entry.count += 1;
        let (number, ordinal) = (entry.number, entry.count);
        let local = self.facts.units.len() as Local;
        self.qualified_of.push(number);
        self.body.homes.push(scope);
        self.facts.units.push(RawUnit {
            kind,
            roles,
            name: self.body.names.text(name).into(),
            parent,
            ordinal,
            statement: local,
            start: source::leading_start(self.text, offset(range.start())),
            end: offset(range.end()),
            head,
            docstring: None,
        });
        local
    }

    pub(crate) fn statements(&mut self, body: &[Stmt]) {
        // `global` and `nonlocal` hold for the whole body, wherever they stand in it.
        for statement in body {
            match statement {
                Stmt::Global(s) => {
                    for name in &s.names {
                        let name = self.intern(&name.id);
                        self.body.scopes[self.scope as usize].globals.push(name);
                    }
                }
                Stmt::Nonlocal(s) => {
                    for name in &s.names {
                        let name = self.intern(&name.id);
                        self.body.scopes[self.scope as usize].nonlocals.push(name);
                    }
                }
                _ => {}
            }
        }
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.next_event();
        self.first_use = self.body.uses.len() as UseId;
        match statement {
            Stmt::FunctionDef(s) => self.function(s),
            Stmt::ClassDef(s) => self.class(s),
            Stmt::Import(s) => self.import(s),
            Stmt::ImportFrom(s) => self.import_from(s),
            Stmt::Assign(s) => self.assign(s),
            Stmt::AnnAssign(s) => {
                let mut known = Vec::new();
                self.in_statement_of(std::slice::from_ref(&*s.target), s.range, |lowering| {
                    known = lowering.annotation(&s.annotation);
                    if let Some(value) = &s.value {
                        let values = lowering.expression(value, EdgeKind::Read);
                        if known.is_empty() {
                            known.extend(values);
                        }
                    }
                });
                if let (Expr::Name(name), Some(value)) = (&*s.target, &s.value) {
                    self.exports_are(&name.id, value);
                }
                let alias = source::last_name(&s.annotation) == Some("TypeAlias");
                let role = alias.then_some(Role::TypeAlias);
                self.store(&s.target, &known, s.range, Store::annotated(role));
            }
            Stmt::AugAssign(s) => {
                self.in_statement_of(std::slice::from_ref(&*s.target), s.range, |lowering| {
                    lowering.expression(&s.value, EdgeKind::Read);
                });
                if let Expr::Name(name) = &*s.target {
                    self.exports_grow(&name.id, &s.value);
                }
                self.read_target(&s.target);
                self.store(&s.target, &[], s.range, Store::Again);
            }
            Stmt::TypeAlias(s) => {
                self.in_statement_of(std::slice::from_ref(&*s.name), s.range, |lowering| {
                    lowering.with_type_parameters(s.type_params.as_deref(), |lowering| {
                        lowering.annotation(&s.value);
                    });
                });
                self.store(
                    &s.name,
                    &[],
                    s.range,
                    Store::annotated(Some(Role::TypeAlias)),
                );
            }
            Stmt::Return(s) => {
                if let Some(value) = &s.value {
                    let values = self.expression(value, EdgeKind::Read);
                    self.gives(values);
                }
            }
            Stmt::Delete(s) => {
                for target in &s.targets {
                    self.delete(target);
                }
            }
            Stmt::For(s) => {
                let values = self.expression(&s.iter, EdgeKind::Read);
                let known = elements(&values);
                self.branch(|lowering| {
                    lowering.store(&s.target, &known, s.target.range(), Store::Loop);
                    lowering.statements(&s.body);
                    lowering.statements(&s.orelse);
                });
            }
            Stmt::While(s) => {
                self.expression(&s.test, EdgeKind::Read);
                self.branch(|lowering| {
                    lowering.statements(&s.body);
                    lowering.statements(&s.orelse);
                });
            }
            Stmt::If(s) => {
                self.expression(&s.test, EdgeKind::Read);
                self.branch(|lowering| {
                    lowering.statements(&s.body);
                    for clause in &s.elif_else_clauses {
                        lowering.expressions(clause.test.as_ref(), EdgeKind::Read);
                        lowering.statements(&clause.body);
                    }
                });
            }
            Stmt::With(s) => {
                for item in &s.items {
                    let values = self.expression(&item.context_expr, EdgeKind::Read);
                    if let Some(target) = &item.optional_vars {
                        let known = with_uses(&values, Binding::Entered);
                        self.store(target, &known, target.range(), Store::Loop);
                    }
                }
                self.branch(|lowering| lowering.statements(&s.body));
            }
            Stmt::Match(s) => {
                let known = self.expression(&s.subject, EdgeKind::Read);
                self.branch(|lowering| {
                    for case in &s.cases {
                        lowering.pattern(&case.pattern, &known);
                        lowering.expressions(case.guard.as_deref(), EdgeKind::Read);
                        lowering.statements(&case.body);
                    }
                });
            }
            Stmt::Raise(s) => {
                self.expressions(s.exc.as_deref(), EdgeKind::Raise);
                self.expressions(s.cause.as_deref(), EdgeKind::Read);
            }
            Stmt::Try(s) => self.branch(|lowering| lowering.attempt(s)),
            Stmt::Assert(s) => {
                self.expression(&s.test, EdgeKind::Read);
                self.expressions(s.msg.as_deref(), EdgeKind::Read);
            }
            Stmt::Expr(s) => {
                self.expression(&s.value, EdgeKind::Read);
                self.exports_call(&s.value);
            }
            Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    fn attempt(&mut self, s: &ast::StmtTry) {
        self.statements(&s.body);
        for ast::ExceptHandler::ExceptHandler(handler) in &s.handlers {
            let mut known = Values::new();
            match handler.type_.as_deref() {
                Some(Expr::Tuple(all)) => {
                    for one in &all.elts {
                        known.extend(self.expression(one, EdgeKind::Raise));
                    }
                }
                Some(one) => known.extend(self.expression(one, EdgeKind::Raise)),
                None => {}
            }
            if let Some(name) = &handler.name {
                let name = self.intern(&name.id);
                let known = with_uses(&known, Binding::Annotated);
                self.bind_all(name, &known);
            }
            self.statements(&handler.body);
        }
        self.statements(&s.orelse);
        self.statements(&s.finalbody);
    }

    /// What a function gives that isn't annotated.
    pub(crate) fn gives(&mut self, values: Values) {
        if let Some(function) = self.unannotated {
            let given = values.into_iter().map(|binding| (function, binding));
            self.body.returns.extend(given);
        }
    }

    fn delete(&mut self, target: &Expr) {
        match target {
            Expr::Name(name) => {
                let name = self.intern(&name.id);
                self.bind(name, Binding::Deleted);
                self.next_event();
            }
            Expr::Tuple(e) => e.elts.iter().for_each(|t| self.delete(t)),
            Expr::List(e) => e.elts.iter().for_each(|t| self.delete(t)),
            other => {
                self.expression(other, EdgeKind::Read);
            }
        }
    }

    fn module(&mut self, level: u32, parts: Vec<Box<str>>) -> u32 {
        let next = self.body.modules.len() as u32;
        let module = ModuleName { level, parts };
        if let Some(number) = self.modules.get(&module) {
            return *number;
        }
        self.body.modules.push(module.clone());
        self.modules.insert(module, next);
        next
    }

    fn note_import(&mut self, range: TextRange) {
        if self.kind_of(self.scope) == ScopeKind::Module {
            let span = (offset(range.start()), offset(range.end()));
            self.facts.import_statements.push(span);
        }
    }

    fn import(&mut self, s: &ast::StmtImport) {
        self.note_import(s.range);
        for alias in &s.names {
            let parts: Vec<Box<str>> = alias.name.id.split('.').map(Into::into).collect();
            if let Some(asname) = &alias.asname {
                let module = self.module(0, parts);
                let name = self.intern(&asname.id);
                self.bind(name, Binding::Module(module));
            } else {
                let name = self.intern(&parts[0]);
                let module = self.module(0, parts);
                self.bind(name, Binding::Package(module));
            }
        }
    }

    fn import_from(&mut self, s: &ast::StmtImportFrom) {
        self.note_import(s.range);
        let parts = match &s.module {
            Some(module) => module.id.split('.').map(Into::into).collect(),
            None => Vec::new(),
        };
        let module = self.module(s.level, parts);
        for alias in &s.names {
            if alias.name.id.as_str() == "*" {
                self.body.stars.push(Star {
                    scope: self.scope,
                    module,
                    event: self.event,
                });
                continue;
            }
            let original = self.intern(&alias.name.id);
            let bound = match &alias.asname {
                Some(asname) => self.intern(&asname.id),
                None => original,
            };
            self.bind(bound, Binding::Member(module, original));
        }
    }

    /// A class or function: its text, from the first decorator or the comment above on.
    fn definition(&self, range: TextRange, name: TextRange, keywords: &[&str]) -> u32 {
        // Back from the name over `def` or `class`, and over `async`.
        let start = offset(range.start()) as usize;
        let mut at = offset(name.start()) as usize;
        for keyword in keywords {
            let before =
                self.text[start..at].trim_end_matches(|c: char| c.is_whitespace() || c == '\\');
            if let Some(rest) = before.strip_suffix(keyword) {
                at = start + rest.len();
            }
        }
        at as u32
    }

    fn function(&mut self, f: &ast::StmtFunctionDef) {
        if f.name.id.is_empty() {
            // The parser has recovered from a definition without a name.
            return self.statements(&f.body);
        }
        let name = self.intern(&f.name.id);
        let class = match self.kind_of(self.scope) {
            ScopeKind::Class => self.classes.len().checked_sub(1),
            _ => None,
        };
        let kind = match class {
            Some(_) => UnitKind::Method,
            None => UnitKind::Function,
        };
        let roles = function_roles(f, class.is_some());
        let keywords: &[&str] = if f.is_async {
            &["def", "async"]
        } else {
            &["def"]
        };
        let head = self.definition(f.range, f.name.range, keywords);
        let accessor = roles.contains(&Role::Setter) || roles.contains(&Role::Deleter);
        let implicit_class = roles.contains(&Role::ClassMethod);
        let is_static = roles.contains(&Role::StaticMethod);
        let unit = self.add_unit(kind, name, roles, f.range, head);
        self.facts.units[unit as usize].docstring = docstring(&f.body);
        // The setter of a property has its name; reading the name still means the property.
        if !accessor || !self.is_bound(name) {
            self.bind(name, Binding::Unit(unit));
        }
        if kind == UnitKind::Function && self.scope == 0 && &*f.name.id == "__getattr__" {
            self.body.dynamic = true;
        }

        // Decorators, defaults and annotations are evaluated outside but belong to the function.
        let owner = self.owner.replace(unit);
        for decorator in &f.decorator_list {
            self.expression(&decorator.expression, EdgeKind::Decorate);
        }
        self.with_type_parameters(f.type_params.as_deref(), |lowering| {
            let known = lowering.parameters(&f.parameters);
            if let Some(returns) = &f.returns {
                for binding in lowering.annotation(returns) {
                    lowering.body.returns.push((unit, binding));
                }
            }
            let outer = (lowering.receiver, lowering.unannotated);
            lowering.unannotated = f.returns.is_none().then_some(unit);
            lowering.within(ScopeKind::Function, Some(unit), |inside| {
                let mut known = known;
                if let (Some(frame), false) = (class, is_static) {
                    let first = f
                        .parameters
                        .posonlyargs
                        .first()
                        .or(f.parameters.args.first());
                    if let Some(first) = first {
                        let name = inside.intern(&first.parameter.name.id);
                        let class = inside.classes[frame].unit;
                        inside.receiver = Some(Receiver { name, frame });
                        let binding = if implicit_class {
                            Binding::Class(class)
                        } else {
                            Binding::Instance(class)
                        };
                        inside.bind(name, binding);
                        known.retain(|(other, _)| *other != name);
                    }
                } else if class.is_some() {
                    inside.receiver = None;
                }
                for (name, bindings) in known {
                    inside.bind_all(name, &bindings);
                }
                inside.statements(&f.body);
            });
            (lowering.receiver, lowering.unannotated) = outer;
        });
        self.owner = owner;
    }

    pub(crate) fn is_bound(&self, name: Sym) -> bool {
        self.bounds(self.scope, name).next().is_some()
    }

    /// Reads annotations and defaults; gives the parameters with what is known of them.
    pub(crate) fn parameters(&mut self, all: &ast::Parameters) -> Vec<(Sym, Vec<Binding>)> {
        let mut known = Vec::new();
        let ordinary = all
            .posonlyargs
            .iter()
            .chain(&all.args)
            .chain(&all.kwonlyargs);
        for parameter in ordinary {
            let name = self.intern(&parameter.parameter.name.id);
            let annotation = parameter.parameter.annotation.as_deref();
            let mut bindings = annotation.map(|a| self.annotation(a)).unwrap_or_default();
            if let Some(default) = parameter.default.as_deref() {
                let values = self.expression(default, EdgeKind::Read);
                if annotation.is_none() {
                    bindings.extend(values);
                }
            }
            known.push((name, bindings));
        }
        for (parameter, many) in [
            (
                &all.vararg,
                Binding::AnnotatedElements as fn(UseId) -> Binding,
            ),
            (&all.kwarg, Binding::AnnotatedValues),
        ] {
            let Some(parameter) = parameter else { continue };
            let name = self.intern(&parameter.name.id);
            let annotation = parameter.annotation.as_deref();
            let bindings = annotation.map(|a| self.annotation(a)).unwrap_or_default();
            let bindings = bindings.into_iter().filter_map(|b| match b {
                Binding::Annotated(used) => Some(many(used)),
                _ => None,
            });
            known.push((name, bindings.collect()));
        }
        known
    }

    fn with_type_parameters(
        &mut self,
        parameters: Option<&ast::TypeParams>,
        inside: impl FnOnce(&mut Self),
    ) {
        let Some(parameters) = parameters else {
            return inside(self);
        };
        let branches = self.branches;
        self.within(ScopeKind::TypeParameters, None, |lowering| {
            for parameter in &parameters.type_params {
                let (name, bound, default) = match parameter {
                    ast::TypeParam::TypeVar(p) => (&p.name, p.bound.as_deref(), &p.default),
                    ast::TypeParam::TypeVarTuple(p) => (&p.name, None, &p.default),
                    ast::TypeParam::ParamSpec(p) => (&p.name, None, &p.default),
                };
                // A value of type T is at least what T is bound to.
                let known = bound.map(|b| lowering.annotation(b)).unwrap_or_default();
                if let Some(default) = default {
                    lowering.annotation(default);
                }
                let name = lowering.intern(&name.id);
                let known: Vec<_> = known
                    .into_iter()
                    .filter_map(|b| match b {
                        Binding::Annotated(used) => Some(Binding::AnnotatedClass(used)),
                        _ => None,
                    })
                    .collect();
                lowering.bind_all(name, &known);
            }
            lowering.branches = branches;
            inside(lowering);
        });
    }

    fn class(&mut self, s: &ast::StmtClassDef) {
        if s.name.id.is_empty() {
            return self.statements(&s.body);
        }
        let name = self.intern(&s.name.id);
        let head = self.definition(s.range, s.name.range, &["class"]);
        let unit = self.add_unit(UnitKind::Class, name, Vec::new(), s.range, head);
        self.facts.units[unit as usize].docstring = docstring(&s.body);
        self.bind(name, Binding::Unit(unit));
        let owner = self.owner.replace(unit);
        for decorator in &s.decorator_list {
            self.expression(&decorator.expression, EdgeKind::Decorate);
        }
        self.with_type_parameters(s.type_params.as_deref(), |lowering| {
            for base in s.bases() {
                for value in lowering.expression(base, EdgeKind::Inherit) {
                    if let Binding::Of(used) = value {
                        lowering.body.bases.push((unit, used));
                    }
                }
            }
            for keyword in s.keywords() {
                lowering.expression(&keyword.value, EdgeKind::Read);
            }
            let outer = lowering.receiver.take();
            lowering.within(ScopeKind::Class, Some(unit), |inside| {
                inside.classes.push(ClassFrame {
                    unit,
                    scope: inside.scope,
                    members: members(s),
                    pending: Vec::new(),
                });
                inside.statements(&s.body);
                inside.instance_attributes();
            });
            lowering.receiver = outer;
        });
        self.owner = owner;
    }

    /// Ends a class: its instances' attributes become units where the body has no such member.
    fn instance_attributes(&mut self) {
        let Some(frame) = self.classes.pop() else {
            return;
        };
        for attribute in frame.pending {
            self.next_event();
            let member = self.bounds(frame.scope, attribute.name).next().is_some();
            let unit = if member {
                let mut members = self.bounds(frame.scope, attribute.name);
                members.find_map(|b| match b.binding {
                    Binding::Unit(unit) => Some(unit),
                    _ => None,
                })
            } else {
                let unit = self.add_unit_in(
                    Some(frame.unit),
                    frame.scope,
                    UnitKind::Attribute,
                    attribute.name,
                    vec![Role::InstanceAttribute],
                    attribute.statement,
                    offset(attribute.statement.start()),
                );
                let shared = attribute.uses.map(|used| (used, unit));
                self.body.shared.extend(shared);
                Some(unit)
            };
            let Some(unit) = unit else { continue };
            let kind = self.facts.units[unit as usize].kind;
            if kind != UnitKind::Attribute {
                continue;
            }
            self.bound(frame.scope, attribute.name, Binding::Unit(unit), true, true);
            for binding in attribute.bindings {
                self.bound(frame.scope, attribute.name, binding, true, true);
            }
        }
    }

    fn assign(&mut self, s: &ast::StmtAssign) {
        if let [Expr::Name(name)] = &s.targets[..]
            && self.wraps_itself(&name.id, &s.value)
        {
            // `f = cache(f)`: the name still means the function.
            self.expression(&s.value, EdgeKind::Read);
            return;
        }
        // `a, b = x, y` pairs up; everything else has one value.
        let pairs = match &*s.value {
            Expr::Tuple(values) if s.targets.len() == 1 => match &s.targets[0] {
                Expr::Tuple(targets) => paired(&targets.elts, &values.elts),
                _ => None,
            },
            _ => None,
        };
        self.in_statement_of(&s.targets, s.range, |lowering| match pairs {
            Some(pairs) => {
                for (target, value) in pairs {
                    lowering.assign_one(std::slice::from_ref(target), value, s.range);
                }
            }
            None => lowering.assign_one(&s.targets, &s.value, s.range),
        });
        if let [Expr::Name(name)] = &s.targets[..] {
            self.exports_are(&name.id, &s.value);
        }
    }

    /// Whether the value of an assignment is a call with the assigned function itself.
    fn wraps_itself(&mut self, name: &str, value: &Expr) -> bool {
        let Expr::Call(call) = value else {
            return false;
        };
        let mut arguments = call.arguments.args.iter();
        if !arguments.any(|a| matches!(a, Expr::Name(given) if &*given.id == name)) {
            return false;
        }
        let name = self.intern(name);
        let bound = self.bounds(self.scope, name).next();
        bound.is_some_and(|b| match b.binding {
            Binding::Unit(unit) => matches!(
                self.facts.units[unit as usize].kind,
                UnitKind::Function | UnitKind::Method | UnitKind::Class
            ),
            _ => false,
        })
    }

    fn assign_one(&mut self, targets: &[Expr], value: &Expr, range: TextRange) {
        let known = self.expression(value, EdgeKind::Read);
        for target in targets {
            self.store(target, &known, range, Store::Plain);
        }
    }

    /// Makes the units of an assignment and runs `inside` with the first of them as the owner of
    /// what it uses. A later assignment to the same name is not part of the unit's text.
    fn in_statement_of(
        &mut self,
        targets: &[Expr],
        range: TextRange,
        inside: impl FnOnce(&mut Self),
    ) {
        let owner = self.owner;
        let first = self.facts.units.len();
        for target in targets {
            self.make_units(target, range);
        }
        for unit in &mut self.facts.units[first..] {
            unit.statement = first as Local;
        }
        if first < self.facts.units.len() {
            self.owner = Some(first as Local);
        }
        inside(self);
        self.owner = owner;
    }

    fn make_units(&mut self, target: &Expr, range: TextRange) {
        match target {
            Expr::Name(name) => {
                let name = self.intern(&name.id);
                self.unit_for(name, range);
            }
            Expr::Tuple(e) => e.elts.iter().for_each(|t| self.make_units(t, range)),
            Expr::List(e) => e.elts.iter().for_each(|t| self.make_units(t, range)),
            Expr::Starred(e) => self.make_units(&e.value, range),
            _ => {}
        }
    }

    /// The variable or attribute that a name of the scope at hand stands for.
    fn assigned(&self, name: Sym) -> Option<Local> {
        self.assigned.get(&(self.scope, name)).copied()
    }

    /// The unit of an assigned name, where names are units: in modules and class bodies.
    fn unit_for(&mut self, name: Sym, range: TextRange) -> Option<Local> {
        if self.body.names.text(name).is_empty() {
            return None;
        }
        let kind = match self.kind_of(self.scope) {
            ScopeKind::Module => UnitKind::Variable,
            ScopeKind::Class => UnitKind::Attribute,
            _ => return None,
        };
        if let Some(unit) = self.assigned(name) {
            return Some(unit);
        }
        let outside = &self.body.scopes[self.scope as usize].globals;
        if self.scope != 0 && outside.contains(&name) {
            return None;
        }
        let mut roles = Vec::new();
        if self.scope == 0 && self.body.names.text(name) == "__all__" {
            roles.push(Role::Exports);
        }
        let head = offset(range.start());
        let unit = self.add_unit(kind, name, roles, range, head);
        self.assigned.insert((self.scope, name), unit);
        Some(unit)
    }

    /// Binds the names of a target; the objects of `a.b = ...` and `a[i] = ...` are read.
    pub(crate) fn store(&mut self, target: &Expr, known: &[Binding], range: TextRange, how: Store) {
        match target {
            Expr::Name(name) => {
                let name = self.intern(&name.id);
                self.store_name(name, known, range, how);
            }
            Expr::Tuple(e) => self.store_parts(&e.elts, known, range, how),
            Expr::List(e) => self.store_parts(&e.elts, known, range, how),
            Expr::Starred(e) => self.store(&e.value, &[], range, how),
            Expr::Attribute(attribute) => {
                self.expression(target, EdgeKind::Write);
                self.store_attribute(attribute, known, range);
            }
            Expr::Subscript(e) => {
                self.expression(&e.value, EdgeKind::Read);
                self.expression(&e.slice, EdgeKind::Read);
            }
            other => {
                self.expression(other, EdgeKind::Read);
            }
        }
    }

    /// Each part may be whatever the whole holds, or what an iterator of tuples is known to give.
    fn store_parts(&mut self, parts: &[Expr], known: &[Binding], range: TextRange, how: Store) {
        let known: Values = known
            .iter()
            .filter_map(|value| match value {
                Binding::Items(used) => Some(Binding::Of(*used)),
                Binding::Of(used) => Some(Binding::Element(*used)),
                Binding::Element(_) => Some(*value),
                _ => None,
            })
            .collect();
        for part in parts {
            self.store(part, &known, range, how);
        }
    }

    fn store_name(&mut self, name: Sym, known: &[Binding], range: TextRange, how: Store) {
        let mut role = None;
        if let Store::Annotated { role: given } = how {
            role = given;
        }
        if self.kind_of(self.scope) == ScopeKind::Class
            && let Some(frame) = self.classes.last()
        {
            let member = match (frame.members, how) {
                (Member::Fields, Store::Annotated { .. }) => Some(Role::Field),
                (Member::Enum, Store::Plain) => Some(Role::EnumMember),
                _ => None,
            };
            let private = self.body.names.text(name).starts_with('_');
            role = role.or(member.filter(|m| *m != Role::EnumMember || !private));
        }
        let unit = match how {
            // A loop's name or that of `with` is no unit, even in a module.
            Store::Loop => self.assigned(name),
            _ => self.unit_for(name, range),
        };
        if let (Some(unit), Some(role)) = (unit, role) {
            let roles = &mut self.facts.units[unit as usize].roles;
            if !roles.contains(&role) {
                roles.push(role);
            }
        }
        match unit {
            Some(unit) => {
                self.bind(name, Binding::Unit(unit));
                for binding in known {
                    self.bind(name, *binding);
                }
            }
            None if self.is_outside(name) => {
                self.note_write(name, range);
                self.bind_all(name, known);
            }
            None if how == Store::Again => {
                // `x += 1` makes the name local, but its value is of the same class.
                self.bind(name, Binding::Value);
            }
            None => self.bind_all(name, known),
        }
    }

    /// Whether `global` sends a name out of the function at hand.
    fn is_outside(&self, name: Sym) -> bool {
        let scope = &self.body.scopes[self.scope as usize];
        self.scope != 0 && scope.globals.contains(&name)
    }

    /// `self.x = ...` in a method.
    fn store_attribute(
        &mut self,
        target: &ast::ExprAttribute,
        known: &[Binding],
        range: TextRange,
    ) {
        let (Some(receiver), Expr::Name(object)) = (self.receiver, &*target.value) else {
            return;
        };
        if target.attr.id.is_empty()
            || self.body.names.get(&object.id) != Some(receiver.name)
            || self.hidden(receiver.name)
        {
            return;
        }
        let name = self.intern(&target.attr.id);
        self.classes[receiver.frame].pending.push(Pending {
            name,
            statement: range,
            uses: self.first_use..self.body.uses.len() as UseId,
            bindings: known.to_vec(),
        });
    }

    /// Whether a scope inside the method binds the receiver's name to something else.
    fn hidden(&self, name: Sym) -> bool {
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            if let Some(bound) = self.bounds(scope, name).next() {
                return !matches!(bound.binding, Binding::Instance(_) | Binding::Class(_));
            }
            at = self.body.scopes[scope as usize].parent;
        }
        true
    }

    /// `x += 1` and the like read their target first.
    fn read_target(&mut self, target: &Expr) {
        if let Expr::Name(name) = target {
            let name = self.intern(&name.id);
            if self.assigned(name).is_none() {
                self.expression(target, EdgeKind::Read);
            }
        } else if let Expr::Attribute(_) = target {
            self.expression(target, EdgeKind::Read);
        }
    }

    /// `__all__ = [...]`
    fn exports_are(&mut self, name: &str, value: &Expr) {
        if name == "__all__" && self.scope == 0 {
            let mut exports = Exports::default();
            let known = self.exports_of(value, &mut exports);
            self.body.exported = known.then_some(exports);
        }
    }

    /// `__all__ += [...]`
    fn exports_grow(&mut self, name: &str, value: &Expr) {
        if name != "__all__" || self.scope != 0 {
            return;
        }
        // What can't be read may be anything: everything public counts.
        if let Some(mut exports) = self.body.exported.take()
            && self.exports_of(value, &mut exports)
        {
            self.body.exported = Some(exports);
        }
    }

    /// Adds what an expression lists; false where it can't be read.
    fn exports_of(&mut self, value: &Expr, exports: &mut Exports) -> bool {
        let items = match value {
            Expr::List(list) => &list.elts[..],
            Expr::Tuple(tuple) => &tuple.elts[..],
            Expr::Set(set) => &set.elts[..],
            Expr::BinOp(sum) => {
                return self.exports_of(&sum.left, exports) && self.exports_of(&sum.right, exports);
            }
            Expr::Attribute(list) if &*list.attr.id == "__all__" => {
                let at = list.value.range().start().to_u32();
                let first = self.first_use as usize;
                let used = self.body.uses[first..].iter().position(|u| u.at == at);
                exports.others.extend(used.map(|n| (first + n) as UseId));
                return used.is_some();
            }
            _ => return false,
        };
        items.iter().all(|item| match item {
            Expr::StringLiteral(literal) => {
                let name = self.intern(literal.value.to_str());
                exports.names.push(name);
                true
            }
            Expr::Starred(rest) => self.exports_of(&rest.value, exports),
            _ => false,
        })
    }

    /// `__all__.extend([...])`, `__all__.append("x")`, `__all__.remove("x")`
    fn exports_call(&mut self, value: &Expr) {
        let Expr::Call(call) = value else { return };
        let Expr::Attribute(method) = &*call.func else {
            return;
        };
        let [argument] = &*call.arguments.args else {
            return;
        };
        let is_all = matches!(&*method.value, Expr::Name(name) if &*name.id == "__all__");
        if !is_all || self.scope != 0 {
            return;
        }
        match (&*method.attr.id, argument) {
            ("extend", list) => self.exports_grow("__all__", list),
            ("append", Expr::StringLiteral(one)) => {
                let one = self.intern(one.value.to_str());
                if let Some(exported) = &mut self.body.exported {
                    exported.names.push(one);
                }
            }
            ("remove", Expr::StringLiteral(one)) => {
                let one = self.intern(one.value.to_str());
                if let Some(exported) = &mut self.body.exported {
                    exported.names.retain(|name| *name != one);
                }
            }
            _ => {}
        }
    }
}

/// What iterating over these values gives.
pub(crate) fn elements(values: &[Binding]) -> Values {
    let element = |value: &Binding| match value {
        Binding::Of(used) => Some(Binding::Element(*used)),
        Binding::Items(used) => Some(Binding::Of(*used)),
        _ => None,
    };
    values.iter().filter_map(element).collect()
}

/// What is known by the uses that these values come from.
pub(crate) fn with_uses(values: &[Binding], known: fn(UseId) -> Binding) -> Values {
    let with = |value: &Binding| match value {
        Binding::Of(used) => Some(known(*used)),
        _ => None,
    };
    values.iter().filter_map(with).collect()
}

/// How a name comes to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Store {
    Plain,
    Annotated {
        role: Option<Role>,
    },
    /// `x += 1`
    Again,
    /// By a loop, by `with`.
    Loop,
}

impl Store {
    fn annotated(role: Option<Role>) -> Self {
        Self::Annotated { role }
    }
}

/// `a, b = x, y` by pairs, where the numbers are equal and nothing is starred.
fn paired<'e>(targets: &'e [Expr], values: &'e [Expr]) -> Option<Vec<(&'e Expr, &'e Expr)>> {
    let starred = targets.iter().chain(values).any(Expr::is_starred_expr);
    (targets.len() == values.len() && !starred).then(|| targets.iter().zip(values).collect())
}

fn docstring(body: &[Stmt]) -> Option<Box<str>> {
    match body.first() {
        Some(Stmt::Expr(s)) => match &*s.value {
            // Python reads every line end as \n.
            Expr::StringLiteral(literal) if literal.value.to_str().contains('\r') => {
                let text = literal.value.to_str().replace("\r\n", "\n");
                Some(text.replace('\r', "\n").into())
            }
            Expr::StringLiteral(literal) => Some(literal.value.to_str().into()),
            _ => None,
        },
        _ => None,
    }
}

fn function_roles(f: &ast::StmtFunctionDef, method: bool) -> Vec<Role> {
    let mut roles = Vec::new();
    if f.is_async {
        roles.push(Role::Async);
    }
    for decorator in &f.decorator_list {
        let accessor = matches!(&decorator.expression, Expr::Attribute(_));
        let role = match source::last_name(&decorator.expression) {
            Some("overload") => Role::Overload,
            Some("setter") if accessor => Role::Setter,
            Some("deleter") if accessor => Role::Deleter,
            Some("staticmethod") => Role::StaticMethod,
            Some("classmethod") => Role::ClassMethod,
            Some(name) if name.ends_with("property") || name == "reify" => Role::Property,
            _ => continue,
        };
        roles.push(role);
    }
    // Python makes these class methods (and `__new__` takes the class) without being told.
    let implicit = ["__new__", "__init_subclass__", "__class_getitem__"];
    if method && implicit.contains(&f.name.id.as_str()) && !roles.contains(&Role::ClassMethod) {
        roles.push(Role::ClassMethod);
    }
    roles
}

/// What assignments in a class body are.
fn members(s: &ast::StmtClassDef) -> Member {
    const ENUMS: [&str; 5] = ["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"];
    const RECORDS: [&str; 2] = ["NamedTuple", "TypedDict"];
    const MAKERS: [&str; 7] = [
        "dataclass",
        "define",
        "frozen",
        "mutable",
        "attrs",
        "s",
        "attributes",
    ];
    let base = |known: &[&str]| {
        let mut names = s.bases().iter().filter_map(source::last_name);
        names.any(|name| known.contains(&name))
    };
    let made = s
        .decorator_list
        .iter()
        .filter_map(|d| source::last_name(&d.expression))
        .any(|name| MAKERS.contains(&name));
    if base(&ENUMS) {
        Member::Enum
    } else if made || base(&RECORDS) {
        Member::Fields
    } else {
        Member::Plain
    }
}
