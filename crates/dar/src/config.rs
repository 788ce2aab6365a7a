//! The encoder's shape, as the hub's `config.json` gives it.

use std::path::Path;

use hydra_core::{CoreError, Mode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::DarError;

/// The two families of encoders. They differ in how positions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Positions from 0.
    Bert,
    /// Positions from the padding id + 1, as in `transformers`' RoBERTa (and UniXcoder).
    Roberta,
}

/// An encoder's shape.
#[derive(Debug, Clone, PartialEq)]
pub struct EncoderConfig {
    /// BERT or RoBERTa.
    pub family: Family,
    /// Transformer layers.
    pub layers: usize,
    /// Width of a token's vector.
    pub hidden: usize,
    /// Attention heads; they divide the width.
    pub heads: usize,
    /// Width of the feed-forward part.
    pub intermediate: usize,
    /// Rows of the word embedding.
    pub vocabulary: usize,
    /// Rows of the position embedding.
    pub positions: usize,
    /// Rows of the token-type embedding.
    pub types: usize,
    /// The epsilon of the layer norms.
    pub norm_epsilon: f64,
    /// Dropout on hidden states while training.
    pub dropout: f64,
    /// Dropout on attention while training.
    pub attention_dropout: f64,
    /// The padding token.
    pub pad: usize,
    /// How a trained DAR reads its input; absent in an encoder that is none, or not ours.
    pub input: Option<InputConfig>,
    /// The whole document, kept so that a saved model carries what it came with.
    document: Map<String, Value>,
}

/// How a pair becomes tokens. Saved under the key `hydra` of `config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputConfig {
    /// `faithful`: two segments, the longer one truncated. `as-released`: one string with the
    /// separator between query and candidate, truncated on the right, so that a long query can
    /// push the candidate out.
    pub mode: Mode,
    /// Tokens of a pair, special ones included.
    pub max_tokens: usize,
}

#[derive(Deserialize)]
struct Raw {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f64,
    #[serde(default = "default_activation")]
    hidden_act: String,
    #[serde(default = "default_dropout")]
    hidden_dropout_prob: f64,
    #[serde(default = "default_dropout")]
    attention_probs_dropout_prob: f64,
    pad_token_id: Option<usize>,
    position_embedding_type: Option<String>,
    hydra: Option<InputConfig>,
}

// The defaults of transformers' BertConfig and RobertaConfig.
fn default_epsilon() -> f64 {
    1e-12
}
fn default_activation() -> String {
    "gelu".to_owned()
}
fn default_dropout() -> f64 {
    0.1
}

/// Far above any encoder that exists; a file that asks for more is broken or hostile.
const MAX_WIDTH: usize = 1 << 16;
const MAX_ROWS: usize = 1 << 22;
const MAX_LAYERS: usize = 256;

impl EncoderConfig {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// A file that can't be read, or that describes something else than a BERT or RoBERTa encoder
    /// with absolute positions and the exact GELU.
    pub fn read(path: &Path) -> Result<Self, DarError> {
        let bytes = std::fs::read(path).map_err(CoreError::io(path))?;
        let bad = |reason: String| DarError::Config {
            path: path.to_path_buf(),
            reason,
        };
        let document: Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|e| bad(e.to_string()))?;
        Self::from_document(document).map_err(bad)
    }

    fn from_document(document: Map<String, Value>) -> Result<Self, String> {
        let raw: Raw =
            serde_json::from_value(Value::Object(document.clone())).map_err(|e| e.to_string())?;
        let family = match raw.model_type.as_str() {
            "bert" => Family::Bert,
            "roberta" => Family::Roberta,
            other => return Err(format!("model_type {other:?} is neither bert nor roberta")),
        };
        if raw.hidden_act != "gelu" {
            return Err(format!("hidden_act {:?} is not gelu", raw.hidden_act));
        }
        if raw
            .position_embedding_type
            .is_some_and(|kind| kind != "absolute")
        {
            return Err("position_embedding_type is not absolute".to_owned());
        }
        let config = Self {
            family,
            layers: raw.num_hidden_layers,
            hidden: raw.hidden_size,
            heads: raw.num_attention_heads,
            intermediate: raw.intermediate_size,
            vocabulary: raw.vocab_size,
            positions: raw.max_position_embeddings,
            types: raw.type_vocab_size,
            norm_epsilon: raw.layer_norm_eps,
            dropout: raw.hidden_dropout_prob,
            attention_dropout: raw.attention_probs_dropout_prob,
            pad: raw.pad_token_id.unwrap_or(match family {
                Family::Bert => 0,
                Family::Roberta => 1,
            }),
            input: raw.hydra,
            document,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), String> {
        let sizes = [
            ("num_hidden_layers", self.layers, MAX_LAYERS),
            ("hidden_size", self.hidden, MAX_WIDTH),
            ("num_attention_heads", self.heads, MAX_WIDTH),
            ("intermediate_size", self.intermediate, MAX_WIDTH),
            ("vocab_size", self.vocabulary, MAX_ROWS),
            ("max_position_embeddings", self.positions, MAX_ROWS),
            ("type_vocab_size", self.types, MAX_WIDTH),
        ];
        for (name, value, most) in sizes {
            if value == 0 || value > most {
                return Err(format!("{name} is {value}; expected 1 to {most}"));
            }
        }
        if !self.hidden.is_multiple_of(self.heads) {
            return Err(format!(
                "{} attention heads do not divide the hidden size {}",
                self.heads, self.hidden
            ));
        }
        if self.pad >= self.vocabulary {
            return Err(format!(
                "pad_token_id {} is outside the vocabulary",
                self.pad
            ));
        }
        if self.max_tokens() < 8 {
            return Err(format!("{} positions are too few", self.positions));
        }
        for (name, p) in [
            ("hidden_dropout_prob", self.dropout),
            ("attention_probs_dropout_prob", self.attention_dropout),
        ] {
            if !(0.0..1.0).contains(&p) {
                return Err(format!("{name} is {p}; expected 0 up to 1"));
            }
        }
        if self.input.is_some_and(|input| input.max_tokens < 8) {
            return Err("hydra.max_tokens is below 8".to_owned());
        }
        Ok(())
    }

    /// A fresh encoder's shape, in the form of `transformers`' RoBERTa. Dropout is 0.1.
    ///
    /// # Errors
    /// [`DarError::Settings`] for sizes that make no encoder.
    pub fn fresh(tiny: &crate::TinyConfig, vocabulary: usize) -> Result<Self, DarError> {
        // RoBERTa's tables begin behind the padding id, 1.
        let positions = tiny.positions.saturating_add(2);
        let document = json!({
            "architectures": ["RobertaModel"],
            "model_type": "roberta",
            "hidden_size": tiny.hidden,
            "num_hidden_layers": tiny.layers,
            "num_attention_heads": tiny.heads,
            "intermediate_size": tiny.hidden.saturating_mul(4),
            "vocab_size": vocabulary,
            "max_position_embeddings": positions,
            "type_vocab_size": 1,
            "layer_norm_eps": 1e-5,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "attention_probs_dropout_prob": 0.1,
            "bos_token_id": 0,
            "pad_token_id": 1,
            "eos_token_id": 2,
        });
        let Value::Object(document) = document else {
            return Err(DarError::Settings("no configuration".to_owned()));
        };
        Self::from_document(document).map_err(DarError::Settings)
    }

    /// The most tokens that there are positions for.
    pub fn max_tokens(&self) -> usize {
        match self.family {
            Family::Bert => self.positions,
            Family::Roberta => self.positions.saturating_sub(self.pad + 1),
        }
    }

    /// The document to save with a trained DAR.
    pub fn document(&self, input: InputConfig) -> Value {
        let mut document = self.document.clone();
        document.insert("hydra".to_owned(), json!(input));
        Value::Object(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(change: impl Fn(&mut Value)) -> Result<EncoderConfig, String> {
        let tiny = crate::TinyConfig::default();
        let config = EncoderConfig::fresh(&tiny, 100).map_err(|e| e.to_string())?;
        let mut document = Value::Object(config.document);
        change(&mut document);
        match document {
            Value::Object(map) => EncoderConfig::from_document(map),
            _ => Err("no object".to_owned()),
        }
    }

    #[test]
    fn impossible_sizes_and_unknown_kinds_are_named() {
        let cases = [
            ("hidden_size", json!(0), "hidden_size is 0"),
            ("hidden_size", json!(1_000_000_000u64), "hidden_size"),
            ("num_hidden_layers", json!(u32::MAX), "num_hidden_layers"),
            ("num_attention_heads", json!(7), "7 attention heads"),
            ("model_type", json!("gpt2"), "gpt2"),
            ("hidden_act", json!("relu"), "relu"),
            ("pad_token_id", json!(100), "pad_token_id"),
            ("hidden_dropout_prob", json!(1.5), "hidden_dropout_prob"),
        ];
        for (key, value, wanted) in cases {
            let error = read(|d| d[key] = value.clone()).expect_err(key);
            assert!(error.contains(wanted), "{key}: {error}");
        }
        assert!(read(|_| ()).is_ok());
    }

    #[test]
    fn roberta_has_two_positions_fewer_than_rows() {
        let config = read(|d| d["max_position_embeddings"] = json!(514)).expect("a config");
        assert_eq!(config.max_tokens(), 512);
    }
}
