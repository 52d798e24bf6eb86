//! Evenly spaced numbers, each computed from its index.

use crate::cpu::CpuStorage;
use crate::cpu::chunks::new_blocks;
use crate::cpu::dispatch::dispatch_dtype;
use crate::dtype::DType;
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::scalar::Scalar;

/// `count` elements: start, start + step, start + 2·step, …. Integers wrap; floats are computed in `f64` with one fused
/// multiply-add and then rounded. For an integer `dtype` both scalars are integers, otherwise floats.
pub(crate) fn arange(dtype: DType, count: usize, [start, step]: [Scalar; 2]) -> Result<CpuStorage> {
    let number = |i: usize| match (start, step) {
        (Scalar::Int(start), Scalar::Int(step)) => {
            Scalar::Int(start.wrapping_add((i as i64).wrapping_mul(step)))
        }
        _ => Scalar::Float((i as f64).mul_add(step.to_f64(), start.to_f64())),
    };
    of_indices(dtype, count, "arange", &number)
}

/// `count` evenly spaced elements from start to end, computed in `f64` and then rounded. The ends are finite and
/// representable, and exact in the result.
pub(crate) fn linspace(dtype: DType, count: usize, [start, end]: [Scalar; 2]) -> Result<CpuStorage> {
    let (first, last, intervals) = (start.to_f64(), end.to_f64(), count.saturating_sub(1));
    let distance = last - first;
    let between = |i: usize| {
        let sum = first + i as f64 * distance / intervals as f64;
        // The distance may be infinite although both ends are finite.
        let share = i as f64 / intervals as f64;
        Scalar::Float(if sum.is_finite() { sum } else { first * (1.0 - share) + last * share })
    };
    let number = |i: usize| match i {
        0 => start,
        _ if i == intervals => end,
        _ => between(i),
    };
    of_indices(dtype, count, "linspace", &number)
}

/// `number` of each index, rounded to `dtype`.
fn of_indices(
    dtype: DType,
    count: usize,
    operation: &'static str,
    number: &(dyn Fn(usize) -> Scalar + Sync),
) -> Result<CpuStorage> {
    dispatch_dtype!(dtype, T => {
        let elements = new_blocks::<T, ()>(count, operation, &|first, block, ()| {
            for (index, slot) in (first..).zip(block) {
                *slot = T::from_scalar(number(index));
            }
        })?;
        Ok(T::store(elements))
    })
}
