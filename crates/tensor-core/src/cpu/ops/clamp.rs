//! `min(max(x, lo), hi)`.

use crate::cpu::CpuStorage;
use crate::cpu::arith::Arith;
use crate::cpu::blocks::{map1, update1};
use crate::cpu::dispatch::dispatch;
use crate::cpu::number::Number;
use crate::cpu::output::Output;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// min(max(x, `lo`), `hi`): the upper bound takes precedence if `lo` > `hi`.
pub(crate) fn clamp(storage: &CpuStorage, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => {
        map1::<T>(elements, layout, "clamp", (&kernel::<T>(lo, hi), 1)).map(T::store)
    })
}

/// As [`clamp`], in place.
pub(crate) fn clamp_assign(storage: &mut CpuStorage, layout: &Layout, lo: Scalar, hi: Scalar) -> Result<()> {
    dispatch!(storage, elements: T => update1::<T>(elements, layout, (&kernel::<T>(lo, hi), 1)));
    Ok(())
}

fn kernel<T: Number>(lo: Scalar, hi: Scalar) -> impl Fn(&[T::Compute], &mut Output<'_, T::Compute>) + Sync {
    let (lo, hi) = (T::from_scalar(lo).to_compute(), T::from_scalar(hi).to_compute());
    move |x, y| y.each(x, |x| x.max(lo).min(hi))
}
