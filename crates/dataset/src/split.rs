//! Which pairs train, which validate, which test.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// What is dealt out 8:1:1 (paper §4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Whole repositories: nothing of a test repository is seen in training. The default.
    #[default]
    Repository,
    /// Single pairs, as the released data does: one query's pairs fall into several parts.
    Pair,
}

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What a model learns from.
    Train,
    /// What chooses the checkpoint and the threshold.
    Valid,
    /// What is left for the end.
    Test,
}

impl Part {
    /// All parts, in the order of their files.
    pub const ALL: [Self; 3] = [Self::Train, Self::Valid, Self::Test];

    /// The name of its files, without their endings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }
}

/// Deals repositories out 8:1:1 by a seeded shuffle of their sorted names. With three or more,
/// each part has at least one; with fewer, all train.
pub fn assign(names: &[String], seed: u64) -> BTreeMap<String, Part> {
    let mut order = names.to_vec();
    order.sort();
    order.dedup();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let share = if order.len() < 3 {
        0
    } else {
        ((order.len() + 5) / 10).max(1)
    };
    let dealt = order.into_iter().enumerate().map(|(place, name)| {
        let part = match place {
            p if p < share => Part::Valid,
            p if p < 2 * share => Part::Test,
            _ => Part::Train,
        };
        (name, part)
    });
    dealt.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(parts: &BTreeMap<String, Part>, part: Part) -> usize {
        parts.values().filter(|&&p| p == part).count()
    }

    #[test]
    fn thirty_repositories_are_dealt_24_3_3() {
        let names: Vec<_> = (0..30).map(|n| format!("r{n}")).collect();
        let parts = assign(&names, 42);
        assert_eq!(Part::ALL.map(|p| count(&parts, p)), [24, 3, 3]);
    }

    #[test]
    fn another_seed_deals_differently() {
        let names: Vec<_> = (0..30).map(|n| format!("r{n}")).collect();
        assert_ne!(assign(&names, 1), assign(&names, 2));
    }

    proptest! {
        #[test]
        fn every_repository_has_one_part_whatever_the_order(
            names in prop::collection::btree_set("[a-z]{1,6}", 0..60),
            seed: u64,
        ) {
            let names: Vec<String> = names.into_iter().collect();
            let parts = assign(&names, seed);
            prop_assert_eq!(parts.len(), names.len());
            prop_assert!(names.iter().all(|n| parts.contains_key(n)));
            let mut reversed = names.clone();
            reversed.reverse();
            prop_assert_eq!(&assign(&reversed, seed), &parts);

            let [train, valid, test] = Part::ALL.map(|p| count(&parts, p));
            prop_assert_eq!(valid, test);
            if names.len() >= 3 {
                prop_assert!(train >= 1 && valid >= 1);
                // A tenth each, to the nearest whole repository, but never none.
                let exact = names.len() as f64 / 10.0;
                prop_assert!((valid as f64 - exact).abs() <= 0.7);
            } else {
                prop_assert_eq!(train, names.len());
            }
        }
    }
}
