//! The bias of a convolution, forward and backward.
#![allow(non_snake_case, reason = "MIOpen's names")]

use crate::answer::{BAD, NO_SOLVER, UNKNOWN, answer, check};
use crate::job::{Job, floats};
use crate::ops::combine;
use crate::tensor::{BLOCK, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenStatus_t, miopenTensorDescriptor_t, miopenTensorOp_t,
};
use rayon::prelude::*;
use std::ffi::c_void;

pub(crate) unsafe extern "C" fn miopenConvolutionForwardBias(
    handle: miopenHandle_t,
    alpha: *const c_void,
    b_desc: miopenTensorDescriptor_t,
    b: *const c_void,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let (bias, output) = (tensor(b_desc)?, tensor(y_desc)?);
        check(![&bias, &output].iter().any(|it| it.is_of(&[miopenDataType_t::miopenBFloat16])), NO_SOLVER)?;
        // SAFETY: S11: the caller's factors.
        let [alpha, beta] = unsafe { floats([alpha, beta]) }?.map(f64::from);
        let given = [(&output, y.cast_const()), (&bias, b)];
        let add = miopenTensorOp_t::miopenTensorOpAdd;
        combine(handle, "miopenConvolutionForwardBias", add, [alpha, alpha, beta], given, (&output, y))
    })
}

pub(crate) unsafe extern "C" fn miopenConvolutionBackwardBias(
    handle: miopenHandle_t,
    alpha: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    beta: *const c_void,
    db_desc: miopenTensorDescriptor_t,
    db: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let (gradient, bias) = (tensor(dy_desc)?, tensor(db_desc)?);
        check(![&gradient, &bias].iter().any(|it| it.is_of(&[miopenDataType_t::miopenBFloat16])), NO_SOLVER)?;
        check(gradient.rank() >= 2 && bias.rank() >= 2 && gradient.lens[1] == bias.lens[1], BAD)?;
        check(bias.count() == bias.lens[1], BAD)?;
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha, beta]) }? == [1.0, 0.0], UNKNOWN)?;
        let mut job = Job::new(handle)?;
        let (from, to) = (job.read(dy, &gradient)?, job.write(db, &bias)?);
        let rest = gradient.dims((0..gradient.rank()).filter(|&axis| axis != 1));
        let (channels, stride, step) = (gradient.lens[1], gradient.strides[1], bias.strides[1]);
        job.submit("miopenConvolutionBackwardBias", move || {
            (0..channels).into_par_iter().for_each(|channel| {
                let mut block = [0.0_f32; BLOCK];
                let mut sum = 0.0_f64;
                for first in (0..rest.count()).step_by(BLOCK) {
                    let block = &mut block[..BLOCK.min(rest.count() - first)];
                    rest.load(&from.view, channel * stride, first, block);
                    sum += block.iter().copied().map(f64::from).sum::<f64>();
                }
                to.view.set(channel * step, sum as f32);
            });
        })
    })
}
