//! Descriptions of plans, and what cuFFT can express of them.

use crate::status::{ARRAY, DIMENSIONS, OFFSET, Outcome, STRIDES, VALUE, ensure};
use cudarc::cufft::sys::cufftType;
use hip_sys::rocfft::{rocfft_array_type as Array, rocfft_precision, rocfft_transform_type as Type};
use std::ffi::c_longlong;

/// What a description says of one side.
#[derive(Clone, Default)]
pub(super) struct Layout {
    pub(super) array: Option<Array>,
    pub(super) offset: usize,
    /// The fastest first; empty: contiguous.
    pub(super) strides: Vec<usize>,
    /// 0: contiguous.
    pub(super) distance: usize,
}

/// What a description says.
#[derive(Clone)]
pub(super) struct Description {
    pub(super) input: Layout,
    pub(super) output: Layout,
    pub(super) scale: f64,
}

/// One side as cuFFT takes it, with the slowest direction first.
pub(super) struct Side {
    pub(super) embed: Vec<c_longlong>,
    pub(super) stride: c_longlong,
    pub(super) distance: c_longlong,
}

impl Default for Description {
    fn default() -> Self {
        Self { input: Layout::default(), output: Layout::default(), scale: 1.0 }
    }
}

/// cuFFT's type of a transform.
pub(super) fn type_of(kind: Type, precision: rocfft_precision) -> Outcome<cufftType> {
    let double = match precision {
        rocfft_precision::rocfft_precision_single => false,
        rocfft_precision::rocfft_precision_double => true,
        _ => return Err(VALUE),
    };
    Ok(match (kind, double) {
        (
            Type::rocfft_transform_type_complex_forward | Type::rocfft_transform_type_complex_inverse,
            false,
        ) => cufftType::CUFFT_C2C,
        (Type::rocfft_transform_type_complex_forward | Type::rocfft_transform_type_complex_inverse, true) => {
            cufftType::CUFFT_Z2Z
        }
        (Type::rocfft_transform_type_real_forward, false) => cufftType::CUFFT_R2C,
        (Type::rocfft_transform_type_real_forward, true) => cufftType::CUFFT_D2Z,
        (Type::rocfft_transform_type_real_inverse, false) => cufftType::CUFFT_C2R,
        (Type::rocfft_transform_type_real_inverse, true) => cufftType::CUFFT_Z2D,
        _ => return Err(VALUE),
    })
}

/// The array types of input and output.
pub(super) fn arrays(kind: Type) -> [Array; 2] {
    let (half, real) = (Array::rocfft_array_type_hermitian_interleaved, Array::rocfft_array_type_real);
    match kind {
        Type::rocfft_transform_type_real_forward => [real, half],
        Type::rocfft_transform_type_real_inverse => [half, real],
        _ => [Array::rocfft_array_type_complex_interleaved; 2],
    }
}

impl Side {
    /// The side of a plan with these lengths, the fastest first. cuFFT knows the stride of the fastest direction, and for the others the lengths
    /// of the arrays that the grids are embedded in.
    pub(super) fn of(layout: &Layout, own: Array, in_place: bool, lengths: &[usize]) -> Outcome<Self> {
        ensure(layout.array.is_none_or(|array| array == own), ARRAY)?;
        ensure(layout.offset == 0, OFFSET)?;
        let half = lengths.first().ok_or(DIMENSIONS)? / 2 + 1;
        let row = match own {
            Array::rocfft_array_type_hermitian_interleaved => half,
            Array::rocfft_array_type_real if in_place => half.checked_mul(2).ok_or(VALUE)?,
            _ => lengths[0],
        };
        let mut size = 1_usize;
        let mut contiguous = Vec::new();
        for (direction, &length) in lengths.iter().enumerate() {
            contiguous.push(size);
            size = size.checked_mul(if direction == 0 { row } else { length }).ok_or(VALUE)?;
        }
        let strides = if layout.strides.is_empty() { &contiguous } else { &layout.strides };
        ensure(strides.len() == lengths.len() && strides[0] > 0, STRIDES)?;
        // The slowest one's length is not used.
        let mut embed = vec![number(lengths[lengths.len() - 1])?];
        for pair in strides.windows(2).rev() {
            ensure(pair[1] > 0 && pair[1].is_multiple_of(pair[0]), STRIDES)?;
            embed.push(number(pair[1] / pair[0])?);
        }
        let distance = if layout.distance == 0 { size } else { layout.distance };
        Ok(Self { embed, stride: number(strides[0])?, distance: number(distance)? })
    }
}

/// A size for cuFFT.
pub(super) fn number(size: usize) -> Outcome<c_longlong> {
    c_longlong::try_from(size).map_err(|_| VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPLEX: Array = Array::rocfft_array_type_complex_interleaved;

    #[test]
    fn strides_are_lengths_of_what_grids_are_embedded_in() {
        let layout = Layout { strides: vec![2, 10, 60], distance: 500, ..Layout::default() };
        let side = Side::of(&layout, COMPLEX, false, &[5, 4, 3]).unwrap();
        assert_eq!((side.embed, side.stride, side.distance), (vec![3, 6, 5], 2, 500));
        let none = Side::of(&Layout::default(), COMPLEX, false, &[5, 4, 3]).unwrap();
        assert_eq!((none.embed, none.stride, none.distance), (vec![3, 4, 5], 1, 60));
    }

    #[test]
    fn rows_of_real_numbers_in_place_have_room_for_their_results() {
        let real = Array::rocfft_array_type_real;
        let side = Side::of(&Layout::default(), real, true, &[6, 4]).unwrap();
        assert_eq!((side.embed, side.distance), (vec![4, 8], 32));
    }

    #[test]
    fn what_cufft_cannot_express_is_refused() {
        let of = |layout| Side::of(&layout, COMPLEX, false, &[5, 4]).err();
        assert_eq!(of(Layout { strides: vec![2, 11], ..Layout::default() }), Some(STRIDES));
        assert_eq!(of(Layout { offset: 1, ..Layout::default() }), Some(OFFSET));
        let planar = Some(Array::rocfft_array_type_complex_planar);
        assert_eq!(of(Layout { array: planar, ..Layout::default() }), Some(ARRAY));
    }
}
