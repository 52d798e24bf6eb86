//! Local response normalisation: over neighbours in a channel, or over neighbouring channels.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check, give, product};
use super::job::Job;
use super::registry::Registry;
use super::tensor::{Array, Kind, Tensor, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenLRNDescriptor_t, miopenLRNMode_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::{c_uint, c_void};
use std::ops::Range;

/// The settings of a descriptor.
#[derive(Debug, Clone, Copy)]
struct Lrn {
    across: bool,
    window: c_uint,
    alpha: f64,
    beta: f64,
    k: f64,
}

static LRNS: Registry<Lrn> = Registry::new(0x75);

const ACROSS: miopenLRNMode_t = miopenLRNMode_t::miopenLRNCrossChannel;
const WITHIN: miopenLRNMode_t = miopenLRNMode_t::miopenLRNWithinChannel;

pub(super) unsafe extern "C" fn miopenCreateLRNDescriptor(out: *mut miopenLRNDescriptor_t) -> miopenStatus_t {
    let value = Lrn { across: false, window: 0, alpha: 0.0, beta: 0.0, k: 0.0 };
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { LRNS.create(out, value) })
}

pub(super) unsafe extern "C" fn miopenDestroyLRNDescriptor(
    descriptor: miopenLRNDescriptor_t,
) -> miopenStatus_t {
    answer(|| LRNS.destroy(descriptor))
}

pub(super) unsafe extern "C" fn miopenSetLRNDescriptor(
    descriptor: miopenLRNDescriptor_t,
    mode: miopenLRNMode_t,
    window: c_uint,
    alpha: f64,
    beta: f64,
    k: f64,
) -> miopenStatus_t {
    answer(|| {
        check([ACROSS, WITHIN].contains(&mode), BAD)?;
        LRNS.set(descriptor, || Ok(Lrn { across: mode == ACROSS, window, alpha, beta, k }))
    })
}

pub(super) unsafe extern "C" fn miopenGetLRNDescriptor(
    descriptor: miopenLRNDescriptor_t,
    mode: *mut miopenLRNMode_t,
    window: *mut c_uint,
    alpha: *mut f64,
    beta: *mut f64,
    k: *mut f64,
) -> miopenStatus_t {
    answer(|| {
        let it = LRNS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(mode, if it.across { ACROSS } else { WITHIN })?;
            give(window, it.window)?;
            give(alpha, it.alpha)?;
            give(beta, it.beta)?;
            give(k, it.k)
        }
    })
}

/// The workspace has a float for each value.
pub(super) unsafe extern "C" fn miopenLRNGetWorkSpaceSize(
    y: miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        let y = tensor(y)?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, product([y.lens[0], y.strides[0], size_of::<f32>()])?) }
    })
}

/// The shape of a normalisation of contiguous images.
#[derive(Clone, Copy)]
struct Shape {
    lrn: Lrn,
    channels: usize,
    height: usize,
    width: usize,
    /// How far a window reaches before and after its centre.
    reach: [usize; 2],
}

impl Shape {
    fn new(lrn: Lrn, tensors: &[&Tensor]) -> Outcome<Self> {
        check(!tensors.iter().any(|it| it.is_of(&[miopenDataType_t::miopenBFloat16])), NO_SOLVER)?;
        let first = tensors[0];
        const TYPES: [miopenDataType_t; 2] = [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf];
        check(first.is_of(&TYPES) && first.rank() == 4, BAD)?;
        check(tensors.iter().all(|it| it.lens == first.lens && it.dtype == first.dtype), BAD)?;
        check(tensors.iter().all(|it| it.is_packed()) && lrn.k as f32 != 0.0 && lrn.window > 0, UNKNOWN)?;
        let back = (lrn.window as usize - 1) / 2;
        let reach = [back, lrn.window as usize - 1 - back];
        let [_, channels, height, width] = [first.lens[0], first.lens[1], first.lens[2], first.lens[3]];
        Ok(Self { lrn, channels, height, width, reach })
    }

    fn image(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// The divisor of a window's sum.
    fn share(&self) -> f64 {
        let window = f64::from(self.lrn.window);
        if self.lrn.across { window } else { window * window }
    }

    /// The sum of an image's values over the window of each position.
    fn sums(&self, values: &[f32], [back, forth]: [usize; 2]) -> Vec<f32> {
        let around =
            |at: usize, len: usize| -> Range<usize> { at.saturating_sub(back)..(at + forth + 1).min(len) };
        let plane = self.height * self.width;
        let sum = |index: usize| -> f32 {
            let (c, h, w) = (index / plane, index / self.width % self.height, index % self.width);
            if self.lrn.across {
                return around(c, self.channels).map(|c| values[c * plane + index % plane]).sum();
            }
            let row = |h: usize| -> f32 {
                let row = &values[c * plane + h * self.width..][..self.width];
                row[around(w, self.width)].iter().sum()
            };
            around(h, self.height).map(row).sum()
        };
        (0..values.len()).map(sum).collect()
    }
}

fn load(array: &Array, shape: &Shape, image: usize) -> Vec<f32> {
    let mut values = vec![0.0; shape.image()];
    array.load(image * shape.image(), &mut values);
    values
}

pub(super) unsafe extern "C" fn miopenLRNForward(
    handle: miopenHandle_t,
    descriptor: miopenLRNDescriptor_t,
    _: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    _: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    do_backward: bool,
    workspace: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let (input, output) = (tensor(x_desc)?, tensor(y_desc)?);
        let shape = Shape::new(LRNS.get(descriptor)?, &[&input, &output])?;
        let mut job = Job::new(handle)?;
        let (from, to) = (job.read(x, &input)?, job.write(y, &output)?);
        let kept = do_backward.then(|| job.write_view(workspace, Kind::Float, output.count())).transpose()?;
        let by = (shape.lrn.alpha / shape.share()) as f32;
        let (k, beta) = (shape.lrn.k as f32, shape.lrn.beta as f32);
        job.submit("miopenLRNForward", move || {
            (0..from.count() / shape.image()).into_par_iter().for_each(|image| {
                let mut values = load(&from, &shape, image);
                let squares: Vec<f32> = values.iter().map(|it| it * it).collect();
                let mut scales = shape.sums(&squares, shape.reach);
                scales.iter_mut().for_each(|it| *it = k + *it * by);
                values.iter_mut().zip(&scales).for_each(|(value, scale)| *value *= scale.powf(-beta));
                to.store(image * shape.image(), &values);
                if let Some(kept) = &kept {
                    kept.store(image * shape.image(), 1, &scales);
                }
            });
        })
    })
}

pub(super) unsafe extern "C" fn miopenLRNBackward(
    handle: miopenHandle_t,
    descriptor: miopenLRNDescriptor_t,
    _: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    _: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    workspace: *const c_void,
) -> miopenStatus_t {
    answer(|| {
        let tensors = [tensor(y_desc)?, tensor(dy_desc)?, tensor(x_desc)?, tensor(dx_desc)?];
        let shape = Shape::new(LRNS.get(descriptor)?, &tensors.each_ref())?;
        let mut job = Job::new(handle)?;
        let given = [job.read(y, &tensors[0])?, job.read(dy, &tensors[1])?, job.read(x, &tensors[2])?];
        let to = job.write(dx, &tensors[3])?;
        let kept = job.read_view(workspace, Kind::Float, to.count())?;
        let ratio = (2.0 * shape.lrn.alpha * shape.lrn.beta / shape.share()) as f32;
        let beta = shape.lrn.beta as f32;
        let [back, forth] = shape.reach;
        job.submit("miopenLRNBackward", move || {
            (0..to.count() / shape.image()).into_par_iter().for_each(|image| {
                let [y, dy, mut x] = given.each_ref().map(|array| load(array, &shape, image));
                let mut scales = vec![0.0_f32; shape.image()];
                kept.load(image * shape.image(), 1, &mut scales);
                let ratios: Vec<f32> = (0..y.len()).map(|at| dy[at] * y[at] / scales[at]).collect();
                let sums = shape.sums(&ratios, [forth, back]);
                for (at, x) in x.iter_mut().enumerate() {
                    *x = dy[at] * scales[at].powf(-beta) - ratio * *x * sums[at];
                }
                to.store(image * shape.image(), &x);
            });
        })
    })
}
