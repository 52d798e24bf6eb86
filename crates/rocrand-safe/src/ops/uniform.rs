//! Uniform numbers.

use super::sealed::Sealed;
use crate::{Generator, Result, raw};
use half::f16;
use hip_safe::{DeviceRepr, DeviceSliceMut};
use hip_sys::RocrandTable;
use hip_sys::rocrand::rocrand_generator;

/// A type of floating-point numbers that generators fill uniformly: `f16`, `f32` and `f64`.
pub trait Uniform: DeviceRepr + Sealed {
    /// # Safety
    /// As the C function asks.
    #[doc(hidden)]
    unsafe fn call(
        table: &RocrandTable,
        generator: rocrand_generator,
        output: *mut Self,
        n: usize,
    ) -> raw::Result;
}

macro_rules! uniform {
    ($($T:ty, $function:ident;)*) => {$(
        impl Uniform for $T {
            unsafe fn call(
                table: &RocrandTable,
                generator: rocrand_generator,
                output: *mut Self,
                n: usize,
            ) -> raw::Result {
                // SAFETY: S1, S2: as promised; C's `__half` has the bits of an `f16`.
                unsafe { raw::$function(table, generator, output.cast(), n) }
            }
        }
    )*};
}

uniform! {
    f16, generate_uniform_half;
    f32, generate_uniform;
    f64, generate_uniform_double;
}

impl Generator {
    /// Fills with numbers that are uniform in (0, 1]: above 0, and at most 1.
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length) and [`Error::Exhausted`](crate::Error::Exhausted) for quasi-random kinds, and the errors of a call.
    #[doc(alias = "rocrand_generate_uniform")]
    #[doc(alias = "rocrand_generate_uniform_double")]
    #[doc(alias = "rocrand_generate_uniform_half")]
    pub fn fill_uniform<T: Uniform>(
        &mut self,
        output: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        // SAFETY: S1, S2: the output has that many numbers.
        unsafe {
            self.submit("uniform", output, |table, generator, output, n| T::call(table, generator, output, n))
        }
    }
}
