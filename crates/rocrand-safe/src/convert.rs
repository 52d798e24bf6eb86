//! From our values to C's and back.

use crate::{Kind, Ordering};
use hip_sys::rocrand::{rocrand_ordering, rocrand_rng_type as c, rocrand_status};

pub(crate) fn kind(kind: Kind) -> c {
    match kind {
        Kind::Xorwow => c::ROCRAND_RNG_PSEUDO_XORWOW,
        Kind::Mrg32k3a => c::ROCRAND_RNG_PSEUDO_MRG32K3A,
        Kind::Mtgp32 => c::ROCRAND_RNG_PSEUDO_MTGP32,
        Kind::Philox4x32x10 => c::ROCRAND_RNG_PSEUDO_PHILOX4_32_10,
        Kind::Mrg31k3p => c::ROCRAND_RNG_PSEUDO_MRG31K3P,
        Kind::Lfsr113 => c::ROCRAND_RNG_PSEUDO_LFSR113,
        Kind::Mt19937 => c::ROCRAND_RNG_PSEUDO_MT19937,
        Kind::Threefry2x32x20 => c::ROCRAND_RNG_PSEUDO_THREEFRY2_32_20,
        Kind::Threefry2x64x20 => c::ROCRAND_RNG_PSEUDO_THREEFRY2_64_20,
        Kind::Threefry4x32x20 => c::ROCRAND_RNG_PSEUDO_THREEFRY4_32_20,
        Kind::Threefry4x64x20 => c::ROCRAND_RNG_PSEUDO_THREEFRY4_64_20,
        Kind::Sobol32 => c::ROCRAND_RNG_QUASI_SOBOL32,
        Kind::ScrambledSobol32 => c::ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL32,
        Kind::Sobol64 => c::ROCRAND_RNG_QUASI_SOBOL64,
        Kind::ScrambledSobol64 => c::ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL64,
    }
}

pub(crate) fn ordering(ordering: Ordering) -> rocrand_ordering {
    match ordering {
        Ordering::Best => rocrand_ordering::ROCRAND_ORDERING_PSEUDO_BEST,
        Ordering::Default => rocrand_ordering::ROCRAND_ORDERING_PSEUDO_DEFAULT,
        Ordering::Seeded => rocrand_ordering::ROCRAND_ORDERING_PSEUDO_SEEDED,
        Ordering::Legacy => rocrand_ordering::ROCRAND_ORDERING_PSEUDO_LEGACY,
        Ordering::Dynamic => rocrand_ordering::ROCRAND_ORDERING_PSEUDO_DYNAMIC,
    }
}

/// The name of a status.
pub(crate) fn status_name(status: rocrand_status) -> &'static str {
    hip_sys::layout::ROCRAND.status_name("rocrand_status", status.0)
}
