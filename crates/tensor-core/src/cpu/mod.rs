//! The CPU backend: host memory, and the operations on it.
//!
//! Every operation is a loop over contiguous blocks of a few thousand elements ([`blocks`]). Strided operands are
//! gathered into a block first ([`operands`]). Each operation therefore has one inner loop over slices, which the
//! compiler vectorises. `rayon` distributes blocks over the cores ([`chunks`]), and they are written into memory that
//! was not zeroed ([`output`]). The loops are compiled for several instruction sets ([`vector`]). The 16-bit and 8-bit
//! types are converted to `f32` block by block ([`number`]). The formulas of operations are tables ([`functions`]).

mod arith;
mod blocks;
mod chunks;
pub(crate) mod dispatch;
mod exp;
mod fold;
mod formulas;
mod functions;
mod gather;
mod lanes;
mod number;
mod operands;
pub(crate) mod ops;
mod output;
pub(crate) mod philox;
mod real;
mod vector;

use half::{bf16, f16};

use crate::dtype::DType;
use crate::element::{Element, sealed::Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::float8::F8E4M3;
use crate::memory::out_of_memory;

use dispatch::{dispatch, dispatch_dtype};

/// Elements in host memory: one vector of the dtype's type.
#[derive(Debug, Clone)]
pub enum CpuStorage {
    /// `u8` elements.
    U8(Vec<u8>),
    /// `u32` elements.
    U32(Vec<u32>),
    /// `i16` elements.
    I16(Vec<i16>),
    /// `i32` elements.
    I32(Vec<i32>),
    /// `i64` elements.
    I64(Vec<i64>),
    /// `f8e4m3` elements.
    F8E4M3(Vec<F8E4M3>),
    /// `bf16` elements.
    BF16(Vec<bf16>),
    /// `f16` elements.
    F16(Vec<f16>),
    /// `f32` elements.
    F32(Vec<f32>),
    /// `f64` elements.
    F64(Vec<f64>),
}

impl CpuStorage {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        dispatch!(self, elements: T => of::<T>(elements))
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        dispatch!(self, elements: T => elements.len())
    }

    /// Whether the storage is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as little-endian bytes.
    pub fn as_bytes(&self) -> &[u8] {
        dispatch!(self, elements: T => bytemuck::cast_slice(elements))
    }

    /// The elements as little-endian bytes, to write.
    pub(crate) fn as_bytes_mut(&mut self) -> &mut [u8] {
        dispatch!(self, elements: T => bytemuck::cast_slice_mut(elements))
    }

    /// The elements, if they are of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        T::stored(self)
    }
}

/// `count` zeros.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`] of `operation` if the allocation fails.
pub(crate) fn zeros<T: Element>(count: usize, operation: &'static str) -> Result<Vec<T>> {
    if count.saturating_mul(size_of::<T>()) > isize::MAX as usize {
        return Err(out_of_memory::<T>(count, operation));
    }
    bytemuck::allocation::try_zeroed_vec(count).map_err(|()| out_of_memory::<T>(count, operation))
}

/// As [`zeros`], for a dtype chosen at run time.
pub(crate) fn zeroed(dtype: DType, count: usize, operation: &'static str) -> Result<CpuStorage> {
    dispatch_dtype!(dtype, T => zeros::<T>(count, operation).map(T::store))
}

/// The elements with these little-endian bytes. An incomplete last element is dropped.
pub(crate) fn from_bytes(dtype: DType, bytes: &[u8]) -> Result<CpuStorage> {
    let mut elements = zeroed(dtype, bytes.len() / dtype.size_in_bytes(), "from_bytes")?;
    let out = elements.as_bytes_mut();
    out.copy_from_slice(&bytes[..out.len()]);
    Ok(elements)
}

/// The error for a dtype that an operation does not support. Callers check this before.
pub(crate) fn unsupported(operation: &'static str, storage: &CpuStorage) -> Error {
    let kind = ErrorKind::UnsupportedDType {
        dtype: storage.dtype(),
        shape: storage.len().into(),
        remedy: "cast it to a dtype that the operation takes",
    };
    Error::new(operation, kind)
}
