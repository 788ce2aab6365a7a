//! What has been worked out already.

use rustc_hash::FxHashMap;

use super::Place;
use super::value::{Meaning, Reach, Value, Values};
use crate::outline::{ScopeId, Sym, UseId};

/// The answers to a file's questions. The memory is used again for the next file.
#[derive(Debug)]
pub(crate) struct Memos {
    meanings: Vec<Meaning>,
    /// The file's own module-level names.
    pub(super) globals: Vec<Option<Memo>>,
    pub(super) names: FxHashMap<(u32, ScopeId, Sym), Memo>,
    pub(super) worth: FxHashMap<(u32, UseId), Memo>,
    pub(super) members: FxHashMap<(u32, Sym, Value), Answer>,
    pub(super) stores: FxHashMap<(Place, Option<Place>), Memo>,
    pub(super) orders: FxHashMap<Place, Memo<Order>>,
    /// The classes of all orders, one order behind the other.
    pub(super) classes: Vec<Place>,
}

/// A meaning, by its place among the [`Memos`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer(u32);

/// A method resolution order, by its place in [`Memos::classes`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Memo<T = Answer> {
    /// At this depth it is being worked out; who asks for it now is in a cycle.
    Open(u32),
    Done(T),
}

impl Answer {
    pub const NOTHING: Self = Self(0);
}

impl Default for Memos {
    fn default() -> Self {
        Self {
            meanings: vec![Meaning::default()],
            globals: Vec::new(),
            names: FxHashMap::default(),
            worth: FxHashMap::default(),
            members: FxHashMap::default(),
            stores: FxHashMap::default(),
            orders: FxHashMap::default(),
            classes: Vec::new(),
        }
    }
}

impl Memos {
    pub(super) fn clear(&mut self) {
        // The first one is nothing.
        self.meanings.truncate(1);
        self.globals.clear();
        self.names.clear();
        self.worth.clear();
        self.members.clear();
        self.stores.clear();
        self.orders.clear();
        self.classes.clear();
    }

    pub(super) fn of(&self, answer: Answer) -> &Meaning {
        &self.meanings[answer.0 as usize]
    }

    pub(super) fn keep(&mut self, meaning: Meaning) -> Answer {
        if meaning.is_empty() {
            return Answer::NOTHING;
        }
        self.meanings.push(meaning);
        Answer((self.meanings.len() - 1) as u32)
    }

    pub(super) fn keep_values(&mut self, values: Values) -> Answer {
        let reached = Reach::new();
        self.keep(Meaning { reached, values })
    }

    pub(super) fn order(&self, order: Order) -> &[Place] {
        &self.classes[order.start..order.end]
    }
}
