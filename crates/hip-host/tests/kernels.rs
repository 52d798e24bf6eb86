//! Kernels as written for GPUs, at both wave sizes, against results worked out by hand.

#[macro_use]
mod common;

use common::{Hip, Shape, hip, shape};
use std::ptr::null_mut;

/// Runs a test on device 0 (wave 32), then on device 1 (wave 64).
fn at_both(test: impl Fn(&Hip, u32)) {
    let hip = hip();
    for (device, wave) in [(0, 32), (1, 64)] {
        ok!(hip, hipSetDevice(device));
        test(&hip, wave);
    }
}

#[test]
fn vector_add_in_three_ways() {
    at_both(|hip, _| {
        let count = 10_000_u64;
        let a: Vec<f32> = (0..10_240).map(|i| i as f32).collect();
        let b: Vec<f32> = (0..10_240).map(|i| 0.5 * i as f32).collect();
        let (da, db) = (hip.buffer(&a), hip.buffer(&b));
        for (module, name) in
            [("test_plain", "vector_add"), ("test_plain", "vector_add_each"), ("test_threads", "vector_add")]
        {
            let out = hip.buffer(&vec![-1.0_f32; 10_240]);
            let (mut pa, mut pb, mut po, mut n) = (da.pointer, db.pointer, out.pointer, count);
            let function = hip.function(module, name);
            hip.launch(function, shape(40, 256), null_mut(), arguments![pa, pb, po, n]);
            for (i, value) in out.read().into_iter().enumerate() {
                let expected = if i < 10_000 { 1.5 * i as f32 } else { -1.0 };
                assert_eq!(value, expected, "{module} {name} {i}");
            }
        }
    });
}

#[test]
fn for_each_covers_every_shape() {
    at_both(|hip, _| {
        let function = hip.function("test_plain", "vector_add_each");
        for (grid, block, count) in [(1, 1, 7), (7, 32, 3), (3, 64, 1000), (1000, 1, 999), (5, 5, 0)] {
            let (ones, out) = (hip.buffer(&vec![1.0_f32; 1000]), hip.zeros::<f32>(1000));
            let (mut pa, mut pb, mut po, mut n) = (ones.pointer, ones.pointer, out.pointer, count as u64);
            hip.launch(function, shape(grid, block), null_mut(), arguments![pa, pb, po, n]);
            let expected: Vec<f32> = (0..1000).map(|i| if i < count { 2.0 } else { 0.0 }).collect();
            assert_eq!(out.read(), expected, "{grid} x {block}, {count}");
        }
    });
}

#[test]
fn arguments_of_mixed_sizes() {
    #[repr(C)]
    struct Mixed {
        weights: [f64; 3],
        tag: i8,
    }
    at_both(|hip, _| {
        let out = hip.zeros::<f64>(7);
        let (mut a, mut b, mut c, mut f) = (-3_i8, 2.5_f64, -300_i16, 200_u8);
        let (mut d, mut e, mut po) = (Mixed { weights: [1.0, 2.0, 7.25], tag: 9 }, 0.125_f32, out.pointer);
        let function = hip.function("test_plain", "mixed_arguments");
        hip.launch(function, shape(1, 8), null_mut(), arguments![a, b, c, d, e, po, f]);
        assert_eq!(out.read(), [-3.0, 2.5, -300.0, 7.25, 9.0, 0.125, 200.0]);
    });
}

#[test]
fn indices_in_three_dimensions() {
    at_both(|hip, _| {
        let out = hip.zeros::<u32>(2 * 3 * 2 * 4 * 2 * 3);
        let mut po = out.pointer;
        let shape = Shape { grid: [2, 3, 2], block: [4, 2, 3], shared: 0 };
        hip.launch(hip.function("test_plain", "indices"), shape, null_mut(), arguments![po]);
        let mut expected = Vec::new();
        for (bz, by, bx) in (0..12).map(|i| (i / 6, i / 2 % 3, i % 2)) {
            for (z, y, x) in (0..24).map(|i| (i / 8, i / 4 % 2, i % 4)) {
                expected.push(x + 10 * y + 100 * z + 1000 * bx + 10_000 * by + 100_000 * bz);
            }
        }
        assert_eq!(out.read(), expected);
    });
}

/// The least number of increasing sequences that the numbers can be split into.
fn increasing_sequences(numbers: &[u32]) -> usize {
    let mut last: Vec<u32> = Vec::new();
    for number in numbers {
        match last.iter_mut().filter(|last| **last < *number).max() {
            Some(last) => *last = *number,
            None => last.push(*number),
        }
    }
    last.len()
}

#[test]
fn blocks_begin_in_order_and_once_each() {
    at_both(|hip, _| {
        let (counter, order) = (hip.zeros::<u32>(1), hip.buffer(&vec![u32::MAX; 100_000]));
        let (mut pc, mut po) = (counter.pointer, order.pointer);
        let function = hip.function("test_plain", "block_order");
        hip.launch(function, shape(100_000, 1), null_mut(), arguments![pc, po]);
        let mut order = order.read();
        // Each worker thread takes blocks in increasing order; how the threads interleave is open.
        if hip_host::adversary::seed().is_some() {
            // The order is not guaranteed, and the adversary breaks it.
            order.sort_unstable();
            assert!(order.into_iter().eq(0..100_000));
            return;
        }
        let asked = std::env::var("HIPSTACK_HOST_THREADS").ok().and_then(|text| text.trim().parse().ok());
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        assert!(increasing_sequences(&order) <= asked.unwrap_or(cores).max(2));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..100_000));
    });
}

#[test]
fn block_reductions() {
    at_both(|hip, _| {
        let values: Vec<i32> = (0..4096).map(|i| i % 10 - 3).collect();
        let input = hip.buffer(&values);
        for block in [64, 256, 1024] {
            let blocks = 4096 / block;
            let sum_of = |b: usize| values[b * block..(b + 1) * block].iter().sum::<i32>();
            let expected: Vec<i32> = (0..blocks).map(sum_of).collect();
            let (out, bytes) = (hip.zeros::<i32>(blocks), hip.zeros::<u32>(1));
            let (mut pi, mut po, mut n, mut pb) = (input.pointer, out.pointer, 4096_u32, bytes.pointer);
            let plain = shape(blocks as u32, block as u32);
            hip.launch(
                hip.function("test_threads", "block_reduce"),
                plain,
                null_mut(),
                arguments![pi, po, n],
            );
            assert_eq!(out.read(), expected, "static, {block}");
            let dynamic = Shape { shared: 4 * block as u32, ..plain };
            let function = hip.function("test_threads", "dynamic_reduce");
            hip.launch(function, dynamic, null_mut(), arguments![pi, po, pb]);
            assert_eq!((out.read(), bytes.read()), (expected.clone(), vec![4 * block as u32]));
            hip.launch(hip.function("test_threads", "warp_reduce"), plain, null_mut(), arguments![pi, po]);
            assert_eq!(out.read(), expected, "warps, {block}");
        }
    });
}

#[test]
fn the_last_blocks_of_a_large_grid() {
    at_both(|hip, _| {
        let (input, out) = (hip.buffer(&vec![1_i32; 3200]), hip.buffer(&vec![-1_i32; 100_000]));
        let (mut pi, mut po, mut n) = (input.pointer, out.pointer, 3200_u32);
        let function = hip.function("test_threads", "block_reduce");
        hip.launch(function, shape(100_000, 32), null_mut(), arguments![pi, po, n]);
        assert!(out.read().iter().enumerate().all(|(i, sum)| *sum == if i < 100 { 32 } else { 0 }));
    });
}

#[test]
fn early_exit_before_a_barrier() {
    at_both(|hip, _| {
        let out = hip.buffer(&vec![-1_i32; 256]);
        let (mut po, mut count) = (out.pointer, 200_i32);
        hip.launch(
            hip.function("test_threads", "early_exit"),
            shape(1, 256),
            null_mut(),
            arguments![po, count],
        );
        // Threads 1 to 199 stay, which are 199.
        let expected: Vec<i32> = (0..256).map(|t| if (1..200).contains(&t) { 199 } else { -1 }).collect();
        assert_eq!(out.read(), expected);
    });
}

#[test]
fn barriers_that_depend_on_data() {
    at_both(|hip, _| {
        let values: Vec<i32> = (0..4 * 96).map(|i| if i % 96 == 5 { 3 * (i / 96) } else { 1 }).collect();
        let (input, rounds) = (hip.buffer(&values), hip.zeros::<i32>(4 * 96));
        let (mut pi, mut pr) = (input.pointer, rounds.pointer);
        hip.launch(
            hip.function("test_threads", "data_dependent"),
            shape(4, 96),
            null_mut(),
            arguments![pi, pr],
        );
        // Block b's largest value is max(1, 3 b).
        let expected: Vec<i32> = (0..4 * 96).map(|i| (3 * (i / 96)).max(1)).collect();
        assert_eq!(rounds.read(), expected);
    });
}

#[test]
fn values_travel_through_barriers() {
    at_both(|hip, _| {
        for block in [1, 33, 1024] {
            let out = hip.zeros::<i32>(block);
            let (mut po, mut rounds) = (out.pointer, 57_i32);
            let function = hip.function("test_threads", "rotate");
            hip.launch(function, shape(1, block as u32), null_mut(), arguments![po, rounds]);
            let expected: Vec<i32> = (0..block).map(|t| ((t + 57) % block) as i32).collect();
            assert_eq!(out.read(), expected, "{block}");
        }
    });
}

#[test]
fn a_block_of_three_dimensions() {
    at_both(|hip, _| {
        let out = hip.zeros::<u32>(10 * 5 * 7);
        let mut po = out.pointer;
        let shape = Shape { grid: [1, 1, 1], block: [10, 5, 7], shared: 0 };
        hip.launch(hip.function("test_threads", "mirror_3d"), shape, null_mut(), arguments![po]);
        let at = |i: u32| (9 - i % 10) + 100 * (4 - i / 10 % 5) + 10_000 * (6 - i / 50);
        assert_eq!(out.read(), (0..350).map(at).collect::<Vec<u32>>());
    });
}

#[test]
fn barriers_that_count() {
    at_both(|hip, _| {
        let out = hip.zeros::<i32>(100);
        let mut po = out.pointer;
        hip.launch(
            hip.function("test_threads", "counted_barriers"),
            shape(1, 100),
            null_mut(),
            arguments![po],
        );
        // 34 of 0..100 are multiples of 3; some 1, none 0, all 1, most 0.
        assert_eq!(out.read(), [341_010; 100]);
    });
}

#[test]
fn shared_memory_of_several_types() {
    at_both(|hip, _| {
        let out = hip.zeros::<f64>(100);
        let mut po = out.pointer;
        hip.launch(hip.function("test_threads", "shared_types"), shape(1, 100), null_mut(), arguments![po]);
        let expected: Vec<f64> = (0..100).map(|t| 15.0 * f64::from(99 - t)).collect();
        assert_eq!(out.read(), expected);
    });
}

#[test]
fn a_histogram_in_shared_memory() {
    at_both(|hip, _| {
        let bytes: Vec<u8> = (0..50_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut expected = vec![0_u32; 256];
        bytes.iter().for_each(|b| expected[usize::from(*b)] += 1);
        let (input, out) = (hip.buffer(&bytes), hip.zeros::<u32>(256));
        let (mut pi, mut po, mut n) = (input.pointer, out.pointer, 50_000_u32);
        let function = hip.function("test_threads", "shared_histogram");
        hip.launch(function, shape(16, 192), null_mut(), arguments![pi, po, n]);
        assert_eq!(out.read(), expected);
    });
}

#[test]
fn atomics_of_every_type() {
    fn check<T: common::Plain + PartialEq + std::fmt::Debug>(hip: &Hip, name: &str, n: impl Fn(i32) -> T) {
        let values = hip.buffer(&[n(0), n(5000), n(500), n(0), n(77), n(0), n(0), n(0)]);
        let mut pv = values.pointer;
        hip.launch(hip.function("test_plain", name), shape(16, 64), null_mut(), arguments![pv]);
        let out = values.read();
        // 1024 threads, numbered from 0. Exactly one saw 77 first, and exactly one replaced the zero.
        assert_eq!(out[..4], [n(1024), n(5000 - 1024), n(0), n(1023)], "{name}");
        // The first exchange sees the initial 77; there is one more if thread 77 was not the last to store.
        assert!(out[5] == n(1) || out[5] == n(2), "{name}: {:?}", out[5]);
        assert_eq!(out[7], n(1), "{name}");
        assert_ne!(out[6], n(0), "{name}");
    }
    at_both(|hip, _| {
        check(hip, "atomics_i32", |v| v);
        check(hip, "atomics_u32", |v| v as u32);
        check(hip, "atomics_i64", i64::from);
        check(hip, "atomics_u64", |v| v as u64);
        check(hip, "atomics_f32", |v| v as f32);
        check(hip, "atomics_f64", f64::from);
        let words = hip.buffer(&[0_u32, u32::MAX, 0, 0, 0]);
        let longs = hip.buffer(&[0_u64, u64::MAX, 0, 0, 0]);
        let (mut pw, mut pl) = (words.pointer, longs.pointer);
        hip.launch(hip.function("test_plain", "bit_atomics_u32"), shape(3, 100), null_mut(), arguments![pw]);
        hip.launch(hip.function("test_plain", "bit_atomics_u64"), shape(3, 100), null_mut(), arguments![pl]);
        // 300 threads: 30 low bits set and cleared; each of bits 0 to 2 flipped 100 times; counters that wrap after
        // 10 steps are back where they began.
        assert_eq!(words.read(), [0x3fff_ffff, 0xc000_0000, 0, 0, 0]);
        assert_eq!(longs.read(), [0x3fff_ffff, 0xffff_ffff_c000_0000, 0, 0, 0]);
    });
}

#[test]
fn variables_of_a_module() {
    let hip = hip();
    let out = hip.zeros::<i32>(6);
    let mut po = out.pointer;
    hip.launch(hip.function("test_plain", "scaled"), shape(1, 6), null_mut(), arguments![po]);
    assert_eq!(out.read(), [1, 5, 10, 17, 13, 17]);
    let (mut address, mut bytes, module) = (null_mut(), 0, hip.module("test_plain"));
    ok!(hip, hipModuleGetGlobal(&mut address, &mut bytes, module, c"scale".as_ptr()));
    assert_eq!(bytes, 4);
    let kind = hip_sys::hip::hipMemcpyKind::hipMemcpyHostToDevice;
    let (ten, three) = (10_i32, 3_i32);
    ok!(hip, hipMemcpy(address, (&raw const ten).cast(), 4, kind));
    hip.launch(hip.function("test_plain", "scaled"), shape(1, 6), null_mut(), arguments![po]);
    assert_eq!(out.read(), [1, 12, 24, 38, 41, 52]);
    ok!(hip, hipMemcpy(address, (&raw const three).cast(), 4, kind));
}
