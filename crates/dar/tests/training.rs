//! Training, stopped and resumed; model folders, good and bad.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use hydra_core::{Progress, ProgressTask, Silent};
use hydra_dar::{Cpu, CpuTraining, DarError, DarScorer, Line, Pair, TinyConfig, TrainConfig};
use hydra_dar::{EncoderConfig, Select, TrainSummary};
use safetensors::SafeTensors;

/// The query names what it needs.
fn pairs(count: usize) -> Vec<Pair> {
    let names = ["alpha", "beta", "gamma", "delta", "omega"];
    (0..count)
        .map(|n| {
            let (wanted, other) = (names[n % 5], names[(n / 5 + n + 1) % 5]);
            let label = u8::from(n % 2 == 0);
            let given = if label == 1 { wanted } else { other };
            Pair {
                query: format!("{{\"name\": \"use_{wanted}\"}}"),
                candidate: format!("def {given}(x):\n    return x + {n}"),
                label: u8::from(given == wanted),
            }
        })
        .collect()
}

fn config() -> TrainConfig {
    TrainConfig {
        batch: 4,
        accumulation: 2,
        epochs: 3,
        max_tokens: 32,
        learning_rate: 3e-3,
        eval_every: 4,
        checkpoint_every: 3,
        select: Select::F1,
        tiny: TinyConfig {
            layers: 1,
            hidden: 16,
            heads: 2,
            vocabulary: 320,
            positions: 32,
        },
        ..TrainConfig::default()
    }
}

fn train(out: &Path, seed: u64, progress: &dyn Progress) -> Result<TrainSummary, DarError> {
    let (train, valid) = (pairs(42), pairs(10));
    let device = Default::default();
    hydra_dar::train::<CpuTraining>(&config(), seed, &train, &valid, out, &device, progress)
}

/// Panics at a step, as a kill would stop it.
struct Stop(usize);
struct Steps(usize, AtomicUsize);

impl Progress for Stop {
    fn start(&self, title: &str, _: Option<u64>) -> Box<dyn ProgressTask> {
        let at = if title == "train" { self.0 } else { usize::MAX };
        Box::new(Steps(at, AtomicUsize::new(0)))
    }
    fn warn(&self, _: &str) {}
}

impl ProgressTask for Steps {
    fn advance(&self, by: u64) {
        let done = self.1.fetch_add(by as usize, Ordering::Relaxed) + by as usize;
        assert!(done < self.0, "stopped");
    }
    fn message(&self, _: &str) {}
}

#[test]
fn a_stopped_training_ends_with_the_bytes_of_one_that_never_stopped() {
    let (whole, parts) = (
        tempfile::tempdir().expect("a"),
        tempfile::tempdir().expect("b"),
    );
    let summary = train(whole.path(), 1, &Silent).expect("it trains");
    // 42 pairs are 10 batches of 4 and one of 2; two a step, three times.
    assert_eq!((summary.steps, summary.pairs), (18, 42));
    for stop in [2, 5, 12, 13, 16] {
        let stopped = std::panic::catch_unwind(|| train(parts.path(), 1, &Stop(stop)));
        assert!(stopped.is_err(), "{stop}");
    }
    let resumed = train(parts.path(), 1, &Silent).expect("it goes on");
    assert_eq!(summary, resumed);
    for file in [
        "model/model.safetensors",
        "model/config.json",
        "model/tokenizer.json",
        "metrics.jsonl",
        "summary.json",
    ] {
        let read = |folder: &Path| std::fs::read(folder.join(file)).expect("written");
        assert!(read(whole.path()) == read(parts.path()), "{file} differs");
    }
    let left: Vec<_> = std::fs::read_dir(parts.path())
        .expect("a folder")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("checkpoint"))
        .collect();
    assert!(left.is_empty(), "{left:?}");

    let other = tempfile::tempdir().expect("c");
    train(other.path(), 2, &Silent).expect("it trains");
    let metrics = |folder: &Path| std::fs::read(folder.join("metrics.jsonl")).expect("written");
    assert!(metrics(whole.path()) != metrics(other.path()));

    let lines: Vec<Line> =
        hydra_core::jsonl::read(whole.path().join("metrics.jsonl")).expect("lines");
    let steps = lines.iter().filter(|l| matches!(l, Line::Train { .. }));
    assert_eq!(steps.count(), 18);

    // The result: the names of the hub, and a model that scores.
    let bytes = std::fs::read(whole.path().join("model/model.safetensors")).expect("weights");
    let file = SafeTensors::deserialize(&bytes).expect("safetensors");
    for name in [
        "embeddings.word_embeddings.weight",
        "encoder.layer.0.attention.self.query.weight",
        "encoder.layer.0.output.LayerNorm.bias",
        "classifier.5.running_var",
        "classifier.8.bias",
    ] {
        assert!(file.tensor(name).is_ok(), "{name}");
    }
    let scorer = DarScorer::<Cpu>::load(&whole.path().join("model"), &Default::default());
    let scorer = scorer.expect("a model");
    let candidates = [
        "def alpha(x):",
        "def a(x):\n    return x + x + x + x + x",
        "beta = 1",
    ];
    let together = scorer
        .score("{\"name\": \"use_alpha\"}", &candidates)
        .expect("scores");
    for (candidate, score) in candidates.iter().zip(&together) {
        let alone = scorer
            .score("{\"name\": \"use_alpha\"}", &[candidate])
            .expect("a score");
        assert!(
            (alone[0].p1 - score.p1).abs() < 1e-5,
            "padding changes a score"
        );
    }
    assert!(
        scorer
            .score("a query without candidates", &[])
            .expect("none")
            .is_empty()
    );
}

#[test]
fn a_training_on_pairs_that_can_be_told_apart_learns_them() {
    let out = tempfile::tempdir().expect("a folder");
    let pairs: Vec<Pair> = (0..64)
        .map(|n| Pair {
            query: format!("def use_{n}():"),
            candidate: if n % 2 == 0 {
                "def needed():"
            } else {
                "RATE = 2"
            }
            .to_owned(),
            label: u8::from(n % 2 == 0),
        })
        .collect();
    let config = TrainConfig {
        batch: 16,
        accumulation: 1,
        epochs: 20,
        eval_every: 20,
        checkpoint_every: 100,
        ..config()
    };
    let device = Default::default();
    let summary =
        hydra_dar::train::<CpuTraining>(&config, 1, &pairs, &pairs, out.path(), &device, &Silent)
            .expect("it trains");
    assert!(
        summary.loss[1] < summary.loss[0] / 2.0,
        "{:?}",
        summary.loss
    );
    assert_eq!((summary.best.recall, summary.best.precision), (1.0, 1.0));
}

/// A copy of the tiny BERT, to be spoilt.
fn copy() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bert");
    for name in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(from.join(name), folder.path().join(name)).expect("copied");
    }
    folder
}

fn refused(folder: &Path, words: &[&str]) {
    let error = match DarScorer::<Cpu>::load(folder, &Default::default()) {
        Ok(_) => panic!("{words:?}: it was loaded"),
        Err(error) => error.to_string(),
    };
    for word in words {
        assert!(error.contains(word), "{word:?} is not in {error}");
    }
    assert_eq!(error.lines().count(), 1, "{error}");
}

fn change(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).expect("text");
    assert!(text.contains(from), "{from}");
    std::fs::write(path, text.replace(from, to)).expect("written");
}

#[test]
fn weights_that_do_not_fit_the_configuration_are_named() {
    let cases = [
        (
            "\"num_hidden_layers\": 2",
            "\"num_hidden_layers\": 3",
            "encoder.layer.2",
        ),
        (
            "\"num_hidden_layers\": 2",
            "\"num_hidden_layers\": 1",
            "encoder.layer.1",
        ),
        (
            "\"hidden_size\": 16",
            "\"hidden_size\": 18",
            "asks for [18]",
        ),
        ("\"vocab_size\": 156", "\"vocab_size\": 157", "[157, 16]"),
        ("\"model_type\": \"bert\"", "\"model_type\": \"t5\"", "t5"),
        (
            "\"num_hidden_layers\": 2",
            "\"num_hidden_layers\": -2",
            "config.json",
        ),
    ];
    for (from, to, word) in cases {
        let folder = copy();
        change(&folder.path().join("config.json"), from, to);
        refused(folder.path(), &[word]);
    }
}

#[test]
fn broken_and_missing_files_are_named() {
    let spoilt = |name: &str, bytes: &[u8], words: &[&str]| {
        let folder = copy();
        std::fs::write(folder.path().join(name), bytes).expect("written");
        refused(folder.path(), words);
    };
    spoilt(
        "model.safetensors",
        b"",
        &["model.safetensors", "safetensors file"],
    );
    spoilt("model.safetensors", &[255; 64], &["model.safetensors"]);
    spoilt("config.json", b"{", &["config.json"]);
    spoilt("tokenizer.json", b"{}", &["tokenizer.json"]);
    let folder = copy();
    let weights = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&weights).expect("weights");
    spoilt(
        "model.safetensors",
        &bytes[..bytes.len() - 1],
        &["model.safetensors"],
    );
    // A weight that is no number.
    let mut poisoned = bytes.clone();
    let end = poisoned.len();
    poisoned[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    spoilt("model.safetensors", &poisoned, &["no numbers"]);
    std::fs::remove_file(&weights).expect("removed");
    refused(folder.path(), &["model.safetensors", "no such file"]);
    std::fs::write(folder.path().join("pytorch_model.bin"), b"").expect("written");
    refused(folder.path(), &["pickle", "safetensors"]);
}

#[test]
fn an_encoder_without_a_head_trains_but_does_not_score() {
    let folder = copy();
    let path = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&path).expect("weights");
    let file = SafeTensors::deserialize(&bytes).expect("safetensors");
    let encoder = file
        .iter()
        .filter(|(name, _)| !name.starts_with("classifier."));
    let encoder = safetensors::serialize(encoder, None).expect("bytes");
    std::fs::write(&path, encoder).expect("written");
    refused(folder.path(), &["classifier.0.bias", "missing"]);

    let out = tempfile::tempdir().expect("a folder");
    let config = TrainConfig {
        model: Some(folder.path().to_path_buf()),
        max_steps: Some(2),
        ..config()
    };
    let (train, valid) = (pairs(20), pairs(6));
    let device = Default::default();
    let summary =
        hydra_dar::train::<CpuTraining>(&config, 1, &train, &valid, out.path(), &device, &Silent)
            .expect("it trains");
    assert_eq!(summary.steps, 2);
    assert!(
        summary
            .fresh
            .iter()
            .all(|name| name.starts_with("classifier."))
    );
    assert_eq!(summary.fresh.len(), 14);
    let saved = EncoderConfig::read(&out.path().join("model/config.json")).expect("a config");
    assert_eq!(saved.layers, 2);
    assert_eq!(saved.input.expect("ours").max_tokens, 32);
}

#[test]
fn settings_that_make_no_training_are_refused() {
    let out = tempfile::tempdir().expect("a folder");
    let attempt = |config: TrainConfig, train: &[Pair], valid: &[Pair]| {
        let device = Default::default();
        match hydra_dar::train::<CpuTraining>(
            &config,
            1,
            train,
            valid,
            out.path(),
            &device,
            &Silent,
        ) {
            Ok(_) => panic!("it trained"),
            Err(error) => error.to_string(),
        }
    };
    let some = pairs(8);
    let wrong = |change: fn(&mut TrainConfig)| {
        let mut config = config();
        change(&mut config);
        attempt(config, &some, &some)
    };
    assert!(wrong(|c| c.batch = 1).contains("batch"));
    assert!(wrong(|c| c.eval_every = 0).contains("eval_every"));
    assert!(wrong(|c| c.learning_rate = f64::NAN).contains("learning_rate"));
    assert!(wrong(|c| c.tiny.heads = 3).contains("3 attention heads"));
    assert!(wrong(|c| c.tiny.vocabulary = 10).contains("vocabulary"));
    assert!(attempt(config(), &[], &some).contains("training pairs"));
    assert!(attempt(config(), &some, &[]).contains("validation pairs"));
}
