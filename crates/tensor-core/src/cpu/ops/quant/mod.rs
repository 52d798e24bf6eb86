//! Quantized numbers: to blocks and back, rows by ids, and products with matrices of activations.

mod activations;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod few;
mod fill;
mod machine;
mod product;
mod tile;

use half::{bf16, f16};

use super::index;
use crate::cpu::CpuStorage;
use crate::cpu::chunks::{BLOCK, new_chunks};
use crate::cpu::number::Number;
use crate::cpu::vector::vectorised;
use crate::dtype::DType;
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::plan::index::Indexed;
use crate::quant::block::dispatch_format;
use crate::quant::pack::{Pack, dispatch_packed};
use crate::quant::{QuantFormat, Row};

pub(crate) use product::{product, product_of_experts};

/// The cost of a number, in [units](crate::cpu::chunks::SHARE): of unpacking, and of the search for a block's scales.
const UNPACKING: usize = 4;
const PACKING: usize = 400;

/// The blocks of `values`, whose number is a multiple of the block's.
pub(crate) fn quantize(format: QuantFormat, values: &[f32]) -> Result<Vec<u8>> {
    dispatch_packed!(format, B => pack::<B>(values), else {
        let what = format!("there is no quantizer to {format}: blocks of this format come from files");
        Err(Error::new("quantize", ErrorKind::Argument { what }))
    })
}

fn pack<B: Pack>(values: &[f32]) -> Result<Vec<u8>> {
    let bytes = values.len() / B::LENGTH * B::BYTES;
    let work = PACKING * B::LENGTH / B::BYTES;
    new_chunks(bytes, (B::BYTES, work), "quantize", &|start, block: &mut [u8], (): &mut ()| {
        let values = &values[start / B::BYTES * B::LENGTH..][..B::LENGTH];
        vectorised(
            #[inline(always)]
            || B::pack(values, block),
        );
    })
}

/// The values of whole blocks as `dtype`: `f32`, `f16` or `bf16`, rounded once.
pub(crate) fn dequantize(format: QuantFormat, blocks: &[u8], dtype: DType) -> Result<CpuStorage> {
    let storage = match dtype {
        DType::F16 => f16::store(values(format, blocks)?),
        DType::BF16 => bf16::store(values(format, blocks)?),
        _ => f32::store(values(format, blocks)?),
    };
    Ok(storage)
}

fn values<T: Element + Number<Compute = f32>>(format: QuantFormat, blocks: &[u8]) -> Result<Vec<T>> {
    let (length, bytes) = (format.block_size(), format.type_size());
    let count = blocks.len() / bytes * length;
    let chunk = BLOCK.max(length);
    new_chunks(
        count,
        (chunk, UNPACKING),
        "dequantize",
        &|start, values: &mut [T], scratch: &mut (Row, Vec<f32>)| {
            let blocks = &blocks[start / length * bytes..][..values.len() / length * bytes];
            let (row, wide) = scratch;
            T::narrow(values, wide, |wide| dequantize_row(format, blocks, row, wide));
        },
    )
}

/// The rows at ids, of a matrix of blocks with `width` numbers in a row.
pub(crate) fn rows(
    format: QuantFormat,
    blocks: &[u8],
    width: usize,
    axis: &Indexed,
    (ids, at): (&CpuStorage, &Layout),
) -> Result<CpuStorage> {
    let ids = index::checked(ids, at, axis)?;
    let bytes = row_bytes(format, width);
    let (count, width) = (ids.len() * width, width.max(1));
    let rows = new_chunks(
        count,
        (width, UNPACKING),
        axis.operation,
        &|start, values: &mut [f32], row: &mut Row| {
            dequantize_row(format, &blocks[ids[start / width] * bytes..][..bytes], row, values);
        },
    )?;
    Ok(f32::store(rows))
}

/// Bytes of `width` numbers, which are whole blocks.
fn row_bytes(format: QuantFormat, width: usize) -> usize {
    width / format.block_size() * format.type_size()
}

/// Unpacks a row into `row`, and writes its values.
fn dequantize_row(format: QuantFormat, blocks: &[u8], row: &mut Row, values: &mut [f32]) {
    unpack(format, blocks, row);
    vectorised(
        #[inline(always)]
        || row.dequantize(values),
    );
}

/// Unpacks a row into `row`.
fn unpack(format: QuantFormat, blocks: &[u8], row: &mut Row) {
    // A closure for each format: the compiler inlines less into a larger one.
    dispatch_format!(format, B => vectorised(
        #[inline(always)]
        || row.unpack::<B>(blocks),
    ));
}
