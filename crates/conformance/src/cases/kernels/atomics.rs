//! Atomic operations on every type that has them, in global and in shared memory.

use crate::cases::prelude::*;
use bytemuck::Pod;
use std::fmt::Debug;

pub(crate) const CASES: &[Case] = cases!("kernel/atomic":
    add, subtract, min_max_signed, min_max_unsigned, bits, wrapping_counters, wrapping_in_shared_memory, beyond_the_limit, exchange,
    compare_and_swap, min_max_of_floats, add_of_doubles_by_swap, tickets, in_shared_memory, warp_aggregated,
    system_scope, linked_lists,
);

/// int, unsigned, unsigned long long, float and double; 1024 threads.
fn add(b: &Bench) -> Outcome {
    fn check<T: Pod + PartialEq + Debug>(b: &Bench, name: &str, number: impl Fn(u16) -> T) -> Outcome {
        let out = b.buffer(&[number(0), number(100)])?;
        b.launch(&b.function("atomic", name)?, grid(16, 64), args![&out])?;
        // 1024 ones, and 256 times 0 + 1 + 2 + 3 on top of 100.
        same_all(name, &out.read()?, &[number(1024), number(1636)])
    }
    check(b, "add_i32", i32::from)?;
    check(b, "add_u32", u32::from)?;
    check(b, "add_u64", u64::from)?;
    check(b, "add_f32", f32::from)?;
    check(b, "add_f64", f64::from)
}

/// int goes below zero.
fn subtract(b: &Bench) -> Outcome {
    let (ints, words) = (b.zeros::<i32>(1)?, b.buffer(&[5000_u32])?);
    b.launch(&b.function("atomic", "subtract")?, grid(16, 64), args![&ints, &words])?;
    same_all("ints", &ints.read()?, &[-3072])?;
    same_all("words", &words.read()?, &[2952])
}

/// Numbers on both sides of zero.
fn min_max_signed(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(2)?;
    b.launch(&b.function("atomic", "min_max_i32")?, grid(16, 64), args![&out])?;
    same_all("out", &out.read()?, &[-500, 499])
}

/// Numbers that would be negative if they were signed.
fn min_max_unsigned(b: &Bench) -> Outcome {
    let (words, longs) = (b.buffer(&[u32::MAX, 0])?, b.buffer(&[u64::MAX, 0])?);
    b.launch(&b.function("atomic", "min_max_u32")?, grid(16, 64), args![&words])?;
    b.launch(&b.function("atomic", "min_max_u64")?, grid(16, 64), args![&longs])?;
    // All of 0 to 999 occur, times 4e6 and times 1e16.
    same_all("words", &words.read()?, &[0, 3_996_000_000])?;
    same_all("longs", &longs.read()?, &[0, 9_990_000_000_000_000_000])
}

/// Or, and, exclusive or; 300 threads.
fn bits(b: &Bench) -> Outcome {
    let ints = b.buffer(&[0, -1, 5])?;
    let (words, longs) = (b.buffer(&[0_u32, u32::MAX, 5])?, b.buffer(&[0_u64, u64::MAX, 5])?);
    b.launch(&b.function("atomic", "bits_i32")?, grid(3, 100), args![&ints])?;
    b.launch(&b.function("atomic", "bits_u32")?, grid(3, 100), args![&words])?;
    b.launch(&b.function("atomic", "bits_u64")?, grid(3, 100), args![&longs])?;
    // Every other bit is set and cleared; each of three bits is flipped 100 times.
    same_all("ints", &ints.read()?, &[0x5555_5555, 0xaaaa_aaaa_u32 as i32, 5])?;
    same_all("words", &words.read()?, &[0x5555_5555, 0xaaaa_aaaa, 5])?;
    same_all("longs", &longs.read()?, &[0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 5])
}

/// Counters modulo ten, up and down: every old value occurs equally often.
fn wrapping_counters(b: &Bench) -> Outcome {
    let (out, seen) = (b.zeros::<u32>(2)?, b.zeros::<u32>(20)?);
    b.launch(&b.function("counter", "wrapping")?, grid(10, 100), args![&out, &seen])?;
    same_all("counters", &out.read()?, &[0, 0])?;
    same_all("seen", &seen.read()?, &[100; 20])
}

/// Three blocks count 100 steps modulo seven, up and down.
fn wrapping_in_shared_memory(b: &Bench) -> Outcome {
    let out = b.filled(6, u32::MAX)?;
    b.launch(&b.function("counter", "wrapping_in_a_block")?, grid(3, 100), args![&out])?;
    // 100 is 14 times 7 and 2 more; down from 0 comes 6, then 5.
    same_all("out", &out.read()?, &[2, 5, 2, 5, 2, 5])
}

/// Counters beyond their limit, and limits of zero.
fn beyond_the_limit(b: &Bench) -> Outcome {
    let (out, old) = (b.buffer(&[50_u32, 50, 7, 7])?, b.zeros::<u32>(4)?);
    b.launch(&b.function("counter", "beyond_the_limit")?, grid(1, 1), args![&out, &old])?;
    same_all("old", &old.read()?, &[50, 50, 7, 7])?;
    same_all("counters", &out.read()?, &[0, 9, 0, 0])
}

/// Every value that is stored is returned once, except the last.
fn exchange(b: &Bench) -> Outcome {
    fn check<T: Pod>(b: &Bench, name: &str, number: impl Fn(T) -> usize) -> Outcome {
        let (cell, came_out) = (b.zeros::<T>(1)?, b.zeros::<u32>(257)?);
        b.launch(&b.function("atomic", name)?, grid(4, 64), args![&cell, &came_out])?;
        let last = number(cell.read()?[0]);
        ensure((1..=256).contains(&last), format!("{name}: {last} was never put in"))?;
        let expected: Vec<u32> = (0..257).map(|value| u32::from(value != last)).collect();
        same_all(name, &came_out.read()?, &expected)
    }
    check(b, "exchange_i32", |value: i32| value as usize)?;
    check(b, "exchange_u64", |value: u64| value as usize)?;
    check(b, "exchange_f32", |value: f32| value as usize)
}

/// One of eight threads wins each cell; the others see which one.
fn compare_and_swap(b: &Bench) -> Outcome {
    fn check<T: Pod>(b: &Bench, name: &str, number: impl Fn(T) -> usize) -> Outcome {
        let (cells, wins) = (b.zeros::<T>(8)?, b.zeros::<u32>(9)?);
        b.launch(&b.function("atomic", name)?, grid(2, 32), args![&cells, &wins])?;
        same_all(name, &wins.read()?, &[1, 1, 1, 1, 1, 1, 1, 1, 0])?;
        for (index, cell) in cells.read()?.into_iter().enumerate() {
            let winner = number(cell);
            let fits = (1..=64).contains(&winner) && (winner - 1) % 8 == index;
            ensure(fits, format!("{name}: cell {index} holds {winner}"))?;
        }
        Ok(())
    }
    check(b, "compare_i32", |value: i32| value as usize)?;
    check(b, "compare_u64", |value: u64| value as usize)
}

/// Implemented with compare-and-swap on the bits.
fn min_max_of_floats(b: &Bench) -> Outcome {
    let values: Vec<f32> = (0..512_i16).map(|i| f32::from(i * 37 % 512) * 0.5 - 100.25).collect();
    let (low, high) = (b.buffer(&[1e30_f32])?, b.buffer(&[-1e30_f32])?);
    b.launch(&b.function("atomic", "float_min_max")?, grid(8, 64), args![&b.buffer(&values)?, &low, &high])?;
    // All of 0 to 511 occur, since 37 and 512 are coprime.
    same_all("least and most", &[low.read()?, high.read()?].concat(), &[-100.25, 155.25])
}

/// An addition implemented with compare-and-swap.
fn add_of_doubles_by_swap(b: &Bench) -> Outcome {
    let cell = b.buffer(&[1.0_f64])?;
    b.launch(&b.function("atomic", "double_add_by_swap")?, grid(2, 128), args![&cell])?;
    // 128 halves and 128 quarters.
    same_all("sum", &cell.read()?, &[97.0])
}

/// 10,000 threads draw different numbers.
fn tickets(b: &Bench) -> Outcome {
    let (counter, taken) = (b.zeros::<u32>(1)?, b.zeros::<u32>(10_000)?);
    b.launch(&b.function("atomic", "tickets")?, grid(100, 100), args![&counter, &taken])?;
    same_all("counter", &counter.read()?, &[10_000])?;
    same_all("taken", &taken.read()?, &[1; 10_000])
}

/// All operations in shared memory, with 128 threads.
fn in_shared_memory(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(10)?;
    b.launch(&b.function("atomic", "in_shared_memory")?, grid(1, 128), args![&out])?;
    // Sum, least, most and exclusive or of 0 to 127; 128 twos; eight bits; 9; 77; 64 times two; 128 wide ones.
    same_all("out", &out.read()?, &[8128, -122, 127, 0, 256, 255, 9, 77, 128, 128])
}

/// One addition per warp; within a warp the order is kept.
fn warp_aggregated(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..1000).map(|i| i * 3).collect();
    let (input, out, counter) = (b.buffer(&values)?, b.filled(1000, -1)?, b.zeros::<u32>(1)?);
    b.launch(&b.function("atomic", "warp_aggregated")?, grid(10, 100), args![&input, &out, &counter])?;
    same_all("counter", &counter.read()?, &[200])?;
    let mut seen = out.read()?;
    seen[..200].sort_unstable();
    let expected: Vec<i32> = (0..200).map(|i| 15 * i).chain([-1; 800]).collect();
    same_all("out", &seen, &expected)
}

/// The forms with system scope.
fn system_scope(b: &Bench) -> Outcome {
    let (ints, words) = (b.buffer(&[10, -5])?, b.zeros::<u32>(2)?);
    b.launch(&b.function("atomic", "system_scope")?, grid(3, 50), args![&ints, &words])?;
    same_all("ints", &ints.read()?, &[310, 49])?;
    same_all("words", &words.read()?, &[5, u32::MAX])
}

/// Seven lists, pushed to by 1000 threads.
fn linked_lists(b: &Bench) -> Outcome {
    let (heads, next) = (b.filled(7, -1)?, b.filled(1000, -2)?);
    b.launch(&b.function("atomic", "linked_lists")?, grid(10, 100), args![&heads, &next, 7])?;
    let next = next.read()?;
    for (list, mut at) in heads.read()?.into_iter().enumerate() {
        let mut seen = Vec::new();
        while at >= 0 && seen.len() <= 1000 {
            seen.push(at);
            at = next[at as usize];
        }
        seen.sort_unstable();
        let expected: Vec<i32> = (0..1000).filter(|i| i % 7 == list as i32).collect();
        same_all(&format!("list {list}"), &seen, &expected)?;
    }
    Ok(())
}
