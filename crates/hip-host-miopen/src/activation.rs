//! Activation functions, element by element.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check, give};
use super::job::{Job, floats};
use super::registry::Registry;
use super::tensor::{BLOCK, Kind, Tensor, blocks, tensor};
use hip_sys::miopen::{
    miopenActivationDescriptor_t, miopenActivationMode_t, miopenDataType_t, miopenHandle_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use std::ffi::c_void;

/// The settings of an activation descriptor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Activation {
    pub(super) mode: miopenActivationMode_t,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) gamma: f64,
}

/// All activation descriptors.
pub(super) static ACTIVATIONS: Registry<Activation> = Registry::new(0x73);

const PASTHRU: miopenActivationMode_t = miopenActivationMode_t::miopenActivationPASTHRU;
const LAST: miopenActivationMode_t = miopenActivationMode_t::miopenActivationELU;
/// Above this the gradient of the soft rectifier is one.
const STEEP: f32 = 50.0;

impl Activation {
    /// The function. A power's argument must exceed `tiny`.
    pub(super) fn forward(&self, tiny: f32) -> impl Fn(f32) -> f32 + use<> {
        let mode = self.mode;
        let [alpha, beta, gamma] = [self.alpha, self.beta, self.gamma].map(|it| it as f32);
        move |x: f32| match mode {
            miopenActivationMode_t::miopenActivationLOGISTIC => 1.0 / (1.0 + (-x).exp()),
            miopenActivationMode_t::miopenActivationTANH => beta * (alpha * x).tanh(),
            miopenActivationMode_t::miopenActivationRELU => {
                if x > 0.0 || x.is_nan() {
                    x
                } else {
                    0.0
                }
            }
            miopenActivationMode_t::miopenActivationSOFTRELU => x.max(0.0) + (-x.abs()).exp().ln_1p(),
            miopenActivationMode_t::miopenActivationABS => x.abs(),
            miopenActivationMode_t::miopenActivationPOWER => {
                let base = alpha + beta * x;
                if base <= tiny { 0.0 } else { base.powf(gamma) }
            }
            miopenActivationMode_t::miopenActivationCLIPPEDRELU => x.max(0.0).min(alpha),
            miopenActivationMode_t::miopenActivationLEAKYRELU => {
                if x > 0.0 {
                    x
                } else {
                    alpha * x
                }
            }
            miopenActivationMode_t::miopenActivationELU => {
                if x > 0.0 {
                    x
                } else {
                    alpha * x.exp_m1()
                }
            }
            _ => x,
        }
    }

    /// The gradient with respect to the argument, from the result's gradient, the argument and the result.
    fn backward(&self, tiny: f32) -> impl Fn(f32, f32, f32) -> f32 + use<> {
        let mode = self.mode;
        let [alpha, beta, gamma] = [self.alpha, self.beta, self.gamma].map(|it| it as f32);
        move |dy: f32, x: f32, y: f32| match mode {
            miopenActivationMode_t::miopenActivationLOGISTIC => dy * y * (1.0 - y),
            miopenActivationMode_t::miopenActivationTANH => {
                if beta.abs() <= tiny {
                    0.0
                } else {
                    dy * alpha * (beta - y * y / beta)
                }
            }
            miopenActivationMode_t::miopenActivationRELU => {
                if x > 0.0 {
                    dy
                } else {
                    0.0
                }
            }
            miopenActivationMode_t::miopenActivationSOFTRELU => {
                let e = x.min(STEEP).exp();
                dy * e / (e + 1.0)
            }
            miopenActivationMode_t::miopenActivationABS => {
                if x > 0.0 {
                    dy
                } else {
                    -dy
                }
            }
            // MIOpen ignores the result's gradient here, so this does, too.
            miopenActivationMode_t::miopenActivationPOWER => {
                let base = alpha + beta * x;
                if base <= tiny { 0.0 } else { beta * gamma * y / base }
            }
            miopenActivationMode_t::miopenActivationCLIPPEDRELU => {
                if x > 0.0 && x <= alpha {
                    dy
                } else {
                    0.0
                }
            }
            miopenActivationMode_t::miopenActivationLEAKYRELU => {
                if x > 0.0 {
                    dy
                } else {
                    alpha * dy
                }
            }
            miopenActivationMode_t::miopenActivationELU => {
                if x > 0.0 {
                    dy
                } else {
                    dy * (y + alpha)
                }
            }
            _ => dy,
        }
    }
}

/// A number that is negligible next to the numbers of a type.
pub(super) fn tiny(kind: Kind) -> f32 {
    if kind == Kind::Half { 1e-4 } else { 1e-6 }
}

/// Checks that the tensors have one type that activations support.
fn check_types(tensors: &[&Tensor]) -> Outcome {
    const TYPES: [miopenDataType_t; 2] = [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf];
    check(tensors.iter().all(|it| it.is_of(&TYPES) && it.dtype == tensors[0].dtype), NO_SOLVER)
}

pub(super) unsafe extern "C" fn miopenCreateActivationDescriptor(
    out: *mut miopenActivationDescriptor_t,
) -> miopenStatus_t {
    let value = Activation { mode: PASTHRU, alpha: 0.0, beta: 0.0, gamma: 0.0 };
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { ACTIVATIONS.create(out, value) })
}

pub(super) unsafe extern "C" fn miopenDestroyActivationDescriptor(
    descriptor: miopenActivationDescriptor_t,
) -> miopenStatus_t {
    answer(|| ACTIVATIONS.destroy(descriptor))
}

pub(super) unsafe extern "C" fn miopenSetActivationDescriptor(
    descriptor: miopenActivationDescriptor_t,
    mode: miopenActivationMode_t,
    alpha: f64,
    beta: f64,
    gamma: f64,
) -> miopenStatus_t {
    answer(|| ACTIVATIONS.set(descriptor, || Ok(Activation { mode, alpha, beta, gamma })))
}

pub(super) unsafe extern "C" fn miopenGetActivationDescriptor(
    descriptor: miopenActivationDescriptor_t,
    mode: *mut miopenActivationMode_t,
    alpha: *mut f64,
    beta: *mut f64,
    gamma: *mut f64,
) -> miopenStatus_t {
    answer(|| {
        let it = ACTIVATIONS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(mode, it.mode)?;
            give(alpha, it.alpha)?;
            give(beta, it.beta)?;
            give(gamma, it.gamma)
        }
    })
}

pub(super) unsafe extern "C" fn miopenActivationForward(
    handle: miopenHandle_t,
    descriptor: miopenActivationDescriptor_t,
    alpha: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let (input, output) = (tensor(x_desc)?, tensor(y_desc)?);
        check_types(&[&input, &output])?;
        let activation = ACTIVATIONS.get(descriptor)?;
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha, beta]) }? == [1.0, 0.0], UNKNOWN)?;
        check(input.count() == output.count(), NO_SOLVER)?;
        check(activation.mode.0 <= LAST.0, BAD)?;
        let mut job = Job::new(handle)?;
        let (from, to) = (job.read(x, &input)?, job.write(y, &output)?);
        let function = activation.forward(tiny(from.view.kind()));
        job.submit("miopenActivationForward", move || {
            blocks(to.count(), |first, count| {
                let mut buffer = [0.0; BLOCK];
                let block = &mut buffer[..count];
                from.load(first, block);
                block.iter_mut().for_each(|it| *it = function(*it));
                to.store(first, block);
            });
        })
    })
}

pub(super) unsafe extern "C" fn miopenActivationBackward(
    handle: miopenHandle_t,
    descriptor: miopenActivationDescriptor_t,
    alpha: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    beta: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let tensors = [tensor(y_desc)?, tensor(dy_desc)?, tensor(x_desc)?, tensor(dx_desc)?];
        check_types(&tensors.each_ref())?;
        let activation = ACTIVATIONS.get(descriptor)?;
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha, beta]) }? == [1.0, 0.0], UNKNOWN)?;
        check(tensors.iter().all(|it| it.count() == tensors[0].count()), NO_SOLVER)?;
        check(activation.mode.0 <= LAST.0, BAD)?;
        let mut job = Job::new(handle)?;
        let given = [job.read(y, &tensors[0])?, job.read(dy, &tensors[1])?, job.read(x, &tensors[2])?];
        let out = job.write(dx, &tensors[3])?;
        let function = activation.backward(tiny(out.view.kind()));
        job.submit("miopenActivationBackward", move || {
            blocks(out.count(), |first, count| {
                let mut buffer = [[0.0; BLOCK]; 3];
                for (given, buffer) in given.iter().zip(&mut buffer) {
                    given.load(first, &mut buffer[..count]);
                }
                let [y, dy, x] = buffer;
                let values: [f32; BLOCK] = std::array::from_fn(|it| function(dy[it], x[it], y[it]));
                out.store(first, &values[..count]);
            });
        })
    })
}
