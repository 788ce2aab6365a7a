//! An outline with what makes look-ups in it fast.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::outline::{
    Binding, Body, Bound, BoundIndex, Facts, Local, Outline, ScopeId, ScopeKind, Sym,
};

/// An outline with what makes look-ups in it fast.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub facts: Arc<Facts>,
    pub body: Body,
    bounds: BoundIndex,
    /// The scope of each class.
    pub(super) class_scopes: FxHashMap<Local, ScopeId>,
    /// Where each name is bound, instances' attributes apart.
    homes: Vec<Home>,
    /// Whether something is known of what a name is bound to anywhere.
    known: Vec<bool>,
}

/// The scopes that bind a name.
#[derive(Debug, Clone, Copy)]
enum Home {
    Nowhere,
    Only(ScopeId),
    Many,
}

impl Loaded {
    pub fn new(outline: Outline) -> Self {
        Self::with_facts(Arc::new(outline.facts), outline.body)
    }

    pub fn with_facts(facts: Arc<Facts>, body: Body) -> Self {
        let class_scopes = body
            .scopes
            .iter()
            .enumerate()
            .filter(|(_, scope)| scope.kind == ScopeKind::Class)
            .filter_map(|(number, scope)| Some((scope.unit?, number as ScopeId)))
            .collect();
        let mut homes = vec![Home::Nowhere; body.names.len()];
        let mut known = vec![!body.stars.is_empty(); body.names.len()];
        for bound in body.bound.iter().filter(|bound| !bound.instance) {
            if !bound.binding.says_nothing()
                && let Some(known) = known.get_mut(bound.name as usize)
            {
                *known = true;
            }
            let Some(home) = homes.get_mut(bound.name as usize) else {
                continue;
            };
            *home = match *home {
                Home::Nowhere => Home::Only(bound.scope),
                Home::Only(scope) if scope == bound.scope => *home,
                _ => Home::Many,
            };
        }
        Self {
            bounds: BoundIndex::new(&body.bound),
            facts,
            body,
            class_scopes,
            homes,
            known,
        }
    }

    /// Whether a name can stand for anything that is known; quick, as most can't.
    pub(super) fn can_mean(&self, name: Sym) -> bool {
        self.known.get(name as usize) == Some(&true)
    }

    /// The scope in which a name is bound, by Python's rules: the own scope, then those around
    /// it; class bodies are passed over from inside. Nothing means the builtins or a star import.
    pub(super) fn scope_of(&self, from: ScopeId, name: Sym) -> Option<ScopeId> {
        let home = self.homes.get(name as usize).copied()?;
        match home {
            Home::Nowhere => return None,
            Home::Only(0) => return Some(0),
            Home::Only(_) | Home::Many => {}
        }
        let mut at = Some(from);
        // A scope of type parameters sees the class that it stands in as if it were part of it.
        let mut direct = true;
        while let Some(number) = at {
            let scope = &self.body.scopes[number as usize];
            if scope.is_global(name) {
                return Some(0);
            }
            let visible = (direct || scope.kind != ScopeKind::Class)
                && !scope.is_nonlocal(name)
                && match home {
                    Home::Only(only) => only == number,
                    _ => self.bounds_of(number, name).any(|bound| !bound.instance),
                };
            if visible {
                return Some(number);
            }
            direct &= scope.kind == ScopeKind::TypeParameters;
            at = scope.parent;
        }
        None
    }

    /// The bindings of a name in a scope, the last one first.
    pub(super) fn bounds_of(&self, scope: ScopeId, name: Sym) -> impl Iterator<Item = &Bound> {
        self.bounds.of(&self.body.bound, scope, name)
    }

    /// What a name may be bound to when it is looked up in a scope from elsewhere, in source
    /// order: in a function everything; in a module or class the last unconditional binding and
    /// the conditional ones behind it.
    pub(super) fn visible(
        &self,
        scope: ScopeId,
        name: Sym,
        instance: bool,
        before: Option<u32>,
    ) -> SmallVec<[Bound; 4]> {
        let ordered = self.is_ordered(scope);
        let mut found: SmallVec<[Bound; 4]> = SmallVec::new();
        let mut last = None;
        for bound in self.bounds_of(scope, name) {
            let later = before.is_some_and(|event| bound.event >= event);
            if later || bound.instance && !instance {
                continue;
            }
            if last.is_some_and(|event| bound.event != event) {
                break;
            }
            // `import a.b` and `import a.c` both make `a` what it is.
            let adds = matches!(bound.binding, Binding::Package(_));
            if ordered && !bound.conditional && !adds {
                last = Some(bound.event);
            }
            if bound.binding != Binding::Deleted || !ordered {
                found.push(*bound);
            }
        }
        found.reverse();
        found
    }

    /// Whether the statements of a scope run in their order, each seeing what was bound before.
    pub(super) fn is_ordered(&self, scope: ScopeId) -> bool {
        matches!(
            self.body.scopes[scope as usize].kind,
            ScopeKind::Module | ScopeKind::Class
        )
    }

    /// Whether nothing is known of what a name of a function is bound to.
    pub(super) fn says_nothing(&self, scope: ScopeId, name: Sym) -> bool {
        let mut bounds = self.bounds_of(scope, name);
        bounds.all(|bound| bound.binding.says_nothing())
    }

    /// When a name was bound first and last in a scope.
    pub(super) fn events(&self, scope: ScopeId, name: Sym) -> Option<(u32, u32)> {
        let mut bounds = self.bounds_of(scope, name);
        let mut bounds = bounds.by_ref().filter(|bound| !bound.instance);
        let last = bounds.next()?.event;
        Some((bounds.last().map_or(last, |bound| bound.event), last))
    }
}
