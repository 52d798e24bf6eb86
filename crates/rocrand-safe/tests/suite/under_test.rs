//! The platform under test, and what the suite makes on it.

#[path = "../../../hip-safe/tests/common/platform_under_test.rs"]
mod platform;

pub(crate) use platform::*;

use hip_safe::Stream;
use rocrand_safe::{Generator, Kind};

/// A generator of a kind that the platform has.
pub(crate) fn generator(stream: &Stream, kind: Kind) -> Generator {
    Generator::new(stream, kind).unwrap_or_else(|error| panic!("{kind:?}: {error}"))
}
