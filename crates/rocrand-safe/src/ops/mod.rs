//! The operations, as methods of [`Generator`](crate::Generator): one file a distribution.

mod bits;
mod log_normal;
mod normal;
mod poisson;
mod uniform;

pub use bits::Bits;
pub use normal::Normal;
pub use uniform::Uniform;

use crate::{Error, Result};

mod sealed {
    /// The C functions of a type, which only this crate names.
    pub trait Sealed {}

    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for u32 {}
    impl Sealed for u64 {}
    impl Sealed for half::f16 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Checks the arguments of a normal distribution, or of its exponential.
fn check(mean: f64, deviation: f64) -> Result<()> {
    if !mean.is_finite() {
        return Err(Error::Argument { what: "the mean", value: mean, wanted: "finite" });
    }
    if !(deviation.is_finite() && deviation >= 0.0) {
        let what = "the standard deviation";
        return Err(Error::Argument { what, value: deviation, wanted: "finite and not negative" });
    }
    Ok(())
}
