//! Parameters by the names that `transformers` and the released model give them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData, backend::Backend};
use hydra_core::{CoreError, hash, write_atomic};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::DarError;

/// A parameter as files hold it: a linear layer's weight is `[out, in]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The shape.
    pub shape: Vec<usize>,
    /// Row by row.
    pub values: Vec<f32>,
}

/// Parameters by name, in the order of the names.
pub type Named = BTreeMap<String, Values>;

/// Prefixes that stand before an encoder's names in files of other models.
const PREFIXES: [&str; 4] = ["bert.", "roberta.", "unixcoder.", "model."];
/// What the initialiser of transformers' BERT and RoBERTa draws from.
const DEVIATION: f32 = 0.02;

/// A module's path to a parameter, kept while it is walked through.
#[derive(Debug, Default)]
pub(crate) struct Place(Vec<String>);

impl Place {
    pub(crate) fn enter(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }

    pub(crate) fn leave(&mut self) {
        self.0.pop();
    }

    /// The name in files.
    pub(crate) fn name(&self) -> String {
        let parts: Vec<&str> = self.0.iter().map(String::as_str).collect();
        let (layer, parts) = match parts.as_slice() {
            ["encoder", "layers", number, rest @ ..] => (Some(*number), rest),
            [_, rest @ ..] => (None, rest),
            [] => (None, &[] as &[&str]),
        };
        let [module, parameter] = parts else {
            return self.0.join(".");
        };
        let module = match *module {
            "words" => "embeddings.word_embeddings",
            "positions" => "embeddings.position_embeddings",
            "types" => "embeddings.token_type_embeddings",
            "embedding_norm" => "embeddings.LayerNorm",
            "query" => "attention.self.query",
            "key" => "attention.self.key",
            "value" => "attention.self.value",
            "attention_output" => "attention.output.dense",
            "attention_norm" => "attention.output.LayerNorm",
            "intermediate" => "intermediate.dense",
            "output" => "output.dense",
            "output_norm" => "output.LayerNorm",
            "pooler" => "pooler.dense",
            // Places in the released model's nn.Sequential.
            "wide" => "classifier.0",
            "wide_norm" => "classifier.1",
            "narrow" => "classifier.4",
            "narrow_norm" => "classifier.5",
            "classes" => "classifier.8",
            other => other,
        };
        let parameter = match *parameter {
            "gamma" => "weight",
            "beta" => "bias",
            other => other,
        };
        match layer {
            Some(number) => format!("encoder.layer.{number}.{module}.{parameter}"),
            None => format!("{module}.{parameter}"),
        }
    }
}

/// burn keeps a linear layer's weight as `[in, out]`.
fn transposed(name: &str, dimensions: usize) -> bool {
    dimensions == 2 && !name.starts_with("embeddings.")
}

fn turn(values: &[f32], rows: usize, columns: usize) -> Values {
    let turned = (0..columns).flat_map(|c| (0..rows).map(move |r| values[r * columns + c]));
    Values {
        shape: vec![columns, rows],
        values: turned.collect(),
    }
}

/// Names and shapes, without drawing a single number.
pub(crate) fn shapes<B: Backend>(module: &impl Module<B>) -> BTreeMap<String, Vec<usize>> {
    struct Shapes {
        place: Place,
        found: BTreeMap<String, Vec<usize>>,
    }
    impl<B: Backend> ModuleVisitor<B> for Shapes {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.place.enter(name);
        }
        fn exit_module(&mut self, _: &str, _: &str) {
            self.place.leave();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            let name = self.place.name();
            let mut shape: Vec<usize> = param.lazy_shape().iter().copied().collect();
            if transposed(&name, D) {
                shape.reverse();
            }
            self.found.insert(name, shape);
        }
    }
    let mut visitor = Shapes {
        place: Place::default(),
        found: BTreeMap::new(),
    };
    module.visit(&mut visitor);
    visitor.found
}

/// The values of every parameter and running statistic.
///
/// Running statistics are up to date in a module that came from
/// [`valid`](burn::module::AutodiffModule::valid).
pub(crate) fn values<B: Backend>(module: &impl Module<B>) -> Named {
    struct Collect {
        place: Place,
        found: Named,
    }
    impl<B: Backend> ModuleVisitor<B> for Collect {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.place.enter(name);
        }
        fn exit_module(&mut self, _: &str, _: &str) {
            self.place.leave();
        }
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<B, D>>) {
            let name = self.place.name();
            let mut tensor = param.val();
            if transposed(&name, D) {
                tensor = tensor.transpose();
            }
            let data = tensor.into_data();
            let shape = data.shape.iter().copied().collect();
            let values = data.iter::<f32>().collect();
            self.found.insert(name, Values { shape, values });
        }
    }
    let mut visitor = Collect {
        place: Place::default(),
        found: Named::new(),
    };
    module.visit(&mut visitor);
    visitor.found
}

/// The module with these values; what is not among them stays. Shapes must fit ([`shapes`]).
pub(crate) fn with_values<B: Backend, M: Module<B>>(
    module: M,
    named: Named,
    device: &B::Device,
) -> M {
    struct Put<'a, B: Backend> {
        place: Place,
        named: Named,
        device: &'a B::Device,
    }
    impl<B: Backend> ModuleMapper<B> for Put<'_, B> {
        fn enter_module(&mut self, name: &str, _: &str) {
            self.place.enter(name);
        }
        fn exit_module(&mut self, _: &str, _: &str) {
            self.place.leave();
        }
        fn map_float<const D: usize>(&mut self, param: Param<Tensor<B, D>>) -> Param<Tensor<B, D>> {
            let name = self.place.name();
            let Some(found) = self.named.remove(&name) else {
                return param;
            };
            // Turned here, so that the tensor is laid out as it will be read.
            let found = match found.shape.as_slice() {
                [rows, columns] if transposed(&name, D) => turn(&found.values, *rows, *columns),
                _ => found,
            };
            let data = TensorData::new(found.values, found.shape);
            let tensor = Tensor::from_data(data, self.device);
            let id = param.id;
            param.transform_for_load(tensor, id)
        }
    }
    module.map(&mut Put {
        place: Place::default(),
        named,
        device,
    })
}

/// Draws what a fresh parameter starts from, each from its own seed: as `transformers` does for an
/// encoder, and PyTorch's linear layer for the head.
pub(crate) fn initial(shapes: &BTreeMap<String, Vec<usize>>, seed: u64) -> Named {
    let draw = |(name, shape): (&String, &Vec<usize>)| {
        let count = shape.iter().product();
        let mut rng = ChaCha8Rng::seed_from_u64(mix(seed, name));
        let norm = name.contains("LayerNorm")
            || name.starts_with("classifier.1.")
            || name.starts_with("classifier.5.");
        let values = if norm {
            let one = name.ends_with("weight") || name.ends_with("running_var");
            vec![if one { 1.0 } else { 0.0 }; count]
        } else if name.starts_with("classifier.") {
            let weight = name.replace(".bias", ".weight");
            let inputs = shapes.get(&weight).and_then(|s| s.get(1)).copied();
            let bound = 1.0 / (inputs.unwrap_or(1).max(1) as f32).sqrt();
            (0..count)
                .map(|_| (rng.random::<f32>() * 2.0 - 1.0) * bound)
                .collect()
        } else if name.ends_with("bias") {
            vec![0.0; count]
        } else {
            (0..count).map(|_| normal(&mut rng) * DEVIATION).collect()
        };
        let shape = shape.clone();
        (name.clone(), Values { shape, values })
    };
    shapes.iter().map(draw).collect()
}

/// A seed for one purpose.
pub(crate) fn mix(seed: u64, purpose: &str) -> u64 {
    let hash = hash::sha256(format!("{seed} {purpose}"));
    u64::from_str_radix(hash.get(..16).unwrap_or("0"), 16).unwrap_or(seed)
}

/// A standard normal number, by Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f32 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    let angle = std::f64::consts::TAU * rng.random::<f64>();
    (radius * angle.cos()) as f32
}

/// Reads a safetensors file and checks it against the names and shapes that the configuration asks
/// for. Returns what it holds of them; names that `optional` accepts may be missing.
pub(crate) fn read(
    path: &Path,
    wanted: &BTreeMap<String, Vec<usize>>,
    optional: impl Fn(&str) -> bool,
) -> Result<Named, DarError> {
    let bad = |reason: String| DarError::Weights {
        path: path.to_path_buf(),
        reason,
    };
    let bytes = std::fs::read(path).map_err(CoreError::io(path))?;
    let file =
        SafeTensors::deserialize(&bytes).map_err(|e| bad(format!("no safetensors file: {e}")))?;
    let mut named = Named::new();
    let mut strange = BTreeSet::new();
    let views: BTreeMap<&str, TensorView> = file.iter().collect();
    for (raw, view) in views {
        let name = PREFIXES
            .iter()
            .find_map(|prefix| raw.strip_prefix(prefix))
            .unwrap_or(raw);
        let Some(shape) = wanted.get(name) else {
            strange.insert(name.to_owned());
            continue;
        };
        if view.shape() != shape {
            return Err(bad(format!(
                "{raw} has the shape {:?}, but the configuration asks for {shape:?}",
                view.shape()
            )));
        }
        let values = floats(&view).ok_or_else(|| {
            bad(format!(
                "{raw} is of type {:?}, not F32, F16 or BF16",
                view.dtype()
            ))
        })?;
        if values.iter().any(|v| !v.is_finite()) {
            return Err(bad(format!("{raw} holds values that are no numbers")));
        }
        let shape = shape.clone();
        if named
            .insert(name.to_owned(), Values { shape, values })
            .is_some()
        {
            return Err(bad(format!("{name} is there twice")));
        }
    }
    let missing = wanted
        .keys()
        .find(|name| !named.contains_key(*name) && !optional(name));
    if let Some(name) = missing {
        return Err(bad(format!(
            "{name} is missing, which the configuration asks for"
        )));
    }
    // Of a bigger model than the configuration says. Other heads and counters are left aside.
    let ours = ["embeddings.", "encoder.", "pooler.", "classifier."];
    let left = strange.iter().find(|name| {
        ours.iter().any(|start| name.starts_with(start))
            && !name.ends_with("position_ids")
            && !name.ends_with("token_type_ids")
            && !name.ends_with("num_batches_tracked")
    });
    match left {
        Some(name) => Err(bad(format!("{name} has no place in the configuration"))),
        None => Ok(named),
    }
}

/// Reads a file of our own, whatever is in it.
pub(crate) fn read_all(path: &Path) -> Result<Named, DarError> {
    let bad = |reason: String| DarError::Weights {
        path: path.to_path_buf(),
        reason,
    };
    let bytes = std::fs::read(path).map_err(CoreError::io(path))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|e| bad(e.to_string()))?;
    file.iter()
        .map(|(name, view)| {
            let values = floats(&view).ok_or_else(|| bad(format!("{name} is of another type")))?;
            let shape = view.shape().to_vec();
            Ok((name.to_owned(), Values { shape, values }))
        })
        .collect()
}

fn floats(view: &TensorView) -> Option<Vec<f32>> {
    let bytes = view.data();
    let pairs = || bytes.chunks_exact(2).map(|b| [b[0], b[1]]);
    Some(match view.dtype() {
        Dtype::F32 => bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect(),
        Dtype::F16 => pairs()
            .map(|b| half::f16::from_le_bytes(b).to_f32())
            .collect(),
        Dtype::BF16 => pairs()
            .map(|b| half::bf16::from_le_bytes(b).to_f32())
            .collect(),
        _ => return None,
    })
}

/// Writes a safetensors file, atomically.
pub(crate) fn write(path: &Path, named: &Named) -> Result<(), DarError> {
    let bad = |reason: String| DarError::Weights {
        path: path.to_path_buf(),
        reason,
    };
    let bytes: BTreeMap<&String, (Vec<usize>, Vec<u8>)> = named
        .iter()
        .map(|(name, v)| {
            let bytes = v.values.iter().flat_map(|f| f.to_le_bytes()).collect();
            (name, (v.shape.clone(), bytes))
        })
        .collect();
    let views: Vec<(&String, TensorView)> = bytes
        .iter()
        .map(|(name, (shape, bytes))| {
            let view = TensorView::new(Dtype::F32, shape.clone(), bytes);
            view.map(|view| (*name, view))
                .map_err(|e| bad(e.to_string()))
        })
        .collect::<Result<_, _>>()?;
    let file = safetensors::serialize(views, None).map_err(|e| bad(e.to_string()))?;
    Ok(write_atomic(path, &file)?)
}
