//! Against the numbers of transformers and PyTorch, which `scripts/parity/encoder.py` records.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use burn::optim::{GradientsAccumulator, GradientsParams};
use hydra_core::Mode;
use serde::Deserialize;

use crate::config::InputConfig;
use crate::infer::{DarScorer, Embedder, Folder};
use crate::model::Dar;
use crate::optimiser::Optimiser;
use crate::tokens::Reader;
use crate::train::loss;
use crate::{Cpu, CpuTraining, EncoderConfig, Pair, weights};

const FAMILIES: [&str; 2] = ["bert", "roberta"];

#[derive(Deserialize)]
struct Expected {
    max_tokens: usize,
    pairs: Vec<ExpectedPair>,
    losses: Vec<f64>,
    norms: Vec<f64>,
}

#[derive(Deserialize)]
struct ExpectedPair {
    query: String,
    candidate: String,
    label: u8,
    ids: Vec<u32>,
    types: Vec<u32>,
    joined_ids: Vec<u32>,
    logits: [f32; 2],
    joined_logits: [f32; 2],
    embedding: Vec<f32>,
}

fn folder(family: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(family)
}

fn expected(family: &str) -> Expected {
    let text = std::fs::read(folder(family).join("expected.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn reader(family: &str, mode: Mode, max_tokens: usize) -> Reader {
    let files = Folder::open(&folder(family)).unwrap();
    let config = EncoderConfig::read(&files.config).unwrap();
    Reader::open(&files.tokenizer, &config, InputConfig { mode, max_tokens }).unwrap()
}

fn scorer(family: &str, mode: Mode, max_tokens: usize) -> DarScorer {
    let files = Folder::open(&folder(family)).unwrap();
    let config = EncoderConfig::read(&files.config).unwrap();
    let device = Default::default();
    let (model, missing) =
        crate::infer::load::<Cpu>(&files, &config, |_| false, 0, &device).unwrap();
    assert!(missing.is_empty(), "{missing:?}");
    DarScorer::from_parts(model, reader(family, mode, max_tokens), device)
}

fn near(ours: &[f32], theirs: &[f32], tolerance: f32) {
    assert_eq!(ours.len(), theirs.len());
    for (a, b) in ours.iter().zip(theirs) {
        assert!((a - b).abs() <= tolerance, "{ours:?} is not {theirs:?}");
    }
}

#[test]
fn token_ids_and_types_are_those_of_the_python_tokenizer() {
    for family in FAMILIES {
        let expected = expected(family);
        let faithful = reader(family, Mode::Faithful, expected.max_tokens);
        let released = reader(family, Mode::AsReleased, expected.max_tokens);
        for pair in &expected.pairs {
            let tokens = faithful.pair(&pair.query, &pair.candidate).unwrap();
            assert_eq!(tokens.ids, pair.ids, "{family}: {}", pair.query);
            assert_eq!(tokens.types, pair.types, "{family}: {}", pair.query);
            let joined = released.pair(&pair.query, &pair.candidate).unwrap();
            assert_eq!(joined.ids, pair.joined_ids, "{family}: {}", pair.query);
        }
    }
}

#[test]
fn logits_of_padded_batches_are_those_of_transformers() {
    for family in FAMILIES {
        let expected = expected(family);
        let pairs: Vec<Pair> = expected.pairs.iter().map(pair).collect();
        for (mode, wanted) in [
            (
                Mode::Faithful,
                (|p| &p.logits) as fn(&ExpectedPair) -> &[f32; 2],
            ),
            (Mode::AsReleased, |p| &p.joined_logits),
        ] {
            let scorer = scorer(family, mode, expected.max_tokens);
            let scores = scorer.score_pairs(&pairs, &hydra_core::Silent).unwrap();
            for (score, pair) in scores.iter().zip(&expected.pairs) {
                near(&score.logits, wanted(pair), 2e-6);
                let [no, yes] = wanted(pair).map(f32::exp);
                near(&[score.p1], &[yes / (no + yes)], 1e-6);
            }
        }
    }
}

fn pair(pair: &ExpectedPair) -> Pair {
    Pair {
        query: pair.query.clone(),
        candidate: pair.candidate.clone(),
        label: pair.label,
    }
}

#[test]
fn embeddings_are_the_masked_means_of_transformers() {
    for family in FAMILIES {
        let expected = expected(family);
        let embedder = Embedder::<Cpu>::load(&folder(family), &Default::default()).unwrap();
        let texts: Vec<&str> = expected.pairs.iter().map(|p| p.query.as_str()).collect();
        let embeddings = embedder.embed(&texts).unwrap();
        for (ours, pair) in embeddings.iter().zip(&expected.pairs) {
            near(ours, &pair.embedding, 2e-6);
        }
    }
}

/// Two batches averaged a step, clipped together, decayed linearly; no dropout.
#[test]
fn five_optimiser_steps_lose_what_pytorch_loses() {
    for family in FAMILIES {
        let expected = expected(family);
        let files = Folder::open(&folder(family)).unwrap();
        let config = EncoderConfig::read(&files.config).unwrap();
        let reader = reader(family, Mode::Faithful, expected.max_tokens);
        let device = Default::default();
        let model = Dar::<CpuTraining>::with_dropout(&config, 0.0, &device);
        let named = weights::read(&files.weights, &weights::shapes(&model), |_| false).unwrap();
        let mut model = weights::with_values(model, named, &device);
        let mut optimiser = Optimiser::<Cpu>::new(0.01);
        let pairs: Vec<Pair> = expected.pairs.iter().map(pair).collect();
        for (step, (wanted, norm)) in expected.losses.iter().zip(&expected.norms).enumerate() {
            let mut accumulator = GradientsAccumulator::new();
            let mut total = 0.0;
            for half in pairs.chunks(4) {
                let half: Vec<&Pair> = half.iter().collect();
                let loss = loss(&model, &reader, &half, &device).unwrap();
                total += loss.clone().into_data().iter::<f64>().sum::<f64>() / 2.0;
                let gradients = loss.div_scalar(2.0).backward();
                accumulator.accumulate(&model, GradientsParams::from_grads(gradients, &model));
            }
            assert!(
                (total - wanted).abs() < 1e-4,
                "{family}, step {step}: {total} {wanted}"
            );
            let rate = 1e-3 * (5 - step) as f64 / 5.0;
            let ours;
            (model, ours) = optimiser.step::<CpuTraining, _>(model, accumulator.grads(), rate, 1.0);
            assert!(
                (ours / norm - 1.0).abs() < 1e-3,
                "{family}, step {step}: {ours} {norm}"
            );
        }
    }
}
