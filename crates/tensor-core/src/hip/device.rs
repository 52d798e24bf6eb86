//! A HIP device as tensors see it: the device, the stream that its operations run on, and its kernels.

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

/// A device of a HIP platform. Cloning it copies a reference; two made of the same ordinal are the same place, but each has a
/// stream of its own, so their tensors do not mix.
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
    /// Opens device `ordinal` of a platform, with a stream of its own.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`] if there is no such device or the driver answers an error.
    #[doc(alias = "hipSetDevice")]
    pub fn new(platform: &Arc<Platform>, ordinal: usize) -> Result<HipDevice> {
        Self::open(platform, ordinal, Libraries::new(true))
    }

    /// As [`HipDevice::new`], with every operation done by this workspace's kernels, and none by rocBLAS or MIOpen. So are those of
    /// every device if the environment says `HIPSTACK_LIBRARIES=0`, and where the platform has no such libraries.
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

    /// The device below.
    pub fn device(&self) -> &Device {
        self.inner.stream.device()
    }

    /// The stream that every operation of this device runs on.
    ///
    /// A thread may capture what it does as a graph ([`Stream::capture`]). A launch then writes the tensors that were written in place or made
    /// there, which are 0 until the first one, and reads the memory of the others: an input that is changed in place, alone on its storage, is
    /// what the next launch reads. Clones and views of what a graph writes are copies, so that a launch changes no other tensor. Meanwhile
    /// operations of other threads on this device answer [`hip_safe::Error::Capturing`].
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "host")] {
    /// let device = Device::parse("host:0")?;
    /// let stream = device.as_hip().unwrap().stream();
    /// let mut x = Tensor::new([1f32, 2.0], &device)?;
    /// x.affine_(1.0, 0.0)?; // what is loaded on first use cannot be captured
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
    /// [`ErrorKind::Hip`] if the driver answers an error.
    #[doc(alias = "hipMemGetInfo")]
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        self.device().memory_info().map_err(wrap("memory_info"))
    }

    /// Waits until every operation submitted so far is done.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`]: the error of the work, if it failed. [`ErrorKind::IdOutOfRange`], in the name of the operation that met
    /// the id, if nobody was told yet.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        self.stream().synchronize().map_err(wrap("synchronize"))?;
        self.look_for_faults("synchronize")
    }

    /// An error if an operation met an id that is out of range since the last look; for callers that have waited for the device.
    pub(super) fn look_for_faults(&self, operation: &'static str) -> Result<()> {
        self.faults().look(self.stream(), operation).on(&crate::Device::Hip(self.clone()))
    }

    /// The kernel `elementwise_<op>_<dtype>` of this workspace, for launches of one's own on [`HipDevice::stream`]. Its
    /// arguments are those that `kernels_hip::args` describes.
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
    /// [`ErrorKind::Code`] if there is no code for the device, [`ErrorKind::Hip`] if there is no such kernel in it.
    pub fn elementwise_kernel(&self, op: &'static str, dtype: DType) -> Result<Function> {
        self.kernels().get(self, Kernel { family: "elementwise", op, dtype, to: None }).cloned()
    }

    /// Where the code of each unit of kernels came from that was loaded so far, by the unit's name, such as `matmul_f32`.
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

    /// How many multiprocessors there are: what launches are sized by.
    pub(super) fn multiprocessors(&self) -> u32 {
        self.device().properties().multiprocessors
    }

    /// A launch over `count` elements of at most `bytes` each.
    pub(super) fn elementwise(&self, count: usize, bytes: usize) -> LaunchConfig {
        config(launch::elementwise(count as u64, bytes, self.multiprocessors()))
    }

    /// As [`Self::elementwise`], for inputs and outputs of `from` and `to` bytes an element. `flat`: each operand is tight or one element.
    pub(super) fn walk(&self, flat: bool, count: usize, (from, to): (usize, usize)) -> LaunchConfig {
        if !flat || !self.has_own_memory() {
            return self.elementwise(count, from.max(to));
        }
        config(launch::tight(count as u64, from, to))
    }

    /// Whether the device shares no memory with the host: a GPU for which blocks cost nothing, not a CPU that starts each.
    pub(super) fn has_own_memory(&self) -> bool {
        !self.device().properties().integrated
    }

    pub(super) fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// Lets convolutions use Winograd's and Fourier's transforms from now on, or not, where the platform's library has them. They take
    /// fewer operations, by up to half, and their errors are larger than those of sums of products: not every convolution of integers
    /// that `f32` holds is exact then. On NVIDIA it lets those of 16 bits use engines too of which cuDNN notes that sums may be of
    /// fewer than 32 bits. Without a word neither is used.
    pub fn allow_winograd(&self, allowed: bool) {
        self.inner.libraries.set_allow_transforms(allowed);
    }

    /// Lets attention of `f16` and `bf16` use the kernels for matrix units from now on, or not: on NVIDIA from compute capability 8.0
    /// on, and on the host, where their text without such units is the slower one. They take heads of up to 128 columns, multiples of
    /// 8, whose rows are tight and aligned to 16 bytes, from 64 queries and 64 keys on (`bf16`: 256). Without a word they are used.
    /// AMD's devices do not use them: what clang makes of them for gfx942 gave wrong results on an emulated card.
    pub fn allow_matrix_attention(&self, allowed: bool) {
        self.inner.matrix_attention.store(allowed, Ordering::Relaxed);
    }

    /// Whether attention may use the kernels for matrix units, and there are some for this device.
    pub(super) fn uses_matrix_attention(&self) -> bool {
        self.inner.matrix_attention.load(Ordering::Relaxed) && self.has_matrix_units()
    }

    /// Whether kernels for matrix units are used on this device. Not on AMD's: see [`HipDevice::allow_matrix_attention`].
    pub(super) fn has_matrix_units(&self) -> bool {
        let device = self.device();
        let platform = device.platform().kind.name();
        platform != "amd" && kernels_hip::has_matrix_units(platform, &device.properties().arch)
    }

    /// Whether it was not made by [`HipDevice::without_libraries`]. Whether the platform has libraries is another question.
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

/// Wraps what went wrong below in an error of `operation`.
pub(super) fn wrap(operation: &'static str) -> impl Fn(hip_safe::Error) -> Error + Copy {
    move |error| wrapped(operation, error)
}

/// Out of line, so that what goes well lies together.
#[cold]
#[inline(never)]
fn wrapped(operation: &'static str, error: hip_safe::Error) -> Error {
    Error::new(operation, ErrorKind::Hip(error))
}

/// Whether the device had no memory for something.
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
