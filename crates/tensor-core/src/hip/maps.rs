//! Layouts as kernel arguments, and splitting into several launches for ranks above eight.

use kernels_hip::MAX_RANK;
use kernels_hip::args::{Axes, CopyMap, Map1, Map2, TransposeMap};
use smallvec::SmallVec;

use crate::layout::{Collapsed, Layout, collapse};

/// Minimum elements for tiled copies, and minimum line length.
const TILES_PAY: usize = 4096;
const LINE_PAYS: usize = 16;

/// A part of an elementwise traversal for one launch: at most eight dimensions.
pub(super) struct Part {
    /// The lengths, outermost first.
    dims: SmallVec<[usize; 8]>,
    /// For each layout, its strides in elements.
    strides: SmallVec<[SmallVec<[usize; 8]>; 3]>,
    /// For each layout, the storage position of the part's first element.
    pub starts: SmallVec<[usize; 3]>,
    /// The row-major index of the part's first element.
    pub first: usize,
    /// The number of elements in the part.
    pub count: usize,
}

/// Splits a traversal of layouts of the same shape into parts. Dimensions are merged first, so that there is one part
/// unless more than eight remain; then the outer ones are looped over here. An empty layout has no parts.
pub(super) fn parts(layouts: &[&Layout]) -> impl Iterator<Item = Part> {
    let Collapsed { dims, strides } = collapse(layouts);
    let offsets: SmallVec<[usize; 3]> = layouts.iter().map(|layout| layout.offset()).collect();
    let outer = dims.len().saturating_sub(MAX_RANK);
    let count: usize = dims[outer..].iter().product();
    let turns: usize = if count == 0 { 0 } else { dims[..outer].iter().product() };
    (0..turns).map(move |turn| {
        let mut starts = offsets.clone();
        let mut rest = turn;
        for axis in (0..outer).rev() {
            let index = rest % dims[axis];
            rest /= dims[axis];
            for (start, strides) in starts.iter_mut().zip(&strides) {
                *start += index * strides[axis];
            }
        }
        let strides = strides.iter().map(|s| SmallVec::from_slice(&s[outer..])).collect();
        Part { dims: SmallVec::from_slice(&dims[outer..]), strides, starts, first: turn * count, count }
    })
}

impl Part {
    /// A map for one strided input and a contiguous output.
    pub(super) fn map1(&self) -> Map1 {
        let mut map = Map1 { rank: self.rank(), ..Map1::tight(self.count as u64) };
        map.contiguous = self.is_tight(0).into();
        (map.dims, map.a) = (self.dims(), self.strides(0));
        map
    }

    /// A map for two strided inputs and a contiguous output.
    pub(super) fn map2(&self) -> Map2 {
        let flag = |is: bool, bit: u32| if is { bit } else { 0 };
        let flags = flag(self.is_tight(0), Map2::A_TIGHT)
            | flag(self.is_tight(1), Map2::B_TIGHT)
            | flag(self.is_scalar(0), Map2::A_SCALAR)
            | flag(self.is_scalar(1), Map2::B_SCALAR);
        let mut map = Map2 { rank: self.rank(), ..Map2::flat(self.count as u64, flags) };
        (map.dims, map.a, map.b) = (self.dims(), self.strides(0), self.strides(1));
        map
    }

    /// A map for a strided destination, layout 0, and a strided source, layout 1 (or none).
    pub(super) fn copy_map(&self) -> CopyMap {
        let mut map = CopyMap { rank: self.rank(), ..CopyMap::tight(self.count as u64) };
        (map.dims, map.dst) = (self.dims(), self.strides(0));
        map.flags = if self.is_tight(0) { CopyMap::DST_TIGHT } else { 0 };
        if self.strides.len() > 1 {
            map.src = self.strides(1);
            map.flags |= if self.is_tight(1) { CopyMap::SRC_TIGHT } else { 0 };
        }
        map
    }

    /// The same copy, if it suits the transpose kernels: source and destination are contiguous along different
    /// dimensions, and both are long enough for tiles to pay.
    pub(super) fn transpose_map(&self) -> Option<TransposeMap> {
        let (dst, src) = (&self.strides[0], &self.strides[1]);
        let along = |strides: &[usize]| strides.iter().position(|&stride| stride == 1);
        let (i, j) = (along(src)?, along(dst)?);
        let pays = i != j
            && self.count >= TILES_PAY
            && self.dims[i].min(self.dims[j]) >= LINE_PAYS
            && src[j].min(dst[i]) >= LINE_PAYS;
        if !pays {
            return None;
        }
        let batch = |numbers: &[usize]| -> SmallVec<[usize; 8]> {
            let others = numbers.iter().enumerate().filter(|&(axis, _)| axis != i && axis != j);
            others.map(|(_, &number)| number).collect()
        };
        let dims = batch(&self.dims);
        Some(TransposeMap {
            rows: self.dims[i] as u64,
            columns: self.dims[j] as u64,
            src_column: src[j] as u64,
            dst_row: dst[i] as u64,
            batch: dims.iter().product::<usize>() as u64,
            batch_rank: dims.len() as u32,
            reserved: 0,
            batch_dims: eight(&dims),
            src_batch: eight(&batch(src)),
            dst_batch: eight(&batch(dst)),
        })
    }

    /// The stride of the innermost dimension; `None` for a scalar.
    pub(super) fn innermost_stride(&self, layout: usize) -> Option<usize> {
        self.strides[layout].last().copied()
    }

    /// The lengths, as a kernel argument.
    pub(super) fn dims(&self) -> Axes {
        eight(&self.dims)
    }

    /// A layout's strides, as a kernel argument.
    pub(super) fn strides(&self, layout: usize) -> Axes {
        eight(&self.strides[layout])
    }

    /// The number of dimensions.
    pub(super) fn rank(&self) -> u32 {
        self.dims.len() as u32
    }

    /// Whether the layout's elements are contiguous in traversal order.
    fn is_tight(&self, layout: usize) -> bool {
        let mut expected = 1;
        self.dims.iter().zip(&self.strides[layout]).rev().all(|(&length, &stride)| {
            let tight = stride == expected;
            expected *= length;
            tight
        })
    }

    /// Whether the layout has a single element for the whole traversal.
    fn is_scalar(&self, layout: usize) -> bool {
        self.strides[layout].iter().all(|&stride| stride == 0)
    }
}

/// Pads up to eight numbers with zeros.
pub(super) fn eight(numbers: &[usize]) -> Axes {
    let mut array = [0; MAX_RANK];
    for (slot, &number) in array.iter_mut().zip(numbers) {
        *slot = number as u64;
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_dimensions_make_one_part() {
        let layout = Layout::contiguous([2, 3, 4], "test").unwrap();
        let parts: Vec<Part> = parts(&[&layout]).collect();
        assert_eq!(parts.len(), 1);
        let map = parts[0].map1();
        assert_eq!((map.count, map.rank, map.contiguous, map.dims[0], map.a[0]), (24, 1, 1, 24, 1));
    }

    #[test]
    fn outer_dimensions_beyond_eight_are_stepped_through() {
        // Every second element along each of ten dimensions, so that nothing merges.
        let strides: Vec<usize> = (0..10).rev().map(|axis| 2 * 3usize.pow(axis)).collect();
        let layout = Layout::strided(vec![2; 10], &strides, 5, "test").unwrap();
        let parts: Vec<Part> = parts(&[&layout]).collect();
        assert_eq!(parts.len(), 4);
        assert_eq!(parts.iter().map(|p| p.first).collect::<Vec<_>>(), [0, 256, 512, 768]);
        let (outer, inner) = (strides[0], strides[1]);
        let starts: Vec<usize> = parts.iter().map(|p| p.starts[0]).collect();
        assert_eq!(starts, [5, 5 + inner, 5 + outer, 5 + outer + inner]);
        assert!(parts.iter().all(|p| p.map1().rank == 8 && p.map1().contiguous == 0));
    }

    #[test]
    fn contiguous_and_scalar_operands_are_distinguished() {
        let full = Layout::contiguous([4, 5], "test").unwrap();
        let row = Layout::contiguous([5], "test").unwrap().expand(full.shape(), "test").unwrap();
        let one = Layout::contiguous([1], "test").unwrap().expand(full.shape(), "test").unwrap();
        let flags = |a: &Layout, b: &Layout| parts(&[a, b]).next().unwrap().map2().flags;
        assert_eq!(flags(&full, &full), Map2::A_TIGHT | Map2::B_TIGHT);
        assert_eq!(flags(&full, &one), Map2::A_TIGHT | Map2::B_SCALAR);
        assert_eq!(flags(&full, &row), Map2::A_TIGHT);
        assert_eq!(flags(&full.transpose(0, 1), &full.transpose(0, 1)), 0);
    }

    #[test]
    fn transposed_matrices_are_recognised() {
        let tight = |shape: &[usize]| Layout::contiguous(shape.to_vec(), "test").unwrap();
        let map = |dst: &Layout, src: &Layout| parts(&[dst, src]).next().unwrap().transpose_map();
        let turned = map(&tight(&[3, 64, 100]), &tight(&[3, 100, 64]).transpose(1, 2)).unwrap();
        assert_eq!((turned.rows, turned.columns, turned.src_column, turned.dst_row), (64, 100, 64, 100));
        assert_eq!(
            (turned.batch, turned.batch_rank, turned.batch_dims[0], turned.src_batch[0]),
            (3, 1, 3, 6400)
        );
        // The outer axis becomes the innermost one: [100, 3, 64] from [3, 64, 100].
        let turned =
            map(&tight(&[100, 3, 64]), &tight(&[3, 64, 100]).transpose(1, 2).transpose(0, 1)).unwrap();
        assert_eq!((turned.rows, turned.columns, turned.batch), (100, 192, 1));
        assert_eq!(map(&tight(&[64, 100]), &tight(&[64, 100])), None);
        assert_eq!(map(&tight(&[2, 4096]), &tight(&[4096, 2]).transpose(0, 1)), None);
        let column = tight(&[64, 1]).expand(tight(&[64, 100]).shape(), "test").unwrap();
        assert_eq!(map(&tight(&[64, 100]), &column), None);
    }

    #[test]
    fn nothing_to_do_makes_no_part() {
        let empty = Layout::contiguous([3, 0, 2], "test").unwrap();
        assert_eq!(parts(&[&empty]).count(), 0);
        let scalar = Layout::contiguous((), "test").unwrap();
        let one: Vec<Part> = parts(&[&scalar]).collect();
        assert_eq!((one.len(), one[0].map1().count, one[0].map1().rank), (1, 1, 0));
    }
}
