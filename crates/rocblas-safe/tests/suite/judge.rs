//! Comparisons of what a device wrote with what it had to write.

use crate::sample::{Part, Sample};
use reference::blas::Sum;

/// Whether a result is right: within the tolerance, or the exact one, rounded once.
#[track_caller]
pub(crate) fn assert_right<T: Sample>(got: T, sum: &Sum, exact: bool, context: impl Fn() -> String) {
    assert_part_right(T::DTYPE, got, sum, exact, context);
}

/// As [`assert_right`], for a norm.
#[track_caller]
pub(crate) fn assert_part_right<R: Part>(
    dtype: reference::DType,
    got: R,
    sum: &Sum,
    exact: bool,
    context: impl Fn() -> String,
) {
    let (value, parts) = (sum.value, got.parts());
    let right = if exact { got == R::of(value.re.hi, value.im.hi) } else { sum.accepts(dtype, parts) };
    if !right {
        let [re, im] = sum.tolerance(dtype);
        let wanted = format!("{:?}+{:?}i, within {re:e} and {im:e}", value.re.hi, value.im.hi);
        panic!("{}: {got:?} where {wanted} is right (exactly: {exact})", context());
    }
}

/// Whether what no call may touch is as it was.
#[track_caller]
pub(crate) fn assert_untouched<T: Part>(
    got: &[T],
    before: &[T],
    used: &[bool],
    context: impl Fn() -> String,
) {
    for (index, ((got, before), used)) in got.iter().zip(before).zip(used).enumerate() {
        let same = got == before || format!("{got:?}") == format!("{before:?}");
        assert!(*used || same, "{}: element {index} was {before:?} and is {got:?}", context());
    }
}
