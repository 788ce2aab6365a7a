//! The patterns of `match`.

use ruff_python_ast::{self as ast, Pattern};

use super::Lowering;
use crate::EdgeKind;
use crate::outline::{Binding, UseId};

impl Lowering<'_> {
    /// Binds the names of a pattern; `subject` is what is known of what it is matched with.
    pub(super) fn pattern(&mut self, pattern: &Pattern, subject: &[Binding]) {
        self.deeper(|lowering| lowering.matched(pattern, subject));
    }

    pub(super) fn matched(&mut self, pattern: &Pattern, subject: &[Binding]) {
        match pattern {
            Pattern::MatchValue(p) => {
                self.expression(&p.value, EdgeKind::Read);
            }
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(p) => p.patterns.iter().for_each(|p| self.pattern(p, &[])),
            Pattern::MatchMapping(p) => {
                self.expressions(&p.keys, EdgeKind::Read);
                p.patterns.iter().for_each(|p| self.pattern(p, &[]));
                self.capture(p.rest.as_ref(), &[]);
            }
            Pattern::MatchClass(p) => {
                self.expression(&p.cls, EdgeKind::Read);
                p.arguments
                    .patterns
                    .iter()
                    .for_each(|p| self.pattern(p, &[]));
                for keyword in &p.arguments.keywords {
                    self.pattern(&keyword.pattern, &[]);
                }
            }
            Pattern::MatchStar(p) => self.capture(p.name.as_ref(), &[]),
            Pattern::MatchAs(p) => match &p.pattern {
                Some(inner) => {
                    let from = self.body.uses.len() as UseId;
                    self.pattern(inner, subject);
                    // `case C(...) as c`: the class is the first use in the pattern.
                    let class = matches!(**inner, Pattern::MatchClass(_));
                    let known = [Binding::Annotated(from)];
                    self.capture(p.name.as_ref(), if class { &known } else { &[] });
                }
                None => self.capture(p.name.as_ref(), subject),
            },
            Pattern::MatchOr(p) => p.patterns.iter().for_each(|p| self.pattern(p, subject)),
        }
    }

    pub(super) fn capture(&mut self, name: Option<&ast::Identifier>, known: &[Binding]) {
        if let Some(name) = name {
            let name = self.intern(&name.id);
            self.bind_all(name, known);
        }
    }
}
