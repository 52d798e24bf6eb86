//! The C functions.

use crate::problem::Problem;
use crate::run::{self, Scalars};
use crate::status::{HANDLE, Outcome, Status, VALUE, ensure, status};
use hip_host::library::Device;
use hip_sys::HipblasltTable;
use hip_sys::hip::hipStream_t;
use hip_sys::hipblaslt::{
    hipblasLtHandle_t, hipblasLtMatmulAlgo_t, hipblasLtMatmulDesc_t, hipblasLtMatmulHeuristicResult_t,
    hipblasLtMatmulPreference_t, hipblasLtMatrixLayout_t, hipblasStatus_t,
};
use hip_sys::provider::Handles;
use hip_sys::provider::hipblaslt::{self as descriptors, Layout};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, LazyLock};

/// Puts this crate's functions into a table.
pub(crate) fn fill(table: &mut HipblasltTable) {
    descriptors::fill(table);
    table.hipblasLtCreate = create;
    table.hipblasLtDestroy = destroy;
    table.hipblasLtGetVersion = get_version;
    table.hipblasLtGetGitRevision = get_git_revision;
    table.hipblasLtMatmulAlgoGetHeuristic = get_heuristic;
    table.hipblasLtMatmul = matmul;
}

/// A handle is the device that was current when it was made.
static HANDLES: LazyLock<Handles<Device>> = LazyLock::new(|| Handles::new(0x68));

fn device(handle: hipblasLtHandle_t) -> Outcome<Device> {
    HANDLES.get(handle as usize).map(|device| *device).map_err(|_| HANDLE)
}

unsafe extern "C" fn create(handle: *mut hipblasLtHandle_t) -> Status {
    status(ensure(!handle.is_null(), VALUE).map(|()| {
        let made = HANDLES.insert(Arc::new(Device::current()));
        // SAFETY: S11: the caller's pointer to the result.
        unsafe { handle.write(made as hipblasLtHandle_t) };
    }))
}

/// Submitted work still runs.
unsafe extern "C" fn destroy(handle: hipblasLtHandle_t) -> Status {
    status(HANDLES.remove(handle as usize).map(drop).map_err(|_| HANDLE))
}

unsafe extern "C" fn get_version(handle: hipblasLtHandle_t, version: *mut c_int) -> Status {
    let there = device(handle).and_then(|_| ensure(!version.is_null(), VALUE));
    status(there.map(|()| {
        let number = crate::VERSION.major * 100_000 + crate::VERSION.minor * 100 + crate::VERSION.patch;
        // SAFETY: S11: the caller's pointer to the result.
        unsafe { version.write(number.cast_signed()) };
    }))
}

unsafe extern "C" fn get_git_revision(handle: hipblasLtHandle_t, revision: *mut c_char) -> Status {
    const REVISION: &CStr = c"hip-host";
    let there = device(handle).and_then(|_| ensure(!revision.is_null(), VALUE));
    status(there.map(|()| {
        let text = REVISION.to_bytes_with_nul();
        // SAFETY: S11: the caller's buffer, which has to hold the name of a commit.
        unsafe { revision.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
    }))
}

/// The product that descriptors describe.
fn problem(product: hipblasLtMatmulDesc_t, [a, b, c, d]: [hipblasLtMatrixLayout_t; 4]) -> Outcome<Problem> {
    let product = descriptors::product(product).ok_or(VALUE)?;
    let layout = |descriptor| descriptors::layout(descriptor).ok_or(VALUE);
    let layouts: [Layout; 4] = [layout(a)?, layout(b)?, layout(c)?, layout(d)?];
    Problem::of(&product, layouts.each_ref())
}

/// Each supported product has the same single algorithm.
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
        device(handle)?;
        descriptors::preference(preference).ok_or(VALUE)?;
        ensure(requested > 0 && !results.is_null() && !returned.is_null(), VALUE)?;
        // SAFETY: S11: the caller's pointer to the number of results.
        unsafe { returned.write(0) };
        problem(product, [a, b, c, d])?;
        let algo = hipblasLtMatmulAlgo_t { data: *b"hip-host matmul\0", max_workspace_bytes: 0 };
        let result = hipblasLtMatmulHeuristicResult_t {
            algo,
            workspaceSize: 0,
            state: hipblasStatus_t::HIPBLAS_STATUS_SUCCESS,
            wavesCount: 1.0,
            reserved: [0; 4],
        };
        // SAFETY: S11: the caller's pointers to the results, of which there is one at least.
        unsafe {
            results.write(result);
            returned.write(1);
        }
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
    _algorithm: *const hipblasLtMatmulAlgo_t,
    _work: *mut c_void,
    _work_bytes: usize,
    stream: hipStream_t,
) -> Status {
    let submit = || {
        let device = device(handle)?;
        let problem = problem(product, [a_layout, b_layout, c_layout, d_layout])?;
        ensure(!alpha.is_null() && !beta.is_null(), VALUE)?;
        // SAFETY: S11: the caller's scalars on the host, of the type that its descriptor names.
        let scalars = unsafe {
            if problem.is_of_integers() {
                Scalars::Integers(alpha.cast::<i32>().read_unaligned(), beta.cast::<i32>().read_unaligned())
            } else {
                Scalars::Floats(alpha.cast::<f32>().read_unaligned(), beta.cast::<f32>().read_unaligned())
            }
        };
        let addresses = [a as usize, b as usize, c as usize, d as usize];
        // SAFETY: S11: the caller's memory.
        unsafe { run::submit(device, stream, problem, addresses, scalars) }
    };
    status(submit())
}
