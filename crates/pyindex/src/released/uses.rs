//! The names that a definition uses, met in the order of Python's `ast.NodeVisitor`.
//!
//! The order matters: a name counts as local from the first plain assignment that the visitor
//! meets, and that visitor sees a body before its decorators and the annotation of its result.

use indexmap::IndexSet;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Pattern, Stmt, StmtClassDef, StmtFunctionDef};
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::names::{is_builtin, is_receiver};

/// Recursion over a tree asks for this much stack before each step.
const RED_ZONE: usize = 64 << 10;
/// And gets this much where less is left.
const GROWTH: usize = 4 << 20;

/// One use of a name; the name is looked up by rules of its own for each case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// A bare name that is read.
    Name(String),
    /// The name at the root of an attribute: `a` of `a.b.c`.
    Root(String),
    /// `a` of a call `a.b()` inside a class.
    Receiver(String),
}

/// What a function uses. Only its positional-or-keyword parameters are local from the start.
pub(super) fn of_function(function: &StmtFunctionDef) -> Vec<Use> {
    let mut uses = Uses::default();
    for parameter in &function.parameters.args {
        uses.local.insert(parameter.parameter.name.as_str());
    }
    uses.function(function);
    uses.finish()
}

/// What a class uses, its methods included; their parameters aren't local.
pub(super) fn of_class(class: &StmtClassDef) -> Vec<Use> {
    let mut uses = Uses {
        in_class: true,
        ..Uses::default()
    };
    uses.class(class);
    uses.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Name,
    Root,
    Receiver,
}

#[derive(Default)]
struct Uses<'a> {
    found: IndexSet<(Kind, &'a str), FxBuildHasher>,
    local: FxHashSet<&'a str>,
    in_class: bool,
}

impl<'a> Uses<'a> {
    fn finish(self) -> Vec<Use> {
        let owned = |(kind, name): (Kind, &str)| match kind {
            Kind::Name => Use::Name(name.to_owned()),
            Kind::Root => Use::Root(name.to_owned()),
            Kind::Receiver => Use::Receiver(name.to_owned()),
        };
        self.found.into_iter().map(owned).collect()
    }

    fn function(&mut self, function: &'a StmtFunctionDef) {
        self.visit_parameters(&function.parameters);
        self.visit_body(&function.body);
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        if let Some(returns) = &function.returns {
            self.visit_annotation(returns);
        }
        if let Some(parameters) = &function.type_params {
            self.visit_type_params(parameters);
        }
    }

    fn class(&mut self, class: &'a StmtClassDef) {
        if let Some(arguments) = &class.arguments {
            self.visit_arguments(arguments);
        }
        self.visit_body(&class.body);
        for decorator in &class.decorator_list {
            self.visit_decorator(decorator);
        }
        if let Some(parameters) = &class.type_params {
            self.visit_type_params(parameters);
        }
    }

    fn add(&mut self, kind: Kind, name: &'a str) {
        let passed_over = match kind {
            Kind::Name => is_builtin(name) || is_receiver(name),
            Kind::Root => is_receiver(name),
            Kind::Receiver => !self.in_class,
        };
        if !passed_over && !self.local.contains(name) {
            self.found.insert((kind, name));
        }
    }

    fn note(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx.is_load() => self.add(Kind::Name, &name.id),
            Expr::Attribute(attribute) => {
                if let Expr::Name(root) = &*attribute.value {
                    self.add(Kind::Root, &root.id);
                }
            }
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && let Expr::Name(receiver) = &*method.value
                {
                    self.add(Kind::Receiver, &receiver.id);
                }
            }
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        stacker::maybe_grow(RED_ZONE, GROWTH, || match stmt {
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            _ => {
                if let Stmt::Assign(assign) = stmt {
                    let names = assign.targets.iter().filter_map(Expr::as_name_expr);
                    self.local.extend(names.map(|name| name.id.as_str()));
                }
                visitor::walk_stmt(self, stmt);
            }
        });
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.note(expr);
        stacker::maybe_grow(RED_ZONE, GROWTH, || visitor::walk_expr(self, expr));
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        stacker::maybe_grow(RED_ZONE, GROWTH, || visitor::walk_pattern(self, pattern));
    }
}
