//! The figures.

use std::collections::BTreeMap;

use hydra_core::TaskId;
use hydra_core::records::{Judged, Retrieval, Retrieved, Task, UnitKind};

/// The unbiased estimator of pass@k (Chen et al. 2021, eq. 1): `1 - C(n-c, k) / C(n, k)` for n
/// answers of which c are right. Nothing where k is 0 or above n, or c above n.
pub fn pass_at_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k == 0 || k > n || c > n {
        return None;
    }
    if n - c < k {
        return Some(1.0);
    }
    let missed: f64 = (n - c + 1..=n).map(|i| 1.0 - k as f64 / i as f64).product();
    Some(1.0 - missed)
}

/// The mean of pass@k over `tasks`, each with `samples` answers: an answer that is missing counts
/// as one that fails. Nothing where k is more than `samples`.
pub fn mean_pass_at_k(tasks: &[Task], samples: usize, judged: &[Judged], k: usize) -> Option<f64> {
    let mut passed: BTreeMap<&TaskId, usize> = tasks.iter().map(|t| (&t.id, 0)).collect();
    for judged in judged.iter().filter(|j| j.verdict.passed()) {
        if let Some(count) = passed.get_mut(&judged.task) {
            *count += 1;
        }
    }
    let each: Option<Vec<f64>> = passed.values().map(|&c| pass_at_k(samples, c, k)).collect();
    let each = each.filter(|each| !each.is_empty())?;
    Some(each.iter().sum::<f64>() / each.len() as f64)
}

/// What of the benchmark's dependencies was retrieved, micro-averaged (Table 3): `all`,
/// `function` (methods included), `class` and `variable`. A hit counts if its name and kind, and
/// where the benchmark knows it the file, are those of a dependency.
pub fn retrieved_by_kind(
    tasks: &[Task],
    retrievals: &[Retrieval],
) -> BTreeMap<&'static str, Retrieved> {
    let mut table: BTreeMap<&'static str, Retrieved> = ["all", "function", "class", "variable"]
        .map(|k| (k, Retrieved::default()))
        .into();
    let by_task: BTreeMap<&TaskId, &Retrieval> = retrievals.iter().map(|r| (&r.task, r)).collect();
    for task in tasks {
        let hits = by_task.get(&task.id).map_or(&[][..], |r| &r.hits);
        for hit in hits {
            for row in ["all", column(hit.kind)] {
                if let Some(row) = table.get_mut(row) {
                    row.retrieved += 1;
                }
            }
        }
        for wanted in &task.dependencies {
            let found = hits.iter().any(|hit| {
                hit.name == wanted.name
                    && column(hit.kind) == column(wanted.kind)
                    && wanted.path.as_ref().is_none_or(|path| *path == hit.path)
            });
            for row in ["all", column(wanted.kind)] {
                if let Some(row) = table.get_mut(row) {
                    row.wanted += 1;
                    row.found += usize::from(found);
                }
            }
        }
    }
    table
}

fn column(kind: UnitKind) -> &'static str {
    match kind {
        UnitKind::Function | UnitKind::Method => "function",
        UnitKind::Class => "class",
        UnitKind::Variable | UnitKind::Attribute => "variable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_estimator_has_its_known_values() {
        // 1 - C(3,3)/C(5,3) = 0.9
        assert!(pass_at_k(5, 2, 3).is_some_and(|p| (p - 0.9).abs() < 1e-12));
        assert_eq!(pass_at_k(5, 0, 5), Some(0.0));
        assert_eq!(pass_at_k(5, 1, 5), Some(1.0));
    }

    proptest! {
        #[test]
        fn it_grows_with_k_and_c_and_stays_a_probability(n in 1usize..30, c in 0usize..30, k in 1usize..30) {
            if let Some(p) = pass_at_k(n, c, k) {
                prop_assert!((0.0..=1.0).contains(&p));
                if let Some(more) = pass_at_k(n, c, k + 1) {
                    prop_assert!(more >= p - 1e-12);
                }
                if let Some(more) = pass_at_k(n, c + 1, k) {
                    prop_assert!(more >= p - 1e-12);
                }
            }
        }
    }
}
