//! The devices and their contexts, and the state that HIP keeps for each thread: the current device and the
//! last error.

use crate::driver::{Code, Context, Driver};
use hip_sys::LoadError;
use hip_sys::hip::hipError_t;
use hip_sys::provider::LastError;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The result of a call, before it becomes a status.
pub(crate) type Outcome = Result<(), hipError_t>;

/// The driver and its devices.
pub(crate) struct Cuda {
    pub(crate) driver: Driver,
    pub(crate) path: PathBuf,
    pub(crate) version: c_int,
    devices: Vec<Device>,
}

/// A device, with its primary context, which is retained from the first use on.
pub struct Device {
    pub(crate) ordinal: usize,
    pub(crate) handle: c_int,
    /// Null before the first use and after a reset.
    context: AtomicPtr<c_void>,
}

static CUDA: OnceLock<Result<Cuda, LoadError>> = OnceLock::new();

thread_local! {
    static DEVICE: Cell<usize> = const { Cell::new(0) };
    static LAST: LastError = const { LastError::new() };
}

/// Opens the driver once for the process.
pub(crate) fn open() -> Result<&'static Cuda, LoadError> {
    CUDA.get_or_init(Cuda::load).as_ref().map_err(Clone::clone)
}

/// The driver and its devices, if they were opened.
pub(crate) fn opened() -> Option<&'static Cuda> {
    CUDA.get().and_then(|loaded| loaded.as_ref().ok())
}

/// The driver. Only the table's functions call this, and the table exists only after the driver was opened.
pub(crate) fn cuda() -> &'static Cuda {
    opened().expect("the table is made after the driver was opened")
}

pub(crate) fn driver() -> &'static Driver {
    &cuda().driver
}

const NO_DEVICE: Code = 100;

impl Cuda {
    fn load() -> Result<Self, LoadError> {
        let (driver, path) = Driver::load()?;
        let library = path.display().to_string();
        let refused = |call, code| LoadError::Refused { library: library.clone(), call, code };
        let (mut version, mut count) = (0, 0);
        // SAFETY: S1: live output pointers.
        let (init, asked) = unsafe { ((driver.cuInit)(0), (driver.cuDriverGetVersion)(&mut version)) };
        if asked != 0 {
            return Err(refused("cuDriverGetVersion", asked));
        }
        // With a driver but no card the platform opens, as ROCm does, and its calls return the error.
        if init != 0 && init != NO_DEVICE {
            return Err(refused("cuInit", init));
        }
        if init == 0 {
            // SAFETY: S1: as above.
            let code = unsafe { (driver.cuDeviceGetCount)(&mut count) };
            if code != 0 {
                return Err(refused("cuDeviceGetCount", code));
            }
        }
        let mut devices = Vec::new();
        for ordinal in 0..count {
            let mut handle = 0;
            // SAFETY: S1: as above.
            let code = unsafe { (driver.cuDeviceGet)(&mut handle, ordinal) };
            if code != 0 {
                return Err(refused("cuDeviceGet", code));
            }
            devices.push(Device { ordinal: ordinal as usize, handle, context: AtomicPtr::default() });
        }
        Ok(Self { driver, path, version, devices })
    }

    pub(crate) fn count(&self) -> usize {
        self.devices.len()
    }

    /// The ordinal of a device, by the driver's number.
    pub(crate) fn ordinal_of(&self, handle: c_int) -> Option<usize> {
        self.devices.iter().position(|device| device.handle == handle)
    }
}

impl Device {
    /// The primary context. Two threads may both retain it at the first use, which is harmless: it is never
    /// released.
    pub(crate) fn context(&self) -> Result<Context, hipError_t> {
        let mut context = self.context.load(Ordering::Acquire);
        if context.is_null() {
            // SAFETY: S1: a live output pointer.
            check(unsafe { (driver().cuDevicePrimaryCtxRetain)(&mut context, self.handle) })?;
            self.context.store(context, Ordering::Release);
        }
        Ok(context)
    }

    /// Destroys the primary context and everything in it. The next use retains a new one.
    pub(crate) fn reset(&self) -> Outcome {
        // SAFETY: S11: no handle is left that refers to what this destroys.
        let outcome = check(unsafe { (driver().cuDevicePrimaryCtxReset)(self.handle) });
        self.context.store(null_mut(), Ordering::Release);
        outcome
    }

    /// The device's number in HIP.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Makes the context current on this thread. The previous context need not be restored: every entry point
    /// does this.
    ///
    /// # Errors
    /// What the driver answers, in HIP's numbers.
    pub fn enter(&'static self) -> Result<&'static Self, hipError_t> {
        let context = self.context()?;
        // SAFETY: S1: a context that stays retained.
        check(unsafe { (driver().cuCtxSetCurrent)(context) })?;
        Ok(self)
    }
}

/// The device with the ordinal that a caller passed.
pub(crate) fn get(ordinal: c_int) -> Result<&'static Device, hipError_t> {
    let devices = &cuda().devices;
    if devices.is_empty() {
        return Err(hipError_t::hipErrorNoDevice);
    }
    usize::try_from(ordinal)
        .ok()
        .and_then(|index| devices.get(index))
        .ok_or(hipError_t::hipErrorInvalidDevice)
}

/// The current device of this thread; device 0 unless the thread chose another.
pub(crate) fn current() -> Result<&'static Device, hipError_t> {
    cuda().devices.get(DEVICE.get()).ok_or(hipError_t::hipErrorNoDevice)
}

/// The current device, with its context current.
pub(crate) fn enter() -> Result<&'static Device, hipError_t> {
    current()?.enter()
}

/// Makes a device current for this thread.
pub(crate) fn set_current(ordinal: c_int) -> Outcome {
    DEVICE.set(get(ordinal)?.ordinal);
    Ok(())
}

/// Ends an entry point: turns the outcome into a status and stores an error as the thread's last error.
pub(crate) fn status(outcome: Outcome) -> hipError_t {
    LAST.with(|last| last.status(outcome))
}

/// Returns and clears the last error of this thread.
pub(crate) fn take_last_error() -> hipError_t {
    LAST.with(LastError::take)
}

/// The last error of this thread.
pub(crate) fn last_error() -> hipError_t {
    LAST.with(LastError::get)
}

/// A CUDA result as HIP's error. The numbers are the same, except those that HIP does not have.
pub(crate) fn check(code: Code) -> Outcome {
    let error = match code {
        0 => return Ok(()),
        // Bytes that are not a program: invalid PTX, an unreadable source.
        218 | 300 => hipError_t::hipErrorInvalidImage,
        // PTX newer than the driver.
        222 => hipError_t::hipErrorNoBinaryForGpu,
        // Kernel faults that HIP has no number for: stack, instruction, alignment, address space, program
        // counter.
        714..=718 => hipError_t::hipErrorLaunchFailure,
        code => hipError_t(code),
    };
    Err(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_hips_own_or_translated() {
        assert_eq!(check(0), Ok(()));
        assert_eq!(check(2), Err(hipError_t::hipErrorOutOfMemory));
        assert_eq!(check(218), Err(hipError_t::hipErrorInvalidImage));
        assert_eq!(check(716), Err(hipError_t::hipErrorLaunchFailure));
        assert_eq!(check(600), Err(hipError_t::hipErrorNotReady));
    }
}
