//! Tensors: properties, text, numbers, and the tables of their functions.

mod create;
mod index;
mod methods;
mod operators;

use std::rc::Rc;

use rhai::Dynamic;
use tensor_core::{DType, Device, QTensor, Result, Tensor};

use crate::argument::{array, described};
use crate::error::{Returned, failed};
use crate::interpreter::Context;
use crate::registry::{Registry, finish, methods, properties};

pub(crate) fn add(registry: &mut Registry, context: &Rc<Context>) {
    registry.engine.register_type_with_name::<Tensor>("tensor");
    registry.engine.register_type_with_name::<QTensor>("quantized tensor");
    registry.engine.register_type_with_name::<Device>("device");
    properties! { registry, Tensor, this;
        "shape" => this.dims().to_vec();
        "rank" => this.rank();
        "elements" => this.elements();
        "dtype" => this.dtype().name().to_owned();
        "device" => this.device();
        "is_contiguous" => this.is_contiguous();
        "references" => this.storage_references();
    }
    properties! { registry, QTensor, this;
        "shape" => this.shape().dims().to_vec();
        "rank" => this.rank();
        "dtype" => this.dtype().name().to_owned();
        "device" => this.device();
        "bytes" => this.storage_size_in_bytes();
    }
    methods! { registry, QTensor;
        forward(x: Tensor);
        embedding(ids: Tensor);
        dequantize_to(dtype: DType, device: Device);
        to_device(device: Device);
    }
    registry
        .named("dequantize")
        .register_fn("dequantize", |this: &mut QTensor| finish(this.dequantize(&this.device())));
    shown::<Tensor>(registry, |tensor| tensor.to_string());
    shown::<Device>(registry, |device| device.to_string());
    shown::<QTensor>(registry, |tensor| described(&Dynamic::from(tensor.clone())));
    let same = |a: Device, b: Device| a.same_device(&b);
    registry.engine.register_fn("==", same).register_fn("!=", move |a: Device, b: Device| !same(a, b));
    registry.named("to_scalar").register_fn("to_scalar", scalar);
    registry.named("to_vec").register_fn("to_vec", |this: &mut Tensor| finish(numbers(this).map(array)));
    registry.named("to_array").register_fn("to_array", |this: &mut Tensor| finish(nested(this)));
    registry.named("set_name").register_fn("set_name", |this: &mut Tensor, name: &str| this.set_name(name));
    registry
        .named("shares_storage")
        .register_fn("shares_storage", |this: &mut Tensor, other: Tensor| this.shares_storage(&other));
    operators::add(registry);
    index::add(registry);
    methods::add(registry);
    create::add(registry, context);
}

/// Lets `print` and texts show values of a type.
pub(crate) fn shown<T: Clone + 'static>(registry: &mut Registry, text: fn(&T) -> String) {
    registry.engine.register_fn("to_string", move |this: &mut T| text(this));
    registry.engine.register_fn("to_debug", move |this: &mut T| text(this));
}

/// The numbers in order, as the language has them: integers of 64 bits, or `f64`.
pub(crate) fn numbers(tensor: &Tensor) -> Result<Vec<Dynamic>> {
    let float = tensor.dtype().is_float();
    let wide = tensor.flatten()?.to_dtype(if float { DType::F64 } else { DType::I64 })?;
    Ok(if float {
        wide.to_vec::<f64>()?.into_iter().map(Dynamic::from_float).collect()
    } else {
        wide.to_vec::<i64>()?.into_iter().map(Dynamic::from_int).collect()
    })
}

fn scalar(this: &mut Tensor) -> Returned {
    match numbers(this).map_err(failed)?.as_slice() {
        [number] => Ok(number.clone()),
        _ => Err(failed(format!(
            "to_scalar: {} has {} elements on {}; expected one",
            this.shape(),
            this.elements(),
            this.device()
        ))),
    }
}

/// The numbers as arrays in arrays, one level an axis.
fn nested(tensor: &Tensor) -> Result<Dynamic> {
    let mut level = numbers(tensor)?;
    for &length in tensor.dims().iter().skip(1).rev() {
        // Without elements there is nothing to put together.
        level = level.chunks(length.max(1)).map(|row| array(row.iter().cloned())).collect();
    }
    Ok(if tensor.rank() == 0 { level.pop().unwrap_or(Dynamic::UNIT) } else { array(level) })
}
