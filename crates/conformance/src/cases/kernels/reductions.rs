//! Reductions and scans: over blocks through shared memory and through shuffles, and over the grid.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/reduce":
    block_through_shared_memory, block_through_shuffles, index_of_the_maximum, last_block, grid_through_atomics,
    doubles, scan_by_doubling, scan_by_a_tree, scan_by_warps,
);

/// Some numbers, positive and negative.
fn numbers(count: usize) -> Vec<i32> {
    (0..count as i32).map(|i| i % 10 - 3 + i % 7).collect()
}

/// Inclusive prefix sums.
fn running(values: &[i32]) -> Vec<i32> {
    let mut sum = 0;
    values
        .iter()
        .map(|value| {
            sum += value;
            sum
        })
        .collect()
}

/// Blocks of 64, 256 and 1024 threads; the last one is partial.
fn block_through_shared_memory(b: &Bench) -> Outcome {
    let values = numbers(4000);
    let input = b.buffer(&values)?;
    for block in [64, 256, 1024] {
        let blocks = 4000_usize.div_ceil(block);
        let out = b.zeros::<i32>(blocks)?;
        let shape = grid(blocks as u32, block as u32);
        b.launch(&b.function("reduce", "block_shared")?, shape, args![&input, &out, 4000])?;
        let expected: Vec<i32> = values.chunks(block).map(|part| part.iter().sum()).collect();
        same_all(&format!("blocks of {block}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// The same through shuffles, with the warps' sums in shared memory.
fn block_through_shuffles(b: &Bench) -> Outcome {
    let values = numbers(4096);
    let input = b.buffer(&values)?;
    for block in [64, 256, 1024] {
        let out = b.zeros::<i32>(4096 / block)?;
        let shape = grid((4096 / block) as u32, block as u32);
        b.launch(&b.function("reduce", "block_shuffles")?, shape, args![&input, &out])?;
        let expected: Vec<i32> = values.chunks(block).map(|part| part.iter().sum()).collect();
        same_all(&format!("blocks of {block}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// The largest value and its first index; structures in shared memory.
fn index_of_the_maximum(b: &Bench) -> Outcome {
    let mut values: Vec<f32> = (0..1000_u16).map(|i| f32::from(i * 7 % 500)).collect();
    (values[700], values[333], values[901]) = (1234.5, 1234.5, 1234.5);
    // A float, then an int.
    let (input, out) = (b.buffer(&values)?, b.zeros::<[u32; 2]>(1)?);
    b.launch(&b.function("reduce", "arg_max")?, grid(1, 256), args![&input, &out, 1000])?;
    same_all("the maximum", &out.read()?, &[[1234.5_f32.to_bits(), 333]])
}

/// The last block to finish adds up the results; in a second launch the counter has wrapped.
fn last_block(b: &Bench) -> Outcome {
    let values = numbers(10_000);
    let sum = values.iter().sum::<i32>();
    let (input, parts, out) = (b.buffer(&values)?, b.zeros::<i32>(40)?, b.zeros::<i32>(1)?);
    let done = b.zeros::<u32>(1)?;
    for round in 1..=3 {
        let function = b.function("counter", "last_block")?;
        b.launch(&function, grid(40, 256), args![&input, &parts, &done, &out, 10_000])?;
        same_all("sum", &out.read()?, &[round * sum])?;
        same_all("counter", &done.read()?, &[0])?;
    }
    Ok(())
}

/// Every thread adds its part to one number.
fn grid_through_atomics(b: &Bench) -> Outcome {
    let values = numbers(10_000);
    let (input, out) = (b.buffer(&values)?, b.zeros::<i32>(1)?);
    b.launch(&b.function("reduce", "grid_atomic")?, grid(13, 100), args![&input, &out, 10_000])?;
    same_all("sum", &out.read()?, &[values.iter().sum()])
}

/// A dot product of doubles, exact because all sums are integers below 2^53.
fn doubles(b: &Bench) -> Outcome {
    let values: Vec<f64> = (0..3000).map(f64::from).collect();
    let ones: Vec<f64> = (0..3000).map(|i| f64::from(i % 3)).collect();
    let (x, y, out) = (b.buffer(&values)?, b.buffer(&ones)?, b.zeros::<f64>(4)?);
    b.launch(&b.function("reduce", "dot_product")?, grid(4, 128), args![&x, &y, &out, 3000])?;
    let share =
        |block: u32| (0..3000_u32).filter(move |i| i / 128 % 4 == block).map(|i| f64::from(i * (i % 3)));
    let expected: Vec<f64> = (0..4).map(|block| share(block).sum()).collect();
    same_all("sums", &out.read()?, &expected)
}

/// Inclusive prefix sums of 1000 elements, which is not a power of two.
fn scan_by_doubling(b: &Bench) -> Outcome {
    let values = numbers(1000);
    let (input, out) = (b.buffer(&values)?, b.zeros::<i32>(1000)?);
    b.launch(&b.function("reduce", "scan_doubling")?, grid(1, 1000), args![&input, &out])?;
    same_all("sums", &out.read()?, &running(&values))
}

/// Exclusive prefix sums of 1024 elements by 512 threads.
fn scan_by_a_tree(b: &Bench) -> Outcome {
    let values = numbers(1024);
    let (input, out) = (b.buffer(&values)?, b.zeros::<i32>(1024)?);
    b.launch(&b.function("reduce", "scan_tree")?, grid(1, 512), args![&input, &out])?;
    let expected: Vec<i32> = running(&values).iter().zip(&values).map(|(sum, own)| sum - own).collect();
    same_all("sums", &out.read()?, &expected)
}

/// Prefix sums in warps, then over their totals.
fn scan_by_warps(b: &Bench) -> Outcome {
    let values = numbers(1024);
    let (input, out) = (b.buffer(&values)?, b.zeros::<i32>(1024)?);
    b.launch(&b.function("reduce", "scan_warps")?, grid(1, 1024), args![&input, &out])?;
    same_all("sums", &out.read()?, &running(&values))
}
