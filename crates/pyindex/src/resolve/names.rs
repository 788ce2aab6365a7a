//! Names, by scopes and bindings.

use super::memos::{Answer, Memo};
use super::value::{Meaning, Value, Via};
use super::{Place, Resolver, World};
use crate::modules::Found;
use crate::outline::{Binding, Bound, ScopeId, Sym, Use};
use crate::unit::{EdgeKind, Provenance};

impl<W: World> Resolver<'_, W> {
    /// The name at the root of a use. A module or class body sees what was bound before, if
    /// anything was.
    pub(super) fn root(&mut self, file: u32, used: &Use, name: Sym) -> Answer {
        let outline = self.outline(file);
        // Annotations are evaluated later, if ever.
        let forward = used.kind == EdgeKind::Annotate;
        if outline.is_ordered(used.scope)
            && let Some((first, last)) = outline.events(used.scope, name)
            && last >= used.event
        {
            if first < used.event {
                let bounds = outline.visible(used.scope, name, false, Some(used.event));
                let meaning = self.bindings(file, &bounds, None);
                return self.memos.keep(meaning);
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
    pub(super) fn name(&mut self, file: u32, from: ScopeId, name: Sym) -> Answer {
        let outline = self.outline(file);
        if !outline.can_mean(name) {
            return Answer::NOTHING;
        }
        match outline.scope_of(from, name) {
            Some(scope) => self.bound(file, scope, name),
            // A builtin, most of the time.
            None if outline.body.stars.is_empty() => Answer::NOTHING,
            None => self.bound(file, 0, name),
        }
    }

    /// A name of a scope, or of the star imports of a module.
    pub(super) fn bound(&mut self, file: u32, scope: ScopeId, name: Sym) -> Answer {
        let outline = self.outline(file);
        if scope != 0 && outline.says_nothing(scope, name) {
            return Answer::NOTHING;
        }
        let own = file == self.file && scope == 0;
        let known = if own {
            self.memos
                .globals
                .get(name as usize)
                .and_then(Option::as_ref)
        } else {
            self.memos.names.get(&(file, scope, name))
        };
        match known {
            Some(Memo::Done(meaning)) => return *meaning,
            Some(Memo::Open(depth)) => {
                self.cut = self.cut.min(*depth);
                return Answer::NOTHING;
            }
            None => {}
        }
        if self.spent() {
            return Answer::NOTHING;
        }
        self.keep(own, (file, scope, name), Some(Memo::Open(self.depth)));
        let outer = self.open();
        let meaning = self.look_up(file, scope, name);
        let meaning = self.memos.keep(meaning);
        let done = self.close(outer).then_some(Memo::Done(meaning));
        self.keep(own, (file, scope, name), done);
        meaning
    }

    fn keep(&mut self, own: bool, key: (u32, ScopeId, Sym), memo: Option<Memo>) {
        if own {
            let at = key.2 as usize;
            if at >= self.memos.globals.len() {
                self.memos.globals.resize(at + 1, None);
            }
            self.memos.globals[at] = memo;
        } else if let Some(memo) = memo {
            self.memos.names.insert(key, memo);
        } else {
            self.memos.names.remove(&key);
        }
    }

    pub(super) fn look_up(&mut self, file: u32, scope: ScopeId, name: Sym) -> Meaning {
        let outline = self.outline(file);
        if scope == 0 && !outline.body.stars.is_empty() {
            // A star import behind the last binding hides it.
            let last = outline.events(0, name).map(|(_, last)| last);
            let found = self.starred(file, outline.body.names.text(name), last);
            if !found.is_empty() {
                return found;
            }
        }
        self.bindings(file, &outline.visible(scope, name, false, None), None)
    }

    pub(super) fn bindings(
        &mut self,
        file: u32,
        bindings: &[Bound],
        receiver: Option<Place>,
    ) -> Meaning {
        let mut meaning = Meaning::default();
        for bound in bindings {
            // Each assignment to a variable binds its name to the one unit.
            if let Binding::Unit(unit) = bound.binding
                && meaning.reached.contains(&((file, unit), Provenance::Name))
            {
                continue;
            }
            if self.is_worked_out() {
                // What is named is known even where its value is not.
                self.cut = 0;
                if let Binding::Unit(unit) = bound.binding {
                    meaning.reached.push(((file, unit), Provenance::Name));
                }
                continue;
            }
            meaning.add(&self.binding(file, bound.binding, receiver));
        }
        meaning
    }

    pub(super) fn binding(
        &mut self,
        file: u32,
        binding: Binding,
        receiver: Option<Place>,
    ) -> Meaning {
        let mut meaning = Meaning::default();
        match binding {
            Binding::Unit(unit) => {
                let place = (file, unit);
                meaning.reached.push((place, Provenance::Name));
                meaning.values = self.unit_values(place, receiver);
            }
            Binding::Module(module) => {
                let outline = self.outline(file);
                let name = outline.body.module(module);
                if let Found::Module(module) = self.world.modules().resolve(file, name) {
                    meaning.values.push(Value::Module(module));
                }
            }
            Binding::Package(module) => {
                let outline = self.outline(file);
                let name = outline.body.module(module);
                let module = self.world.modules().package(file, name);
                meaning.values.extend(module.map(Value::Module));
            }
            Binding::Member(module, name) => {
                let outline = self.outline(file);
                let module = outline.body.module(module);
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
}
