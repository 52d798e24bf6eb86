//! `mul · x + add`.

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

/// `mul · x + add` of each element: one fused multiply-add for floats, wrapping for integers.
pub(crate) fn affine(storage: &CpuStorage, layout: &Layout, mul: Scalar, add: Scalar) -> Result<CpuStorage> {
    dispatch!(storage, elements: T => {
        map1::<T>(elements, layout, "affine", (&kernel::<T>(mul, add), 1)).map(T::store)
    })
}

/// As [`affine`], in place.
pub(crate) fn affine_assign(
    storage: &mut CpuStorage,
    layout: &Layout,
    mul: Scalar,
    add: Scalar,
) -> Result<()> {
    dispatch!(storage, elements: T => update1::<T>(elements, layout, (&kernel::<T>(mul, add), 1)));
    Ok(())
}

fn kernel<T: Number>(mul: Scalar, add: Scalar) -> impl Fn(&[T::Compute], &mut Output<'_, T::Compute>) + Sync {
    let (mul, add) = (T::from_scalar(mul).to_compute(), T::from_scalar(add).to_compute());
    move |x, y| y.each(x, |x| x.mul_add(mul, add))
}
