//! Results that overwrite the input.

use super::cut_mut;
use crate::plan::Memory;
use crate::{Complex, Plan, Real, Result};
use hip_safe::{DeviceRepr, DeviceSliceMut, Stream};

impl<T: Real> Plan<T>
where
    Complex<T>: DeviceRepr,
{
    /// Transforms in place. Real numbers lie two in each complex one: the first as its real part.
    ///
    /// # Errors
    /// As [`Plan::complex`].
    #[doc(alias = "rocfft_execute")]
    pub fn in_place(
        &self,
        stream: &Stream,
        numbers: &mut (impl DeviceSliceMut<Item = Complex<T>> + ?Sized),
    ) -> Result<()> {
        self.check("in_place", self.spec().in_place)?;
        let both = cut_mut("transform", numbers.as_view_mut(), self.reach_in_place())?;
        // SAFETY: S2: it has the plan's elements.
        unsafe { self.submit(stream, Memory::<Complex<T>, _>::InPlace(both)) }
    }
}
