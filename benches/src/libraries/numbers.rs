//! The numbers of the operands, which `benches/peers/vendor_libraries.hpp` makes too: a hash of a seed and of the index.

use half::{bf16, f16};
use hip_safe::AnyBits;
use num_complex::Complex;
use rayon::prelude::*;
use rocblas_safe::lt::F8E4M3;
use safetensors::Dtype;

/// The last step of the generator SplitMix64.
pub(super) fn hash(seed: u64, index: u64) -> u64 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number from −1 to below 1, of 24 bits.
pub(super) fn unit(seed: u64, index: u64) -> f32 {
    (hash(seed, index) >> 40) as f32 / 8_388_608.0 - 1.0
}

/// A multiple of a quarter from −1 to below 1, which every type has, as its number from 0 to 7.
pub(super) fn level(seed: u64, index: u64) -> usize {
    (hash(seed, index) >> 61) as usize
}

/// So many numbers.
pub(super) fn units(seed: u64, count: usize) -> Vec<f32> {
    (0..count as u64).into_par_iter().map(|index| unit(seed, index)).collect()
}

/// The elements of files.
pub(super) trait Saved: AnyBits + bytemuck::Pod {
    const DTYPE: Dtype;
    /// Whether an element is two numbers of that type.
    const PAIR: bool = false;
}

macro_rules! saved {
    ($($T:ty, $dtype:ident;)*) => {$(
        impl Saved for $T {
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*};
}

saved! {
    f32, F32;
    i32, I32;
    f16, F16;
    bf16, BF16;
    F8E4M3, F8_E4M3;
}

impl Saved for Complex<f32> {
    const DTYPE: Dtype = Dtype::F32;
    const PAIR: bool = true;
}

/// A float that has all levels.
pub(super) trait Levelled: Saved {
    /// A level as a number.
    fn of(level: usize) -> Self;
}

impl Levelled for f16 {
    fn of(level: usize) -> Self {
        Self::from_f32(level as f32 / 4.0 - 1.0)
    }
}

impl Levelled for bf16 {
    fn of(level: usize) -> Self {
        Self::from_f32(level as f32 / 4.0 - 1.0)
    }
}

impl Levelled for F8E4M3 {
    fn of(level: usize) -> Self {
        // −1, −3/4, −1/2, −1/4, 0, 1/4, 1/2, 3/4
        Self::from_bits([0xb8, 0xb4, 0xb0, 0xa8, 0x00, 0x28, 0x30, 0x34][level])
    }
}

/// So many levels.
pub(super) fn levels<T: Levelled + Send>(seed: u64, count: usize) -> Vec<T> {
    (0..count as u64).into_par_iter().map(|index| T::of(level(seed, index))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first is the first number of SplitMix64 with seed 0; the others were computed with Python.
    #[test]
    fn the_hash_is_splitmix64_of_seed_and_index() {
        assert_eq!(
            [hash(1, 0), hash(1, 1), hash(7, 123_456)].map(|z| z >> 32),
            [0xe220_a839, 0x2d0f_28c7, 0x0fa6_6eb5]
        );
    }
}
