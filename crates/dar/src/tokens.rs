//! Texts into token ids, and those into padded batches.

use std::path::Path;

use burn::tensor::{Tensor, TensorData, backend::Backend};
use hydra_core::{CoreError, Mode};
use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

use crate::config::{Family, InputConfig};
use crate::encoder::Batch;
use crate::{DarError, EncoderConfig};

/// Tokens of a batch, padding included. Batches run beside each other, one a core: small ones stay
/// in a core's cache, where large ones are slowed down by fetching memory.
const TOKEN_BUDGET: usize = 1024;

/// A tokenised text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub ids: Vec<u32>,
    pub types: Vec<u32>,
}

/// A tokenizer, set up for one model.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    tokenizer: Tokenizer,
    separator: String,
    mode: Mode,
    family: Family,
    vocabulary: usize,
    types: usize,
    pad: usize,
}

impl Reader {
    /// Reads `tokenizer.json`, whatever truncation and padding it comes with.
    pub(crate) fn open(
        path: &Path,
        config: &EncoderConfig,
        input: InputConfig,
    ) -> Result<Self, DarError> {
        let bytes = std::fs::read(path).map_err(CoreError::io(path))?;
        let bad = |reason: String| DarError::Tokenizer {
            path: path.to_path_buf(),
            reason,
        };
        let tokenizer = Tokenizer::from_bytes(&bytes).map_err(|e| bad(e.to_string()))?;
        Self::new(tokenizer, config, input).map_err(bad)
    }

    pub(crate) fn new(
        mut tokenizer: Tokenizer,
        config: &EncoderConfig,
        input: InputConfig,
    ) -> Result<Self, String> {
        let size = tokenizer.get_vocab_size(true);
        if size > config.vocabulary {
            return Err(format!(
                "{size} tokens, but the model has only {} rows for them",
                config.vocabulary
            ));
        }
        let separator = ["</s>", "[SEP]"]
            .into_iter()
            .find(|token| tokenizer.token_to_id(token).is_some())
            .ok_or("neither </s> nor [SEP] is a token of it")?;
        let truncation = TruncationParams {
            direction: TruncationDirection::Right,
            max_length: input.max_tokens.min(config.max_tokens()),
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        };
        tokenizer
            .with_padding(None)
            .with_truncation(Some(truncation))
            .map_err(|e| e.to_string())?;
        Ok(Self {
            tokenizer,
            separator: separator.to_owned(),
            mode: input.mode,
            family: config.family,
            vocabulary: config.vocabulary,
            types: config.types,
            pad: config.pad,
        })
    }

    /// A query with a candidate.
    pub(crate) fn pair(&self, query: &str, candidate: &str) -> Result<Tokens, DarError> {
        let encoding = match self.mode {
            Mode::Faithful => self.tokenizer.encode((query, candidate), true),
            Mode::AsReleased => {
                let text = [query, &self.separator, candidate].concat();
                self.tokenizer.encode(text, true)
            }
        };
        self.checked(encoding)
    }

    /// A text alone.
    pub(crate) fn text(&self, text: &str) -> Result<Tokens, DarError> {
        self.checked(self.tokenizer.encode(text, true))
    }

    fn checked(
        &self,
        encoding: tokenizers::Result<tokenizers::Encoding>,
    ) -> Result<Tokens, DarError> {
        let encoding = encoding.map_err(|e| DarError::Text(e.to_string()))?;
        let ids = encoding.get_ids().to_vec();
        if let Some(id) = ids.iter().find(|id| **id as usize >= self.vocabulary) {
            return Err(DarError::Text(format!(
                "token {id} is outside the model's vocabulary"
            )));
        }
        if ids.is_empty() {
            return Err(DarError::Text("it has no tokens".to_owned()));
        }
        // RoBERTa has one type; a second segment is told by its separators alone.
        let last = self.types as u32 - 1;
        let types = encoding
            .get_type_ids()
            .iter()
            .map(|t| (*t).min(last))
            .collect();
        Ok(Tokens { ids, types })
    }

    /// Pads to the longest.
    pub(crate) fn batch<B: Backend>(&self, texts: &[&Tokens], device: &B::Device) -> Batch<B> {
        let longest = texts.iter().map(|t| t.ids.len()).max().unwrap_or(0);
        let shape = [texts.len(), longest];
        let padded = |of: &dyn Fn(&Tokens, usize) -> i64, pad: i64| -> TensorData {
            let rows = texts.iter().flat_map(|text| {
                (0..longest).map(move |at| {
                    if at < text.ids.len() {
                        of(text, at)
                    } else {
                        pad
                    }
                })
            });
            TensorData::new(rows.collect::<Vec<i64>>(), shape)
        };
        let pad = self.pad as i64;
        let ids = padded(&|t, at| i64::from(t.ids[at]), pad);
        let types = padded(&|t, at| i64::from(t.types[at]), 0);
        let positions = match self.family {
            Family::Bert => padded(&|_, at| at as i64, 0),
            Family::Roberta => padded(&|_, at| pad + 1 + at as i64, pad),
        };
        let mask = texts.iter().flat_map(|text| {
            (0..longest).map(move |at| if at < text.ids.len() { 1.0f32 } else { 0.0 })
        });
        Batch {
            ids: Tensor::from_data(ids, device),
            types: Tensor::from_data(types, device),
            positions: Tensor::from_data(positions, device),
            mask: Tensor::from_data(TensorData::new(mask.collect::<Vec<f32>>(), shape), device),
        }
    }

    /// `tokenizer.json` as it is saved with a model.
    pub(crate) fn to_json(&self) -> Result<String, DarError> {
        let mut plain = self.tokenizer.clone();
        plain
            .with_truncation(None)
            .map_err(|e| DarError::Text(e.to_string()))?;
        plain
            .to_string(false)
            .map_err(|e| DarError::Text(e.to_string()))
    }
}

/// Groups of similar length within the token budget: indices into `texts`, longest first.
pub(crate) fn by_length(texts: &[Tokens]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&at| (std::cmp::Reverse(texts[at].ids.len()), at));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for at in order {
        match groups.last_mut() {
            Some(group) if (group.len() + 1) * texts[group[0]].ids.len() <= TOKEN_BUDGET => {
                group.push(at);
            }
            _ => groups.push(vec![at]),
        }
    }
    groups
}
