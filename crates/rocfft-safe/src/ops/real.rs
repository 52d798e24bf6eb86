//! Real numbers into complex ones, and back.

use super::cut_mut;
use crate::plan::Memory;
use crate::{Complex, Plan, Real, Result, Transform};
use hip_safe::{DeviceRepr, DeviceSliceMut, Stream};

impl<T: Real> Plan<T>
where
    Complex<T>: DeviceRepr,
{
    /// Transforms real numbers into complex ones. What the input has afterwards is not known.
    ///
    /// # Errors
    /// As [`Plan::complex`].
    #[doc(alias = "rocfft_execute")]
    pub fn real_forward(
        &self,
        stream: &Stream,
        input: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
        output: &mut (impl DeviceSliceMut<Item = Complex<T>> + ?Sized),
    ) -> Result<()> {
        self.check("real_forward", self.spec().transform == Transform::RealForward && !self.spec().in_place)?;
        let [needed, filled] = self.reach();
        let input = cut_mut("input", input.as_view_mut(), needed)?;
        let memory = Memory::ApartBoth(input, cut_mut("output", output.as_view_mut(), filled)?);
        // SAFETY: S2: both sides have the plan's elements.
        unsafe { self.submit(stream, memory) }
    }

    /// Transforms complex numbers into real ones. What the input has afterwards is not known.
    ///
    /// # Errors
    /// As [`Plan::complex`].
    #[doc(alias = "rocfft_execute")]
    pub fn real_inverse(
        &self,
        stream: &Stream,
        input: &mut (impl DeviceSliceMut<Item = Complex<T>> + ?Sized),
        output: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        self.check("real_inverse", self.spec().transform == Transform::RealInverse && !self.spec().in_place)?;
        let [needed, filled] = self.reach();
        let input = cut_mut("input", input.as_view_mut(), needed)?;
        let memory = Memory::ApartBoth(input, cut_mut("output", output.as_view_mut(), filled)?);
        // SAFETY: S2: both sides have the plan's elements.
        unsafe { self.submit(stream, memory) }
    }
}
