//! Operations on the elements of tensors: combining two, filling, scaling, changing the strides.
#![allow(non_snake_case, reason = "MIOpen's names")]

use super::answer::{BAD, NO_SOLVER, Outcome, UNKNOWN, answer, check};
use super::job::{Job, floats};
use super::tensor::{Array, BLOCK, Kind, Real, Tensor, blocks, tensor};
use hip_sys::miopen::{
    miopenDataType_t, miopenHandle_t, miopenStatus_t, miopenTensorDescriptor_t, miopenTensorOp_t,
};
use std::ffi::c_void;

/// The number types that two tensors are combined in.
trait Number:
    Real + PartialOrd + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> + Send + Sync + 'static
{
    fn of_f64(value: f64) -> Self;
}

impl Number for f32 {
    fn of_f64(value: f64) -> Self {
        value as Self
    }
}

impl Number for f64 {
    fn of_f64(value: f64) -> Self {
        value
    }
}

fn apply<R: Number>(op: miopenTensorOp_t, a: R, b: R) -> R {
    match op {
        miopenTensorOp_t::miopenTensorOpAdd => a + b,
        miopenTensorOp_t::miopenTensorOpMul => a * b,
        miopenTensorOp_t::miopenTensorOpMin => {
            if b < a {
                b
            } else {
                a
            }
        }
        _ => {
            if b > a {
                b
            } else {
                a
            }
        }
    }
}

/// `c = op(alpha1 * a, alpha2 * b) + beta * c`.
fn run<R: Number>(op: miopenTensorOp_t, scales: [f64; 3], a: &Array, b: &Array, c: &Array) {
    let [alpha1, alpha2, beta] = scales.map(R::of_f64);
    blocks(c.count(), |first, count| {
        let mut buffer = [[R::default(); BLOCK]; 3];
        let [x, y, z] = buffer.each_mut().map(|buffer| &mut buffer[..count]);
        a.load(first, x);
        b.load(first, y);
        x.iter_mut().zip(y).for_each(|(x, y)| *x = apply(op, *x * alpha1, *y * alpha2));
        if beta != R::default() {
            c.load(first, z);
            x.iter_mut().zip(z).for_each(|(x, z)| *x = *x + beta * *z);
        }
        c.store(first, x);
    });
}

/// Combines two tensors element by element; dimensions of length 1 of the second one are broadcast.
pub(super) fn combine(
    handle: miopenHandle_t,
    name: &'static str,
    op: miopenTensorOp_t,
    scales: [f64; 3],
    [(a, a_at), (b, b_at)]: [(&Tensor, *const c_void); 2],
    (c, c_at): (&Tensor, *mut c_void),
) -> Outcome {
    check(!a_at.is_null() && !b_at.is_null() && !c_at.is_null(), BAD)?;
    check(op.0 <= miopenTensorOp_t::miopenTensorOpMax.0, BAD)?;
    check(a.count() == c.count() && b.dtype == c.dtype && a.dtype == c.dtype, UNKNOWN)?;
    check(c.rank() <= 5 && a.rank() == c.rank() && b.rank() == c.rank(), UNKNOWN)?;
    check(b.lens.iter().zip(&c.lens).all(|(b, c)| *b == 1 || b == c), UNKNOWN)?;
    let mut job = Job::new(handle)?;
    let (left, mut right) = (job.read(a_at, a)?, job.read(b_at, b)?);
    right.dims = b.spread(&c.lens);
    let out = job.write(c_at, c)?;
    match out.view.kind() {
        Kind::Half | Kind::BFloat16 | Kind::Float => {
            job.submit(name, move || run::<f32>(op, scales, &left, &right, &out))
        }
        _ => job.submit(name, move || run::<f64>(op, scales, &left, &right, &out)),
    }
}

/// The factors are floats for every tensor type.
pub(super) unsafe extern "C" fn miopenOpTensor(
    handle: miopenHandle_t,
    op: miopenTensorOp_t,
    alpha1: *const c_void,
    a_desc: miopenTensorDescriptor_t,
    a: *const c_void,
    alpha2: *const c_void,
    b_desc: miopenTensorDescriptor_t,
    b: *const c_void,
    beta: *const c_void,
    c_desc: miopenTensorDescriptor_t,
    c: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        // SAFETY: S11: the caller's factors.
        let scales = unsafe { floats([alpha1, alpha2, beta]) }?.map(f64::from);
        let tensors = [tensor(a_desc)?, tensor(b_desc)?, tensor(c_desc)?];
        let given = [(&tensors[0], a), (&tensors[1], b)];
        combine(handle, "miopenOpTensor", op, scales, given, (&tensors[2], c))
    })
}

/// The caller's value, which has the type of the tensor.
///
/// # Safety
/// `alpha` is null or points to a value of that type.
unsafe fn value(alpha: *const c_void, dtype: miopenDataType_t) -> Outcome<f64> {
    check(!alpha.is_null(), BAD)?;
    let kind = Kind::of(dtype).ok_or(NO_SOLVER)?;
    // SAFETY: S11: not null, and of that type by the C contract; a view of one value of the caller's, read now.
    Ok(unsafe {
        match kind {
            Kind::Half => alpha.cast::<half::f16>().read_unaligned().into(),
            Kind::BFloat16 => alpha.cast::<half::bf16>().read_unaligned().into(),
            Kind::Float => alpha.cast::<f32>().read_unaligned().into(),
            Kind::Double => alpha.cast::<f64>().read_unaligned(),
            Kind::Int8 => alpha.cast::<i8>().read_unaligned().into(),
            Kind::Int32 => alpha.cast::<i32>().read_unaligned().into(),
            Kind::Int64 => alpha.cast::<i64>().read_unaligned() as f64,
        }
    })
}

pub(super) unsafe extern "C" fn miopenSetTensor(
    handle: miopenHandle_t,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    alpha: *const c_void,
) -> miopenStatus_t {
    answer(|| {
        let tensor = tensor(y_desc)?;
        // SAFETY: S11: the caller's value, of the tensor's type.
        let value = unsafe { value(alpha, tensor.dtype) }?;
        let mut job = Job::new(handle)?;
        let out = job.write(y, &tensor)?;
        job.submit("miopenSetTensor", move || {
            blocks(out.count(), |first, count| out.store(first, &[value; BLOCK][..count]));
        })
    })
}

pub(super) unsafe extern "C" fn miopenScaleTensor(
    handle: miopenHandle_t,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
    alpha: *const c_void,
) -> miopenStatus_t {
    answer(|| {
        let tensor = tensor(y_desc)?;
        const TYPES: [miopenDataType_t; 4] = [
            miopenDataType_t::miopenHalf,
            miopenDataType_t::miopenFloat,
            miopenDataType_t::miopenInt32,
            miopenDataType_t::miopenDouble,
        ];
        check(tensor.is_of(&TYPES), BAD)?;
        // SAFETY: S11: the caller's value, of the tensor's type.
        let value = unsafe { value(alpha, tensor.dtype) }?;
        let mut job = Job::new(handle)?;
        let out = job.write(y, &tensor)?;
        job.submit("miopenScaleTensor", move || {
            blocks(out.count(), |first, count| {
                let mut buffer = [0.0_f64; BLOCK];
                let block = &mut buffer[..count];
                out.load(first, block);
                block.iter_mut().for_each(|it| *it *= value);
                out.store(first, block);
            });
        })
    })
}

/// `y = alpha * x + beta * y`, each with its own strides. The factors are floats.
pub(super) unsafe extern "C" fn miopenTransformTensor(
    handle: miopenHandle_t,
    alpha: *const c_void,
    x_desc: miopenTensorDescriptor_t,
    x: *const c_void,
    beta: *const c_void,
    y_desc: miopenTensorDescriptor_t,
    y: *mut c_void,
) -> miopenStatus_t {
    answer(|| {
        check(!x.is_null() && !y.is_null(), BAD)?;
        // SAFETY: S11: the caller's factors.
        let [alpha, beta] = unsafe { floats([alpha, beta]) }?.map(f64::from);
        let (from, to) = (tensor(x_desc)?, tensor(y_desc)?);
        check(from.lens == to.lens && from.dtype == to.dtype, UNKNOWN)?;
        check(!from.is_of(&[miopenDataType_t::miopenInt8, miopenDataType_t::miopenInt64]), UNKNOWN)?;
        let mut job = Job::new(handle)?;
        let (from, to) = (job.read(x, &from)?, job.write(y, &to)?);
        job.submit("miopenTransformTensor", move || {
            blocks(to.count(), |first, count| {
                let (mut buffer, mut old) = ([0.0_f64; BLOCK], [0.0_f64; BLOCK]);
                let block = &mut buffer[..count];
                from.load(first, block);
                block.iter_mut().for_each(|it| *it *= alpha);
                if beta != 0.0 {
                    to.load(first, &mut old[..count]);
                    block.iter_mut().zip(old).for_each(|(it, old)| *it += beta * old);
                }
                to.store(first, block);
            });
        })
    })
}
