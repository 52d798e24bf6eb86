//! Reductions of some dimensions of a tensor to length 1.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check, give, product};
use super::handle::stream;
use super::job::{Job, scales};
use super::registry::Registry;
use super::tensor::{BLOCK, Dims, Kind, Tensor, View, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenIndicesType_t, miopenNanPropagation_t,
    miopenReduceTensorDescriptor_t, miopenReduceTensorIndices_t, miopenReduceTensorOp_t, miopenStatus_t,
    miopenTensorDescriptor_t,
};
use rayon::prelude::*;
use std::ffi::c_void;

/// The settings of a descriptor.
#[derive(Debug, Clone, Copy)]
struct Reduction {
    op: miopenReduceTensorOp_t,
    computed: miopenDataType_t,
    nan: miopenNanPropagation_t,
    indices: miopenReduceTensorIndices_t,
    index: miopenIndicesType_t,
}

static REDUCTIONS: Registry<Reduction> = Registry::new(0x76);

const ADD: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_ADD;
const MUL: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MUL;
const MIN: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MIN;
const MAX: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_MAX;
const AMAX: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_AMAX;
const AVG: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_AVG;
const NORM1: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_NORM1;
const NORM2: miopenReduceTensorOp_t = miopenReduceTensorOp_t::MIOPEN_REDUCE_TENSOR_NORM2;
const FLATTENED: miopenReduceTensorIndices_t =
    miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES;
const PROPAGATE: miopenNanPropagation_t = miopenNanPropagation_t::MIOPEN_PROPAGATE_NAN;

impl Reduction {
    fn has_indices(&self) -> bool {
        self.indices == FLATTENED && [MIN, MAX, AMAX].contains(&self.op)
    }

    /// The result for the values that `next` returns block by block, and the index of the minimum or maximum.
    fn fold(&self, count: usize, mut next: impl FnMut(usize, &mut [f64])) -> (f64, usize) {
        let mut sum = match self.op {
            MUL => 1.0,
            MIN => f64::INFINITY,
            MAX => f64::NEG_INFINITY,
            _ => 0.0,
        };
        let (mut position, mut block) = (0, [0.0; BLOCK]);
        for first in (0..count).step_by(BLOCK) {
            let block = &mut block[..BLOCK.min(count - first)];
            next(first, block);
            for (at, value) in block.iter().enumerate() {
                let value = if [AMAX, NORM1].contains(&self.op) { value.abs() } else { *value };
                let better = match self.op {
                    MIN => value < sum,
                    MAX | AMAX => value > sum,
                    _ => {
                        sum = match self.op {
                            MUL => sum * value,
                            NORM2 => sum + value * value,
                            _ => sum + value,
                        };
                        continue;
                    }
                };
                if better || (self.nan == PROPAGATE && value.is_nan()) {
                    (sum, position) = (value, first + at);
                }
            }
        }
        match self.op {
            AVG => (sum / count as f64, 0),
            NORM2 => (sum.sqrt(), 0),
            _ => (sum, position),
        }
    }
}

pub(super) unsafe extern "C" fn miopenCreateReduceTensorDescriptor(
    out: *mut miopenReduceTensorDescriptor_t,
) -> miopenStatus_t {
    let value = Reduction {
        op: ADD,
        computed: miopenDataType_t::miopenFloat,
        nan: PROPAGATE,
        indices: miopenReduceTensorIndices_t::MIOPEN_REDUCE_TENSOR_NO_INDICES,
        index: miopenIndicesType_t::MIOPEN_32BIT_INDICES,
    };
    // SAFETY: S11: the caller's output pointer for the handle.
    answer(|| unsafe { REDUCTIONS.create(out, value) })
}

pub(super) unsafe extern "C" fn miopenDestroyReduceTensorDescriptor(
    descriptor: miopenReduceTensorDescriptor_t,
) -> miopenStatus_t {
    answer(|| REDUCTIONS.destroy(descriptor))
}

pub(super) unsafe extern "C" fn miopenSetReduceTensorDescriptor(
    descriptor: miopenReduceTensorDescriptor_t,
    op: miopenReduceTensorOp_t,
    computed: miopenDataType_t,
    nan: miopenNanPropagation_t,
    indices: miopenReduceTensorIndices_t,
    index: miopenIndicesType_t,
) -> miopenStatus_t {
    answer(|| {
        check(indices != FLATTENED || index == miopenIndicesType_t::MIOPEN_32BIT_INDICES, UNKNOWN)?;
        check([ADD, MUL, MIN, MAX, AMAX, AVG, NORM1, NORM2].contains(&op), BAD)?;
        REDUCTIONS.set(descriptor, || Ok(Reduction { op, computed, nan, indices, index }))
    })
}

pub(super) unsafe extern "C" fn miopenGetReduceTensorDescriptor(
    descriptor: miopenReduceTensorDescriptor_t,
    op: *mut miopenReduceTensorOp_t,
    computed: *mut miopenDataType_t,
    nan: *mut miopenNanPropagation_t,
    indices: *mut miopenReduceTensorIndices_t,
    index: *mut miopenIndicesType_t,
) -> miopenStatus_t {
    answer(|| {
        let it = REDUCTIONS.get(descriptor)?;
        // SAFETY: S11: the caller's output pointers for the results.
        unsafe {
            give(op, it.op)?;
            give(computed, it.computed)?;
            give(nan, it.nan)?;
            give(indices, it.indices)?;
            give(index, it.index)
        }
    })
}

/// Checks that each dimension of the result is as long as the input's, or has length 1.
fn checked(a: &Tensor, c: &Tensor) -> Outcome {
    check(a.rank() == c.rank(), UNKNOWN)?;
    check(c.lens.iter().zip(&a.lens).all(|(c, a)| *c == 1 || c == a), UNKNOWN)
}

/// Bytes of the indices.
fn indices_size(reduction: &Reduction, c: &Tensor) -> Outcome<usize> {
    if reduction.has_indices() { product([c.count(), size_of::<i32>()]) } else { Ok(0) }
}

pub(super) unsafe extern "C" fn miopenGetReductionIndicesSize(
    handle: miopenHandle_t,
    descriptor: miopenReduceTensorDescriptor_t,
    a_desc: miopenTensorDescriptor_t,
    c_desc: miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        let (a, c) = (tensor(a_desc)?, tensor(c_desc)?);
        checked(&a, &c)?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, indices_size(&REDUCTIONS.get(descriptor)?, &c)?) }
    })
}

pub(super) unsafe extern "C" fn miopenGetReductionWorkspaceSize(
    handle: miopenHandle_t,
    descriptor: miopenReduceTensorDescriptor_t,
    a_desc: miopenTensorDescriptor_t,
    c_desc: miopenTensorDescriptor_t,
    size: *mut usize,
) -> miopenStatus_t {
    answer(|| {
        stream(handle)?;
        REDUCTIONS.get(descriptor)?;
        checked(&tensor(a_desc)?, &tensor(c_desc)?)?;
        // SAFETY: S11: the caller's output pointer for the size.
        unsafe { give(size, 0) }
    })
}

/// The tensors of a reduction.
struct Work {
    reduction: Reduction,
    a: View,
    /// The dimensions that remain, and those that are reduced.
    kept: Dims,
    gone: Dims,
    c: View,
    results: Dims,
    indices: Option<View>,
    alpha: f64,
    beta: f64,
}

impl Work {
    fn run(&self) {
        (0..self.results.count()).into_par_iter().for_each(|index| {
            let start = self.kept.offset_of(index);
            let (value, position) = self
                .reduction
                .fold(self.gone.count(), |first, block| self.gone.load(&self.a, start, first, block));
            let to = self.results.offset_of(index);
            let old = if self.beta == 0.0 { 0.0 } else { self.beta * self.c.get::<f64>(to) };
            self.c.set(to, self.alpha * value + old);
            if let Some(indices) = &self.indices {
                indices.set(index, position as f64);
            }
        });
    }
}

pub(super) unsafe extern "C" fn miopenReduceTensor(
    handle: miopenHandle_t,
    descriptor: miopenReduceTensorDescriptor_t,
    indices: *mut c_void,
    indices_bytes: usize,
    _: *mut c_void,
    _: usize,
    alpha: *const c_void,
    a_desc: miopenTensorDescriptor_t,
    a: *const c_void,
    beta: *const c_void,
    c_desc: miopenTensorDescriptor_t,
    c: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        let reduction = REDUCTIONS.get(descriptor)?;
        let (input, output) = (tensor(a_desc)?, tensor(c_desc)?);
        check(input.rank() <= 6, UNKNOWN)?;
        checked(&input, &output)?;
        const TYPES: [miopenDataType_t; 4] = [
            miopenDataType_t::miopenFloat,
            miopenDataType_t::miopenHalf,
            miopenDataType_t::miopenBFloat16,
            miopenDataType_t::miopenDouble,
        ];
        check(input.is_of(&TYPES) && output.is_of(&TYPES), NO_SOLVER)?;
        check(indices_bytes >= indices_size(&reduction, &output)?, UNKNOWN)?;
        check(output.lens.contains(&1), UNKNOWN)?;
        // SAFETY: S11: the caller's factors.
        let [alpha, beta] = unsafe { scales([alpha, beta], input.dtype) }?;
        let mut job = Job::new(handle)?;
        let (from, to) = (job.read(a, &input)?, job.write(c, &output)?);
        let indices = match reduction.has_indices() {
            true => Some(job.write_view(indices, Kind::Int32, output.count())?),
            false => None,
        };
        let stays = |axis: &usize| output.lens[*axis] != 1;
        let work = Work {
            reduction,
            a: from.view,
            kept: input.dims((0..input.rank()).filter(stays)),
            gone: input.dims((0..input.rank()).filter(|axis| !stays(axis))),
            c: to.view,
            results: to.dims,
            indices,
            alpha,
            beta,
        };
        job.submit("miopenReduceTensor", move || work.run())
    })
}
