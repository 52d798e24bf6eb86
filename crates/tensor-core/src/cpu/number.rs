//! The compute type of each element type, and conversions of whole blocks.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::functions::Functions;
use super::output::Output;
use crate::element::Element;
use crate::float8::F8E4M3;

/// An element type and the type of its arithmetic: itself, or `f32` for the 16-bit and 8-bit floats.
pub(crate) trait Number: Element {
    /// The type of arithmetic and of accumulators.
    type Compute: Functions;

    /// The cost of converting an element and back, in [units](super::chunks::SHARE).
    const CONVERSION: usize;

    /// The elements as compute values: the block itself, or `scratch` filled with them.
    fn widen<'a>(block: &'a [Self], scratch: &'a mut Vec<Self::Compute>) -> &'a [Self::Compute];

    /// Lets `fill` write compute values, and rounds them into `block` once.
    fn narrow(block: &mut [Self], scratch: &mut Vec<Self::Compute>, fill: impl FnOnce(&mut [Self::Compute]));

    /// Lets `write` write `count` compute values, and rounds them into `output` once.
    fn round(
        output: &mut Output<'_, Self>,
        count: usize,
        scratch: &mut Vec<Self::Compute>,
        write: impl FnOnce(&mut Output<'_, Self::Compute>),
    );

    /// The exact compute value of an element.
    fn to_compute(self) -> Self::Compute;

    /// A compute value rounded to this type.
    fn from_compute(value: Self::Compute) -> Self;
}

macro_rules! computes_in_itself {
    ($($type:ty),+) => {
        $(impl Number for $type {
            type Compute = $type;

            const CONVERSION: usize = 0;

            #[inline(always)]
            fn widen<'a>(block: &'a [$type], _scratch: &'a mut Vec<$type>) -> &'a [$type] {
                block
            }

            fn narrow(block: &mut [$type], _scratch: &mut Vec<$type>, fill: impl FnOnce(&mut [$type])) {
                fill(block);
            }

            #[inline(always)]
            fn round(
                output: &mut Output<'_, $type>,
                _count: usize,
                _scratch: &mut Vec<$type>,
                write: impl FnOnce(&mut Output<'_, $type>),
            ) {
                write(output);
            }

            fn to_compute(self) -> $type {
                self
            }

            fn from_compute(value: $type) -> $type {
                value
            }
        })+
    };
}

computes_in_itself!(u8, u32, i16, i32, i64, f32, f64);

macro_rules! computes_in_f32 {
    ($type:ty, $conversion:expr, $widen:expr, $round:expr) => {
        impl Number for $type {
            type Compute = f32;

            const CONVERSION: usize = $conversion;

            fn widen<'a>(block: &'a [$type], scratch: &'a mut Vec<f32>) -> &'a [f32] {
                scratch.resize(block.len(), 0.0);
                $widen(block, &mut scratch[..]);
                scratch
            }

            fn narrow(block: &mut [$type], scratch: &mut Vec<f32>, fill: impl FnOnce(&mut [f32])) {
                scratch.resize(block.len(), 0.0);
                fill(scratch);
                $round(&mut Output::over(block), &scratch[..]);
            }

            fn round(
                output: &mut Output<'_, $type>,
                count: usize,
                scratch: &mut Vec<f32>,
                write: impl FnOnce(&mut Output<'_, f32>),
            ) {
                scratch.resize(count, 0.0);
                write(&mut Output::over(scratch));
                $round(output, &scratch[..]);
            }

            fn to_compute(self) -> f32 {
                self.to_f32()
            }

            fn from_compute(value: f32) -> $type {
                <$type>::from_f32(value)
            }
        }
    };
}

computes_in_f32!(
    f16,
    4,
    |block: &[f16], out: &mut [f32]| block.convert_to_f32_slice(out),
    |output: &mut Output<'_, f16>, from: &[f32]| output.zeroed(from.len()).convert_from_f32_slice(from)
);
computes_in_f32!(
    bf16,
    4,
    |block: &[bf16], out: &mut [f32]| Output::over(out).each(block, widened),
    |output: &mut Output<'_, bf16>, from: &[f32]| output.each(from, rounded)
);
computes_in_f32!(
    F8E4M3,
    32,
    |block: &[F8E4M3], out: &mut [f32]| Output::over(out).each(block, F8E4M3::to_f32),
    |output: &mut Output<'_, F8E4M3>, from: &[f32]| output.each(from, F8E4M3::from_f32)
);

/// As [`bf16::to_f32`], but branchless, so that loops are vectorised. NaN becomes quiet.
#[inline(always)]
fn widened(x: bf16) -> f32 {
    let bits = u32::from(x.to_bits()) << 16;
    let quiet = if bits & 0x7fff_ffff > 0x7f80_0000 { 0x0040_0000 } else { 0 };
    f32::from_bits(bits | quiet)
}

/// As [`bf16::from_f32`], but branchless. Ties round to even.
#[inline(always)]
fn rounded(x: f32) -> bf16 {
    let bits = x.to_bits();
    let nearest = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let quiet = bits >> 16 | 0x0040;
    bf16::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { quiet } else { nearest } as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every bit pattern of a 16-bit type must survive the round trip through `f32`, in blocks and one by one.
    fn check<T: Number<Compute = f32>>(from_bits: fn(u16) -> T, to_bits: fn(T) -> u16) {
        let all: Vec<T> = (0..=u16::MAX).map(from_bits).collect();
        let mut scratch = Vec::new();
        let wide = T::widen(&all, &mut scratch).to_vec();
        let mut back = vec![T::default(); all.len()];
        T::narrow(&mut back, &mut Vec::new(), |out| out.copy_from_slice(&wide));
        for ((&x, &y), &wide) in all.iter().zip(&back).zip(&wide) {
            assert!(wide.to_bits() == x.to_compute().to_bits() || wide.is_nan() && x.to_compute().is_nan());
            if wide.is_nan() {
                assert!(y.to_compute().is_nan());
            } else {
                assert_eq!(to_bits(x), to_bits(y));
                assert_eq!(to_bits(x), to_bits(T::from_compute(wide)));
            }
        }
    }

    #[test]
    fn all_f16_patterns_survive() {
        check(f16::from_bits, f16::to_bits);
    }

    #[test]
    fn all_bf16_patterns_survive() {
        check(bf16::from_bits, bf16::to_bits);
    }

    #[test]
    fn bf16_blocks_equal_the_crate_s_conversion() {
        for high in 0..=u16::MAX {
            let x = bf16::from_bits(high);
            assert_eq!(widened(x).to_bits(), x.to_f32().to_bits());
            for low in [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff] {
                let wide = f32::from_bits(u32::from(high) << 16 | low);
                assert_eq!(rounded(wide).to_bits(), bf16::from_f32(wide).to_bits());
            }
        }
    }

    #[test]
    fn f16_blocks_round_ties_to_even() {
        // The midpoint of every finite pattern and its successor, through the block conversion.
        let values: Vec<f32> = (0..0x7bff)
            .map(|bits| (f16::from_bits(bits).to_f32() + f16::from_bits(bits + 1).to_f32()) / 2.0)
            .collect();
        let mut rounded = vec![f16::ZERO; values.len()];
        f16::narrow(&mut rounded, &mut Vec::new(), |out| out.copy_from_slice(&values));
        for (bits, y) in rounded.iter().enumerate() {
            assert_eq!(usize::from(y.to_bits()), bits + bits % 2);
        }
    }
}
