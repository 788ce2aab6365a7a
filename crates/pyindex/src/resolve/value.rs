//! What a name or expression may stand for.

use smallvec::SmallVec;

use super::{MAX_VALUES, Place};
use crate::modules::ModuleId;
use crate::unit::Provenance;

/// What a name or expression may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Value {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Held {
    Instances(Place),
    Classes(Place),
}

impl Held {
    pub(super) fn value(self) -> Value {
        match self {
            Self::Instances(class) => Value::Instance(class, Via::Inferred),
            Self::Classes(class) => Value::Class(class, Via::Inferred),
        }
    }
}

/// How a class or instance was come by; it decides the provenance of its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Via {
    /// The class was named.
    Named,
    /// `self`, `cls`.
    Receiver,
    Inferred,
}

impl Via {
    pub(super) fn provenance(self) -> Provenance {
        match self {
            Self::Named => Provenance::Attribute,
            Self::Receiver => Provenance::SelfMember,
            Self::Inferred => Provenance::Inferred,
        }
    }
}

pub(super) type Values = SmallVec<[Value; 2]>;
pub(super) type Reach = SmallVec<[(Place, Provenance); 1]>;

/// The units that a name or attribute is, and what they may be worth.
#[derive(Debug, Clone, Default)]
pub(super) struct Meaning {
    pub reached: Reach,
    pub values: Values,
}

impl Meaning {
    pub(super) fn add(&mut self, other: &Self) {
        for one in &other.reached {
            if !self.reached.contains(one) {
                self.reached.push(*one);
            }
        }
        self.add_values(&other.values);
    }

    pub(super) fn add_values(&mut self, values: &[Value]) {
        for value in values {
            if !self.values.contains(value) && self.values.len() < MAX_VALUES {
                self.values.push(*value);
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reached.is_empty() && self.values.is_empty()
    }
}
