//! Exchanging tensors with other libraries through DLPack's C structs (`DLManagedTensor`, Python's "dltensor").
//!
//! ```
//! use tensor_core::{Device, Tensor, dlpack};
//!
//! # fn main() -> tensor_core::Result<()> {
//! let x = Tensor::new([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
//! let exported = dlpack::export(x)?; // the storage was not shared, so that nothing was copied
//! assert_eq!(exported.tensor().ndim, 2);
//! // SAFETY: the struct describes the memory of the tensor above.
//! let y = unsafe { dlpack::import(exported.into_raw(), &Device::Cpu) }?;
//! assert_eq!(y.to_vec2::<f32>()?, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
//! # Ok(())
//! # }
//! ```

use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::NonNull;

use crate::cpu;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, On, Result};
use crate::hip;
use crate::shape::Shape;
use crate::storage::Storage;
use crate::tensor::Tensor;

/// A device type and an ordinal.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDevice {
    /// 1 is host memory, 2 CUDA, 10 ROCm.
    pub device_type: i32,
    /// The ordinal; 0 for host memory.
    pub device_id: i32,
}

/// The type of the elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDataType {
    /// 0 signed, 1 unsigned, 2 float, 4 bfloat16, 10 8-bit float with 4 exponent bits and no infinity.
    pub code: u8,
    /// Bits per lane.
    pub bits: u8,
    /// 1, or more for vector types, which tensors do not support.
    pub lanes: u16,
}

/// An array, without ownership.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLTensor {
    /// The memory; null if there are no elements.
    pub data: *mut c_void,
    /// The device of the memory.
    pub device: DLDevice,
    /// The number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// The lengths, outermost first.
    pub shape: *mut i64,
    /// The strides in elements; null for a contiguous, row-major array.
    pub strides: *mut i64,
    /// Offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
}

/// An array and its deleter.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLManagedTensor {
    /// The array.
    pub dl_tensor: DLTensor,
    /// Data of the owner.
    pub manager_ctx: *mut c_void,
    /// Frees the array and the struct. The last user calls it once.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

const _: () = {
    assert!(size_of::<DLDevice>() == 8 && size_of::<DLDataType>() == 4);
    assert!(size_of::<DLTensor>() == 48 && offset_of!(DLTensor, dtype) == 20);
    assert!(offset_of!(DLTensor, shape) == 24 && offset_of!(DLTensor, byte_offset) == 40);
    assert!(size_of::<DLManagedTensor>() == 64 && offset_of!(DLManagedTensor, deleter) == 56);
};

/// DLPack's device of host memory.
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// An exported tensor. Dropping it frees the memory, unless [`Exported::into_raw`] was called.
#[derive(Debug)]
pub struct Exported(NonNull<DLManagedTensor>);

// SAFETY: S8: it owns exclusively what it points to: storage, which is `Send`, and numbers.
unsafe impl Send for Exported {}

impl Exported {
    /// The array.
    pub fn tensor(&self) -> &DLTensor {
        // SAFETY: S12: the struct lives until the drop.
        unsafe { &self.0.as_ref().dl_tensor }
    }

    /// Hands the struct over to another library, which must call its deleter.
    pub fn into_raw(self) -> *mut DLManagedTensor {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // SAFETY: S4: the struct is owned exclusively.
        unsafe { free(self.0.as_ptr()) }
    }
}

/// The data behind an exported struct.
struct Owner {
    managed: DLManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    storage: Storage,
}

/// The deleter of [`export`]'s structs.
///
/// # Safety
/// The pointer comes from [`export`], and is not used afterwards.
unsafe extern "C" fn free(managed: *mut DLManagedTensor) {
    if !managed.is_null() {
        // SAFETY: S4: `export` made the context from a box, and this is called once.
        drop(unsafe { Box::from_raw((*managed).manager_ctx.cast::<Owner>()) });
    }
}

/// Exports a tensor for another library, which may write to it. Memory shared with other tensors is copied first;
/// memory that this tensor owns exclusively is exported in place, with its strides. Waits for the device, so that the
/// memory may be used on any stream. Whoever frees it must wait for their own work first.
///
/// For DLPack, memory of the platforms "amd" and "nvidia" is ROCm's and CUDA's; memory of "host" devices is host
/// memory.
///
/// # Errors
/// [`ErrorKind::OutOfMemory`], or an error of the device.
pub fn export(tensor: Tensor) -> Result<Exported> {
    let device = tensor.device();
    let (storage, layout) = tensor.into_parts("dlpack::export")?;
    let numbers = |numbers: &[usize]| numbers.iter().map(|n| *n as i64).collect::<Vec<i64>>();
    let dtype = storage.dtype();
    let dl_tensor = DLTensor {
        data: std::ptr::null_mut(),
        device: device_of(&device),
        ndim: layout.rank() as i32,
        dtype: type_of(dtype),
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let managed = DLManagedTensor { dl_tensor, manager_ctx: std::ptr::null_mut(), deleter: Some(free) };
    let mut owner = Box::new(Owner {
        managed,
        shape: numbers(layout.dims()),
        strides: numbers(layout.strides()),
        storage,
    });
    if layout.elements() > 0 {
        owner.managed.dl_tensor.data = match &mut owner.storage {
            Storage::Cpu(storage) => {
                storage.as_bytes_mut()[layout.offset() * dtype.size_in_bytes()..].as_mut_ptr().cast()
            }
            Storage::Hip(storage) => {
                storage.device().synchronize()?;
                storage.view_from_mut(layout.offset())?.device_ptr_mut().cast()
            }
        };
    }
    owner.managed.dl_tensor.shape = owner.shape.as_mut_ptr();
    owner.managed.dl_tensor.strides = owner.strides.as_mut_ptr();
    let owner = NonNull::from(Box::leak(owner));
    // SAFETY: S4: the box was just made, and has no other owner.
    let managed = unsafe {
        (*owner.as_ptr()).managed.manager_ctx = owner.as_ptr().cast();
        NonNull::from(&mut (*owner.as_ptr()).managed)
    };
    Ok(Exported(managed))
}

/// Copies another library's memory to a tensor on `device`, then calls the struct's deleter, also after an error. The
/// memory must be host memory, or memory of `device`.
///
/// # Safety
/// The struct and all that it points to follow DLPack's specification. The memory covers everything that shape and
/// strides reach, and nobody writes to it meanwhile: the work that produced it is complete. The caller owns the struct
/// exclusively.
///
/// # Errors
/// [`ErrorKind::Argument`] if tensors do not support the element type, the struct is malformed, or the memory is on a
/// third device; [`ErrorKind::Overflow`] if the element count overflows; [`ErrorKind::OutOfMemory`]; or an error of the
/// device.
pub unsafe fn import(managed: *mut DLManagedTensor, device: &Device) -> Result<Tensor> {
    let owned = OwnedTensor(managed);
    // SAFETY: S11: the caller's promise.
    unsafe { copy(&(*owned.0).dl_tensor, device) }.on(device)
}

/// Calls the deleter of another library's struct when dropped, also after an error.
struct OwnedTensor(*mut DLManagedTensor);

impl Drop for OwnedTensor {
    fn drop(&mut self) {
        // SAFETY: S4: the caller of `import` owned the struct exclusively and handed it over, and the copy is complete.
        unsafe {
            if let Some(deleter) = (*self.0).deleter {
                deleter(self.0);
            }
        }
    }
}

/// Copies, and waits until the copy is complete.
///
/// # Safety
/// As [`import`].
unsafe fn copy(tensor: &DLTensor, device: &Device) -> Result<Tensor> {
    let dtype = DType::ALL.into_iter().find(|dtype| type_of(*dtype) == tensor.dtype);
    let dtype = dtype.ok_or_else(|| wrong(format!("tensors have no elements of {:?}", tensor.dtype)))?;
    let rank = usize::try_from(tensor.ndim).map_err(|_| wrong(format!("{} dimensions", tensor.ndim)))?;
    // SAFETY: S12: the caller's promise.
    let shape = unsafe { numbers(tensor.shape, rank) }
        .and_then(|lengths| lengths.iter().map(|n| usize::try_from(*n).ok()).collect::<Option<Vec<usize>>>())
        .ok_or_else(|| wrong("a shape without lengths, or with negative ones".into()))?;
    let count = Shape::from(&shape).elements("dlpack::import")?;
    let tight = || Shape::from(&shape).row_major_strides().iter().map(|n| *n as i64).collect();
    // SAFETY: S12: the caller's promise.
    let strides: Vec<i64> = unsafe { numbers(tensor.strides, rank) }.map_or_else(tight, <[i64]>::to_vec);
    if count == 0 {
        return Tensor::zeros(shape, dtype, device);
    }
    if tensor.data.is_null() {
        return Err(wrong("no memory, but elements".into()));
    }
    let first = tensor.data.cast::<u8>().cast_const().wrapping_add(tensor.byte_offset as usize);
    if tensor.device == CPU {
        let mut elements = cpu::zeroed(dtype, count, "dlpack::import")?;
        // SAFETY: S12: the caller's promise.
        unsafe { gather(first, dtype.size_in_bytes(), &shape, &strides, elements.as_bytes_mut()) };
        return Tensor::from_elements(elements, shape.into(), device, "dlpack::import");
    }
    match device {
        Device::Hip(hip) if device_of(device) == tensor.device => {
            // SAFETY: S2: the caller's promise.
            let storage =
                unsafe { hip::ops::foreign::copy_foreign(hip, dtype, first.cast(), &shape, &strides) }?;
            hip.synchronize()?;
            Tensor::tight(Storage::Hip(storage), shape, "dlpack::import")
        }
        _ => Err(wrong(format!("the memory is on {:?}, which {device} cannot read", tensor.device))),
    }
}

/// The array of `rank` numbers; `None` if the pointer is null.
///
/// # Safety
/// A non-null pointer points to `rank` numbers, which nobody writes.
unsafe fn numbers<'a>(array: *const i64, rank: usize) -> Option<&'a [i64]> {
    if rank == 0 {
        return Some(&[]);
    }
    // SAFETY: S12: the caller's promise.
    (!array.is_null()).then(|| unsafe { std::slice::from_raw_parts(array, rank) })
}

/// Writes the bytes of all elements in row-major order to `out`, which has exactly their size.
///
/// # Safety
/// Every element that shape and strides reach from `first` may be read; there is at least one.
unsafe fn gather(first: *const u8, size: usize, shape: &[usize], strides: &[i64], out: &mut [u8]) {
    if Shape::from(shape)
        .row_major_strides()
        .iter()
        .zip(strides)
        .all(|(tight, stride)| *tight as i64 == *stride)
    {
        // SAFETY: S12: the caller's promise.
        out.copy_from_slice(unsafe { std::slice::from_raw_parts(first, out.len()) });
        return;
    }
    let mut index = vec![0usize; shape.len()];
    for element in out.chunks_exact_mut(size) {
        let offset: i64 = index.iter().zip(strides).map(|(i, stride)| *i as i64 * stride).sum();
        // SAFETY: S12: the caller's promise.
        let bytes =
            unsafe { std::slice::from_raw_parts(first.offset(offset as isize * size as isize), size) };
        element.copy_from_slice(bytes);
        if let Some(axis) = (0..shape.len()).rev().find(|axis| index[*axis] + 1 < shape[*axis]) {
            index[axis] += 1;
            index[axis + 1..].fill(0);
        }
    }
}

/// DLPack's type of a dtype.
fn type_of(dtype: DType) -> DLDataType {
    let code = match dtype {
        DType::I16 | DType::I32 | DType::I64 => 0,
        DType::U8 | DType::U32 => 1,
        DType::F16 | DType::F32 | DType::F64 => 2,
        DType::BF16 => 4,
        DType::F8E4M3 => 10,
    };
    DLDataType { code, bits: 8 * dtype.size_in_bytes() as u8, lanes: 1 }
}

/// DLPack's device of a device's memory.
fn device_of(device: &Device) -> DLDevice {
    let Some(hip) = device.as_hip() else { return CPU };
    match hip::ops::foreign::dlpack_type(hip) {
        Some(device_type) => DLDevice { device_type, device_id: hip.device().ordinal() as i32 },
        None => CPU,
    }
}

fn wrong(what: String) -> Error {
    Error::new("dlpack::import", ErrorKind::Argument { what })
}
