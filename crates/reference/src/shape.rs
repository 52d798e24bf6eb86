//! Shapes: element counts, broadcasting, and traversal of strided views.

use crate::Error;

/// The number of elements of a shape; an error if it does not fit `usize`.
pub(crate) fn count(shape: &[usize]) -> Result<usize, Error> {
    // With a zero the array is empty, even if the product of the other dimensions overflows.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(1usize, |product, dim| product.checked_mul(*dim))
        .ok_or_else(|| Error::TooLarge { shape: shape.to_vec() })
}

/// The common broadcast shape, by PyTorch's rule: dimensions are aligned at the end, equal ones are kept, a 1 takes the
/// other's length (even 0), and a missing dimension counts as 1. `op` names the operation in the error.
pub fn broadcast_shapes(op: &'static str, left: &[usize], right: &[usize]) -> Result<Vec<usize>, Error> {
    let rank = left.len().max(right.len());
    let dim = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    (0..rank)
        .map(|axis| match (dim(left, axis), dim(right, axis)) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            _ => Err(Error::Broadcast { op, left: left.to_vec(), right: right.to_vec() }),
        })
        .collect()
}

/// Strides, in elements, of a dense row-major array.
pub(crate) fn dense_strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

/// Strides that read a dense array of `shape` as an array of shape `target`, to which it must broadcast.
pub(crate) fn broadcast_strides(shape: &[usize], target: &[usize]) -> Vec<usize> {
    let missing = target.len() - shape.len();
    let mut strides = vec![0; missing];
    let own = dense_strides(shape).into_iter().zip(shape);
    strides.extend(own.map(|(stride, dim)| if *dim == 1 { 0 } else { stride }));
    strides
}

/// A map from row-major indices of a shape to array positions, in as few dimensions as possible.
#[derive(Debug, Clone)]
pub(crate) struct IndexMap {
    dims: Vec<usize>,
    strides: Vec<usize>,
}

impl IndexMap {
    pub(crate) fn new(shape: &[usize], strides: &[usize]) -> IndexMap {
        let mut map = IndexMap { dims: Vec::new(), strides: Vec::new() };
        for (dim, stride) in shape.iter().zip(strides).filter(|(dim, _)| **dim != 1) {
            match (map.dims.last_mut(), map.strides.last_mut()) {
                // One step of the outer dimension spans exactly the inner one, so that both merge.
                (Some(outer), Some(step)) if *step == stride * dim => {
                    *outer *= dim;
                    *step = *stride;
                }
                _ => {
                    map.dims.push(*dim);
                    map.strides.push(*stride);
                }
            }
        }
        map
    }

    /// The position of the element with row-major `index`.
    pub(crate) fn offset_of(&self, mut index: usize) -> usize {
        if let [stride] = self.strides[..] {
            return index * stride;
        }
        let mut offset = 0;
        for (dim, stride) in self.dims.iter().zip(&self.strides).rev() {
            offset += index % dim * stride;
            index /= dim;
        }
        offset
    }

    /// Calls `visit` with every position, shifted by `base`, in row-major order.
    pub(crate) fn walk(&self, base: usize, mut visit: impl FnMut(usize)) {
        walk(&self.dims, &self.strides, base, &mut visit);
    }
}

fn walk(dims: &[usize], strides: &[usize], base: usize, visit: &mut impl FnMut(usize)) {
    match (dims, strides) {
        ([dim], [stride]) => (0..*dim).for_each(|i| visit(base + i * stride)),
        ([dim, inner @ ..], [stride, inner_strides @ ..]) => {
            (0..*dim).for_each(|i| walk(inner, inner_strides, base + i * stride, visit));
        }
        _ => visit(base),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_pytorch() {
        let shapes = |a: &[usize], b: &[usize]| broadcast_shapes("add", a, b).ok();
        assert_eq!(shapes(&[8, 1, 6, 1], &[7, 1, 5]), Some(vec![8, 7, 6, 5]));
        assert_eq!(shapes(&[], &[3, 2]), Some(vec![3, 2]));
        assert_eq!(shapes(&[1], &[0]), Some(vec![0]));
        assert_eq!(shapes(&[2, 1], &[2, 0]), Some(vec![2, 0]));
        assert_eq!(shapes(&[2], &[3]), None);
        assert_eq!(shapes(&[0], &[3]), None);
    }

    #[test]
    fn counts_refuse_overflow_but_not_emptiness() {
        assert_eq!(count(&[usize::MAX, 0]), Ok(0));
        assert_eq!(count(&[]), Ok(1));
        assert!(matches!(count(&[usize::MAX, 2]), Err(Error::TooLarge { .. })));
    }

    #[test]
    fn index_maps_collapse_and_agree_with_the_walk() {
        let dense = IndexMap::new(&[2, 3, 4], &[12, 4, 1]);
        assert_eq!((dense.dims.len(), dense.offset_of(17)), (1, 17));
        let turned = IndexMap::new(&[4, 1, 3, 2], &[1, 99, 4, 12]);
        let offsets: Vec<usize> = (0..24).map(|i| turned.offset_of(i)).collect();
        assert_eq!(offsets[..7], [0, 12, 4, 16, 8, 20, 1]);
        let mut walked = Vec::new();
        turned.walk(0, |offset| walked.push(offset));
        assert_eq!(walked, offsets);
        let repeated = IndexMap::new(&[3, 2], &broadcast_strides(&[2], &[3, 2]));
        assert_eq!((0..6).map(|i| repeated.offset_of(i)).collect::<Vec<_>>(), [0, 1, 0, 1, 0, 1]);
        let scalar = IndexMap::new(&[2, 2], &broadcast_strides(&[], &[2, 2]));
        assert_eq!((scalar.dims.len(), scalar.offset_of(3)), (1, 0));
    }

    #[test]
    fn walks_of_empty_layouts_visit_no_element() {
        let mut visits = 0;
        IndexMap::new(&[2, 0], &[0, 1]).walk(0, |_| visits += 1);
        assert_eq!(visits, 0);
        IndexMap::new(&[], &[]).walk(5, |offset| visits += offset);
        assert_eq!(visits, 5);
    }
}
