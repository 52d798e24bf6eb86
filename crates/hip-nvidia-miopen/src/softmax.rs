//! Softmax.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::Outcome;
use super::convert::{softmax_algorithm, softmax_mode};
use super::entry::{all_there, entries};
use super::factor::Factor;
use super::handle::with;
use super::library::{In, Out, check, cudnn};
use super::tensor::tensor_of;
use hip_sys::miopen::*;

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type Algorithm = miopenSoftmaxAlgorithm_t;
type Mode = miopenSoftmaxMode_t;

/// The mode of the functions that have no mode argument.
const ALGORITHM: Algorithm = Algorithm::MIOPEN_SOFTMAX_ACCURATE;
const MODE: Mode = Mode::MIOPEN_SOFTMAX_MODE_CHANNEL;

/// The caller's factor, or MIOpen's default.
///
/// # Safety
/// As [`Factor::read`].
unsafe fn factor(pointer: In, missing: f64, kind: miopenDataType_t) -> Outcome<Factor> {
    // SAFETY: S11: the caller's factor.
    if pointer.is_null() { Ok(Factor::new(missing, kind)) } else { unsafe { Factor::read(pointer, kind) } }
}

entries! {
    fn miopenSoftmaxForward_V2(
        handle: H, alpha: In, xd: T, x: In, beta: In, yd: T, y: Out, algorithm: Algorithm, mode: Mode,
    ) {
        let (xd, yd) = (tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        let (algorithm, mode) = (softmax_algorithm(algorithm)?, softmax_mode(mode)?);
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (factor(alpha, 1.0, yd.kind)?, factor(beta, 0.0, yd.kind)?) };
        let (x_raw, y_raw) = (xd.raw()?, yd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnSoftmaxForward)(
                    session.raw, algorithm, mode, alpha.get(), x_raw, x, beta.get(), y_raw, y,
                )
            })
        })
    }

    fn miopenSoftmaxBackward_V2(
        handle: H, alpha: In, yd: T, y: In, dyd: T, dy: In, beta: In, dxd: T, dx: Out, algorithm: Algorithm,
        mode: Mode,
    ) {
        let (yd, dyd, dxd) = (tensor_of(yd)?, tensor_of(dyd)?, tensor_of(dxd)?);
        all_there(&[y, dy, dx.cast_const()])?;
        let (algorithm, mode) = (softmax_algorithm(algorithm)?, softmax_mode(mode)?);
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (factor(alpha, 1.0, dxd.kind)?, factor(beta, 0.0, dxd.kind)?) };
        let (y_raw, dy_raw, dx_raw) = (yd.raw()?, dyd.raw()?, dxd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: as above.
            check(unsafe {
                (cudnn()?.cudnnSoftmaxBackward)(
                    session.raw, algorithm, mode, alpha.get(), y_raw, y, dy_raw, dy, beta.get(), dx_raw, dx,
                )
            })
        })
    }
}

pub(super) unsafe extern "C" fn miopenSoftmaxForward(
    handle: H,
    alpha: In,
    xd: T,
    x: In,
    beta: In,
    yd: T,
    y: Out,
) -> miopenStatus_t {
    // SAFETY: S11: the caller's arguments.
    unsafe { miopenSoftmaxForward_V2(handle, alpha, xd, x, beta, yd, y, ALGORITHM, MODE) }
}

pub(super) unsafe extern "C" fn miopenSoftmaxBackward(
    handle: H,
    alpha: In,
    yd: T,
    y: In,
    dyd: T,
    dy: In,
    beta: In,
    dxd: T,
    dx: Out,
) -> miopenStatus_t {
    // SAFETY: S11: as above.
    unsafe { miopenSoftmaxBackward_V2(handle, alpha, yd, y, dyd, dy, beta, dxd, dx, ALGORITHM, MODE) }
}
