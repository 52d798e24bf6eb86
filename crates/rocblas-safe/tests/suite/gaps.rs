//! What a platform does not do, with the reason: data, so that a gap that is closed, or one more, is seen.

use crate::under_test;
use rocblas_safe::{Error, Result};

/// What a platform answers to be not implemented.
struct Gap {
    platform: &'static str,
    /// The beginning of the C function's name.
    function: &'static str,
    /// A part of what the test says of the case.
    case: &'static str,
    reason: &'static str,
}

const GAPS: &[Gap] = &[Gap {
    platform: "nvidia",
    function: "rocblas_gemm_ex",
    case: "gemm_ex of i8, uneven",
    reason: "cuBLAS multiplies bytes only where leading dimensions are multiples of 4",
}];

/// Whether the call was done. A gap of the platform's is said and passed over; every other error ends the test.
#[track_caller]
pub(crate) fn done(result: Result<()>, context: impl Fn() -> String) -> bool {
    match result {
        Ok(()) => true,
        Err(Error::Status { function, code: 2, .. }) => {
            let reason = gap(function, &context());
            println!(
                "gap: {function}: {}",
                reason.unwrap_or_else(|| panic!("{}: {function} is missing", context()))
            );
            false
        }
        Err(error) => panic!("{}: {error}", context()),
    }
}

/// cuBLAS, and ROCm before 6.0, multiply matrices instead, whose rows go forward.
pub(crate) fn lacks_backward(result: &Result<()>) -> bool {
    let lacks = matches!(result, Err(Error::Unsupported(_)));
    assert!(!lacks || under_test::name() != "host", "hip-host has all of them");
    lacks
}

fn gap(function: &str, case: &str) -> Option<&'static str> {
    let here = under_test::name();
    let known =
        |gap: &&Gap| gap.platform == here && function.starts_with(gap.function) && case.starts_with(gap.case);
    GAPS.iter().find(known).map(|gap| gap.reason)
}
