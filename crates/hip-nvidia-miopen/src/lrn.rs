//! Local response normalisation across channels. Within a channel cuDNN's sums differ from MIOpen's.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::Descriptors;
use super::entry::{all_there, entries, give, offer};
use super::factor::Factor;
use super::handle::with;
use super::library::{In, Out, check, cudnn};
use super::raw::{Lazy, RawLrn};
use super::tensor::tensor_of;
use super::{BAD, Outcome, UNSUPPORTED};
use cudarc::cudnn::sys;
use hip_sys::miopen::*;
use std::ffi::c_uint;
use std::sync::LazyLock;

struct Lrn {
    mode: miopenLRNMode_t,
    window: c_uint,
    alpha: f64,
    beta: f64,
    k: f64,
    raw: Lazy<RawLrn>,
}

static LRNS: LazyLock<Descriptors<Lrn>> = LazyLock::new(|| Descriptors::new(0x55));
const MODE: sys::cudnnLRNMode_t = sys::cudnnLRNMode_t::CUDNN_LRN_CROSS_CHANNEL_DIM1;

impl Default for Lrn {
    fn default() -> Self {
        let mode = miopenLRNMode_t::miopenLRNCrossChannel;
        Self { mode, window: 0, alpha: 0.0, beta: 0.0, k: 0.0, raw: Lazy::new() }
    }
}

impl Lrn {
    /// Both divide alpha by the number of channels in the window.
    fn raw(&self) -> Outcome<sys::cudnnLRNDescriptor_t> {
        if self.mode != miopenLRNMode_t::miopenLRNCrossChannel {
            return Err(UNSUPPORTED);
        }
        let make = || {
            RawLrn::new(|library, raw| {
                // SAFETY: S1: a new descriptor.
                check(unsafe {
                    (library.cudnnSetLRNDescriptor)(raw, self.window, self.alpha, self.beta, self.k)
                })
            })
        };
        self.raw.get(make).map(RawLrn::raw)
    }
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type D = miopenLRNDescriptor_t;

entries! {
    fn miopenCreateLRNDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { LRNS.create(out) }
    }

    fn miopenDestroyLRNDescriptor(handle: D) {
        LRNS.destroy(handle)
    }

    fn miopenSetLRNDescriptor(handle: D, mode: miopenLRNMode_t, window: c_uint, alpha: f64, beta: f64, k: f64) {
        if mode.0 > 1 || window == 0 {
            return Err(BAD);
        }
        LRNS.set(handle, Lrn { mode, window, alpha, beta, k, raw: Lazy::new() })
    }

    /// Each pointer may be null.
    fn miopenGetLRNDescriptor(
        handle: D, mode: *mut miopenLRNMode_t, window: *mut c_uint, alpha: *mut f64, beta: *mut f64, k: *mut f64,
    ) {
        let lrn = LRNS.get(handle)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(mode, lrn.mode);
            offer(window, lrn.window);
            offer(alpha, lrn.alpha);
            offer(beta, lrn.beta);
            offer(k, lrn.k);
        }
        Ok(())
    }

    /// cuDNN computes the scale again in the backward pass.
    fn miopenLRNGetWorkSpaceSize(y: T, out: *mut usize) {
        tensor_of(y)?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, 0) }
    }

    fn miopenLRNForward(
        handle: H, lrn: D, alpha: In, xd: T, x: In, beta: In, yd: T, y: Out, _do_backward: bool, _memory: Out,
    ) {
        let (lrn, xd, yd) = (LRNS.get(lrn)?, tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, yd.kind)?, Factor::read(beta, yd.kind)?) };
        let (raw, x_raw, y_raw) = (lrn.raw()?, xd.raw()?, yd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and factors, and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnLRNCrossChannelForward)(
                    session.raw, raw, MODE, alpha.get(), x_raw, x, beta.get(), y_raw, y,
                )
            })
        })
    }

    fn miopenLRNBackward(
        handle: H, lrn: D, alpha: In, yd: T, y: In, dyd: T, dy: In, xd: T, x: In, beta: In, dxd: T, dx: Out,
        _memory: In,
    ) {
        let lrn = LRNS.get(lrn)?;
        let (yd, dyd, xd, dxd) = (tensor_of(yd)?, tensor_of(dyd)?, tensor_of(xd)?, tensor_of(dxd)?);
        all_there(&[y, dy, x, dx.cast_const()])?;
        // SAFETY: S11: the caller's factors.
        let (alpha, beta) = unsafe { (Factor::read(alpha, dxd.kind)?, Factor::read(beta, dxd.kind)?) };
        let (raw, y_raw, dy_raw) = (lrn.raw()?, yd.raw()?, dyd.raw()?);
        let (x_raw, dx_raw) = (xd.raw()?, dxd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: as above.
            check(unsafe {
                (cudnn()?.cudnnLRNCrossChannelBackward)(
                    session.raw, raw, MODE, alpha.get(), y_raw, y, dy_raw, dy, x_raw, x, beta.get(), dx_raw, dx,
                )
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_read_back_and_within_channel_mode_is_refused() {
        let mut handle = std::ptr::null_mut();
        let (mut mode, mut window, mut alpha, mut beta, mut k) = (miopenLRNMode_t(9), 0, 0.0, 0.0, 0.0);
        // SAFETY: S11: live variables.
        unsafe {
            assert_eq!(miopenCreateLRNDescriptor(&mut handle).0, 0);
            assert_eq!(miopenSetLRNDescriptor(handle, miopenLRNMode_t(0), 5, 1e-4, 0.75, 2.0).0, 0);
            assert_eq!(miopenSetLRNDescriptor(handle, miopenLRNMode_t(2), 5, 1e-4, 0.75, 2.0), BAD);
            assert_eq!(miopenSetLRNDescriptor(handle, miopenLRNMode_t(1), 0, 1e-4, 0.75, 2.0), BAD);
            assert_eq!(LRNS.get(handle).unwrap().raw(), Err(UNSUPPORTED));
            assert_eq!(
                miopenGetLRNDescriptor(handle, &mut mode, &mut window, &mut alpha, &mut beta, &mut k).0,
                0
            );
            assert_eq!(miopenDestroyLRNDescriptor(handle).0, 0);
        }
        assert_eq!((mode.0, window, alpha, beta, k), (0, 5, 1e-4, 0.75, 2.0));
    }
}
