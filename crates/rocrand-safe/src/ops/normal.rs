//! Normal numbers.

use super::{check, sealed::Sealed};
use crate::{Generator, Result, raw};
use hip_safe::{DeviceRepr, DeviceSliceMut};
use hip_sys::RocrandTable;
use hip_sys::rocrand::rocrand_generator;

/// A type of floating-point numbers with normal distributions: `f32` and `f64`.
pub trait Normal: DeviceRepr + Sealed + Into<f64> + Copy {
    /// # Safety
    /// As the C function asks.
    #[doc(hidden)]
    unsafe fn normal(
        table: &RocrandTable,
        generator: rocrand_generator,
        output: *mut Self,
        n: usize,
        law: (Self, Self),
    ) -> raw::Result;

    /// # Safety
    /// As the C function asks.
    #[doc(hidden)]
    unsafe fn log_normal(
        table: &RocrandTable,
        generator: rocrand_generator,
        output: *mut Self,
        n: usize,
        law: (Self, Self),
    ) -> raw::Result;
}

macro_rules! normal {
    ($($T:ty: $($method:ident $function:ident),*;)*) => {$(
        impl Normal for $T {$(
            unsafe fn $method(
                table: &RocrandTable,
                generator: rocrand_generator,
                output: *mut Self,
                n: usize,
                (mean, deviation): (Self, Self),
            ) -> raw::Result {
                // SAFETY: S1, S2: as promised.
                unsafe { raw::$function(table, generator, output, n, mean, deviation) }
            }
        )*}
    )*};
}

normal! {
    f32: normal generate_normal, log_normal generate_log_normal;
    f64: normal generate_normal_double, log_normal generate_log_normal_double;
}

impl Generator {
    /// Fills with normal numbers of this mean and standard deviation. Those of quasi-random kinds, and `f64` of Threefry2x32x20, come from an
    /// approximation of the inverse distribution that is good to three digits.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument), [`Error::Length`](crate::Error::Length) and
    /// [`Error::Exhausted`](crate::Error::Exhausted) for quasi-random kinds, and the errors of a call. cuRAND refuses an odd number of them from a
    /// pseudo-random kind.
    #[doc(alias = "rocrand_generate_normal")]
    #[doc(alias = "rocrand_generate_normal_double")]
    pub fn fill_normal<T: Normal>(
        &mut self,
        output: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
        mean: T,
        deviation: T,
    ) -> Result<()> {
        check(mean.into(), deviation.into())?;
        let law = (mean, deviation);
        // SAFETY: S1, S2: the output has that many numbers.
        unsafe {
            self.submit("normal", output, |table, generator, output, n| {
                T::normal(table, generator, output, n, law)
            })
        }
    }
}
