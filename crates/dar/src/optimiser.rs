//! AdamW over named parameters, after clipping the norm of all gradients together.

use std::collections::BTreeMap;

use burn::module::{AutodiffModule, Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::{
    AdamW, AdamWConfig, AdamWState, AdaptiveMomentumState, GradientsParams, SimpleOptimizer,
};
use burn::tensor::backend::{AutodiffBackend, Backend};
use burn::tensor::{Tensor, TensorData};

use crate::weights::{Named, Place, Values};

/// PyTorch's AdamW epsilon; burn's own default is 1e-5.
const EPSILON: f32 = 1e-8;

/// AdamW with its moments by parameter name, so that they can be saved and found again.
pub(crate) struct Optimiser<B: Backend> {
    adamw: AdamW,
    moments: BTreeMap<String, Moments<B>>,
}

/// The two moments of a parameter, laid flat.
#[derive(Clone)]
struct Moments<B: Backend> {
    time: usize,
    first: Tensor<B, 1>,
    second: Tensor<B, 1>,
}

impl<B: Backend> Optimiser<B> {
    pub(crate) fn new(weight_decay: f32) -> Self {
        let config = AdamWConfig::new()
            .with_epsilon(EPSILON)
            .with_weight_decay(weight_decay);
        Self {
            adamw: config.build(),
            moments: BTreeMap::new(),
        }
    }

    /// One step. Returns the norm of all gradients before clipping.
    pub(crate) fn step<A, M>(
        &mut self,
        module: M,
        gradients: GradientsParams,
        rate: f64,
        clip: f64,
    ) -> (M, f64)
    where
        A: AutodiffBackend<InnerBackend = B>,
        M: AutodiffModule<A>,
    {
        let norm = norm::<A, M>(&module, &gradients);
        // As PyTorch's clip_grad_norm_.
        let scale = if clip > 0.0 {
            (clip / (norm + 1e-6)).min(1.0)
        } else {
            1.0
        };
        let module = module.map(&mut Step {
            place: Place::default(),
            gradients,
            optimiser: self,
            rate,
            scale,
        });
        (module, norm)
    }

    /// The moments, for a checkpoint: `<name>.first`, `<name>.second`.
    pub(crate) fn state(&self) -> Named {
        let mut named = Named::new();
        for (name, moments) in &self.moments {
            for (suffix, tensor) in [("first", &moments.first), ("second", &moments.second)] {
                let values: Vec<f32> = tensor.clone().into_data().iter::<f32>().collect();
                let shape = vec![values.len()];
                named.insert(format!("{name}.{suffix}"), Values { shape, values });
            }
        }
        named
    }

    /// Takes the moments of a checkpoint back.
    pub(crate) fn restore(&mut self, mut named: Named, time: usize, device: &B::Device) {
        let names: Vec<String> = named
            .keys()
            .filter_map(|key| Some(key.strip_suffix(".first")?.to_owned()))
            .collect();
        for name in names {
            let mut take = |suffix: &str| {
                let values = named.remove(&format!("{name}.{suffix}"))?;
                let data = TensorData::new(values.values, values.shape);
                Some(Tensor::from_data(data, device))
            };
            if let (Some(first), Some(second)) = (take("first"), take("second")) {
                let moments = Moments {
                    time,
                    first,
                    second,
                };
                self.moments.insert(name, moments);
            }
        }
    }
}

struct Step<'a, B: Backend> {
    place: Place,
    gradients: GradientsParams,
    optimiser: &'a mut Optimiser<B>,
    rate: f64,
    scale: f64,
}

impl<A: AutodiffBackend> ModuleMapper<A> for Step<'_, A::InnerBackend> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.place.enter(name);
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.place.leave();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<A, D>>) -> Param<Tensor<A, D>> {
        // A running statistic has none.
        let Some(gradient) = self.gradients.remove::<A::InnerBackend, D>(param.id) else {
            return param;
        };
        let gradient = gradient.mul_scalar(self.scale);
        let name = self.place.name();
        let (id, tensor, mapper) = param.consume();
        let tensor = tensor.inner();
        let shape = tensor.shape();
        let count = shape.num_elements();
        let state = self.optimiser.moments.remove(&name).map(|m| {
            AdamWState::new(AdaptiveMomentumState::new(
                m.time,
                m.first.reshape(shape.clone()),
                m.second.reshape(shape.clone()),
            ))
        });
        let (tensor, state) = self
            .optimiser
            .adamw
            .step(self.rate, tensor, gradient, state);
        if let Some(state) = state {
            let moments = Moments {
                time: state.momentum.time,
                first: state.momentum.moment_1.reshape([count]),
                second: state.momentum.moment_2.reshape([count]),
            };
            self.optimiser.moments.insert(name, moments);
        }
        let tensor = Tensor::from_inner(tensor).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// The Euclidean norm of all gradients together, summed in the order of the parameters.
fn norm<A: AutodiffBackend, M: Module<A>>(module: &M, gradients: &GradientsParams) -> f64 {
    struct Squares<'a> {
        gradients: &'a GradientsParams,
        sum: f64,
    }
    impl<A: AutodiffBackend> ModuleVisitor<A> for Squares<'_> {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<A, D>>) {
            if let Some(gradient) = self.gradients.get::<A::InnerBackend, D>(param.id) {
                let squares: f32 = gradient.square().sum().into_data().iter::<f32>().sum();
                self.sum += f64::from(squares);
            }
        }
    }
    let mut visitor = Squares {
        gradients,
        sum: 0.0,
    };
    module.visit(&mut visitor);
    visitor.sum.sqrt()
}
