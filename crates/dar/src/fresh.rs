//! A small encoder and its tokenizer, from nothing: for tests, and where no model is at hand.

use serde::{Deserialize, Serialize};
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::processors::roberta::RobertaProcessing;
use tokenizers::{AddedToken, Tokenizer};

use crate::DarError;

/// RoBERTa's special tokens in the order of their ids.
const SPECIAL: [&str; 5] = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"];
/// Texts that the tokenizer learns from; more change little.
const TEXTS: usize = 20_000;

/// The size of a fresh encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TinyConfig {
    /// Transformer layers.
    pub layers: usize,
    /// Width of a token's vector.
    pub hidden: usize,
    /// Attention heads.
    pub heads: usize,
    /// Tokens of the vocabulary, at most.
    pub vocabulary: usize,
    /// Tokens of a text, at most.
    pub positions: usize,
}

impl Default for TinyConfig {
    fn default() -> Self {
        Self {
            layers: 2,
            hidden: 64,
            heads: 4,
            vocabulary: 4000,
            positions: 512,
        }
    }
}

/// Learns a byte-level BPE in RoBERTa's form from texts.
pub(crate) fn tokenizer<'a>(
    texts: impl Iterator<Item = &'a str> + Send,
    vocabulary: usize,
) -> Result<Tokenizer, DarError> {
    let failed = |e: tokenizers::Error| DarError::Text(e.to_string());
    if vocabulary < 300 {
        return Err(DarError::Settings(format!(
            "a vocabulary of {vocabulary} does not hold the 256 bytes and the special tokens"
        )));
    }
    let special = SPECIAL.map(|token| AddedToken::from(token, true)).to_vec();
    let mut trainer = BpeTrainer::builder()
        .vocab_size(vocabulary)
        .min_frequency(2)
        .show_progress(false)
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .special_tokens(special.clone())
        .build();
    let byte_level = ByteLevel::default().add_prefix_space(false);
    // The model is learned apart: the wrapper's own training asks for the wrapper's trainer.
    let mut learning = tokenizers::TokenizerBuilder::default()
        .with_model(BPE::default())
        .with_normalizer(None::<tokenizers::NormalizerWrapper>)
        .with_pre_tokenizer(Some(byte_level))
        .with_post_processor(None::<tokenizers::PostProcessorWrapper>)
        .with_decoder(Some(byte_level))
        .build()
        .map_err(failed)?;
    learning
        .train(&mut trainer, texts.take(TEXTS))
        .map_err(failed)?;
    let mut tokenizer = Tokenizer::new(learning.get_model().clone());
    tokenizer.with_pre_tokenizer(Some(byte_level));
    tokenizer.with_decoder(Some(byte_level));
    tokenizer.with_post_processor(Some(
        RobertaProcessing::new(("</s>".to_owned(), 2), ("<s>".to_owned(), 0))
            .trim_offsets(true)
            .add_prefix_space(false),
    ));
    tokenizer.add_special_tokens(special).map_err(failed)?;
    Ok(tokenizer)
}
