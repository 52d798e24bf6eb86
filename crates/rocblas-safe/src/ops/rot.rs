//! Rotations in the plane.

use super::check;
use crate::plan::Plan;
use crate::raw::{Form, Operand};
use crate::{Blas, Complex, Element, Error, Handle, Result, Scalar, VectorBatchMut, convert};
use hip_safe::DeviceViewMut;

/// A rotation that makes the second of two numbers zero: see [`Handle::rotg`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation<T: Element> {
    /// The first number after the rotation.
    pub r: T,
    /// For real numbers a value from which the rotation can be computed again, as in BLAS; for complex numbers the unchanged second number.
    pub z: T,
    /// The cosine.
    pub c: T::Real,
    /// The sine.
    pub s: T,
}

impl Handle {
    /// Rotates each pair of elements: `x = c x + s y` and, from the old `x`, `y = c y - conj(s) x`. For 16-bit types it is computed in `f32`;
    /// for `bf16` rocBLAS 5.2 rounds more often, as seen on an emulated card.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::BatchCount`], [`Error::MixedScalars`], and the errors of a call.
    #[doc(alias = "rocblas_srot")]
    #[doc(alias = "rocblas_drot")]
    #[doc(alias = "rocblas_crot")]
    #[doc(alias = "rocblas_zrot")]
    #[doc(alias = "rocblas_rot_ex")]
    pub fn rot<'a, T: Element>(
        &self,
        x: impl Into<VectorBatchMut<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
        c: impl Into<Scalar<'a, T::Real>>,
        s: impl Into<Scalar<'a, T>>,
    ) -> Result<()> {
        let (x, y, c, s) = (x.into(), y.into(), c.into(), s.into());
        check("rot", "the length of x", x.len(), y.len())?;
        let n = convert::size(x.len());
        let mut plan = Plan::new("rot");
        let (c, s) = (plan.scalar(&c)?, plan.scalar(&s)?);
        plan.write_vector(x)?;
        plan.write_vector(y)?;
        // SAFETY: S2: the vectors have that many elements.
        unsafe { plan.submit(self, |call, o| T::rot(call, n, o[0], o[1], c, s)) }
    }

    /// As [`Handle::rot`], for complex vectors and a real sine.
    ///
    /// # Errors
    /// As there.
    #[doc(alias = "rocblas_csrot")]
    #[doc(alias = "rocblas_zdrot")]
    pub fn rot_real<'a, T: Complex>(
        &self,
        x: impl Into<VectorBatchMut<'a, T>>,
        y: impl Into<VectorBatchMut<'a, T>>,
        c: impl Into<Scalar<'a, T::Real>>,
        s: impl Into<Scalar<'a, T::Real>>,
    ) -> Result<()> {
        let (x, y, c, s) = (x.into(), y.into(), c.into(), s.into());
        check("rot_real", "the length of x", x.len(), y.len())?;
        let n = convert::size(x.len());
        let mut plan = Plan::new("rot_real");
        let (c, s) = (plan.scalar(&c)?, plan.scalar(&s)?);
        plan.write_vector(x)?;
        plan.write_vector(y)?;
        // SAFETY: S2: the vectors have that many elements.
        unsafe { plan.submit(self, |call, o| T::rot_real(call, n, o[0], o[1], c, s)) }
    }

    /// The rotation that turns (a, b) into (r, 0), for numbers on the host.
    ///
    /// # Errors
    /// The errors of a call; [`Error::Hip`] while the stream captures.
    #[doc(alias = "rocblas_srotg")]
    #[doc(alias = "rocblas_drotg")]
    #[doc(alias = "rocblas_crotg")]
    #[doc(alias = "rocblas_zrotg")]
    pub fn rotg<T: Blas>(&self, a: T, b: T) -> Result<Rotation<T>> {
        let stream = self.stream();
        let zero = T::ZERO_ONE.0;
        let mut numbers = stream.upload(&[a, b, zero])?;
        let mut cosine = stream.alloc_zeros::<T::Real>(1)?;
        {
            let (a, rest) = numbers.view_mut().into_split_at(1)?;
            let (b, s) = rest.into_split_at(1)?;
            self.rotg_on_device(a, b, cosine.view_mut(), s)?;
        }
        let numbers = stream.download(&numbers)?;
        let cosine = stream.download(&cosine)?;
        match (numbers.as_slice(), cosine.as_slice()) {
            (&[r, z, s], &[c]) => Ok(Rotation { r, z, c, s }),
            _ => Err(Error::ScalarLen { what: "a rotation", wanted: 3, got: numbers.len() }),
        }
    }

    /// As [`Handle::rotg`] for numbers in device memory, one rotation for each element: `a` and `b` become r and z, `c` and `s` the cosine and the
    /// sine. It does not wait.
    ///
    /// # Errors
    /// [`Error::Shape`] if the views differ in length, and the errors of a call.
    #[doc(alias = "rocblas_srotg_strided_batched")]
    pub fn rotg_on_device<'a, T: Blas>(
        &self,
        a: DeviceViewMut<'a, T>,
        b: DeviceViewMut<'a, T>,
        c: DeviceViewMut<'a, T::Real>,
        s: DeviceViewMut<'a, T>,
    ) -> Result<()> {
        const OP: &str = "rotg";
        let count = a.len();
        check(OP, "the length of b", b.len(), count)?;
        check(OP, "the length of c", c.len(), count)?;
        check(OP, "the length of s", s.len(), count)?;
        if count == 0 {
            return Ok(());
        }
        let mut plan = Plan::new(OP);
        plan.on_device();
        let addresses = [plan.note_write(a)?, plan.note_write(b)?, plan.note_write(c)?, plan.note_write(s)?];
        let [a, b, c, s] = addresses.map(|address| Operand { address, ld: 1, stride: 1 });
        // SAFETY: S2: each view has that many elements.
        unsafe {
            plan.submit(self, |call, _| {
                let form = if count == 1 { Form::Single } else { Form::Strided };
                let call = call.with(form, convert::size(count));
                T::rotg(&call, a, b, c, s)
            })
        }
    }
}
