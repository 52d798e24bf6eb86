//! Counts with Poisson's distribution.

use crate::{Error, Generator, Result, raw};
use hip_safe::DeviceSliceMut;

impl Generator {
    /// Fills with counts that have Poisson's distribution. Above a mean of 4000 they are rounded normal numbers.
    ///
    /// # Errors
    /// [`Error::Argument`] for a mean that is not above 0 and at most 2^31, [`Error::Length`] and [`Error::Exhausted`] for quasi-random kinds,
    /// and the errors of a call.
    #[doc(alias = "rocrand_generate_poisson")]
    pub fn fill_poisson(
        &mut self,
        output: &mut (impl DeviceSliceMut<Item = u32> + ?Sized),
        mean: f64,
    ) -> Result<()> {
        if !(mean > 0.0 && mean <= LARGEST) {
            let wanted = "above 0 and at most 2147483648";
            return Err(Error::Argument { what: "the mean of Poisson's distribution", value: mean, wanted });
        }
        // SAFETY: S1, S2: the output has that many numbers.
        unsafe {
            self.submit("poisson", output, |table, generator, output, n| {
                raw::generate_poisson(table, generator, output, n, mean)
            })
        }
    }
}

/// Larger means have counts that 32 bits do not hold.
const LARGEST: f64 = 2_147_483_648.0;
