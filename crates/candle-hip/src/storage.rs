//! Memory of a device, as candle's storage: a tensor of tensor-core, and the layouts that candle gives with each call.

use std::fmt;
use std::sync::OnceLock;

use candle_core::{CpuStorage, DType, Error, Layout, Result};
use tensor_core::Tensor;

use super::dtype::{candles, supported, unsupported};
use super::error::Candles;
use super::{host, layout, HipDevice};

/// Memory of a [`HipDevice`] with elements of one dtype.
///
/// It is a tensor of tensor-core, and these methods are the door to it. A custom operation takes its operand with
/// [`HipStorage::tensor`], calls what tensor-core has (also kernels of its own), and returns the result with
/// [`HipStorage::from_tensor`]. One that works in place calls [`HipStorage::in_place`].
///
/// Several storages may share memory: [`try_clone`](candle_core::backend::BackendStorage::try_clone) takes the same time
/// for any size, and the first write to either storage copies it.
///
/// ```
/// # #[cfg(feature = "host")] {
/// use candle_core::backend::BackendDevice;
/// use candle_core::{Layout, Result, Shape};
/// use candle_hip::{HipDevice, HipStorage, converted};
///
/// /// The forward function of a custom operation: the softplus of each element.
/// fn softplus(storage: &HipStorage, layout: &Layout) -> Result<(HipStorage, Shape)> {
///     let result = storage.tensor(layout)?.softplus().map_err(converted)?;
///     Ok((HipStorage::from_tensor(result, storage.hip_device())?, layout.shape().clone()))
/// }
///
/// let x = HipDevice::open("host:0")?.storage_from_slice(&[0f32; 4])?;
/// let (y, _) = softplus(&x, &Layout::contiguous((2, 2)))?;
/// assert_eq!(y.tensor(&Layout::contiguous(4))?.to_vec::<f32>().unwrap(), [2f32.ln(); 4]);
/// # }
/// # candle_core::Result::Ok(())
/// ```
pub struct HipStorage {
    device: HipDevice,
    dtype: DType,
    length: usize,
    /// All elements, contiguous. Nothing until the first write of storage that was allocated without contents.
    flat: OnceLock<Tensor>,
}

impl HipStorage {
    /// The elements of a tensor, in row-major order. A tensor that is contiguous and has all elements of its memory is not
    /// copied.
    ///
    /// # Errors
    /// If the tensor is on another device, or a copy fails.
    pub fn from_tensor(tensor: Tensor, device: &HipDevice) -> Result<HipStorage> {
        if !tensor.device().same_device(device.device()) {
            let message = format!("from_tensor: the tensor is on {}, not on {device:?}", tensor.device());
            return Err(Error::Msg(message).bt());
        }
        HipStorage::of(tensor, device)
    }

    /// The elements at `layout`, as a tensor that shares the memory. No element is moved.
    ///
    /// # Errors
    /// If the layout reaches past the end, or tensor-core does not have the dtype.
    #[inline]
    pub fn tensor(&self, layout: &Layout) -> Result<Tensor> {
        self.tensor_at(layout::ours(layout)?)
    }

    /// Changes the elements at `layout` in place. `change` gets a tensor that has its memory alone. What it writes with
    /// methods such as `affine_` or `inplace_op1` is written to the storage.
    ///
    /// # Errors
    /// Those of `change`; if the layout reaches past the end, or two of its elements may have the same offset. If `change`
    /// replaces the tensor that it got by another, all elements of the storage are lost: they are 0.
    pub fn in_place(
        &mut self,
        layout: &Layout,
        change: impl FnOnce(&mut Tensor) -> Result<()>,
    ) -> Result<()> {
        self.change(layout::ours(layout)?, change)
    }

    /// The storage's device.
    pub fn hip_device(&self) -> &HipDevice {
        &self.device
    }

    /// The elements' type.
    pub fn element_type(&self) -> DType {
        self.dtype
    }

    /// How many elements there are; for candle's formats of fewer than 8 bits, how many bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// What the operations use.
impl HipStorage {
    /// As [`HipStorage::from_tensor`], of a tensor that is known to be on the device.
    #[inline]
    pub(super) fn of(tensor: Tensor, device: &HipDevice) -> Result<HipStorage> {
        let dtype = candles(tensor.dtype());
        Ok(HipStorage::tagged(whole(tensor)?, dtype, device))
    }

    /// All elements of a tensor that has its memory whole; `dtype` tells bytes of formats that tensor-core does not have.
    #[inline]
    pub(super) fn tagged(flat: Tensor, dtype: DType, device: &HipDevice) -> HipStorage {
        let length = flat.elements();
        HipStorage { device: device.clone(), dtype, length, flat: OnceLock::from(flat) }
    }

    /// Storage without memory until it is written.
    pub(super) fn unwritten(length: usize, dtype: DType, device: &HipDevice) -> HipStorage {
        HipStorage { device: device.clone(), dtype, length, flat: OnceLock::new() }
    }

    /// As [`HipStorage::tensor`].
    #[inline]
    pub(super) fn tensor_at(&self, layout: tensor_core::Layout) -> Result<Tensor> {
        let flat = self.flat()?;
        if candles(flat.dtype()) != self.dtype {
            return Err(unsupported(self.dtype, "tensor"));
        }
        flat.as_strided(layout).candles()
    }

    /// As [`HipStorage::in_place`].
    pub(super) fn change(
        &mut self,
        layout: tensor_core::Layout,
        change: impl FnOnce(&mut Tensor) -> Result<()>,
    ) -> Result<()> {
        if layout.may_overlap() {
            return Err(Error::RequiresContiguous { op: "in_place" }.bt());
        }
        let dtype = supported(self.dtype, "in_place")?;
        let flat = self.exclusive()?;
        flat.as_strided_(layout).candles()?;
        let memory: *const tensor_core::Storage = flat.storage();
        let result = change(flat);
        if !std::ptr::eq(memory, flat.storage()) {
            self.flat = OnceLock::new();
            let what = format!("in_place: the operation replaced the tensor of {dtype} by another");
            return result.and(Err(Error::Msg(what).bt()));
        }
        let all = self.all()?;
        self.exclusive()?.as_strided_(all).candles()?;
        result
    }

    /// Whether nothing was written yet, and so many elements from `offset` on are all.
    pub(super) fn is_first_filled_by(&self, offset: usize, elements: usize) -> bool {
        self.flat.get().is_none() && offset == 0 && elements == self.length
    }

    /// Makes a tensor's elements all elements.
    pub(super) fn replace(&mut self, tensor: Tensor) -> Result<()> {
        self.flat = OnceLock::from(whole(tensor)?);
        Ok(())
    }

    /// A copy that shares the memory until either is written.
    pub(super) fn shared(&self) -> Result<HipStorage> {
        let flat = self.flat.get().cloned().map_or_else(OnceLock::new, OnceLock::from);
        Ok(HipStorage { device: self.device.clone(), dtype: self.dtype, length: self.length, flat })
    }

    /// All elements in host memory. Waits for the device.
    pub(super) fn download(&self) -> Result<CpuStorage> {
        host::download(&self.flat()?.as_strided(self.all()?).candles()?, self.dtype)
    }

    /// All elements; zeros if nothing was written.
    #[inline]
    fn flat(&self) -> Result<&Tensor> {
        match self.flat.get() {
            Some(flat) => Ok(flat),
            None => self.zeros(),
        }
    }

    #[cold]
    fn zeros(&self) -> Result<&Tensor> {
        let dtype = supported(self.dtype, "zeros")?;
        let zeros = Tensor::zeros(self.length, dtype, self.device.device()).candles()?;
        Ok(self.flat.get_or_init(|| zeros))
    }

    /// All elements, in memory that nothing else shares.
    fn exclusive(&mut self) -> Result<&mut Tensor> {
        let all = self.all()?;
        self.flat()?;
        let Some(flat) = self.flat.get_mut() else { unreachable!("flat() fills it") };
        // It has another layout here if a closure panicked.
        flat.as_strided_(all).candles()?;
        if flat.storage_references() > 1 {
            *flat = flat.copy().candles()?;
        }
        Ok(flat)
    }

    /// The layout of all elements.
    fn all(&self) -> Result<tensor_core::Layout> {
        layout::at(&[self.length], &[1], 0)
    }
}

/// The tensor with memory that has its elements and no others.
#[inline]
fn whole(tensor: Tensor) -> Result<Tensor> {
    let all = tensor.is_contiguous()
        && tensor.layout().offset() == 0
        && tensor.storage().len() == tensor.elements();
    if all {
        Ok(tensor)
    } else {
        tensor.copy().candles()
    }
}

impl fmt::Debug for HipStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipStorage({} elements of {:?} on {:?})", self.length, self.dtype, self.device)
    }
}
