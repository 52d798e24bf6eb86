//! The executions, as methods of [`Plan`](crate::Plan).

mod complex;
mod in_place;
mod real;

use crate::{Complex, Error, Plan, Real, Result, Transform};
use hip_safe::{DeviceRepr, DeviceView, DeviceViewMut};

impl<T: Real> Plan<T>
where
    Complex<T>: DeviceRepr,
{
    /// Fails if the plan is of something else than the method is for.
    fn check(&self, method: &'static str, fits: bool) -> Result<()> {
        if fits {
            return Ok(());
        }
        let (plan, right) = match (self.spec().transform, self.spec().in_place) {
            (_, true) => ("a transform in place", "in_place"),
            (Transform::Complex(_), false) => ("complex numbers", "complex"),
            (Transform::RealForward, false) => ("real numbers", "real_forward"),
            (Transform::RealInverse, false) => ("complex numbers with a real result", "real_inverse"),
        };
        Err(Error::OtherPlan { method, plan, right })
    }
}

/// The part of a view that an input uses.
fn cut<'a, E: DeviceRepr>(view: DeviceView<'a, E>, needed: usize) -> Result<DeviceView<'a, E>> {
    check_length("input", needed, view.len())?;
    Ok(view.slice(..needed)?)
}

/// The part of a view that is written.
fn cut_mut<'a, E: DeviceRepr>(
    what: &'static str,
    view: DeviceViewMut<'a, E>,
    needed: usize,
) -> Result<DeviceViewMut<'a, E>> {
    check_length(what, needed, view.len())?;
    Ok(view.into_slice(..needed)?)
}

fn check_length(what: &'static str, needed: usize, len: usize) -> Result<()> {
    if needed > len { Err(Error::TooShort { what, needed, len }) } else { Ok(()) }
}
