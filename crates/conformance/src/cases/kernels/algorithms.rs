//! Complete algorithms, as written for GPUs.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/algorithm":
    mandelbrot, bitonic_sort, odd_even_sort, collatz, sieve, game_of_life, check_sums, breadth_first_search,
);

/// Pseudo-random numbers.
fn scrambled(count: u32) -> Vec<u32> {
    (0..count).map(|i| i.wrapping_mul(2_654_435_761).rotate_left(7) ^ 0x5bd1_e995).collect()
}

/// Integer arithmetic only, so that the picture is the same everywhere.
fn mandelbrot(b: &Bench) -> Outcome {
    let (width, height, limit) = (67, 45, 60);
    let out = b.filled((width * height) as usize, -1)?;
    let shape = Shape::of([9, 12, 1], [8, 4, 1]);
    b.launch(&b.function("algorithm", "mandelbrot")?, shape, args![&out, width, height, limit])?;
    let rounds = |i: i32| {
        let (cx, cy) = (i % width * 3 * 4096 / width - 2 * 4096, i / width * 2 * 4096 / height - 4096);
        let (mut x, mut y, mut round) = (0, 0, 0);
        while round < limit && x * x / 4096 + y * y / 4096 <= 4 * 4096 {
            (x, y) = (x * x / 4096 - y * y / 4096 + cx, 2 * x * y / 4096 + cy);
            round += 1;
        }
        round
    };
    let expected: Vec<i32> = (0..width * height).map(rounds).collect();
    ensure(expected.contains(&limit) && expected.contains(&1), "the picture shows something")?;
    same_all("rounds", &out.read()?, &expected)
}

/// Four blocks sort 512 numbers each.
fn bitonic_sort(b: &Bench) -> Outcome {
    let mut values = scrambled(2048);
    let data = b.buffer(&values)?;
    b.launch(&b.function("algorithm", "bitonic_sort")?, grid(4, 512).shared(2048), args![&data])?;
    values.chunks_mut(512).for_each(|part| part.sort_unstable());
    same_all("data", &data.read()?, &values)
}

/// Neighbours are swapped until none is out of order.
fn odd_even_sort(b: &Bench) -> Outcome {
    let backwards: Vec<i32> = (0..200).rev().collect();
    let (data, rounds) = (b.buffer(&backwards)?, b.zeros::<i32>(1)?);
    b.launch(&b.function("algorithm", "odd_even_sort")?, grid(1, 200), args![&data, &rounds])?;
    same_all("data", &data.read()?, &(0..200).collect::<Vec<i32>>())?;
    // 200 phases reverse a list of 200, two in each round; one more round finds nothing to do.
    same_all("rounds", &rounds.read()?, &[101])
}

/// Loops with unpredictable trip counts.
fn collatz(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(1000)?;
    b.launch(&b.function("algorithm", "collatz")?, grid(10, 100), args![&out])?;
    let steps = |n: u64| {
        let (mut n, mut steps) = (n, 0);
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    // A known one: 27 takes 111 steps.
    same("the steps of 27", out.read()?[26], 111)?;
    same_all("steps", &out.read()?, &(1..=1000).map(steps).collect::<Vec<i32>>())
}

/// The primes below 10,000.
fn sieve(b: &Bench) -> Outcome {
    let composite = b.zeros::<u8>(10_000)?;
    b.launch(&b.function("algorithm", "sieve")?, grid(40, 256), args![&composite, 10_000])?;
    let composite = composite.read()?;
    let primes: Vec<usize> = (2..10_000).filter(|i| composite[*i] == 0).collect();
    same_all("the first", &primes[..8], &[2, 3, 5, 7, 11, 13, 17, 19])?;
    same("how many primes there are below 10,000", primes.len(), 1229)?;
    same("the last", primes.last(), Some(&9973))
}

/// A glider on a torus of 12 by 10: after four generations it has moved one cell down and right.
fn game_of_life(b: &Bench) -> Outcome {
    let glider = |dx: usize, dy: usize| {
        let mut cells = vec![0_u8; 120];
        for (x, y) in [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)] {
            cells[(y + dy) % 10 * 12 + (x + dx) % 12] = 1;
        }
        cells
    };
    let (even, odd) = (b.buffer(&glider(8, 7))?, b.zeros::<u8>(120)?);
    let function = b.function("algorithm", "life")?;
    for generation in 0..8 {
        let (from, to) = if generation % 2 == 0 { (&even, &odd) } else { (&odd, &even) };
        b.launch(&function, Shape::of([2, 3, 1], [8, 4, 1]), args![from, to, 12, 10])?;
    }
    same_all("after eight generations", &even.read()?, &glider(10, 9))
}

/// CRC-32 of lines of nine letters.
fn check_sums(b: &Bench) -> Outcome {
    let (text, out) = (b.buffer(b"123456789\0\0\0\0\0\0\0\0\0")?, b.zeros::<u32>(2)?);
    b.launch(&b.function("algorithm", "crc32")?, grid(1, 2), args![&text, 9, &out])?;
    // The check value of the standard; nine zero bytes, by zlib.
    same_all("sums", &out.read()?, &[0xcbf4_3926, 0xe60914ae])
}

/// A mesh of 20 by 20: the distance is the sum of the coordinates.
fn breadth_first_search(b: &Bench) -> Outcome {
    let (mut starts, mut edges) = (vec![0], Vec::new());
    for i in 0..400 {
        let (x, y) = (i % 20, i / 20);
        for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
            let (x, y) = (x + dx, y + dy);
            if (0..20).contains(&x) && (0..20).contains(&y) {
                edges.push(y * 20 + x);
            }
        }
        starts.push(edges.len() as i32);
    }
    let (s, e, distance) = (b.buffer(&starts)?, b.buffer(&edges)?, b.filled(400, -7)?);
    b.launch(&b.function("algorithm", "breadth_first")?, grid(1, 128), args![&s, &e, &distance, 400])?;
    same_all("distance", &distance.read()?, &(0..400).map(|i| i % 20 + i / 20).collect::<Vec<i32>>())
}
