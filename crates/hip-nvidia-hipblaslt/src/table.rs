//! The C functions.

use crate::convert::{Outcome, Status, VALUE, done, driven, ensure, status};
use crate::functions::Heuristic;
use crate::handle;
use crate::library::cublaslt;
use crate::product::{Descriptors, with_preference};
use hip_nvidia::library;
use hip_sys::HipblasltTable;
use hip_sys::hip::hipStream_t;
use hip_sys::hipblaslt::{
    hipblasLtHandle_t, hipblasLtMatmulAlgo_t, hipblasLtMatmulDesc_t, hipblasLtMatmulHeuristicResult_t,
    hipblasLtMatmulPreference_t, hipblasLtMatrixLayout_t, hipblasStatus_t,
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

unsafe extern "C" fn create(place: *mut hipblasLtHandle_t) -> Status {
    let make = || {
        ensure(!place.is_null(), VALUE)?;
        let made = handle::create()?;
        // SAFETY: S11: the caller's place for the result.
        unsafe { place.write(made) };
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
        // SAFETY: S11: the caller's place for the result.
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
        // SAFETY: S11: the caller's place for the number of results.
        unsafe { returned.write(0) };
        driven(handle.device.enter())?;
        let made = described(product, [a, b, c, d])?;
        let mut found: Vec<Heuristic> = (0..requested).map(|_| Heuristic::default()).collect();
        let (mut count, [a, b, c, d]) = (0, made.layouts);
        with_preference(&preference, |preferred| {
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
        // SAFETY: S11: the caller's place for the number of results.
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
        let [la, lb, lc, ld] = made.layouts;
        let chosen = chosen.as_ref().map_or(null(), from_ref);
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
    status(submit())
}
