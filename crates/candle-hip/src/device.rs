//! A HIP device as candle's [`BackendDevice`].

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::backend::BackendDevice;
use candle_core::{CpuStorage, CpuStorageRef, DType, DeviceLocation, Error, Result, Shape, WithDType};
use tensor_core::{Generator, Tensor};

use super::dtype::{ours, supported};
use super::error::Candles;
use super::{host, location, open, HipStorage};

/// A device of a HIP platform: an AMD GPU, an NVIDIA GPU, or threads of this CPU. A clone is the same device.
///
/// ```
/// # #[cfg(feature = "host")] {
/// use candle_core::backend::{BackendDevice, BackendStorage};
/// use candle_hip::HipDevice;
///
/// let device = HipDevice::open("host:0")?;
/// let storage = device.storage_from_slice(&[1f32, 2.0])?;
/// assert_eq!(storage.to_cpu_storage()?.as_slice::<f32>()?, [1.0, 2.0]);
/// # }
/// # candle_core::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct HipDevice {
    inner: Arc<Inner>,
}

struct Inner {
    device: tensor_core::Device,
    name: String,
    generator: Mutex<Generator>,
}

impl HipDevice {
    /// The device of a name such as `amd:0`, `nvidia:1` or `host:0`. The process has one device of each name: another
    /// call returns the same device with the same stream, so that tensors mix as they do on candle's CUDA devices.
    ///
    /// # Errors
    /// If tensor-core does not know the name, the platform's library is missing, or there is no such device.
    pub fn open(name: &str) -> Result<HipDevice> {
        open::by_name(name)
    }

    /// A device of tensor-core. Its stream is that of `device`. Storages of two devices do not mix, even where both are
    /// the same hardware.
    ///
    /// # Errors
    /// If it is tensor-core's CPU device, for which candle has its own.
    pub fn from_device(device: tensor_core::Device) -> Result<HipDevice> {
        if device.as_hip().is_none() {
            return Err(Error::Msg("the CPU of tensor-core is not a HIP device: use Device::Cpu".into()).bt());
        }
        let name = device.name();
        let generator = Mutex::new(Generator::new(Generator::DEFAULT_SEED));
        Ok(HipDevice { inner: Arc::new(Inner { device, name, generator }) })
    }

    /// The name, as [`HipDevice::open`] takes it.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// The device of tensor-core, which has the stream, compiles kernels and makes tensors.
    pub fn device(&self) -> &tensor_core::Device {
        &self.inner.device
    }

    /// The bytes of one of candle's formats that tensor-core does not have: `F8E8M0`, `F6E2M3`, `F6E3M2` or `F4`. Such a
    /// storage can be cloned and read back; every operation on it is an error.
    ///
    /// # Errors
    /// For other dtypes, or an error of the device.
    pub fn storage_from_raw(&self, bytes: &[u8], dtype: DType) -> Result<HipStorage> {
        if ours(dtype).is_some() {
            return Err(super::dtype::unsupported(dtype, "storage_from_raw"));
        }
        let flat = Tensor::from_slice(bytes, bytes.len(), self.device()).candles()?;
        Ok(HipStorage::tagged(flat, dtype, self))
    }

    /// A storage of numbers that the device's generator draws.
    fn drawn(
        &self,
        (shape, dtype): (&Shape, DType),
        operation: &'static str,
        draw: impl FnOnce(&mut Generator, tensor_core::Shape, tensor_core::DType) -> tensor_core::Result<Tensor>,
    ) -> Result<HipStorage> {
        if dtype.is_int() {
            return Err(super::dtype::unsupported(dtype, operation));
        }
        let ours = supported(dtype, operation)?;
        let drawn = draw(&mut self.next_draw(), shape.dims().into(), ours).candles()?;
        HipStorage::of(drawn, self)
    }

    /// Takes the next draw, as a generator positioned at it. Nothing is locked while numbers are drawn: an allocation may call a subscriber of
    /// `tracing`, who draws numbers too.
    fn next_draw(&self) -> Generator {
        let mut generator = self.generator();
        let draw = generator.clone();
        *generator = Generator::at(draw.seed(), draw.offset().wrapping_add(1));
        draw
    }

    /// A panic elsewhere leaves a whole generator behind.
    fn generator(&self) -> MutexGuard<'_, Generator> {
        self.inner.generator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackendDevice for HipDevice {
    type Storage = HipStorage;

    /// Device `ordinal` of the first platform that opens it: AMD, then NVIDIA, then the host. [`HipDevice::open`] chooses
    /// by name.
    fn new(ordinal: usize) -> Result<HipDevice> {
        open::by_ordinal(ordinal)
    }

    fn location(&self) -> DeviceLocation {
        let platform = self.device().platform().map_or("", |platform| platform.name());
        let ordinal = self.device().as_hip().map_or(0, |device| device.device().ordinal());
        location::location(platform, ordinal)
    }

    fn same_device(&self, other: &HipDevice) -> bool {
        self.device().same_device(other.device())
    }

    fn zeros_impl(&self, shape: &Shape, dtype: DType) -> Result<HipStorage> {
        let zeros = Tensor::zeros(shape.dims(), supported(dtype, "zeros")?, self.device()).candles()?;
        HipStorage::of(zeros, self)
    }

    /// Takes no memory yet. The first write makes it; elements that it does not write, and all elements if they are read
    /// before, are 0.
    unsafe fn alloc_uninit(&self, shape: &Shape, dtype: DType) -> Result<HipStorage> {
        supported(dtype, "alloc_uninit")?;
        Ok(HipStorage::unwritten(shape.elem_count(), dtype, self))
    }

    fn storage_from_slice<T: WithDType>(&self, data: &[T]) -> Result<HipStorage> {
        self.storage_from_ref(T::cpu_storage_ref(data))
    }

    fn storage_from_cpu_storage(&self, storage: &CpuStorage) -> Result<HipStorage> {
        self.storage_from_ref(host::reference(storage))
    }

    fn storage_from_cpu_storage_owned(&self, storage: CpuStorage) -> Result<HipStorage> {
        let dtype = candle_core::backend::BackendStorage::dtype(&storage);
        let flat = host::upload(storage, self.device())?;
        Ok(HipStorage::tagged(flat, dtype, self))
    }

    /// Numbers in `[min, max)`, as candle's CPU gives them; floats only.
    fn rand_uniform(&self, shape: &Shape, dtype: DType, min: f64, max: f64) -> Result<HipStorage> {
        self.drawn((shape, dtype), "rand_uniform", |generator, shape, dtype| {
            generator.uniform(min, max, shape, dtype, self.device())
        })
    }

    fn rand_normal(&self, shape: &Shape, dtype: DType, mean: f64, std: f64) -> Result<HipStorage> {
        self.drawn((shape, dtype), "rand_normal", |generator, shape, dtype| {
            generator.normal(mean, std, shape, dtype, self.device())
        })
    }

    /// Restarts this device's random numbers. Every device gives the same numbers for a seed.
    fn set_seed(&self, seed: u64) -> Result<()> {
        *self.generator() = Generator::new(seed);
        Ok(())
    }

    fn get_current_seed(&self) -> Result<u64> {
        Ok(self.generator().seed())
    }

    /// Waits for the device. Returns the error of an id out of range that no reading has returned before.
    fn synchronize(&self) -> Result<()> {
        match self.device().as_hip() {
            Some(device) => device.synchronize().candles(),
            None => Ok(()),
        }
    }
}

impl HipDevice {
    fn storage_from_ref(&self, elements: CpuStorageRef<'_>) -> Result<HipStorage> {
        let dtype = host::dtype_of(&elements);
        Ok(HipStorage::tagged(host::upload_from(elements, self.device())?, dtype, self))
    }
}

impl fmt::Debug for HipDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipDevice({})", self.inner.device)
    }
}
