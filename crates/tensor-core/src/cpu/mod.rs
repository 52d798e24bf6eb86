//! The CPU device: memory of this machine, and the operations on it.
//!
//! Every operation is a loop over tight blocks of a few thousand elements ([`blocks`]); what is strided is gathered into a
//! block first ([`operands`]). So each operation has one inner loop, on slices, which the compiler turns into vector instructions.
//! Blocks go to the cores by `rayon` ([`chunks`]) and are written into memory that was not zeroed ([`room`]); the loops are compiled for several
//! sets of instructions ([`vector`]). The 16-bit and 8-bit types become `f32` by the block ([`number`]).

mod arith;
mod blocks;
mod chunks;
pub(crate) mod dispatch;
mod exp;
mod fold;
mod gather;
mod lanes;
mod number;
mod operands;
pub(crate) mod ops;
pub(crate) mod philox;
mod real;
mod room;
mod vector;

use half::{bf16, f16};

use crate::dtype::DType;
use crate::element::{Element, sealed::Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::float8::F8E4M3;
use crate::memory::out_of_memory;

use dispatch::{dispatch, dispatch_dtype};

/// Elements in this machine's memory: one vector of the type that the dtype names.
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

    /// How many elements there are.
    pub fn len(&self) -> usize {
        dispatch!(self, elements: T => elements.len())
    }

    /// Whether there are none.
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
/// [`ErrorKind::OutOfMemory`], in the name of `operation`, if the system does not give the memory.
pub(crate) fn zeros<T: Element>(count: usize, operation: &'static str) -> Result<Vec<T>> {
    if count.saturating_mul(size_of::<T>()) > isize::MAX as usize {
        return Err(out_of_memory::<T>(count, operation));
    }
    bytemuck::allocation::try_zeroed_vec(count).map_err(|()| out_of_memory::<T>(count, operation))
}

/// As [`zeros`], of a dtype known at run time.
pub(crate) fn zeroed(dtype: DType, count: usize, operation: &'static str) -> Result<CpuStorage> {
    dispatch_dtype!(dtype, T => zeros::<T>(count, operation).map(T::store))
}

/// The elements whose little-endian bytes these are; an incomplete one at the end is left out.
pub(crate) fn from_bytes(dtype: DType, bytes: &[u8]) -> Result<CpuStorage> {
    let mut elements = zeroed(dtype, bytes.len() / dtype.size_in_bytes(), "from_bytes")?;
    let out = elements.as_bytes_mut();
    out.copy_from_slice(&bytes[..out.len()]);
    Ok(elements)
}

/// An error for elements of a type that an operation was not written for; callers rule it out.
pub(crate) fn unsupported(operation: &'static str, storage: &CpuStorage) -> Error {
    let kind = ErrorKind::UnsupportedDType {
        dtype: storage.dtype(),
        shape: storage.len().into(),
        remedy: "cast it to a dtype that the operation takes",
    };
    Error::new(operation, kind)
}
