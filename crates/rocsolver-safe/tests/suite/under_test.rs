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

/// Whether the platform's library has no such function, with a word.
pub(crate) fn lacks(op: &str) -> bool {
    let lacks = name() == "nvidia" && ["getri", "gels", "gesvd of wide matrices"].contains(&op);
    if lacks {
        println!("skipped: cuSOLVER has no {op}");
    }
    lacks
}
