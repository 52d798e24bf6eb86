//! Words of two 16-bit floats: the portable functions of `platform/halves.hpp`. They make the operands of matrix units, and define what
//! NVIDIA's instructions must compute for the kernels that use them.

mod common;

use common::Random;
use common::device::{WAVE_32, image_of, input, output, run_image, value};
use half::{bf16, f16};

const TEXT: &str = r#"
#include "portable.hpp"

namespace hipstack {
KERNEL(halves, const u32* a, const u32* b, u32* wide, u32* out, u32 count) {
    for (u64 i = thread_number(); i < count; i += thread_count()) {
        f32 low, high;
        widen_halves<T>(a[i], low, high);
        wide[2 * i] = bits_of(low), wide[2 * i + 1] = bits_of(high);
        out[4 * i] = narrow_halves<T>(low, high);
        out[4 * i + 1] = extreme_halves<T, false, true>(a[i], b[i]);
        out[4 * i + 2] = extreme_halves<T, true, true>(a[i], b[i]);
        out[4 * i + 3] = extreme_halves<T, false, false>(a[i], b[i]);
    }
}
} // namespace hipstack
"#;

/// For a and b: a widened, a narrowed again, the maximum and the minimum with NaN propagated, and the maximum with NaN ignored.
type Found = (u32, u16, u16, u16, u16);

/// Results of the kernel for pairs of elements; two pairs make a word each of a and b.
fn found(dtype: &str, pairs: &[(u16, u16)]) -> Vec<Found> {
    let unit = kernels_hip::unit("elementwise", dtype).expect("it ships");
    let word = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let words = |of: fn(&(u16, u16)) -> u16| -> Vec<u32> {
        pairs.chunks_exact(2).map(|two| word(of(&two[0]), of(&two[1]))).collect()
    };
    let (a, b) = (words(|pair| pair.0), words(|pair| pair.1));
    let (mut wide, mut out) = (vec![0u32; 2 * a.len()], vec![0u32; 4 * a.len()]);
    let count = u32::try_from(a.len()).expect("few pairs");
    let mut args = [input(&a), input(&b), output(&mut wide), output(&mut out), value(&count)];
    // SAFETY: S9: the kernel takes these, and the arrays have two and four numbers for each word.
    unsafe { run_image(WAVE_32, &image_of(TEXT, &unit, 32), "halves", (2, 64), 0, &mut args) };
    let element = |i: usize, which: usize| (out[i / 2 * 4 + which] >> (i % 2 * 16)) as u16;
    let all = |i: usize| (wide[i], element(i, 0), element(i, 1), element(i, 2), element(i, 3));
    (0..pairs.len() / 2 * 2).map(all).collect()
}

/// Compares all of them with the crate `half`, whose `widen` and NaN these are.
fn check(dtype: &str, widen: fn(u16) -> f32) {
    let mut random = Random(4);
    let pairs: Vec<(u16, u16)> = (0..=u16::MAX).map(|a| (a, random.next() as u16)).collect();
    let (is_nan, same) = (|bits: u16| widen(bits).is_nan(), |got: u16, wanted: u16| got == wanted);
    for ((a, b), (wide, narrow, greatest, least, number)) in pairs.iter().zip(found(dtype, &pairs)) {
        let case = format!("{dtype} {a:#x} {b:#x}");
        assert!(f32::from_bits(wide).is_nan() == is_nan(*a), "{case} widened: {wide:#x}");
        assert!(is_nan(*a) || wide == widen(*a).to_bits(), "{case} widened: {wide:#x}");
        assert!(if is_nan(*a) { is_nan(narrow) } else { same(narrow, *a) }, "{case} narrowed: {narrow:#x}");
        if is_nan(*a) || is_nan(*b) {
            assert!(is_nan(greatest) && is_nan(least), "{case}: {greatest:#x} {least:#x}");
            let other = if is_nan(*a) { *b } else { *a };
            assert!(if is_nan(other) { is_nan(number) } else { same(number, other) }, "{case}: {number:#x}");
        } else {
            let second = widen(*a).total_cmp(&widen(*b)).is_lt();
            let (high, low) = if second { (*b, *a) } else { (*a, *b) };
            assert_eq!((greatest, least, number), (high, low, high), "{case}");
        }
    }
}

#[test]
fn all_patterns_are_widened_narrowed_and_ordered() {
    check("f16", |bits| f16::from_bits(bits).to_f32());
    check("bf16", |bits| bf16::from_bits(bits).to_f32());
}

#[test]
fn zeros_infinities_and_nan_by_hand() {
    // f16: 1, both zeros, both infinities, a NaN.
    let pairs = [
        (0x8000, 0x0000),
        (0x0000, 0x8000),
        (0xfc00, 0x7c00),
        (0x7e00, 0x3c00),
        (0x3c00, 0x7e00),
        (0xfc00, 0x8001),
    ];
    let wanted = [
        (0x8000_0000, 0x8000, 0x0000, 0x8000, 0x0000),
        (0x0000_0000, 0x0000, 0x0000, 0x8000, 0x0000),
        (0xff80_0000, 0xfc00, 0x7c00, 0xfc00, 0x7c00),
        (0x7fc0_0000, 0x7e00, 0x7e00, 0x7e00, 0x3c00),
        (0x3f80_0000, 0x3c00, 0x7e00, 0x7e00, 0x3c00),
        (0xff80_0000, 0xfc00, 0x8001, 0xfc00, 0x8001),
    ];
    assert_eq!(found("f16", &pairs), wanted);
}
