//! The training loop: exact to the step, so that a killed run goes on and ends with the same bytes.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use burn::module::AutodiffModule;
use burn::nn::loss::CrossEntropyLossConfig;
use burn::optim::{GradientsAccumulator, GradientsParams};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Int, Tensor, TensorData};
use hydra_core::{Mode, Progress, write_atomic, write_json};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::checkpoint::{Checkpoint, Log};
use crate::config::InputConfig;
use crate::infer::{Folder, MAX_TOKENS, above_the_encoder, load};
use crate::model::Dar;
use crate::optimiser::Optimiser;
use crate::tokens::{Reader, Tokens};
use crate::{DarError, DarScorer, EncoderConfig, TinyConfig, fresh, weights};

/// A query, a candidate, and whether the one depends on the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The function about to be written, in the published format.
    pub query: String,
    /// The unit that it may depend on.
    pub candidate: String,
    /// 1 for a dependency, 0 for none.
    pub label: u8,
}

/// The figure that picks the best checkpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// Recall of class 1 at argmax, as the paper does. A model that calls everything a dependency
    /// has a recall of 1.
    #[default]
    Recall,
    /// F1 of class 1 at argmax.
    F1,
}

/// How to train. The defaults are the paper's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// A local model folder in the hub's format; none: a fresh encoder of the size of `tiny`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<PathBuf>,
    /// How a pair is read.
    pub input: Mode,
    /// Tokens of a pair, at most; longer ones are truncated.
    pub max_tokens: usize,
    /// Pairs a batch.
    pub batch: usize,
    /// Batches an optimiser step; their gradients are averaged.
    pub accumulation: usize,
    /// Times through the training pairs.
    pub epochs: usize,
    /// Stop after so many optimiser steps; the learning rate decays to 0 over them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<usize>,
    /// The learning rate at the start; it decays linearly.
    pub learning_rate: f64,
    /// AdamW's weight decay.
    pub weight_decay: f32,
    /// The norm that all gradients together are clipped to; 0 for no clipping.
    pub clip: f64,
    /// Optimiser steps between validations.
    pub eval_every: usize,
    /// Validation pairs a validation, drawn once; 0 for all.
    pub valid_sample: usize,
    /// What picks the best checkpoint.
    pub select: Select,
    /// Optimiser steps between checkpoints.
    pub checkpoint_every: usize,
    /// The size of a fresh encoder.
    pub tiny: TinyConfig,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            model: None,
            input: Mode::Faithful,
            max_tokens: MAX_TOKENS,
            batch: 32,
            accumulation: 16,
            epochs: 10,
            max_steps: None,
            learning_rate: 2e-5,
            weight_decay: 0.01,
            clip: 1.0,
            eval_every: 100,
            valid_sample: 2000,
            select: Select::Recall,
            checkpoint_every: 50,
            tiny: TinyConfig::default(),
        }
    }
}

/// Validation figures of class 1, at argmax.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Recall.
    pub recall: f64,
    /// Precision.
    pub precision: f64,
    /// F1.
    pub f1: f64,
}

/// A line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// An optimiser step.
    Train {
        /// From 1.
        step: usize,
        /// From 0.
        epoch: usize,
        /// Mean cross-entropy over the step's pairs.
        loss: f64,
        /// The learning rate of the step.
        learning_rate: f64,
        /// The norm of all gradients before clipping.
        gradient_norm: f64,
    },
    /// A validation.
    Valid {
        /// After this step.
        step: usize,
        /// The figures.
        #[serde(flatten)]
        figures: Validation,
        /// Whether this is the best model so far.
        best: bool,
    },
}

/// What a finished training came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainSummary {
    /// Optimiser steps.
    pub steps: usize,
    /// Training pairs.
    pub pairs: usize,
    /// Validation pairs looked at.
    pub valid: usize,
    /// The step of the model that was kept.
    pub best_step: usize,
    /// Its validation figures.
    pub best: Validation,
    /// The mean loss of the first and the last tenth of the steps.
    pub loss: [f64; 2],
    /// Parameters that the starting model lacked and that were drawn.
    pub fresh: Vec<String>,
}

/// burn's random state belongs to the whole process: one training at a time.
static TRAINING: Mutex<()> = Mutex::new(());

/// Trains, or goes on with a killed training, in the folder `out`:
///
/// ```text
/// model/            the best model: model.safetensors, config.json, tokenizer.json
/// metrics.jsonl     a Line for every step and validation
/// summary.json      the TrainSummary, when it is finished
/// checkpoint-N/     where to go on; removed at the end
/// ```
///
/// The caller makes sure that `out` holds nothing of another configuration or other pairs.
///
/// # Errors
/// Settings that make no sense, models that can't be loaded, files that can't be written, a loss
/// that is no number any more.
pub fn train<B: AutodiffBackend>(
    config: &TrainConfig,
    seed: u64,
    pairs: &[Pair],
    valid: &[Pair],
    out: &Path,
    device: &B::Device,
    progress: &dyn Progress,
) -> Result<TrainSummary, DarError> {
    let _one = TRAINING.lock().unwrap_or_else(|e| e.into_inner());
    check(config, pairs, valid)?;
    let mut run = Run::<B>::open(config, seed, pairs, valid, out, device)?;
    let plan = run.plan;
    let bar = progress.start("train", Some(plan.steps as u64));
    bar.advance(run.step as u64);
    let started = Instant::now();
    let first = run.step;
    while run.step < plan.steps {
        let loss = run.step()?;
        if run.step.is_multiple_of(config.eval_every) || run.step == plan.steps {
            run.validate(progress)?;
        }
        if run.step.is_multiple_of(config.checkpoint_every) && run.step < plan.steps {
            run.save()?;
        }
        bar.advance(1);
        let done = (run.step - first) * config.batch * config.accumulation;
        let rate = done as f64 / started.elapsed().as_secs_f64();
        bar.message(&format!("loss {loss:.4}, {rate:.1} pairs/s"));
    }
    run.finish(progress)
}

/// Whether a training can start: the settings, the pairs, and the files of the starting model.
/// Nothing is written.
///
/// # Errors
/// As for [`train`].
pub fn check_training(
    config: &TrainConfig,
    pairs: &[Pair],
    valid: &[Pair],
) -> Result<(), DarError> {
    check(config, pairs, valid)?;
    let Some(folder) = &config.model else {
        return EncoderConfig::fresh(&config.tiny, config.tiny.vocabulary).map(|_| ());
    };
    let folder = Folder::open(folder)?;
    let encoder = EncoderConfig::read(&folder.config)?;
    let input = InputConfig {
        mode: config.input,
        max_tokens: config.max_tokens,
    };
    Reader::open(&folder.tokenizer, &encoder, fitting(input, &encoder))?;
    let model = Dar::<crate::Cpu>::new(&encoder, &Default::default());
    weights::read(&folder.weights, &weights::shapes(&model), above_the_encoder)?;
    Ok(())
}

fn check(config: &TrainConfig, pairs: &[Pair], valid: &[Pair]) -> Result<(), DarError> {
    let no = |reason: &str| Err(DarError::Settings(reason.to_owned()));
    for (name, value) in [
        ("accumulation", config.accumulation),
        ("epochs", config.epochs),
        ("eval_every", config.eval_every),
        ("checkpoint_every", config.checkpoint_every),
        ("max_steps", config.max_steps.unwrap_or(1)),
    ] {
        if value == 0 {
            return no(&format!("{name} is 0"));
        }
    }
    if config.batch < 2 {
        return no("batch is below 2, and a batch norm needs two pairs");
    }
    if config.max_tokens < 8 {
        return no("max_tokens is below 8");
    }
    if !(config.learning_rate > 0.0 && config.learning_rate.is_finite()) {
        return no("learning_rate is not above 0");
    }
    if !(config.clip >= 0.0 && config.weight_decay >= 0.0) {
        return no("clip and weight_decay must not be negative");
    }
    if pairs.len() < 2 {
        return no("there are no training pairs");
    }
    if valid.is_empty() {
        return no("there are no validation pairs");
    }
    if pairs.iter().chain(valid).any(|pair| pair.label > 1) {
        return no("a label is neither 0 nor 1");
    }
    Ok(())
}

/// How the pairs fall into steps.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Batches an epoch. A last batch of a single pair is left out: a batch norm needs two.
    batches: usize,
    /// Optimiser steps an epoch.
    epoch: usize,
    /// Optimiser steps in all.
    steps: usize,
}

impl Plan {
    fn new(config: &TrainConfig, pairs: usize) -> Self {
        let batches = pairs / config.batch + usize::from(pairs % config.batch >= 2);
        let epoch = batches.div_ceil(config.accumulation);
        let all = epoch * config.epochs;
        Self {
            batches,
            epoch,
            steps: config.max_steps.map_or(all, |most| most.min(all)),
        }
    }
}

struct Run<'a, B: AutodiffBackend> {
    config: &'a TrainConfig,
    seed: u64,
    pairs: &'a [Pair],
    valid: Vec<Pair>,
    out: &'a Path,
    device: &'a B::Device,
    plan: Plan,
    reader: Reader,
    /// None only while a step takes it.
    model: Option<Dar<B>>,
    optimiser: Optimiser<B::InnerBackend>,
    log: Log,
    step: usize,
    best: Option<(usize, Validation)>,
    order: Vec<usize>,
    order_epoch: Option<usize>,
    fresh: Vec<String>,
}

impl<'a, B: AutodiffBackend> Run<'a, B> {
    fn open(
        config: &'a TrainConfig,
        seed: u64,
        pairs: &'a [Pair],
        valid: &'a [Pair],
        out: &'a Path,
        device: &'a B::Device,
    ) -> Result<Self, DarError> {
        let input = InputConfig {
            mode: config.input,
            max_tokens: config.max_tokens,
        };
        let (encoder, reader, model, fresh) = match &config.model {
            Some(folder) => {
                let folder = Folder::open(folder)?;
                let encoder = EncoderConfig::read(&folder.config)?;
                let input = fitting(input, &encoder);
                let reader = Reader::open(&folder.tokenizer, &encoder, input)?;
                let (model, fresh) = load::<B>(&folder, &encoder, above_the_encoder, seed, device)?;
                (encoder, reader, model, fresh)
            }
            None => {
                let texts = pairs
                    .iter()
                    .flat_map(|p| [p.query.as_str(), p.candidate.as_str()]);
                let tokenizer = fresh::tokenizer(texts, config.tiny.vocabulary)?;
                let size = tokenizer.get_vocab_size(true);
                let encoder = EncoderConfig::fresh(&config.tiny, size)?;
                let reader = Reader::new(tokenizer, &encoder, fitting(input, &encoder))
                    .map_err(DarError::Settings)?;
                let model = Dar::new(&encoder, device);
                let drawn = weights::initial(&weights::shapes(&model), seed);
                let fresh = drawn.keys().cloned().collect();
                (
                    encoder,
                    reader,
                    weights::with_values(model, drawn, device),
                    fresh,
                )
            }
        };
        let model_folder = out.join("model");
        write_json(
            model_folder.join("config.json"),
            &encoder.document(fitting(input, &encoder)),
        )?;
        write_atomic(
            model_folder.join("tokenizer.json"),
            reader.to_json()?.as_bytes(),
        )?;
        let found = Checkpoint::latest(out)?;
        let log = Log::open(
            &out.join("metrics.jsonl"),
            found.as_ref().map_or(0, |c| c.lines),
        )?;
        let mut run = Self {
            config,
            seed,
            pairs,
            valid: sample(valid, config.valid_sample, seed),
            out,
            device,
            plan: Plan::new(config, pairs.len()),
            reader,
            model: None,
            optimiser: Optimiser::new(config.weight_decay),
            log,
            step: 0,
            best: None,
            order: Vec::new(),
            order_epoch: None,
            fresh,
        };
        run.model = Some(match found {
            None => model,
            Some(checkpoint) => {
                let shapes = weights::shapes(&model);
                let (named, moments) = checkpoint.values(&shapes)?;
                run.optimiser.restore(moments, checkpoint.step, device);
                run.step = checkpoint.step;
                run.best = checkpoint.best;
                weights::with_values(model, named, device)
            }
        });
        Ok(run)
    }

    /// One optimiser step; returns the mean loss.
    fn step(&mut self) -> Result<f64, DarError> {
        let epoch = self.step / self.plan.epoch;
        let group = self.step % self.plan.epoch;
        self.shuffle(epoch);
        // Dropout draws from here; a resumed run draws the same.
        B::seed(
            self.device,
            weights::mix(self.seed, &format!("dropout {}", self.step)),
        );
        let start = group * self.config.accumulation;
        let end = (start + self.config.accumulation).min(self.plan.batches);
        let Some(mut model) = self.model.take() else {
            return Err(DarError::Settings("the model was lost".to_owned()));
        };
        let mut accumulator = GradientsAccumulator::new();
        let mut total = 0.0;
        for batch in start..end {
            let from = batch * self.config.batch;
            let to = (from + self.config.batch).min(self.pairs.len());
            let chosen: Vec<&Pair> = self.order[from..to]
                .iter()
                .map(|&at| &self.pairs[at])
                .collect();
            let loss = loss(&model, &self.reader, &chosen, self.device)?;
            let value: f64 = loss.clone().into_data().iter::<f64>().sum();
            if !value.is_finite() {
                return Err(DarError::Diverged {
                    step: self.step + 1,
                    loss: value,
                });
            }
            total += value;
            // Averaged over the batches of the step.
            let gradients = loss.div_scalar((end - start) as f64).backward();
            let gradients = GradientsParams::from_grads(gradients, &model);
            accumulator.accumulate(&model, gradients);
        }
        // Linear decay without warm-up.
        let left = (self.plan.steps - self.step) as f64 / self.plan.steps as f64;
        let rate = self.config.learning_rate * left;
        let norm;
        (model, norm) =
            self.optimiser
                .step::<B, _>(model, accumulator.grads(), rate, self.config.clip);
        self.model = Some(model);
        self.step += 1;
        let mean = total / (end - start) as f64;
        self.log.append(&Line::Train {
            step: self.step,
            epoch,
            loss: mean,
            learning_rate: rate,
            gradient_norm: norm,
        })?;
        Ok(mean)
    }

    fn shuffle(&mut self, epoch: usize) {
        if self.order_epoch != Some(epoch) {
            self.order = (0..self.pairs.len()).collect();
            let mut rng =
                ChaCha8Rng::seed_from_u64(weights::mix(self.seed, &format!("epoch {epoch}")));
            self.order.shuffle(&mut rng);
            self.order_epoch = Some(epoch);
        }
    }

    fn validate(&mut self, progress: &dyn Progress) -> Result<(), DarError> {
        let Some(model) = self.model.as_ref().map(AutodiffModule::valid) else {
            return Ok(());
        };
        let scorer = DarScorer::from_parts(model, self.reader.clone(), self.device.clone());
        let scores = scorer.score_pairs(&self.valid, progress)?;
        let figures = validation(&self.valid, &scores);
        let value = |v: &Validation| match self.config.select {
            Select::Recall => v.recall,
            Select::F1 => v.f1,
        };
        let best = self
            .best
            .as_ref()
            .is_none_or(|(_, before)| value(&figures) > value(before));
        if best {
            self.best = Some((self.step, figures));
            let model = scorer.into_model();
            weights::write(
                &self.out.join("model/model.safetensors"),
                &weights::values(&model),
            )?;
        }
        self.log.append(&Line::Valid {
            step: self.step,
            figures,
            best,
        })
    }

    fn save(&self) -> Result<(), DarError> {
        let Some(model) = self.model.as_ref().map(AutodiffModule::valid) else {
            return Ok(());
        };
        let moments = self.optimiser.state();
        Checkpoint::save(
            self.out,
            self.step,
            self.log.lines(),
            self.best,
            &weights::values(&model),
            &moments,
        )
    }

    fn finish(self, progress: &dyn Progress) -> Result<TrainSummary, DarError> {
        let mut run = self;
        if run.best.is_none() {
            run.validate(progress)?;
        }
        let Some((best_step, best)) = run.best else {
            return Err(DarError::Settings("no step was validated".to_owned()));
        };
        let losses = run.log.losses()?;
        let tenth = (losses.len() / 10).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
        let summary = TrainSummary {
            steps: run.step,
            pairs: run.pairs.len(),
            valid: run.valid.len(),
            best_step,
            best,
            loss: [
                mean(&losses[..tenth.min(losses.len())]),
                mean(&losses[losses.len().saturating_sub(tenth)..]),
            ],
            fresh: run.fresh,
        };
        write_json(run.out.join("summary.json"), &summary)?;
        Checkpoint::remove_all(run.out)?;
        Ok(summary)
    }
}

fn fitting(input: InputConfig, encoder: &EncoderConfig) -> InputConfig {
    InputConfig {
        max_tokens: input.max_tokens.min(encoder.max_tokens()),
        ..input
    }
}

/// Mean cross-entropy of a batch, `[1]`.
pub(crate) fn loss<B: Backend>(
    model: &Dar<B>,
    reader: &Reader,
    pairs: &[&Pair],
    device: &B::Device,
) -> Result<Tensor<B, 1>, DarError> {
    let tokens = pairs
        .iter()
        .map(|pair| reader.pair(&pair.query, &pair.candidate))
        .collect::<Result<Vec<Tokens>, _>>()?;
    let refs: Vec<&Tokens> = tokens.iter().collect();
    let logits = model.forward(&reader.batch(&refs, device));
    let labels: Vec<i64> = pairs.iter().map(|pair| i64::from(pair.label)).collect();
    let labels = TensorData::new(labels, [pairs.len()]);
    let labels = Tensor::<B, 1, Int>::from_data(labels, device);
    let cross_entropy = CrossEntropyLossConfig::new().init(device);
    Ok(cross_entropy.forward(logits, labels))
}

fn validation(pairs: &[Pair], scores: &[crate::Score]) -> Validation {
    let (mut hits, mut chosen, mut positives, mut loss) = (0, 0, 0, 0.0);
    for (pair, score) in pairs.iter().zip(scores) {
        let [no, yes] = score.logits.map(f64::from);
        let top = no.max(yes);
        let all = top + ((no - top).exp() + (yes - top).exp()).ln();
        let positive = pair.label == 1;
        loss += all - if positive { yes } else { no };
        positives += usize::from(positive);
        chosen += usize::from(yes > no);
        hits += usize::from(positive && yes > no);
    }
    let ratio = |part: usize, whole: usize| {
        if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        }
    };
    Validation {
        loss: loss / pairs.len().max(1) as f64,
        recall: ratio(hits, positives),
        precision: ratio(hits, chosen),
        f1: ratio(2 * hits, positives + chosen),
    }
}

/// So many of the pairs, drawn by the seed without replacement, in their order; 0 for all.
pub fn sample(pairs: &[Pair], count: usize, seed: u64) -> Vec<Pair> {
    if count == 0 || count >= pairs.len() {
        return pairs.to_vec();
    }
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(weights::mix(seed, "valid")));
    order.truncate(count);
    order.sort_unstable();
    order.into_iter().map(|at| pairs[at].clone()).collect()
}
