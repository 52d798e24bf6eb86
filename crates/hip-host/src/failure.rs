//! How launches and guarded memory fail: a code of HIP's and a message.

use hip_sys::hip::hipError_t;

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
