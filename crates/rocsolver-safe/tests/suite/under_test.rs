//! The platform under test, and what the suite makes on it.

#[path = "../../../hip-safe/tests/common/platform_under_test.rs"]
mod platform;

pub(crate) use platform::*;

use hip_safe::Stream;
use rocblas_safe::Handle;

/// A stream of the first device, and a handle on it.
pub(crate) fn handle() -> (Stream, Handle) {
    let stream = stream();
    let handle = Handle::new(&stream).expect("the platform has rocBLAS or what stands in its place");
    (stream, handle)
}
