//! Features of the device language that older versions of HIP lack, so that the cases for all platforms do
//! not use them. At both wave sizes, against results worked out by hand.

#[macro_use]
mod common;

use common::apart::apart;
use common::{Hip, hip, shape};
use std::ptr::null_mut;

/// Runs a test on device 0 (wave 32), then on device 1 (wave 64).
fn at_both(test: impl Fn(&Hip, usize)) {
    let hip = hip();
    for (device, wave) in [(0, 32), (1, 64)] {
        ok!(hip, hipSetDevice(device));
        test(&hip, wave);
    }
}

/// The mask of the lanes for which the condition holds.
fn mask(lanes: usize, holds: impl Fn(usize) -> bool) -> u64 {
    (0..lanes).filter(|lane| holds(*lane)).fold(0, |mask, lane| mask | 1 << lane)
}

#[test]
fn forms_with_a_mask() {
    at_both(|hip, wave| {
        let out = hip.zeros::<u64>(8 * 128);
        let mut po = out.pointer;
        hip.launch(hip.function("test_language", "with_a_mask"), shape(1, 128), null_mut(), arguments![po]);
        let whole = mask(wave, |_| true);
        for (t, row) in out.read().chunks(8).enumerate() {
            let (first, rank) = (t - t % 8, t % 8);
            let up = if rank >= 2 { t - 2 } else { t };
            let down = if rank < 6 { t + 2 } else { t };
            let odd = if t % 2 == 1 { mask(wave, |lane| lane % 2 == 1) } else { 0 };
            let quarter = mask(wave, |lane| lane % 4 == 1);
            let shuffled = [first + 3, up, down, t ^ 5].map(|t| t as u64);
            let expected = [shuffled, [quarter, 3, whole, odd]].concat();
            assert_eq!(row, expected, "{t}");
        }
    });
}

#[test]
fn lanes_that_match() {
    at_both(|hip, wave| {
        let (out, predicates) = (hip.zeros::<u64>(3 * 128), hip.buffer(&[-1_i32; 2 * 128]));
        let (mut po, mut pp) = (out.pointer, predicates.pointer);
        hip.launch(hip.function("test_language", "matching"), shape(1, 128), null_mut(), arguments![po, pp]);
        for (t, row) in out.read().chunks(3).enumerate() {
            let same = mask(wave, |lane| (t - t % wave + lane) % 3 == t % 3);
            assert_eq!(row, [same, mask(wave, |_| true), 0], "{t}");
        }
        assert_eq!(predicates.read(), [1, 0].repeat(128));
    });
}

#[test]
fn values_of_odd_sizes() {
    at_both(|hip, _| {
        let out = hip.zeros::<f64>(6 * 128);
        let mut po = out.pointer;
        hip.launch(hip.function("test_language", "odd_sizes"), shape(1, 128), null_mut(), arguments![po]);
        for (t, row) in (0_i32..).zip(out.read().chunks(6)) {
            let down = if t % 4 < 3 { t + 1 } else { t };
            let (up, second) = (t - t % 2, t - t % 4 + 2);
            let whole = [t ^ 1, -3 * down].map(f64::from);
            let expected =
                [whole, [f64::from(up) + 0.5, 0.0], [f64::from(second) + 0.25, f64::from(second)]].concat();
            assert_eq!(row, expected, "{t}");
        }
    });
}

#[test]
fn tiles_vote_and_match() {
    at_both(|hip, _| {
        let out = hip.zeros::<u64>(8 * 128);
        let mut po = out.pointer;
        hip.launch(hip.function("test_language", "tiles"), shape(1, 128), null_mut(), arguments![po]);
        for (t, row) in out.read().chunks(8).enumerate() {
            let (first, rank) = (t - t % 8, t % 8);
            let votes = u64::from(first == 8) + 2 * u64::from(first < 16);
            let (third, up) =
                (mask(8, |lane| (first + lane) / 3 == t / 3), if rank >= 3 { t - 3 } else { t });
            let half = t - t % 4 + 1 + 1000 * (t % 4);
            // Sixteen threads hold the same value, so each tile of eight agrees.
            let whole = [t / 8 * 100 + 16, up, half].map(|n| n as u64);
            let expected =
                [&[mask(8, |lane| (first + lane) % 3 == 0), votes, third, 0xff, 1], &whole[..]].concat();
            assert_eq!(row, expected, "{t}");
        }
    });
}

#[test]
fn lanes_that_came_together() {
    at_both(|hip, wave| {
        let out = hip.zeros::<u64>(5 * 64);
        let mut po = out.pointer;
        hip.launch(hip.function("test_language", "coalesced"), shape(1, 64), null_mut(), arguments![po]);
        let count = (0..wave).filter(|lane| lane % 3 == 1).count();
        for (t, row) in out.read().chunks(5).enumerate() {
            let (lane, first) = (t % wave, t - t % wave);
            if lane % 3 != 1 {
                assert_eq!(row, [0; 5], "{t}");
                continue;
            }
            let rank = lane / 3;
            let of = |rank: usize| (first + 1 + 3 * rank) as u64;
            let up = of(rank.saturating_sub(1));
            let down = if rank + 2 < count { of(rank + 2) } else { t as u64 };
            let even = mask(count, |rank| rank % 2 == 0);
            assert_eq!(row, [up, down, even, 3, (count + 100 * rank) as u64], "{t}");
        }
    });
}

#[test]
fn operators_of_vectors() {
    at_both(|hip, _| {
        let (out, ints) = (hip.zeros::<f32>(7), hip.zeros::<i32>(9));
        let (mut po, mut pi) = (out.pointer, ints.pointer);
        let function = hip.function("test_language", "vector_operators");
        hip.launch(function, shape(1, 1), null_mut(), arguments![po, pi]);
        // 3 a - 1, times a: 1 times 2, 2 times 5, 3 times 8, 4 times 11.
        assert_eq!(out.read(), [2.0, 10.0, 24.0, 44.0, 0.0, 1.0, -4.0]);
        // 52 % 5 = 2, or 8; -28 % 5 = -3, or 8; 260 wraps; a float3 has 12 bytes, a double4 32.
        assert_eq!(ints.read(), [10, -3, 4, 3, 12, 32, 32, 8, -7]);
    });
}

#[test]
fn atomics_by_their_other_names() {
    at_both(|hip, _| {
        let (floats, doubles) = (hip.buffer(&[1.0_f32, 100.0, -100.0, 0.0]), hip.buffer(&[1.0_f64]));
        let ints = hip.zeros::<i32>(3);
        let (mut pf, mut pd, mut pi) = (floats.pointer, doubles.pointer, ints.pointer);
        let function = hip.function("test_language", "more_atomics");
        hip.launch(function, shape(1, 64), null_mut(), arguments![pf, pd, pi]);
        assert_eq!(floats.read(), [33.0, -60.0, 3.0, -16.0]);
        assert_eq!(doubles.read(), [9.0]);
        assert_eq!(ints.read(), [128, -63, 5]);
    });
}

#[test]
fn sixteen_bits() {
    at_both(|hip, _| {
        let (half, brain) = (hip.zeros::<f32>(9), hip.zeros::<f32>(6));
        let (mut ph, mut pb) = (half.pointer, brain.pointer);
        hip.launch(hip.function("test_language", "half_precision"), shape(1, 1), null_mut(), arguments![ph]);
        hip.launch(hip.function("test_language", "bfloat16"), shape(1, 1), null_mut(), arguments![pb]);
        // a = 1 + 2^-10. a + 3 is 4 + 2^-10, which lies nearest to 4. 3 a is 3 + 3 2^-10, half way between two, and the
        // even one is 3 + 2^-8. 65520 rounds to infinity. c = 1 + 3 2^-10, and c c - 1 is 6153 2^-20, rounded once 6152. 0x3555 is
        // 1365 / 4096.
        let fused = 6152.0 / 1_048_576.0;
        let expected = [
            4.0,
            3.0 + 1.0 / 256.0,
            f32::INFINITY,
            fused,
            1.0,
            f32::from(0x4200_u16),
            1.0,
            -4.0,
            0.333_251_95,
        ];
        assert_eq!(half.read(), expected);
        // a = 1 + 2^-7. 3 a is 3 + 3 2^-7, half way, and the even one is 3 + 2^-5. 1 + 3 2^-8 is half way between a and the
        // even 1 + 2^-6; 1 + 2^-8 between the even 1 and a.
        let brain = brain.read();
        assert_eq!(brain[..4], [1.0078125, 3.03125, 1.015625, 1.0]);
        assert!(brain[4].is_nan());
        assert_eq!(brain[5], f32::from(0x4040_u16));
    });
}

#[test]
fn an_assertion_of_the_c_library_is_ours() {
    apart("an_assertion_of_the_c_library_is_ours", &[], |hip| {
        let out = hip.zeros::<i32>(8);
        let mut po = out.pointer;
        hip.launch(hip.function("test_language", "assert_again"), shape(1, 8), null_mut(), arguments![po]);
        assert_eq!(call!(hip, hipDeviceSynchronize()), 710);
    });
}
