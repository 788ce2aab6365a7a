//! One file: its components and what they use, before anything is known of other files.

use std::fs::File;
use std::sync::Arc;

use hydra_core::RepoPath;
use indexmap::IndexMap;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::{Decorator, Expr, ModModule, Stmt};
use ruff_python_parser::{Parsed, parse_module};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashMap;

use crate::load;

use super::ComponentType;
use super::cut::{Keyword, Lines, universal_newlines};
use super::definitions::{Definitions, Holder, Node};
use super::imports::{self, Import};
use super::uses::{self, Use};

/// Brackets that CPython's tokenizer lets stand in each other (`MAXLEVEL`).
const MAX_BRACKETS: usize = 200;
/// Indentation levels that it lets stand in each other (`MAXINDENT`, which counts the margin).
const MAX_INDENTS: usize = 99;
/// A parenthesis in a default value makes a signature of the rest of the file; a file of such
/// functions would make gigabytes of them.
const MAX_SIGNATURES: usize = 64 << 20;

/// A component before its dependencies are traced.
#[derive(Debug)]
pub(super) struct Draft {
    pub component_type: ComponentType,
    pub clean_name: String,
    pub start_line: usize,
    pub end_line: usize,
    pub docstring: Option<String>,
    pub source_code: String,
    pub signature: String,
    pub uses: Arc<[Use]>,
    /// The names of what may hold it.
    pub parents: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Outline {
    /// By the id's part before `@`. A later one takes an earlier one's place.
    pub drafts: IndexMap<String, Draft>,
    pub imports: Vec<Import>,
}

/// Reads a file as the released indexer does: UTF-8 without a mark; the error is the reason to
/// skip it.
pub(super) fn read(root: &File, path: &RepoPath) -> Result<String, String> {
    let bytes = load::read(root, path, load::MAX_BYTES)?;
    String::from_utf8(bytes).map_err(|e| format!("not UTF-8: {e}"))
}

/// Parses a file; the error is the reason to skip it.
pub(super) fn parse(text: String) -> Result<Outline, String> {
    let text = universal_newlines(text);
    if text.starts_with('\u{feff}') {
        // `ast.parse` of a text takes no mark, and the released indexer doesn't remove it.
        return Err("begins with a byte-order mark".to_owned());
    }
    if text.contains('\0') {
        return Err("holds a NUL byte".to_owned());
    }
    let parsed = parse_module(&text).map_err(|e| format!("syntax error: {e}"))?;
    check_nesting(parsed.tokens())?;
    outline(&text, &parsed)
}

fn check_nesting(tokens: &[Token]) -> Result<(), String> {
    let mut brackets = 0usize;
    let mut indents = 0usize;
    for token in tokens {
        match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => brackets += 1,
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                brackets = brackets.saturating_sub(1);
            }
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            _ => {}
        }
        if brackets > MAX_BRACKETS {
            return Err(format!("brackets nested deeper than {MAX_BRACKETS}"));
        }
        if indents > MAX_INDENTS {
            return Err(format!("indented deeper than {MAX_INDENTS} levels"));
        }
    }
    Ok(())
}

fn outline(text: &str, parsed: &Parsed<ModModule>) -> Result<Outline, String> {
    let module = parsed.suite();
    let mut drafts = Drafts {
        text,
        lines: Lines::new(text),
        tokens: parsed.tokens(),
        definitions: Definitions::new(module),
        uses: FxHashMap::default(),
        signatures: 0,
        made: IndexMap::new(),
    };
    for stmt in module {
        drafts.variables(stmt);
    }
    for stmt in module {
        drafts.class(stmt)?;
    }
    drafts.functions()?;
    Ok(Outline {
        drafts: drafts.made,
        imports: imports::collect(module),
    })
}

struct Drafts<'a> {
    text: &'a str,
    lines: Lines<'a>,
    tokens: &'a [Token],
    definitions: Definitions<'a>,
    /// By definition; components of one name may share one definition's.
    uses: FxHashMap<usize, Arc<[Use]>>,
    signatures: usize,
    made: IndexMap<String, Draft>,
}

impl<'a> Drafts<'a> {
    fn variables(&mut self, stmt: &'a Stmt) {
        let Stmt::Assign(assign) = stmt else { return };
        let start_line = self.lines.number(assign.range.start().to_usize());
        let end_line = self.lines.number(assign.range.end().to_usize());
        for target in &assign.targets {
            let Expr::Name(name) = target else { continue };
            let name = name.id.as_str();
            let draft = Draft {
                component_type: ComponentType::Variable,
                clean_name: name.to_owned(),
                start_line,
                end_line,
                docstring: None,
                source_code: self.lines.between(start_line, end_line).to_owned(),
                signature: String::new(),
                uses: Arc::default(),
                parents: self.definitions.around_first(name),
            };
            self.made.insert(name.to_owned(), draft);
        }
    }

    fn class(&mut self, stmt: &'a Stmt) -> Result<(), String> {
        let Stmt::ClassDef(class) = stmt else {
            return Ok(());
        };
        let name = class.name.as_str();
        self.add(name.to_owned(), Node::Class(class), ComponentType::Class)?;
        for member in &class.body {
            if let Stmt::FunctionDef(method) = member {
                let key = format!("{name}.{}", method.name);
                self.add(key, Node::Function(method), ComponentType::Method)?;
            }
        }
        Ok(())
    }

    fn functions(&mut self) -> Result<(), String> {
        for at in 0..self.definitions.all.len() {
            let definition = &self.definitions.all[at];
            if definition.holder == Holder::Class || matches!(definition.node, Node::Class(_)) {
                continue;
            }
            let name = definition.node.name();
            let node = definition.node;
            match self.definitions.function_around(definition) {
                Some(outer) => {
                    let key = format!("{outer}.{name}");
                    self.add(key, node, ComponentType::InnerFunction)?;
                }
                None => self.add(name.to_owned(), node, ComponentType::Function)?,
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        key: String,
        node: Node<'a>,
        component_type: ComponentType,
    ) -> Result<(), String> {
        let (range, decorators, body, keyword) = match node {
            Node::Function(f) => (f.range, &f.decorator_list, &f.body, Keyword::Def),
            Node::Class(c) => (c.range, &c.decorator_list, &c.body, Keyword::Class),
        };
        let start = self.start(range, decorators);
        let end = self.end(range);
        let start_line = self.lines.number(start.to_usize());
        let signature = self.lines.signature(start_line, keyword);
        self.signatures += signature.len();
        if self.signatures > MAX_SIGNATURES {
            return Err(format!(
                "its signatures are longer than {MAX_SIGNATURES} bytes"
            ));
        }
        let name = node.name();
        let parents = match key.split_once('.') {
            Some((outer, _)) => vec![outer.to_owned()],
            None => self.definitions.around_first(name),
        };
        let draft = Draft {
            component_type,
            clean_name: name.to_owned(),
            start_line,
            end_line: self.lines.number(end.to_usize()),
            docstring: docstring(body),
            source_code: self.text[TextRange::new(start, end)].to_owned(),
            signature,
            uses: self.uses_of(name, component_type),
            parents,
        };
        self.made.insert(key, draft);
        Ok(())
    }

    /// Of the first definition of that name and type, whichever the component is.
    fn uses_of(&mut self, name: &str, component_type: ComponentType) -> Arc<[Use]> {
        let at = match component_type {
            ComponentType::Class => self.definitions.first_class(name),
            ComponentType::Method => self.definitions.first_method(name),
            ComponentType::Function => self.definitions.first_function(name),
            ComponentType::InnerFunction => self.definitions.first_inner(name),
            ComponentType::Variable => None,
        };
        let Some(at) = at else {
            return Arc::default();
        };
        let make = || match self.definitions.all[at].node {
            Node::Function(function) => uses::of_function(function).into(),
            Node::Class(class) => uses::of_class(class).into(),
        };
        Arc::clone(self.uses.entry(at).or_insert_with(make))
    }

    /// Where Python's node begins: at `def`, `async` or `class`, behind the decorators.
    fn start(&self, range: TextRange, decorators: &[Decorator]) -> TextSize {
        let Some(last) = decorators.last() else {
            return range.start();
        };
        let from = self.tokens.partition_point(|t| t.start() < last.end());
        let begins = |token: &&Token| {
            matches!(
                token.kind(),
                TokenKind::Def | TokenKind::Async | TokenKind::Class
            )
        };
        let header = self.tokens[from..].iter().find(begins);
        header.map_or(range.start(), Ranged::start)
    }

    /// Where Python's node ends: a semicolon behind the last statement belongs to it.
    fn end(&self, range: TextRange) -> TextSize {
        let behind = self.tokens.partition_point(|t| t.start() < range.end());
        match self.tokens.get(behind) {
            Some(token) if token.kind() == TokenKind::Semi => token.end(),
            _ => range.end(),
        }
    }
}

/// The first statement's value, if that is a string and no f-string; not cleaned.
fn docstring(body: &[Stmt]) -> Option<String> {
    let first = body.first()?.as_expr_stmt()?;
    let literal = first.value.as_string_literal_expr()?;
    Some(literal.value.to_str().to_owned())
}
