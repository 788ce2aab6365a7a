//! Retrievers with a model: dense, DAR, and Hydra, which joins DAR with BM25.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use hydra_core::hash;
use hydra_core::records::Hit;
use hydra_dar::{DarScorer, Embedder};
use hydra_pyindex::text::{candidate_text, query_text};

use crate::{Bm25, RetrieveError, Retriever, Target, best};

/// The units nearest to the target's prompt by the cosine of their embeddings.
///
/// Embeddings are kept by the hash of their text, so that a unit which many targets share is
/// embedded once; the latency of later targets is that of a warm cache.
pub struct Dense {
    embedder: Embedder,
    top: usize,
    known: Mutex<BTreeMap<String, Vec<f32>>>,
}

impl Dense {
    /// With an encoder, and how many units it returns (10 in the released package).
    pub fn new(embedder: Embedder, top: usize) -> Self {
        Self {
            embedder,
            top,
            known: Mutex::default(),
        }
    }

    /// The embeddings of texts, each computed once.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, RetrieveError> {
        let keys: Vec<String> = texts.iter().map(hash::sha256).collect();
        let mut known = self.known.lock().unwrap_or_else(|e| e.into_inner());
        let mut asked = BTreeSet::new();
        let missing: Vec<usize> = (0..texts.len())
            .filter(|&at| !known.contains_key(&keys[at]) && asked.insert(&keys[at]))
            .collect();
        let wanted: Vec<&str> = missing.iter().map(|&at| texts[at]).collect();
        let found = self.embedder.embed(&wanted)?;
        for (at, embedding) in missing.into_iter().zip(found) {
            known.insert(keys[at].clone(), embedding);
        }
        Ok(keys
            .iter()
            .map(|key| known.get(key).cloned().unwrap_or_default())
            .collect())
    }
}

impl Retriever for Dense {
    fn name(&self) -> &str {
        "dense"
    }

    fn retrieve(&self, target: &Target) -> Result<Vec<Hit>, RetrieveError> {
        let mut texts = vec![target.task.prompt.as_str()];
        texts.extend(target.pool.iter().map(|unit| unit.source.as_str()));
        let embeddings = self.embed(&texts)?;
        let (query, candidates) = match embeddings.split_first() {
            Some(parts) => parts,
            None => return Ok(Vec::new()),
        };
        let scores: Vec<f64> = candidates.iter().map(|c| cosine(query, c)).collect();
        Ok(best(target, "dense", &scores, self.top))
    }
}

/// The cosine of the angle between two vectors; 0 where one has no length.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| -> f64 {
        x.iter()
            .zip(y)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    let length = (dot(a, a) * dot(b, b)).sqrt();
    if length == 0.0 {
        0.0
    } else {
        dot(a, b) / length
    }
}

/// Every unit that DAR holds for a dependency: p1 >= T, however many there are.
pub struct Dar {
    scorer: DarScorer,
    threshold: f64,
}

impl Dar {
    /// With a trained model and its threshold (the released package's is 0.25).
    pub fn new(scorer: DarScorer, threshold: f64) -> Self {
        Self { scorer, threshold }
    }
}

impl Retriever for Dar {
    fn name(&self) -> &str {
        "dar"
    }

    fn retrieve(&self, target: &Target) -> Result<Vec<Hit>, RetrieveError> {
        let task = target.task;
        let name = task.target.rsplit('.').next().unwrap_or(&task.target);
        let query = query_text(name, task.docstring.as_deref(), &task.signature);
        let candidates: Vec<String> = target.pool.iter().map(|u| candidate_text(u)).collect();
        let candidates: Vec<&str> = candidates.iter().map(String::as_str).collect();
        let scores: Vec<f64> = self
            .scorer
            .score(&query, &candidates)?
            .iter()
            .map(|score| f64::from(score.p1))
            .collect();
        let chosen = scores.iter().filter(|p1| **p1 >= self.threshold).count();
        Ok(best(target, "dar", &scores, chosen))
    }
}

/// BM25's first units, then DAR's that are not among them.
pub struct Hydra {
    /// Its top 5 in the paper.
    pub bm25: Bm25,
    /// The dependencies.
    pub dar: Dar,
}

impl Retriever for Hydra {
    fn name(&self) -> &str {
        "hydra"
    }

    fn retrieve(&self, target: &Target) -> Result<Vec<Hit>, RetrieveError> {
        let mut hits = self.bm25.retrieve(target)?;
        let similar: BTreeSet<_> = hits.iter().map(|h| h.unit.clone()).collect();
        for found in self.dar.retrieve(target)? {
            if !similar.contains(&found.unit) {
                let rank = hits.len() + 1;
                hits.push(Hit { rank, ..found });
            }
        }
        Ok(hits)
    }
}

#[cfg(test)]
mod tests {
    use super::cosine;

    #[test]
    fn cosine_knows_length_and_direction_apart() {
        assert!((cosine(&[3.0, 4.0], &[6.0, 8.0]) - 1.0).abs() < 1e-12);
        assert!(cosine(&[1.0, 0.0], &[0.0, 2.0]).abs() < 1e-12);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 1.0]), 0.0);
    }
}
