//! The operations of [`BackendStorage`](candle_core::backend::BackendStorage), one file a verb: candle's arguments as
//! tensors, an operation of tensor-core, and its result as storage.

pub(super) mod affine;
pub(super) mod binary;
pub(super) mod cast;
pub(super) mod compare;
pub(super) mod conv;
pub(super) mod copy;
pub(super) mod fill;
pub(super) mod ids;
pub(super) mod index;
pub(super) mod matmul;
pub(super) mod pool;
pub(super) mod reduce;
pub(super) mod scatter;
pub(super) mod select;
pub(super) mod unary;
pub(super) mod upsample;

use candle_core::Layout;

use super::HipStorage;

/// A storage, and which of its elements an operation reads.
pub(super) type Operand<'a> = (&'a HipStorage, &'a Layout);
