//! Descriptors of tensors, and tensors: a descriptor with memory.

use crate::convert::{self, MOST};
use crate::layout::{Layout, Objects};
use crate::owner::{Owner, TensorObject};
use crate::raw::{self, Failure};
use crate::{DataType, Element, Error, Handle, Result};
use hip_safe::{DeviceSlice, DeviceSliceMut, DeviceView, DeviceViewMut};
use hip_sys::Miopen;
use hip_sys::miopen::{miopenDataType_t, miopenHandle_t, miopenTensorDescriptor_t};
use std::ffi::c_int;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The maximum number of dimensions of a tensor.
pub const MAX_DIMS: usize = 5;

/// The layout of a tensor: element type, lengths, strides in elements. Cloning it copies a reference.
///
/// Two descriptors are equal if their settings are.
#[derive(Clone)]
#[doc(alias = "miopenTensorDescriptor_t")]
pub struct TensorDesc {
    objects: Arc<Objects>,
    layout: Arc<Layout>,
}

impl TensorDesc {
    /// A contiguous tensor, the last dimension innermost: `[n, c, h, w]` is NCHW.
    ///
    /// # Errors
    /// [`Error::Invalid`] for no dimension, more than [`MAX_DIMS`], or one of length 0; [`Error::TooLarge`] if a length or the number of
    /// elements exceeds MIOpen's 32 bits.
    #[doc(alias = "miopenCreateTensorDescriptor")]
    pub fn packed<T: Element>(handle: &Handle, dims: &[usize]) -> Result<Self> {
        Self::packed_of(handle, T::DATA_TYPE, dims)
    }

    /// As [`TensorDesc::packed`], for a type that is known when the program runs.
    ///
    /// # Errors
    /// As [`TensorDesc::packed`].
    pub fn packed_of(handle: &Handle, data_type: DataType, dims: &[usize]) -> Result<Self> {
        convert::product("the number of elements", dims)?;
        Self::strided_of(handle, data_type, dims, &packed_strides(dims))
    }

    /// Elements with the given strides.
    ///
    /// # Errors
    /// As [`TensorDesc::packed`], also for a stride of 0, and [`Error::Mismatch`] if there are not as many strides as dimensions.
    #[doc(alias = "miopenSetTensorDescriptor")]
    pub fn strided<T: Element>(handle: &Handle, dims: &[usize], strides: &[usize]) -> Result<Self> {
        Self::strided_of(handle, T::DATA_TYPE, dims, strides)
    }

    /// As [`TensorDesc::strided`], for a type that is known when the program runs.
    ///
    /// # Errors
    /// As [`TensorDesc::strided`].
    pub fn strided_of(
        handle: &Handle,
        data_type: DataType,
        dims: &[usize],
        strides: &[usize],
    ) -> Result<Self> {
        if dims.is_empty() || dims.len() > MAX_DIMS {
            return Err(Error::invalid("the number of dimensions", dims.len(), "it has to be from 1 to 5"));
        }
        if dims.len() != strides.len() {
            return Err(Error::mismatch("the number of strides", dims.len(), strides.len()));
        }
        if dims.contains(&0) {
            return Err(Error::invalid("a tensor's shape", dims, "each length has to be at least 1"));
        }
        if strides.contains(&0) {
            return Err(Error::invalid("a tensor's strides", strides, "each has to be at least 1"));
        }
        let span = span(dims, strides)?;
        convert::ints("a tensor's stride", strides)?;
        let layout = Layout { data_type, dims: dims.to_vec(), strides: strides.to_vec(), span };
        let object = layout.object(handle.platform())?;
        Ok(Self { objects: Arc::new(Objects::new(handle, object)), layout: Arc::new(layout) })
    }

    /// A descriptor that the library sets.
    pub(crate) fn filled_by(
        handle: &Handle,
        fill: impl FnOnce(&Miopen, miopenHandle_t, miopenTensorDescriptor_t) -> Result<(), Failure>,
    ) -> Result<Self> {
        let object = Owner::<TensorObject>::new(handle.platform(), |_, _| Ok(()))?;
        let empty = object.raw();
        handle.call("a tensor descriptor", |m, h| fill(m, h, empty))?;
        let mut data_type = miopenDataType_t::miopenFloat;
        let (mut dims, mut strides) = ([0; MAX_DIMS], [0; MAX_DIMS]);
        let rank = object.ask(|m, desc| {
            // SAFETY: S1: the descriptor is live, and the out-pointer too.
            let rank =
                convert::out(|rank| unsafe { raw::tensor::get_tensor_descriptor_size(m, desc, rank) })?;
            if usize::try_from(rank).is_ok_and(|rank| rank <= MAX_DIMS) {
                let (dims, strides) = (dims.as_mut_ptr(), strides.as_mut_ptr());
                // SAFETY: S1: both arrays have room for as many values as it has dimensions.
                unsafe { raw::tensor::get_tensor_descriptor(m, desc, &mut data_type, dims, strides) }?;
            }
            Ok(rank)
        })?;
        let known = DataType::from_raw(data_type);
        let rank = usize::try_from(rank).ok().filter(|rank| (1..=MAX_DIMS).contains(rank));
        let sizes = |values: &[c_int]| -> Option<Vec<usize>> {
            values.iter().map(|value| usize::try_from(*value).ok()).collect()
        };
        let found = rank.and_then(|rank| {
            let (dims, strides) = (sizes(&dims[..rank])?, sizes(&strides[..rank])?);
            Some((known?, dims, strides))
        });
        let (data_type, dims, strides) = found.ok_or_else(|| {
            Error::mismatch(
                "the library's descriptor",
                "a type and lengths that are known",
                (data_type, rank, dims),
            )
        })?;
        let span = span(&dims, &strides)?;
        let layout = Arc::new(Layout { data_type, dims, strides, span });
        Ok(Self { objects: Arc::new(Objects::new(handle, object)), layout })
    }

    /// The type of its elements.
    pub fn data_type(&self) -> DataType {
        self.layout.data_type
    }

    /// Its lengths.
    pub fn dims(&self) -> &[usize] {
        &self.layout.dims
    }

    /// Its strides, in elements.
    pub fn strides(&self) -> &[usize] {
        &self.layout.strides
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.dims().iter().product()
    }

    /// The number of elements of memory from its first to its last.
    pub fn span(&self) -> usize {
        self.layout.span
    }

    /// Whether it is contiguous, with the last dimension innermost.
    pub fn is_packed(&self) -> bool {
        let axes = self.dims().iter().zip(self.strides().iter().zip(packed_strides(self.dims())));
        // The stride of a dimension of length 1 is ignored.
        axes.into_iter().all(|(dim, (stride, packed))| *dim == 1 || *stride == packed)
    }

    /// The size in bytes that the library reports.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenGetTensorNumBytes")]
    pub fn byte_len(&self) -> Result<usize> {
        let object = self.layout.object(self.objects.platform())?;
        // SAFETY: S1: the descriptor is live, and the out-pointer too.
        object
            .ask(|m, desc| convert::out(|bytes| unsafe { raw::tensor::get_tensor_num_bytes(m, desc, bytes) }))
    }

    /// Lengths and strides, as the library reports them.
    ///
    /// # Errors
    /// The library's error; [`Error::Mismatch`] if it has another number of dimensions.
    #[doc(alias = "miopenGetTensorDescriptor")]
    #[doc(alias = "miopenGetTensorDescriptorSize")]
    pub fn read_back(&self) -> Result<(Vec<i32>, Vec<i32>)> {
        let rank = self.dims().len();
        let object = self.layout.object(self.objects.platform())?;
        let found = object.ask(|m, desc| {
            // SAFETY: S1: the descriptor is live, and the out-pointer too.
            convert::out(|size| unsafe { raw::tensor::get_tensor_descriptor_size(m, desc, size) })
        })?;
        if usize::try_from(found) != Ok(rank) {
            return Err(Error::mismatch("the number of dimensions in the library", rank, found));
        }
        let (mut dims, mut strides) = (vec![0; rank], vec![0; rank]);
        object.ask(|m, desc| {
            let mut data_type = miopenDataType_t::miopenFloat;
            // SAFETY: S1: both arrays have room for as many values as it has dimensions.
            unsafe {
                raw::tensor::get_tensor_descriptor(
                    m,
                    desc,
                    &mut data_type,
                    dims.as_mut_ptr(),
                    strides.as_mut_ptr(),
                )
            }
        })?;
        Ok((dims, strides))
    }

    /// The tensor in this memory, for reading.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for elements of another type, [`Error::OutOfView`] for too few, [`Error::SelfOverlap`] if two of its elements
    /// may have the same address: some of MIOpen's functions ignore strides, so a tensor needs memory for each element.
    pub fn view<'a, T: Element, S>(&'a self, memory: &'a S) -> Result<Tensor<'a, T>>
    where
        S: DeviceSlice<Item = T> + ?Sized,
    {
        let memory = memory.as_view();
        self.check_memory::<T>(memory.len())?;
        Ok(Tensor { desc: self, elements: memory.slice(..self.span())? })
    }

    /// The tensor in this memory, for writing.
    ///
    /// # Errors
    /// As [`TensorDesc::view`].
    pub fn view_mut<'a, T: Element, S>(&'a self, memory: &'a mut S) -> Result<TensorMut<'a, T>>
    where
        S: DeviceSliceMut<Item = T> + ?Sized,
    {
        let memory = memory.as_view_mut();
        self.check_memory::<T>(memory.len())?;
        Ok(TensorMut { desc: self, elements: memory.into_slice(..self.span())? })
    }

    /// If this is the last reference, destroys it and returns any error.
    ///
    /// # Errors
    /// The library's error.
    #[doc(alias = "miopenDestroyTensorDescriptor")]
    pub fn close(self) -> Result<()> {
        Arc::into_inner(self.objects).map_or(Ok(()), Objects::close)
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    #[cfg(test)]
    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The descriptor's object for calls with this handle.
    pub(crate) fn on(&self, handle: &Handle) -> Result<miopenTensorDescriptor_t> {
        self.objects.on(handle, &self.layout)
    }

    fn check_memory<T: Element>(&self, len: usize) -> Result<()> {
        if self.data_type() != T::DATA_TYPE {
            return Err(Error::mismatch("the type of a tensor's elements", self.data_type(), T::DATA_TYPE));
        }
        if self.span() > len {
            let (dims, strides) = (self.dims().to_vec(), self.strides().to_vec());
            return Err(Error::OutOfView { dims, strides, needed: self.span(), len });
        }
        if self.may_overlap_itself() {
            let (dims, strides) = (self.dims().to_vec(), self.strides().to_vec());
            return Err(Error::SelfOverlap { dims, strides });
        }
        Ok(())
    }

    /// Each stride must exceed the extent of all dimensions with smaller strides.
    fn may_overlap_itself(&self) -> bool {
        let axes = self.dims().iter().zip(self.strides()).filter(|(dim, _)| **dim > 1);
        let mut axes: Vec<_> = axes.map(|(dim, stride)| (*stride, *dim)).collect();
        axes.sort_unstable();
        let mut reach = 0;
        axes.into_iter().any(|(stride, dim)| {
            let overlaps = stride <= reach;
            reach += (dim - 1) * stride;
            overlaps
        })
    }
}

impl PartialEq for TensorDesc {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.layout, &other.layout) || self.layout == other.layout
    }
}

impl Eq for TensorDesc {}

impl Hash for TensorDesc {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.layout.hash(state);
    }
}

impl fmt::Debug for TensorDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:?} strides {:?}", self.data_type(), self.dims(), self.strides())
    }
}

/// A tensor for reading: memory with a layout. See [`TensorDesc::view`].
#[derive(Debug, Clone, Copy)]
pub struct Tensor<'a, T: Element> {
    desc: &'a TensorDesc,
    elements: DeviceView<'a, T>,
}

/// A tensor for writing, and for reading if an operation needs that. See [`TensorDesc::view_mut`].
#[derive(Debug)]
pub struct TensorMut<'a, T: Element> {
    desc: &'a TensorDesc,
    elements: DeviceViewMut<'a, T>,
}

impl<'a, T: Element> Tensor<'a, T> {
    /// Its layout.
    pub fn desc(&self) -> &'a TensorDesc {
        self.desc
    }

    /// Its memory.
    pub fn elements(&self) -> &DeviceView<'a, T> {
        &self.elements
    }
}

impl<'a, T: Element> TensorMut<'a, T> {
    /// Its layout.
    pub fn desc(&self) -> &'a TensorDesc {
        self.desc
    }

    /// Its memory.
    pub fn elements_mut(&mut self) -> DeviceViewMut<'_, T> {
        self.elements.reborrow()
    }

    /// The memory itself. It is private, because memory of another length would not fit the descriptor.
    pub(crate) fn memory(&mut self) -> &mut DeviceViewMut<'a, T> {
        &mut self.elements
    }

    /// The same tensor for reading, while this borrow lasts.
    pub fn as_tensor(&self) -> Tensor<'_, T> {
        Tensor { desc: self.desc, elements: self.elements.view() }
    }
}

/// The strides of a contiguous tensor.
fn packed_strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
    }
    strides
}

/// The number of elements of memory from the first to the last. The library counts this and the number of elements.
fn span(dims: &[usize], strides: &[usize]) -> Result<usize> {
    convert::product("the number of elements", dims)?;
    let reach = |(dim, stride): (&usize, &usize)| dim.saturating_sub(1).checked_mul(*stride);
    let span = dims.iter().zip(strides).try_fold(1_usize, |span, axis| span.checked_add(reach(axis)?));
    match span {
        Some(span) if span <= MOST => Ok(span),
        value => {
            let value = value.unwrap_or(usize::MAX);
            Err(Error::TooLarge { what: "the reach of a tensor in elements", value, limit: MOST })
        }
    }
}

/// Refuses tensors whose shapes differ.
pub(crate) fn same_dims(what: &'static str, wanted: &TensorDesc, found: &TensorDesc) -> Result<()> {
    if wanted.dims() == found.dims() {
        return Ok(());
    }
    Err(Error::mismatch(what, wanted.dims(), found.dims()))
}

/// Refuses a tensor of another shape.
pub(crate) fn has_dims(what: &'static str, wanted: &[usize], found: &TensorDesc) -> Result<()> {
    if wanted == found.dims() { Ok(()) } else { Err(Error::mismatch(what, wanted, found.dims())) }
}

/// Refuses a tensor with gaps. Dimensions of length 1 need contiguous strides too: MIOpen
/// takes the first stride as the length of a row or for the size of memory, and merges no dimensions across another stride.
pub(crate) fn is_packed(what: &'static str, desc: &TensorDesc) -> Result<()> {
    let packed = packed_strides(desc.dims());
    if desc.strides() == packed {
        return Ok(());
    }
    Err(Error::mismatch(
        what,
        format_args!("elements one behind the other, with the strides {packed:?}"),
        desc.strides(),
    ))
}
