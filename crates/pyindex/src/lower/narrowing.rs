//! Calls and tests that say something of a name: `isinstance`, `type(x) is C`, `getattr`.

use ruff_python_ast::{self as ast, Expr};

use super::{Lowering, Values};
use crate::EdgeKind;
use crate::outline::{Binding, ScopeKind, Step, Use, UseId};

impl Lowering<'_> {
    /// `isinstance(x, C)`, `issubclass(x, C)` in a function: the local name may be a C. `from` is
    /// the first use of the arguments.
    pub(super) fn narrow(&mut self, call: &ast::ExprCall, from: UseId) {
        let [Expr::Name(object), classes] = &*call.arguments.args else {
            return;
        };
        let known = match &*call.func {
            Expr::Name(name) if &*name.id == "isinstance" => Binding::Annotated,
            Expr::Name(name) if &*name.id == "issubclass" => Binding::AnnotatedClass,
            _ => return,
        };
        let classes = match classes {
            Expr::Tuple(all) => &all.elts[..],
            one => std::slice::from_ref(one),
        };
        let named = |class: &Expr| matches!(class, Expr::Name(_) | Expr::Attribute(_));
        if classes.iter().all(named) {
            // The object is the first use, its classes are the next ones.
            let last = self.body.uses.len() as UseId;
            self.narrow_to(object, from + 1..last, known);
        }
    }

    /// `type(x) is C`, `type(x) == C`
    pub(super) fn narrow_type(&mut self, test: &ast::ExprCompare, class: &Values) {
        let (Expr::Call(call), [Expr::Name(_) | Expr::Attribute(_)]) =
            (&*test.left, &*test.comparators)
        else {
            return;
        };
        let is_type = matches!(&*call.func, Expr::Name(name) if &*name.id == "type");
        let same = matches!(test.ops[..], [ast::CmpOp::Is | ast::CmpOp::Eq]);
        if let (true, true, [Expr::Name(object)], [Binding::Of(class)]) =
            (is_type, same, &*call.arguments.args, &class[..])
        {
            self.narrow_to(object, *class..class + 1, Binding::Annotated);
        }
    }

    pub(super) fn narrow_to(
        &mut self,
        object: &ast::ExprName,
        classes: std::ops::Range<UseId>,
        known: fn(UseId) -> Binding,
    ) {
        let name = self.intern(&object.id);
        if self.kind_of(self.scope) == ScopeKind::Function && self.is_bound(name) {
            for class in classes {
                self.bind(name, known(class));
            }
        }
    }

    /// `getattr(x, "name", default)` with a literal name: a use of `x.name`.
    pub(super) fn named_attribute(
        &mut self,
        call: &ast::ExprCall,
        kind: EdgeKind,
    ) -> Option<Values> {
        let (object, name, default) = match &*call.arguments.args {
            [object, Expr::StringLiteral(name)] => (object, name, None),
            [object, Expr::StringLiteral(name), default] => (object, name, Some(default)),
            _ => return None,
        };
        let is_getattr = matches!(&*call.func, Expr::Name(name) if &*name.id == "getattr");
        if !is_getattr || !matches!(object, Expr::Name(_) | Expr::Attribute(_)) {
            return None;
        }
        let mut values = self.expression(object, kind);
        if let [Binding::Of(number)] = values[..]
            && let Some(used) = self.body.uses.get(number as usize).copied()
        {
            let steps = self.body.steps_of(&used).to_vec();
            let first_step = self.body.steps.len() as u32;
            self.body.steps.extend(steps);
            let name = self.intern(name.value.to_str());
            self.body.steps.push(Step::Attribute(name));
            self.body.uses[number as usize] = Use {
                first_step,
                steps: used.steps + 1,
                ..used
            };
        }
        if let Some(default) = default {
            values.extend(self.expression(default, kind));
        }
        Some(values)
    }
}
