//! Errors name the tensors of the operation.

use std::any::Any;

use rhai::{Array, Dynamic, EvalAltResult};
use tensor_core::{QTensor, Tensor};

use crate::argument::FEW;
use crate::error::{Returned, failed};

/// What `make` gives. If it fails with a message that lacks the shape or the device of one of its tensors, these are added:
/// tensor-core names what differs, such as two dtypes, and knows no arguments of scripts.
pub(crate) fn naming_operands<T: 'static>(
    this: &mut T,
    arguments: &[&Dynamic],
    make: impl FnOnce(&mut T) -> Returned,
) -> Returned {
    let error = match make(this) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let EvalAltResult::ErrorRuntime(message, _) = &*error else { return Err(error) };
    let mut found = Operands::default();
    found.add(this);
    arguments.iter().for_each(|argument| found.add_argument(argument));
    let message = message.to_string();
    if found.needles.iter().all(|needle| message.contains(needle)) {
        return Err(error);
    }
    let more = if found.texts.len() > FEW { ", …" } else { "" };
    found.texts.truncate(FEW);
    Err(failed(format!("{message}; operands: {}{more}", found.texts.join(", "))))
}

#[derive(Default)]
struct Operands {
    /// What a message about them has.
    needles: Vec<String>,
    texts: Vec<String>,
}

impl Operands {
    fn add(&mut self, value: &dyn Any) {
        if let Some(tensor) = value.downcast_ref::<Tensor>() {
            self.put(tensor.shape(), tensor.dtype(), tensor.device());
        } else if let Some(tensor) = value.downcast_ref::<QTensor>() {
            self.put(tensor.shape(), tensor.dtype(), tensor.device());
        }
    }

    fn put(&mut self, shape: &impl ToString, dtype: impl ToString, device: impl ToString) {
        let [shape, dtype, device] = [shape.to_string(), dtype.to_string(), device.to_string()];
        self.texts.push(format!("{shape} {dtype} on {device}"));
        self.needles.extend([shape, device]);
    }

    /// A tensor, or an array of them.
    fn add_argument(&mut self, value: &Dynamic) {
        if let Some(tensor) = value.read_lock::<Tensor>() {
            self.add(&*tensor);
        } else if let Some(tensor) = value.read_lock::<QTensor>() {
            self.add(&*tensor);
        } else if let Some(array) = value.read_lock::<Array>() {
            for value in array.iter().filter(|value| !value.is_array()) {
                self.add_argument(value);
            }
        }
    }
}
