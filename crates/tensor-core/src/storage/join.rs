//! One storage out of several pieces, each written once.

use super::{Storage, apart};
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;
use crate::scalar::Scalar;
use crate::shape::Shape;

/// Elements of a backend's storage, as a piece of a larger one.
pub(crate) type Piece<'a, S> = (&'a S, &'a Layout);

/// Putting pieces together, with a new, tight, row-major result.
impl Storage {
    /// An array of `shape` made of `pieces` one behind the other along `axis`. There is at least one; they have one dtype, the
    /// dimensions of `shape` along the other axes, and together its length along this one.
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

    /// An array of `shape` in which the elements of `layout` begin at index `starts`, and every other element is `value`.
    /// They do not reach past the end.
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

/// Cuts a tight array of `shape` into borders, which do not overlap, and what they surround: the `inner` elements from index
/// `starts` on.
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
        // Above, below, to the left; there is nothing to the right.
        assert_eq!(borders.len(), 3);
    }
}
