//! The C functions.

use crate::convert::{Outcome, Status, UNSUPPORTED, VALUE, done, driven, ensure, status};
use crate::functions::{Algorithm, Heuristic};
use crate::handle;
use crate::library::cublaslt;
use crate::product::{Descriptors, extent, with_preference};
use hip_nvidia::library::{self, RawStream, Temporary, fill_with_zeros};
use hip_sys::HipblasltTable;
use hip_sys::hip::hipStream_t;
use hip_sys::hipblaslt::{
    hipDataType, hipblasLtHandle_t, hipblasLtMatmulAlgo_t, hipblasLtMatmulDesc_t,
    hipblasLtMatmulHeuristicResult_t, hipblasLtMatmulPreference_t, hipblasLtMatrixLayout_t, hipblasStatus_t,
};
use hip_sys::provider::hipblaslt as descriptors;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{from_ref, null};

/// Puts this crate's functions into a table.
pub(super) fn fill(table: &mut HipblasltTable) {
    descriptors::fill(table);
    table.hipblasLtCreate = create;
    table.hipblasLtDestroy = destroy;
    table.hipblasLtGetVersion = get_version;
    table.hipblasLtGetGitRevision = get_git_revision;
    table.hipblasLtMatmulAlgoGetHeuristic = get_heuristic;
    table.hipblasLtMatmul = matmul;
}

unsafe extern "C" fn create(out: *mut hipblasLtHandle_t) -> Status {
    let make = || {
        ensure(!out.is_null(), VALUE)?;
        let made = handle::create()?;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { out.write(made) };
        Ok(())
    };
    status(make())
}

unsafe extern "C" fn destroy(handle: hipblasLtHandle_t) -> Status {
    status(handle::destroy(handle))
}

unsafe extern "C" fn get_version(handle: hipblasLtHandle_t, version: *mut c_int) -> Status {
    let there = handle::get(handle).and_then(|_| ensure(!version.is_null(), VALUE));
    status(there.map(|()| {
        let number = crate::VERSION.major * 100_000 + crate::VERSION.minor * 100 + crate::VERSION.patch;
        // SAFETY: S11: the caller's output pointer for the result.
        unsafe { version.write(number.cast_signed()) };
    }))
}

unsafe extern "C" fn get_git_revision(handle: hipblasLtHandle_t, revision: *mut c_char) -> Status {
    const REVISION: &CStr = c"hip-nvidia";
    let there = handle::get(handle).and_then(|_| ensure(!revision.is_null(), VALUE));
    status(there.map(|()| {
        let text = REVISION.to_bytes_with_nul();
        // SAFETY: S11: the caller's room, which has to hold the name of a commit.
        unsafe { revision.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
    }))
}

/// cuBLASLt's descriptors of a product.
fn described(product: hipblasLtMatmulDesc_t, layouts: [hipblasLtMatrixLayout_t; 4]) -> Outcome<Descriptors> {
    let product = descriptors::product(product).ok_or(VALUE)?;
    let layout = |descriptor| descriptors::layout(descriptor).ok_or(VALUE);
    let [a, b, c, d] = layouts;
    Descriptors::new(&product, [&layout(a)?, &layout(b)?, &layout(c)?, &layout(d)?])
}

unsafe extern "C" fn get_heuristic(
    handle: hipblasLtHandle_t,
    product: hipblasLtMatmulDesc_t,
    a: hipblasLtMatrixLayout_t,
    b: hipblasLtMatrixLayout_t,
    c: hipblasLtMatrixLayout_t,
    d: hipblasLtMatrixLayout_t,
    preference: hipblasLtMatmulPreference_t,
    requested: c_int,
    results: *mut hipblasLtMatmulHeuristicResult_t,
    returned: *mut c_int,
) -> Status {
    let find = || {
        let handle = handle::get(handle)?;
        let preference = descriptors::preference(preference).ok_or(VALUE)?;
        ensure(requested > 0 && !results.is_null() && !returned.is_null(), VALUE)?;
        // SAFETY: S11: the caller's output pointer for the number of results.
        unsafe { returned.write(0) };
        driven(handle.device.enter())?;
        let made = described(product, [a, b, c, d])?;
        let mut found: Vec<Heuristic> = (0..requested).map(|_| Heuristic::default()).collect();
        let (mut count, [a, b, c, d]) = (0, made.layouts);
        with_preference(preference.work_bytes, None, |preferred| {
            // SAFETY: S1, S11: live descriptors, and room for as many results as are asked for.
            done(unsafe {
                (cublaslt().cublasLtMatmulAlgoGetHeuristic)(
                    handle.raw,
                    made.product,
                    a,
                    b,
                    c,
                    d,
                    preferred,
                    requested,
                    found.as_mut_ptr(),
                    &mut count,
                )
            })
        })?;
        let known = usize::try_from(count).unwrap_or_default().min(found.len());
        for (index, heuristic) in found[..known].iter().enumerate() {
            let state = done(heuristic.state).err().unwrap_or(hipblasStatus_t::HIPBLAS_STATUS_SUCCESS);
            let result = hipblasLtMatmulHeuristicResult_t {
                algo: handle.remember(heuristic.algorithm, heuristic.work_bytes),
                workspaceSize: heuristic.work_bytes,
                state,
                wavesCount: heuristic.waves,
                reserved: [0; 4],
            };
            // SAFETY: S11: the caller's room for as many results as it asked for.
            unsafe { results.add(index).write(result) };
        }
        // SAFETY: S11: the caller's output pointer for the number of results.
        unsafe { returned.write(known as c_int) };
        Ok(())
    };
    status(find())
}

unsafe extern "C" fn matmul(
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
        let made = described(product, [a_layout, b_layout, c_layout, d_layout])?;
        let chosen = match algorithm.is_null() {
            true => None,
            // SAFETY: S11: the caller's algorithm.
            false => Some(handle.recall(unsafe { &*algorithm })?),
        };
        let raw_stream = if library::is_special(stream) {
            stream.cast()
        } else {
            let (raw, device) = driven(library::stream_of(stream))?;
            ensure(device.ordinal() == handle.device.ordinal(), VALUE)?;
            raw
        };
        // NaN times zero is no zero: what alpha makes nothing of is not read.
        // SAFETY: S11: the caller's factor.
        let zeros = match unsafe { is_zero(product, alpha) }? {
            true => Some(zeros([a_layout, b_layout], raw_stream)?),
            false => None,
        };
        let [a, b] = zeros.as_ref().map_or([a, b], |zeros| [zeros.at::<c_void>().cast_const(); 2]);
        let [la, lb, lc, ld] = made.layouts;
        let call = |chosen: Option<&Algorithm>| {
            let chosen = chosen.map_or(null(), from_ref);
            // SAFETY: S2, S11: live descriptors and a live stream, and the caller's memory.
            done(unsafe {
                (cublaslt().cublasLtMatmul)(
                    handle.raw,
                    made.product,
                    alpha,
                    a,
                    la,
                    b,
                    lb,
                    beta,
                    c,
                    lc,
                    d,
                    ld,
                    chosen,
                    work,
                    work_bytes,
                    raw_stream,
                )
            })
        };
        let outcome = call(chosen.as_ref());
        let alignments =
            [a, b, c, d.cast_const()].map(|pointer| 1_u32 << pointer.addr().trailing_zeros().min(8));
        if outcome != Err(UNSUPPORTED) || chosen.is_none() || alignments == [256; 4] {
            return outcome;
        }
        // hipBLASLt's algorithms take any address; cuBLASLt chose this one for addresses that are multiples of 256.
        let mut found = [Heuristic::default()];
        let mut count = 0;
        with_preference(work_bytes as u64, Some(alignments), |preferred| {
            let results = found.as_mut_ptr();
            // SAFETY: S1, S11: live descriptors, and room for a result.
            done(unsafe {
                (cublaslt().cublasLtMatmulAlgoGetHeuristic)(
                    handle.raw,
                    made.product,
                    la,
                    lb,
                    lc,
                    ld,
                    preferred,
                    1,
                    results,
                    &mut count,
                )
            })
        })?;
        ensure(count == 1, UNSUPPORTED)?;
        call(Some(&found[0].algorithm))
    };
    status(submit())
}

/// Whether a factor is known to be zero. The value of one in device memory is not known.
///
/// # Safety
/// It is live if factors are on the host.
unsafe fn is_zero(product: hipblasLtMatmulDesc_t, alpha: *const c_void) -> Outcome<bool> {
    let product = descriptors::product(product).ok_or(VALUE)?;
    if product.pointer_mode != 0 || alpha.is_null() {
        return Ok(false);
    }
    // SAFETY: S11: as the caller vouches: a number of this type.
    unsafe {
        Ok(match hipDataType(product.scale_type) {
            hipDataType::HIP_R_32F => alpha.cast::<f32>().read_unaligned() == 0.0,
            hipDataType::HIP_R_32I => alpha.cast::<i32>().read_unaligned() == 0,
            _ => false,
        })
    }
}

/// Zeros for a and for b, in the order of the stream.
fn zeros(layouts: [hipblasLtMatrixLayout_t; 2], stream: RawStream) -> Outcome<Temporary> {
    let mut most = 0;
    for layout in layouts {
        most = most.max(descriptors::layout(layout).and_then(|layout| extent(&layout)).ok_or(VALUE)?);
    }
    // SAFETY: S2, S11: a live stream, and new memory of this size.
    driven(unsafe {
        let zeros = Temporary::new(most, stream);
        zeros.and_then(|zeros| fill_with_zeros(zeros.at(), most, stream).map(|()| zeros))
    })
}
