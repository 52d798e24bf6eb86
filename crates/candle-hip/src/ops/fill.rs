//! Writing one value to elements.

use candle_core::scalar::Scalar;
use candle_core::{Layout, Result};
use tensor_core::{Scalar as Ours, Tensor, F8E4M3};

use super::super::error::Candles;
use super::super::{dtype, layout, HipStorage};

/// Writes `value`, which has the storage's dtype, to the elements at `l`.
pub(in super::super) fn const_set(x: &mut HipStorage, value: Scalar, l: &Layout) -> Result<()> {
    let dtype = dtype::supported(x.element_type(), "const_set")?;
    if value.dtype() != x.element_type() {
        candle_core::bail!(
            "const_set: the storage has dtype {:?}, the value {value:?} has {:?}",
            x.element_type(),
            value.dtype()
        )
    }
    let value = ours(value);
    if l.is_contiguous() && x.is_first_filled_by(l.start_offset(), l.shape().elem_count()) {
        let device = x.hip_device().device();
        let filled = Tensor::full(value, x.len(), dtype, device).candles()?;
        return x.replace(filled);
    }
    // An axis of stride 0 names the same elements again.
    let axes = l.dims().iter().zip(l.stride());
    let (dims, strides): (Vec<usize>, Vec<usize>) =
        axes.map(|(&length, &stride)| (if stride == 0 { length.min(1) } else { length }, stride)).unzip();
    fill(x, value, &dims, &strides, l.start_offset())
}

/// Fills the indices of the outermost axis one after the other if elements may have the same offset.
fn fill(x: &mut HipStorage, value: Ours, dims: &[usize], strides: &[usize], offset: usize) -> Result<()> {
    let filled = layout::at(dims, strides, offset)?;
    if !filled.may_overlap() {
        return x.change(filled, |part| part.fill_(value).candles());
    }
    (0..dims[0]).try_for_each(|i| fill(x, value, &dims[1..], &strides[1..], offset + i * strides[0]))
}

fn ours(value: Scalar) -> Ours {
    match value {
        Scalar::U8(x) => x.into(),
        Scalar::U32(x) => x.into(),
        Scalar::I16(x) => x.into(),
        Scalar::I32(x) => x.into(),
        Scalar::I64(x) => x.into(),
        Scalar::BF16(x) => x.into(),
        Scalar::F16(x) => x.into(),
        Scalar::F32(x) => x.into(),
        Scalar::F64(x) => x.into(),
        Scalar::F8E4M3(x) => F8E4M3::from_bits(x.to_bits()).into(),
    }
}
