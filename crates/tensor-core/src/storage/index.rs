//! Storage operations by ids: gather and scatter, and what they say of an id that is out of range.

use super::{Storage, apart};
use crate::cpu;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip;
use crate::layout::Layout;

/// The operations that take ids, by the numbers under which devices report a wrong one.
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

/// An axis that ids count along, and the operation that does it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed {
    /// One of [`OPERATIONS`].
    pub operation: &'static str,
    /// The axis of the tensor that ids count along.
    pub axis: usize,
    /// Its length.
    pub length: usize,
    /// Its stride.
    pub stride: usize,
}

impl Indexed {
    /// Axis `axis` of `layout`.
    pub(crate) fn new(operation: &'static str, layout: &Layout, axis: usize) -> Indexed {
        Indexed { operation, axis, length: layout.dims()[axis], stride: layout.strides()[axis] }
    }

    /// The error for an id that is no index of the axis.
    pub(crate) fn wrong(&self, index: i64) -> Error {
        wrong(self.operation, index, self.axis, self.length)
    }

    /// The number of the operation.
    pub(crate) fn number(&self) -> u32 {
        OPERATIONS.iter().position(|name| *name == self.operation).map_or(u32::MAX, |number| number as u32)
    }
}

/// The error for an id that is no index of the axis.
pub(crate) fn wrong(operation: &'static str, index: i64, axis: usize, length: usize) -> Error {
    Error::new(operation, ErrorKind::IdOutOfRange { index, axis, length })
}

/// Whether ids may have this dtype.
pub(crate) const fn is_id(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::U32 | DType::I32 | DType::I64)
}

impl Storage {
    /// New, tight storage: for each element of `at`, which are the ids, the element of `base`, moved by as many strides of `axis` as
    /// the id says. `base` and `at` have the result's shape.
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

    /// New, tight storage of `layout`'s elements with each element of `from` added to the place along `axis` that its id names, as
    /// [`Storage::scatter`] does it, if there is a quicker way than to copy first.
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

    /// In place: writes each element of `from` to the place along `axis` of `layout` that its id names, or adds it there, in the
    /// order of the ids. `at`, the ids, and `from` have one shape, which is that of `layout` but for the axis.
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
