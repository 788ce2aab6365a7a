//! Every class and function of a file, in the order of Python's `ast.walk`.
//!
//! That order is by depth in Python's tree, where an `elif` is an `if` inside the `else` branch of
//! the one before it, and a handler or a `case` is a level of its own.

use std::collections::VecDeque;

use ruff_python_ast::{ExceptHandler, MatchCase, Stmt, StmtClassDef, StmtFunctionDef, StmtIf};
use rustc_hash::FxHashMap;

/// What holds a statement directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    Module,
    Class,
    Function,
    /// `if`, `try`, `with`, a loop, ...
    Block,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Node<'a> {
    Function(&'a StmtFunctionDef),
    Class(&'a StmtClassDef),
}

impl<'a> Node<'a> {
    pub fn name(self) -> &'a str {
        match self {
            Self::Function(function) => &function.name,
            Self::Class(class) => &class.name,
        }
    }
}

#[derive(Debug)]
pub(super) struct Definition<'a> {
    pub node: Node<'a>,
    pub holder: Holder,
    /// The class or function around it, at any distance.
    pub around: Option<usize>,
}

/// All definitions, and the first of each name for each question that the indexer asks.
#[derive(Debug, Default)]
pub(super) struct Definitions<'a> {
    pub all: Vec<Definition<'a>>,
    any: FxHashMap<&'a str, usize>,
    functions: FxHashMap<&'a str, usize>,
    inner: FxHashMap<&'a str, usize>,
    methods: FxHashMap<&'a str, usize>,
    classes: FxHashMap<&'a str, usize>,
}

enum Step<'a> {
    Stmt(&'a Stmt),
    Handler(&'a ExceptHandler),
    Elif(&'a StmtIf, usize),
    Case(&'a MatchCase),
}

type Queue<'a> = VecDeque<(Step<'a>, Holder, Option<usize>)>;

impl<'a> Definitions<'a> {
    pub fn new(module: &'a [Stmt]) -> Self {
        let mut made = Self::default();
        let mut queue = Queue::new();
        push(&mut queue, module, Holder::Module, None);
        while let Some((step, holder, around)) = queue.pop_front() {
            match step {
                Step::Stmt(Stmt::FunctionDef(function)) => {
                    let at = made.add(Node::Function(function), holder, around);
                    push(&mut queue, &function.body, Holder::Function, Some(at));
                }
                Step::Stmt(Stmt::ClassDef(class)) => {
                    let at = made.add(Node::Class(class), holder, around);
                    push(&mut queue, &class.body, Holder::Class, Some(at));
                }
                Step::Stmt(stmt) => push_blocks(&mut queue, stmt, around),
                Step::Handler(ExceptHandler::ExceptHandler(handler)) => {
                    push(&mut queue, &handler.body, Holder::Block, around);
                }
                Step::Elif(stmt, clause) => {
                    if let Some(elif) = stmt.elif_else_clauses.get(clause) {
                        push(&mut queue, &elif.body, Holder::Block, around);
                    }
                    push_else(&mut queue, stmt, clause + 1, around);
                }
                Step::Case(case) => push(&mut queue, &case.body, Holder::Block, around),
            }
        }
        made
    }

    fn add(&mut self, node: Node<'a>, holder: Holder, around: Option<usize>) -> usize {
        let at = self.all.len();
        let name = node.name();
        self.any.entry(name).or_insert(at);
        if matches!(node, Node::Function(_)) {
            self.functions.entry(name).or_insert(at);
        }
        let narrower = match (node, holder) {
            (Node::Function(_), Holder::Function) => Some(&mut self.inner),
            (Node::Function(_), Holder::Class) => Some(&mut self.methods),
            (Node::Class(_), Holder::Module) => Some(&mut self.classes),
            _ => None,
        };
        if let Some(firsts) = narrower {
            firsts.entry(name).or_insert(at);
        }
        self.all.push(Definition {
            node,
            holder,
            around,
        });
        at
    }

    /// The first function of a name, methods and inner functions included.
    pub fn first_function(&self, name: &str) -> Option<usize> {
        self.functions.get(name).copied()
    }

    /// The first function of a name that stands directly in a function.
    pub fn first_inner(&self, name: &str) -> Option<usize> {
        self.inner.get(name).copied()
    }

    /// The first function of a name that stands directly in a class, whichever that is.
    pub fn first_method(&self, name: &str) -> Option<usize> {
        self.methods.get(name).copied()
    }

    /// The first class of a name at the module's level.
    pub fn first_class(&self, name: &str) -> Option<usize> {
        self.classes.get(name).copied()
    }

    /// The names of the classes and functions around the first class or function of a name.
    pub fn around_first(&self, name: &str) -> Vec<String> {
        let mut names = Vec::new();
        let mut at = self.any.get(name).and_then(|&at| self.all[at].around);
        while let Some(outer) = at {
            names.push(self.all[outer].node.name().to_owned());
            at = self.all[outer].around;
        }
        names
    }

    /// The name of the nearest function around a definition, classes between them or not.
    pub fn function_around(&self, definition: &Definition<'a>) -> Option<&'a str> {
        let mut at = definition.around;
        while let Some(outer) = at {
            if let Node::Function(function) = self.all[outer].node {
                return Some(&function.name);
            }
            at = self.all[outer].around;
        }
        None
    }
}

fn push<'a>(queue: &mut Queue<'a>, body: &'a [Stmt], holder: Holder, around: Option<usize>) {
    queue.extend(body.iter().map(|stmt| (Step::Stmt(stmt), holder, around)));
}

/// What follows the condition's first branch, or the `elif` before `clause`.
fn push_else<'a>(queue: &mut Queue<'a>, stmt: &'a StmtIf, clause: usize, around: Option<usize>) {
    match stmt.elif_else_clauses.get(clause) {
        Some(elif) if elif.test.is_some() => {
            queue.push_back((Step::Elif(stmt, clause), Holder::Block, around));
        }
        Some(last) => push(queue, &last.body, Holder::Block, around),
        None => {}
    }
}

fn push_blocks<'a>(queue: &mut Queue<'a>, stmt: &'a Stmt, around: Option<usize>) {
    let block = Holder::Block;
    match stmt {
        Stmt::If(stmt) => {
            push(queue, &stmt.body, block, around);
            push_else(queue, stmt, 0, around);
        }
        Stmt::For(stmt) => {
            push(queue, &stmt.body, block, around);
            push(queue, &stmt.orelse, block, around);
        }
        Stmt::While(stmt) => {
            push(queue, &stmt.body, block, around);
            push(queue, &stmt.orelse, block, around);
        }
        Stmt::With(stmt) => push(queue, &stmt.body, block, around),
        Stmt::Try(stmt) => {
            push(queue, &stmt.body, block, around);
            let handlers = stmt.handlers.iter();
            queue.extend(handlers.map(|handler| (Step::Handler(handler), block, around)));
            push(queue, &stmt.orelse, block, around);
            push(queue, &stmt.finalbody, block, around);
        }
        Stmt::Match(stmt) => {
            let cases = stmt.cases.iter();
            queue.extend(cases.map(|case| (Step::Case(case), block, around)));
        }
        _ => {}
    }
}
