//! The cross-encoder: an encoder with the paper's classification head.

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig};
use burn::tensor::activation::relu;
use burn::tensor::{Tensor, backend::Backend};

use crate::EncoderConfig;
use crate::encoder::{Batch, Encoder};

/// Widths of the head's two hidden layers (released model).
const WIDE: usize = 512;
const NARROW: usize = 256;
/// The head's dropout while training (released model).
const DROPOUT: f64 = 0.2;

/// The dependency-aware retriever's model: does the query's function depend on the candidate?
#[derive(Module, Debug)]
pub struct Dar<B: Backend> {
    /// BERT or RoBERTa.
    pub encoder: Encoder<B>,
    head: Head<B>,
}

/// Linear 512, batch norm, ReLU, dropout, linear 256, batch norm, ReLU, dropout, linear 2.
///
/// burn's batch norm keeps the biased variance where PyTorch keeps the unbiased one: the running
/// variance of a batch of n is smaller by (n - 1) / n. Loaded weights behave the same.
#[derive(Module, Debug)]
struct Head<B: Backend> {
    wide: Linear<B>,
    wide_norm: BatchNorm<B>,
    narrow: Linear<B>,
    narrow_norm: BatchNorm<B>,
    classes: Linear<B>,
    dropout: Dropout,
}

impl<B: Backend> Dar<B> {
    /// A model of this shape. Its parameters have no meaning until they are loaded.
    pub fn new(config: &EncoderConfig, device: &B::Device) -> Self {
        Self::with_dropout(config, DROPOUT, device)
    }

    /// With another dropout in the head.
    pub(crate) fn with_dropout(config: &EncoderConfig, dropout: f64, device: &B::Device) -> Self {
        Self {
            encoder: Encoder::new(config, device),
            head: Head {
                wide: LinearConfig::new(config.hidden, WIDE).init(device),
                wide_norm: BatchNormConfig::new(WIDE).init(device),
                narrow: LinearConfig::new(WIDE, NARROW).init(device),
                narrow_norm: BatchNormConfig::new(NARROW).init(device),
                classes: LinearConfig::new(NARROW, 2).init(device),
                dropout: DropoutConfig::new(dropout).init(),
            },
        }
    }

    /// Logits of "no dependency" and "dependency", `[batch, 2]`.
    pub fn forward(&self, batch: &Batch<B>) -> Tensor<B, 2> {
        let hidden = self.encoder.forward(batch);
        let pooled = self.encoder.pooled(hidden);
        let head = &self.head;
        let wide = relu(head.wide_norm.forward(head.wide.forward(pooled)));
        let wide = head.dropout.forward(wide);
        let narrow = relu(head.narrow_norm.forward(head.narrow.forward(wide)));
        head.classes.forward(head.dropout.forward(narrow))
    }
}
