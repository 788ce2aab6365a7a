//! Members of classes, by their method resolution order.

use smallvec::SmallVec;

use super::memos::{Memo, Order};
use super::value::{Meaning, Value, Via};
use super::{Place, Resolver, World};

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
        for at in order.start + usize::from(behind)..order.end {
            let (file, unit) = self.memos.classes[at];
            let outline = self.outline(file);
            let (Some(scope), Some(name)) = (
                outline.class_scopes.get(&unit),
                outline.body.names.get(name),
            ) else {
                continue;
            };
            let bindings = outline.visible(*scope, name, instance, None);
            if bindings.is_empty() {
                continue;
            }
            self.work += bindings.len() as u32;
            let mut meaning = self.bindings(file, &bindings, Some(class));
            for (_, provenance) in &mut meaning.reached {
                *provenance = via.provenance();
            }
            return meaning;
        }
        Meaning::default()
    }

    /// The method resolution order (C3) of a class over the bases that can be resolved. Where C3
    /// has no answer, as in broken hierarchies, the bases follow depth first.
    pub(super) fn order(&mut self, class: Place) -> Order {
        match self.memos.orders.get(&class) {
            Some(Memo::Done(order)) => return *order,
            Some(Memo::Open(depth)) => {
                self.cut = self.cut.min(*depth);
                return self.keep_order(&[class]);
            }
            None => {}
        }
        let open = Memo::Open(self.depth);
        self.memos.orders.insert(class, open);
        let outer = self.open();
        let order = self.work_out_order(class);
        if self.close(outer) {
            self.memos.orders.insert(class, Memo::Done(order));
        } else {
            self.memos.orders.remove(&class);
        }
        order
    }

    fn work_out_order(&mut self, class: Place) -> Order {
        let mut bases: SmallVec<[Place; 4]> = SmallVec::new();
        let (file, unit) = class;
        let outline = self.outline(file);
        let all = &outline.body.bases;
        let from = all.partition_point(|(u, _)| *u < unit);
        for (_, used) in all[from..].iter().take_while(|(u, _)| *u == unit) {
            let values = self.values(file, *used);
            for value in &self.memos.of(values).values {
                if let Value::Class(base, _) = value
                    && *base != class
                    && !bases.contains(base)
                {
                    bases.push(*base);
                }
            }
        }
        let orders: SmallVec<[Order; 4]> = bases.iter().map(|base| self.order(*base)).collect();
        if let [order] = orders[..] {
            // The class in front of its one base's.
            let start = self.memos.classes.len();
            self.memos.classes.push(class);
            self.memos
                .classes
                .extend_from_within(order.start..order.end);
            let end = self.memos.classes.len();
            return Order { start, end };
        }
        let mut lines: Vec<Vec<Place>> = orders
            .iter()
            .map(|order| self.memos.order(*order).to_vec())
            .collect();
        lines.push(bases.into_vec());
        self.keep_order(&linearise(class, lines))
    }

    fn keep_order(&mut self, order: &[Place]) -> Order {
        let start = self.memos.classes.len();
        self.memos.classes.extend_from_slice(order);
        let end = self.memos.classes.len();
        Order { start, end }
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
