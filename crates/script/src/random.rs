//! Generators of random numbers. A generator is a seed and the draws made from it: a copy draws the same numbers again.

use std::rc::Rc;

use tensor_core::{Generator, Scalar, Tensor};

use crate::argument::Sizes;
use crate::interpreter::Context;
use crate::registry::{Registry, functions, methods, properties};
use crate::tensors::shown;

/// As [`crate::tensors`]' creations, for methods of a generator.
macro_rules! draws {
    ($registry:expr, $context:expr, $this:ident, $with:ident; $($name:literal($($argument:ident: $type:ty),*) $dtype:ident => $made:expr;)+) => {$(
        let make = |$this: &mut Generator, $($argument: rhai::Dynamic,)* $with: (tensor_core::DType, &tensor_core::Device)| -> crate::error::Returned {
            $(let $argument = <$type as crate::argument::Argument>::take(&$argument, $name, stringify!($argument))?;)*
            crate::registry::finish($made)
        };
        let (one, two) = (Rc::clone($context), Rc::clone($context));
        $registry.named($name).register_fn($name, move |this: &mut Generator, $($argument: rhai::Dynamic),*| {
            make(this, $($argument,)* (tensor_core::DType::$dtype, &one.device))
        });
        $registry.engine.register_fn($name, move |this: &mut Generator, $($argument: rhai::Dynamic,)* dtype: rhai::Dynamic| {
            make(this, $($argument,)* (crate::argument::Argument::take(&dtype, $name, "dtype")?, &two.device))
        });
        $registry.engine.register_fn($name, move |this: &mut Generator, $($argument: rhai::Dynamic,)* dtype: rhai::Dynamic, device: tensor_core::Device| {
            make(this, $($argument,)* (crate::argument::Argument::take(&dtype, $name, "dtype")?, &device))
        });
    )+};
}

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    registry.engine.register_type_with_name::<Generator>("generator");
    shown::<Generator>(registry, |this| format!("generator({}) after {} draws", this.seed(), this.offset()));
    functions! { registry;
        "generator"(seed: u32) => Ok::<_, String>(rhai::Dynamic::from(Generator::new(seed.into())));
    }
    properties! { registry, Generator, this;
        "seed" => usize::try_from(this.seed()).unwrap_or(usize::MAX);
        "offset" => usize::try_from(this.offset()).unwrap_or(usize::MAX);
    }
    draws! { registry, context, this, with;
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
