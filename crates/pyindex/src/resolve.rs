//! From a use of a name to the units that it means.
//!
//! One [`Resolver`] works through one file. What it asks of other files it notes
//! ([`Resolver::consulted`]), so that a cache knows when the answers still hold. Types are
//! inferred on demand and backwards, from the name that is used to what it was bound to, with
//! bounds on depth and work; there is no pass over the whole program.

mod classes;
mod imports;
mod loaded;
mod memos;
mod names;
mod value;
mod worth;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::modules::Modules;
use crate::outline::{Local, Root, ScopeId, ScopeKind, Step, Sym, Use, UseId};
use crate::unit::{EdgeKind, Provenance};
pub(crate) use loaded::Loaded;
pub(crate) use memos::Memos;
use memos::{Answer, Memo};
use value::{Meaning, Reach, Value, Values, Via};

/// Inference follows assignments and calls this far back.
const MAX_DEPTH: u32 = 24;
/// A name may be any of this many things; more say nothing.
const MAX_VALUES: usize = 8;
/// Look-ups for one use of a name. Only generated code comes near it.
const MAX_WORK: u32 = 20_000;
/// Look-ups for all uses of a file, behind which each has only a few.
const MAX_FILE_WORK: u32 = 100 * MAX_WORK;
const LITTLE_WORK: u32 = 200;

/// Nothing cut an answer short.
const WHOLE: u32 = u32::MAX;

/// A unit, by file and place in the file.
pub(crate) type Place = (u32, Local);

/// An edge, as resolution finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct FoundEdge {
    pub from: Local,
    pub to: Place,
    pub kind: EdgeKind,
    pub provenance: Provenance,
    /// Where the first such use stands, in bytes.
    pub at: u32,
}

/// The whole repository, as far as resolution needs it.
pub(crate) trait World {
    fn modules(&self) -> &Modules;
    fn path(&self, file: u32) -> hydra_core::RepoPath;
    fn outline(&self, file: u32) -> &Loaded;
}

/// A unit on the way of a chain.
struct Reached {
    /// The step behind which it stands; -1 is the root.
    step: i32,
    place: Place,
    provenance: Provenance,
    /// Not named by the chain but run by it: `__init__`, `__call__`.
    implied: bool,
}

pub(crate) struct Resolver<'w, W: World> {
    world: &'w W,
    file: u32,
    memos: &'w mut Memos,
    consulted: FxHashSet<u32>,
    /// The file that was consulted last.
    latest: u32,
    depth: u32,
    work: u32,
    /// The work on the uses before.
    work_before: u32,
    /// The depth of the outermost open question that the answer at hand was cut short by, in a
    /// cycle or at a bound. Until that question is answered, such an answer isn't kept.
    cut: u32,
}

impl<'w, W: World> Resolver<'w, W> {
    /// What the memos hold of another file is forgotten.
    pub fn new(world: &'w W, file: u32, memos: &'w mut Memos) -> Self {
        memos.clear();
        Self {
            world,
            file,
            memos,
            consulted: FxHashSet::default(),
            latest: file,
            depth: 0,
            work: 0,
            work_before: 0,
            cut: WHOLE,
        }
    }

    /// The other files whose outlines the answers rest on, in order.
    pub fn consulted(&self) -> Vec<u32> {
        let mut files: Vec<u32> = self.consulted.iter().copied().collect();
        files.sort_unstable();
        files
    }

    fn outline(&mut self, file: u32) -> &'w Loaded {
        if file != self.latest {
            self.latest = file;
            if file != self.file {
                self.consulted.insert(file);
            }
        }
        self.world.outline(file)
    }

    /// All edges between units that the file's uses make, sorted.
    pub fn edges(&mut self) -> Vec<FoundEdge> {
        let own = self.world.outline(self.file);
        let mut shared = own.body.shared.iter().copied().peekable();
        let mut edges = Vec::new();
        let mut reached = Vec::new();
        let mut owners: SmallVec<[Local; 2]> = SmallVec::new();
        for (number, used) in own.body.uses.iter().enumerate() {
            if matches!(used.root, Root::Name(name) if !own.can_mean(name)) {
                continue;
            }
            owners.clear();
            owners.extend(used.owner);
            while let Some((shared_use, unit)) = shared.next_if(|(u, _)| *u <= number as UseId) {
                if shared_use == number as UseId {
                    owners.push(unit);
                }
            }
            if owners.is_empty() {
                continue;
            }
            self.work_before = self.work_before.saturating_add(self.work);
            self.work = 0;
            self.depth = 0;
            self.cut = WHOLE;
            reached.clear();
            self.walk(self.file, number as UseId, Some(&mut reached));
            let named = reached.iter().filter(|r| !r.implied).map(|r| r.step);
            let last = named.max().unwrap_or(-1);
            let pairs = owners
                .iter()
                .flat_map(|from| reached.iter().map(|one| (*from, one)));
            for (from, one) in pairs {
                let related = one.place.0 == self.file
                    && (own.facts.within(one.place.1, from) || own.facts.within(from, one.place.1));
                let kind = edge_kind(one, last, used, own.body.steps_of(used));
                // Where an attribute is defined it is not used.
                let defines = kind == EdgeKind::Write && one.place.0 == self.file && {
                    let unit = &own.facts.units[one.place.1 as usize];
                    (unit.head..unit.end).contains(&used.at)
                };
                if !related && !defines {
                    edges.push(FoundEdge {
                        from,
                        to: one.place,
                        kind,
                        provenance: one.provenance,
                        at: used.at,
                    });
                }
            }
        }
        edges.sort_unstable();
        edges.dedup_by_key(|e| (e.from, e.to, e.kind, e.provenance));
        edges
    }

    /// Follows a chain; gives what its value may be, and notes the units on its way.
    fn walk(&mut self, file: u32, used: UseId, mut reached: Option<&mut Vec<Reached>>) -> Values {
        let outline = self.outline(file);
        let used = &outline.body.uses[used as usize];
        let mut note = |step: i32, found: &Reach, implied: bool| {
            if let Some(reached) = &mut reached {
                for (place, provenance) in found {
                    reached.push(Reached {
                        step,
                        place: *place,
                        provenance: *provenance,
                        implied,
                    });
                }
            }
        };
        let mut values: Values = match used.root {
            Root::Super => match self.class_around(outline, used.scope) {
                Some(class) => smallvec![Value::Bases((file, class))],
                None => return Values::new(),
            },
            Root::Name(name) => {
                let meaning = self.root(file, used, name);
                let meaning = self.memos.of(meaning);
                note(-1, &meaning.reached, false);
                Values::from_slice(&meaning.values)
            }
        };
        for (number, step) in outline.body.steps_of(used).iter().enumerate() {
            if values.is_empty() {
                break;
            }
            let mut next = Meaning::default();
            let mut implied = Reach::new();
            for value in &values {
                match step {
                    Step::Attribute(name) => {
                        let member = self.member(file, *value, *name);
                        next.add(self.memos.of(member));
                    }
                    Step::Call => {
                        let (run, given) = self.call(*value);
                        implied.extend(run);
                        next.add_values(&given);
                    }
                    Step::Subscript => {
                        let given = self.subscript(*value);
                        next.add_values(&given);
                    }
                    Step::Await => match value {
                        Value::Awaitable(class) => {
                            next.add_values(&[Value::Instance(*class, Via::Inferred)]);
                        }
                        other => next.add_values(&[*other]),
                    },
                }
            }
            if number == 0 && used.root == Root::Super {
                // `super().m` uses the base class that has it.
                for ((file, unit), _) in &next.reached {
                    let parent = self.outline(*file).facts.units[*unit as usize].parent;
                    let base = parent.map(|class| ((*file, class), Provenance::SelfMember));
                    note(-1, &base.into_iter().collect(), false);
                }
            }
            note(number as i32, &next.reached, false);
            note(number as i32, &implied, true);
            values = next.values;
        }
        values
    }

    /// An attribute of a value, by its name in the file that asks; most are asked for again and
    /// again.
    fn member(&mut self, file: u32, value: Value, name: Sym) -> Answer {
        let key = (file, name, value);
        if let Some(meaning) = self.memos.members.get(&key) {
            return *meaning;
        }
        let outline = self.outline(file);
        let outer = std::mem::replace(&mut self.cut, WHOLE);
        let meaning = self.attribute(value, outline.body.names.text(name));
        let meaning = self.memos.keep(meaning);
        if self.cut == WHOLE {
            self.memos.members.insert(key, meaning);
        }
        self.cut = self.cut.min(outer);
        meaning
    }

    fn class_around(&self, outline: &Loaded, scope: ScopeId) -> Option<Local> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            let scope = &outline.body.scopes[scope as usize];
            if scope.kind == ScopeKind::Class {
                return scope.unit;
            }
            at = scope.parent;
        }
        None
    }

    /// What a use may be worth.
    fn values(&mut self, file: u32, used: UseId) -> Answer {
        match self.memos.worth.get(&(file, used)) {
            Some(Memo::Done(values)) => return *values,
            Some(Memo::Open(depth)) => {
                self.cut = self.cut.min(*depth);
                return Answer::NOTHING;
            }
            None => {}
        }
        if self.spent() {
            return Answer::NOTHING;
        }
        let open = Memo::Open(self.depth);
        self.memos.worth.insert((file, used), open);
        let outer = self.open();
        let values = self.walk(file, used, None);
        let values = self.memos.keep_values(values);
        if self.close(outer) {
            let done = Memo::Done(values);
            self.memos.worth.insert((file, used), done);
        } else {
            self.memos.worth.remove(&(file, used));
        }
        values
    }

    /// Begins a question; gives what cut the one around it short so far.
    fn open(&mut self) -> u32 {
        self.depth += 1;
        std::mem::replace(&mut self.cut, WHOLE)
    }

    /// Ends a question; says whether its answer is whole, and can be kept.
    fn close(&mut self, outer: u32) -> bool {
        self.depth -= 1;
        let whole = self.cut >= self.depth;
        self.cut = if whole { outer } else { outer.min(self.cut) };
        whole
    }

    /// Whether the bounds on depth and work are reached.
    fn spent(&mut self) -> bool {
        self.work += 1;
        let spent = self.depth > MAX_DEPTH || self.is_worked_out();
        if spent {
            self.cut = 0;
        }
        spent
    }

    fn is_worked_out(&self) -> bool {
        let most = if self.work_before < MAX_FILE_WORK {
            MAX_WORK
        } else {
            LITTLE_WORK
        };
        self.work > most
    }
}

fn edge_kind(one: &Reached, last: i32, used: &Use, steps: &[Step]) -> EdgeKind {
    if one.implied {
        return EdgeKind::Call;
    }
    let called = matches!(steps.get((one.step + 1) as usize), Some(Step::Call));
    match used.kind {
        // `class C(make()):` is no subclass of `make`.
        EdgeKind::Read | EdgeKind::Call | EdgeKind::Inherit if called => EdgeKind::Call,
        EdgeKind::Read | EdgeKind::Call => EdgeKind::Read,
        // `self.a.b = 1` with an unknown `b` reads `a`.
        EdgeKind::Write if one.step + 1 < steps.len() as i32 => EdgeKind::Read,
        kind if one.step == last => kind,
        _ if called => EdgeKind::Call,
        _ => EdgeKind::Read,
    }
}
