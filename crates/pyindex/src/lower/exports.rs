//! `__all__`.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::Lowering;
use crate::outline::{Exports, UseId};

impl Lowering<'_> {
    /// `__all__ = [...]`
    pub(super) fn exports_are(&mut self, name: &str, value: &Expr) {
        if name == "__all__" && self.scope == 0 {
            let mut exports = Exports::default();
            let known = self.exports_of(value, &mut exports);
            self.body.exported = known.then_some(exports);
        }
    }

    /// `__all__ += [...]`
    pub(super) fn exports_grow(&mut self, name: &str, value: &Expr) {
        if name != "__all__" || self.scope != 0 {
            return;
        }
        // What can't be read may be anything: everything public counts.
        if let Some(mut exports) = self.body.exported.take()
            && self.exports_of(value, &mut exports)
        {
            self.body.exported = Some(exports);
        }
    }

    /// Adds what an expression lists; false where it can't be read.
    pub(super) fn exports_of(&mut self, value: &Expr, exports: &mut Exports) -> bool {
        let items = match value {
            Expr::List(list) => &list.elts[..],
            Expr::Tuple(tuple) => &tuple.elts[..],
            Expr::Set(set) => &set.elts[..],
            Expr::BinOp(sum) => {
                return self.exports_of(&sum.left, exports) && self.exports_of(&sum.right, exports);
            }
            Expr::Attribute(list) if &*list.attr.id == "__all__" => {
                let at = list.value.range().start().to_u32();
                let first = self.first_use as usize;
                let used = self.body.uses[first..].iter().position(|u| u.at == at);
                exports.others.extend(used.map(|n| (first + n) as UseId));
                return used.is_some();
            }
            _ => return false,
        };
        items.iter().all(|item| match item {
            Expr::StringLiteral(literal) => {
                let name = self.intern(literal.value.to_str());
                exports.names.push(name);
                true
            }
            Expr::Starred(rest) => self.exports_of(&rest.value, exports),
            _ => false,
        })
    }

    /// `__all__.extend([...])`, `__all__.append("x")`, `__all__.remove("x")`
    pub(super) fn exports_call(&mut self, value: &Expr) {
        let Expr::Call(call) = value else { return };
        let Expr::Attribute(method) = &*call.func else {
            return;
        };
        let [argument] = &*call.arguments.args else {
            return;
        };
        let is_all = matches!(&*method.value, Expr::Name(name) if &*name.id == "__all__");
        if !is_all || self.scope != 0 {
            return;
        }
        match (&*method.attr.id, argument) {
            ("extend", list) => self.exports_grow("__all__", list),
            ("append", Expr::StringLiteral(one)) => {
                let one = self.intern(one.value.to_str());
                if let Some(exported) = &mut self.body.exported {
                    exported.names.push(one);
                }
            }
            ("remove", Expr::StringLiteral(one)) => {
                let one = self.intern(one.value.to_str());
                if let Some(exported) = &mut self.body.exported {
                    exported.names.retain(|name| *name != one);
                }
            }
            _ => {}
        }
    }
}
