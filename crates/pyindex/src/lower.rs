//! A rustpython-parser tree into an [`Outline`]: statements.

use std::collections::HashMap;

use hydra_core::records::UnitKind;
use hydra_core::{RepoPath, UnitId};
use rustpython_parser::ast::{self, Ranged, Stmt};

use crate::outline::{Binding, Local, ModuleName, Outline, Scope, ScopeKind, Use};
use crate::source::{clean_docstring, dedent, header};
use crate::unit::{EdgeKind, Unit};

pub(crate) struct Lowering<'a> {
    path: &'a RepoPath,
    text: &'a str,
    line_starts: Vec<usize>,
    seen: HashMap<String, usize>,
    pub(crate) outline: Outline,
    pub(crate) scope: usize,
    pub(crate) unit: Option<Local>,
}

/// Lowers a whole file.
pub(crate) fn lower(path: &RepoPath, text: &str, body: &[Stmt]) -> Outline {
    let line_starts = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(i, _)| i + 1))
        .collect();
    let mut lowering = Lowering {
        path,
        text,
        line_starts,
        seen: HashMap::new(),
        outline: Outline::default(),
        scope: 0,
        unit: None,
    };
    lowering.open(ScopeKind::Module, None);
    lowering.statements(body);
    lowering.outline
}

/// The parts of a function that both kinds share.
struct Function<'a> {
    range: std::ops::Range<usize>,
    name: &'a str,
    args: &'a ast::Arguments,
    body: &'a [Stmt],
    decorators: &'a [ast::Expr],
    returns: Option<&'a ast::Expr>,
}

impl<'a> Lowering<'a> {
    fn open(&mut self, kind: ScopeKind, unit: Option<Local>) -> usize {
        let parent = (!self.outline.scopes.is_empty()).then_some(self.scope);
        self.outline.scopes.push(Scope {
            kind,
            parent,
            unit,
            names: HashMap::new(),
            stars: Vec::new(),
            globals: Vec::new(),
            nonlocals: Vec::new(),
        });
        self.scope = self.outline.scopes.len() - 1;
        self.scope
    }

    /// Runs `inside` in a new scope and comes back.
    pub(crate) fn within(
        &mut self,
        kind: ScopeKind,
        unit: Option<Local>,
        inside: impl FnOnce(&mut Self),
    ) {
        let (scope, outer) = (self.scope, self.unit);
        self.open(kind, unit);
        if unit.is_some() {
            self.unit = unit;
        }
        inside(self);
        (self.scope, self.unit) = (scope, outer);
    }

    pub(crate) fn bind(&mut self, name: &str, binding: Binding) {
        let scope = &self.outline.scopes[self.scope];
        let target = if scope.globals.iter().any(|n| n == name) {
            0
        } else if scope.nonlocals.iter().any(|n| n == name) {
            return;
        } else {
            self.scope
        };
        let bindings = self.outline.scopes[target]
            .names
            .entry(name.to_owned())
            .or_default();
        if !bindings.contains(&binding) {
            bindings.push(binding);
        }
    }

    fn line_of(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= offset)
    }

    /// The start of the line, if only white space stands before `offset` on it.
    fn line_start(&self, offset: usize) -> usize {
        let start = self.line_starts[self.line_of(offset) - 1];
        let blank = self.text[start..offset].chars().all(char::is_whitespace);
        if blank { start } else { offset }
    }

    fn add_unit(
        &mut self,
        kind: UnitKind,
        name: &str,
        range: std::ops::Range<usize>,
        signature: String,
        docstring: Option<String>,
    ) -> Local {
        let parent = self.unit.map(|p| &self.outline.units[p]);
        let qualname = match parent {
            Some(parent) => format!("{}.{name}", parent.qualname),
            None => name.to_owned(),
        };
        let parent = parent.map(|p| p.id.clone());
        let count = self.seen.entry(qualname.clone()).or_insert(0);
        *count += 1;
        let id = match *count {
            1 => format!("{qualname}@{}", self.path),
            n => format!("{qualname}@{}#{n}", self.path),
        };
        self.outline.units.push(Unit {
            id: UnitId(id),
            kind,
            name: name.to_owned(),
            qualname,
            path: self.path.clone(),
            start_line: self.line_of(range.start),
            end_line: self.line_of(range.end.saturating_sub(1).max(range.start)),
            start_byte: range.start,
            end_byte: range.end,
            signature,
            docstring,
            source: dedent(&self.text[range]),
            parent,
        });
        self.outline.parents.push(self.unit);
        self.outline.units.len() - 1
    }

    pub(crate) fn statements(&mut self, body: &[Stmt]) {
        // `global` and `nonlocal` hold for the whole body, wherever they stand in it.
        for statement in body {
            match statement {
                Stmt::Global(s) => {
                    let names = s.names.iter().map(|n| n.to_string());
                    self.outline.scopes[self.scope].globals.extend(names);
                }
                Stmt::Nonlocal(s) => {
                    let names = s.names.iter().map(|n| n.to_string());
                    self.outline.scopes[self.scope].nonlocals.extend(names);
                }
                _ => {}
            }
        }
        for statement in body {
            self.statement(statement);
        }
    }

    fn at_module(&self) -> bool {
        self.outline.scopes[self.scope].kind == ScopeKind::Module
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::FunctionDef(s) => self.function(&Function {
                range: span(s),
                name: &s.name,
                args: &s.args,
                body: &s.body,
                decorators: &s.decorator_list,
                returns: s.returns.as_deref(),
            }),
            Stmt::AsyncFunctionDef(s) => self.function(&Function {
                range: span(s),
                name: &s.name,
                args: &s.args,
                body: &s.body,
                decorators: &s.decorator_list,
                returns: s.returns.as_deref(),
            }),
            Stmt::ClassDef(s) => self.class(s),
            Stmt::Import(s) => {
                self.note_import(span(s));
                for alias in &s.names {
                    let parts: Vec<String> = alias.name.split('.').map(str::to_owned).collect();
                    match &alias.asname {
                        Some(asname) => {
                            let module = ModuleName { level: 0, parts };
                            self.bind(asname, Binding::Module(module));
                        }
                        None => {
                            let first = parts[0].clone();
                            let module = ModuleName {
                                level: 0,
                                parts: vec![first.clone()],
                            };
                            self.bind(&first, Binding::Module(module));
                            if parts.len() > 1 {
                                // Remembered for `imported_files`; no name can hold a dot.
                                let whole = ModuleName { level: 0, parts };
                                self.bind(&alias.name, Binding::Module(whole));
                            }
                        }
                    }
                }
            }
            Stmt::ImportFrom(s) => {
                self.note_import(span(s));
                let module = ModuleName {
                    level: s.level.as_ref().map_or(0, ast::Int::to_usize),
                    parts: s
                        .module
                        .as_ref()
                        .map(|m| m.split('.').map(str::to_owned).collect())
                        .unwrap_or_default(),
                };
                for alias in &s.names {
                    if alias.name.as_str() == "*" {
                        self.outline.scopes[self.scope].stars.push(module.clone());
                    } else {
                        let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                        let member = Binding::Member(module.clone(), alias.name.to_string());
                        self.bind(bound, member);
                    }
                }
            }
            Stmt::Assign(s) => self.assignment(span(s), &s.targets, Some(&s.value), None),
            Stmt::AnnAssign(s) => self.assignment(
                span(s),
                std::slice::from_ref(&s.target),
                s.value.as_deref(),
                Some(&s.annotation),
            ),
            Stmt::AugAssign(s) => {
                self.assignment(
                    span(s),
                    std::slice::from_ref(&s.target),
                    Some(&s.value),
                    None,
                );
            }
            Stmt::TypeAlias(s) => {
                self.assignment(span(s), std::slice::from_ref(&s.name), Some(&s.value), None);
            }
            Stmt::Return(s) => self.expressions(s.value.as_deref(), EdgeKind::Read),
            Stmt::Delete(s) => self.expressions(&s.targets, EdgeKind::Read),
            Stmt::For(s) => self.looping(&s.target, &s.iter, &s.body, &s.orelse),
            Stmt::AsyncFor(s) => self.looping(&s.target, &s.iter, &s.body, &s.orelse),
            Stmt::While(s) => {
                self.expression(&s.test, EdgeKind::Read);
                self.statements(&s.body);
                self.statements(&s.orelse);
            }
            Stmt::If(s) => {
                self.expression(&s.test, EdgeKind::Read);
                self.statements(&s.body);
                self.statements(&s.orelse);
            }
            Stmt::With(s) => self.with(&s.items, &s.body),
            Stmt::AsyncWith(s) => self.with(&s.items, &s.body),
            Stmt::Match(s) => {
                self.expression(&s.subject, EdgeKind::Read);
                for case in &s.cases {
                    self.pattern(&case.pattern);
                    self.expressions(case.guard.as_deref(), EdgeKind::Read);
                    self.statements(&case.body);
                }
            }
            Stmt::Raise(s) => {
                self.expressions(s.exc.as_deref(), EdgeKind::Raise);
                self.expressions(s.cause.as_deref(), EdgeKind::Read);
            }
            Stmt::Try(s) => self.attempt(&s.body, &s.handlers, &s.orelse, &s.finalbody),
            Stmt::TryStar(s) => self.attempt(&s.body, &s.handlers, &s.orelse, &s.finalbody),
            Stmt::Assert(s) => {
                self.expression(&s.test, EdgeKind::Read);
                self.expressions(s.msg.as_deref(), EdgeKind::Read);
            }
            Stmt::Expr(s) => self.expression(&s.value, EdgeKind::Read),
            Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_) => {}
        }
    }

    fn note_import(&mut self, range: std::ops::Range<usize>) {
        if self.at_module() {
            let text = self.text[range].to_owned();
            self.outline.import_statements.push(text);
        }
    }

    fn looping(&mut self, target: &ast::Expr, iter: &ast::Expr, body: &[Stmt], orelse: &[Stmt]) {
        self.target(target);
        self.expression(iter, EdgeKind::Read);
        self.statements(body);
        self.statements(orelse);
    }

    fn with(&mut self, items: &[ast::WithItem], body: &[Stmt]) {
        for item in items {
            self.expression(&item.context_expr, EdgeKind::Read);
            if let Some(target) = &item.optional_vars {
                self.target(target);
            }
        }
        self.statements(body);
    }

    fn attempt(
        &mut self,
        body: &[Stmt],
        handlers: &[ast::ExceptHandler],
        orelse: &[Stmt],
        finalbody: &[Stmt],
    ) {
        self.statements(body);
        for ast::ExceptHandler::ExceptHandler(handler) in handlers {
            self.expressions(handler.type_.as_deref(), EdgeKind::Raise);
            if let Some(name) = &handler.name {
                self.bind(name, Binding::Value);
            }
            self.statements(&handler.body);
        }
        self.statements(orelse);
        self.statements(finalbody);
    }

    /// Module-level assignments to names make variable units; all others only bind.
    fn assignment(
        &mut self,
        range: std::ops::Range<usize>,
        targets: &[ast::Expr],
        value: Option<&ast::Expr>,
        annotation: Option<&ast::Expr>,
    ) {
        let outer = self.unit;
        if self.at_module() {
            let mut names = Vec::new();
            for target in targets {
                plain_names(target, &mut names);
            }
            for name in names {
                if name == "__all__" {
                    self.outline.exported = value.and_then(string_list);
                }
                let existing = self.outline.scopes[self.scope]
                    .names
                    .get(&name)
                    .and_then(|all| {
                        all.iter().find_map(|b| match b {
                            Binding::Unit(unit) => Some(*unit),
                            _ => None,
                        })
                    });
                let unit = existing.unwrap_or_else(|| {
                    self.add_unit(
                        UnitKind::Variable,
                        &name,
                        range.clone(),
                        String::new(),
                        None,
                    )
                });
                self.bind(&name, Binding::Unit(unit));
                self.unit = Some(unit);
            }
        }
        for target in targets {
            self.target(target);
        }
        self.expressions(annotation, EdgeKind::Annotate);
        self.expressions(value, EdgeKind::Read);
        self.unit = outer;
    }

    /// Where the text of a definition begins (its first decorator) and its header.
    fn definition(
        &self,
        range: &std::ops::Range<usize>,
        decorators: &[ast::Expr],
    ) -> (usize, String) {
        let first = decorators
            .iter()
            .map(|d| span(d).start)
            .chain([range.start])
            .min()
            .unwrap_or(range.start);
        // A decorator's expression begins behind its `@`.
        let before = &self.text[..first];
        let start = match before.trim_end_matches([' ', '\t']).strip_suffix('@') {
            Some(rest) if !decorators.is_empty() => rest.len(),
            _ => first,
        };
        let from = decorators.last().map_or(range.start, |d| span(d).end);
        let mut at = from;
        for line in self.text[from..range.end].split_inclusive('\n') {
            let word = line.trim_start();
            if ["def", "async", "class"]
                .iter()
                .any(|k| word.starts_with(k))
            {
                at += line.len() - word.len();
                break;
            }
            at += line.len();
        }
        (self.line_start(start), header(self.text, at))
    }

    fn function(&mut self, f: &Function) {
        let in_class = self.outline.scopes[self.scope].kind == ScopeKind::Class;
        let class = self.outline.scopes[self.scope].unit.filter(|_| in_class);
        let kind = if in_class {
            UnitKind::Method
        } else {
            UnitKind::Function
        };
        let (start, signature) = self.definition(&f.range, f.decorators);
        let docstring = docstring(f.body);
        let unit = self.add_unit(kind, f.name, start..f.range.end, signature, docstring);
        self.bind(f.name, Binding::Unit(unit));

        // Decorators, defaults and annotations are evaluated outside but belong to the function.
        let outer = self.unit.replace(unit);
        self.expressions(f.decorators, EdgeKind::Decorate);
        for argument in all_arguments(f.args) {
            self.expressions(argument.annotation.as_deref(), EdgeKind::Annotate);
        }
        for default in f.args.defaults() {
            self.expression(default, EdgeKind::Read);
        }
        for (_, default) in f.args.split_kwonlyargs().1 {
            self.expression(default, EdgeKind::Read);
        }
        self.expressions(f.returns, EdgeKind::Annotate);
        self.unit = outer;

        let is_static = f
            .decorators
            .iter()
            .any(|d| matches!(d, ast::Expr::Name(name) if name.id.as_str() == "staticmethod"));
        self.within(ScopeKind::Function, Some(unit), |inside| {
            let mut arguments = all_arguments(f.args);
            if let (Some(class), false) = (class, is_static) {
                let positional = f.args.posonlyargs.first().or(f.args.args.first());
                if let Some(first) = positional {
                    inside.bind(&first.def.arg, Binding::Instance(class));
                    arguments.retain(|a| a.arg != first.def.arg);
                }
            }
            for argument in arguments {
                inside.bind(&argument.arg, Binding::Value);
            }
            inside.statements(f.body);
        });
    }

    fn class(&mut self, s: &ast::StmtClassDef) {
        let range = span(s);
        let (start, signature) = self.definition(&range, &s.decorator_list);
        let docstring = docstring(&s.body);
        let unit = self.add_unit(
            UnitKind::Class,
            &s.name,
            start..range.end,
            signature,
            docstring,
        );
        self.bind(&s.name, Binding::Unit(unit));
        let outer = self.unit.replace(unit);
        self.expressions(&s.decorator_list, EdgeKind::Decorate);
        let bases: Vec<Use> = s
            .bases
            .iter()
            .filter_map(|base| self.chain(base, EdgeKind::Inherit))
            .collect();
        self.outline.bases.insert(unit, bases);
        self.expressions(&s.bases, EdgeKind::Inherit);
        for keyword in &s.keywords {
            self.expression(&keyword.value, EdgeKind::Read);
        }
        self.unit = outer;
        self.within(ScopeKind::Class, Some(unit), |inside| {
            inside.statements(&s.body);
        });
    }
}

fn span(node: &impl Ranged) -> std::ops::Range<usize> {
    node.start().to_usize()..node.end().to_usize()
}

fn docstring(body: &[Stmt]) -> Option<String> {
    match body.first() {
        Some(Stmt::Expr(s)) => match &*s.value {
            ast::Expr::Constant(c) => c.value.as_str().map(|s| clean_docstring(s)),
            _ => None,
        },
        _ => None,
    }
}

pub(crate) fn all_arguments(args: &ast::Arguments) -> Vec<&ast::Arg> {
    args.posonlyargs
        .iter()
        .chain(&args.args)
        .chain(&args.kwonlyargs)
        .map(|a| &a.def)
        .chain(args.vararg.as_deref())
        .chain(args.kwarg.as_deref())
        .collect()
}

fn plain_names(target: &ast::Expr, names: &mut Vec<String>) {
    match target {
        ast::Expr::Name(name) => names.push(name.id.to_string()),
        ast::Expr::Tuple(t) => t.elts.iter().for_each(|e| plain_names(e, names)),
        ast::Expr::List(l) => l.elts.iter().for_each(|e| plain_names(e, names)),
        ast::Expr::Starred(s) => plain_names(&s.value, names),
        _ => {}
    }
}

fn string_list(value: &ast::Expr) -> Option<Vec<String>> {
    let items = match value {
        ast::Expr::List(list) => &list.elts,
        ast::Expr::Tuple(tuple) => &tuple.elts,
        _ => return None,
    };
    items
        .iter()
        .map(|item| match item {
            ast::Expr::Constant(c) => c.value.as_str().cloned(),
            _ => None,
        })
        .collect()
}
