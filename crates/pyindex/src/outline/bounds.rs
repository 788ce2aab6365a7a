//! The bindings of a name in a scope.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use super::{Bound, ScopeId, Sym};

/// Finds the bindings of a name in a scope: a list of them by name, the last one first.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundIndex {
    /// The place of the last one, by scope and name.
    latest: HashTable<u32>,
    /// Where the one before it stands; itself, if there is none.
    previous: Vec<u32>,
}

impl BoundIndex {
    pub fn new(bound: &[Bound]) -> Self {
        let mut index = Self {
            latest: HashTable::with_capacity(bound.len()),
            previous: Vec::with_capacity(bound.len()),
        };
        for end in 1..=bound.len() {
            index.push(&bound[..end]);
        }
        index
    }

    pub fn clear(&mut self) {
        self.latest.clear();
        self.previous.clear();
    }

    /// Takes in the last one of `bound`; those before are in it.
    pub fn push(&mut self, bound: &[Bound]) {
        let Some((last, _)) = bound.split_last() else {
            return;
        };
        let here = self.previous.len() as u32;
        let key = |at: &u32| {
            let one = &bound[*at as usize];
            (one.scope, one.name)
        };
        let wanted = (last.scope, last.name);
        let found = self
            .latest
            .entry(hash(wanted), |at| key(at) == wanted, |at| hash(key(at)));
        match found {
            Entry::Occupied(mut latest) => {
                self.previous
                    .push(std::mem::replace(latest.get_mut(), here));
            }
            Entry::Vacant(place) => {
                place.insert(here);
                self.previous.push(here);
            }
        }
    }

    pub fn of<'b>(
        &self,
        bound: &'b [Bound],
        scope: ScopeId,
        name: Sym,
    ) -> impl Iterator<Item = &'b Bound> {
        let same = |at: &u32| {
            let one = &bound[*at as usize];
            (one.scope, one.name) == (scope, name)
        };
        let mut next = self.latest.find(hash((scope, name)), same).copied();
        std::iter::from_fn(move || {
            let here = next?;
            let before = self.previous[here as usize];
            next = (before != here).then_some(before);
            bound.get(here as usize)
        })
    }
}

fn hash(key: (ScopeId, Sym)) -> u64 {
    FxBuildHasher.hash_one(key)
}
