//! Trained models at work: scores of pairs, embeddings of texts.

use std::path::{Path, PathBuf};

use burn::tensor::backend::Backend;
use hydra_core::{Mode, Progress};
use rayon::prelude::*;

use crate::config::InputConfig;
use crate::model::Dar;
use crate::tokens::{Reader, Tokens, by_length};
use crate::{Cpu, DarError, EncoderConfig, Pair, weights};

/// The tokens that the released model and retriever read at most.
pub(crate) const MAX_TOKENS: usize = 512;

/// The score of a candidate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Logits of "no dependency" and "dependency".
    pub logits: [f32; 2],
    /// The probability of a dependency: softmax of the logits.
    pub p1: f32,
}

/// The files of a model folder in the hub's format.
pub(crate) struct Folder {
    pub config: PathBuf,
    pub weights: PathBuf,
    pub tokenizer: PathBuf,
}

impl Folder {
    /// Says what is missing, and that a pickle is not read.
    pub(crate) fn open(folder: &Path) -> Result<Self, DarError> {
        let found = Self {
            config: folder.join("config.json"),
            weights: folder.join("model.safetensors"),
            tokenizer: folder.join("tokenizer.json"),
        };
        let pickled = folder.join("pytorch_model.bin").exists();
        for path in [&found.config, &found.weights, &found.tokenizer] {
            if path.is_file() {
                continue;
            }
            let reason = if pickled && *path == found.weights {
                "there is no such file; pytorch_model.bin is a pickle, which can run code and is \
                 not read: convert it to safetensors first"
            } else {
                "there is no such file; a model folder holds config.json, model.safetensors and \
                 tokenizer.json"
            };
            return Err(DarError::Weights {
                path: path.clone(),
                reason: reason.to_owned(),
            });
        }
        Ok(found)
    }
}

/// The model of a folder. `optional` says which parameters it may lack; they are drawn from `seed`
/// and their names returned.
pub(crate) fn load<B: Backend>(
    folder: &Folder,
    config: &EncoderConfig,
    optional: impl Fn(&str) -> bool,
    seed: u64,
    device: &B::Device,
) -> Result<(Dar<B>, Vec<String>), DarError> {
    let model = Dar::new(config, device);
    let shapes = weights::shapes(&model);
    let mut named = weights::read(&folder.weights, &shapes, optional)?;
    let missing: Vec<String> = shapes
        .keys()
        .filter(|name| !named.contains_key(*name))
        .cloned()
        .collect();
    let mut drawn = weights::initial(&shapes, seed);
    drawn.retain(|name, _| !named.contains_key(name));
    named.extend(drawn);
    Ok((weights::with_values(model, named, device), missing))
}

/// A trained DAR.
pub struct DarScorer<B: Backend = Cpu> {
    model: Dar<B>,
    reader: Reader,
    device: B::Device,
}

impl<B: Backend> DarScorer<B> {
    /// Loads a model folder that holds a trained head: one that [`crate::train`] made, or the
    /// released one converted to safetensors.
    ///
    /// # Errors
    /// Missing or broken files, weights that don't fit `config.json`, an encoder without a head.
    pub fn load(folder: &Path, device: &B::Device) -> Result<Self, DarError> {
        let folder = Folder::open(folder)?;
        let config = EncoderConfig::read(&folder.config)?;
        let (model, _) = load(&folder, &config, |_| false, 0, device)?;
        // A model without our key is the released one.
        let input = config.input.unwrap_or(InputConfig {
            mode: Mode::AsReleased,
            max_tokens: MAX_TOKENS,
        });
        let reader = Reader::open(&folder.tokenizer, &config, input)?;
        Ok(Self::from_parts(model, reader, device.clone()))
    }

    pub(crate) fn from_parts(model: Dar<B>, reader: Reader, device: B::Device) -> Self {
        Self {
            model,
            reader,
            device,
        }
    }

    pub(crate) fn into_model(self) -> Dar<B> {
        self.model
    }

    /// The scores of a query's candidates, in their order.
    ///
    /// # Errors
    /// A text that can't be tokenised; scores that are no numbers.
    pub fn score(&self, query: &str, candidates: &[&str]) -> Result<Vec<Score>, DarError> {
        let texts = candidates
            .iter()
            .map(|candidate| self.reader.pair(query, candidate))
            .collect::<Result<Vec<_>, _>>()?;
        self.scores(&texts, &hydra_core::Silent)
    }

    /// The scores of pairs, in their order.
    ///
    /// # Errors
    /// As for [`DarScorer::score`].
    pub fn score_pairs(
        &self,
        pairs: &[Pair],
        progress: &dyn Progress,
    ) -> Result<Vec<Score>, DarError> {
        let texts = pairs
            .iter()
            .map(|pair| self.reader.pair(&pair.query, &pair.candidate))
            .collect::<Result<Vec<_>, _>>()?;
        self.scores(&texts, progress)
    }

    fn scores(&self, texts: &[Tokens], progress: &dyn Progress) -> Result<Vec<Score>, DarError> {
        let bar = progress.start("score", Some(texts.len() as u64));
        let scored = by_length(texts)
            .par_iter()
            .map(|group| {
                let scores = self.scores_of(texts, group)?;
                bar.advance(group.len() as u64);
                Ok(scores)
            })
            .collect::<Result<Vec<_>, DarError>>()?;
        let mut scores: Vec<(usize, Score)> = scored.into_iter().flatten().collect();
        scores.sort_by_key(|(at, _)| *at);
        Ok(scores.into_iter().map(|(_, score)| score).collect())
    }

    /// The scores of a batch, each with its place among all.
    fn scores_of(
        &self,
        texts: &[Tokens],
        group: &[usize],
    ) -> Result<Vec<(usize, Score)>, DarError> {
        let chosen: Vec<&Tokens> = group.iter().map(|&at| &texts[at]).collect();
        let batch = self.reader.batch(&chosen, &self.device);
        let logits = self.model.forward(&batch).into_data();
        let logits: Vec<f32> = logits.iter::<f32>().collect();
        if !logits.iter().all(|l| l.is_finite()) {
            return Err(DarError::NotFinite);
        }
        let pairs = logits.chunks_exact(2).map(|pair| {
            let logits = [pair[0], pair[1]];
            let p1 = 1.0 / (1.0 + (logits[0] - logits[1]).exp());
            Score { logits, p1 }
        });
        Ok(group.iter().copied().zip(pairs).collect())
    }
}

/// An encoder for dense retrieval.
pub struct Embedder<B: Backend = Cpu> {
    model: Dar<B>,
    reader: Reader,
    device: B::Device,
}

impl<B: Backend> Embedder<B> {
    /// Loads an encoder folder; a head or pooler that it lacks is not used.
    ///
    /// # Errors
    /// Missing or broken files, weights that don't fit `config.json`.
    pub fn load(folder: &Path, device: &B::Device) -> Result<Self, DarError> {
        let folder = Folder::open(folder)?;
        let config = EncoderConfig::read(&folder.config)?;
        let (model, _) = load(&folder, &config, above_the_encoder, 0, device)?;
        let input = InputConfig {
            mode: Mode::Faithful,
            max_tokens: MAX_TOKENS,
        };
        let reader = Reader::open(&folder.tokenizer, &config, input)?;
        Ok(Self {
            model,
            reader,
            device: device.clone(),
        })
    }

    /// Embeddings, in the order of the texts: the mean over all tokens, special ones included, of
    /// at most 512; not normalised.
    ///
    /// # Errors
    /// A text that can't be tokenised; values that are no numbers.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, DarError> {
        let texts = texts
            .iter()
            .map(|text| self.reader.text(text))
            .collect::<Result<Vec<_>, _>>()?;
        let embedded = by_length(&texts)
            .par_iter()
            .map(|group| self.embeddings_of(&texts, group))
            .collect::<Result<Vec<_>, DarError>>()?;
        let mut embeddings: Vec<(usize, Vec<f32>)> = embedded.into_iter().flatten().collect();
        embeddings.sort_by_key(|(at, _)| *at);
        Ok(embeddings.into_iter().map(|(_, row)| row).collect())
    }

    /// The embeddings of a batch, each with its place among all.
    fn embeddings_of(
        &self,
        texts: &[Tokens],
        group: &[usize],
    ) -> Result<Vec<(usize, Vec<f32>)>, DarError> {
        let chosen: Vec<&Tokens> = group.iter().map(|&at| &texts[at]).collect();
        let batch = self.reader.batch(&chosen, &self.device);
        let hidden = self.model.encoder.forward(&batch);
        let mean = self.model.encoder.mean(hidden, batch.mask);
        let [_, width] = mean.dims();
        let values: Vec<f32> = mean.into_data().iter::<f32>().collect();
        if !values.iter().all(|v| v.is_finite()) {
            return Err(DarError::NotFinite);
        }
        let rows = values.chunks_exact(width).map(<[f32]>::to_vec);
        Ok(group.iter().copied().zip(rows).collect())
    }
}

/// What a plain encoder lacks.
pub(crate) fn above_the_encoder(name: &str) -> bool {
    name.starts_with("classifier.") || name.starts_with("pooler.")
}
