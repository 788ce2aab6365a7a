//! Statements, imports, branches.

use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};

use super::assignments::{Store, elements, with_uses};
use super::{Lowering, Values, offset};
use crate::outline::{Binding, Declared, ModuleName, ScopeKind, Star, UseId};
use crate::source;
use crate::unit::{EdgeKind, Role};

impl Lowering<'_> {
    pub(super) fn statements(&mut self, body: &[Stmt]) {
        // `global` and `nonlocal` hold for the whole body, wherever they stand in it.
        for statement in body {
            match statement {
                Stmt::Global(s) => {
                    for name in &s.names {
                        let name = self.intern(&name.id);
                        self.declared().globals.push(name);
                    }
                }
                Stmt::Nonlocal(s) => {
                    for name in &s.names {
                        let name = self.intern(&name.id);
                        self.declared().nonlocals.push(name);
                    }
                }
                _ => {}
            }
        }
        for statement in body {
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
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
                self.store(&s.target, &known, s.range, Store::Annotated { role });
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
                let role = Some(Role::TypeAlias);
                self.store(&s.name, &[], s.range, Store::Annotated { role });
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

    pub(super) fn attempt(&mut self, s: &ast::StmtTry) {
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
    pub(super) fn gives(&mut self, values: Values) {
        if let Some(function) = self.unannotated {
            let given = values.into_iter().map(|binding| (function, binding));
            self.body.returns.extend(given);
        }
    }

    pub(super) fn delete(&mut self, target: &Expr) {
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

    fn declared(&mut self) -> &mut Declared {
        let scope = &mut self.body.scopes[self.scope as usize];
        scope.declared.get_or_insert_default()
    }

    pub(super) fn module(&mut self, level: u32, name: &str) -> u32 {
        let next = self.body.modules.len() as u32;
        let name = self.intern(name);
        let module = ModuleName { level, name };
        let number = *self.modules.entry(module).or_insert(next);
        if number == next {
            self.body.modules.push(module);
        }
        number
    }

    pub(super) fn note_import(&mut self, range: TextRange) {
        if self.kind_of(self.scope) == ScopeKind::Module {
            let span = (offset(range.start()), offset(range.end()));
            self.facts.import_statements.push(span);
        }
    }

    pub(super) fn import(&mut self, s: &ast::StmtImport) {
        self.note_import(s.range);
        for alias in &s.names {
            let module = self.module(0, &alias.name.id);
            match &alias.asname {
                Some(asname) => {
                    let name = self.intern(&asname.id);
                    self.bind(name, Binding::Module(module));
                }
                None => {
                    let top = alias.name.id.split('.').next().unwrap_or_default();
                    let name = self.intern(top);
                    self.bind(name, Binding::Package(module));
                }
            }
        }
    }

    pub(super) fn import_from(&mut self, s: &ast::StmtImportFrom) {
        self.note_import(s.range);
        let name = s.module.as_ref().map_or("", |module| module.id.as_str());
        let module = self.module(s.level, name);
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
}
