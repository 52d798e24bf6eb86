//! Joining several pieces into one storage, each element written once.

use crate::error::Result;
use crate::layout::Layout;
use crate::shape::Shape;

/// A backend's storage and the layout of the elements to join.
pub(crate) type Piece<'a, S> = (&'a S, &'a Layout);

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
            (0..layout.elements()).for_each(|i| seen[layout.offset_of(i)] += 1);
        }
        assert_eq!(seen, [1; 20]);
        assert_eq!((inside.offset(), inside.dims()), (7, &[2, 3][..]));
        // Above, below, to the left; the right border is empty.
        assert_eq!(borders.len(), 3);
    }
}
