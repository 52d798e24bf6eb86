//! Views of an operand: the array index of each of a view's elements.
//!
//! This is a second, independent implementation of transposing, narrowing and broadcasting. The device under test
//! applies the same steps with its own layouts, so that a difference shows as a wrong result.

use std::fmt;

/// One step from an array to a view.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// Swap two axes.
    Transpose(usize, usize),
    /// Axis `i` of the result is axis `axes[i]` of the source.
    Permute(Vec<usize>),
    /// Keep `len` indices of `axis`, from `start` on.
    Narrow {
        /// The axis.
        axis: usize,
        /// First index kept.
        start: usize,
        /// Number of indices kept.
        len: usize,
    },
    /// Broadcast axes of size 1, and new leading axes, to this shape, without a copy.
    Broadcast(Vec<usize>),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Transpose(a, b) => write!(f, "transpose({a},{b})"),
            Step::Permute(axes) => write!(f, "permute({})", list(axes)),
            Step::Narrow { axis, start, len } => write!(f, "narrow({axis},{start},{len})"),
            Step::Broadcast(shape) => write!(f, "broadcast({})", list(shape)),
        }
    }
}

/// Joins numbers by commas.
pub(crate) fn list(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Dimensions, element strides and first element of a view of a dense row-major array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Dimensions.
    pub dims: Vec<usize>,
    /// Distance, in elements of the array, between neighbours along each axis.
    pub strides: Vec<usize>,
    /// Index of the first element.
    pub offset: usize,
}

impl View {
    /// The whole of a dense row-major array.
    pub fn dense(shape: &[usize]) -> View {
        let mut strides = vec![1; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis] * shape[axis].max(1);
        }
        View { dims: shape.to_vec(), strides, offset: 0 }
    }

    /// A dense array after some steps. Panics on an invalid step, because cases are not user input.
    pub fn of(shape: &[usize], steps: &[Step]) -> View {
        steps.iter().fold(View::dense(shape), |view, step| view.apply(step))
    }

    fn apply(mut self, step: &Step) -> View {
        match step {
            Step::Transpose(a, b) => {
                self.dims.swap(*a, *b);
                self.strides.swap(*a, *b);
                self
            }
            Step::Permute(axes) => {
                assert_eq!(axes.len(), self.dims.len(), "a permutation names every axis");
                View {
                    dims: axes.iter().map(|&axis| self.dims[axis]).collect(),
                    strides: axes.iter().map(|&axis| self.strides[axis]).collect(),
                    offset: self.offset,
                }
            }
            Step::Narrow { axis, start, len } => {
                assert!(start + len <= self.dims[*axis], "narrow leaves the axis");
                self.offset += start * self.strides[*axis];
                self.dims[*axis] = *len;
                self
            }
            Step::Broadcast(shape) => {
                let new = shape.len() - self.dims.len();
                let strides = (0..shape.len())
                    .map(|axis| match axis.checked_sub(new) {
                        Some(old) if self.dims[old] == shape[axis] => self.strides[old],
                        Some(old) => {
                            assert_eq!(self.dims[old], 1, "only axes of size 1 broadcast");
                            0
                        }
                        None => 0,
                    })
                    .collect();
                View { dims: shape.clone(), strides, offset: self.offset }
            }
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether the view has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `visit` with the array index of each element, in the view's row-major order.
    pub fn for_each(&self, mut visit: impl FnMut(usize)) {
        if self.is_empty() {
            return;
        }
        let Some((&inner, outer_dims)) = self.dims.split_last() else { return visit(self.offset) };
        let inner_stride = self.strides[outer_dims.len()];
        let mut position = vec![0; outer_dims.len()];
        let mut start = self.offset;
        loop {
            for i in 0..inner {
                visit(start + i * inner_stride);
            }
            let mut axis = outer_dims.len();
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                position[axis] += 1;
                start += self.strides[axis];
                if position[axis] < outer_dims[axis] {
                    break;
                }
                start -= position[axis] * self.strides[axis];
                position[axis] = 0;
            }
        }
    }

    /// The view's elements as dense row-major bytes. `size` is the element size of `array` in bytes.
    pub fn gather(&self, array: &[u8], size: usize) -> Vec<u8> {
        let mut dense = Vec::with_capacity(self.len() * size);
        self.for_each(|index| dense.extend_from_slice(&array[index * size..][..size]));
        dense
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(shape: &[usize], steps: &[Step]) -> (Vec<usize>, Vec<usize>) {
        let view = View::of(shape, steps);
        let mut all = Vec::new();
        view.for_each(|index| all.push(index));
        assert_eq!(all.len(), view.len());
        (view.dims, all)
    }

    #[test]
    fn views_by_hand() {
        assert_eq!(indices(&[2, 3], &[]), (vec![2, 3], vec![0, 1, 2, 3, 4, 5]));
        assert_eq!(indices(&[2, 3], &[Step::Transpose(0, 1)]), (vec![3, 2], vec![0, 3, 1, 4, 2, 5]));
        let narrow = Step::Narrow { axis: 1, start: 1, len: 2 };
        assert_eq!(indices(&[2, 3], &[narrow]), (vec![2, 2], vec![1, 2, 4, 5]));
        assert_eq!(indices(&[1, 2], &[Step::Broadcast(vec![3, 2])]), (vec![3, 2], vec![0, 1, 0, 1, 0, 1]));
        assert_eq!(indices(&[2], &[Step::Broadcast(vec![2, 2])]), (vec![2, 2], vec![0, 1, 0, 1]));
        let axes = Step::Permute(vec![2, 0, 1]);
        assert_eq!(indices(&[1, 2, 3], &[axes]), (vec![3, 1, 2], vec![0, 3, 1, 4, 2, 5]));
    }

    #[test]
    fn scalars_and_empty_views() {
        assert_eq!(indices(&[], &[]), (vec![], vec![0]));
        assert_eq!(indices(&[0, 3], &[]), (vec![0, 3], vec![]));
        assert_eq!(indices(&[3, 0], &[Step::Transpose(0, 1)]), (vec![0, 3], vec![]));
    }

    #[test]
    fn gather_copies_elements() {
        let view = View::of(&[2, 2], &[Step::Transpose(0, 1)]);
        assert_eq!(view.gather(&[1, 2, 3, 4, 5, 6, 7, 8], 2), [1, 2, 5, 6, 3, 4, 7, 8]);
    }
}
