//! Statements.

use ruff_python_ast::{self as ruff, AtomicNodeIndex, Expr, Stmt, Suite};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustpython_parser::ast;

use super::definitions::plain_function;
use super::expressions::operator;
use super::tokens::Kind;
use super::{RED_ZONE, STACK, Translation, name};

impl Translation<'_> {
    pub(super) fn suite(&self, body: Vec<ast::Stmt>) -> Suite {
        body.into_iter().map(|s| self.statement(s)).collect()
    }

    fn statement(&self, node: ast::Stmt) -> Stmt {
        stacker::maybe_grow(RED_ZONE, STACK, || self.any_statement(node))
    }

    fn any_statement(&self, node: ast::Stmt) -> Stmt {
        match node {
            ast::Stmt::FunctionDef(s) => self.function(s, false),
            ast::Stmt::AsyncFunctionDef(s) => self.function(plain_function(s), true),
            ast::Stmt::ClassDef(s) => self.class(s),
            ast::Stmt::For(s) => self.looping(s, false),
            ast::Stmt::AsyncFor(s) => self.looping(plain_loop(s), true),
            ast::Stmt::With(s) => self.with(s, false),
            ast::Stmt::AsyncWith(s) => self.with(plain_with(s), true),
            ast::Stmt::Try(s) => self.attempt(s, false),
            ast::Stmt::TryStar(s) => self.attempt(plain_try(s), true),
            ast::Stmt::If(s) => self.conditional(s),
            ast::Stmt::While(s) => Stmt::While(ruff::StmtWhile {
                node_index: AtomicNodeIndex::NONE,
                range: self.range(s.range),
                test: self.boxed(*s.test),
                body: self.suite(s.body),
                orelse: self.suite(s.orelse),
            }),
            ast::Stmt::Match(s) => self.matching(s),
            ast::Stmt::Assign(s) => self.assign(s),
            ast::Stmt::AugAssign(s) => self.aug_assign(s),
            ast::Stmt::AnnAssign(s) => self.ann_assign(s),
            ast::Stmt::TypeAlias(s) => self.type_alias(s),
            ast::Stmt::Import(s) => self.import(s),
            ast::Stmt::ImportFrom(s) => self.import_from(s),
            ast::Stmt::Global(s) => self.global(s),
            ast::Stmt::Nonlocal(s) => self.nonlocal(s),
            ast::Stmt::Return(s) => self.returning(s),
            ast::Stmt::Delete(s) => self.delete(s),
            ast::Stmt::Raise(s) => self.raise(s),
            ast::Stmt::Assert(s) => self.assertion(s),
            ast::Stmt::Expr(s) => self.expression_statement(s),
            ast::Stmt::Pass(s) => self.pass(s),
            ast::Stmt::Break(s) => self.break_(s),
            ast::Stmt::Continue(s) => self.continue_(s),
        }
    }

    fn returning(&self, s: ast::StmtReturn) -> Stmt {
        Stmt::Return(ruff::StmtReturn {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            value: self.optional(s.value),
        })
    }

    fn delete(&self, s: ast::StmtDelete) -> Stmt {
        Stmt::Delete(ruff::StmtDelete {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            targets: self.expressions(s.targets),
        })
    }

    fn raise(&self, s: ast::StmtRaise) -> Stmt {
        Stmt::Raise(ruff::StmtRaise {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            exc: self.optional(s.exc),
            cause: self.optional(s.cause),
        })
    }

    fn assertion(&self, s: ast::StmtAssert) -> Stmt {
        Stmt::Assert(ruff::StmtAssert {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            test: self.boxed(*s.test),
            msg: self.optional(s.msg),
        })
    }

    fn expression_statement(&self, s: ast::StmtExpr) -> Stmt {
        Stmt::Expr(ruff::StmtExpr {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            value: self.boxed(*s.value),
        })
    }

    fn pass(&self, s: ast::StmtPass) -> Stmt {
        Stmt::Pass(ruff::StmtPass {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
        })
    }

    fn break_(&self, s: ast::StmtBreak) -> Stmt {
        Stmt::Break(ruff::StmtBreak {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
        })
    }

    fn continue_(&self, s: ast::StmtContinue) -> Stmt {
        Stmt::Continue(ruff::StmtContinue {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
        })
    }

    fn assign(&self, s: ast::StmtAssign) -> Stmt {
        Stmt::Assign(ruff::StmtAssign {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            targets: self.expressions(s.targets),
            value: self.boxed(*s.value),
        })
    }

    fn aug_assign(&self, s: ast::StmtAugAssign) -> Stmt {
        Stmt::AugAssign(ruff::StmtAugAssign {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            target: self.boxed(*s.target),
            op: operator(s.op),
            value: self.boxed(*s.value),
        })
    }

    fn ann_assign(&self, s: ast::StmtAnnAssign) -> Stmt {
        let range = self.range(s.range);
        let target = self.boxed(*s.target);
        Stmt::AnnAssign(ruff::StmtAnnAssign {
            node_index: AtomicNodeIndex::NONE,
            range,
            // A name in brackets is not simple; rustpython says that it is.
            simple: s.simple && target.start() == range.start(),
            target,
            annotation: self.boxed(*s.annotation),
            value: self.optional(s.value),
        })
    }

    fn type_alias(&self, s: ast::StmtTypeAlias) -> Stmt {
        let alias = self.boxed(*s.name);
        let brackets = self.tokens.pair_after(alias.end());
        Stmt::TypeAlias(ruff::StmtTypeAlias {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            type_params: self.type_params(s.type_params, brackets),
            name: alias,
            value: self.boxed(*s.value),
        })
    }

    fn import(&self, s: ast::StmtImport) -> Stmt {
        Stmt::Import(ruff::StmtImport {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            names: s.names.into_iter().map(|a| self.alias(a)).collect(),
            is_lazy: false,
        })
    }

    fn import_from(&self, s: ast::StmtImportFrom) -> Stmt {
        let range = self.range(s.range);
        Stmt::ImportFrom(ruff::StmtImportFrom {
            node_index: AtomicNodeIndex::NONE,
            range,
            module: s.module.map(|module| self.module(module, range)),
            names: s.names.into_iter().map(|a| self.alias(a)).collect(),
            level: s.level.map_or(0, |level| level.to_u32()),
            is_lazy: false,
        })
    }

    fn global(&self, s: ast::StmtGlobal) -> Stmt {
        let range = self.range(s.range);
        Stmt::Global(ruff::StmtGlobal {
            node_index: AtomicNodeIndex::NONE,
            range,
            names: self.names(s.names, range),
        })
    }

    fn nonlocal(&self, s: ast::StmtNonlocal) -> Stmt {
        let range = self.range(s.range);
        Stmt::Nonlocal(ruff::StmtNonlocal {
            node_index: AtomicNodeIndex::NONE,
            range,
            names: self.names(s.names, range),
        })
    }

    fn alias(&self, node: ast::Alias) -> ruff::Alias {
        let range = self.range(node.range);
        let word = node
            .asname
            .as_ref()
            .and_then(|_| self.tokens.after(range.start(), Kind::As));
        let end = match word.and_then(|word| self.tokens.last_before(word.start())) {
            Some((_, last)) => last.end(),
            None => range.end(),
        };
        ruff::Alias {
            range,
            node_index: AtomicNodeIndex::NONE,
            name: ruff::Identifier::new(name(node.name), TextRange::new(range.start(), end)),
            asname: node.asname.map(|id| self.identifier_ending(id, range)),
        }
    }

    /// The module of a `from` statement: from its first name to `import`.
    fn module(&self, id: ast::Identifier, statement: TextRange) -> ruff::Identifier {
        let first = self.tokens.after(statement.start(), Kind::Name);
        let import = self.tokens.after(statement.start(), Kind::Import);
        let last = import.and_then(|word| self.tokens.last_before(word.start()));
        let place = match (first, last) {
            (Some(first), Some((_, last))) => first.cover(last),
            _ => statement,
        };
        ruff::Identifier::new(name(id), place)
    }

    fn names(&self, ids: Vec<ast::Identifier>, statement: TextRange) -> Vec<ruff::Identifier> {
        let mut from = statement.start();
        let next = |id| {
            let place = self.tokens.after(from, Kind::Name).unwrap_or(statement);
            from = place.end();
            ruff::Identifier::new(name(id), place)
        };
        ids.into_iter().map(next).collect()
    }

    fn looping(&self, s: ast::StmtFor, is_async: bool) -> Stmt {
        Stmt::For(ruff::StmtFor {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            is_async,
            target: self.boxed(*s.target),
            iter: self.boxed(*s.iter),
            body: self.suite(s.body),
            orelse: self.suite(s.orelse),
        })
    }

    fn with(&self, s: ast::StmtWith, is_async: bool) -> Stmt {
        Stmt::With(ruff::StmtWith {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            is_async,
            items: self.with_items(s.items),
            body: self.suite(s.body),
        })
    }

    fn with_items(&self, nodes: Vec<ast::WithItem>) -> Vec<ruff::WithItem> {
        let mut items: Vec<_> = nodes.into_iter().map(|n| self.with_item(n)).collect();
        // Brackets around the only item belong to the statement, unless it cannot do without.
        if let [only] = items.as_mut_slice()
            && only.optional_vars.is_none()
            && !matches!(
                only.context_expr,
                Expr::Named(_) | Expr::Yield(_) | Expr::YieldFrom(_)
            )
        {
            only.range = only.context_expr.range();
        }
        items
    }

    fn with_item(&self, node: ast::WithItem) -> ruff::WithItem {
        let context_expr = self.expression(node.context_expr);
        let optional_vars = self.optional(node.optional_vars);
        let mut range = self.with_brackets(context_expr.range());
        if let Some(vars) = &optional_vars {
            range = range.cover(self.with_brackets(vars.range()));
        }
        ruff::WithItem {
            range,
            node_index: AtomicNodeIndex::NONE,
            context_expr,
            optional_vars,
        }
    }

    fn attempt(&self, s: ast::StmtTry, is_star: bool) -> Stmt {
        Stmt::Try(ruff::StmtTry {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            body: self.suite(s.body),
            handlers: s.handlers.into_iter().map(|h| self.handler(h)).collect(),
            orelse: self.suite(s.orelse),
            finalbody: self.suite(s.finalbody),
            is_star,
        })
    }

    fn handler(&self, node: ast::ExceptHandler) -> ruff::ExceptHandler {
        let ast::ExceptHandler::ExceptHandler(node) = node;
        let range = self.range(node.range);
        let type_ = self.optional(node.type_);
        let from = type_.as_ref().map_or(range.start(), |t| t.end());
        let name = node.name.map(|id| {
            let word = self.tokens.after(from, Kind::As);
            let place = word.and_then(|word| self.tokens.after(word.end(), Kind::Name));
            ruff::Identifier::new(name(id), place.unwrap_or(range))
        });
        ruff::ExceptHandler::ExceptHandler(ruff::ExceptHandlerExceptHandler {
            range,
            node_index: AtomicNodeIndex::NONE,
            type_,
            name,
            body: self.suite(node.body),
        })
    }

    /// An `if` with its chain: rustpython puts each `elif` alone into the `else` before it.
    fn conditional(&self, s: ast::StmtIf) -> Stmt {
        let test = self.boxed(*s.test);
        let body = self.suite(s.body);
        let mut rest = s.orelse;
        let mut clauses = Vec::new();
        while let Some(elif) = self.take_elif(&mut rest) {
            let start = self.range(elif.range).start();
            let test = Some(self.expression(*elif.test));
            clauses.push(clause(start, test, self.suite(elif.body)));
            rest = elif.orelse;
        }
        let orelse = self.suite(rest);
        if let Some(first) = orelse.first() {
            let word = self.tokens.before(first.start(), Kind::Else);
            let start = word.map_or(first.start(), |word| word.start());
            clauses.push(clause(start, None, orelse));
        }
        Stmt::If(ruff::StmtIf {
            node_index: AtomicNodeIndex::NONE,
            range: self.range(s.range),
            test,
            body,
            elif_else_clauses: clauses,
        })
    }

    fn take_elif(&self, orelse: &mut Vec<ast::Stmt>) -> Option<ast::StmtIf> {
        let [ast::Stmt::If(only)] = orelse.as_slice() else {
            return None;
        };
        let start = self.range(only.range).start();
        if !self.tokens.is(start, Kind::Elif) {
            return None;
        }
        match orelse.pop() {
            Some(ast::Stmt::If(elif)) => Some(elif),
            _ => None,
        }
    }

    fn matching(&self, s: ast::StmtMatch) -> Stmt {
        let range = self.range(s.range);
        let subject = self.expression(*s.subject);
        let cases: Vec<_> = s.cases.into_iter().map(|c| self.case(c)).collect();
        let end = cases.first().map_or(range.end(), |c| c.range.start());
        Stmt::Match(ruff::StmtMatch {
            node_index: AtomicNodeIndex::NONE,
            range,
            subject: Box::new(self.subject(subject, range, end)),
            cases,
        })
    }

    /// The subject of a `match` whose first case begins at `case`: rustpython gives a bare tuple
    /// the place of the whole statement, and forgets that `match x,:` makes one at all.
    fn subject(&self, subject: Expr, statement: TextRange, case: TextSize) -> Expr {
        let start = self
            .tokens
            .next_start(statement.start() + TextSize::of("match"));
        let colon = self.tokens.last_before(case);
        let Some((kind, last)) = colon.and_then(|(_, c)| self.tokens.last_before(c.start())) else {
            return subject;
        };
        let range = TextRange::new(start, last.end());
        match subject {
            Expr::Tuple(tuple) if tuple.range == statement => {
                Expr::Tuple(ruff::ExprTuple { range, ..tuple })
            }
            other if kind == Kind::Comma => Expr::Tuple(ruff::ExprTuple {
                node_index: AtomicNodeIndex::NONE,
                range,
                elts: vec![other],
                ctx: ruff::ExprContext::Load,
                parenthesized: false,
            }),
            other => other,
        }
    }

    fn case(&self, node: ast::MatchCase) -> ruff::MatchCase {
        let pattern = self.pattern(node.pattern);
        let guard = self.optional(node.guard);
        let body = self.suite(node.body);
        let word = self.tokens.before(pattern.start(), Kind::Case);
        let start = word.map_or(pattern.start(), |word| word.start());
        ruff::MatchCase {
            range: TextRange::new(start, body.last().map_or(pattern.end(), Ranged::end)),
            node_index: AtomicNodeIndex::NONE,
            pattern,
            guard,
            body,
        }
    }
}

fn clause(start: TextSize, test: Option<Expr>, body: Suite) -> ruff::ElifElseClause {
    ruff::ElifElseClause {
        range: TextRange::new(start, body.last().map_or(start, Ranged::end)),
        node_index: AtomicNodeIndex::NONE,
        test,
        body,
    }
}

fn plain_loop(s: ast::StmtAsyncFor) -> ast::StmtFor {
    ast::StmtFor {
        range: s.range,
        target: s.target,
        iter: s.iter,
        body: s.body,
        orelse: s.orelse,
        type_comment: s.type_comment,
    }
}

fn plain_with(s: ast::StmtAsyncWith) -> ast::StmtWith {
    ast::StmtWith {
        range: s.range,
        items: s.items,
        body: s.body,
        type_comment: s.type_comment,
    }
}

fn plain_try(s: ast::StmtTryStar) -> ast::StmtTry {
    ast::StmtTry {
        range: s.range,
        body: s.body,
        handlers: s.handlers,
        orelse: s.orelse,
        finalbody: s.finalbody,
    }
}
