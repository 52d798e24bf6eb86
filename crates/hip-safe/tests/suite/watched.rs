//! The platform under test, behind functions that record each call of this thread and can make one fail.

use hip_safe::{Device, Error, Platform};
use hip_sys::Extensions;
use hip_sys::hip::*;
use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Once};

static REAL: LazyLock<Arc<Platform>> = LazyLock::new(crate::under_test::platform);

/// The calls of every thread so far.
pub(crate) static TOTAL: AtomicU64 = AtomicU64::new(0);

/// The errors reported on any thread.
static ALL_DROP_ERRORS: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    static DROP_ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static DURING: RefCell<Option<During>> = const { RefCell::new(None) };
}

/// The action at the next call of that name.
type During = (&'static str, Box<dyn FnOnce()>);

#[derive(Clone, Copy)]
enum Fault {
    /// The next call of that name answers the code.
    Next(&'static str, u32),
    /// Every call of that name does.
    Every(&'static str, u32),
    /// The call after so many others does, whatever it is.
    After(usize, u32),
}

/// The calls of this thread since the last time it asked.
pub(crate) fn calls() -> Vec<&'static str> {
    CALLS.take()
}

/// The same, without those about which device is current.
pub(crate) fn work_calls() -> Vec<&'static str> {
    calls().into_iter().filter(|name| !["hipGetDevice", "hipSetDevice"].contains(name)).collect()
}

/// Makes this thread's next call of `name` answer `code`.
pub(crate) fn fail_next(name: &'static str, code: u32) {
    FAULT.set(Some(Fault::Next(name, code)));
}

/// Makes every call of `name` on this thread answer `code`, until [`no_fault`].
pub(crate) fn fail_every(name: &'static str, code: u32) {
    FAULT.set(Some(Fault::Every(name, code)));
}

/// Makes the call of this thread after `count` others answer `code`.
pub(crate) fn fail_after(count: usize, code: u32) {
    FAULT.set(Some(Fault::After(count, code)));
}

/// Does something in this thread's next call of `name`, before the platform is called.
pub(crate) fn during(name: &'static str, act: impl FnOnce() + 'static) {
    DURING.set(Some((name, Box::new(act))));
}

/// Ends a fault; says whether it was still waiting for its call.
pub(crate) fn no_fault() -> bool {
    FAULT.take().is_some()
}

/// The errors of drops on this thread since the last call of this function.
pub(crate) fn drop_errors() -> Vec<String> {
    DROP_ERRORS.take()
}

/// Whether something like this was reported on any thread.
pub(crate) fn reported(words: &str) -> bool {
    ALL_DROP_ERRORS.lock().unwrap().iter().any(|error| error.contains(words))
}

/// Checks a workload in which one call failed with 1999: it returned that error, or its result is right and a drop reported the error.
pub(crate) fn check_outcome<T: PartialEq + Debug>(
    outcome: hip_safe::Result<T>,
    expected: &T,
    at: usize,
    failed: &str,
) {
    let errors = drop_errors();
    match outcome {
        Ok(values) => {
            assert_eq!(values, *expected, "{failed} is told of, and the result is right");
            assert!(errors.iter().any(|error| error.contains("(1999)")), "call {at}, {failed}: a lost error");
        }
        Err(error) => assert_eq!(error.hip_code(), Some(1999), "call {at}, {failed}: {error}"),
    }
}

/// Checks that everything that was created is released, unless the release itself failed.
pub(crate) fn check_released(pairs: &[(&[&str], &str)], made: &[&str], at: usize, failed: &str) {
    let count = |name: &str| made.iter().filter(|call| **call == name).count();
    for (make, release) in pairs {
        let existed =
            make.iter().map(|name| count(name)).sum::<usize>() - usize::from(make.contains(&failed));
        // The call that makes the device current fails for both, and for the wait before a release.
        let lost = usize::from(failed == "hipGetDevice");
        assert!(
            (existed.saturating_sub(lost)..=existed).contains(&count(release)),
            "call {at}, {failed} failed: {make:?} without {release}"
        );
    }
}

/// The code that this call is to answer, if it is to fail.
fn note(name: &'static str) -> Option<hipError_t> {
    TOTAL.fetch_add(1, Ordering::SeqCst);
    CALLS.with_borrow_mut(|calls| calls.push(name));
    let act = DURING.with_borrow_mut(|during| during.take_if(|(wanted, _)| *wanted == name));
    if let Some((_, act)) = act {
        act();
    }
    let (code, left) = match FAULT.get()? {
        Fault::Next(wanted, code) if wanted == name => (Some(code), None),
        Fault::Every(wanted, code) if wanted == name => (Some(code), FAULT.get()),
        Fault::After(0, code) => (Some(code), None),
        Fault::After(count, code) => (None, Some(Fault::After(count - 1, code))),
        _ => (None, FAULT.get()),
    };
    FAULT.set(left);
    code.map(hipError_t)
}

macro_rules! watch {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            #[allow(non_snake_case)]
            unsafe extern "C" fn $name($($argument: $type),*) -> hipError_t {
                match note(stringify!($name)) {
                    Some(code) => code,
                    // SAFETY: S1: the arguments are the caller's own.
                    None => unsafe { (REAL.hip().$name)($($argument),*) },
                }
            }
        )*
        fn watch_table(table: &mut hip_sys::HipTable) {
            $( table.$name = $name; )*
        }
    };
}

macro_rules! watch_optional {
    ($($name:ident, $since:literal, ($($argument:ident: $type:ty),*);)*) => {
        $(
            #[allow(non_snake_case)]
            unsafe extern "C" fn $name($($argument: $type),*) -> hipError_t {
                match (note(stringify!($name)), REAL.hip().$name.get()) {
                    (Some(code), _) => code,
                    // SAFETY: S1: the arguments are the caller's own.
                    (None, Ok(function)) => unsafe { function($($argument),*) },
                    (None, Err(missing)) => panic!("{missing}"),
                }
            }
        )*
        fn watch_optional(table: &mut hip_sys::HipTable) {
            $( if table.$name.is_present() {
                table.$name = hip_sys::Optional::present($name, stringify!($name), $since);
            } )*
        }
    };
}

watch_optional! {
    hipDeviceSetLimit, "5.3", (limit: hipLimit_t, value: usize);
    hipLaunchHostFunc, "5.3", (stream: hipStream_t, function: hipHostFn_t, data: *mut c_void);
    hipMemPrefetchAsync_v2, "7.1", (
        address: *const c_void, bytes: usize, location: hipMemLocation, flags: c_uint, stream: hipStream_t
    );
    hipMemAdvise_v2, "7.1", (address: *const c_void, bytes: usize, advice: hipMemoryAdvise, location: hipMemLocation);
    hipModuleLaunchCooperativeKernel, "5.5", (
        function: hipFunction_t, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: hipStream_t, arguments: *mut *mut c_void
    );
}

watch! {
    hipGetDevice(device: *mut c_int);
    hipSetDevice(device: c_int);
    hipDeviceSynchronize();
    hipDeviceCanAccessPeer(can: *mut c_int, device: c_int, peer: c_int);
    hipDeviceEnablePeerAccess(peer: c_int, flags: c_uint);
    hipDeviceDisablePeerAccess(peer: c_int);
    hipDeviceGetUuid(uuid: *mut hipUUID, device: hipDevice_t);
    hipDeviceGetPCIBusId(text: *mut std::ffi::c_char, len: c_int, device: c_int);
    hipDeviceGetLimit(value: *mut usize, limit: hipLimit_t);
    hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int);
    hipStreamCreateWithPriority(stream: *mut hipStream_t, flags: c_uint, priority: c_int);
    hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int);
    hipMemcpyPeerAsync(
        to: *mut c_void, to_device: c_int, from: *const c_void, from_device: c_int, bytes: usize, stream: hipStream_t
    );
    hipMallocManaged(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    hipMemPrefetchAsync(address: *const c_void, bytes: usize, device: c_int, stream: hipStream_t);
    hipMemAdvise(address: *const c_void, bytes: usize, advice: hipMemoryAdvise, device: c_int);
    hipMemGetAddressRange(base: *mut hipDeviceptr_t, bytes: *mut usize, address: hipDeviceptr_t);
    hipIpcGetMemHandle(handle: *mut hipIpcMemHandle_t, address: *mut c_void);
    hipIpcOpenMemHandle(address: *mut *mut c_void, handle: hipIpcMemHandle_t, flags: c_uint);
    hipIpcCloseMemHandle(address: *mut c_void);
    hipFuncSetAttribute(function: *const c_void, attribute: hipFuncAttribute, value: c_int);
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int, function: hipFunction_t, block: c_int, shared: usize
    );
    hipModuleOccupancyMaxPotentialBlockSize(
        grid: *mut c_int, block: *mut c_int, function: hipFunction_t, shared: usize, limit: c_int
    );
    hipMemGetInfo(free: *mut usize, total: *mut usize);
    hipMalloc(address: *mut *mut c_void, bytes: usize);
    hipFree(address: *mut c_void);
    hipMallocAsync(address: *mut *mut c_void, bytes: usize, stream: hipStream_t);
    hipFreeAsync(address: *mut c_void, stream: hipStream_t);
    hipHostMalloc(address: *mut *mut c_void, bytes: usize, flags: c_uint);
    hipHostFree(address: *mut c_void);
    hipMemcpyAsync(to: *mut c_void, from: *const c_void, bytes: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemcpyWithStream(to: *mut c_void, from: *const c_void, bytes: usize, kind: hipMemcpyKind, stream: hipStream_t);
    hipMemsetAsync(to: *mut c_void, byte: c_int, bytes: usize, stream: hipStream_t);
    hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint);
    hipStreamDestroy(stream: hipStream_t);
    hipStreamSynchronize(stream: hipStream_t);
    hipStreamQuery(stream: hipStream_t);
    hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint);
    hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint);
    hipEventDestroy(event: hipEvent_t);
    hipEventRecord(event: hipEvent_t, stream: hipStream_t);
    hipEventQuery(event: hipEvent_t);
    hipEventSynchronize(event: hipEvent_t);
    hipEventElapsedTime(milliseconds: *mut f32, start: hipEvent_t, stop: hipEvent_t);
    hipStreamBeginCapture(stream: hipStream_t, mode: hipStreamCaptureMode);
    hipStreamEndCapture(stream: hipStream_t, graph: *mut hipGraph_t);
    hipStreamIsCapturing(stream: hipStream_t, answer: *mut hipStreamCaptureStatus);
    hipGraphDestroy(graph: hipGraph_t);
    hipGraphGetNodes(graph: hipGraph_t, nodes: *mut hipGraphNode_t, count: *mut usize);
    hipGraphNodeGetType(node: hipGraphNode_t, answer: *mut hipGraphNodeType);
    hipGraphInstantiateWithFlags(exec: *mut hipGraphExec_t, graph: hipGraph_t, flags: c_ulonglong);
    hipGraphLaunch(exec: hipGraphExec_t, stream: hipStream_t);
    hipGraphExecUpdate(
        exec: hipGraphExec_t, graph: hipGraph_t, node: *mut hipGraphNode_t, result: *mut hipGraphExecUpdateResult
    );
    hipGraphExecDestroy(exec: hipGraphExec_t);
    hipModuleLoadData(module: *mut hipModule_t, image: *const c_void);
    hipModuleUnload(module: hipModule_t);
    hipModuleGetFunction(function: *mut hipFunction_t, module: hipModule_t, name: *const std::ffi::c_char);
    hipFuncGetAttribute(value: *mut c_int, attribute: hipFunction_attribute, function: hipFunction_t);
    hipModuleLaunchKernel(
        function: hipFunction_t, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint, block_x: c_uint, block_y: c_uint,
        block_z: c_uint, shared: c_uint, stream: hipStream_t, arguments: *mut *mut c_void, extra: *mut *mut c_void
    );
}

/// A separate platform, so that the devices of other tests are not poisoned.
pub(crate) fn platform() -> Arc<Platform> {
    Arc::new(unshared_platform())
}

/// The same, to be changed further.
pub(crate) fn unshared_platform() -> Platform {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        hip_safe::on_drop_error(|error: &Error| {
            ALL_DROP_ERRORS.lock().unwrap().push(error.to_string());
            DROP_ERRORS.with_borrow_mut(|list| list.push(error.to_string()))
        });
    });
    // What a pool does is seen here, also where other devices have none.
    watched(|_| (), false)
}

/// The same, where buffers have pages of their own if the platform wants that.
pub(crate) fn platform_as_it_is() -> Arc<Platform> {
    Arc::new(watched(|_| (), REAL.ext().own_pages))
}

/// The same with a table that was changed further.
pub(crate) fn changed_platform(change: impl FnOnce(&mut hip_sys::HipTable)) -> Platform {
    watched(change, false)
}

fn watched(change: impl FnOnce(&mut hip_sys::HipTable), own_pages: bool) -> Platform {
    let mut hip = REAL.hip().clone();
    watch_table(&mut hip);
    watch_optional(&mut hip);
    change(&mut hip);
    let rtc = REAL.rtc().cloned().map_err(Clone::clone);
    // SAFETY: S1: the functions are hip-host's, behind ones that count and may answer an error instead.
    unsafe {
        Platform::from_tables(REAL.kind, REAL.raw_version, hip, rtc, Extensions { own_pages, ..*REAL.ext() })
    }
}

/// Device 0 of such a platform.
pub(crate) fn device() -> Device {
    Device::new(&platform(), 0).expect("hip-host has a device")
}
