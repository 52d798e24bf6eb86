//! Joining several pieces into one storage, each element written once.

use super::{Storage, apart};
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::shape::Shape;

/// A backend's storage and the layout of the elements to join.
pub(crate) type Piece<'a, S> = (&'a S, &'a Layout);

/// Joining pieces, with a new, contiguous, row-major result.
impl Storage {
    /// Concatenates `pieces` along `axis` to an array of `shape`. There is at least one piece. They have the same dtype
    /// and the dimensions of `shape` along the other axes. Along `axis` their lengths sum to that of `shape`.
    pub(crate) fn join(shape: &Shape, axis: usize, pieces: &[Piece<'_, Storage>]) -> Result<Storage> {
        let first = pieces[0].0;
        let strange = pieces.iter().find(|(piece, _)| !piece.device().same_device(&first.device()));
        if let Some((other, _)) = strange {
            return Err(apart("cat", first, other));
        }
        let (mut cpu, mut hip) = (Vec::new(), Vec::new());
        for &(storage, layout) in pieces {
            match storage {
                Storage::Cpu(storage) => cpu.push((storage, layout)),
                Storage::Hip(storage) => hip.push((storage, layout)),
            }
        }
        match first {
            Storage::Cpu(_) => cpu::ops::join::join(shape, axis, &cpu).map(Storage::Cpu),
            Storage::Hip(_) => hip::ops::join::join(shape, axis, &hip).map(Storage::Hip),
        }
    }

    /// An array of `shape` that has the elements of `layout` from index `starts` on, and `value` elsewhere. The
    /// elements fit.
    pub(crate) fn place(
        &self,
        layout: &Layout,
        shape: &Shape,
        starts: &[usize],
        value: Scalar,
    ) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => {
                cpu::ops::join::place((storage, layout), shape, starts, value).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                hip::ops::join::place((storage, layout), shape, starts, value).map(Storage::Hip)
            }
        }
    }
}

/// Divides a contiguous array of `shape` into non-overlapping borders and the `inner` elements from index `starts` on.
pub(crate) fn borders(shape: &Shape, starts: &[usize], inner: &[usize]) -> Result<(Vec<Layout>, Layout)> {
    let mut rest = Layout::contiguous(shape.clone(), "pad")?;
    let mut borders = Vec::new();
    for (axis, (&start, &length)) in starts.iter().zip(inner).enumerate() {
        let end = start + length;
        for (first, length) in [(0, start), (end, rest.dims()[axis] - end)] {
            let border = rest.narrow(axis, first, length, "pad")?;
            if border.elements() > 0 {
                borders.push(border);
            }
        }
        rest = rest.narrow(axis, start, length, "pad")?;
    }
    Ok((borders, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_and_their_inside_cover_all_once() {
        let shape = Shape::from([4, 5]);
        let (borders, inside) = borders(&shape, &[1, 2], &[2, 3]).unwrap();
        let mut seen = [0; 20];
        for layout in borders.iter().chain([&inside]) {
            (0..layout.elements()).for_each(|i| seen[layout.place(i)] += 1);
        }
        assert_eq!(seen, [1; 20]);
        assert_eq!((inside.offset(), inside.dims()), (7, &[2, 3][..]));
        // Above, below, to the left; the right border is empty.
        assert_eq!(borders.len(), 3);
    }
}
