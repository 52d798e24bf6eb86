//! The platform under test, and what the suite makes on it.

#[path = "../../../hip-safe/tests/common/platform_under_test.rs"]
mod platform;

pub(crate) use platform::*;

use hip_safe::{Device, Stream};
use rocsparse_safe::Error;

/// A stream of each device, of two at most.
pub(crate) fn streams() -> Vec<Stream> {
    let count = Device::count(&platform()).expect("the platform counts its devices").min(2);
    (0..count).map(|ordinal| device(ordinal).new_stream().expect("a stream can be made")).collect()
}

/// What a call returned; `None`, with a word, where the platform's library has no such operation. The host has all.
#[track_caller]
pub(crate) fn offered<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Err(Error::Status { function, name: "rocsparse_status_not_implemented", .. }) if name() != "host" => {
            println!("skipped: what the platform lacks: {function}");
            None
        }
        result => Some(result.expect("the call succeeds")),
    }
}
