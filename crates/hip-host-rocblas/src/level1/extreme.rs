//! iamax and iamin: the index, from 1, where |re| + |im| is largest or smallest.

use super::super::check::{Outcome, POINTER, ensure, vector};
use super::super::handle::{Call, there};
use super::super::operand::{Operand, Plan, Vector};
use super::super::parallel;
use super::super::scalar::{Field, Int};
use super::GRAIN;

macro_rules! function {
    ($name:ident, $text:literal, $largest:literal) => {
        pub(crate) mod $name {
            use super::super::super::c::forms::forms;
            use super::super::super::handle::{begin, status};
            use super::super::super::operand::Operand;
            use super::super::super::scalar::{Element, Field, Int};
            use super::extreme;
            use hip_sys::rocblas::{rocblas_handle, rocblas_status};

            forms! { $text, "" [T: Element<Value: Field>] [I, T::Value, $largest]
            extreme(n: int, [x: in T, incx, stride_x], batch, result: *mut I) }
        }
    };
}

function!(iamax, "iamax", true);
function!(iamin, "iamin", false);

unsafe fn extreme<I: Int, T: Field, const LARGEST: bool>(
    call: Call,
    n: i64,
    x: Operand,
    batch: i64,
    result: *mut I,
) -> Outcome {
    there(result)?;
    let mut plan = Plan::new(call, batch.max(0) as usize);
    if n <= 0 || x.step <= 0 || batch <= 0 {
        // SAFETY: S11: the C function's contract.
        return if batch > 0 { unsafe { plan.zero(result) } } else { Ok(()) };
    }
    ensure(!x.is_null(), POINTER)?;
    let n = n as usize;
    let x = plan.read::<T>(x, vector(n, x.step))?;
    let body = move |index| {
        // SAFETY: S2: named above.
        let x = unsafe { Vector::<T>::new(x.at(index), n, x.step()) };
        // SAFETY: S2: as above.
        I::of_index(first_extreme(n, LARGEST, |i| unsafe { x.get(i).taxicab() }) + 1)
    };
    // SAFETY: S11: all of it is named; the caller vouches for the result's address.
    unsafe { plan.reduce(result, 2.0 * n as f64, body) }
}

/// The first of the largest or smallest. A NaN in front stays, since no comparison with it is true; other NaNs are skipped.
fn first_extreme<R: PartialOrd + Copy + Send + Sync>(
    n: usize,
    largest: bool,
    value: impl Fn(usize) -> R + Sync,
) -> usize {
    let beats = |new: R, old: R| if largest { new > old } else { new < old };
    let is_number = |value: R| value.partial_cmp(&value).is_some();
    if !is_number(value(0)) {
        return 0;
    }
    let better = |best: Option<(usize, R)>, (index, new): (usize, R)| match best {
        Some((_, old)) if !beats(new, old) => best,
        None if !is_number(new) => best,
        _ => Some((index, new)),
    };
    let parts = parallel::collect(n, GRAIN, 2.0, &|range| range.map(|i| (i, value(i))).fold(None, better));
    parts.into_iter().flatten().fold(None, better).map_or(0, |(index, _)| index)
}
