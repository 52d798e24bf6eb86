//! LSD radix sort of rows, on both host devices: every dtype, both directions, equal elements, NaN and both zeros.

mod common;

use bytemuck::Pod;
use common::Random;
use common::device::{Arg, BOTH, input, launch as run, output, value};
use common::formats::{self, Number};
use kernels_hip::launch;
use std::cmp::Ordering;

/// Number of multiprocessors for the grids.
const MULTIPROCESSORS: u32 = 2;
/// Two tiles a row; the second one is partial.
const LENGTH: usize = 2500;
const ROWS: usize = 2;

/// A null pointer.
const NOTHING: usize = 0;

/// Runs all passes, with the prefix sums of each row's counts in between. Returns elements and positions.
fn sort<T: Pod>(device: i32, dtype: &str, x: &[T], descending: bool) -> (Vec<T>, Vec<u32>) {
    let (mut keys, mut positions): (Option<Vec<T>>, Vec<u32>) = (None, Vec::new());
    let mut values = vec![T::zeroed(); x.len()];
    let passes = launch::radix_passes(ROWS as u64, LENGTH as u64, descending, size_of::<T>());
    let last = passes.len() - 1;
    for (number, map) in passes.enumerate() {
        let shape = launch::radix(&map, MULTIPROCESSORS);
        let row = launch::radix_counts(&map) as usize;
        let mut counts = vec![0u32; ROWS * row];
        let from = || keys.as_ref().map_or(value(&NOTHING), |keys| input(keys));
        let mut args = [input(x), from(), output(&mut counts), value(&map)];
        // SAFETY: S9: the arrays have the map's rows, and a number for each digit of each tile.
        unsafe { run(device, &format!("radix_count_{dtype}"), shape, &mut args) };
        for row in counts.chunks_mut(row) {
            let mut sum = 0;
            for number in row {
                sum += *number;
                *number = sum;
            }
        }
        let (mut next, mut next_positions) = (vec![T::zeroed(); x.len()], vec![0u32; x.len()]);
        let (mut to_keys, mut to_values): (Arg<'_>, Arg<'_>) = (value(&NOTHING), value(&NOTHING));
        if number < last {
            to_keys = output(&mut next);
        } else {
            to_values = output(&mut values);
        }
        let mut args = [
            input(x),
            from(),
            input(&positions),
            input(&counts),
            to_keys,
            output(&mut next_positions),
            to_values,
            value(&map),
        ];
        // SAFETY: S9: as above.
        unsafe { run(device, &format!("radix_deal_{dtype}"), shape, &mut args) };
        (keys, positions) = (Some(next), next_positions);
    }
    (values, positions)
}

/// NaN is greatest, and all NaNs are equal; -0 is below +0.
fn order(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(&b),
            (a, b) => a.cmp(&b),
        },
        _ => panic!("elements of one dtype"),
    }
}

fn check<T: Pod + PartialEq>(dtype: &str, number_of: impl Fn(&T) -> u64, of: impl Fn(u64) -> T) {
    let mut random = Random(23);
    let bits = 8 * size_of::<T>() as u32;
    let mut x: Vec<T> = Vec::new();
    for i in 0..ROWS * LENGTH {
        // Some elements are equal, some differ only in the last digit or only in the first.
        let pattern = match i % 4 {
            0 => random.next() % 5,
            1 => (1 << (bits - 1)) | (random.next() % 3),
            _ => random.next(),
        };
        x.push(of(pattern));
    }
    for descending in [false, true] {
        let (mut elements, mut indices) = (Vec::new(), Vec::new());
        for row in x.chunks(LENGTH) {
            let numbers: Vec<Number> = row.iter().map(|x| formats::decode(dtype, number_of(x))).collect();
            let mut sorted: Vec<usize> = (0..LENGTH).collect();
            sorted.sort_by(|a, b| {
                let ascending = order(numbers[*a], numbers[*b]);
                if descending { ascending.reverse() } else { ascending }
            });
            elements.extend(sorted.iter().map(|index| number_of(&row[*index])));
            indices.extend(sorted.iter().map(|index| *index as u32));
        }
        for device in BOTH {
            let (values, positions) = sort(device, dtype, &x, descending);
            assert!(positions == indices, "positions of {dtype}, descending: {descending}, device {device}");
            // The same bits, including NaNs.
            let values: Vec<u64> = values.iter().map(&number_of).collect();
            assert!(values == elements, "{dtype}, descending: {descending}, device {device}");
        }
    }
}

#[test]
fn elements_of_one_byte() {
    check::<u8>("u8", |x| (*x).into(), |bits| bits as u8);
    check::<u8>("f8e4m3", |x| (*x).into(), |bits| bits as u8);
}

#[test]
fn elements_of_two_bytes() {
    check::<i16>("i16", |x| u64::from(*x as u16), |bits| bits as i16);
    check::<u16>("bf16", |x| (*x).into(), |bits| bits as u16);
    check::<u16>("f16", |x| (*x).into(), |bits| bits as u16);
}

#[test]
fn elements_of_four_bytes() {
    check::<u32>("u32", |x| (*x).into(), |bits| bits as u32);
    check::<i32>("i32", |x| u64::from(*x as u32), |bits| bits as i32);
    check::<u32>("f32", |x| (*x).into(), |bits| bits as u32);
}
