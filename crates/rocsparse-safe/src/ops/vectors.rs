//! Sparse and dense vectors.

use super::factor;
use crate::prepared::check_length;
use crate::{Handle, Index, Result, Scalar, SparseVector, raw};
use hip_safe::{DeviceSlice, DeviceSliceMut};

impl Handle {
    /// Takes the elements at a sparse vector's indices out of a dense vector: x\[i\] = y\[index\[i\]\].
    ///
    /// # Errors
    /// [`Error::Length`](crate::Error::Length); [`Error::Status`](crate::Error::Status); [`Error::Hip`](crate::Error::Hip).
    #[doc(alias = "rocsparse_gather")]
    #[doc(alias = "rocsparse_create_spvec_descr")]
    pub fn gather<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSliceMut<Item = T>>(
        &self,
        y: &(impl DeviceSlice<Item = T> + ?Sized),
        x: &mut SparseVector<A, V>,
    ) -> Result<()> {
        let (y, elements) = (y.as_view(), x.elements());
        check_length("y", elements, y.len())?;
        if x.stored() == 0 {
            return Ok(());
        }
        let from = y.device_ptr().cast_mut().cast();
        let mut to = x.describe();
        let (indices, values) = x.split();
        let mut values = values.as_view_mut();
        to.values = values.device_ptr_mut().cast();
        let mut submission = self.stream().submission();
        submission.read(&y).read(indices).write(&mut values);
        // SAFETY: S1, S2: the vectors have these lengths, the indices were checked, and the descriptors live during the call.
        unsafe {
            self.shared().submit(submission, "gathering", |api| {
                let y = raw::create_dnvec(api, elements, from, T::TYPE)?;
                let x = raw::create_spvec(api, &to)?;
                raw::gather(api, y.raw, x.raw)
            })
        }
    }

    /// Writes a sparse vector's elements to their indices in a dense vector, and leaves the others: y\[index\[i\]\] = x\[i\].
    ///
    /// # Errors
    /// As [`Handle::gather`].
    #[doc(alias = "rocsparse_scatter")]
    pub fn scatter<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>>(
        &self,
        x: &SparseVector<A, V>,
        y: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        let (mut y, elements) = (y.as_view_mut(), x.elements());
        check_length("y", elements, y.len())?;
        if x.stored() == 0 {
            return Ok(());
        }
        let (from, to) = (x.describe(), y.device_ptr_mut().cast());
        let mut submission = self.stream().submission();
        submission.read(x.indices()).read(x.values()).write(&mut y);
        // SAFETY: S1, S2: as above.
        unsafe {
            self.shared().submit(submission, "scattering", |api| {
                let x = raw::create_spvec(api, &from)?;
                let y = raw::create_dnvec(api, elements, to, T::TYPE)?;
                raw::scatter(api, x.raw, y.raw)
            })
        }
    }

    /// Adds a sparse vector to a dense one: y = α·x + β·y.
    ///
    /// # Errors
    /// As [`Handle::gather`].
    #[doc(alias = "rocsparse_axpby")]
    pub fn axpby<I: Index, T: Scalar, A: DeviceSlice<Item = I>, V: DeviceSlice<Item = T>>(
        &self,
        alpha: T,
        x: &SparseVector<A, V>,
        beta: T,
        y: &mut (impl DeviceSliceMut<Item = T> + ?Sized),
    ) -> Result<()> {
        let (mut y, elements) = (y.as_view_mut(), x.elements());
        check_length("y", elements, y.len())?;
        if elements == 0 {
            return Ok(());
        }
        let (from, to) = (x.describe(), y.device_ptr_mut().cast());
        let mut submission = self.stream().submission();
        submission.read(x.indices()).read(x.values()).write(&mut y);
        // SAFETY: S1, S2: as above; the factors live during the call.
        unsafe {
            self.shared().submit(submission, "adding a sparse vector", |api| {
                let x = raw::create_spvec(api, &from)?;
                let y = raw::create_dnvec(api, elements, to, T::TYPE)?;
                raw::axpby(api, [factor(&alpha), factor(&beta)], x.raw, y.raw)
            })
        }
    }
}
