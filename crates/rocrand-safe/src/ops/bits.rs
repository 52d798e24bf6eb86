//! Bits.

use super::sealed::Sealed;
use crate::{Generator, Result, raw};
use hip_safe::{DeviceRepr, DeviceSliceMut};
use hip_sys::RocrandTable;
use hip_sys::rocrand::rocrand_generator;

/// A type of unsigned integers that generators fill: `u8`, `u16`, `u32` and `u64`.
pub trait Bits: DeviceRepr + Sealed {
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

macro_rules! bits {
    ($($T:ty, $function:ident;)*) => {$(
        impl Bits for $T {
            unsafe fn call(
                table: &RocrandTable,
                generator: rocrand_generator,
                output: *mut Self,
                n: usize,
            ) -> raw::Result {
                // SAFETY: S1, S2: as promised.
                unsafe { raw::$function(table, generator, output, n) }
            }
        }
    )*};
}

bits! {
    u8, generate_char;
    u16, generate_short;
    u32, generate;
    u64, generate_long_long;
}

impl Generator {
    /// Fills with bits: each value of the type is equally probable.
    ///
    /// # Errors
    /// [`Error::NotOfKind`](crate::Error::NotOfKind) for `u64` from a kind with words of 32 bits,
    /// [`Error::Length`](crate::Error::Length) and [`Error::Exhausted`](crate::Error::Exhausted) for quasi-random kinds, and the errors of a call.
    #[doc(alias = "rocrand_generate")]
    #[doc(alias = "rocrand_generate_char")]
    #[doc(alias = "rocrand_generate_short")]
    #[doc(alias = "rocrand_generate_long_long")]
    pub fn fill_bits<T: Bits>(
        &mut self,
        output: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        if size_of::<T>() * 8 > self.kind().word_bits() as usize {
            let remedy = "take Threefry2x64x20, Threefry4x64x20 or a Sobol64";
            return Err(self.lacks("numbers of 64 bits", remedy));
        }
        // SAFETY: S1, S2: the output has that many numbers.
        unsafe {
            self.submit("bits", output, |table, generator, output, n| T::call(table, generator, output, n))
        }
    }
}
