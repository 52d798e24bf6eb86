//! Exponentials of normal numbers.

use super::check;
use crate::{Generator, Normal, Result};
use hip_safe::DeviceSliceMut;

impl Generator {
    /// Fills with numbers whose logarithms are normal, of this mean and standard deviation.
    ///
    /// # Errors
    /// As [`Generator::fill_normal`].
    #[doc(alias = "rocrand_generate_log_normal")]
    #[doc(alias = "rocrand_generate_log_normal_double")]
    pub fn fill_log_normal<T: Normal>(
        &mut self,
        output: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
        mean: T,
        deviation: T,
    ) -> Result<()> {
        check(mean.into(), deviation.into())?;
        let law = (mean, deviation);
        // SAFETY: S1, S2: the output has that many numbers.
        unsafe {
            self.submit("log_normal", output, |table, generator, output, n| {
                T::log_normal(table, generator, output, n, law)
            })
        }
    }
}
