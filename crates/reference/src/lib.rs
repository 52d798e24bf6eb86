//! A plain, slow implementation of every tensor operation, which judges the results of all devices.
//!
//! The crate depends on no other crate of the workspace, so that it cannot share their bugs. It has its own element
//! types ([`DType`]), its own rounding to number formats ([`round`]), and its own double-double arithmetic ([`Dd`]),
//! which computes every `f64` result to about 30 digits. Results of types up to `f32` are computed in `f64`, integers
//! in `i128`.
//!
//! An operation takes dense row-major [`Array`]s and returns an [`Outcome`]: the dtype, the shape, the [`Judge`], which
//! says how much a device's result may differ, and a function from an element's index to its [`Expected`] value.
//! Elements are computed only when [`Outcome::at`] is called. It takes `&self`, does not allocate, and may be called
//! from many threads.
//!
//! ```
//! use reference::{Array, BinaryOp, DType, Judge, binary};
//!
//! # fn main() -> Result<(), reference::Error> {
//! // Arrays are made of the bytes that a device would hold: little-endian, dense, row-major.
//! let bytes: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
//! let row = Array::from_bytes(DType::F32, &[1, 3], &bytes)?;
//! let column = Array::from_f64(DType::F32, &[2, 1], &[10.0, 20.0])?;
//!
//! let sums = binary(BinaryOp::Add, &row, &column)?; // broadcasts as PyTorch does
//! assert_eq!((sums.dtype(), sums.shape(), sums.judge()), (DType::F32, &[2, 3][..], Judge::Exact));
//!
//! let expected = sums.at(5); // row-major: row 1, column 2
//! assert_eq!(expected.bits, u64::from(23.0f32.to_bits()));
//! assert!(sums.judge().accepts(sums.dtype(), &expected, expected.bits));
//! # Ok(())
//! # }
//! ```
//!
//! # How a result is judged
//! [`Judge::tolerance`] and [`difference`] compute the quantities below, and [`Judge::accepts`] combines them. The
//! `parity` crate decides what to do with the answers. `got` is the bit pattern that the device wrote.
//! - Any NaN equals any NaN. Bits equal to [`Expected::bits`] are always right.
//! - [`Judge::Exact`]: nothing else is right.
//! - [`Judge::Within`]: `|got − value| ≤ ulps · ulp(value) + t · scale`. An infinity counts as the number after the
//!   largest finite one. `f8e4m3` values are first clamped to ±448. If [`Expected::overflow`] is set, an infinity or a
//!   NaN is also right, because an intermediate result may overflow in some orders of evaluation.
//!
//! # Meaning
//! Arithmetic of `f8e4m3`, `bf16`, `f16` is done in `f32` (each step rounded to `f32`) and rounded once to the dtype.
//! Conversions between dtypes round the exact value once. Integers wrap. Each operation documents the rest.

mod array;
pub mod blas;
mod bounds;
mod dd;
mod dtype;
mod error;
mod formula;
pub mod network;
mod ops;
mod outcome;
mod quant;
pub mod round;
mod shape;

pub use array::Array;
pub use bounds::{BOUNDS, Bound, SMALL_FLOAT_ULPS, product_tolerance, sum_tolerance};
pub use dd::Dd;
pub use dtype::{DType, Value};
pub use error::Error;
pub use ops::attention::{AttentionOptions, attention};
pub use ops::binary::{BinaryOp, binary};
pub use ops::cast::{cast, copy, fill};
pub use ops::compare::{CmpOp, compare};
pub use ops::conv::{Convolution, convolution};
pub use ops::index::{embedding, gather, index_add, index_select, scatter, scatter_add, slice_scatter};
pub use ops::matmul::matmul;
pub use ops::nn::{add_rms_norm, batch_norm, group_norm, layer_norm, rms_norm, softmax};
pub use ops::order::{Sorted, sort};
pub use ops::pool::{Pool, Windows, pool};
pub use ops::random::{Draw, bernoulli, dropout, normal, randint, randperm, uniform};
pub use ops::rearrange::{Border, cat, flip, pad, repeat, roll, stack};
pub use ops::reduce::{ReduceOp, reduce};
pub use ops::rope::{RopeKind, rope};
pub use ops::scaled::{ScalarOp, affine, clamp, unary_scalar};
pub use ops::scan::{CumulativeOp, scan};
pub use ops::select::{arange, eye, linspace, masked_fill, triangle, where_cond};
pub use ops::stat::{StatOp, stat, truth};
pub use ops::unary::{UnaryOp, unary};
pub use outcome::{Expected, Judge, Outcome, difference};
pub use quant::{QuantFormat, dequantize, quant_embedding, quant_experts, quant_matmul};
pub use shape::broadcast_shapes;
