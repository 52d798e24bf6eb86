//! What the operations of a pass gave, one after another: for finding where two devices part.

use std::cell::{Cell, RefCell};

use tensor_core::{DType, Result, Tensor};

/// What an operation of a pass gave. See [`LanguageModel::trace`](crate::LanguageModel::trace).
#[derive(Debug, Clone)]
pub struct Activation {
    /// Where: "blk.3.ffn_down". Activations of a pass have distinct names.
    pub name: String,
    /// The operation: "linear", "rms_norm", "rope", "add".
    pub operation: &'static str,
    /// The layer; `None` before the first and after the last.
    pub layer: Option<usize>,
    /// What it gave, on the device.
    pub tensor: Tensor,
}

/// Collects the activations of a pass.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    layer: Cell<Option<usize>>,
    found: RefCell<Vec<Activation>>,
}

impl Trace {
    /// What follows belongs to this layer.
    pub(crate) fn enter(&self, layer: Option<usize>) {
        self.layer.set(layer);
    }

    /// Keeps a tensor. It is not copied: an operation that changes it in place copies it first.
    pub(crate) fn keep(&self, name: &str, operation: &'static str, tensor: &Tensor) {
        let layer = self.layer.get();
        let name = layer.map_or(name.to_owned(), |layer| format!("blk.{layer}.{name}"));
        self.found.borrow_mut().push(Activation { name, operation, layer, tensor: tensor.clone() });
    }

    pub(crate) fn into_activations(self) -> Vec<Activation> {
        self.found.into_inner()
    }
}

/// How far an activation is off on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Its name.
    pub name: String,
    /// The operation that gave it.
    pub operation: &'static str,
    /// The layer.
    pub layer: Option<usize>,
    /// The Euclidean norm of the difference, as a fraction of the second one's. Infinite if the shapes differ, if NaN or an
    /// infinity is in only one of them, or if only one pass has this activation.
    pub error: f64,
}

/// Compares the activations of two passes of the same tokens, in their order. Moves all of them to the host.
///
/// # Errors
/// Of the devices.
pub fn drift(left: &[Activation], right: &[Activation]) -> Result<Vec<Drift>> {
    let one = |(left, right): (&Activation, &Activation)| {
        let error = match left.name == right.name && left.tensor.dims() == right.tensor.dims() {
            true => apart(&numbers(&left.tensor)?, &numbers(&right.tensor)?),
            false => f64::INFINITY,
        };
        Ok(Drift { name: left.name.clone(), operation: left.operation, layer: left.layer, error })
    };
    let of_both = left.iter().zip(right).map(one).collect::<Result<Vec<_>>>()?;
    // What only one of them has.
    let longer = if left.len() > right.len() { left } else { right };
    let alone = longer[of_both.len()..].iter().map(|activation| Drift {
        name: activation.name.clone(),
        operation: activation.operation,
        layer: activation.layer,
        error: f64::INFINITY,
    });
    Ok(of_both.into_iter().chain(alone).collect())
}

fn numbers(tensor: &Tensor) -> Result<Vec<f64>> {
    tensor.to_dtype(DType::F64)?.reshape([tensor.elements()])?.to_vec1()
}

fn apart(left: &[f64], right: &[f64]) -> f64 {
    let (mut difference, mut whole) = (0.0, 0.0);
    for (&x, &y) in left.iter().zip(right) {
        if x == y || x.is_nan() && y.is_nan() {
            whole += if y.is_finite() { y * y } else { 0.0 };
        } else if x.is_finite() && y.is_finite() {
            difference += (x - y) * (x - y);
            whole += y * y;
        } else {
            return f64::INFINITY;
        }
    }
    if difference == 0.0 { 0.0 } else { (difference / whole).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_of_differences_by_hand() {
        // (3, 4) is 5 long; so is the difference.
        assert_eq!(apart(&[6.0, 8.0], &[3.0, 4.0]), 1.0);
        assert_eq!(apart(&[3.0, 4.5], &[3.0, 4.0]), 0.1);
        assert_eq!(apart(&[f64::NAN, f64::INFINITY, -0.0], &[f64::NAN, f64::INFINITY, 0.0]), 0.0);
        assert_eq!(apart(&[1.0], &[f64::NAN]), f64::INFINITY);
        assert_eq!(apart(&[f64::INFINITY], &[f64::NEG_INFINITY]), f64::INFINITY);
        assert_eq!(apart(&[1.0], &[0.0]), f64::INFINITY);
        assert_eq!(apart(&[], &[]), 0.0);
    }
}
