//! Warp operations at both wave sizes: widths below the wave, inactive lanes, diverged branches.

#[macro_use]
mod common;

use common::{Hip, hip, shape};
use std::ptr::null_mut;

fn at_both(test: impl Fn(&Hip, i32)) {
    let hip = hip();
    for (device, wave) in [(0, 32), (1, 64)] {
        ok!(hip, hipSetDevice(device));
        test(&hip, wave);
    }
}

#[test]
fn shuffles_in_four_forms() {
    at_both(|hip, wave| {
        let block = 192;
        let mut widths = vec![2, 4, 8, 16, 32];
        widths.extend((wave == 64).then_some(64));
        for (argument, width) in [0, 1, 3, 7].iter().flat_map(|a| widths.iter().map(move |w| (*a, *w))) {
            let out = hip.zeros::<i32>(4 * block as usize);
            let (mut po, mut a, mut w) = (out.pointer, argument, width);
            let function = hip.function("test_threads", "shuffles");
            hip.launch(function, shape(1, block as u32), null_mut(), arguments![po, a, w]);
            let expected = (0..4 * block).map(|i| {
                let (form, t) = (i / block, i % block);
                let first = t - t % width;
                let from = match form {
                    0 => first + argument % width,
                    1 if t - argument >= first => t - argument,
                    2 if t + argument < first + width => t + argument,
                    3 if (t ^ argument) < first + width => t ^ argument,
                    _ => t,
                };
                100 + from
            });
            assert_eq!(out.read(), expected.collect::<Vec<i32>>(), "argument {argument}, width {width}");
        }
    });
}

#[test]
fn shuffles_of_several_types() {
    at_both(|hip, wave| {
        let out = hip.zeros::<f64>(wave as usize);
        let mut po = out.pointer;
        hip.launch(
            hip.function("test_threads", "shuffle_types"),
            shape(1, wave as u32),
            null_mut(),
            arguments![po],
        );
        let expected = (0..wave).map(|t| {
            let next = f64::from(if t + 1 < wave { t + 1 } else { t });
            next + 0.5 + 1000.0 * next + 1e6 * f64::from(t ^ 1) + 3e9
        });
        assert_eq!(out.read(), expected.collect::<Vec<f64>>());
    });
}

#[test]
fn inactive_lanes() {
    at_both(|hip, wave| {
        let out = hip.zeros::<i32>(128);
        let mut po = out.pointer;
        hip.launch(hip.function("test_threads", "odd_lanes"), shape(1, 128), null_mut(), arguments![po]);
        // t ^ 2 is odd again; half of the lanes vote.
        let expected = (0..128).map(|t| if t % 2 == 1 { (t ^ 2) + 1000 * wave / 2 } else { t });
        assert_eq!(out.read(), expected.collect::<Vec<i32>>());
    });
}

#[test]
fn both_sides_of_a_branch() {
    at_both(|hip, wave| {
        let out = hip.zeros::<u64>(128);
        let mut po = out.pointer;
        hip.launch(hip.function("test_threads", "two_sides"), shape(1, 128), null_mut(), arguments![po]);
        let odd_from_5 = (5..wave).filter(|lane| lane % 2 == 1).fold(0_u64, |mask, lane| mask | 1 << lane);
        let expected = (0..128).map(|t| if t % wave < 5 { 0b11011 } else { odd_from_5 });
        assert_eq!(out.read(), expected.collect::<Vec<u64>>());
    });
}

#[test]
fn lanes_that_go_round_unequally_often() {
    at_both(|hip, wave| {
        let out = hip.zeros::<i32>(wave as usize);
        let mut po = out.pointer;
        hip.launch(
            hip.function("test_threads", "uneven_rounds"),
            shape(1, wave as u32),
            null_mut(),
            arguments![po],
        );
        // Round i has the lanes above i: wave - 1 - i of them. All meet at the end.
        let expected = (0..wave).map(|lane| 1000 * (0..lane).map(|i| wave - 1 - i).sum::<i32>() + wave);
        assert_eq!(out.read(), expected.collect::<Vec<i32>>());
    });
}

#[test]
fn votes() {
    at_both(|hip, wave| {
        let full = if wave == 64 { u64::MAX } else { u64::from(u32::MAX) };
        let warps = (160 + wave - 1) / wave;
        for limit in [0, 3, wave - 1, wave] {
            let out = hip.zeros::<u64>(2 * warps as usize);
            let (mut po, mut l) = (out.pointer, limit);
            hip.launch(hip.function("test_threads", "votes"), shape(1, 160), null_mut(), arguments![po, l]);
            let mut expected = Vec::new();
            for warp in 0..warps {
                // The last warp of 160 threads has 32 lanes at either size.
                let lanes = (160 - warp * wave).min(wave);
                let there = if lanes == 64 { u64::MAX } else { full & u64::from(u32::MAX) };
                let at_least = if limit == 64 { 0 } else { u64::MAX << limit };
                expected.push(there & at_least);
                let (any, all) = (u64::from(limit < lanes), u64::from(limit == 0));
                expected.push(any + 10 * all + 100 + 1000 * wave as u64);
            }
            assert_eq!(out.read(), expected, "limit {limit}");
        }
    });
}
