//! Generators of random numbers. A generator is a seed and the draws made from it: a copy draws the same numbers again.

use std::rc::Rc;

use tensor_core::{Generator, Scalar, Tensor};

use crate::argument::Sizes;
use crate::interpreter::Context;
use crate::registry::{Registry, creations, functions, methods, properties};
use crate::tensors::shown;

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    registry.engine.register_type_with_name::<Generator>("generator");
    shown::<Generator>(registry, |this| format!("generator({}) after {} draws", this.seed(), this.offset()));
    functions! { registry;
        "generator"(seed: usize) => Ok::<_, String>(rhai::Dynamic::from(Generator::new(seed as u64)));
    }
    properties! { registry, Generator, this;
        "seed" => usize::try_from(this.seed()).unwrap_or(usize::MAX);
        "offset" => usize::try_from(this.offset()).unwrap_or(usize::MAX);
    }
    creations! { registry, context, with, [this: Generator];
        "uniform"(low: Scalar, high: Scalar, shape: Sizes) F32 => this.uniform(low, high, shape, with.0, with.1);
        "normal"(mean: Scalar, deviation: Scalar, shape: Sizes) F32 => this.normal(mean, deviation, shape, with.0, with.1);
        "randint"(low: i64, high: i64, shape: Sizes) I64 => this.randint(low, high, shape, with.0, with.1);
        "randperm"(count: usize) U32 => this.randperm(count, with.0, with.1);
        "bernoulli"(probability: f64, shape: Sizes) F32 => this.bernoulli(probability, shape, with.0, with.1);
    }
    methods! { registry, Generator;
        dropout(input: Tensor, probability: f64);
    }
}
