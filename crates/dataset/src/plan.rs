//! Algorithm 1: a repository's queries, their candidates and labels, before any text is made.

use std::collections::BTreeSet;

use hydra_core::hash;
use hydra_core::records::UnitKind;
use hydra_pyindex::{RepoIndex, Unit};
use rand::seq::index;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::split::Part;

/// A query and its candidates.
pub(crate) struct Query<'a> {
    pub unit: &'a Unit,
    pub candidates: Vec<Candidate<'a>>,
    /// Dependencies that are no candidates.
    pub outside_pool: usize,
}

/// A candidate, where its pair goes, and whether it stays when train is down-sampled.
pub(crate) struct Candidate<'a> {
    pub unit: &'a Unit,
    pub label: u8,
    pub part: Part,
    pub balanced: bool,
}

/// The queries of a repository in file order (paper, Algorithm 1): functions and methods with a
/// docstring or a dependency. All pairs start in `part`.
pub(crate) fn queries(index: &RepoIndex, part: Part) -> Vec<Query<'_>> {
    let units: Vec<&Unit> = index
        .units()
        .filter(|u| matches!(u.kind, UnitKind::Function | UnitKind::Method))
        .collect();
    // rayon keeps the order.
    let queries = units.into_par_iter().filter_map(|unit| {
        let needed: BTreeSet<_> = index
            .dependencies(&unit.id)
            .into_iter()
            .map(|d| d.unit)
            // An attribute is part of its class, and no candidate of its own.
            .filter(|id| {
                index
                    .unit(id)
                    .is_some_and(|u| u.kind != UnitKind::Attribute)
            })
            .collect();
        if unit.docstring.is_none() && needed.is_empty() {
            return None;
        }
        let mut outside = needed.clone();
        let candidates = index
            .pool(&unit.id)
            .into_iter()
            .map(|candidate| {
                outside.remove(&candidate.id);
                Candidate {
                    unit: candidate,
                    label: u8::from(needed.contains(&candidate.id)),
                    part,
                    balanced: false,
                }
            })
            .collect();
        Some(Query {
            unit,
            candidates,
            outside_pool: outside.len(),
        })
    });
    queries.collect()
}

/// Deals single pairs out 8:1:1, each by its own draw.
pub(crate) fn deal_pairs(queries: &mut [Query<'_>], seed: u64, repository: &str) {
    let mut random = generator(seed, "split", repository);
    for candidate in queries.iter_mut().flat_map(|q| &mut q.candidates) {
        candidate.part = match random.random_range(0..10u32) {
            0 => Part::Valid,
            1 => Part::Test,
            _ => Part::Train,
        };
    }
}

/// Marks the train pairs that stay when negatives are down-sampled 1:1: all positives and as many
/// negatives, drawn without replacement.
///
/// `owed` carries what an earlier repository had too few negatives for.
pub(crate) fn balance(queries: &mut [Query<'_>], seed: u64, repository: &str, owed: &mut usize) {
    let mut negatives = Vec::new();
    let mut positives = 0;
    for candidate in queries.iter_mut().flat_map(|q| &mut q.candidates) {
        match (candidate.part, candidate.label) {
            (Part::Train, 1) => {
                candidate.balanced = true;
                positives += 1;
            }
            (Part::Train, _) => negatives.push(candidate),
            _ => {}
        }
    }
    let wanted = positives + *owed;
    let taken = wanted.min(negatives.len());
    *owed = wanted - taken;
    let mut random = generator(seed, "balance", repository);
    for place in index::sample(&mut random, negatives.len(), taken) {
        negatives[place].balanced = true;
    }
}

/// A generator of one repository's own: what one draws doesn't move another's.
fn generator(seed: u64, purpose: &str, repository: &str) -> ChaCha8Rng {
    let hash = hash::sha256_parts([
        seed.to_le_bytes().as_slice(),
        purpose.as_bytes(),
        repository.as_bytes(),
    ]);
    // The hash is 64 hexadecimal digits; 32 of them fill the seed as they are.
    let mut bytes = [0; 32];
    bytes.copy_from_slice(&hash.as_bytes()[..32]);
    ChaCha8Rng::from_seed(bytes)
}
