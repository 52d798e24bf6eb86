//! A call in preparation: the memory that it uses, and the work that the stream will run.

use super::answer::{BAD, NO_SOLVER, Outcome, check, of_hip, product};
use super::handle;
use super::tensor::{Array, Kind, Tensor, View};
use gemm_common::gemm::L2_SLAB;
use hip_host::library::{self, Uses};
use hip_sys::hip::hipStream_t;
use hip_sys::miopen::{miopenDataType_t, miopenHandle_t};
use std::ffi::c_void;

/// A call in preparation.
pub(super) struct Job {
    stream: hipStream_t,
    uses: Uses,
}

impl Job {
    /// A call on that handle.
    ///
    /// # Errors
    /// BadParm if there is no such handle.
    pub(super) fn new(handle: miopenHandle_t) -> Outcome<Self> {
        Ok(Self { stream: handle::stream(handle)?, uses: Uses::default() })
    }

    /// Declares elements that the call reads.
    ///
    /// # Errors
    /// BadParm if they are not in memory of HIP.
    pub(super) fn read_view(&mut self, pointer: *const c_void, kind: Kind, space: usize) -> Outcome<View> {
        self.view(pointer.cast_mut(), kind, space, false)
    }

    /// Declares elements that the call writes and may read.
    ///
    /// # Errors
    /// As [`Job::read_view`].
    pub(super) fn write_view(&mut self, pointer: *mut c_void, kind: Kind, space: usize) -> Outcome<View> {
        self.view(pointer, kind, space, true)
    }

    /// Declares a tensor that the call reads.
    ///
    /// # Errors
    /// As [`Job::read_view`]; NotImplemented for types without arithmetic; BadParm if it has more elements than memory. With strides of
    /// zero a tensor of any size fits little memory, but the computation's buffers are as large as the tensor.
    pub(super) fn read(&mut self, pointer: *const c_void, tensor: &Tensor) -> Outcome<Array> {
        let kind = Kind::of(tensor.dtype).ok_or(NO_SOLVER)?;
        check(tensor.count() <= tensor.space(), BAD)?;
        let view = self.read_view(pointer, kind, tensor.space())?;
        Ok(Array { view, dims: tensor.dims(0..tensor.rank()) })
    }

    /// Declares a tensor that the call writes and may read.
    ///
    /// # Errors
    /// As [`Job::read`].
    pub(super) fn write(&mut self, pointer: *mut c_void, tensor: &Tensor) -> Outcome<Array> {
        let kind = Kind::of(tensor.dtype).ok_or(NO_SOLVER)?;
        check(tensor.count() <= tensor.space(), BAD)?;
        let view = self.write_view(pointer, kind, tensor.space())?;
        Ok(Array { view, dims: tensor.dims(0..tensor.rank()) })
    }

    /// As [`Job::write`], for an optional tensor: null means none.
    ///
    /// # Errors
    /// As [`Job::read`].
    pub(super) fn write_if(&mut self, pointer: *mut c_void, tensor: &Tensor) -> Outcome<Option<Array>> {
        (!pointer.is_null()).then(|| self.write(pointer, tensor)).transpose()
    }

    /// As [`Job::read`], for an optional tensor: null means none.
    ///
    /// # Errors
    /// As [`Job::read`].
    pub(super) fn read_if(&mut self, pointer: *const c_void, tensor: &Tensor) -> Outcome<Option<Array>> {
        (!pointer.is_null()).then(|| self.read(pointer, tensor)).transpose()
    }

    fn view(&mut self, pointer: *mut c_void, kind: Kind, space: usize, writes: bool) -> Outcome<View> {
        check(!pointer.is_null() && space > 0, BAD)?;
        match kind.bytes() {
            1 => self.declare::<u8>(pointer, space, writes)?,
            2 => self.declare::<u16>(pointer, space, writes)?,
            4 => self.declare::<u32>(pointer, space, writes)?,
            _ => self.declare::<u64>(pointer, space, writes)?,
        }
        // SAFETY: S2: declared as memory of the call, so it is there when the call runs, and the stream orders its uses.
        Ok(unsafe { View::new(pointer as usize, kind, space) })
    }

    fn declare<T>(&mut self, pointer: *mut c_void, count: usize, writes: bool) -> Outcome {
        let declared = if writes {
            self.uses.write::<T>(pointer.cast(), count)
        } else {
            self.uses.read::<T>(pointer.cast(), count)
        };
        declared.map_err(of_hip)
    }

    /// Submits the work to the stream and returns at once. A view that reaches too far panics, which becomes a device error.
    ///
    /// # Errors
    /// HIP's error.
    pub(super) fn submit(self, name: &'static str, body: impl Fn() + Send + Sync + 'static) -> Outcome {
        let job = library::Job { name, spreads: true, fits };
        // SAFETY: S2: the body reaches memory of HIP's only through views, each of which was declared.
        unsafe { self.uses.submit(self.stream, job, body) }.map_err(of_hip)
    }
}

/// Whether the calling thread can compute products. A thread that is ending has already lost its thread-local buffers.
fn fits() -> bool {
    L2_SLAB.try_with(|_| ()).is_ok()
}

/// Checks that there is HIP memory of this size at `pointer`, before buffers of that size are allocated.
///
/// # Errors
/// BadParm if they are not.
pub(super) fn is_there(pointer: *const c_void, sizes: impl IntoIterator<Item = usize>) -> Outcome {
    let bytes = product(sizes)?;
    Uses::default().read(pointer.cast::<u8>(), bytes).map_err(of_hip)
}

/// The caller's factors in host memory. They are doubles if the tensors are.
///
/// # Errors
/// BadParm for a null pointer.
///
/// # Safety
/// Each pointer is null or points to a number of that type.
pub(super) unsafe fn scales<const N: usize>(
    pointers: [*const c_void; N],
    dtype: miopenDataType_t,
) -> Outcome<[f64; N]> {
    check(pointers.iter().all(|pointer| !pointer.is_null()), BAD)?;
    // SAFETY: S11: not null, and of that type by the C contract.
    Ok(pointers.map(|pointer| unsafe {
        match dtype {
            miopenDataType_t::miopenDouble => pointer.cast::<f64>().read_unaligned(),
            _ => pointer.cast::<f32>().read_unaligned().into(),
        }
    }))
}

/// The caller's alpha and beta, of type float.
///
/// # Errors
/// BadParm for a null pointer.
///
/// # Safety
/// Each pointer is null or points to a float.
pub(super) unsafe fn floats<const N: usize>(pointers: [*const c_void; N]) -> Outcome<[f32; N]> {
    // SAFETY: S11: the caller vouches for the type.
    unsafe { scales(pointers, miopenDataType_t::miopenFloat) }.map(|scales| scales.map(|scale| scale as f32))
}
