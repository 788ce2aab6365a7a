//! What a name, a call or an attribute may be worth.

use smallvec::{SmallVec, smallvec};

use super::memos::Memo;
use super::value::{Held, Meaning, Reach, Value, Values, Via};
use super::{Place, Resolver, World};
use crate::outline::Binding;
use crate::unit::{Provenance, Role, UnitKind};

impl<W: World> Resolver<'_, W> {
    /// What a variable, parameter or return value may be, by what it was bound to.
    pub(super) fn worth_of(
        &mut self,
        file: u32,
        binding: Binding,
        receiver: Option<Place>,
    ) -> Values {
        if binding == Binding::AnnotatedSelf {
            return receiver
                .map(|class| Value::Instance(class, Via::Inferred))
                .into_iter()
                .collect();
        }
        let Some(used) = binding.used() else {
            return Values::new();
        };
        let mut worth = Values::new();
        let values = self.values(file, used);
        for at in 0..self.memos.of(values).values.len() {
            match (binding, self.memos.of(values).values[at]) {
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
    pub(super) fn special(&mut self, class: Place, names: &[&str]) -> Values {
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

    pub(super) fn unit_values(&mut self, place: Place, receiver: Option<Place>) -> Values {
        let (file, unit) = place;
        let outline = self.outline(file);
        let raw = &outline.facts.units[unit as usize];
        match raw.kind {
            UnitKind::Class => smallvec![Value::Class(place, Via::Named)],
            UnitKind::Function | UnitKind::Method => {
                if raw.roles.contains(Role::Property) && receiver.is_some() {
                    self.returned(place, receiver)
                } else {
                    smallvec![Value::Function(place, receiver)]
                }
            }
            UnitKind::Variable | UnitKind::Attribute => self.stored(place, receiver),
        }
    }

    /// What a variable or attribute may be, by everything that is ever assigned to it.
    fn stored(&mut self, place: Place, receiver: Option<Place>) -> Values {
        let key = (place, receiver);
        match self.memos.stores.get(&key) {
            Some(Memo::Done(values)) => return Values::from_slice(&self.memos.of(*values).values),
            Some(Memo::Open(depth)) => {
                self.cut = self.cut.min(*depth);
                return Values::new();
            }
            None => {}
        }
        if self.spent() {
            return Values::new();
        }
        let open = Memo::Open(self.depth);
        self.memos.stores.insert(key, open);
        let outer = self.open();
        let values = self.assigned(place, receiver);
        if self.close(outer) {
            let done = Memo::Done(self.memos.keep_values(Values::from_slice(&values)));
            self.memos.stores.insert(key, done);
        } else {
            self.memos.stores.remove(&key);
        }
        values
    }

    fn assigned(&mut self, place: Place, receiver: Option<Place>) -> Values {
        let (file, unit) = place;
        let outline = self.outline(file);
        let raw = &outline.facts.units[unit as usize];
        let scope = outline.body.homes[unit as usize];
        let mut worth = Meaning::default();
        if raw.roles.contains(Role::EnumMember)
            && let Some(class) = raw.parent
        {
            worth
                .values
                .push(Value::Instance((file, class), Via::Inferred));
        }
        let Some(name) = outline.body.names.get(outline.facts.name(raw)) else {
            return worth.values;
        };
        let all: SmallVec<[Binding; 8]> = outline
            .bounds_of(scope, name)
            .map(|b| b.binding)
            .filter(|b| !matches!(b, Binding::Unit(_) | Binding::Value))
            .collect();
        for binding in all.into_iter().rev() {
            if self.spent() {
                break;
            }
            let values = self.worth_of(file, binding, receiver);
            worth.add_values(&values);
        }
        worth.values
    }

    /// What a function is annotated to return.
    pub(super) fn returned(&mut self, function: Place, receiver: Option<Place>) -> Values {
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
    pub(super) fn called(&mut self, function: Place, receiver: Option<Place>) -> Values {
        let outline = self.outline(function.0);
        let raw = &outline.facts.units[function.1 as usize];
        let mut given = self.returned(function, receiver);
        if raw.roles.contains(Role::Async) {
            for value in &mut given {
                if let Value::Instance(class, _) = *value {
                    *value = Value::Awaitable(class);
                }
            }
        }
        given
    }

    /// What calling a value runs beside what the chain names, and what it gives.
    pub(super) fn call(&mut self, value: Value) -> (Reach, Values) {
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

    pub(super) fn subscript(&mut self, value: Value) -> Values {
        match value {
            Value::Class(..) => smallvec![value],
            Value::Elements(held) | Value::Mapping(held) => smallvec![held.value()],
            Value::Instance(class, _) => self.special(class, &["__getitem__"]),
            _ => Values::new(),
        }
    }

    pub(super) fn attribute(&mut self, value: Value, name: &str) -> Meaning {
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
}
