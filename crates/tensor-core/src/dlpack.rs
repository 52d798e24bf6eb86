//! Tensors handed to other libraries and taken from them, as DLPack's C structs (`DLManagedTensor`, what Python calls a "dltensor").
//!
//! ```
//! use tensor_core::{Device, Tensor, dlpack};
//!
//! # fn main() -> tensor_core::Result<()> {
//! let x = Tensor::new([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
//! let exported = dlpack::export(x)?; // nobody else had the storage: nothing was copied
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

/// A kind of device and its number.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDevice {
    /// 1 is the memory of this machine, 2 CUDA, 10 ROCm.
    pub device_type: i32,
    /// The ordinal; 0 for the memory of this machine.
    pub device_id: i32,
}

/// The type of the elements.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDataType {
    /// 0 signed, 1 unsigned, 2 float, 4 bfloat16, 10 float of 8 bits with 4 for the exponent and no infinity.
    pub code: u8,
    /// Bits of a lane.
    pub bits: u8,
    /// 1; more for vectors, which tensors have not.
    pub lanes: u16,
}

/// An array that somebody else owns.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLTensor {
    /// The memory; null if there are no elements.
    pub data: *mut c_void,
    /// Where it lies.
    pub device: DLDevice,
    /// How many dimensions there are.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DLDataType,
    /// The lengths, outermost first.
    pub shape: *mut i64,
    /// The strides in elements; null for a tight array in row-major order.
    pub strides: *mut i64,
    /// Where the first element lies behind `data`, in bytes.
    pub byte_offset: u64,
}

/// An array and what frees it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLManagedTensor {
    /// The array.
    pub dl_tensor: DLTensor,
    /// The owner's own.
    pub manager_ctx: *mut c_void,
    /// Frees array and struct. To be called once, by whoever has the struct last.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

const _: () = {
    assert!(size_of::<DLDevice>() == 8 && size_of::<DLDataType>() == 4);
    assert!(size_of::<DLTensor>() == 48 && offset_of!(DLTensor, dtype) == 20);
    assert!(offset_of!(DLTensor, shape) == 24 && offset_of!(DLTensor, byte_offset) == 40);
    assert!(size_of::<DLManagedTensor>() == 64 && offset_of!(DLManagedTensor, deleter) == 56);
};

/// DLPack's number of the memory of this machine.
const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// An exported tensor. Dropping it frees the memory, unless [`Exported::into_raw`] has given it away.
#[derive(Debug)]
pub struct Exported(NonNull<DLManagedTensor>);

// SAFETY: S8: it owns what it points to alone: storage, which may be sent, and numbers.
unsafe impl Send for Exported {}

impl Exported {
    /// The array.
    pub fn tensor(&self) -> &DLTensor {
        // SAFETY: S12: the struct lives until the drop.
        unsafe { &self.0.as_ref().dl_tensor }
    }

    /// The struct, to give to another library, which calls its deleter.
    pub fn into_raw(self) -> *mut DLManagedTensor {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // SAFETY: S4: nobody else has the struct.
        unsafe { free(self.0.as_ptr()) }
    }
}

/// What an exported struct keeps.
struct Owner {
    managed: DLManagedTensor,
    shape: Vec<i64>,
    strides: Vec<i64>,
    storage: Storage,
}

/// Frees what [`export`] made.
///
/// # Safety
/// The pointer is one of [`export`]'s, and nobody uses it any more.
unsafe extern "C" fn free(managed: *mut DLManagedTensor) {
    if !managed.is_null() {
        // SAFETY: S4: `export` made the context from a box, and this is called once.
        drop(unsafe { Box::from_raw((*managed).manager_ctx.cast::<Owner>()) });
    }
}

/// A tensor for another library, which may write to it: memory that other tensors share is copied first, memory that this one has alone is
/// handed over as it lies, strides and all. Waits for the device, so that the memory may be used on any stream; whoever frees it waits for
/// their own work first.
///
/// Memory of the platforms "amd" and "nvidia" is ROCm's and CUDA's for DLPack; that of "host" devices is this machine's.
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
    // SAFETY: S4: the box was just made, and nobody else has it.
    let managed = unsafe {
        (*owner.as_ptr()).managed.manager_ctx = owner.as_ptr().cast();
        NonNull::from(&mut (*owner.as_ptr()).managed)
    };
    Ok(Exported(managed))
}

/// A tensor on `device` of another library's memory, which is copied; then the struct's deleter is called, after an error too. The memory
/// is this machine's, or that of the very device.
///
/// # Safety
/// The struct and all that it points to are as DLPack says, its memory holds what its shape and strides reach, and nobody writes to it
/// meanwhile: the work that made it is complete. The caller has the struct alone.
///
/// # Errors
/// [`ErrorKind::Argument`] if its elements are of a type that tensors have not, if it is not well formed, or if it lies on a third device;
/// [`ErrorKind::Overflow`] if its elements are more than can be counted, [`ErrorKind::OutOfMemory`], or an error of the device.
pub unsafe fn import(managed: *mut DLManagedTensor, device: &Device) -> Result<Tensor> {
    let taken = Taken(managed);
    // SAFETY: S11: the caller's promise.
    unsafe { copy(&(*taken.0).dl_tensor, device) }.on(device)
}

/// A struct of another library, which is freed whatever becomes of the copy.
struct Taken(*mut DLManagedTensor);

impl Drop for Taken {
    fn drop(&mut self) {
        // SAFETY: S4: the caller of `import` has the struct alone and gave it, and the copy is over.
        unsafe {
            if let Some(deleter) = (*self.0).deleter {
                deleter(self.0);
            }
        }
    }
}

/// A complete copy.
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
        _ => Err(wrong(format!("the memory lies on {:?}, which {device} cannot read", tensor.device))),
    }
}

/// `rank` numbers, if there is an array of them.
///
/// # Safety
/// If the pointer is not null it points to as many, which nobody writes.
unsafe fn numbers<'a>(array: *const i64, rank: usize) -> Option<&'a [i64]> {
    if rank == 0 {
        return Some(&[]);
    }
    // SAFETY: S12: the caller's promise.
    (!array.is_null()).then(|| unsafe { std::slice::from_raw_parts(array, rank) })
}

/// Writes the bytes of all elements in row-major order to `out`, which has room for just them.
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
        let place: i64 = index.iter().zip(strides).map(|(i, stride)| *i as i64 * stride).sum();
        // SAFETY: S12: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(first.offset(place as isize * size as isize), size) };
        element.copy_from_slice(bytes);
        if let Some(axis) = (0..shape.len()).rev().find(|axis| index[*axis] + 1 < shape[*axis]) {
            index[axis] += 1;
            index[axis + 1..].fill(0);
        }
    }
}

/// DLPack's name of a dtype.
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

/// DLPack's name of the memory of a device.
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
