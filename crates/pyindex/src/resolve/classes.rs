//! Members of classes, by their method resolution order.

use std::rc::Rc;

use super::value::{Meaning, Value, Via};
use super::{Memo, Place, Resolver, World};

impl<W: World> Resolver<'_, W> {
    /// A member of a class by its method resolution order; `behind` leaves out the class itself.
    pub(super) fn class_attribute(
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
            self.work += bindings.len() as u32;
            let mut meaning = self.bindings(*file, &bindings, Some(class));
            for (_, provenance) in &mut meaning.reached {
                *provenance = via.provenance();
            }
            return meaning;
        }
        Meaning::default()
    }

    /// The method resolution order (C3) of a class over the bases that can be resolved. Where C3
    /// has no answer, as in broken hierarchies, the bases follow depth first.
    pub(super) fn order(&mut self, class: Place) -> Rc<Vec<Place>> {
        match self.orders.get(&class) {
            Some(Memo::Done(order)) => return order.clone(),
            Some(Memo::Open(depth)) => {
                self.cut = self.cut.min(*depth);
                return Rc::new(vec![class]);
            }
            None => {}
        }
        self.orders.insert(class, Memo::Open(self.depth));
        let outer = self.open();
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
        if self.close(outer) {
            self.orders.insert(class, Memo::Done(order.clone()));
        } else {
            self.orders.remove(&class);
        }
        order
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
