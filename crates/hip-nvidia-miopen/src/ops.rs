//! Element-wise operations on tensors.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::convert::{compute_type, tensor_op};
use super::entry::{all_there, entries, there};
use super::factor::Factor;
use super::handle::{Session, with};
use super::library::{In, Out, check, cudnn};
use super::raw::{Lazy, RawOp};
use super::tensor::{Tensor, tensor_of};
use super::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;

/// cuDNN's descriptor of an operation, one for each operation and compute type. They are never changed.
pub(super) fn op_descriptor(
    op: sys::cudnnOpTensorOp_t,
    kind: miopenDataType_t,
) -> Outcome<sys::cudnnOpTensorDescriptor_t> {
    static DESCRIPTORS: [[Lazy<RawOp>; 2]; 4] = [const { [Lazy::new(), Lazy::new()] }; 4];
    let compute = match compute_type(kind)? {
        sys::cudnnDataType_t::CUDNN_DATA_DOUBLE => sys::cudnnDataType_t::CUDNN_DATA_DOUBLE,
        _ => sys::cudnnDataType_t::CUDNN_DATA_FLOAT,
    };
    let wide = usize::from(compute == sys::cudnnDataType_t::CUDNN_DATA_DOUBLE);
    let slot = DESCRIPTORS.get(op as usize).ok_or(UNSUPPORTED)?;
    let make = || {
        RawOp::new(|library, raw| {
            let nan = sys::cudnnNanPropagation_t::CUDNN_PROPAGATE_NAN;
            // SAFETY: S1: a new descriptor.
            check(unsafe { (library.cudnnSetOpTensorDescriptor)(raw, op, compute, nan) })
        })
    };
    slot[wide].get(make).map(RawOp::raw)
}

/// `y = alpha * x + beta * y`, also between two types if cuDNN supports both in one operation.
///
/// # Safety
/// The memory fits the tensors.
pub(super) unsafe fn transform(
    session: &Session,
    (alpha, beta): (Factor, Factor),
    (x_tensor, x): (&Tensor, In),
    (y_tensor, y): (&Tensor, Out),
) -> Outcome {
    let library = cudnn()?;
    if x == y.cast_const() {
        // cuDNN copies from one tensor into another.
        if x_tensor != y_tensor {
            return Err(UNSUPPORTED);
        }
        let both = Factor::new(alpha.value() + beta.value(), y_tensor.kind);
        if both.value() == 1.0 {
            return Ok(());
        }
        // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
        return check(unsafe { (library.cudnnScaleTensor)(session.raw, y_tensor.raw()?, y, both.get()) });
    }
    if x_tensor.kind != y_tensor.kind {
        // cuDNN's copy keeps the type. Therefore the maximum of two equal products is computed, which is the product, rounded to
        // the result's type.
        let descriptor = op_descriptor(sys::cudnnOpTensorOp_t::CUDNN_OP_TENSOR_MAX, y_tensor.kind)?;
        let (x_raw, y_raw) = (x_tensor.raw()?, y_tensor.raw()?);
        // SAFETY: S11: as above.
        return check(unsafe {
            (library.cudnnOpTensor)(
                session.raw,
                descriptor,
                alpha.get(),
                x_raw,
                x,
                alpha.get(),
                x_raw,
                x,
                beta.get(),
                y_raw,
                y,
            )
        });
    }
    // SAFETY: S11: as above.
    check(unsafe {
        (library.cudnnTransformTensor)(
            session.raw,
            alpha.get(),
            x_tensor.raw()?,
            x,
            beta.get(),
            y_tensor.raw()?,
            y,
        )
    })
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;

entries! {
    fn miopenOpTensor(
        handle: H, op: miopenTensorOp_t, alpha1: In, ad: T, a: In, alpha2: In, bd: T, b: In, beta: In, cd: T, c: Out,
    ) {
        let (ad, bd, cd) = (tensor_of(ad)?, tensor_of(bd)?, tensor_of(cd)?);
        all_there(&[a, b, c.cast_const()])?;
        let descriptor = op_descriptor(tensor_op(op)?, cd.kind)?;
        // SAFETY: S11: the caller's factors.
        let (alpha1, alpha2, beta) = unsafe {
            (Factor::read(alpha1, cd.kind)?, Factor::read(alpha2, cd.kind)?, Factor::read(beta, cd.kind)?)
        };
        let (a_raw, b_raw, c_raw) = (ad.raw()?, bd.raw()?, cd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnOpTensor)(
                    session.raw, descriptor, alpha1.get(), a_raw, a, alpha2.get(), b_raw, b, beta.get(), c_raw, c,
                )
            })
        })
    }

    /// The value has the tensor's own type. cuDNN takes that for integers; for 16-bit floats it takes an `f32`.
    fn miopenSetTensor(handle: H, yd: T, y: Out, value: In) {
        let yd = tensor_of(yd)?;
        all_there(&[y.cast_const(), value])?;
        let y_raw = yd.raw()?;
        let narrow = matches!(yd.kind, miopenDataType_t::miopenHalf | miopenDataType_t::miopenBFloat16);
        // SAFETY: S11: the caller's value.
        let wide = if narrow { Some(unsafe { Factor::read_as(value, yd.kind) }?) } else { None };
        let value = wide.as_ref().map_or(value, Factor::get);
        with(handle, |session| {
            // SAFETY: S11: a live descriptor, and the caller's memory and value.
            check(unsafe { (cudnn()?.cudnnSetTensor)(session.raw, y_raw, y, value) })
        })
    }

    /// The factor has the tensor's own type.
    fn miopenScaleTensor(handle: H, yd: T, y: Out, alpha: In) {
        let yd = tensor_of(yd)?;
        there(y)?;
        // SAFETY: S11: the caller's factor.
        let alpha = unsafe { Factor::read_as(alpha, yd.kind) }?;
        let y_raw = yd.raw()?;
        with(handle, |session| {
            // SAFETY: S11: a live descriptor and factor, and the caller's memory.
            check(unsafe { (cudnn()?.cudnnScaleTensor)(session.raw, y_raw, y, alpha.get()) })
        })
    }

    fn miopenTransformTensor(handle: H, alpha: In, xd: T, x: In, beta: In, yd: T, y: Out) {
        let (xd, yd) = (tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        if xd.dims != yd.dims {
            return Err(BAD);
        }
        // SAFETY: S11: the caller's factors.
        let blend = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        // SAFETY: S11: the caller's memory.
        with(handle, |session| unsafe { transform(session, blend, (&xd, x), (&yd, y)) })
    }
}
