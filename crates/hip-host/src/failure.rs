//! How launches and guarded memory fail: a code of HIP's and a message.

use hip_sys::hip::hipError_t;
use std::any::Any;

/// An access to memory that is none, or to another's.
pub(crate) const ILLEGAL_ADDRESS: u32 = hipError_t::hipErrorIllegalAddress.0;
/// The machine has too few threads or stacks for the launch.
pub(crate) const OUT_OF_RESOURCES: u32 = hipError_t::hipErrorLaunchOutOfResources.0;
/// The watchdog ended the launch.
pub(crate) const TIMED_OUT: u32 = hipError_t::hipErrorLaunchTimeOut.0;
/// A failed `assert`.
pub(crate) const ASSERT: u32 = hipError_t::hipErrorAssert.0;
/// Whatever else a kernel did wrong.
pub(crate) const LAUNCH_FAILURE: u32 = hipError_t::hipErrorLaunchFailure.0;
/// What this platform does not do.
pub(crate) const NOT_SUPPORTED: u32 = hipError_t::hipErrorNotSupported.0;

/// Why a launch failed: one of the codes above, or a kernel's own, and a message for people.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: u32,
    pub(crate) message: String,
}

/// What a panic said. What it carried is dropped only where that cannot panic once more: anything but a text is leaked.
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
    fn a_panic_is_put_into_words_whatever_it_carries() {
        let said = |panics: fn()| words_of(catch_unwind(panics).expect_err("it panics"));
        assert_eq!(said(|| panic!("plain")), "plain");
        assert_eq!(said(|| panic!("with {}", 3)), "with 3");
        assert_eq!(said(|| panic_any(7)), "it panicked");
        assert_eq!(said(|| panic_any(Again)), "it panicked");
    }
}
