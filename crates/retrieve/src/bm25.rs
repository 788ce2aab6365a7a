//! BM25 as the released package uses it: `BM25Okapi` of rank-bm25 over white-space tokens.

use std::collections::HashMap;

use hydra_core::records::Hit;

use crate::{RetrieveError, Retriever, Target, best};

/// rank-bm25's defaults.
const K1: f64 = 1.5;
const B: f64 = 0.75;
const EPSILON: f64 = 0.25;

/// BM25Okapi scores of every document for a query.
///
/// A word in more than half of the documents has a negative idf; it is replaced by
/// `EPSILON` times the mean idf over all words, as rank-bm25 does.
pub fn bm25_scores(documents: &[&str], query: &str) -> Vec<f64> {
    let counts: Vec<(HashMap<&str, usize>, usize)> = documents
        .iter()
        .map(|document| {
            let mut count = HashMap::new();
            let mut length = 0;
            for word in document.split_whitespace() {
                *count.entry(word).or_insert(0) += 1;
                length += 1;
            }
            (count, length)
        })
        .collect();
    let total: usize = counts.iter().map(|(_, length)| length).sum();
    if total == 0 {
        return vec![0.0; documents.len()];
    }
    let n = documents.len() as f64;
    let mean_length = total as f64 / n;

    // Words in order of first appearance: the order of a sum decides its last bits.
    let mut order: Vec<&str> = Vec::new();
    let mut holders: HashMap<&str, usize> = HashMap::new();
    for (document, (count, _)) in documents.iter().zip(&counts) {
        let mut seen = std::collections::HashSet::new();
        for word in document.split_whitespace() {
            if count.contains_key(word) && seen.insert(word) {
                let held = holders.entry(word).or_insert(0);
                if *held == 0 {
                    order.push(word);
                }
                *held += 1;
            }
        }
    }
    let idf = |held: usize| (n - held as f64 + 0.5).ln() - (held as f64 + 0.5).ln();
    let mean_idf = order.iter().map(|w| idf(holders[w])).sum::<f64>() / order.len() as f64;
    let weight = |word: &str| match holders.get(word).map(|&held| idf(held)) {
        Some(idf) if idf < 0.0 => EPSILON * mean_idf,
        Some(idf) => idf,
        None => 0.0,
    };

    let mut scores = vec![0.0; documents.len()];
    for word in query.split_whitespace() {
        let weight = weight(word);
        for (score, (count, length)) in scores.iter_mut().zip(&counts) {
            let frequency = count.get(word).copied().unwrap_or(0) as f64;
            let norm = K1 * (1.0 - B + B * *length as f64 / mean_length);
            *score += weight * (frequency * (K1 + 1.0) / (frequency + norm));
        }
    }
    scores
}

/// The `top` units by BM25 between the task's prompt and the unit's source. Ties keep the order
/// of the pool.
#[derive(Debug, Clone, Copy)]
pub struct Bm25 {
    /// How many units: 10 alone, 5 inside Hydra (the released package's settings).
    pub top: usize,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { top: 10 }
    }
}

impl Retriever for Bm25 {
    fn name(&self) -> &str {
        "bm25"
    }

    fn retrieve(&self, target: &Target) -> Result<Vec<Hit>, RetrieveError> {
        let documents: Vec<&str> = target.pool.iter().map(|u| u.source.as_str()).collect();
        let scores = bm25_scores(&documents, &target.task.prompt);
        Ok(best(target, "bm25", &scores, self.top))
    }
}
