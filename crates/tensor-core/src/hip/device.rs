//! A HIP device with the stream that its operations run on, and its kernels.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hip_safe::{Device, Function, LaunchConfig, MemoryInfo, Stream};
use hip_sys::Platform;
use kernels_hip::launch::{self, LaunchShape};

use super::code::CodeOrigin;
use super::facts;
use super::faults::Faults;
use super::kernels::{self, Kernel, Kernels};
use super::libraries::Libraries;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};

/// A device of a HIP platform. A clone shares it. Two devices opened with the same ordinal use the same hardware, but
/// each has its own stream, so that their tensors do not mix.
#[derive(Clone)]
pub struct HipDevice {
    inner: Arc<Inner>,
}

struct Inner {
    stream: Stream,
    kernels: Kernels,
    faults: Faults,
    libraries: Libraries,
    matrix_attention: AtomicBool,
    name: String,
}

impl HipDevice {
    /// Opens device `ordinal` of a platform, with a new stream.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`] if there is no such device or the driver returns an error.
    #[doc(alias = "hipSetDevice")]
    pub fn new(platform: &Arc<Platform>, ordinal: usize) -> Result<HipDevice> {
        Self::open(platform, ordinal, Libraries::new(true))
    }

    /// As [`HipDevice::new`], but all operations use this workspace's kernels, and none rocBLAS or MIOpen. The
    /// environment variable `HIPSTACK_LIBRARIES=0` does this for every device. Platforms without these libraries always
    /// behave so.
    ///
    /// # Errors
    /// As [`HipDevice::new`].
    pub fn without_libraries(platform: &Arc<Platform>, ordinal: usize) -> Result<HipDevice> {
        Self::open(platform, ordinal, Libraries::new(false))
    }

    fn open(platform: &Arc<Platform>, ordinal: usize, libraries: Libraries) -> Result<HipDevice> {
        let device = Device::new(platform, ordinal).map_err(wrap("device"))?;
        let stream = device.new_stream().map_err(wrap("device"))?;
        let arch = device.properties().arch.split(':').next().unwrap_or_default().to_owned();
        let name = format!("{}:{ordinal} ({arch})", platform.kind);
        Ok(HipDevice {
            inner: Arc::new(Inner {
                stream,
                kernels: Kernels::new(),
                faults: Faults::new(),
                libraries,
                matrix_attention: AtomicBool::new(true),
                name,
            }),
        })
    }

    /// The underlying device.
    pub fn device(&self) -> &Device {
        self.inner.stream.device()
    }

    /// The stream that all operations of this device run on.
    ///
    /// A thread may capture its operations as a graph ([`Stream::capture`]). A launch of the graph writes the tensors
    /// that the capture made or wrote in place; they are 0 until the first launch. It reads the memory of all other
    /// tensors: if an input that owns its storage exclusively is changed in place, the next launch reads the new
    /// values. Clones and views of what a graph writes are copies, so that a launch changes no other tensor. During a
    /// capture, operations of other threads on this device return [`hip_safe::Error::Capturing`].
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "host")] {
    /// let device = Device::parse("host:0")?;
    /// let stream = device.as_hip().unwrap().stream();
    /// let mut x = Tensor::new([1f32, 2.0], &device)?;
    /// x.affine_(1.0, 0.0)?; // loads the kernel, which a capture cannot do
    ///
    /// let mut doubled = Ok(());
    /// let graph = stream.capture(|_| {
    ///     doubled = x.affine_(2.0, 0.0);
    ///     Ok(())
    /// })?;
    /// doubled?;
    /// let exec = graph.instantiate()?;
    /// let before = x.clone();
    /// exec.launch(stream)?;
    /// exec.launch(stream)?;
    /// assert_eq!(x.to_vec::<f32>()?, [4.0, 8.0]);
    /// assert_eq!(before.to_vec::<f32>()?, [1.0, 2.0]);
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn stream(&self) -> &Stream {
        &self.inner.stream
    }

    /// Free and total memory in bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`] if the driver returns an error.
    #[doc(alias = "hipMemGetInfo")]
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.device().memory_info().map_err(wrap("memory_info"))
    }

    /// Waits until every operation submitted so far is complete.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`] if the work failed. [`ErrorKind::IdOutOfRange`], with the name of the operation that had the
    /// wrong id, if it was not reported before.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        self.stream().synchronize().map_err(wrap("synchronize"))?;
        self.look_for_faults("synchronize")
    }

    /// Returns an error if an operation had an id out of range since the last check. Callers have waited for the
    /// device.
    pub(super) fn look_for_faults(&self, operation: &'static str) -> Result<()> {
        self.faults().look(self.stream(), operation).on(&crate::Device::Hip(self.clone()))
    }

    /// The kernel `elementwise_<op>_<dtype>` of this workspace, to launch on [`HipDevice::stream`]. `kernels_hip::args`
    /// describes its arguments.
    ///
    /// ```
    /// use tensor_core::{BinaryOp, DType, Device};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// # #[cfg(feature = "host")] {
    /// let device = Device::parse("host:0")?;
    /// let add = device.as_hip().unwrap().elementwise_kernel(BinaryOp::Add.name(), DType::F32)?;
    /// assert_eq!(add.name(), "elementwise_add_f32");
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Code`] if there is no code for the device, [`ErrorKind::Hip`] if the code has no such kernel.
    pub fn elementwise_kernel(&self, op: &'static str, dtype: DType) -> Result<Function> {
        self.kernels().get(self, Kernel { family: "elementwise", op, dtype, to: None }).cloned()
    }

    /// The origin of each kernel unit's code loaded so far, by the unit's name, such as `matmul_f32`.
    pub fn code_origins(&self) -> BTreeMap<String, CodeOrigin> {
        self.kernels().origins()
    }

    /// See [`crate::Device::check_kernels`].
    pub(crate) fn check_kernels(&self) -> Result<()> {
        kernels::check(self)
    }

    /// See [`crate::Device::compile_kernels`].
    pub(crate) fn compile_kernels(
        &self,
        dtypes: &[DType],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<()> {
        kernels::compile(self, dtypes, progress)
    }

    /// See [`crate::Device::facts`].
    pub(crate) fn facts(&self) -> BTreeMap<String, String> {
        facts::of(self)
    }

    /// The number of multiprocessors, which determines launch sizes.
    pub(super) fn multiprocessors(&self) -> u32 {
        self.device().properties().multiprocessors
    }

    /// The launch configuration for `count` elements of at most `bytes` each.
    pub(super) fn elementwise(&self, count: usize, bytes: usize) -> LaunchConfig {
        config(launch::elementwise(count as u64, bytes, self.multiprocessors()))
    }

    /// As [`Self::elementwise`], for inputs of `from` and outputs of `to` bytes per element. `flat`: each operand is
    /// contiguous or a single element.
    pub(super) fn walk(&self, flat: bool, count: usize, (from, to): (usize, usize)) -> LaunchConfig {
        if !flat || !self.has_own_memory() {
            return self.elementwise(count, from.max(to));
        }
        config(launch::tight(count as u64, from, to))
    }

    /// Whether the device has memory of its own. Such a GPU starts blocks at no cost; a CPU does not.
    pub(super) fn has_own_memory(&self) -> bool {
        !self.device().properties().integrated
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// Allows or forbids Winograd and Fourier transforms in convolutions, if the platform's library has them. They need
    /// up to half the operations, but their errors are larger than those of sums of products: convolutions of integers
    /// that `f32` represents may become inexact. On NVIDIA this also allows 16-bit engines which, according to cuDNN,
    /// may accumulate in fewer than 32 bits. By default neither is used.
    pub fn allow_winograd(&self, allowed: bool) {
        self.inner.libraries.set_allow_transforms(allowed);
    }

    /// Allows or forbids the matrix-unit kernels in attention of `f16` and `bf16`. They are used on NVIDIA from compute
    /// capability 8.0 on, and on the host, where the text without matrix units is slower. They support heads of up to
    /// 128 columns, in multiples of 8, with contiguous rows aligned to 16 bytes, from 64 queries and 64 keys on
    /// (`bf16`: 256). The default is to use them. AMD devices do not: the code that clang generated for gfx942 gave
    /// wrong results on an emulated card.
    pub fn allow_matrix_attention(&self, allowed: bool) {
        self.inner.matrix_attention.store(allowed, Ordering::Relaxed);
    }

    /// Whether products of `bf16` take matrix units that those of `f32` do not take: they are several times as fast. True of
    /// GPUs whose matrix units this crate knows, false on the host.
    pub fn multiplies_bf16_faster(&self) -> bool {
        self.has_matrix_units_beside("host")
    }

    /// Whether attention of so many queries to so many keys, with heads of this size, takes matrix units in `bf16` that it does not take
    /// in `f32`. False where [`allow_matrix_attention`](HipDevice::allow_matrix_attention) forbids them.
    pub fn attends_bf16_faster(&self, queries: usize, keys: usize, head_size: usize) -> bool {
        let size = head_size as u64;
        let pays = kernels_hip::launch::attention_mma_pays(queries as u64, keys as u64, [size; 2], true);
        pays && self.uses_matrix_attention() && self.multiplies_bf16_faster()
    }

    /// Whether attention may use matrix-unit kernels, and this device has them.
    pub(super) fn uses_matrix_attention(&self) -> bool {
        self.inner.matrix_attention.load(Ordering::Relaxed) && self.has_matrix_units()
    }

    /// Whether kernels for matrix units are used on this device. Not on AMD's: see [`HipDevice::allow_matrix_attention`].
    pub(super) fn has_matrix_units(&self) -> bool {
        self.has_matrix_units_beside("amd")
    }

    /// Whether this device's matrix units are known, and it is not of this platform.
    fn has_matrix_units_beside(&self, other: &str) -> bool {
        let device = self.device();
        let platform = device.platform().kind.name();
        platform != other && kernels_hip::has_matrix_units(platform, &device.properties().arch)
    }

    /// Whether the device may use libraries: false for [`HipDevice::without_libraries`]. The platform may still have
    /// none.
    pub fn uses_libraries(&self) -> bool {
        self.inner.libraries.wanted()
    }

    pub(super) fn libraries(&self) -> &Libraries {
        &self.inner.libraries
    }

    pub(super) fn kernels(&self) -> &Kernels {
        &self.inner.kernels
    }
}

/// A one-dimensional launch without dynamic shared memory.
pub(super) fn config(shape: LaunchShape) -> LaunchConfig {
    LaunchConfig { grid: [shape.grid, 1, 1], block: [shape.block, 1, 1], shared_bytes: 0 }
}

/// Converts an error of hip-safe to an error of `operation`.
pub(super) fn wrap(operation: &'static str) -> impl Fn(hip_safe::Error) -> Error + Copy {
    move |error| wrapped(operation, error)
}

/// Out of line, to keep the success path compact.
#[cold]
#[inline(never)]
fn wrapped(operation: &'static str, error: hip_safe::Error) -> Error {
    Error::new(operation, ErrorKind::Hip(error))
}

/// Whether the device ran out of memory.
pub(super) fn is_out_of_memory(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Hip(hip_safe::Error::OutOfMemory { .. }))
}

impl PartialEq for HipDevice {
    fn eq(&self, other: &HipDevice) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for HipDevice {}

impl fmt::Display for HipDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.name)
    }
}

impl fmt::Debug for HipDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HipDevice({self})")
    }
}
