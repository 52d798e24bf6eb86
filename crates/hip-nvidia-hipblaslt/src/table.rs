//! The C functions.

use crate::convert::{Status, VALUE, done, driven, ensure, status};
use crate::functions::Heuristic;
use crate::handle;
use crate::matmul::matmul;
use crate::problem::Problem;
use crate::search::{Wanted, search};
use hip_sys::HipblasltTable;
use hip_sys::hipblaslt::{
    hipblasLtHandle_t, hipblasLtMatmulDesc_t, hipblasLtMatmulHeuristicResult_t, hipblasLtMatmulPreference_t,
    hipblasLtMatrixLayout_t, hipblasStatus_t,
};
use hip_sys::provider::hipblaslt as descriptors;
use std::ffi::{CStr, c_char, c_int};

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
        let made = Problem::of(product, [a, b, c, d])?.descriptors()?;
        let mut found: Vec<Heuristic> = (0..requested).map(|_| Heuristic::default()).collect();
        let wanted = Wanted { work_bytes: preference.work_bytes, ..Wanted::default() };
        let known = search(handle.raw, &made, &wanted, &mut found)?;
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
