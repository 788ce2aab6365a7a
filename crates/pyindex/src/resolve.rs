//! From a use of a name to the units that it means.
//!
//! One [`Resolver`] works through one file. What it asks of other files it notes
//! ([`Resolver::consulted`]), so that a cache knows when the answers still hold. Types are
//! inferred on demand and backwards, from the name that is used to what it was bound to, with
//! bounds on depth and work; there is no pass over the whole program.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::modules::{Found, ModuleId, Modules};
use crate::outline::{
    Binding, Body, Bound, BoundIndex, Facts, Local, Outline, Root, ScopeId, ScopeKind, Step, Sym,
    Use, UseId,
};
use crate::unit::{EdgeKind, ImportTarget, Provenance, Role, UnitKind};

/// Inference follows assignments and calls this far back.
const MAX_DEPTH: u32 = 24;
/// A name may be any of this many things; more say nothing.
const MAX_VALUES: usize = 8;
/// Look-ups for one use of a name. Only generated code comes near it.
const MAX_WORK: u32 = 20_000;

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

/// An outline with what makes look-ups in it fast.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub facts: Arc<Facts>,
    pub body: Body,
    bounds: BoundIndex,
    /// The scope of each class.
    class_scopes: FxHashMap<Local, ScopeId>,
}

impl Loaded {
    pub fn new(outline: Outline) -> Self {
        let Outline { facts, body } = outline;
        Self::with_facts(Arc::new(facts), body)
    }

    pub fn with_facts(facts: Arc<Facts>, body: Body) -> Self {
        let class_scopes = body
            .scopes
            .iter()
            .enumerate()
            .filter(|(_, scope)| scope.kind == ScopeKind::Class)
            .filter_map(|(number, scope)| Some((scope.unit?, number as ScopeId)))
            .collect();
        Self {
            bounds: BoundIndex::new(&body.bound),
            facts,
            body,
            class_scopes,
        }
    }

    /// What a name may be bound to when it is looked up in a scope from elsewhere, in source
    /// order: in a function everything; in a module or class the last unconditional binding and
    /// the conditional ones behind it.
    fn visible(
        &self,
        scope: ScopeId,
        name: Sym,
        instance: bool,
        before: Option<u32>,
    ) -> SmallVec<[Bound; 4]> {
        let ordered = self.is_ordered(scope);
        let mut found: SmallVec<[Bound; 4]> = SmallVec::new();
        let mut last = None;
        for bound in self.bounds.of(&self.body.bound, scope, name) {
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
    fn is_ordered(&self, scope: ScopeId) -> bool {
        matches!(
            self.body.scopes[scope as usize].kind,
            ScopeKind::Module | ScopeKind::Class
        )
    }

    /// Whether nothing is known of what a name of a function is bound to.
    fn says_nothing(&self, scope: ScopeId, name: Sym) -> bool {
        let mut bounds = self.bounds.of(&self.body.bound, scope, name);
        bounds.all(|bound| matches!(bound.binding, Binding::Value | Binding::Deleted))
    }

    /// When a name was bound first and last in a scope.
    fn events(&self, scope: ScopeId, name: Sym) -> Option<(u32, u32)> {
        let mut bounds = self.bounds.of(&self.body.bound, scope, name);
        let mut bounds = bounds.by_ref().filter(|bound| !bound.instance);
        let last = bounds.next()?.event;
        Some((bounds.last().map_or(last, |bound| bound.event), last))
    }
}

/// The whole repository, as far as resolution needs it.
pub(crate) trait World {
    fn modules(&self) -> &Modules;
    fn path(&self, file: u32) -> hydra_core::RepoPath;
    fn outline(&self, file: u32) -> &Loaded;
}

/// What a name or expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Module(ModuleId),
    Class(Place, Via),
    Instance(Place, Via),
    /// `super()` in a class.
    Bases(Place),
    /// A function, and the class that it is a method of where it was looked up.
    Function(Place, Option<Place>),
    /// `list[C]`, or a list of the classes themselves.
    Elements(Held),
    /// `dict[str, C]`
    Mapping(Held),
    /// What an async function gives before it is awaited.
    Awaitable(Place),
    /// A method of a container: called, it gives an instance.
    Gives(Held),
    /// A method of a container: called, it gives all instances.
    GivesAll(Held),
}

/// What a container holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Instances(Place),
    Classes(Place),
}

impl Held {
    fn value(self) -> Value {
        match self {
            Self::Instances(class) => Value::Instance(class, Via::Inferred),
            Self::Classes(class) => Value::Class(class, Via::Inferred),
        }
    }
}

/// How a class or instance was come by; it decides the provenance of its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Via {
    /// The class was named.
    Named,
    /// `self`, `cls`.
    Receiver,
    Inferred,
}

impl Via {
    fn provenance(self) -> Provenance {
        match self {
            Self::Named => Provenance::Attribute,
            Self::Receiver => Provenance::SelfMember,
            Self::Inferred => Provenance::Inferred,
        }
    }
}

type Values = SmallVec<[Value; 2]>;
type Reach = SmallVec<[(Place, Provenance); 1]>;

/// The units that a name or attribute is, and what they may be worth.
#[derive(Debug, Clone, Default)]
struct Meaning {
    reached: Reach,
    values: Values,
}

impl Meaning {
    fn add(&mut self, other: &Self) {
        for one in &other.reached {
            if !self.reached.contains(one) {
                self.reached.push(*one);
            }
        }
        self.add_values(&other.values);
    }

    fn add_values(&mut self, values: &[Value]) {
        for value in values {
            if !self.values.contains(value) && self.values.len() < MAX_VALUES {
                self.values.push(*value);
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.reached.is_empty() && self.values.is_empty()
    }
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

enum Memo<T> {
    /// Asked for while it is being worked out: a cycle.
    Open,
    Done(Rc<T>),
}

pub(crate) struct Resolver<'w, W: World> {
    world: &'w W,
    file: u32,
    consulted: FxHashSet<u32>,
    names: FxHashMap<(u32, ScopeId, Sym), Memo<Meaning>>,
    worth: FxHashMap<(u32, UseId), Memo<Values>>,
    orders: FxHashMap<Place, Memo<Vec<Place>>>,
    depth: u32,
    work: u32,
    /// Whether a cycle or a bound cut the answer at hand short; such an answer isn't kept.
    cut: bool,
    nothing: Rc<Meaning>,
}

impl<'w, W: World> Resolver<'w, W> {
    pub fn new(world: &'w W, file: u32) -> Self {
        Self {
            world,
            file,
            consulted: FxHashSet::default(),
            names: FxHashMap::default(),
            worth: FxHashMap::default(),
            orders: FxHashMap::default(),
            depth: 0,
            work: 0,
            cut: false,
            nothing: Rc::default(),
        }
    }

    /// The other files whose outlines the answers rest on.
    pub fn consulted(&self) -> BTreeSet<u32> {
        self.consulted.iter().copied().collect()
    }

    fn outline(&mut self, file: u32) -> &'w Loaded {
        if file != self.file {
            self.consulted.insert(file);
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
            owners.clear();
            owners.extend(used.owner);
            while let Some((_, unit)) = shared.next_if(|(u, _)| *u == number as UseId) {
                owners.push(unit);
            }
            if owners.is_empty() {
                continue;
            }
            self.work = 0;
            self.depth = 0;
            self.cut = false;
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
                note(-1, &meaning.reached, false);
                meaning.values.clone()
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
                        let name = outline.body.names.text(*name);
                        next.add(&self.attribute(*value, name));
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
    fn values(&mut self, file: u32, used: UseId) -> Rc<Values> {
        match self.worth.get(&(file, used)) {
            Some(Memo::Done(values)) => return values.clone(),
            Some(Memo::Open) => {
                self.cut = true;
                return Rc::default();
            }
            None => {}
        }
        if self.spent() {
            return Rc::default();
        }
        self.worth.insert((file, used), Memo::Open);
        let outer = std::mem::take(&mut self.cut);
        self.depth += 1;
        let values = Rc::new(self.walk(file, used, None));
        self.depth -= 1;
        if self.cut {
            self.worth.remove(&(file, used));
        } else {
            self.worth.insert((file, used), Memo::Done(values.clone()));
        }
        self.cut |= outer;
        values
    }

    /// Whether the bounds on depth and work are reached.
    fn spent(&mut self) -> bool {
        self.work += 1;
        let spent = self.depth > MAX_DEPTH || self.work > MAX_WORK;
        self.cut |= spent;
        spent
    }

    /// The name at the root of a use. A module or class body sees what was bound before, if
    /// anything was.
    fn root(&mut self, file: u32, used: &Use, name: Sym) -> Rc<Meaning> {
        let outline = self.outline(file);
        // Annotations are evaluated later, if ever.
        let forward = used.kind == EdgeKind::Annotate;
        if outline.is_ordered(used.scope)
            && let Some((first, last)) = outline.events(used.scope, name)
            && last >= used.event
        {
            if first < used.event {
                let bounds = outline.visible(used.scope, name, false, Some(used.event));
                return Rc::new(self.bindings(file, &bounds));
            }
            let outer = outline.body.scopes[used.scope as usize].parent;
            if let Some(outer) = outer.filter(|_| !forward) {
                // A class body that has not bound the name yet reads the one around it.
                return self.name(file, outer, name);
            }
        }
        self.name(file, used.scope, name)
    }

    /// A name, looked up from a scope.
    fn name(&mut self, file: u32, from: ScopeId, name: Sym) -> Rc<Meaning> {
        let outline = self.outline(file);
        match scope_of(outline, from, name) {
            Some(scope) => self.bound(file, scope, name),
            // A builtin, most of the time.
            None if outline.body.stars.is_empty() => self.nothing.clone(),
            None => self.bound(file, 0, name),
        }
    }

    /// A name of a scope, or of the star imports of a module.
    fn bound(&mut self, file: u32, scope: ScopeId, name: Sym) -> Rc<Meaning> {
        let outline = self.outline(file);
        if scope != 0 && outline.says_nothing(scope, name) {
            return self.nothing.clone();
        }
        match self.names.get(&(file, scope, name)) {
            Some(Memo::Done(meaning)) => return meaning.clone(),
            Some(Memo::Open) => {
                self.cut = true;
                return self.nothing.clone();
            }
            None => {}
        }
        if self.spent() {
            return self.nothing.clone();
        }
        self.names.insert((file, scope, name), Memo::Open);
        let outer = std::mem::take(&mut self.cut);
        self.depth += 1;
        let meaning = Rc::new(self.look_up(file, scope, name));
        self.depth -= 1;
        if self.cut {
            self.names.remove(&(file, scope, name));
        } else {
            let done = Memo::Done(meaning.clone());
            self.names.insert((file, scope, name), done);
        }
        self.cut |= outer;
        meaning
    }

    fn look_up(&mut self, file: u32, scope: ScopeId, name: Sym) -> Meaning {
        let outline = self.outline(file);
        if scope == 0 && !outline.body.stars.is_empty() {
            // A star import behind the last binding hides it.
            let last = outline.events(0, name).map(|(_, last)| last);
            let found = self.starred(file, outline.body.names.text(name), last);
            if !found.is_empty() {
                return found;
            }
        }
        self.bindings(file, &outline.visible(scope, name, false, None))
    }

    fn bindings(&mut self, file: u32, bindings: &[Bound]) -> Meaning {
        let mut meaning = Meaning::default();
        for bound in bindings {
            meaning.add(&self.binding(file, bound.binding, None));
        }
        meaning
    }

    fn binding(&mut self, file: u32, binding: Binding, receiver: Option<Place>) -> Meaning {
        let mut meaning = Meaning::default();
        match binding {
            Binding::Unit(unit) => {
                let place = (file, unit);
                meaning.reached.push((place, Provenance::Name));
                meaning.values = self.unit_values(place, receiver);
            }
            Binding::Module(module) => {
                let outline = self.outline(file);
                let name = &outline.body.modules[module as usize];
                if let Found::Module(module) = self.world.modules().resolve(file, name) {
                    meaning.values.push(Value::Module(module));
                }
            }
            Binding::Package(module) => {
                let outline = self.outline(file);
                let name = &outline.body.modules[module as usize];
                let module = self.world.modules().package(file, name);
                meaning.values.extend(module.map(Value::Module));
            }
            Binding::Member(module, name) => {
                let outline = self.outline(file);
                let module = &outline.body.modules[module as usize];
                if let Found::Module(module) = self.world.modules().resolve(file, module) {
                    let name = outline.body.names.text(name);
                    meaning = self.module_attribute(module, name, Provenance::Import);
                }
            }
            Binding::Instance(class) => meaning
                .values
                .push(Value::Instance((file, class), Via::Receiver)),
            Binding::Class(class) => meaning
                .values
                .push(Value::Class((file, class), Via::Receiver)),
            other => meaning.values = self.worth_of(file, other, receiver),
        }
        meaning
    }

    /// What a variable, parameter or return value may be, by what it was bound to.
    fn worth_of(&mut self, file: u32, binding: Binding, receiver: Option<Place>) -> Values {
        let used = match binding {
            Binding::Of(used)
            | Binding::Element(used)
            | Binding::Entered(used)
            | Binding::Items(used)
            | Binding::MapItems(used)
            | Binding::Annotated(used)
            | Binding::AnnotatedClass(used)
            | Binding::AnnotatedElements(used)
            | Binding::AnnotatedValues(used) => used,
            Binding::AnnotatedSelf => {
                return receiver
                    .map(|class| Value::Instance(class, Via::Inferred))
                    .into_iter()
                    .collect();
            }
            _ => return Values::new(),
        };
        let mut worth = Values::new();
        for value in self.values(file, used).iter() {
            match (binding, *value) {
                // `return self` gives what the method was called on.
                (Binding::Of(_), Value::Instance(class, Via::Receiver)) => {
                    let class = receiver.unwrap_or(class);
                    worth.push(Value::Instance(class, Via::Inferred));
                }
                (Binding::Items(_), Value::Instance(class, _)) => {
                    worth.push(Value::Elements(Held::Instances(class)));
                }
                (Binding::Items(_), Value::Class(class, _)) => {
                    worth.push(Value::Elements(Held::Classes(class)));
                }
                (Binding::MapItems(_), Value::Instance(class, _)) => {
                    worth.push(Value::Mapping(Held::Instances(class)));
                }
                (Binding::MapItems(_), Value::Class(class, _)) => {
                    worth.push(Value::Mapping(Held::Classes(class)));
                }
                (Binding::Element(_) | Binding::Entered(_), Value::Elements(held)) => {
                    worth.push(held.value());
                }
                (Binding::Of(_), Value::Class(class, _))
                | (Binding::AnnotatedClass(_), Value::Class(class, _)) => {
                    worth.push(Value::Class(class, Via::Inferred));
                }
                (Binding::Of(_), Value::Instance(class, _))
                | (Binding::Annotated(_), Value::Class(class, _))
                | (Binding::Element(_), Value::Class(class, _)) => {
                    worth.push(Value::Instance(class, Via::Inferred));
                }
                (Binding::AnnotatedElements(_), Value::Class(class, _)) => {
                    worth.push(Value::Elements(Held::Instances(class)));
                }
                (Binding::AnnotatedValues(_), Value::Class(class, _)) => {
                    worth.push(Value::Mapping(Held::Instances(class)));
                }
                (Binding::Of(_), other) => worth.push(other),
                (Binding::Element(_), Value::Instance(class, _)) => {
                    for given in self.special(class, &["__iter__", "__aiter__"]) {
                        if let Value::Elements(held) = given {
                            worth.push(held.value());
                        }
                    }
                }
                (Binding::Entered(_), Value::Awaitable(class)) => {
                    worth.push(Value::Instance(class, Via::Inferred));
                }
                (Binding::Entered(_), Value::Instance(class, _)) => {
                    let mut given = self.special(class, &["__enter__", "__aenter__"]);
                    for value in &mut given {
                        if let Value::Awaitable(class) = *value {
                            *value = Value::Instance(class, Via::Inferred);
                        }
                    }
                    if given.is_empty() {
                        worth.push(Value::Instance(class, Via::Inferred));
                    }
                    worth.extend(given);
                }
                _ => {}
            }
        }
        worth
    }

    /// What the first of these methods that the class has is annotated to return.
    fn special(&mut self, class: Place, names: &[&str]) -> Values {
        for name in names {
            let meaning = self.class_attribute(class, name, true, false, Via::Inferred);
            if !meaning.reached.is_empty() {
                let mut given = Values::new();
                for value in meaning.values {
                    given.extend(self.call(value).1);
                }
                return given;
            }
        }
        Values::new()
    }

    fn unit_values(&mut self, place: Place, receiver: Option<Place>) -> Values {
        let (file, unit) = place;
        let outline = self.outline(file);
        let raw = &outline.facts.units[unit as usize];
        match raw.kind {
            UnitKind::Class => smallvec![Value::Class(place, Via::Named)],
            UnitKind::Function | UnitKind::Method => {
                if raw.roles.contains(&Role::Property) && receiver.is_some() {
                    self.returned(place, receiver)
                } else {
                    smallvec![Value::Function(place, receiver)]
                }
            }
            UnitKind::Variable | UnitKind::Attribute => {
                let scope = outline.body.homes[unit as usize];
                let mut worth = Meaning::default();
                if raw.roles.contains(&Role::EnumMember)
                    && let Some(class) = raw.parent
                {
                    worth
                        .values
                        .push(Value::Instance((file, class), Via::Inferred));
                }
                let Some(name) = outline.body.names.get(&raw.name) else {
                    return worth.values;
                };
                let all: SmallVec<[Binding; 8]> = outline
                    .bounds
                    .of(&outline.body.bound, scope, name)
                    .map(|b| b.binding)
                    .filter(|b| !matches!(b, Binding::Unit(_) | Binding::Value))
                    .collect();
                for binding in all.into_iter().rev() {
                    let values = self.worth_of(file, binding, receiver);
                    worth.add_values(&values);
                }
                worth.values
            }
        }
    }

    /// What a function is annotated to return.
    fn returned(&mut self, function: Place, receiver: Option<Place>) -> Values {
        let (file, unit) = function;
        let outline = self.outline(file);
        let returns = &outline.body.returns;
        let from = returns.partition_point(|(u, _)| *u < unit);
        let mut worth = Meaning::default();
        for (_, binding) in returns[from..].iter().take_while(|(u, _)| *u == unit) {
            let values = self.worth_of(file, *binding, receiver);
            worth.add_values(&values);
        }
        worth.values
    }

    /// What calling a function gives: for an async one, something to await.
    fn called(&mut self, function: Place, receiver: Option<Place>) -> Values {
        let outline = self.outline(function.0);
        let raw = &outline.facts.units[function.1 as usize];
        let mut given = self.returned(function, receiver);
        if raw.roles.contains(&Role::Async) {
            for value in &mut given {
                if let Value::Instance(class, _) = *value {
                    *value = Value::Awaitable(class);
                }
            }
        }
        given
    }

    /// What calling a value runs beside what the chain names, and what it gives.
    fn call(&mut self, value: Value) -> (Reach, Values) {
        match value {
            Value::Class(class, _) => {
                let made = self.class_attribute(class, "__init__", true, false, Via::Inferred);
                (
                    made.reached,
                    smallvec![Value::Instance(class, Via::Inferred)],
                )
            }
            Value::Function(function, receiver) => (Reach::new(), self.called(function, receiver)),
            Value::Instance(class, _) => {
                let called = self.class_attribute(class, "__call__", true, false, Via::Inferred);
                let mut given = Values::new();
                for value in called.values {
                    if let Value::Function(function, receiver) = value {
                        given.extend(self.called(function, receiver));
                    }
                }
                (called.reached, given)
            }
            Value::Gives(held) => (Reach::new(), smallvec![held.value()]),
            Value::GivesAll(held) => (Reach::new(), smallvec![Value::Elements(held)]),
            _ => (Reach::new(), Values::new()),
        }
    }

    fn subscript(&mut self, value: Value) -> Values {
        match value {
            Value::Class(..) => smallvec![value],
            Value::Elements(held) | Value::Mapping(held) => smallvec![held.value()],
            Value::Instance(class, _) => self.special(class, &["__getitem__"]),
            _ => Values::new(),
        }
    }

    fn attribute(&mut self, value: Value, name: &str) -> Meaning {
        match value {
            Value::Module(module) => self.module_attribute(module, name, Provenance::Attribute),
            Value::Class(class, via) => self.class_attribute(class, name, false, false, via),
            Value::Instance(class, via) => self.class_attribute(class, name, true, false, via),
            Value::Bases(class) => self.class_attribute(class, name, true, true, Via::Receiver),
            Value::Mapping(held) | Value::Elements(held) => {
                let method = match name {
                    "get" | "pop" | "popleft" | "setdefault" => Value::Gives(held),
                    "values" | "copy" => Value::GivesAll(held),
                    _ => return Meaning::default(),
                };
                Meaning {
                    reached: Reach::new(),
                    values: smallvec![method],
                }
            }
            Value::Function(..) | Value::Awaitable(_) | Value::Gives(_) | Value::GivesAll(_) => {
                Meaning::default()
            }
        }
    }

    /// The units and modules that an import of `name` from a module means.
    pub fn imported(&mut self, module: ModuleId, name: &str) -> (Vec<Place>, Vec<ModuleId>) {
        let meaning = self.module_attribute(module, name, Provenance::Import);
        let modules = meaning.values.iter().filter_map(|value| match value {
            Value::Module(module) => Some(*module),
            _ => None,
        });
        let units = meaning.reached.iter().map(|(place, _)| *place);
        (units.collect(), modules.collect())
    }

    /// Why a name of a module could not be traced.
    pub fn unresolved(&mut self, module: ModuleId, name: &str) -> ImportTarget {
        let Some(file) = self.world.modules().file(module) else {
            return ImportTarget::Missing;
        };
        let outline = self.outline(file);
        let known = outline.body.names.get(name).is_some_and(|name| {
            let mut bounds = outline.bounds.of(&outline.body.bound, 0, name);
            bounds.any(|bound| bound.binding != Binding::Deleted)
        });
        if name == "*" {
            ImportTarget::Module(self.world.path(file))
        } else if known || outline.body.stars.iter().any(|star| star.scope == 0) {
            ImportTarget::Passed
        } else if outline.body.dynamic {
            ImportTarget::Dynamic
        } else {
            ImportTarget::Missing
        }
    }

    fn global(&mut self, file: u32, name: &str) -> Rc<Meaning> {
        let outline = self.outline(file);
        match outline.body.names.get(name) {
            Some(name) => self.bound(file, 0, name),
            None => Rc::new(self.starred(file, name, None)),
        }
    }

    fn module_attribute(&mut self, module: ModuleId, name: &str, how: Provenance) -> Meaning {
        let modules = self.world.modules();
        let own = modules.file(module).map(|file| self.global(file, name));
        match own {
            Some(own) if !own.is_empty() => Meaning {
                reached: own.reached.iter().map(|(place, _)| (*place, how)).collect(),
                values: own.values.clone(),
            },
            _ => Meaning {
                reached: Reach::new(),
                values: modules
                    .child(module, name)
                    .map(Value::Module)
                    .into_iter()
                    .collect(),
            },
        }
    }

    /// A name that a module takes from `from m import *` behind `after`; the last such import
    /// wins.
    fn starred(&mut self, file: u32, name: &str, after: Option<u32>) -> Meaning {
        let outline = self.outline(file);
        for star in outline.body.stars.iter().rev() {
            if star.scope != 0 || after.is_some_and(|event| star.event < event) || self.spent() {
                continue;
            }
            let module = &outline.body.modules[star.module as usize];
            let Found::Module(module) = self.world.modules().resolve(file, module) else {
                continue;
            };
            let Some(exporter) = self.world.modules().file(module) else {
                continue;
            };
            let listed = self.exports(exporter, name);
            let visible = listed.unwrap_or(!name.starts_with('_'));
            if !visible || exporter == file {
                continue;
            }
            self.depth += 1;
            // With `__all__`, a submodule can be exported, too.
            let found = match listed {
                Some(_) => self.module_attribute(module, name, Provenance::Import),
                None => (*self.global(exporter, name)).clone(),
            };
            self.depth -= 1;
            if !found.is_empty() {
                let import = |(place, _): &(Place, Provenance)| (*place, Provenance::Import);
                return Meaning {
                    reached: found.reached.iter().map(import).collect(),
                    values: found.values,
                };
            }
        }
        Meaning::default()
    }

    /// Whether a module's `__all__` lists a name; nothing, if it has none that can be read.
    fn exports(&mut self, file: u32, name: &str) -> Option<bool> {
        let outline = self.outline(file);
        let exports = outline.body.exported.as_ref()?;
        let name_here = outline.body.names.get(name);
        if name_here.is_some_and(|name| exports.names.contains(&name)) {
            return Some(true);
        }
        for used in &exports.others {
            if self.spent() {
                break;
            }
            // The use ends in the other module's own `__all__`.
            let mut reached = Vec::new();
            self.walk(file, *used, Some(&mut reached));
            let other = reached.last().map(|r| r.place.0).filter(|f| *f != file);
            self.depth += 1;
            let listed = other.and_then(|other| self.exports(other, name));
            self.depth -= 1;
            if listed == Some(true) {
                return listed;
            }
        }
        Some(false)
    }

    /// A member of a class by its method resolution order; `behind` leaves out the class itself.
    fn class_attribute(
        &mut self,
        class: Place,
        name: &str,
        instance: bool,
        behind: bool,
        via: Via,
    ) -> Meaning {
        if self.spent() {
            return Meaning::default();
        }
        let order = self.order(class);
        for (file, unit) in order.iter().skip(usize::from(behind)) {
            let outline = self.outline(*file);
            let (Some(scope), Some(name)) =
                (outline.class_scopes.get(unit), outline.body.names.get(name))
            else {
                continue;
            };
            let bindings = outline.visible(*scope, name, instance, None);
            if bindings.is_empty() {
                continue;
            }
            let mut meaning = Meaning::default();
            for bound in bindings {
                meaning.add(&self.binding(*file, bound.binding, Some(class)));
            }
            for (_, provenance) in &mut meaning.reached {
                *provenance = via.provenance();
            }
            return meaning;
        }
        Meaning::default()
    }

    /// The method resolution order (C3) of a class over the bases that can be resolved. Where C3
    /// has no answer, as in broken hierarchies, the bases follow depth first.
    fn order(&mut self, class: Place) -> Rc<Vec<Place>> {
        match self.orders.get(&class) {
            Some(Memo::Done(order)) => return order.clone(),
            Some(Memo::Open) => {
                self.cut = true;
                return Rc::new(vec![class]);
            }
            None => {}
        }
        self.orders.insert(class, Memo::Open);
        let outer = std::mem::take(&mut self.cut);
        let mut bases: Vec<Place> = Vec::new();
        let (file, unit) = class;
        let outline = self.outline(file);
        let all = &outline.body.bases;
        let from = all.partition_point(|(u, _)| *u < unit);
        for (_, used) in all[from..].iter().take_while(|(u, _)| *u == unit) {
            for value in self.values(file, *used).iter() {
                if let Value::Class(base, _) = value
                    && *base != class
                    && !bases.contains(base)
                {
                    bases.push(*base);
                }
            }
        }
        let mut lines: Vec<Vec<Place>> = bases.iter().map(|b| (*self.order(*b)).clone()).collect();
        lines.push(bases);
        let order = Rc::new(linearise(class, lines));
        if self.cut {
            self.orders.remove(&class);
        } else {
            self.orders.insert(class, Memo::Done(order.clone()));
        }
        self.cut |= outer;
        order
    }

    /// The files that a file's module-level imports mean, and those that define what they name.
    pub fn imported_files(&mut self) -> BTreeSet<u32> {
        let file = self.file;
        let outline = self.outline(file);
        let mut found = BTreeSet::new();
        for bound in &outline.body.bound {
            self.work = 0;
            match bound.binding {
                Binding::Module(module) | Binding::Package(module) if bound.scope == 0 => {
                    let name = &outline.body.modules[module as usize];
                    let modules = self.world.modules();
                    if let Found::Module(module) = modules.resolve(file, name) {
                        found.extend(modules.file(module));
                    }
                    if matches!(bound.binding, Binding::Package(_)) {
                        let package = modules.package(file, name);
                        found.extend(package.and_then(|package| modules.file(package)));
                    }
                }
                Binding::Member(module, name) if bound.scope == 0 => {
                    let module = &outline.body.modules[module as usize];
                    let Found::Module(module) = self.world.modules().resolve(file, module) else {
                        continue;
                    };
                    found.extend(self.world.modules().file(module));
                    let name = outline.body.names.text(name);
                    let meaning = self.module_attribute(module, name, Provenance::Import);
                    found.extend(meaning.reached.iter().map(|((definer, _), _)| *definer));
                    for value in meaning.values {
                        if let Value::Module(module) = value {
                            found.extend(self.world.modules().file(module));
                        }
                    }
                }
                _ => {}
            }
        }
        for star in &outline.body.stars {
            let module = &outline.body.modules[star.module as usize];
            let exporter = match self.world.modules().resolve(file, module) {
                Found::Module(module) if star.scope == 0 => self.world.modules().file(module),
                _ => None,
            };
            let Some(exporter) = exporter else { continue };
            found.insert(exporter);
            let exports = self.outline(exporter);
            for bound in exports.body.bound.iter().filter(|b| b.scope == 0) {
                self.work = 0;
                let meaning = self.name(exporter, 0, bound.name);
                found.extend(meaning.reached.iter().map(|((definer, _), _)| *definer));
            }
        }
        found.remove(&file);
        found
    }
}

/// The scope in which a name is bound, by Python's rules: the own scope, then those around it;
/// class bodies are passed over from inside. Nothing means the builtins or a star import.
fn scope_of(outline: &Loaded, from: ScopeId, name: Sym) -> Option<ScopeId> {
    let mut at = Some(from);
    // A scope of type parameters sees the class that it stands in as if it were part of it.
    let mut direct = true;
    while let Some(number) = at {
        let scope = &outline.body.scopes[number as usize];
        if scope.globals.contains(&name) {
            return Some(0);
        }
        if (direct || scope.kind != ScopeKind::Class)
            && !scope.nonlocals.contains(&name)
            && outline
                .bounds
                .of(&outline.body.bound, number, name)
                .any(|bound| !bound.instance)
        {
            return Some(number);
        }
        direct &= scope.kind == ScopeKind::TypeParameters;
        at = scope.parent;
    }
    None
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

/// C3 over the orders of the bases and the list of the bases itself.
fn linearise(class: Place, mut lines: Vec<Vec<Place>>) -> Vec<Place> {
    let mut order = vec![class];
    let fallback: Vec<Place> = lines.iter().flatten().copied().collect();
    loop {
        lines.retain(|line| !line.is_empty());
        if lines.is_empty() {
            return order;
        }
        let next = lines.iter().map(|line| line[0]).find(|head| {
            let mut tails = lines.iter().map(|line| &line[1..]);
            !tails.any(|tail| tail.contains(head))
        });
        let Some(next) = next else { break };
        order.push(next);
        for line in &mut lines {
            if line[0] == next {
                line.remove(0);
            }
        }
    }
    order.truncate(1);
    for one in fallback {
        if !order.contains(&one) {
            order.push(one);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c3_is_what_python_gives() {
        // class A; class B(A); class C(A); class D(B, C): D.__mro__ is D, B, C, A
        let [a, b, c, d] = [(0, 0), (0, 1), (0, 2), (0, 3)];
        let lines = vec![vec![b, a], vec![c, a], vec![b, c]];
        assert_eq!(linearise(d, lines), [d, b, c, a]);
        // class X(A, B) and class Y(B, A) have no common subclass in Python.
        let lines = vec![vec![a, b], vec![b, a], vec![a, b]];
        assert_eq!(linearise(d, lines), [d, a, b]);
    }
}
