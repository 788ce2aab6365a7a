//! What names are bound to by assignments, and the units that those make.

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::TextRange;

use super::{Lowering, Member, Pending, Values, offset};
use crate::outline::{Binding, Local, ScopeKind, Sym, UseId};
use crate::unit::{EdgeKind, Role, Roles, UnitKind};

impl Lowering<'_> {
    pub(super) fn assign(&mut self, s: &ast::StmtAssign) {
        if let [Expr::Name(name)] = &s.targets[..]
            && self.wraps_itself(&name.id, &s.value)
        {
            // `f = cache(f)`: the name still means the function.
            self.expression(&s.value, EdgeKind::Read);
            return;
        }
        // `a, b = x, y` pairs up; everything else has one value.
        let pairs = match &*s.value {
            Expr::Tuple(values) if s.targets.len() == 1 => match &s.targets[0] {
                Expr::Tuple(targets) => paired(&targets.elts, &values.elts),
                _ => None,
            },
            _ => None,
        };
        self.in_statement_of(&s.targets, s.range, |lowering| match pairs {
            Some(pairs) => {
                for (target, value) in pairs {
                    lowering.assign_one(std::slice::from_ref(target), value, s.range);
                }
            }
            None => lowering.assign_one(&s.targets, &s.value, s.range),
        });
        if let [Expr::Name(name)] = &s.targets[..] {
            self.exports_are(&name.id, &s.value);
        }
    }

    /// Whether the value of an assignment is a call with the assigned function itself.
    pub(super) fn wraps_itself(&mut self, name: &str, value: &Expr) -> bool {
        let Expr::Call(call) = value else {
            return false;
        };
        let mut arguments = call.arguments.args.iter();
        if !arguments.any(|a| matches!(a, Expr::Name(given) if &*given.id == name)) {
            return false;
        }
        let name = self.intern(name);
        let bound = self.bounds(self.scope, name).next();
        bound.is_some_and(|b| match b.binding {
            Binding::Unit(unit) => matches!(
                self.facts.units[unit as usize].kind,
                UnitKind::Function | UnitKind::Method | UnitKind::Class
            ),
            _ => false,
        })
    }

    pub(super) fn assign_one(&mut self, targets: &[Expr], value: &Expr, range: TextRange) {
        let known = self.expression(value, EdgeKind::Read);
        for target in targets {
            self.store(target, &known, range, Store::Plain);
        }
    }

    /// Makes the units of an assignment and runs `inside` with the first of them as the owner of
    /// what it uses. A later assignment to the same name is not part of the unit's text.
    pub(super) fn in_statement_of(
        &mut self,
        targets: &[Expr],
        range: TextRange,
        inside: impl FnOnce(&mut Self),
    ) {
        let owner = self.owner;
        let first = self.facts.units.len();
        for target in targets {
            self.make_units(target, range);
        }
        for unit in &mut self.facts.units[first..] {
            unit.statement = first as Local;
        }
        if first < self.facts.units.len() {
            self.owner = Some(first as Local);
        }
        inside(self);
        self.owner = owner;
    }

    pub(super) fn make_units(&mut self, target: &Expr, range: TextRange) {
        match target {
            Expr::Name(name) => {
                let name = self.intern(&name.id);
                self.unit_for(name, range);
            }
            Expr::Tuple(e) => e.elts.iter().for_each(|t| self.make_units(t, range)),
            Expr::List(e) => e.elts.iter().for_each(|t| self.make_units(t, range)),
            Expr::Starred(e) => self.make_units(&e.value, range),
            _ => {}
        }
    }

    /// The variable or attribute that a name of the scope at hand stands for.
    pub(super) fn assigned(&self, name: Sym) -> Option<Local> {
        self.assigned.get(&(self.scope, name)).copied()
    }

    /// The unit of an assigned name, where names are units: in modules and class bodies.
    pub(super) fn unit_for(&mut self, name: Sym, range: TextRange) -> Option<Local> {
        if self.names.text(name).is_empty() {
            return None;
        }
        let kind = match self.kind_of(self.scope) {
            ScopeKind::Module => UnitKind::Variable,
            ScopeKind::Class => UnitKind::Attribute,
            _ => return None,
        };
        if let Some(unit) = self.assigned(name) {
            return Some(unit);
        }
        if self.is_outside(name) {
            return None;
        }
        let mut roles = Roles::default();
        if self.scope == 0 && self.names.text(name) == "__all__" {
            roles.insert(Role::Exports);
        }
        let head = offset(range.start());
        let unit = self.add_unit(kind, name, roles, range, head);
        self.assigned.insert((self.scope, name), unit);
        Some(unit)
    }

    /// Binds the names of a target; the objects of `a.b = ...` and `a[i] = ...` are read.
    pub(super) fn store(&mut self, target: &Expr, known: &[Binding], range: TextRange, how: Store) {
        match target {
            Expr::Name(name) => {
                let name = self.intern(&name.id);
                self.store_name(name, known, range, how);
            }
            Expr::Tuple(e) => self.store_parts(&e.elts, known, range, how),
            Expr::List(e) => self.store_parts(&e.elts, known, range, how),
            Expr::Starred(e) => self.store(&e.value, &[], range, how),
            Expr::Attribute(attribute) => {
                self.expression(target, EdgeKind::Write);
                self.store_attribute(attribute, known, range);
            }
            Expr::Subscript(e) => {
                self.expression(&e.value, EdgeKind::Read);
                self.expression(&e.slice, EdgeKind::Read);
            }
            other => {
                self.expression(other, EdgeKind::Read);
            }
        }
    }

    /// Each part may be whatever the whole holds, or what an iterator of tuples is known to give.
    pub(super) fn store_parts(
        &mut self,
        parts: &[Expr],
        known: &[Binding],
        range: TextRange,
        how: Store,
    ) {
        let known: Values = known
            .iter()
            .filter_map(|value| match value {
                Binding::Items(used) => Some(Binding::Of(*used)),
                Binding::Of(used) => Some(Binding::Element(*used)),
                Binding::Element(_) => Some(*value),
                _ => None,
            })
            .collect();
        for part in parts {
            self.store(part, &known, range, how);
        }
    }

    pub(super) fn store_name(
        &mut self,
        name: Sym,
        known: &[Binding],
        range: TextRange,
        how: Store,
    ) {
        let mut role = match how {
            Store::Annotated { role } => role,
            _ => None,
        };
        if self.kind_of(self.scope) == ScopeKind::Class
            && let Some(frame) = self.classes.last()
        {
            let member = match (frame.members, how) {
                (Member::Fields, Store::Annotated { .. }) => Some(Role::Field),
                (Member::Enum, Store::Plain) => Some(Role::EnumMember),
                _ => None,
            };
            let private = self.names.text(name).starts_with('_');
            role = role.or(member.filter(|m| *m != Role::EnumMember || !private));
        }
        let unit = match how {
            // A loop's name or that of `with` is no unit, even in a module.
            Store::Loop => self.assigned(name),
            _ => self.unit_for(name, range),
        };
        if let (Some(unit), Some(role)) = (unit, role) {
            self.facts.units[unit as usize].roles.insert(role);
        }
        match unit {
            Some(unit) => {
                self.bind(name, Binding::Unit(unit));
                for binding in known {
                    self.bind(name, *binding);
                }
            }
            None if self.is_outside(name) => {
                self.note_write(name, range);
                self.bind_all(name, known);
            }
            None if how == Store::Again => {
                // `x += 1` makes the name local, but its value is of the same class.
                self.bind(name, Binding::Value);
            }
            None => self.bind_all(name, known),
        }
    }

    /// Whether `global` sends a name out of the function at hand.
    pub(super) fn is_outside(&self, name: Sym) -> bool {
        let scope = &self.body.scopes[self.scope as usize];
        self.scope != 0 && scope.is_global(name)
    }

    /// `self.x = ...` in a method.
    pub(super) fn store_attribute(
        &mut self,
        target: &ast::ExprAttribute,
        known: &[Binding],
        range: TextRange,
    ) {
        let (Some(receiver), Expr::Name(object)) = (self.receiver, &*target.value) else {
            return;
        };
        if target.attr.id.is_empty()
            || self.names.get(&object.id) != Some(receiver.name)
            || self.hidden(receiver.name)
        {
            return;
        }
        let name = self.intern(&target.attr.id);
        self.classes[receiver.frame].pending.push(Pending {
            name,
            statement: range,
            uses: self.first_use..self.body.uses.len() as UseId,
            bindings: known.to_vec(),
        });
    }

    /// Whether a scope inside the method binds the receiver's name to something else.
    pub(super) fn hidden(&self, name: Sym) -> bool {
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            if let Some(bound) = self.bounds(scope, name).next() {
                return !matches!(bound.binding, Binding::Instance(_) | Binding::Class(_));
            }
            at = self.body.scopes[scope as usize].parent;
        }
        true
    }

    /// `x += 1` and the like read their target first.
    pub(super) fn read_target(&mut self, target: &Expr) {
        if let Expr::Name(name) = target {
            let name = self.intern(&name.id);
            if self.assigned(name).is_none() {
                self.expression(target, EdgeKind::Read);
            }
        } else if let Expr::Attribute(_) = target {
            self.expression(target, EdgeKind::Read);
        }
    }
}

/// What iterating over these values gives.
pub(super) fn elements(values: &[Binding]) -> Values {
    let element = |value: &Binding| match value {
        Binding::Of(used) => Some(Binding::Element(*used)),
        Binding::Items(used) => Some(Binding::Of(*used)),
        _ => None,
    };
    values.iter().filter_map(element).collect()
}

/// What is known by the uses that these values come from.
pub(super) fn with_uses(values: &[Binding], known: fn(UseId) -> Binding) -> Values {
    let with = |value: &Binding| match value {
        Binding::Of(used) => Some(known(*used)),
        _ => None,
    };
    values.iter().filter_map(with).collect()
}

/// How a name comes to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    Plain,
    Annotated {
        role: Option<Role>,
    },
    /// `x += 1`
    Again,
    /// By a loop, by `with`.
    Loop,
}

/// `a, b = x, y` by pairs, where the numbers are equal and nothing is starred.
fn paired<'e>(targets: &'e [Expr], values: &'e [Expr]) -> Option<Vec<(&'e Expr, &'e Expr)>> {
    let starred = targets.iter().chain(values).any(Expr::is_starred_expr);
    (targets.len() == values.len() && !starred).then(|| targets.iter().zip(values).collect())
}
