//! New tensors. Each function takes also a dtype, or a dtype and a device, behind its arguments.

use std::rc::Rc;

use rhai::Dynamic;
use tensor_core::{DType, Device, Element, F8E4M3, Result, Scalar, Tensor, bf16, f16};

use crate::argument::{Argument, Sizes, described};
use crate::error::{Returned, failed};
use crate::interpreter::Context;
use crate::registry::{Registry, creations, finish};

/// Evaluates an expression for the Rust type of a dtype.
macro_rules! with_type {
    ($dtype:expr, $type:ident => $made:expr) => {
        match $dtype {
            DType::U8 => with_type!(@ u8, $type => $made),
            DType::U32 => with_type!(@ u32, $type => $made),
            DType::I16 => with_type!(@ i16, $type => $made),
            DType::I32 => with_type!(@ i32, $type => $made),
            DType::I64 => with_type!(@ i64, $type => $made),
            DType::F8E4M3 => with_type!(@ F8E4M3, $type => $made),
            DType::BF16 => with_type!(@ bf16, $type => $made),
            DType::F16 => with_type!(@ f16, $type => $made),
            DType::F32 => with_type!(@ f32, $type => $made),
            DType::F64 => with_type!(@ f64, $type => $made),
        }
    };
    (@ $rust:ty, $type:ident => $made:expr) => {{
        type $type = $rust;
        $made
    }};
}

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    creations! { registry, context, with, [];
        "zeros"(shape: Sizes) F32 => Tensor::zeros(shape, with.0, with.1);
        "ones"(shape: Sizes) F32 => Tensor::ones(shape, with.0, with.1);
        "full"(value: Scalar, shape: Sizes) F32 => Tensor::full(value, shape, with.0, with.1);
        "eye"(size: usize) F32 => Tensor::eye(size, with.0, with.1);
        "tril2"(size: usize) F32 => Tensor::tril2(size, with.0, with.1);
        "triu2"(size: usize) F32 => Tensor::triu2(size, with.0, with.1);
        "arange"(start: Scalar, end: Scalar) F32 => arange([start, end, Scalar::Int(1)], with);
        "arange_step"(start: Scalar, end: Scalar, step: Scalar) F32 => arange([start, end, step], with);
        "linspace"(start: Scalar, end: Scalar, count: usize) F32 => with_type!(with.0, T => {
            Tensor::linspace(T::from_scalar(start), T::from_scalar(end), count, with.1)
        });
        "uniform"(low: Scalar, high: Scalar, shape: Sizes) F32 => Tensor::uniform(low, high, shape, with.0, with.1);
        "normal"(mean: Scalar, deviation: Scalar, shape: Sizes) F32 => Tensor::normal(mean, deviation, shape, with.0, with.1);
        "randint"(low: i64, high: i64, shape: Sizes) I64 => Tensor::randint(low, high, shape, with.0, with.1);
        "randperm"(count: usize) U32 => Tensor::randperm(count, with.0, with.1);
        "bernoulli"(probability: f64, shape: Sizes) F32 => Tensor::bernoulli(probability, shape, with.0, with.1);
    }
    let tensor = |numbers: &Dynamic, dtype: Option<DType>, device: &Device| -> Returned {
        let (numbers, shape, of_ints) = Numbers::of(numbers)?;
        let dtype = dtype.unwrap_or(if of_ints { DType::I64 } else { DType::F32 });
        finish(with_type!(dtype, T => {
            let numbers: Vec<T> = numbers.into_iter().map(T::from_scalar).collect();
            Tensor::from_vec(numbers, shape, device)
        }))
    };
    let (one, two, three) = (Rc::clone(context), Rc::clone(context), Rc::clone(context));
    registry
        .named("tensor")
        .register_fn("tensor", move |numbers: Dynamic| tensor(&numbers, None, &one.device))
        .register_fn("tensor", move |numbers: Dynamic, dtype: Dynamic| {
            tensor(&numbers, Some(DType::take(&dtype, "tensor", "dtype")?), &two.device)
        })
        .register_fn("tensor", move |numbers: Dynamic, dtype: Dynamic, device: Device| {
            tensor(&numbers, Some(DType::take(&dtype, "tensor", "dtype")?), &device)
        });
    registry.named("device").register_fn("device", move |name: Dynamic| {
        three.device_named(String::take(&name, "device", "the name")?.as_str()).map_err(failed)
    });
    let here = Rc::clone(context);
    registry.engine.register_fn("device", move || here.device.clone());
}

fn arange([start, end, step]: [Scalar; 3], with: (DType, &Device)) -> Result<Tensor> {
    with_type!(with.0, T => Tensor::arange_step(T::from_scalar(start), T::from_scalar(end), T::from_scalar(step), with.1))
}

/// Numbers of an array in arrays.
#[derive(Default)]
struct Numbers {
    flat: Vec<Scalar>,
    /// The lengths found on the way to the first number.
    shape: Vec<usize>,
    has_floats: bool,
}

impl Numbers {
    /// The numbers in order, their shape, and whether all are integers.
    fn of(value: &Dynamic) -> Returned<(Vec<Scalar>, Vec<usize>, bool)> {
        let mut numbers = Numbers::default();
        numbers.measure(value);
        numbers.take(value, 0)?;
        let of_ints = !numbers.has_floats && !numbers.flat.is_empty();
        Ok((numbers.flat, numbers.shape, of_ints))
    }

    fn measure(&mut self, value: &Dynamic) {
        if let Ok(array) = value.as_array_ref() {
            self.shape.push(array.len());
            if let Some(first) = array.first() {
                self.measure(first);
            }
        }
    }

    fn take(&mut self, value: &Dynamic, level: usize) -> Returned<()> {
        match self.shape.get(level) {
            Some(&length) => match value.as_array_ref() {
                Ok(array) if array.len() == length => {
                    array.iter().try_for_each(|value| self.take(value, level + 1))
                }
                Ok(array) => {
                    Err(failed(format!("tensor: rows of different lengths: {length} and {}", array.len())))
                }
                Err(_) => Err(failed(format!("tensor: {} beside an array", described(value)))),
            },
            None => {
                let number = Scalar::take(value, "tensor", "an element")?;
                self.has_floats |= matches!(number, Scalar::Float(_));
                self.flat.push(number);
                Ok(())
            }
        }
    }
}
