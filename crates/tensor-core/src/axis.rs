//! Axes as arguments: from the front, or negative from the end.

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};
use crate::shape::{Dims, Shape};

/// Seals the traits: operations trust that a resolved axis exists.
mod sealed {
    pub trait Sealed {}
}

/// One axis of a tensor: `0` is the first, `-1` the last. Implemented for `usize`, `isize` and `i32`. The trait is
/// sealed, because operations rely on the resolved axis to exist.
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy)]
/// struct Ninth;
///
/// impl tensor_core::Axis for Ninth {
///     fn resolve(self, _: &tensor_core::Shape, _: &'static str) -> tensor_core::Result<usize> {
///         Ok(9)
///     }
/// }
/// ```
pub trait Axis: Copy + sealed::Sealed {
    /// The axis counted from the front.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] of `operation` if `shape` has no such axis.
    fn resolve(self, shape: &Shape, operation: &'static str) -> Result<usize>;
}

/// An axis counted from the end, under candle's names. It is the same axis as a negative number.
///
/// ```
/// use tensor_core::{D, Device, Tensor};
///
/// # fn main() -> tensor_core::Result<()> {
/// let x = Tensor::new([[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
/// assert_eq!(x.sum(D::Minus1)?.to_vec1::<f32>()?, [6.0, 15.0]);
/// assert_eq!(x.sum((0, D::Minus1))?.to_vec0::<f32>()?, 21.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum D {
    /// The last axis.
    Minus1,
    /// The axis before the last.
    Minus2,
    /// The axis at this distance from the end; `Minus(1)` is the last. There is no axis `Minus(0)`.
    Minus(usize),
}

/// A set of axes: one [`Axis`], an array, slice or vector of them, or a tuple, whose members may differ in type. An empty set
/// means no axes. The trait is sealed, like [`Axis`].
///
/// ```compile_fail,E0277
/// struct Twice;
///
/// impl tensor_core::Axes for Twice {
///     fn resolve_all(&self, _: &tensor_core::Shape, _: &'static str) -> tensor_core::Result<Vec<usize>> {
///         Ok(vec![0, 0])
///     }
/// }
/// ```
pub trait Axes: sealed::Sealed {
    /// The axes counted from the front, in the order given.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`] or [`ErrorKind::RepeatedAxis`] of `operation`.
    fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>>;
}

/// Resolves axis number `axis`; negative ones count from the end.
fn resolve(axis: i64, shape: &Shape, operation: &'static str) -> Result<usize> {
    let rank = shape.rank() as i64;
    let front = if axis < 0 { axis.saturating_add(rank) } else { axis };
    if (0..rank).contains(&front) {
        Ok(front as usize)
    } else {
        Err(Error::new(operation, ErrorKind::Axis { axis, shape: shape.clone() }))
    }
}

/// Resolves each axis, and rejects repeated ones.
fn resolve_all<A: Axis>(axes: &[A], shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
    let mut seen = AxisSet::none_of(shape.rank());
    let mut resolved = Vec::with_capacity(axes.len());
    for axis in axes {
        let axis = axis.resolve(shape, operation)?;
        if !seen.insert(axis) {
            return Err(Error::new(operation, ErrorKind::RepeatedAxis { axis, shape: shape.clone() }));
        }
        resolved.push(axis);
    }
    Ok(resolved)
}

macro_rules! axis {
    ($($type:ty),+) => {
        $(
            impl sealed::Sealed for $type {}

            impl Axis for $type {
                fn resolve(self, shape: &Shape, operation: &'static str) -> Result<usize> {
                    resolve(i64::try_from(self).unwrap_or(i64::MAX), shape, operation)
                }
            }

            impl Axes for $type {
                fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
                    resolve_all(&[*self], shape, operation)
                }
            }
        )+
    };
}

axis!(usize, isize, i32);

impl D {
    /// How far from the end.
    fn distance(self) -> usize {
        match self {
            D::Minus1 => 1,
            D::Minus2 => 2,
            D::Minus(distance) => distance,
        }
    }
}

impl sealed::Sealed for D {}

impl Axis for D {
    fn resolve(self, shape: &Shape, operation: &'static str) -> Result<usize> {
        let distance = self.distance();
        // No tensor has as many axes as i64 has numbers, so a distance beyond them is out of range, too. A distance of 0 is
        // the position behind the last axis.
        let axis = match i64::try_from(distance) {
            Ok(0) => shape.rank() as i64,
            Ok(distance) => -distance,
            Err(_) => i64::MIN,
        };
        resolve(axis, shape, operation)
    }
}

impl Axes for D {
    fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
        resolve_all(&[*self], shape, operation)
    }
}

macro_rules! tuples {
    ($(($($part:ident),*))+) => {
        $(
            impl<$($part: Axis),*> sealed::Sealed for ($($part,)*) {}

            impl<$($part: Axis),*> Axes for ($($part,)*) {
                fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
                    #[allow(non_snake_case)]
                    let ($($part,)*) = *self;
                    let axes: &[usize] = &[$($part.resolve(shape, operation)?),*];
                    resolve_all(axes, shape, operation)
                }
            }
        )+
    };
}

tuples! { () (A) (A, B) (A, B, C) (A, B, C, E) (A, B, C, E, F) (A, B, C, E, F, G) }

impl<A: Axis> sealed::Sealed for [A] {}

impl<A: Axis> Axes for [A] {
    fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
        resolve_all(self, shape, operation)
    }
}

impl<A: Axis, const N: usize> sealed::Sealed for [A; N] {}

impl<A: Axis, const N: usize> Axes for [A; N] {
    fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
        resolve_all(self, shape, operation)
    }
}

impl<A: Axis> sealed::Sealed for Vec<A> {}

impl<A: Axis> Axes for Vec<A> {
    fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
        resolve_all(self, shape, operation)
    }
}

impl<T: Axes + ?Sized> sealed::Sealed for &T {}

impl<T: Axes + ?Sized> Axes for &T {
    fn resolve_all(&self, shape: &Shape, operation: &'static str) -> Result<Vec<usize>> {
        (**self).resolve_all(shape, operation)
    }
}

/// Some of a number of axes. Ranks have no limit, so whoever asks of every axis whether it is one of many asks this: a search would make
/// the work quadratic.
pub(crate) struct AxisSet(SmallVec<[bool; 16]>);

impl AxisSet {
    /// None of `rank` axes.
    fn none_of(rank: usize) -> AxisSet {
        AxisSet(SmallVec::from_elem(false, rank))
    }

    /// Those of `rank` axes that are among `axes`.
    pub(crate) fn of(rank: usize, axes: &[usize]) -> AxisSet {
        let mut set = AxisSet::none_of(rank);
        axes.iter().filter(|axis| **axis < rank).for_each(|&axis| set.0[axis] = true);
        set
    }

    pub(crate) fn contains(&self, axis: usize) -> bool {
        self.0[axis]
    }

    /// False if it is there already.
    fn insert(&mut self, axis: usize) -> bool {
        !std::mem::replace(&mut self.0[axis], true)
    }
}

/// All of `rank` axes: those that are not among `axes`, then those that are, each in their order.
pub(crate) fn behind_others(rank: usize, axes: &[usize]) -> Vec<usize> {
    let set = AxisSet::of(rank, axes);
    let (mut chosen, mut others) = (Vec::with_capacity(axes.len()), Vec::with_capacity(rank));
    (0..rank).for_each(|axis| if set.contains(axis) { chosen.push(axis) } else { others.push(axis) });
    others.append(&mut chosen);
    others
}

/// Every axis of `shape`.
pub(crate) fn all_axes(shape: &Shape) -> Vec<usize> {
    (0..shape.rank()).collect()
}

/// The shape after reducing `axes`: without them, or with length 1 if `keepdim`.
pub(crate) fn reduced_shape(shape: &Shape, axes: &[usize], keepdim: bool) -> Shape {
    let reduced = AxisSet::of(shape.rank(), axes);
    let mut dims = Dims::new();
    for (axis, &length) in shape.iter().enumerate() {
        if !reduced.contains(axis) {
            dims.push(length);
        } else if keepdim {
            dims.push(1);
        }
    }
    dims.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_count_from_both_ends() {
        let shape = Shape::from([2, 3, 4]);
        assert_eq!((-1).resolve(&shape, "sum").unwrap(), 2);
        assert_eq!(1usize.resolve(&shape, "sum").unwrap(), 1);
        assert_eq!([0, -1].resolve_all(&shape, "sum").unwrap(), [0, 2]);
        assert!(Vec::<usize>::new().resolve_all(&shape, "sum").unwrap().is_empty());
    }

    #[test]
    fn axes_have_names_and_come_in_tuples() {
        let shape = Shape::from([2, 3, 4]);
        assert_eq!(D::Minus1.resolve(&shape, "sum").unwrap(), 2);
        assert_eq!(D::Minus2.resolve(&shape, "sum").unwrap(), 1);
        assert_eq!(D::Minus(3).resolve(&shape, "sum").unwrap(), 0);
        assert_eq!((D::Minus1, 0usize, -2).resolve_all(&shape, "sum").unwrap(), [2, 0, 1]);
        assert_eq!((1,).resolve_all(&shape, "sum").unwrap(), [1]);
        assert!(().resolve_all(&shape, "sum").unwrap().is_empty());
        let message = |axes: &dyn Axes| axes.resolve_all(&shape, "sum").unwrap_err().to_string();
        assert_eq!(message(&D::Minus(4)), "sum: axis -4 is out of range for [2, 3, 4]");
        assert_eq!(message(&D::Minus(0)), "sum: axis 3 is out of range for [2, 3, 4]");
        assert_eq!(message(&(2, D::Minus1)), "sum: axis 2 is given twice for [2, 3, 4]");
        assert!(D::Minus(usize::MAX).resolve(&shape, "sum").is_err());
    }

    #[test]
    fn wrong_axes_are_named() {
        let shape = Shape::from([2, 3]);
        let message = |axes: &[i32]| axes.resolve_all(&shape, "sum").unwrap_err().to_string();
        assert_eq!(message(&[2]), "sum: axis 2 is out of range for [2, 3]");
        assert_eq!(message(&[-3]), "sum: axis -3 is out of range for [2, 3]");
        assert_eq!(message(&[i32::MIN]), "sum: axis -2147483648 is out of range for [2, 3]");
        assert_eq!(message(&[1, -1]), "sum: axis 1 is given twice for [2, 3]");
        assert!(usize::MAX.resolve(&shape, "sum").is_err());
    }

    #[test]
    fn chosen_axes_are_moved_to_the_end() {
        assert_eq!(behind_others(5, &[3, 0]), [1, 2, 4, 0, 3]);
        assert_eq!(behind_others(2, &[]), [0, 1]);
        assert_eq!(reduced_shape(&Shape::from([2, 3, 4]), &[2, 0], true), Shape::from([1, 3, 1]));
        assert_eq!(reduced_shape(&Shape::from([2, 3, 4]), &[2, 0], false), Shape::from([3]));
    }

    /// A search among the axes for each of them would take minutes.
    #[test]
    fn many_axes_take_little_time() {
        let started = std::time::Instant::now();
        let rank = 400_000;
        let shape = Shape::from(vec![1; rank]);
        let mut axes: Vec<isize> = (0..rank as isize).map(|axis| -1 - axis).collect();
        let resolved = axes.resolve_all(&shape, "sum").unwrap();
        assert!(resolved.iter().eq((0..rank).rev().collect::<Vec<_>>().iter()));
        assert_eq!(reduced_shape(&shape, &resolved, false).rank(), 0);
        let (kept, reduced) = crate::Layout::contiguous(shape.clone(), "sum").unwrap().split(&resolved);
        assert_eq!((kept.rank(), reduced.rank()), (0, rank));
        assert_eq!(behind_others(rank, &resolved[1..])[0], rank - 1);
        axes[rank - 1] = 1;
        assert!(matches!(
            axes.resolve_all(&shape, "sum").unwrap_err().kind(),
            ErrorKind::RepeatedAxis { axis: 1, .. }
        ));
        assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
