//! The platform under test.

#[path = "../../../hip-safe/tests/common/platform_under_test.rs"]
mod platform;

pub(crate) use platform::*;
