//! Where the elements of a transform lie.

use crate::status::{ARRAY, DIMENSIONS, Outcome, STRIDES, VALUE, ensure};
use hip_sys::rocfft::{rocfft_array_type as Array, rocfft_transform_type};

/// What is transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Forward,
    Inverse,
    RealForward,
    RealInverse,
}

/// All elements of a side: a grid for each transform of the batch.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// Elements along each direction, the fastest first.
    pub(crate) lengths: Vec<usize>,
    pub(crate) strides: Vec<usize>,
    pub(crate) distance: usize,
    pub(crate) offset: usize,
}

/// What a plan's description says of one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) array: Option<Array>,
    pub(crate) offset: usize,
    /// Empty: contiguous.
    pub(crate) strides: Vec<usize>,
    /// 0: contiguous.
    pub(crate) distance: usize,
}

/// Both sides, and how many transforms there are.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) kind: Kind,
    pub(crate) in_place: bool,
    /// Of the real or complex grid, the fastest first.
    pub(crate) lengths: Vec<usize>,
    pub(crate) batch: usize,
    pub(crate) input: Side,
    pub(crate) output: Side,
}

impl Kind {
    pub(crate) fn of(kind: rocfft_transform_type) -> Outcome<Self> {
        match kind {
            rocfft_transform_type::rocfft_transform_type_complex_forward => Ok(Self::Forward),
            rocfft_transform_type::rocfft_transform_type_complex_inverse => Ok(Self::Inverse),
            rocfft_transform_type::rocfft_transform_type_real_forward => Ok(Self::RealForward),
            rocfft_transform_type::rocfft_transform_type_real_inverse => Ok(Self::RealInverse),
            _ => Err(VALUE),
        }
    }

    /// The array types of input and output.
    fn arrays(self) -> [Array; 2] {
        let (complex, half) =
            (Array::rocfft_array_type_complex_interleaved, Array::rocfft_array_type_hermitian_interleaved);
        match self {
            Self::Forward | Self::Inverse => [complex; 2],
            Self::RealForward => [Array::rocfft_array_type_real, half],
            Self::RealInverse => [half, Array::rocfft_array_type_real],
        }
    }
}

impl Geometry {
    pub(crate) fn new(
        kind: Kind,
        in_place: bool,
        lengths: Vec<usize>,
        batch: usize,
        [input, output]: [&Layout; 2],
    ) -> Outcome<Self> {
        ensure((1..=3).contains(&lengths.len()), DIMENSIONS)?;
        ensure(batch > 0 && lengths.iter().all(|&length| length > 0), VALUE)?;
        let [in_array, out_array] = kind.arrays();
        let side = |layout: &Layout, own| {
            ensure(layout.array.is_none_or(|array| array == own), ARRAY)?;
            let mut grid = lengths.clone();
            let half = lengths[0] / 2 + 1;
            if own == Array::rocfft_array_type_hermitian_interleaved {
                grid[0] = half;
            }
            // Rows of real numbers that are transformed in place have room for their results.
            let row = if own == Array::rocfft_array_type_real && in_place {
                half.checked_mul(2).ok_or(VALUE)?
            } else {
                grid[0]
            };
            Side::new(grid, row, layout)
        };
        let (input, output) = (side(input, in_array)?, side(output, out_array)?);
        Ok(Self { kind, in_place, batch, input, output, lengths })
    }
}

impl Side {
    fn new(lengths: Vec<usize>, row: usize, layout: &Layout) -> Outcome<Self> {
        let mut strides = layout.strides.clone();
        let mut size = 1_usize;
        let mut contiguous = Vec::new();
        for (direction, &length) in lengths.iter().enumerate() {
            contiguous.push(size);
            size = size.checked_mul(if direction == 0 { row } else { length }).ok_or(VALUE)?;
        }
        if strides.is_empty() {
            strides = contiguous;
        }
        ensure(strides.len() == lengths.len() && strides.iter().all(|&stride| stride > 0), STRIDES)?;
        let distance = if layout.distance == 0 { size } else { layout.distance };
        Ok(Self { lengths, strides, distance, offset: layout.offset })
    }

    /// The elements from the beginning of the memory to the last one.
    pub(crate) fn extent(&self, batch: usize) -> Option<usize> {
        let grid =
            self.lengths.iter().zip(&self.strides).map(|(length, stride)| (length - 1).checked_mul(*stride));
        let last = grid
            .chain([(batch - 1).checked_mul(self.distance)])
            .try_fold(self.offset, |sum, reach| sum.checked_add(reach?));
        last?.checked_add(1)
    }

    /// The offsets in memory of one transform's elements, in the order of a contiguous grid.
    pub(crate) fn offsets(&self, transform: usize) -> impl Iterator<Item = usize> {
        let start = self.offset + transform * self.distance;
        let along = |direction: usize| {
            let (length, stride) = self
                .lengths
                .get(direction)
                .zip(self.strides.get(direction))
                .map_or((1, 0), |(&l, &s)| (l, s));
            (0..length).map(move |index| index * stride)
        };
        let (rows, columns) = (along(1), along(0));
        along(2).flat_map(move |slice| {
            let columns = columns.clone();
            rows.clone().flat_map(move |row| columns.clone().map(move |column| start + slice + row + column))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_in_place_have_room_for_their_results() {
        let none = Layout::default();
        let of = |in_place, length| {
            Geometry::new(Kind::RealForward, in_place, vec![length, 3], 2, [&none, &none]).unwrap()
        };
        let apart = of(false, 6);
        assert_eq!((apart.input.strides, apart.input.distance), (vec![1, 6], 18));
        assert_eq!((apart.output.strides, apart.output.distance), (vec![1, 4], 12));
        let same = of(true, 6);
        assert_eq!((same.input.strides, same.input.distance), (vec![1, 8], 24));
        assert_eq!(of(true, 7).input.strides, [1, 8]);
    }

    #[test]
    fn offsets_follow_the_strides() {
        let layout = Layout { offset: 5, strides: vec![2, 10], distance: 100, ..Layout::default() };
        let plane = Geometry::new(Kind::Forward, false, vec![3, 2], 2, [&layout, &layout]).unwrap();
        assert_eq!(plane.input.offsets(1).collect::<Vec<_>>(), [105, 107, 109, 115, 117, 119]);
        assert_eq!(plane.input.extent(2), Some(120));
    }

    #[test]
    fn sizes_beyond_an_address_space_are_refused() {
        let none = Layout::default();
        let huge = Geometry::new(Kind::Forward, false, vec![usize::MAX, 3], 1, [&none, &none]);
        assert_eq!(huge.err(), Some(VALUE));
        let far = Layout { strides: vec![usize::MAX / 2], ..none };
        let line = Geometry::new(Kind::Forward, false, vec![4], 1, [&far, &far]).unwrap();
        assert_eq!(line.input.extent(1), None);
    }
}
