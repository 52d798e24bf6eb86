//! Where an operand lies: one, many at equal distances, or many anywhere.

use crate::{Error, Result};
use hip_safe::{DeviceRepr, DeviceView, DeviceViewMut};

pub(crate) use hip_safe::is_injective;

/// One operand or a batch of them; `V` is a view.
#[derive(Debug, Clone)]
pub enum Storage<V> {
    /// One.
    One(V),
    /// Many at equal distances.
    Strided {
        /// The memory of all.
        view: V,
        /// The elements from one to the next.
        stride: usize,
        /// How many there are.
        count: usize,
    },
    /// Many anywhere, each with its memory.
    Many(Vec<V>),
}

impl<V> Storage<V> {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Strided { count, .. } => *count,
            Self::Many(views) => views.len(),
        }
    }
}

/// Elements along one direction: how many, and how far apart.
pub(crate) type Extent = (usize, usize);

/// The elements from the first to the last one; none if one direction has none.
pub(crate) fn span(what: &'static str, extents: &[Extent]) -> Result<usize> {
    if extents.iter().any(|&(count, _)| count == 0) {
        return Ok(0);
    }
    let last = extents.iter().try_fold(0_usize, |sum, &(count, stride)| {
        (count - 1).checked_mul(stride).and_then(|reach| sum.checked_add(reach))
    });
    let span = last.and_then(|last| last.checked_add(1)).filter(|&span| isize::try_from(span).is_ok());
    span.ok_or(Error::SizeOverflow { what })
}

/// The part of a view that an operand uses.
pub(crate) fn cut<'a, T: DeviceRepr>(
    what: &'static str,
    view: DeviceView<'a, T>,
    needed: usize,
) -> Result<DeviceView<'a, T>> {
    check_span(what, needed, view.len())?;
    Ok(view.slice(..needed)?)
}

/// As [`cut`], to write.
pub(crate) fn cut_mut<'a, T: DeviceRepr>(
    what: &'static str,
    view: DeviceViewMut<'a, T>,
    needed: usize,
) -> Result<DeviceViewMut<'a, T>> {
    check_span(what, needed, view.len())?;
    Ok(view.into_slice(..needed)?)
}

fn check_span(what: &'static str, needed: usize, len: usize) -> Result<()> {
    if needed > len { Err(Error::Span { what, needed, len }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_operands() {
        assert_eq!(span("x", &[(3, 1), (4, 5)]).unwrap(), 18);
        assert_eq!(span("x", &[(3, 1), (0, 5)]).unwrap(), 0);
        assert_eq!(span("x", &[]).unwrap(), 1);
        assert!(matches!(span("x", &[(3, usize::MAX)]), Err(Error::SizeOverflow { what: "x" })));
        assert!(matches!(span("x", &[(3, usize::MAX / 3)]), Err(Error::SizeOverflow { .. })));
    }
}
