//! The operations.

use super::QuantFormat;
use super::number::{Number, number};
use super::product::{self, Manner, Rows};
use crate::array::Data;
use crate::ops::from_f32;
use crate::ops::index::checked_ids;
use crate::shape::count;
use crate::{Array, DType, Error, Judge, Outcome};

/// The most rows of activations that every device rounds to 8 bits.
const FEW: usize = 8;

/// The numbers of `blocks` [.., n bytes] as `to`: each is rounded to `f32`, then to `to`. The last axis of the result has
/// the numbers of the n bytes.
///
/// # Errors
/// [`Error::Blocks`], [`Error::TooLarge`], and [`Error::Unsupported`] unless `to` is `f32`, `f16` or `bf16`.
pub fn dequantize(format: QuantFormat, blocks: &Array, to: DType) -> Result<Outcome<'static>, Error> {
    let op = "dequantize";
    require_float(op, to)?;
    let (shape, numbers) = unpacked(op, format, blocks)?;
    Ok(Outcome::new(to, shape, Judge::Exact, move |i| from_f32(to, numbers[i].value() as f32)))
}

/// The rows of the matrix `table` [n, bytes of a row] at `ids` of any shape, as `f32`. The result has one more dimension.
///
/// # Errors
/// [`Error::Blocks`], [`Error::Fit`], [`Error::Ids`], [`Error::OutOfRange`], [`Error::TooLarge`].
pub fn quant_embedding(format: QuantFormat, table: &Array, ids: &Array) -> Result<Outcome<'static>, Error> {
    let op = "quant_embedding";
    let (dims, numbers) = unpacked(op, format, table)?;
    let &[_, width] = dims.as_slice() else {
        return Err(Error::Fit { op, left: dims, right: ids.shape().to_vec() });
    };
    let rows = checked_ids(op, ids, &dims, 0)?;
    let mut shape = ids.shape().to_vec();
    shape.push(width);
    count(&shape)?;
    Ok(Outcome::new(DType::F32, shape, Judge::Exact, move |i| {
        from_f32(DType::F32, numbers[rows[i / width] * width + i % width].value() as f32)
    }))
}

/// The product x wᵀ of activations `x` [.., k] with the matrix `w` [n, bytes of k numbers]: [.., n], in the dtype of `x`.
///
/// The rows of `x` may be rounded to 8 bits, every 32 or every block of 256 with a scale. For more than eight rows the numbers
/// of `w` may be rounded to the dtype of `x` instead. The bounds are derived in `product.rs`.
///
/// Results are exact ([`Expected::bits`](crate::Expected::bits)) if all roundings are: if the scales of `w` are powers of
/// two, `x` has integers with a largest magnitude of 127 in every 32, and Σ (|scale · integer| + |base|) · |x| is at most
/// 2^24 times the smallest scale; of more than eight rows only in `f32`. A caller with such operands may demand equal
/// bits.
///
/// # Errors
/// [`Error::Blocks`], [`Error::Unsupported`] unless `x` is `f32`, `f16` or `bf16`, [`Error::Rank`], [`Error::Inner`],
/// [`Error::TooLarge`].
pub fn quant_matmul(format: QuantFormat, x: &Array, w: &Array) -> Result<Outcome<'static>, Error> {
    let op = "quant_matmul";
    let (dtype, values) = activations(op, x)?;
    let (dims, numbers) = unpacked(op, format, w)?;
    let inner = || Error::Inner { left: x.shape().to_vec(), right: dims.clone() };
    let Some((&width, outer)) = x.shape().split_last() else { return Err(Error::Rank { op }) };
    let columns = match *dims.as_slice() {
        [columns, inner] if inner == width => columns,
        _ => return Err(inner()),
    };
    let mut shape = outer.to_vec();
    shape.push(columns);
    count(&shape)?;
    let rows = count(outer)?;
    let manner = if rows <= FEW { Manner::Rounded } else { Manner::Either };
    let (x, w) =
        (Rows::of_activations(values, width, format.block_size()), Rows::of_weights(&numbers, width));
    Ok(Outcome::new(dtype, shape, product::JUDGE, move |i| {
        product::expected(manner, dtype, format.block_size(), (&x, i / columns), (&w, i % columns))
    }))
}

/// The products of activations with the matrices of their experts, `w` [experts, n, bytes of k numbers]. `x` is
/// [batch, top, k], or [batch, 1, k] for the same activations for all experts of a row; `ids` [batch, top] are the
/// experts. The result is [batch, top, n] in the dtype of `x`. Any number of rows may be rounded as few are by
/// [`quant_matmul`]. Results are exact where its are.
///
/// # Errors
/// As [`quant_matmul`], and [`Error::Fit`], [`Error::Ids`], [`Error::OutOfRange`].
pub fn quant_experts(
    format: QuantFormat,
    x: &Array,
    ids: &Array,
    w: &Array,
) -> Result<Outcome<'static>, Error> {
    let op = "quant_experts";
    let (dtype, values) = activations(op, x)?;
    let (dims, numbers) = unpacked(op, format, w)?;
    let (&[batch, each, width], &[rows, top]) = (x.shape(), ids.shape()) else {
        return Err(Error::Fit { op, left: x.shape().to_vec(), right: ids.shape().to_vec() });
    };
    if batch != rows || each != top && each != 1 {
        return Err(Error::Fit { op, left: x.shape().to_vec(), right: ids.shape().to_vec() });
    }
    let columns = match *dims.as_slice() {
        [_, columns, inner] if inner == width => columns,
        _ => return Err(Error::Inner { left: x.shape().to_vec(), right: dims }),
    };
    let experts = checked_ids(op, ids, &dims, 0)?;
    let shape = vec![batch, top, columns];
    count(&shape)?;
    let (x, w) =
        (Rows::of_activations(values, width, format.block_size()), Rows::of_weights(&numbers, width));
    Ok(Outcome::new(dtype, shape, product::JUDGE, move |i| {
        let (pair, column) = (i / columns, i % columns);
        let row = if each == 1 { pair / top } else { pair };
        let column = experts[pair] * columns + column;
        product::expected(Manner::Rounded, dtype, format.block_size(), (&x, row), (&w, column))
    }))
}

/// The shape in numbers, and the numbers, of an array of blocks.
fn unpacked(
    op: &'static str,
    format: QuantFormat,
    blocks: &Array,
) -> Result<(Vec<usize>, Vec<Number>), Error> {
    let (length, size) = (format.block_size(), format.type_size());
    let (dtype, mut shape) = (blocks.dtype(), blocks.shape().to_vec());
    let error = || Error::Blocks { op, format, dtype, shape: blocks.shape().to_vec() };
    let (Data::Int(bytes), DType::U8) = (&blocks.data, dtype) else { return Err(error()) };
    let width = shape.last_mut().ok_or_else(error)?;
    if !width.is_multiple_of(size) {
        return Err(error());
    }
    *width = *width / size * length;
    let total = count(&shape)?;
    let bytes: Vec<u8> = bytes.iter().map(|byte| *byte as u8).collect();
    let at = |i: usize| number(format, &bytes[i / length * size..][..size], i % length);
    Ok((shape, (0..total).map(at).collect()))
}

/// The dtype and the values of activations.
fn activations<'a>(op: &'static str, x: &'a Array) -> Result<(DType, &'a [f64]), Error> {
    require_float(op, x.dtype())?;
    match &x.data {
        Data::Float(values) => Ok((x.dtype(), values)),
        Data::Int(_) => Err(Error::Unsupported { op, dtype: x.dtype() }),
    }
}

fn require_float(op: &'static str, dtype: DType) -> Result<(), Error> {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => Ok(()),
        _ => Err(Error::Unsupported { op, dtype }),
    }
}
