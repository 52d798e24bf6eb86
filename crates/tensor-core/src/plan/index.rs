//! Gathering and scattering by ids, and the error for an id out of range.

use crate::dtype::DType;
use crate::error::{Error, ErrorKind};
use crate::layout::Layout;

/// The operations that take ids. Devices report a wrong id with the operation's index in this list.
pub(crate) const OPERATIONS: [&str; 11] = [
    "index_select",
    "gather",
    "embedding",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "index_add",
    "index_add_",
    "indexed_moe_forward",
    "paged_attention",
];

/// The axis that ids index, for one operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed {
    /// One of [`OPERATIONS`].
    pub operation: &'static str,
    /// The axis of the tensor.
    pub axis: usize,
    /// The axis's length.
    pub length: usize,
    /// The axis's stride.
    pub stride: usize,
}

impl Indexed {
    /// Axis `axis` of `layout`.
    pub(crate) fn new(operation: &'static str, layout: &Layout, axis: usize) -> Indexed {
        Indexed { operation, axis, length: layout.dims()[axis], stride: layout.strides()[axis] }
    }

    /// The error for an id out of range.
    pub(crate) fn wrong(&self, index: i64) -> Error {
        wrong(self.operation, index, self.axis, self.length)
    }

    /// The index of the operation in [`OPERATIONS`].
    pub(crate) fn number(&self) -> u32 {
        OPERATIONS.iter().position(|name| *name == self.operation).map_or(u32::MAX, |number| number as u32)
    }
}

/// The error for an id out of range.
pub(crate) fn wrong(operation: &'static str, index: i64, axis: usize, length: usize) -> Error {
    Error::new(operation, ErrorKind::IdOutOfRange { index, axis, length })
}

/// Whether ids can have this dtype.
pub(crate) const fn is_id(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::U32 | DType::I32 | DType::I64)
}
