//! rocRAND's numbers as cuRAND's, and back.

use cudarc::curand::sys::{curandRngType as theirs, curandStatus};
use hip_sys::hip::hipError_t;
pub(super) use hip_sys::provider::ensure;
use hip_sys::rocrand::{rocrand_ordering as ordering, rocrand_rng_type as Rng, rocrand_status as status};

/// The outcome of a call: success, or another status.
pub(super) type Outcome<T = ()> = Result<T, status>;

pub(super) const NOT_CREATED: status = status::ROCRAND_STATUS_NOT_CREATED;
pub(super) const TYPE_ERROR: status = status::ROCRAND_STATUS_TYPE_ERROR;
pub(super) const OUT_OF_RANGE: status = status::ROCRAND_STATUS_OUT_OF_RANGE;
pub(super) const NOT_MULTIPLE: status = status::ROCRAND_STATUS_LENGTH_NOT_MULTIPLE;
const INTERNAL: status = status::ROCRAND_STATUS_INTERNAL_ERROR;

/// Turns an outcome into the status that a function returns.
pub(super) fn status_of(outcome: Outcome) -> status {
    outcome.err().unwrap_or(status::ROCRAND_STATUS_SUCCESS)
}

/// cuRAND's number of a kind.
pub(super) fn kind_of(kind: Rng) -> Outcome<u32> {
    let theirs = match kind {
        Rng::ROCRAND_RNG_PSEUDO_DEFAULT | Rng::ROCRAND_RNG_PSEUDO_XORWOW => theirs::CURAND_RNG_PSEUDO_XORWOW,
        Rng::ROCRAND_RNG_PSEUDO_MRG32K3A => theirs::CURAND_RNG_PSEUDO_MRG32K3A,
        Rng::ROCRAND_RNG_PSEUDO_MTGP32 => theirs::CURAND_RNG_PSEUDO_MTGP32,
        Rng::ROCRAND_RNG_PSEUDO_MT19937 => theirs::CURAND_RNG_PSEUDO_MT19937,
        Rng::ROCRAND_RNG_PSEUDO_PHILOX4_32_10 => theirs::CURAND_RNG_PSEUDO_PHILOX4_32_10,
        Rng::ROCRAND_RNG_QUASI_DEFAULT | Rng::ROCRAND_RNG_QUASI_SOBOL32 => theirs::CURAND_RNG_QUASI_SOBOL32,
        Rng::ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL32 => theirs::CURAND_RNG_QUASI_SCRAMBLED_SOBOL32,
        Rng::ROCRAND_RNG_QUASI_SOBOL64 => theirs::CURAND_RNG_QUASI_SOBOL64,
        Rng::ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL64 => theirs::CURAND_RNG_QUASI_SCRAMBLED_SOBOL64,
        _ => return Err(TYPE_ERROR),
    };
    Ok(theirs as u32)
}

/// cuRAND's number of an ordering, which is the same.
pub(super) fn ordering_of(order: ordering) -> Outcome<u32> {
    let known = matches!(
        order,
        ordering::ROCRAND_ORDERING_PSEUDO_BEST
            | ordering::ROCRAND_ORDERING_PSEUDO_DEFAULT
            | ordering::ROCRAND_ORDERING_PSEUDO_SEEDED
            | ordering::ROCRAND_ORDERING_PSEUDO_LEGACY
            | ordering::ROCRAND_ORDERING_PSEUDO_DYNAMIC
            | ordering::ROCRAND_ORDERING_QUASI_DEFAULT
    );
    ensure(known, OUT_OF_RANGE).map(|()| order.0)
}

const _: () = {
    use cudarc::curand::sys::curandOrdering as theirs;
    assert!(ordering::ROCRAND_ORDERING_PSEUDO_BEST.0 == theirs::CURAND_ORDERING_PSEUDO_BEST as u32);
    assert!(ordering::ROCRAND_ORDERING_PSEUDO_DEFAULT.0 == theirs::CURAND_ORDERING_PSEUDO_DEFAULT as u32);
    assert!(ordering::ROCRAND_ORDERING_PSEUDO_SEEDED.0 == theirs::CURAND_ORDERING_PSEUDO_SEEDED as u32);
    assert!(ordering::ROCRAND_ORDERING_PSEUDO_LEGACY.0 == theirs::CURAND_ORDERING_PSEUDO_LEGACY as u32);
    assert!(ordering::ROCRAND_ORDERING_PSEUDO_DYNAMIC.0 == theirs::CURAND_ORDERING_PSEUDO_DYNAMIC as u32);
    assert!(ordering::ROCRAND_ORDERING_QUASI_DEFAULT.0 == theirs::CURAND_ORDERING_QUASI_DEFAULT as u32);
};

/// cuRAND's status as an outcome. Up to 106 both libraries have the same numbers.
pub(super) fn done(code: u32) -> Outcome {
    const LAUNCH: u32 = curandStatus::CURAND_STATUS_LAUNCH_FAILURE as u32;
    const EARLIER: u32 = curandStatus::CURAND_STATUS_PREEXISTING_FAILURE as u32;
    match code {
        0 => Ok(()),
        100..=106 => Err(status(code)),
        LAUNCH | EARLIER => Err(status::ROCRAND_STATUS_LAUNCH_FAILURE),
        _ => Err(INTERNAL),
    }
}

/// The driver's status as an outcome.
pub(super) fn driven<T>(result: Result<T, hipError_t>) -> Outcome<T> {
    result.map_err(|error| match error {
        hipError_t::hipErrorOutOfMemory => status::ROCRAND_STATUS_ALLOCATION_FAILED,
        _ => INTERNAL,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_of_both_libraries() {
        assert_eq!(done(0), Ok(()));
        assert_eq!(done(curandStatus::CURAND_STATUS_TYPE_ERROR as u32), Err(TYPE_ERROR));
        assert_eq!(done(curandStatus::CURAND_STATUS_LENGTH_NOT_MULTIPLE as u32), Err(NOT_MULTIPLE));
        assert_eq!(done(LAUNCHED), Err(status::ROCRAND_STATUS_LAUNCH_FAILURE));
        assert_eq!(done(curandStatus::CURAND_STATUS_ARCH_MISMATCH as u32), Err(INTERNAL));
    }

    const LAUNCHED: u32 = curandStatus::CURAND_STATUS_LAUNCH_FAILURE as u32;

    #[test]
    fn kinds_that_curand_lacks() {
        assert_eq!(kind_of(Rng::ROCRAND_RNG_PSEUDO_PHILOX4_32_10), Ok(161));
        for lacking in [
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY2_32_20,
            Rng::ROCRAND_RNG_PSEUDO_THREEFRY4_64_20,
            Rng::ROCRAND_RNG_PSEUDO_MRG31K3P,
            Rng::ROCRAND_RNG_PSEUDO_LFSR113,
            Rng(7),
        ] {
            assert_eq!(kind_of(lacking), Err(TYPE_ERROR));
        }
    }
}
