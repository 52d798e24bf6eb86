//! What a platform does not do, with the reason: data, so that a gap that is closed, or one more, is seen.

use crate::under_test;
use rocblas_safe::{Error, Result};

/// Platform, the beginning of a C function's name, and why it answers that it is not implemented.
const GAPS: &[(&str, &str, &str)] = &[];

/// Whether the call was done. A gap of the platform's is said and passed over; every other error ends the test.
#[track_caller]
pub(crate) fn done(result: Result<()>, context: impl Fn() -> String) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::Status { function, code: 2, .. }) if gap(function).is_some() => {
            println!("gap: {function}: {}", gap(function).unwrap_or_default());
            false
        }
        Err(error) => panic!("{}: {error}", context()),
    }
}

fn gap(function: &str) -> Option<&'static str> {
    let here = under_test::name();
    GAPS.iter().find(|(platform, name, _)| *platform == here && function.starts_with(name)).map(|gap| gap.2)
}
