//! Storage: the memory behind tensors. Operations choose their device by the macros here and nowhere else.
//!
//! The operations are functions of the same names in every backend's folder (`cpu/ops/unary.rs`, …). Callers have
//! checked shapes, dtypes and devices.

use crate::cpu::{self, CpuStorage};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{At, Error, ErrorKind, On, Result};
use crate::hip::{self, HipStorage, Staging};
use crate::layout::Layout;

/// Memory on one device, with elements of one dtype. Tensors may share it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Storage {
    /// Host memory.
    Cpu(CpuStorage),
    /// Memory of a HIP device.
    Hip(HipStorage),
}

impl Storage {
    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        match self {
            Storage::Cpu(storage) => storage.dtype(),
            Storage::Hip(storage) => storage.dtype(),
        }
    }

    /// The device of the memory.
    pub fn device(&self) -> Device {
        match self {
            Storage::Cpu(_) => Device::Cpu,
            Storage::Hip(storage) => Device::Hip(storage.device().clone()),
        }
    }

    /// Whether both are on the same device.
    #[inline]
    pub(crate) fn is_on_device_of(&self, other: &Storage) -> bool {
        match (self, other) {
            (Storage::Cpu(_), Storage::Cpu(_)) => true,
            (Storage::Hip(a), Storage::Hip(b)) => a.device() == b.device(),
            _ => false,
        }
    }

    /// The memory, if launches of graphs write it; a graph that this thread is capturing does not count.
    #[inline]
    pub(crate) fn written_by_graphs(&self) -> Option<&HipStorage> {
        match self {
            Storage::Cpu(_) => None,
            Storage::Hip(storage) => storage.is_written_by_graphs().then_some(storage),
        }
    }

    /// Whether launches of graphs read or write the memory.
    pub(crate) fn is_used_by_graphs(&self) -> bool {
        match self {
            Storage::Cpu(_) => false,
            Storage::Hip(storage) => storage.is_used_by_graphs(),
        }
    }

    /// The capacity in elements. A tensor's layout may use fewer.
    pub fn len(&self) -> usize {
        match self {
            Storage::Cpu(storage) => storage.len(),
            Storage::Hip(storage) => storage.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory, if it is host memory.
    pub fn as_cpu(&self) -> Option<&CpuStorage> {
        match self {
            Storage::Cpu(storage) => Some(storage),
            Storage::Hip(_) => None,
        }
    }
}

impl At for Storage {
    fn at(&self) -> Device {
        self.device()
    }
}

/// Fills a slice with the storage's bytes, beginning at the given offset.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(usize, &mut [u8]) -> Result<()>;

/// Making and moving storage.
impl Storage {
    /// `count` elements in host memory, whose little-endian bytes `fill` writes all at once, in place. Errors of `fill`
    /// are returned unchanged.
    pub(crate) fn filled(
        dtype: DType,
        count: usize,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Storage> {
        let mut elements = cpu::zeroed(dtype, count, operation).on(&Device::Cpu)?;
        fill(0, elements.as_bytes_mut())?;
        Ok(Storage::Cpu(elements))
    }

    /// As [`Storage::filled`], on the device of `staging`, in pieces of whole elements, from front to back.
    pub(crate) fn staged(
        staging: &mut Staging,
        dtype: DType,
        count: usize,
        operation: &'static str,
        fill: Fill<'_>,
    ) -> Result<Storage> {
        HipStorage::filled(staging, dtype, count, operation, fill).map(Storage::Hip)
    }

    /// `elements`, moved to `device`.
    pub(crate) fn from_cpu(device: &Device, elements: CpuStorage) -> Result<Storage> {
        match device {
            Device::Cpu => Ok(Storage::Cpu(elements)),
            Device::Hip(device) => HipStorage::from_cpu(device, &elements, "to_device").map(Storage::Hip),
        }
    }

    /// The elements of `layout` in row-major order, in host memory. Reads no others, and waits for the device.
    pub(crate) fn to_cpu(&self, layout: &Layout) -> Result<CpuStorage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::copy::copy(storage, layout),
            Storage::Hip(storage) if layout.is_contiguous() => {
                storage.to_cpu(layout.offset(), layout.elements(), "to_cpu")
            }
            Storage::Hip(storage) => {
                let tight = hip::ops::copy::copy(storage, layout)?;
                tight.to_cpu(0, layout.elements(), "to_cpu")
            }
        }
    }
}

/// Calls a function of `cpu::ops` or of `hip::ops`: `by_device!(copy::copy(x, layout), x = storage)` calls
/// `cpu::ops::copy::copy` if the storage is on the CPU. `x` is the backend's storage. There may be several.
macro_rules! by_device {
    ($file:ident::$function:ident($($argument:expr),+ $(,)?), $x:ident = $storage:expr) => {
        match $storage {
            $crate::storage::Storage::Cpu($x) => {
                $crate::storage::of_any($crate::cpu::ops::$file::$function($($argument),+))
            }
            $crate::storage::Storage::Hip($x) => {
                $crate::storage::of_any($crate::hip::ops::$file::$function($($argument),+))
            }
        }
    };
    ($file:ident::$function:ident($($argument:expr),+ $(,)?), $($x:ident = $storage:expr),+ $(,)?) => {
        match ($($storage),+) {
            ($($crate::storage::Storage::Cpu($x)),+) => {
                $crate::storage::of_any($crate::cpu::ops::$file::$function($($argument),+))
            }
            ($($crate::storage::Storage::Hip($x)),+) => {
                $crate::storage::of_any($crate::hip::ops::$file::$function($($argument),+))
            }
            ($($x),+) => Err($crate::storage::apart(stringify!($function), &[$(&*$x),+])),
        }
    };
}
pub(crate) use by_device;

/// Makes new storage on a device: `new_on!(device, fill::full(dtype, count, value))` calls a function of `cpu::ops`, or
/// that of `hip::ops`, which gets the device first.
macro_rules! new_on {
    ($device:expr, $file:ident::$function:ident($($argument:expr),+ $(,)?)) => {
        match $device {
            $crate::device::Device::Cpu => {
                $crate::storage::of_any($crate::cpu::ops::$file::$function($($argument),+))
            }
            $crate::device::Device::Hip(device) => {
                $crate::storage::of_any($crate::hip::ops::$file::$function(device, $($argument),+))
            }
        }
    };
}
pub(crate) use new_on;

/// What a function of a backend returns.
pub(crate) trait Returned {
    /// The same for any backend: with [`Storage`] in place of the backend's.
    type OfAny;

    /// Converts it.
    fn of_any(self) -> Self::OfAny;
}

/// A backend's result as that of any backend.
#[inline]
pub(crate) fn of_any<R: Returned>(result: Result<R>) -> Result<R::OfAny> {
    result.map(R::of_any)
}

impl Returned for () {
    type OfAny = ();

    fn of_any(self) {}
}

impl<R: Returned> Returned for Option<R> {
    type OfAny = Option<R::OfAny>;

    fn of_any(self) -> Self::OfAny {
        self.map(R::of_any)
    }
}

impl<R: Returned> Returned for (R, R) {
    type OfAny = (R::OfAny, R::OfAny);

    fn of_any(self) -> Self::OfAny {
        (self.0.of_any(), self.1.of_any())
    }
}

/// The storage of a backend.
pub(crate) trait Backend: Sized {
    /// The storage, if it is this backend's.
    fn of(storage: &Storage) -> Option<&Self>;
}

macro_rules! backends {
    ($($type:ident = $variant:ident;)+) => {
        $(
            impl Returned for $type {
                type OfAny = Storage;

                #[inline]
                fn of_any(self) -> Storage {
                    Storage::$variant(self)
                }
            }

            impl Backend for $type {
                fn of(storage: &Storage) -> Option<&$type> {
                    match storage {
                        Storage::$variant(storage) => Some(storage),
                        _ => None,
                    }
                }
            }
        )+
    };
}

backends! {
    CpuStorage = Cpu;
    HipStorage = Hip;
}

/// `other` as storage of the backend of `x`, for optional operands.
pub(crate) fn for_backend_of<'a, S: Backend>(
    x: &Storage,
    other: &'a Storage,
    operation: &'static str,
) -> Result<&'a S> {
    S::of(other).ok_or_else(|| apart(operation, &[x, other]))
}

/// The error for operands on different devices, which names the first two. Tensors check this before.
pub(crate) fn apart(operation: &'static str, operands: &[&Storage]) -> Error {
    let devices: Vec<Device> = operands.iter().map(|operand| operand.device()).collect();
    let other = devices.iter().find(|other| !other.same_device(&devices[0])).unwrap_or(&devices[0]);
    Error::new(operation, ErrorKind::two_devices(&devices[0], other))
}
