//! Storage filled with one value.

use crate::cpu::blocks::update;
use crate::cpu::chunks::fill_blocks;
use crate::cpu::dispatch::{dispatch, dispatch_dtype};
use crate::cpu::{CpuStorage, zeros};
use crate::dtype::DType;
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// `count` elements equal to `value`.
pub(crate) fn full(dtype: DType, count: usize, value: Scalar) -> Result<CpuStorage> {
    dispatch_dtype!(dtype, T => {
        let mut elements = zeros::<T>(count, "full")?;
        let value = T::from_scalar(value);
        // Zeroed memory from the system is not touched again.
        if bytemuck::bytes_of(&value).iter().any(|byte| *byte != 0) {
            fill_blocks(&mut elements, &|_, block, (): &mut ()| block.fill(value));
        }
        Ok(T::store(elements))
    })
}

/// Writes `value` to each element of `layout`, whose elements do not overlap.
pub(crate) fn fill(storage: &mut CpuStorage, layout: &Layout, value: Scalar) -> Result<()> {
    dispatch!(storage, elements: T => {
        let value = T::from_scalar(value);
        update(elements, layout, 1, &|_, _, after: &mut [T], (): &mut ()| after.fill(value));
    });
    Ok(())
}
