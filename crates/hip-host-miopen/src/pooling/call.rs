//! Pooling forward and backward. The workspace keeps the index of each window's largest value, contiguously.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::descriptor::{POOLINGS, Pooling};
use crate::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check, product};
use crate::convolution::Side;
use crate::job::{Job, floats};
use crate::tensor::{Kind, Tensor, View, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenPoolingDescriptor_t, miopenPoolingMode_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::c_void;
use std::ops::Range;

/// The shape of a pooling; missing dimensions have length 1.
struct Shape {
    channels: usize,
    /// Images times channels.
    planes: usize,
    input: [usize; 3],
    output: [usize; 3],
    window: [usize; 3],
    pads: [usize; 3],
    strides: [usize; 3],
    inclusive: bool,
}

impl Shape {
    fn new(pooling: &Pooling, x: &Tensor, y: &Tensor) -> Outcome<Self> {
        const TYPES: [miopenDataType_t; 2] = [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf];
        check((4..=5).contains(&x.rank()), UNKNOWN)?;
        check(x.is_of(&TYPES) && x.dtype == y.dtype, NO_SOLVER)?;
        check(pooling.output(x)? == y.lens, BAD)?;
        let whole = |list: &[usize], missing: usize| {
            let mut whole = [missing; 3];
            whole[3 - list.len()..].copy_from_slice(list);
            whole
        };
        Ok(Self {
            channels: x.lens[1],
            planes: x.lens[0] * x.lens[1],
            input: whole(&x.lens[2..], 1),
            output: whole(&y.lens[2..], 1),
            window: whole(&pooling.window, 1),
            pads: whole(&pooling.pads, 0),
            strides: whole(&pooling.strides, 1),
            inclusive: pooling.mode == miopenPoolingMode_t::miopenPoolingAverageInclusive,
        })
    }

    fn inputs(&self) -> usize {
        self.input.iter().product()
    }

    fn outputs(&self) -> usize {
        self.output.iter().product()
    }

    /// The part of an output's window that lies in the input.
    fn window(&self, output: usize) -> [Range<usize>; 3] {
        let [_, h, w] = self.output;
        let at = [output / (h * w), output / w % h, output % w];
        std::array::from_fn(|axis| {
            let start = at[axis] * self.strides[axis];
            let end = (start + self.window[axis]).saturating_sub(self.pads[axis]).min(self.input[axis]);
            start.saturating_sub(self.pads[axis]).min(end)..end
        })
    }

    /// The divisor of an average.
    fn share(&self, window: &[Range<usize>; 3]) -> f32 {
        let count: usize = match self.inclusive {
            true => self.window.iter().product(),
            false => window.iter().map(Range::len).product(),
        };
        count.max(1) as f32
    }

    /// Visits the positions of a window: their indices in the input.
    fn positions(&self, window: &[Range<usize>; 3], mut position: impl FnMut(usize)) {
        let [_, height, width] = self.input;
        for d in window[0].clone() {
            for h in window[1].clone() {
                (window[2].clone()).for_each(|w| position((d * height + h) * width + w));
            }
        }
    }

    /// The index of an input position within an output's window. It is stored if indices count positions of the window.
    fn local(&self, output: usize, input: usize) -> usize {
        let [_, oh, ow] = self.output;
        let [_, ih, iw] = self.input;
        let (at, position) = (
            [output / (oh * ow), output / ow % oh, output % ow],
            [input / (ih * iw), input / iw % ih, input % iw],
        );
        let tap: [usize; 3] =
            std::array::from_fn(|axis| position[axis] + self.pads[axis] - at[axis] * self.strides[axis]);
        (tap[0] * self.window[1] + tap[1]) * self.window[2] + tap[2]
    }

    /// The reverse; `None` outside the input.
    fn global(&self, output: usize, local: usize) -> Option<usize> {
        let [_, oh, ow] = self.output;
        let at = [output / (oh * ow), output / ow % oh, output % ow];
        let [_, kh, kw] = self.window;
        let tap = [local / (kh * kw), local / kw % kh, local % kw];
        let mut index = 0;
        for axis in 0..3 {
            let here = (at[axis] * self.strides[axis] + tap[axis]).checked_sub(self.pads[axis])?;
            if here >= self.input[axis] {
                return None;
            }
            index = index * self.input[axis] + here;
        }
        Some(index)
    }

    fn start(&self, side: &Side, plane: usize) -> usize {
        side.start(plane / self.channels, plane % self.channels)
    }
}

/// The indices of the largest values.
struct Indices {
    view: View,
    bytes: usize,
    global: bool,
}

impl Indices {
    fn set(&self, shape: &Shape, plane: usize, output: usize, largest: Option<usize>) {
        let index = largest.map_or(0, |it| if self.global { it } else { shape.local(output, it) });
        self.view.set_number((plane * shape.outputs() + output) * self.bytes, self.bytes, index as u64);
    }

    fn get(&self, shape: &Shape, plane: usize, output: usize) -> Option<usize> {
        let index = self.view.number((plane * shape.outputs() + output) * self.bytes, self.bytes) as usize;
        if self.global { Some(index).filter(|it| *it < shape.inputs()) } else { shape.global(output, index) }
    }
}

/// Computes a plane's outputs from its inputs.
fn forward(
    shape: &Shape,
    plane: usize,
    x: &[f32],
    lowest: f32,
    indices: Option<&Indices>,
    max: bool,
) -> Vec<f32> {
    let output = |output: usize| {
        let window = shape.window(output);
        if !max {
            let mut sum = 0.0;
            shape.positions(&window, |index| sum += x[index]);
            return sum / shape.share(&window);
        }
        let (mut value, mut largest) = (lowest, None);
        shape.positions(&window, |index| {
            if x[index] > value {
                (value, largest) = (x[index], Some(index));
            }
        });
        if let Some(indices) = indices {
            indices.set(shape, plane, output, largest);
        }
        value
    };
    (0..shape.outputs()).map(output).collect()
}

/// Computes a plane's gradients from its outputs' gradients.
fn backward(shape: &Shape, plane: usize, dy: &[f32], indices: Option<&Indices>) -> Vec<f32> {
    let mut dx = vec![0.0; shape.inputs()];
    for (output, dy) in dy.iter().enumerate() {
        match indices {
            Some(indices) => {
                if let Some(index) = indices.get(shape, plane, output) {
                    dx[index] += dy;
                }
            }
            None => {
                let window = shape.window(output);
                let share = dy / shape.share(&window);
                shape.positions(&window, |index| dx[index] += share);
            }
        }
    }
    dx
}

pub(crate) unsafe extern "C" fn miopenPoolingForward(
    handle: miopenHandle_t,
    descriptor: miopenPoolingDescriptor_t,
    alpha: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    do_backward: bool,
    workspace: *mut c_void,
    size: usize,
) -> miopenStatus_t {
    answer(|| {
        let pooling = POOLINGS.get(descriptor)?;
        let (input, output) = (tensor(x_desc)?, tensor(y_desc)?);
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha, beta]) }? == [1.0, 0.0], UNKNOWN)?;
        let shape = Shape::new(&pooling, &input, &output)?;
        let mut job = Job::new(handle)?;
        let indices = if pooling.is_max() && do_backward {
            let most = if pooling.global { shape.inputs() } else { shape.window.iter().product() };
            check(most < pooling.indices() && !workspace.is_null(), UNKNOWN)?;
            let bytes = pooling.index_bytes();
            let all = product([output.count(), bytes])?;
            check(size >= all, BAD)?;
            let view = job.write_view(workspace, Kind::Int8, all)?;
            Some(Indices { view, bytes, global: pooling.global })
        } else {
            None
        };
        let from = Side::new(job.read(x, &input)?.view, &input);
        let to = Side::new(job.write(y, &output)?.view, &output);
        let lowest = if from.view.kind() == Kind::Half { half::f16::MIN.to_f32() } else { f32::MIN };
        let max = pooling.is_max();
        job.submit("miopenPoolingForward", move || {
            (0..shape.planes).into_par_iter().for_each_init(Vec::new, |plane, index| {
                plane.resize(shape.inputs(), 0.0);
                from.positions.load(&from.view, shape.start(&from, index), 0, plane);
                let result = forward(&shape, index, plane, lowest, indices.as_ref(), max);
                to.positions.store(&to.view, shape.start(&to, index), 0, &result);
            });
        })
    })
}

pub(crate) unsafe extern "C" fn miopenPoolingBackward(
    handle: miopenHandle_t,
    descriptor: miopenPoolingDescriptor_t,
    alpha: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    _: *const c_void,
    dy_desc: miopenTensorDescriptor_t,
    dy: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    _: *const c_void,
    beta: *const c_void,
    dx_desc: miopenTensorDescriptor_t,
    dx: *mut c_void,
    workspace: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let pooling = POOLINGS.get(descriptor)?;
        let (output, gradient) = (tensor(y_desc)?, tensor(dy_desc)?);
        let (input, result) = (tensor(x_desc)?, tensor(dx_desc)?);
        // SAFETY: S11: the caller's factors.
        check(unsafe { floats([alpha, beta]) }? == [1.0, 0.0], UNKNOWN)?;
        check(output.lens == gradient.lens && input.lens == result.lens, BAD)?;
        let shape = Shape::new(&pooling, &result, &gradient)?;
        let mut job = Job::new(handle)?;
        let indices = if pooling.is_max() {
            let bytes = pooling.index_bytes();
            let view = job.read_view(workspace, Kind::Int8, product([gradient.count(), bytes])?)?;
            Some(Indices { view, bytes, global: pooling.global })
        } else {
            None
        };
        let from = Side::new(job.read(dy, &gradient)?.view, &gradient);
        let to = Side::new(job.write(dx, &result)?.view, &result);
        job.submit("miopenPoolingBackward", move || {
            (0..shape.planes).into_par_iter().for_each_init(Vec::new, |plane, index| {
                plane.resize(shape.outputs(), 0.0);
                from.positions.load(&from.view, shape.start(&from, index), 0, plane);
                let result = backward(&shape, index, plane, indices.as_ref());
                to.positions.store(&to.view, shape.start(&to, index), 0, &result);
            });
        })
    })
}
