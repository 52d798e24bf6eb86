//! Dropout with cuDNN's generator. The masks differ from MIOpen's; the probability is the same.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::Descriptors;
use super::entry::{all_there, entries, give, offer, there};
use super::handle::with;
use super::library::{In, Out, check, cudnn};
use super::raw::RawDropout;
use super::tensor::tensor_of;
use super::{BAD, Outcome, UNSUPPORTED};
use hip_sys::miopen::*;
use std::ffi::c_ulonglong;
use std::sync::{Arc, LazyLock};

#[derive(Default)]
pub(super) struct Dropout {
    share: f32,
    /// The address of the generator's states on the device.
    states: usize,
    seed: c_ulonglong,
    state_evolves: bool,
    raw: Option<RawDropout>,
}

static DROPOUTS: LazyLock<Descriptors<Dropout>> = LazyLock::new(|| Descriptors::new(0x57));

/// The dropout of a descriptor.
pub(super) fn dropout_of(handle: miopenDropoutDescriptor_t) -> Outcome<Arc<Dropout>> {
    DROPOUTS.get(handle)
}

impl Dropout {
    pub(super) fn raw(&self) -> Outcome<&RawDropout> {
        self.raw.as_ref().ok_or(BAD)
    }
}

/// The common part of setting a descriptor with new states and with existing ones.
struct Setting {
    share: f32,
    states: Out,
    size: usize,
    seed: c_ulonglong,
    use_mask: bool,
    state_evolves: bool,
    generator: miopenRNGType_t,
}

fn set(
    descriptor: miopenDropoutDescriptor_t,
    handle: miopenHandle_t,
    setting: &Setting,
    fresh: bool,
) -> Outcome {
    let Setting { share, states, size, seed, use_mask, state_evolves, generator } = *setting;
    dropout_of(descriptor)?;
    there(states)?;
    if !(0.0..=1.0).contains(&share) || generator != miopenRNGType_t::MIOPEN_RNG_PSEUDO_XORWOW {
        return Err(BAD);
    }
    if use_mask {
        // cuDNN generates each mask itself.
        return Err(UNSUPPORTED);
    }
    let raw = with(handle, |session| {
        RawDropout::new(|library, raw| {
            let function =
                if fresh { library.cudnnSetDropoutDescriptor } else { library.cudnnRestoreDropoutDescriptor };
            // SAFETY: S11: a new descriptor and the caller's memory.
            check(unsafe { function(raw, session.raw, share, states, size, seed) })
        })
    })?;
    DROPOUTS.set(descriptor, Dropout { share, states: states as usize, seed, state_evolves, raw: Some(raw) })
}

type H = miopenHandle_t;
type T = miopenTensorDescriptor_t;
type D = miopenDropoutDescriptor_t;
type Rng = miopenRNGType_t;

entries! {
    fn miopenCreateDropoutDescriptor(out: *mut D) {
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { DROPOUTS.create(out) }
    }

    fn miopenDestroyDropoutDescriptor(handle: D) {
        DROPOUTS.destroy(handle)
    }

    fn miopenDropoutGetStatesSize(handle: H, out: *mut usize) {
        let mut size = 0;
        with(handle, |session| {
            // SAFETY: S1: a live variable.
            check(unsafe { (cudnn()?.cudnnDropoutGetStatesSize)(session.raw, &mut size) })
        })?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    fn miopenDropoutGetReserveSpaceSize(x: T, out: *mut usize) {
        let x = tensor_of(x)?;
        let mut size = 0;
        // SAFETY: S1: a live descriptor and a live variable.
        check(unsafe { (cudnn()?.cudnnDropoutGetReserveSpaceSize)(x.raw()?, &mut size) })?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { give(out, size) }
    }

    /// Starts the generator on the handle's stream.
    fn miopenSetDropoutDescriptor(
        descriptor: D, handle: H, share: f32, states: Out, size: usize, seed: c_ulonglong, use_mask: bool,
        state_evolves: bool, generator: Rng,
    ) {
        set(descriptor, handle, &Setting { share, states, size, seed, use_mask, state_evolves, generator }, true)
    }

    /// Continues with existing states.
    fn miopenRestoreDropoutDescriptor(
        descriptor: D, handle: H, share: f32, states: Out, size: usize, seed: c_ulonglong, use_mask: bool,
        state_evolves: bool, generator: Rng,
    ) {
        set(descriptor, handle, &Setting { share, states, size, seed, use_mask, state_evolves, generator }, false)
    }

    /// Each pointer may be null.
    fn miopenGetDropoutDescriptor(
        dropout: D, _handle: H, share: *mut f32, states: *mut Out, seed: *mut c_ulonglong, use_mask: *mut bool,
        state_evolves: *mut bool, generator: *mut Rng,
    ) {
        let dropout = dropout_of(dropout)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            offer(share, dropout.share);
            offer(states, dropout.states as Out);
            offer(seed, dropout.seed);
            offer(use_mask, false);
            offer(state_evolves, dropout.state_evolves);
            offer(generator, Rng::MIOPEN_RNG_PSEUDO_XORWOW);
        }
        Ok(())
    }

    fn miopenDropoutForward(
        handle: H, dropout: D, _noise: T, xd: T, x: In, yd: T, y: Out, reserve: Out, size: usize,
    ) {
        let (dropout, xd, yd) = (dropout_of(dropout)?, tensor_of(xd)?, tensor_of(yd)?);
        all_there(&[x, y.cast_const()])?;
        let (raw, x_raw, y_raw) = (dropout.raw()?.raw(), xd.raw()?, yd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: live descriptors and the caller's memory.
            check(unsafe {
                (cudnn()?.cudnnDropoutForward)(session.raw, raw, x_raw, x, y_raw, y, reserve, size)
            })
        })
    }

    fn miopenDropoutBackward(
        handle: H, dropout: D, _noise: T, dyd: T, dy: In, dxd: T, dx: Out, reserve: Out, size: usize,
    ) {
        let (dropout, dyd, dxd) = (dropout_of(dropout)?, tensor_of(dyd)?, tensor_of(dxd)?);
        all_there(&[dy, dx.cast_const()])?;
        let (raw, dy_raw, dx_raw) = (dropout.raw()?.raw(), dyd.raw()?, dxd.raw()?);
        with(handle, |session| {
            // SAFETY: S11: as above.
            check(unsafe {
                (cudnn()?.cudnnDropoutBackward)(session.raw, raw, dy_raw, dy, dx_raw, dx, reserve, size)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    #[test]
    fn an_unset_descriptor_does_nothing() {
        let mut handle = null_mut();
        let (mut share, mut states, mut seed) = (1.0, 16 as Out, 1);
        // SAFETY: S11: live variables; what is refused is not touched.
        unsafe {
            assert_eq!(miopenCreateDropoutDescriptor(&mut handle).0, 0);
            let got = miopenGetDropoutDescriptor(
                handle,
                null_mut(),
                &mut share,
                &mut states,
                &mut seed,
                null_mut(),
                null_mut(),
                null_mut(),
            );
            assert_eq!((got.0, share, states, seed), (0, 0.0, null_mut(), 0));
            let set = |share, states, mask| {
                miopenSetDropoutDescriptor(
                    handle,
                    null_mut(),
                    share,
                    states,
                    64,
                    1,
                    mask,
                    false,
                    Rng::MIOPEN_RNG_PSEUDO_XORWOW,
                )
            };
            assert_eq!(set(0.5, null_mut(), false), BAD);
            assert_eq!(set(1.5, 16 as Out, false), BAD);
            assert_eq!(set(0.5, 16 as Out, true), UNSUPPORTED);
            assert_eq!(set(0.5, 16 as Out, false), BAD, "no handle");
            assert_eq!(miopenDestroyDropoutDescriptor(handle).0, 0);
        }
        assert!(Dropout::default().raw().is_err());
    }
}
