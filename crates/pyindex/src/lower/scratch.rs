//! Memory that lowering uses again for each file, and what of it is kept.

use rustc_hash::FxHashMap;

use super::Qualified;
use crate::outline::{
    Binding, Body, BoundIndex, Exports, Facts, Interner, Local, ModuleName, Outline, Root, ScopeId,
    Sym, Use, UseId,
};

/// No use: it was left out.
const NONE: UseId = UseId::MAX;

/// What [`lower`](super::lower) has made of a file, until it is taken.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(super) body: Body,
    pub(super) facts: Facts,
    pub(super) names: Interner,
    /// How often each qualified name was defined: (the one around it, the name).
    pub(super) qualified: FxHashMap<(u32, Sym), Qualified>,
    /// The qualified name of each unit.
    pub(super) qualified_of: Vec<u32>,
    pub(super) modules: FxHashMap<ModuleName, u32>,
    pub(super) index: BoundIndex,
    /// The variable or attribute of each name of a scope.
    pub(super) assigned: FxHashMap<(ScopeId, Sym), Local>,
    /// Whether something may be known of each name.
    known: Vec<bool>,
    known_before: Vec<bool>,
    /// The new number of each use.
    numbers: Vec<UseId>,
}

impl Scratch {
    /// The outline of the file that was lowered last, without what resolution would make nothing
    /// of: a use of a name of which nothing is known in the whole file, as a builtin's or most
    /// parameters', and what is known by such a use only.
    pub fn take(&mut self) -> Outline {
        self.find_known();
        self.number_uses();
        let number = |used: UseId| Some(self.numbers[used as usize]).filter(|n| *n != NONE);
        let (body, facts) = (&self.body, &self.facts);
        let kept = |binding: Binding| match binding.used() {
            Some(used) => number(used).map(|used| binding.by(used)),
            None => Some(binding),
        };
        let mut uses = Vec::with_capacity(self.numbers.iter().filter(|n| **n != NONE).count());
        let mut steps = Vec::with_capacity(body.steps.len());
        for (old, used) in body.uses.iter().enumerate() {
            if number(old as UseId).is_some() {
                let first_step = steps.len() as u32;
                steps.extend_from_slice(body.steps_of(used));
                uses.push(Use {
                    first_step,
                    ..*used
                });
            }
        }
        let bound = body.bound.iter().map(|one| {
            let mut one = *one;
            one.binding = kept(one.binding).unwrap_or(Binding::Value);
            one
        });
        let returns = body.returns.iter();
        let mut returns: Vec<(Local, Binding)> = returns
            .filter_map(|(function, binding)| Some((*function, kept(*binding)?)))
            .collect();
        returns.sort_by_key(|(function, _)| *function);
        let shared = body.shared.iter();
        let mut shared: Vec<(UseId, Local)> = shared
            .filter_map(|(used, unit)| Some((number(*used)?, *unit)))
            .collect();
        shared.sort_unstable();
        let exported = body.exported.as_ref().map(|exports| Exports {
            names: exports.names.clone(),
            others: exports
                .others
                .iter()
                .filter_map(|used| number(*used))
                .collect(),
        });
        let bases = body.bases.iter();
        let outline = Outline {
            facts: facts.clone(),
            body: Body {
                names: self.names.names(),
                scopes: body.scopes.clone(),
                homes: body.homes.clone(),
                bound: bound.collect(),
                modules: body.modules.clone(),
                uses,
                steps,
                bases: bases
                    .filter_map(|(class, used)| Some((*class, number(*used)?)))
                    .collect(),
                returns,
                stars: body.stars.clone(),
                exported,
                shared,
                dynamic: body.dynamic,
            },
        };
        self.clear();
        outline
    }

    /// A name is known if it is bound, anywhere, to something that is known. What looks known in
    /// one round may rest on a name that the round before has ruled out: two rounds rule out
    /// nearly all, and what they leave does no harm.
    fn find_known(&mut self) {
        let names = self.names.len();
        // A star import may bind any name.
        let any = !self.body.stars.is_empty();
        self.known.clear();
        self.known.resize(names, true);
        for _ in 0..2 {
            std::mem::swap(&mut self.known, &mut self.known_before);
            self.known.clear();
            self.known.resize(names, any);
            for one in self.body.bound.iter().filter(|one| !one.instance) {
                self.known[one.name as usize] |= match one.binding.used() {
                    Some(used) => may_mean(&self.body.uses[used as usize], &self.known_before),
                    None => !one.binding.says_nothing(),
                };
            }
        }
    }

    fn number_uses(&mut self) {
        self.numbers.clear();
        let mut next = 0;
        for used in &self.body.uses {
            let kept = may_mean(used, &self.known);
            self.numbers.push(if kept { next } else { NONE });
            next += u32::from(kept);
        }
    }

    /// Forgets the file; the memory stays.
    pub(super) fn clear(&mut self) {
        let Self {
            body,
            facts,
            names,
            qualified,
            qualified_of,
            modules,
            index,
            assigned,
            known: _,
            known_before: _,
            numbers: _,
        } = self;
        body.clear();
        facts.clear();
        names.clear();
        qualified.clear();
        qualified_of.clear();
        modules.clear();
        index.clear();
        assigned.clear();
    }
}

fn may_mean(used: &Use, known: &[bool]) -> bool {
    match used.root {
        Root::Super => true,
        Root::Name(name) => known[name as usize],
    }
}
