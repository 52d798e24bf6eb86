//! Products of activations with matrices of blocks: y = x Wᵀ.
//!
//! For a few rows of activations each row of weights is unpacked to integers and multiplied by rounded activations. For
//! more, tiles of weights are dequantized and multiplied by `gemm`.

use super::activations::Activations;
use super::{dequantize_row, row_bytes, unpack};
use crate::cpu::chunks::new_chunks;
use crate::cpu::ops::matmul::{Matrix, multiply};
use crate::error::Result;
use crate::quant::{QuantFormat, Row};

/// The most rows of activations that are multiplied as integers.
const FEW: usize = 8;
/// Rows of weights that a core unpacks at a time for few activations.
const STRIP: usize = 4;
/// Rows of weights that a core dequantizes at a time for many. It does not depend on the number of cores, and so neither do
/// the sums of `gemm`.
const TILE: usize = 32;

/// The products of `values` `[m, width]` with `blocks` `[n, width]`, as `[m, n]`. Neither is empty.
pub(crate) fn product(
    format: QuantFormat,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Vec<f32>> {
    let (rows, columns) = (values.len() / width, blocks.len() / row_bytes(format, width));
    let transposed = match rows {
        ..=FEW => few(format, blocks, values, width, operation)?,
        _ => many(format, blocks, values, width, operation)?,
    };
    if rows == 1 {
        return Ok(transposed);
    }
    new_chunks(rows * columns, (columns, 8), operation, &|start, out: &mut [f32], (): &mut ()| {
        let row = start / columns;
        out.iter_mut().zip(transposed[row..].iter().step_by(rows)).for_each(|(y, x)| *y = *x);
    })
}

/// As [`product`], transposed: `[n, m]`.
fn few(
    format: QuantFormat,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Vec<f32>> {
    let bytes = row_bytes(format, width);
    let activations = Activations::of_rows(values, width, Row::group_of(format));
    let rows = activations.len();
    let count = blocks.len() / bytes * rows;
    new_chunks(count, (STRIP * rows, width), operation, &|start, out: &mut [f32], row: &mut Row| {
        let blocks = &blocks[start / rows * bytes..];
        for (out, blocks) in out.chunks_exact_mut(rows).zip(blocks.chunks_exact(bytes)) {
            unpack(format, blocks, row);
            out.iter_mut().zip(&activations).for_each(|(y, x)| *y = x.dot(row));
        }
    })
}

/// As [`few`].
fn many(
    format: QuantFormat,
    blocks: &[u8],
    values: &[f32],
    width: usize,
    operation: &'static str,
) -> Result<Vec<f32>> {
    let bytes = row_bytes(format, width);
    let (rows, columns) = (values.len() / width, blocks.len() / bytes);
    let right = Matrix { rows: width, columns: rows, row_stride: 1, column_stride: width };
    type Scratch = (Row, Vec<f32>);
    new_chunks(
        rows * columns,
        (TILE * rows, width),
        operation,
        &|start, out: &mut [f32], scratch: &mut Scratch| {
            let (row, weights) = scratch;
            let (first, count) = (start / rows, out.len() / rows);
            weights.resize(count * width, 0.0);
            let blocks = blocks[first * bytes..].chunks_exact(bytes);
            for (blocks, weights) in blocks.zip(weights.chunks_exact_mut(width)) {
                dequantize_row(format, blocks, row, weights);
            }
            let left = Matrix { rows: count, columns: width, row_stride: width, column_stride: 1 };
            multiply(out, weights, left, values, right, gemm::Parallelism::None);
        },
    )
}

/// The products of rows of `values`, each with the matrix of its expert: those of `pairs` (row, expert), in their order.
/// `blocks` are the matrices, `columns` rows of `width` numbers each.
pub(crate) fn product_of_experts(
    format: QuantFormat,
    blocks: &[u8],
    (columns, width): (usize, usize),
    values: &[f32],
    pairs: &[(usize, usize)],
    operation: &'static str,
) -> Result<Vec<f32>> {
    let bytes = columns * row_bytes(format, width);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|place| pairs[*place].1);
    let mut out = crate::cpu::zeros(pairs.len() * columns, operation)?;
    // All rows of an expert are one product, so that its matrix is read once.
    for places in order.chunk_by(|a, b| pairs[*a].1 == pairs[*b].1) {
        let expert = pairs[places[0]].1;
        let mut rows = Vec::with_capacity(places.len() * width);
        for place in places {
            rows.extend_from_slice(&values[pairs[*place].0 * width..][..width]);
        }
        let products = product(format, &blocks[expert * bytes..][..bytes], &rows, width, operation)?;
        for (place, product) in places.iter().zip(products.chunks_exact(columns)) {
            out[place * columns..][..columns].copy_from_slice(product);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
