//! A syntax tree into an [`Outline`].
//!
//! One walk over the tree, in the order in which Python runs it: what is bound is noted with the
//! statement that binds it, what is used with the scope that it is looked up from.

mod annotations;
mod assignments;
mod definitions;
mod exports;
mod expressions;
mod narrowing;
mod patterns;
mod scratch;
mod statements;

use ruff_python_ast::Stmt;
use ruff_text_size::TextRange;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::outline::{
    Binding, Body, Bound, BoundIndex, Facts, Interner, Local, ModuleName, RawUnit, Scope, ScopeId,
    ScopeKind, Sym, UseId,
};
use crate::source;
use crate::unit::{Roles, UnitKind};
pub(crate) use scratch::Scratch;

/// The stack that must be left for an expression, and what is added when it isn't: a generated
/// file may nest deeper than any thread's stack.
const STACK_LEFT: usize = 128 << 10;
const STACK_MORE: usize = 4 << 20;

/// What an expression's value may be.
type Values = SmallVec<[Binding; 2]>;

struct Lowering<'a> {
    text: &'a str,
    body: &'a mut Body,
    facts: &'a mut Facts,
    names: &'a mut Interner,
    qualified: &'a mut FxHashMap<(u32, Sym), Qualified>,
    qualified_of: &'a mut Vec<u32>,
    modules: &'a mut FxHashMap<ModuleName, u32>,
    scope: ScopeId,
    owner: Option<Local>,
    /// How many branches are open in the scope.
    branches: u32,
    event: u32,
    classes: Vec<ClassFrame>,
    /// The first parameter of the method at hand, and its class.
    receiver: Option<Receiver>,
    /// How deep the expression at hand lies.
    depth: u32,
    index: &'a mut BoundIndex,
    assigned: &'a mut FxHashMap<(ScopeId, Sym), Local>,
    /// The first use of the statement at hand.
    first_use: UseId,
    /// The function at hand, if nothing says what it returns.
    unannotated: Option<Local>,
    /// Whether strings are data even where annotations stand.
    strings_are_data: bool,
    /// The f-string at hand, the outermost of several.
    string: Option<TextRange>,
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

/// Lowers a whole file; [`Scratch::take`] gives the outline, for which the tree needs not be there
/// any more. `broken` says what the parser could not read of it.
pub(crate) fn lower(text: &str, body: &[Stmt], broken: Option<String>, scratch: &mut Scratch) {
    scratch.clear();
    let mut lowering = Lowering {
        text,
        body: &mut scratch.body,
        facts: &mut scratch.facts,
        names: &mut scratch.names,
        qualified: &mut scratch.qualified,
        qualified_of: &mut scratch.qualified_of,
        modules: &mut scratch.modules,
        scope: 0,
        owner: None,
        branches: 0,
        event: 0,
        classes: Vec::new(),
        receiver: None,
        depth: 0,
        index: &mut scratch.index,
        assigned: &mut scratch.assigned,
        first_use: 0,
        unannotated: None,
        strings_are_data: false,
        string: None,
    };
    lowering.open(ScopeKind::Module, None);
    lowering.statements(body);
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    let facts = &mut scratch.facts;
    facts.lines = (ends + usize::from(!text.is_empty() && !text.ends_with('\n'))) as u32;
    facts.broken = broken.map(Into::into);
    for module in &scratch.body.modules {
        let name = scratch.names.text(module.name);
        if module.level == 0 && name.contains('.') {
            let name = facts.add(name);
            facts.absolute.push(name);
        }
    }
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
            declared: None,
        });
        self.scope = (self.body.scopes.len() - 1) as ScopeId;
    }

    /// Runs `inside` in a new scope and comes back.
    fn within(&mut self, kind: ScopeKind, unit: Option<Local>, inside: impl FnOnce(&mut Self)) {
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

    fn kind_of(&self, scope: ScopeId) -> ScopeKind {
        self.body.scopes[scope as usize].kind
    }

    fn next_event(&mut self) {
        self.event += 1;
    }

    /// Binds a name in the scope at hand, or where `global` says.
    fn bind(&mut self, name: Sym, binding: Binding) {
        let scope = &self.body.scopes[self.scope as usize];
        let (target, outside) = if scope.is_global(name) {
            (0, self.scope != 0)
        } else if scope.is_nonlocal(name) {
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
        self.body.bound.push(Bound {
            scope,
            name,
            binding,
            conditional,
            instance,
            event: self.event,
        });
        self.index.push(&self.body.bound);
    }

    /// The bindings of a name in a scope, the last one first.
    fn bounds(&self, scope: ScopeId, name: Sym) -> impl Iterator<Item = &Bound> {
        self.index.of(&self.body.bound, scope, name)
    }

    fn bind_all(&mut self, name: Sym, bindings: &[Binding]) {
        if bindings.is_empty() {
            self.bind(name, Binding::Value);
        }
        for binding in bindings {
            self.bind(name, *binding);
        }
    }

    /// Visits a part of an expression, annotation or pattern with stack to spare.
    fn deeper<T>(&mut self, visit: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let visited = if self.depth.is_multiple_of(16) {
            stacker::maybe_grow(STACK_LEFT, STACK_MORE, || visit(self))
        } else {
            visit(self)
        };
        self.depth -= 1;
        visited
    }

    fn intern(&mut self, name: &str) -> Sym {
        self.names.intern(name)
    }

    fn add_unit(
        &mut self,
        kind: UnitKind,
        name: Sym,
        roles: Roles,
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
        roles: Roles,
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
        let name = self.facts.add(self.names.text(name));
        self.facts.units.push(RawUnit {
            kind,
            roles,
            name,
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
}
