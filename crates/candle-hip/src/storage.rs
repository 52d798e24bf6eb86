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
    flat: Flat,
}

/// All elements, contiguous and of rank 1.
enum Flat {
    Written(Tensor),
    /// Allocated without contents: nothing until the first use. (A filled `OnceLock` takes longer to make than a tensor.)
    Unwritten(OnceLock<Tensor>),
}

impl Flat {
    fn unwritten() -> Flat {
        Flat::Unwritten(OnceLock::new())
    }

    #[inline]
    fn get(&self) -> Option<&Tensor> {
        match self {
            Flat::Written(tensor) => Some(tensor),
            Flat::Unwritten(tensor) => tensor.get(),
        }
    }

    fn get_mut(&mut self) -> Option<&mut Tensor> {
        match self {
            Flat::Written(tensor) => Some(tensor),
            Flat::Unwritten(tensor) => tensor.get_mut(),
        }
    }
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
        Ok(HipStorage::tagged(flattened(tensor)?, dtype, device))
    }

    /// All elements of a tensor of rank 1 that has its memory whole; `dtype` tells bytes of formats that tensor-core does not have.
    #[inline]
    pub(super) fn tagged(flat: Tensor, dtype: DType, device: &HipDevice) -> HipStorage {
        let length = flat.elements();
        HipStorage { device: device.clone(), dtype, length, flat: Flat::Written(flat) }
    }

    /// Storage without memory until it is written.
    pub(super) fn unwritten(length: usize, dtype: DType, device: &HipDevice) -> HipStorage {
        HipStorage { device: device.clone(), dtype, length, flat: Flat::unwritten() }
    }

    /// As [`HipStorage::tensor`].
    #[inline]
    pub(super) fn tensor_at(&self, layout: tensor_core::Layout) -> Result<Tensor> {
        self.typed()?.as_strided(layout).candles()
    }

    /// All elements, if `layout` is all of them in their order. A tensor of another layout has to be made first.
    #[inline]
    pub(super) fn whole(&self, layout: &Layout) -> Result<Option<&Tensor>> {
        let flat = self.typed()?;
        let of_layout = layout.start_offset() == 0
            && layout.shape().elem_count() == self.length
            && layout.is_contiguous();
        // It has another layout here if a closure panicked.
        let is_flat = flat.rank() == 1 && flat.elements() == self.length && flat.is_contiguous();
        Ok((of_layout && is_flat).then_some(flat))
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
            self.flat = Flat::unwritten();
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
        self.flat = Flat::Written(flattened(tensor)?);
        Ok(())
    }

    /// A copy that shares the memory until either is written.
    pub(super) fn shared(&self) -> Result<HipStorage> {
        let flat = self.flat.get().cloned().map_or_else(Flat::unwritten, Flat::Written);
        Ok(HipStorage { device: self.device.clone(), dtype: self.dtype, length: self.length, flat })
    }

    /// All elements in host memory. Waits for the device.
    pub(super) fn download(&self) -> Result<CpuStorage> {
        host::download(&self.flat()?.as_strided(self.all()?).candles()?, self.dtype)
    }

    /// As [`HipStorage::flat`], of a dtype that tensor-core has.
    #[inline]
    fn typed(&self) -> Result<&Tensor> {
        let flat = self.flat()?;
        if candles(flat.dtype()) != self.dtype {
            return Err(unsupported(self.dtype, "tensor"));
        }
        Ok(flat)
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
        match &self.flat {
            Flat::Written(tensor) => Ok(tensor),
            Flat::Unwritten(cell) => {
                let zeros = Tensor::zeros(self.length, dtype, self.device.device()).candles()?;
                Ok(cell.get_or_init(|| zeros))
            }
        }
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

/// The elements with rank 1, in memory that has them and no others.
#[inline]
fn flattened(tensor: Tensor) -> Result<Tensor> {
    let all = tensor.is_contiguous()
        && tensor.layout().offset() == 0
        && tensor.storage().len() == tensor.elements();
    let mut flat = if all { tensor } else { tensor.copy().candles()? };
    if flat.rank() != 1 {
        flat.as_strided_(layout::at(&[flat.elements()], &[1], 0)?).candles()?;
    }
    Ok(flat)
}

impl fmt::Debug for HipStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipStorage({} elements of {:?} on {:?})", self.length, self.dtype, self.device)
    }
}
