//! The tensor: shared storage and a layout.

mod activations;
mod attention;
mod broadcast;
mod capped;
mod conv;
mod convert;
mod create;
mod custom;
mod elementwise;
mod index;
mod indexer;
mod inplace;
mod join;
mod layer;
mod lengths;
mod matmul;
mod nested;
mod nn;
mod one_hot;
mod operators;
mod order;
mod pixels;
mod pool;
mod random;
mod ranges;
mod read;
mod reduce;
mod rope;
mod scan;
mod select;
mod split;
mod stat;
mod views;

use triomphe::Arc;

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{At, Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::storage::Storage;

pub use conv::{Conv1dConfig, Conv2dConfig};
pub use indexer::{IndexOp, TensorIndexer};
pub use inplace::copies_on_write;
pub use nested::Nested;
pub use operators::Operand;
pub use pool::{Pool2dConfig, ToUsize2};

/// An array of any rank on one device, with value semantics.
///
/// A tensor is a reference to storage and a [`Layout`]. Cloning it or taking a view is one atomic increment, whatever
/// its size. Changes to one tensor are never visible through another: operations whose name ends in `_` write in place
/// if the storage is not shared, and copy it first if it is (copy on write).
///
/// Launching a graph writes the tensors that its capture made or wrote in place, and no others. While the graph lives,
/// a clone or a view of such a tensor is a copy on the device. If that copy fails, operations on the clone return
/// [`ErrorKind::CloneFailed`].
///
/// Operations on two tensors broadcast as in PyTorch. They need equal dtypes and devices; otherwise the error names
/// both.
pub struct Tensor {
    storage: Arc<Storage>,
    layout: Layout,
}

impl Tensor {
    /// The lengths of the dimensions, outermost first.
    pub fn shape(&self) -> &Shape {
        self.layout.shape()
    }

    /// The lengths of the dimensions, outermost first, as a slice.
    pub fn dims(&self) -> &[usize] {
        self.layout.dims()
    }

    /// How many dimensions there are; 0 for a scalar.
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// How many elements there are.
    #[doc(alias = "numel")]
    pub fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.storage.dtype()
    }

    /// The tensor's device.
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// The positions of the elements in the storage.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The strides in elements, one per dimension.
    pub fn strides(&self) -> &[usize] {
        self.layout.strides()
    }

    /// Whether the elements are dense and in row-major order.
    pub fn is_contiguous(&self) -> bool {
        self.layout.is_contiguous()
    }

    /// The memory behind the tensor.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// Names its device memory in lists of live buffers: see [`hip_safe::MemoryCheck`]. While that is off, and on the
    /// CPU, nothing is done.
    pub fn set_name(&self, name: impl std::fmt::Display) {
        if let Storage::Hip(storage) = &*self.storage {
            storage.set_name(&name);
        }
    }

    /// The number of tensors that share the storage, this one included. Graphs are not counted.
    pub fn storage_references(&self) -> usize {
        Arc::strong_count(&self.storage)
    }

    /// Whether both tensors refer to the same storage, so that an in-place operation on either copies first.
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// A tensor on new, contiguous storage.
    #[inline]
    pub(crate) fn tight(
        storage: Storage,
        shape: impl Into<Shape>,
        operation: &'static str,
    ) -> Result<Tensor> {
        let (shape, length) = (shape.into(), storage.len());
        if shape.elements(operation)? > length {
            return Err(
                Error::new(operation, ErrorKind::OutOfStorage { shape, length }).on(&storage.device())
            );
        }
        Ok(Tensor { storage: Arc::new(storage), layout: Layout::tight(shape) })
    }

    /// As [`Tensor::tight`], with this tensor's shape.
    #[inline]
    fn tight_alike(&self, storage: Storage, operation: &'static str) -> Result<Tensor> {
        if self.elements() > storage.len() {
            return Tensor::tight(storage, self.shape().clone(), operation);
        }
        Ok(Tensor { storage: Arc::new(storage), layout: self.layout.tightened() })
    }

    /// The same storage with another layout, which must lie within the storage. Storage that graphs write is copied
    /// instead.
    fn with_layout(&self, layout: Layout) -> Result<Tensor> {
        assert!(layout.end() <= self.storage.len(), "a view reaches past its storage");
        self.view_at(layout)
    }

    /// As [`Tensor::with_layout`], of a layout that was checked.
    #[inline]
    fn view_at(&self, layout: Layout) -> Result<Tensor> {
        if let Some(written) = self.storage.written_by_graphs() {
            return copied(written, layout).map_err(|(error, _)| self.error("copy", ErrorKind::Hip(error)));
        }
        Ok(Tensor { storage: Arc::clone(&self.storage), layout })
    }

    /// As [`Clone::clone`], but returns the error if a copy fails.
    fn share(&self) -> Result<Tensor> {
        self.with_layout(self.layout.clone())
    }

    /// An error of `operation` on this tensor's device.
    fn error(&self, operation: &'static str, kind: ErrorKind) -> Error {
        Error::new(operation, kind).on(&self.device())
    }

    /// An error unless `supported`.
    #[inline]
    pub(crate) fn require(
        &self,
        operation: &'static str,
        supported: bool,
        remedy: &'static str,
    ) -> Result<()> {
        if supported { Ok(()) } else { Err(self.unsupported(operation, remedy)) }
    }

    #[cold]
    fn unsupported(&self, operation: &'static str, remedy: &'static str) -> Error {
        let kind = ErrorKind::UnsupportedDType { dtype: self.dtype(), shape: self.shape().clone(), remedy };
        self.error(operation, kind)
    }

    /// An error unless both tensors are on the same device.
    #[inline]
    pub(crate) fn require_same_device(&self, other: &Tensor, operation: &'static str) -> Result<()> {
        if self.storage.is_on_device_of(&other.storage) {
            Ok(())
        } else {
            self.devices_differ(other, operation)
        }
    }

    #[cold]
    fn devices_differ(&self, other: &Tensor, operation: &'static str) -> Result<()> {
        require_same(&self.device(), &other.device(), operation)
    }

    /// An error unless both tensors have the same device and dtype.
    #[inline]
    pub(crate) fn require_alike(&self, other: &Tensor, operation: &'static str) -> Result<()> {
        self.require_same_device(other, operation)?;
        if self.dtype() == other.dtype() { Ok(()) } else { Err(self.dtypes_differ(other, operation)) }
    }

    #[cold]
    fn dtypes_differ(&self, other: &Tensor, operation: &'static str) -> Error {
        self.error(operation, ErrorKind::DTypeMismatch { lhs: self.dtype(), rhs: other.dtype() })
    }
}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Tensor {
        if let Some(written) = self.storage.written_by_graphs() {
            // The error, if any, is kept in the clone and returned by the next operation on it.
            return copied(written, self.layout.clone()).unwrap_or_else(|(_, lost)| lost);
        }
        Tensor { storage: Arc::clone(&self.storage), layout: self.layout.clone() }
    }
}

/// Copies the part of graph-written memory that a layout reaches, with the same strides. On failure returns the error
/// and a tensor whose operations return it.
#[cold]
#[inline(never)]
#[expect(clippy::result_large_err, reason = "it is made once, where there is one")]
fn copied(written: &HipStorage, layout: Layout) -> Result<Tensor, (hip_safe::Error, Tensor)> {
    let storage = written.part(layout.offset()..layout.end());
    let error = storage.lost().cloned();
    let tensor = Tensor { storage: Arc::new(Storage::Hip(storage)), layout: layout.at_the_start() };
    match error {
        None => Ok(tensor),
        Some(error) => Err((error, tensor)),
    }
}

impl At for Tensor {
    fn at(&self) -> Device {
        self.device()
    }
}

/// An error unless both are the same device.
fn require_same(lhs: &Device, rhs: &Device, operation: &'static str) -> Result<()> {
    if lhs.same_device(rhs) {
        return Ok(());
    }
    Err(Error::new(operation, ErrorKind::two_devices(lhs, rhs)))
}

/// What to do about an operation that takes floats only.
const CAST_TO_FLOAT: &str = "cast it to a float first: to_dtype(DType::F32)";
