//! Storage operations by ids: gather and scatter, and the error for an id out of range.

use super::{Storage, apart};
use crate::cpu;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip;
use crate::layout::Layout;

/// The operations that take ids. Devices report a wrong id with the operation's index in this list.
pub(crate) const OPERATIONS: [&str; 9] = [
    "index_select",
    "gather",
    "embedding",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "index_add",
    "index_add_",
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

impl Storage {
    /// New, contiguous storage. For each id of `at` it has the element of `base`, advanced by that many strides of
    /// `axis`. `base` and `at` have the result's shape.
    pub(crate) fn gather(
        &self,
        base: &Layout,
        axis: &Indexed,
        ids: &Storage,
        at: &Layout,
    ) -> Result<Storage> {
        match (self, ids) {
            (Storage::Cpu(storage), Storage::Cpu(ids)) => {
                cpu::ops::index::gather(storage, base, axis, ids, at).map(Storage::Cpu)
            }
            (Storage::Hip(storage), Storage::Hip(ids)) => {
                hip::ops::index::gather(storage, base, axis, ids, at).map(Storage::Hip)
            }
            (lhs, rhs) => Err(apart(axis.operation, lhs, rhs)),
        }
    }

    /// New, contiguous storage of `layout`'s elements, with each element of `from` added at its id along `axis`, as
    /// [`Storage::scatter`] does. `None` if copying first is faster.
    pub(crate) fn scatter_added(
        &self,
        layout: &Layout,
        axis: &Indexed,
        (ids, at): (&Storage, &Layout),
        (source, from): (&Storage, &Layout),
    ) -> Result<Option<Storage>> {
        let (Storage::Hip(old), Storage::Hip(ids), Storage::Hip(source)) = (self, ids, source) else {
            return Ok(None);
        };
        let sums = hip::ops::index::scatter_added(old, layout, axis, (ids, at), (source, from))?;
        Ok(sums.map(Storage::Hip))
    }

    /// In place: writes each element of `from` at its id along `axis` of `layout`, or adds it there, in the order of
    /// the ids. `at`, the ids, and `from` have the same shape, which is `layout`'s except along the axis.
    pub(crate) fn scatter(
        &mut self,
        layout: &Layout,
        axis: &Indexed,
        (ids, at): (&Storage, &Layout),
        (source, from): (&Storage, &Layout),
        add: bool,
    ) -> Result<()> {
        match (self, ids, source) {
            (Storage::Cpu(to), Storage::Cpu(ids), Storage::Cpu(source)) => {
                cpu::ops::index::scatter(to, layout, axis, (ids, at), (source, from), add)
            }
            (Storage::Hip(to), Storage::Hip(ids), Storage::Hip(source)) => {
                hip::ops::index::scatter(to, layout, axis, (ids, at), (source, from), add)
            }
            (to, ids, source) => {
                let other = if to.device().same_device(&ids.device()) { source } else { ids };
                Err(apart(axis.operation, to, other))
            }
        }
    }
}
