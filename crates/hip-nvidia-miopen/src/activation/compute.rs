//! Computing activations and their gradients.

use super::{Activation, Way, make};
use crate::entry::all_there;
use crate::factor::Factor;
use crate::handle::Session;
use crate::library::{In, Out, check, cudnn};
use crate::ops::{op_descriptor, transform};
use crate::raw::{Lazy, RawActivation};
use crate::tensor::Tensor;
use crate::{Outcome, UNSUPPORTED};
use cudarc::cudnn::sys::{self, cudnnActivationMode_t as Native};

/// cuDNN's descriptor of max(x, 0).
fn relu() -> Outcome<sys::cudnnActivationDescriptor_t> {
    static RELU: Lazy<RawActivation> = Lazy::new();
    RELU.get(|| make(Native::CUDNN_ACTIVATION_RELU, 0.0)).map(RawActivation::raw)
}

/// cuDNN's descriptor of tanh(x).
fn tanh() -> Outcome<sys::cudnnActivationDescriptor_t> {
    static TANH: Lazy<RawActivation> = Lazy::new();
    TANH.get(|| make(Native::CUDNN_ACTIVATION_TANH, 0.0)).map(RawActivation::raw)
}

/// `y = alpha * f(x) + beta * y`. The two may be the same memory with the same strides.
///
/// # Safety
/// The memory fits the tensors.
pub(crate) unsafe fn forward(
    session: &Session,
    activation: &Activation,
    (alpha, beta): (Factor, Factor),
    (x_tensor, x): (&Tensor, In),
    (y_tensor, y): (&Tensor, Out),
) -> Outcome {
    let library = cudnn()?;
    let (x_raw, y_raw) = (x_tensor.raw()?, y_tensor.raw()?);
    let slope = match activation.way()? {
        Way::Native(..) => {
            let descriptor = activation.raw()?;
            // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
            return check(unsafe {
                (library.cudnnActivationForward)(
                    session.raw,
                    descriptor,
                    alpha.get(),
                    x_raw,
                    x,
                    beta.get(),
                    y_raw,
                    y,
                )
            });
        }
        // SAFETY: S11: the caller's memory.
        Way::Identity => return unsafe { transform(session, (alpha, beta), (x_tensor, x), (y_tensor, y)) },
        Way::Tanh { alpha: inner, beta: outer } => {
            if beta.value() != 0.0 {
                return Err(UNSUPPORTED);
            }
            let kind = y_tensor.kind;
            let (inner, outer) = (Factor::new(inner, kind), Factor::new(outer * alpha.value(), kind));
            let descriptor = tanh()?;
            // SAFETY: S11: as above. A stream runs the calls in this order.
            return unsafe {
                transform(session, (inner, beta), (x_tensor, x), (y_tensor, y))?;
                check((library.cudnnActivationForward)(
                    session.raw,
                    descriptor,
                    outer.get(),
                    y_raw,
                    y,
                    beta.get(),
                    y_raw,
                    y,
                ))
            };
        }
        Way::Absolute => -1.0,
        Way::Leaky(slope) => slope,
    };
    let other = Factor::new(alpha.value() * slope, y_tensor.kind);
    // For positive x the first product must be the larger one.
    let op = if alpha.value() >= other.value() {
        sys::cudnnOpTensorOp_t::CUDNN_OP_TENSOR_MAX
    } else {
        sys::cudnnOpTensorOp_t::CUDNN_OP_TENSOR_MIN
    };
    let descriptor = op_descriptor(op, y_tensor.kind)?;
    // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
    check(unsafe {
        (library.cudnnOpTensor)(
            session.raw,
            descriptor,
            alpha.get(),
            x_raw,
            x,
            other.get(),
            x_raw,
            x,
            beta.get(),
            y_raw,
            y,
        )
    })
}

/// `dx = alpha * f'(x) * dy + beta * dx`.
///
/// # Safety
/// The memory fits the tensors.
pub(super) unsafe fn backward(
    session: &Session,
    activation: &Activation,
    (alpha, beta): (Factor, Factor),
    (y_tensor, y): (&Tensor, In),
    (dy_tensor, dy): (&Tensor, In),
    (x_tensor, x): (&Tensor, In),
    (dx_tensor, dx): (&Tensor, Out),
) -> Outcome {
    let library = cudnn()?;
    let (dy_raw, x_raw, dx_raw) = (dy_tensor.raw()?, x_tensor.raw()?, dx_tensor.raw()?);
    let slope = match activation.way()? {
        Way::Native(..) => {
            all_there(&[y])?;
            let (descriptor, y_raw) = (activation.raw()?, y_tensor.raw()?);
            // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
            return check(unsafe {
                (library.cudnnActivationBackward)(
                    session.raw,
                    descriptor,
                    alpha.get(),
                    y_raw,
                    y,
                    dy_raw,
                    dy,
                    x_raw,
                    x,
                    beta.get(),
                    dx_raw,
                    dx,
                )
            });
        }
        Way::Identity => {
            // SAFETY: S11: the caller's memory.
            return unsafe { transform(session, (alpha, beta), (dy_tensor, dy), (dx_tensor, dx)) };
        }
        Way::Tanh { alpha: inner, beta: outer } => {
            all_there(&[y])?;
            // dx = dy * inner * (outer - y * y / outer); the products come first.
            if beta.value() != 0.0 || outer == 0.0 || [dy, y].contains(&dx.cast_const()) {
                return Err(UNSUPPORTED);
            }
            let kind = dx_tensor.kind;
            let factor = |value: f64| Factor::new(value, kind);
            let (one, none) = (factor(1.0), factor(0.0));
            let square = factor(-alpha.value() * inner / outer);
            let descriptor = op_descriptor(sys::cudnnOpTensorOp_t::CUDNN_OP_TENSOR_MUL, kind)?;
            let y_raw = y_tensor.raw()?;
            // SAFETY: S11: as above. A stream runs the calls in this order.
            return unsafe {
                check((library.cudnnOpTensor)(
                    session.raw,
                    descriptor,
                    one.get(),
                    dy_raw,
                    dy,
                    one.get(),
                    y_raw,
                    y,
                    none.get(),
                    dx_raw,
                    dx,
                ))?;
                check((library.cudnnOpTensor)(
                    session.raw,
                    descriptor,
                    square.get(),
                    dx_raw,
                    dx,
                    one.get(),
                    y_raw,
                    y,
                    none.get(),
                    dx_raw,
                    dx,
                ))?;
                let all = factor(alpha.value() * inner * outer);
                transform(session, (all, one), (dy_tensor, dy), (dx_tensor, dx))
            };
        }
        Way::Absolute => -1.0,
        Way::Leaky(slope) => slope,
    };
    // The slope everywhere, and then the difference where x is positive. dy is read twice, so it must not be overwritten.
    if dy == dx.cast_const() || x == dx.cast_const() {
        return Err(UNSUPPORTED);
    }
    let kind = dx_tensor.kind;
    let everywhere = Factor::new(alpha.value() * slope, kind);
    let more = Factor::new(alpha.value() * (1.0 - slope), kind);
    let keep = Factor::new(1.0, kind);
    let descriptor = relu()?;
    // SAFETY: S11: as above. Where max(x, 0) is positive x is, so x stands for both.
    unsafe {
        transform(session, (everywhere, beta), (dy_tensor, dy), (dx_tensor, dx))?;
        check((library.cudnnActivationBackward)(
            session.raw,
            descriptor,
            more.get(),
            x_raw,
            x,
            dy_raw,
            dy,
            x_raw,
            x,
            keep.get(),
            dx_raw,
            dx,
        ))
    }
}
