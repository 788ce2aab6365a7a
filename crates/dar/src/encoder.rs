//! BERT's and RoBERTa's encoder, layer by layer as in `transformers`.
//!
//! Attention is a plain matrix product and softmax: burn-tch's fused attention reads the mask the
//! wrong way round.

use burn::module::Module;
use burn::nn::{
    Dropout, DropoutConfig, Embedding, EmbeddingConfig, LayerNorm, LayerNormConfig, Linear,
    LinearConfig,
};
use burn::tensor::activation::{gelu, softmax};
use burn::tensor::{Int, Tensor, backend::Backend};

use crate::EncoderConfig;

/// What is added to the scores of padding: its share of the attention is then exactly 0.
const MASKED: f64 = -1e9;

/// A batch of token sequences, padded on the right.
#[derive(Debug, Clone)]
pub struct Batch<B: Backend> {
    /// Token ids, `[batch, tokens]`.
    pub ids: Tensor<B, 2, Int>,
    /// Token types, `[batch, tokens]`.
    pub types: Tensor<B, 2, Int>,
    /// Position ids, `[batch, tokens]`.
    pub positions: Tensor<B, 2, Int>,
    /// 1 for a token, 0 for padding, `[batch, tokens]`.
    pub mask: Tensor<B, 2>,
}

/// The encoder.
#[derive(Module, Debug)]
pub struct Encoder<B: Backend> {
    words: Embedding<B>,
    positions: Embedding<B>,
    types: Embedding<B>,
    embedding_norm: LayerNorm<B>,
    layers: Vec<Layer<B>>,
    pooler: Linear<B>,
    dropout: Dropout,
}

#[derive(Module, Debug)]
struct Layer<B: Backend> {
    query: Linear<B>,
    key: Linear<B>,
    value: Linear<B>,
    attention_output: Linear<B>,
    attention_norm: LayerNorm<B>,
    intermediate: Linear<B>,
    output: Linear<B>,
    output_norm: LayerNorm<B>,
    dropout: Dropout,
    attention_dropout: Dropout,
    heads: usize,
}

impl<B: Backend> Encoder<B> {
    /// An encoder of this shape. Its parameters have no meaning until they are loaded.
    pub fn new(config: &EncoderConfig, device: &B::Device) -> Self {
        let table = |rows| EmbeddingConfig::new(rows, config.hidden).init(device);
        Self {
            words: table(config.vocabulary),
            positions: table(config.positions),
            types: table(config.types),
            embedding_norm: norm(config, device),
            layers: (0..config.layers)
                .map(|_| Layer::new(config, device))
                .collect(),
            pooler: LinearConfig::new(config.hidden, config.hidden).init(device),
            dropout: DropoutConfig::new(config.dropout).init(),
        }
    }

    /// Hidden states, `[batch, tokens, hidden]`.
    pub fn forward(&self, batch: &Batch<B>) -> Tensor<B, 3> {
        let embedded = self.words.forward(batch.ids.clone())
            + self.positions.forward(batch.positions.clone())
            + self.types.forward(batch.types.clone());
        let mut hidden = self.dropout.forward(self.embedding_norm.forward(embedded));
        let [size, tokens] = batch.mask.dims();
        let mask = batch
            .mask
            .clone()
            .sub_scalar(1.0)
            .mul_scalar(-MASKED)
            .reshape([size, 1, 1, tokens]);
        for layer in &self.layers {
            hidden = layer.forward(hidden, &mask);
        }
        hidden
    }

    /// The first token's vector through the pooler and tanh, `[batch, hidden]`.
    pub fn pooled(&self, hidden: Tensor<B, 3>) -> Tensor<B, 2> {
        let [size, _, width] = hidden.dims();
        let first = hidden
            .slice([0..size, 0..1, 0..width])
            .reshape([size, width]);
        self.pooler.forward(first).tanh()
    }

    /// The mean over the tokens that are no padding, special ones included, `[batch, hidden]`.
    pub fn mean(&self, hidden: Tensor<B, 3>, mask: Tensor<B, 2>) -> Tensor<B, 2> {
        let [size, tokens, width] = hidden.dims();
        let weights = mask.clone().reshape([size, tokens, 1]);
        let sum = (hidden * weights).sum_dim(1).reshape([size, width]);
        sum / mask.sum_dim(1)
    }
}

impl<B: Backend> Layer<B> {
    fn new(config: &EncoderConfig, device: &B::Device) -> Self {
        let square = || LinearConfig::new(config.hidden, config.hidden).init(device);
        Self {
            query: square(),
            key: square(),
            value: square(),
            attention_output: square(),
            attention_norm: norm(config, device),
            intermediate: LinearConfig::new(config.hidden, config.intermediate).init(device),
            output: LinearConfig::new(config.intermediate, config.hidden).init(device),
            output_norm: norm(config, device),
            dropout: DropoutConfig::new(config.dropout).init(),
            attention_dropout: DropoutConfig::new(config.attention_dropout).init(),
            heads: config.heads,
        }
    }

    /// `hidden` is `[batch, tokens, hidden]`, `mask` `[batch, 1, 1, tokens]`.
    fn forward(&self, hidden: Tensor<B, 3>, mask: &Tensor<B, 4>) -> Tensor<B, 3> {
        let [size, tokens, width] = hidden.dims();
        let head = width / self.heads;
        let split = |projected: Tensor<B, 3>| {
            projected
                .reshape([size, tokens, self.heads, head])
                .swap_dims(1, 2)
        };
        let query = split(self.query.forward(hidden.clone()));
        let key = split(self.key.forward(hidden.clone()));
        let value = split(self.value.forward(hidden.clone()));
        let scores = query
            .matmul(key.transpose())
            .div_scalar((head as f64).sqrt())
            + mask.clone();
        let shares = self.attention_dropout.forward(softmax(scores, 3));
        let attended = shares
            .matmul(value)
            .swap_dims(1, 2)
            .reshape([size, tokens, width]);
        let attended = self
            .dropout
            .forward(self.attention_output.forward(attended));
        let hidden = self.attention_norm.forward(attended + hidden);
        let wide = gelu(self.intermediate.forward(hidden.clone()));
        let narrow = self.dropout.forward(self.output.forward(wide));
        self.output_norm.forward(narrow + hidden)
    }
}

fn norm<B: Backend>(config: &EncoderConfig, device: &B::Device) -> LayerNorm<B> {
    LayerNormConfig::new(config.hidden)
        .with_epsilon(config.norm_epsilon)
        .init(device)
}
