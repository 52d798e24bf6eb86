//! Conversion between dtypes.

use std::any::TypeId;

use crate::cpu::CpuStorage;
use crate::cpu::chunks::{BLOCK, new_outputs};
use crate::cpu::dispatch::{dispatch, dispatch_dtype};
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::dtype::DType;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;

/// The elements converted to `dtype`: rounded once, saturating from float to integer, wrapping from integer to integer.
pub(crate) fn cast(storage: &CpuStorage, layout: &Layout, dtype: DType) -> Result<CpuStorage> {
    dispatch!(storage, elements: S => dispatch_dtype!(dtype, D => {
        convert::<S, D>(elements, layout).map(D::store)
    }))
}

fn convert<S: Number, D: Number>(elements: &[S], layout: &Layout) -> Result<Vec<D>> {
    let source = Source::new(elements, layout);
    let chunks = (BLOCK, 1 + S::CONVERSION + D::CONVERSION);
    new_outputs(layout.elements(), chunks, "to_dtype", &|start, output, scratch: &mut Scratch<S, D>| {
        let (gathered, wide, result) = scratch;
        let block = source.block(start, output.left(), gathered);
        if TypeId::of::<S::Compute>() == TypeId::of::<D::Compute>() {
            // Both have the same compute type, which represents every value of either: there is only one rounding.
            let wide = S::widen(block, wide);
            D::round(output, wide.len(), result, |y| y.copy(bytemuck::cast_slice(wide)));
        } else {
            output.each(block, |x| D::from_scalar(x.to_scalar()));
        }
    })
}

/// Gathered elements, their compute values, and the result.
type Scratch<S, D> = (Vec<S>, Vec<<S as Number>::Compute>, Vec<<D as Number>::Compute>);
