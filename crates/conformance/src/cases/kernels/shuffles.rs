//! Shuffles: four forms, narrow widths, every type, inactive lanes.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/shuffle":
    indexed, up, down, xor, lane_from_data, types_of_four_bytes, types_of_eight_bytes, inactive_lanes, lanes_leave,
    sum_of_a_group, maximum_of_a_group, scan_of_a_group, part_of_a_warp, transpose_in_registers,
);

/// 2, 4, … up to the wave size.
fn widths(b: &Bench) -> impl Iterator<Item = u32> + use<> {
    let wave = b.wave();
    (1..=wave.trailing_zeros()).map(|bits| 1 << bits)
}

/// One of the four forms at every width. `from` computes which lane of a group a lane reads.
fn form(b: &Bench, number: usize, from: impl Fn(u32, u32, u32) -> u32) -> Outcome {
    let function = b.function("shuffle", "four_forms")?;
    let threads = 2 * b.wave();
    for width in widths(b) {
        for argument in [0, 1, width / 2, width - 1] {
            let out = b.zeros::<u32>(4 * threads as usize)?;
            b.launch(&function, grid(1, threads), args![&out, argument, width])?;
            let read = |t: u32| 100 + t - t % width + from(t % width, argument, width);
            let expected: Vec<u32> = (0..threads).map(read).collect();
            let part = &out.read()?[number * threads as usize..][..threads as usize];
            same_all(&format!("argument {argument}, width {width}"), part, &expected)?;
        }
    }
    Ok(())
}

/// From the lane with the given index.
fn indexed(b: &Bench) -> Outcome {
    form(b, 0, |_, argument, _| argument)
}

/// From a lower lane; the lane's own value if the group has no such lane.
fn up(b: &Bench) -> Outcome {
    form(b, 1, |lane, argument, _| if lane >= argument { lane - argument } else { lane })
}

/// From a higher lane; the lane's own value if the group has no such lane.
fn down(b: &Bench) -> Outcome {
    form(b, 2, |lane, argument, width| if lane + argument < width { lane + argument } else { lane })
}

/// From the lane whose number differs in these bits.
fn xor(b: &Bench) -> Outcome {
    form(b, 3, |lane, argument, _| lane ^ argument)
}

/// Each lane computes the lane that it reads.
fn lane_from_data(b: &Bench) -> Outcome {
    let threads = 2 * b.wave() as i32;
    for width in widths(b).map(|width| width as i32) {
        let out = b.zeros::<i32>(threads as usize)?;
        let function = b.function("shuffle", "rotate_group")?;
        b.launch(&function, grid(1, threads as u32), args![&out, 3, width])?;
        let expected: Vec<i32> = (0..threads).map(|t| 1000 + t - t % width + (t + 3) % width).collect();
        same_all(&format!("width {width}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// int, unsigned and float.
fn types_of_four_bytes(b: &Bench) -> Outcome {
    let (ints, words, floats) = (b.zeros::<i32>(64)?, b.zeros::<u32>(64)?, b.zeros::<f32>(64)?);
    b.launch(&b.function("shuffle", "four_bytes")?, grid(1, 64), args![&ints, &words, &floats])?;
    same_all("ints", &ints.read()?, &(0..64).map(|t| -(t ^ 1)).collect::<Vec<i32>>())?;
    same_all("words", &words.read()?, &(0..64).map(|t| 0xf000_0000 + (t ^ 2)).collect::<Vec<u32>>())?;
    let expected: Vec<f32> = (0_u8..64).map(|t| f32::from(t ^ 3) + 0.25).collect();
    same_all("floats", &floats.read()?, &expected)
}

/// long long, unsigned long long and double: both halves are moved.
fn types_of_eight_bytes(b: &Bench) -> Outcome {
    let (longs, words, doubles) = (b.zeros::<i64>(64)?, b.zeros::<u64>(64)?, b.zeros::<f64>(64)?);
    b.launch(&b.function("shuffle", "eight_bytes")?, grid(1, 64), args![&longs, &words, &doubles])?;
    let down = |t: i64| if t % 4 < 3 { t + 1 } else { t };
    same_all("longs", &longs.read()?, &(0..64).map(|t| -(down(t) << 33)).collect::<Vec<i64>>())?;
    let up = |t: u64| t - u64::from(t & 3 != 0);
    let expected: Vec<u64> = (0..64).map(|t| 0xf000_0000_0000_0000 + up(t)).collect();
    same_all("words", &words.read()?, &expected)?;
    let expected: Vec<f64> = (0_u8..64).map(|t| f64::from(t / 8 * 8 + 2) * 1e10 + 0.5).collect();
    same_all("doubles", &doubles.read()?, &expected)
}

/// Only the odd lanes take part.
fn inactive_lanes(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(128)?;
    b.launch(&b.function("shuffle", "odd_lanes")?, grid(1, 128), args![&out])?;
    let expected: Vec<i32> = (0..128).map(|t| if t % 2 == 1 { 1000 + (t ^ 2) } else { t }).collect();
    same_all("out", &out.read()?, &expected)
}

/// Lanes leave a loop one after the other.
fn lanes_leave(b: &Bench) -> Outcome {
    let (threads, wave) = (2 * b.wave(), b.wave());
    let out = b.zeros::<u32>(threads as usize)?;
    b.launch(&b.function("shuffle", "lanes_leave")?, grid(1, threads), args![&out])?;
    // Lane 0 begins with 1 and doubles in each round; lane l takes part in the first (wave - l) rounds of
    // wave - 1.
    let at = |t: u32| {
        let rounds = (wave - t % wave).min(wave - 1);
        (0..rounds).fold(t % wave + 1, |sum, round| sum.wrapping_add(1_u32.checked_shl(round).unwrap_or(0)))
    };
    same_all("out", &out.read()?, &(0..threads).map(at).collect::<Vec<u32>>())
}

/// Some numbers, positive and negative.
fn numbers(count: usize) -> Vec<i32> {
    (0..count as i32).map(|i| i * i % 101 - 40).collect()
}

/// A tree of shuffles down at every width.
fn sum_of_a_group(b: &Bench) -> Outcome {
    let values = numbers(256);
    let input = b.buffer(&values)?;
    for width in widths(b) {
        let out = b.zeros::<i32>(256 / width as usize)?;
        b.launch(&b.function("shuffle", "group_sum")?, grid(1, 256), args![&input, &out, width])?;
        let expected: Vec<i32> = values.chunks(width as usize).map(|group| group.iter().sum()).collect();
        same_all(&format!("width {width}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// A butterfly of exclusive-or shuffles at every width: all lanes have the result.
fn maximum_of_a_group(b: &Bench) -> Outcome {
    let values = numbers(256);
    let input = b.buffer(&values)?;
    for width in widths(b).map(|width| width as usize) {
        let out = b.zeros::<i32>(256)?;
        b.launch(&b.function("shuffle", "group_max")?, grid(1, 256), args![&input, &out, width as i32])?;
        let most = |t: usize| values[t / width * width..][..width].iter().copied().max();
        let expected: Vec<i32> = (0..256).filter_map(most).collect();
        same_all(&format!("width {width}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// Prefix sums by shuffles up at every width.
fn scan_of_a_group(b: &Bench) -> Outcome {
    let values = numbers(256);
    let input = b.buffer(&values)?;
    for width in widths(b).map(|width| width as usize) {
        let out = b.zeros::<i32>(256)?;
        b.launch(&b.function("shuffle", "group_scan")?, grid(1, 256), args![&input, &out, width as i32])?;
        let expected: Vec<i32> = (0..256).map(|t| values[t / width * width..=t].iter().sum()).collect();
        same_all(&format!("width {width}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// A block of 40 threads: its last warp is partial at either wave size.
fn part_of_a_warp(b: &Bench) -> Outcome {
    let values = numbers(40);
    let (input, out) = (b.buffer(&values)?, b.zeros::<i32>(5)?);
    b.launch(&b.function("shuffle", "group_sum")?, grid(1, 40), args![&input, &out, 8])?;
    let expected: Vec<i32> = values.chunks(8).map(|group| group.iter().sum()).collect();
    same_all("out", &out.read()?, &expected)
}

/// Each lane has a row of four and gets a column.
fn transpose_in_registers(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(4 * 64)?;
    b.launch(&b.function("shuffle", "transpose_in_registers")?, grid(1, 64), args![&out])?;
    let at = |i: i32| {
        let (t, column) = (i / 4, i % 4);
        10 * (t - t % 4 + column) + t % 4
    };
    same_all("out", &out.read()?, &(0..4 * 64).map(at).collect::<Vec<i32>>())
}
