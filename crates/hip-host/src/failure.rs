//! Failures of launches and of guarded memory: an error code of HIP and a message.

use hip_sys::hip::hipError_t;
use std::any::Any;

/// An access to an address that is not mapped or belongs to another allocation.
pub(crate) const ILLEGAL_ADDRESS: u32 = hipError_t::hipErrorIllegalAddress.0;
/// The machine has too few threads or stacks for the launch.
pub(crate) const OUT_OF_RESOURCES: u32 = hipError_t::hipErrorLaunchOutOfResources.0;
/// The watchdog ended the launch.
pub(crate) const TIMED_OUT: u32 = hipError_t::hipErrorLaunchTimeOut.0;
/// A failed `assert`.
pub(crate) const ASSERT: u32 = hipError_t::hipErrorAssert.0;
/// Any other error of a kernel.
pub(crate) const LAUNCH_FAILURE: u32 = hipError_t::hipErrorLaunchFailure.0;
/// An operation that this platform does not offer.
pub(crate) const NOT_SUPPORTED: u32 = hipError_t::hipErrorNotSupported.0;

/// Why a launch failed: one of the codes above or the kernel's own code, and a message for people.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: u32,
    pub(crate) message: String,
}

/// The message of a panic. The payload is dropped only if it is a string: dropping any other payload could
/// panic again, so it is leaked.
pub(crate) fn words_of(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => match panic.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(panic) => {
                std::mem::forget(panic);
                "it panicked".to_owned()
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::words_of;
    use std::panic::{catch_unwind, panic_any};

    /// Panics when it is dropped.
    struct Again;

    impl Drop for Again {
        fn drop(&mut self) {
            panic!("once more");
        }
    }

    #[test]
    fn a_panic_of_any_payload_has_a_message() {
        let said = |panics: fn()| words_of(catch_unwind(panics).expect_err("it panics"));
        assert_eq!(said(|| panic!("plain")), "plain");
        assert_eq!(said(|| panic!("with {}", 3)), "with 3");
        assert_eq!(said(|| panic_any(7)), "it panicked");
        assert_eq!(said(|| panic_any(Again)), "it panicked");
    }
}
