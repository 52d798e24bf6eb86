//! Complex numbers into complex ones.

use super::{cut, cut_mut};
use crate::plan::Memory;
use crate::{Complex, Plan, Real, Result, Transform};
use hip_safe::{DeviceRepr, DeviceSlice, DeviceSliceMut, Stream};

impl<T: Real> Plan<T>
where
    Complex<T>: DeviceRepr,
{
    /// Transforms complex numbers into others.
    ///
    /// # Errors
    /// [`Error::OtherPlan`](crate::Error::OtherPlan), [`Error::TooShort`](crate::Error::TooShort), and those of a call.
    #[doc(alias = "rocfft_execute")]
    pub fn complex(
        &self,
        stream: &Stream,
        input: &(impl DeviceSlice<Item = Complex<T>> + ?Sized),
        output: &mut (impl DeviceSliceMut<Item = Complex<T>> + ?Sized),
    ) -> Result<()> {
        self.check(
            "complex",
            matches!(self.spec().transform, Transform::Complex(_)) && !self.spec().in_place,
        )?;
        let [needed, filled] = self.reach();
        let memory =
            Memory::Apart(cut(input.as_view(), needed)?, cut_mut("output", output.as_view_mut(), filled)?);
        // SAFETY: S2, S5: both sides have the plan's elements. The input is only read: rocFFT's description of buffer assignment excludes the
        // caller's input from what a complex transform that is not in place may write.
        unsafe { self.submit(stream, memory) }
    }
}
