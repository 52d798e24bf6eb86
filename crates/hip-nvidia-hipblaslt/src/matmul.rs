//! A product on its way to cuBLASLt.

use crate::convert::{Outcome, Status, UNSUPPORTED, VALUE, done, driven, ensure, status};
use crate::functions::{Algorithm, Heuristic};
use crate::handle::{self, Handle, Refused};
use crate::library::cublaslt;
use crate::problem::Problem;
use crate::product::Descriptors;
use crate::search::{Wanted, search};
use hip_nvidia::library::{self, RawStream, fill_with_zeros};
use hip_sys::hip::hipStream_t;
use hip_sys::hipblaslt::{
    hipDataType, hipblasLtHandle_t, hipblasLtMatmulAlgo_t, hipblasLtMatmulDesc_t, hipblasLtMatrixLayout_t,
};
use hip_sys::provider::hipblaslt::Product;
use std::ffi::c_void;
use std::ptr::{from_ref, null};

pub(super) unsafe extern "C" fn matmul(
    handle: hipblasLtHandle_t,
    product: hipblasLtMatmulDesc_t,
    alpha: *const c_void,
    a: *const c_void,
    a_layout: hipblasLtMatrixLayout_t,
    b: *const c_void,
    b_layout: hipblasLtMatrixLayout_t,
    beta: *const c_void,
    c: *const c_void,
    c_layout: hipblasLtMatrixLayout_t,
    d: *mut c_void,
    d_layout: hipblasLtMatrixLayout_t,
    algorithm: *const hipblasLtMatmulAlgo_t,
    work: *mut c_void,
    work_bytes: usize,
    stream: hipStream_t,
) -> Status {
    let submit = || {
        let handle = handle::get(handle)?;
        driven(handle.device.enter())?;
        let mut problem = Problem::of(product, [a_layout, b_layout, c_layout, d_layout])?;
        let mut chosen = match algorithm.is_null() {
            true => None,
            // SAFETY: S11: the caller's algorithm.
            false => Some(handle.recall(unsafe { &*algorithm })?),
        };
        let stream = stream_on(&handle, stream)?;
        let (mut a, mut b) = (a, b);
        // With alpha 0, hipBLASLt does not read a and b. cuBLASLt does, and NaN · 0 is NaN: so zeros stand for both.
        // SAFETY: S11: the caller's factor.
        if unsafe { is_zero(&problem.product, alpha) } {
            let bytes = problem.shorten()?;
            let zeros = handle.zeros(bytes)?;
            // SAFETY: S2, S11: memory of the handle's device with as many bytes, in which nobody ever writes anything else; a live stream.
            driven(unsafe { fill_with_zeros(zeros, bytes, stream) })?;
            (a, b, chosen) = (zeros, zeros, None);
        }
        let call = Call {
            made: problem.descriptors()?,
            scalars: [alpha, beta],
            inputs: [a, b, c],
            d,
            work,
            work_bytes,
            stream,
        };
        // SAFETY: S11: the caller's memory and stream, and descriptors of the product.
        unsafe { call.submit(&handle, &problem, chosen) }
    };
    status(submit())
}

/// The arguments of a call of cuBLASLt.
struct Call {
    made: Descriptors,
    scalars: [*const c_void; 2],
    inputs: [*const c_void; 3],
    d: *mut c_void,
    work: *mut c_void,
    work_bytes: usize,
    stream: RawStream,
}

impl Call {
    /// Submits it. hipBLASLt's algorithms take any address. cuBLASLt chooses algorithms for addresses that are multiples of 256, and refuses others
    /// when it is called: then one for these addresses is searched for, once for a problem.
    ///
    /// # Safety
    /// Memory and stream are live, and the memory as large as the problem says.
    unsafe fn submit(&self, handle: &Handle, problem: &Problem, chosen: Option<Algorithm>) -> Outcome {
        let [a, b, c] = self.inputs;
        let alignments =
            [a, b, c, self.d.cast_const()].map(|pointer| 1_u32 << pointer.addr().trailing_zeros().min(8));
        if alignments == [256; 4] {
            // SAFETY: S2, S11: as the caller vouches.
            return unsafe { self.multiply(handle, chosen.as_ref()) };
        }
        let refused =
            Refused { problem: problem.without_addresses(), alignments, work_bytes: self.work_bytes, chosen };
        if let Some(instead) = handle.instead_of(&refused) {
            // SAFETY: S2, S11: as above.
            return unsafe { self.multiply(handle, Some(&instead)) };
        }
        // SAFETY: S2, S11: as above.
        let outcome = unsafe { self.multiply(handle, refused.chosen.as_ref()) };
        if outcome != Err(UNSUPPORTED) {
            return outcome;
        }
        let mut found = [Heuristic::default()];
        let wanted =
            Wanted { work_bytes: self.work_bytes as u64, alignments: Some(alignments), ..Wanted::default() };
        let count = search(handle.raw, &self.made, &wanted, &mut found)?;
        ensure(count == 1, UNSUPPORTED)?;
        let [Heuristic { algorithm, .. }] = found;
        // SAFETY: S2, S11: as above.
        unsafe { self.multiply(handle, Some(&algorithm)) }?;
        handle.take_instead(refused, algorithm);
        Ok(())
    }

    /// # Safety
    /// As for [`Call::submit`].
    unsafe fn multiply(&self, handle: &Handle, algorithm: Option<&Algorithm>) -> Outcome {
        let ([alpha, beta], [a, b, c], [la, lb, lc, ld]) = (self.scalars, self.inputs, self.made.layouts);
        let algorithm = algorithm.map_or(null(), from_ref);
        // SAFETY: S2, S11: live descriptors, and what the caller vouches for.
        done(unsafe {
            (cublaslt().cublasLtMatmul)(
                handle.raw,
                self.made.product,
                alpha,
                a,
                la,
                b,
                lb,
                beta,
                c,
                lc,
                self.d,
                ld,
                algorithm,
                self.work,
                self.work_bytes,
                self.stream,
            )
        })
    }
}

/// The stream, which has to be on the handle's device.
fn stream_on(handle: &Handle, stream: hipStream_t) -> Outcome<RawStream> {
    if library::is_special(stream) {
        return Ok(stream.cast());
    }
    let (raw, device) = driven(library::stream_of(stream))?;
    ensure(device.ordinal() == handle.device.ordinal(), VALUE)?;
    Ok(raw)
}

/// Whether a factor is known to be zero. The value of one in device memory is not known.
///
/// # Safety
/// It is live if factors are on the host.
unsafe fn is_zero(product: &Product, alpha: *const c_void) -> bool {
    if product.pointer_mode != 0 || alpha.is_null() {
        return false;
    }
    // SAFETY: S11: as the caller vouches: a number of this type.
    unsafe {
        match hipDataType(product.scale_type) {
            hipDataType::HIP_R_32F => alpha.cast::<f32>().read_unaligned() == 0.0,
            hipDataType::HIP_R_32I => alpha.cast::<i32>().read_unaligned() == 0,
            _ => false,
        }
    }
}
