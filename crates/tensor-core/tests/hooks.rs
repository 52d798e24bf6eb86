//! The hook for errors of drops may use the device in whose operation an error was met: no lock of ours is held when it is called. A program
//! of its own, because the hook is the process's.
#![cfg(feature = "host")]

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use hip_safe::Platform;
use hip_sys::hip::{hipError_t, hipFunction_t, hipModule_t, hipStream_t};
use tensor_core::{DType, Device, HipDevice, Result, Tensor};

/// More than anything in the test takes.
const LONG: Duration = Duration::from_secs(120);

/// In which call of the driver the device that was current before begins to be refused.
#[derive(Clone, Copy, PartialEq)]
enum Fails {
    Never,
    InLoad,
    InLaunch,
    Now,
}

thread_local!(static FAILS: Cell<Fails> = const { Cell::new(Fails::Never) });

fn begin(call: Fails) {
    if FAILS.get() == call {
        FAILS.set(Fails::Now);
    }
}

unsafe extern "C" fn set_device(ordinal: c_int) -> hipError_t {
    if ordinal == 1 && FAILS.get() == Fails::Now {
        return hipError_t(1999);
    }
    // SAFETY: S1: the argument is the caller's own.
    unsafe { (hip_host::platform().hip().hipSetDevice)(ordinal) }
}

unsafe extern "C" fn load(module: *mut hipModule_t, image: *const c_void) -> hipError_t {
    begin(Fails::InLoad);
    // SAFETY: S1: the arguments are the caller's own.
    unsafe { (hip_host::platform().hip().hipModuleLoadData)(module, image) }
}

unsafe extern "C" fn launch(
    function: hipFunction_t,
    x: c_uint,
    y: c_uint,
    z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: hipStream_t,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> hipError_t {
    begin(Fails::InLaunch);
    let launch = hip_host::platform().hip().hipModuleLaunchKernel;
    // SAFETY: S1: the arguments are the caller's own.
    unsafe { launch(function, x, y, z, block_x, block_y, block_z, shared, stream, arguments, extra) }
}

fn platform() -> Arc<Platform> {
    let host = hip_host::platform();
    let mut hip = host.hip().clone();
    hip.hipSetDevice = set_device;
    hip.hipModuleLoadData = load;
    hip.hipModuleLaunchKernel = launch;
    let rtc = host.rtc().cloned().map_err(Clone::clone);
    // SAFETY: S1: the functions are hip-host's, or call them.
    Arc::new(unsafe { Platform::from_tables(host.kind, host.raw_version, hip, rtc, *host.ext()) })
}

/// What is called in the middle of an operation, and what the hook calls then.
type Operation = fn(&Tensor, &Tensor) -> Result<Tensor>;
const OPERATIONS: [(&str, Fails, Operation); 2] = [
    // Nothing else asks for this unit, which the hook wants while it is being loaded.
    ("the first addition", Fails::InLoad, |x, _| x.add(x)),
    // The kernel writes wrong ids to words that all operations with ids share.
    ("index_select", Fails::InLaunch, |x, ids| x.index_select(ids, 0)),
];

static IN_HOOK: Mutex<Option<(Operation, Tensor, Tensor)>> = Mutex::new(None);

fn all() -> Result<()> {
    let platform = platform();
    let device = Device::Hip(HipDevice::new(&platform, 0)?);
    let other = hip_safe::Device::new(&platform, 1).unwrap();
    hip_safe::on_drop_error(|_| {
        if FAILS.replace(Fails::Never) == Fails::Now {
            let (operation, x, ids) = IN_HOOK.lock().unwrap().take().expect("it is told once");
            drop(operation(&x, &ids).unwrap());
        }
    });
    let x = Tensor::new([1.5f64, 2.5, 4.0], &device)?;
    let ids = Tensor::new([2u32, 0], &device)?;
    for (name, fails, operation) in OPERATIONS {
        if fails == Fails::InLaunch {
            operation(&x, &ids)?;
        }
        *IN_HOOK.lock().unwrap() = Some((operation, x.clone(), ids.clone()));
        let _current = other.make_current().unwrap();
        FAILS.set(fails);
        // The former device cannot be made current again, which has no caller to tell.
        let result = operation(&x, &ids)?;
        assert!(
            FAILS.get() == Fails::Never && IN_HOOK.lock().unwrap().is_none(),
            "{name}: the hook was told"
        );
        // SAFETY: S3: what a failed restoration has left is made right.
        let status = unsafe { (platform.hip().hipSetDevice)(other.raw_ordinal()) };
        assert_eq!(status.0, 0);
        let expected: &[f64] = if fails == Fails::InLoad { &[3.0, 5.0, 8.0] } else { &[4.0, 1.5] };
        assert_eq!(result.to_dtype(DType::F64)?.to_vec::<f64>()?, expected, "{name}");
    }
    Ok(())
}

#[test]
fn the_hook_may_use_the_device_in_whose_operation_it_is_called() {
    let (sender, ended) = mpsc::channel();
    let caller = std::thread::spawn(move || {
        let result = all();
        drop(sender);
        result
    });
    let waited = ended.recv_timeout(LONG);
    assert_eq!(waited, Err::<(), _>(mpsc::RecvTimeoutError::Disconnected), "an operation waits for itself");
    caller.join().unwrap().unwrap();
}
