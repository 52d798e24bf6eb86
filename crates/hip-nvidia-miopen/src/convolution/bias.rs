//! Adding a bias, and its gradient.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::entry::{all_there, entries};
use crate::factor::Factor;
use crate::handle::with;
use crate::library::{In, Out, check, cudnn};
use crate::tensor::tensor_of;
use hip_sys::miopen::*;

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;

entries! {
    /// As MIOpen computes it: `y` becomes `alpha * y + alpha * b + beta * y`.
    fn miopenConvolutionForwardBias(handle: H, alpha: In, bd: T, b: In, beta: In, yd: T, y: Out) {
        let (bd, yd) = (tensor_of(bd)?, tensor_of(yd)?);
        all_there(&[b, y.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        let kept = Factor::new(alpha.value() + beta.value(), yd.kind);
        let (b_raw, y_raw) = (bd.raw()?, yd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnAddTensor)(session.raw, alpha.get(), b_raw, b, kept.get(), y_raw, y)
            })
        })
    }

    fn miopenConvolutionBackwardBias(handle: H, alpha: In, dyd: T, dy: In, beta: In, dbd: T, db: Out) {
        let (dyd, dbd) = (tensor_of(dyd)?, tensor_of(dbd)?);
        all_there(&[dy, db.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, dyd.kind)?, Factor::read(beta, dyd.kind)?) };
        let (dy_raw, db_raw) = (dyd.raw()?, dbd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: as above.
            check(unsafe {
                (cudnn()?.cudnnConvolutionBackwardBias)(
                    session.raw, alpha.get(), dy_raw, dy, beta.get(), db_raw, db,
                )
            })
        })
    }
}
