//! Block barriers: early returns, data-dependent barriers, values that travel from thread to thread.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/barrier":
    early_return, whole_warps_return, trips_that_depend_on_data, trips_by_block, values_travel, three_dimensions,
    count_or_and, divergence_and_back, inside_a_function, a_branch_for_each_block,
);

/// The remaining threads meet, however many have returned.
fn early_return(b: &Bench) -> Outcome {
    let out = b.filled(256, -1)?;
    b.launch(&b.function("barrier", "early_return")?, grid(1, 256), args![&out, 200])?;
    // Threads 1 to 199 stay, which are 199.
    let expected: Vec<i32> = (0..256).map(|t| if (1..200).contains(&t) { 199 } else { -1 }).collect();
    same_all("out", &out.read()?, &expected)
}

/// One warp after the other returns between barriers.
fn whole_warps_return(b: &Bench) -> Outcome {
    let (out, wave) = (b.filled(32 * 256, -1)?, b.wave() as i32);
    b.launch(&b.function("barrier", "warps_leave")?, grid(1, 256), args![&out])?;
    let at = |i: i32| {
        let (round, t) = (i / 256, i % 256);
        if t / wave >= round { 256 - round * wave } else { -1 }
    };
    same_all("out", &out.read()?, &(0..32 * 256).map(at).collect::<Vec<i32>>())
}

/// A loop with barriers that ends when the block's largest number was counted down.
fn trips_that_depend_on_data(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..4 * 96).map(|i| if i % 96 == 5 { 3 * (i / 96) } else { 1 }).collect();
    let (input, rounds) = (b.buffer(&values)?, b.zeros::<i32>(4 * 96)?);
    b.launch(&b.function("barrier", "data_dependent")?, grid(4, 96), args![&input, &rounds])?;
    // Block n's largest number is 3 n, or 1.
    let expected: Vec<i32> = (0..4 * 96).map(|i| (3 * (i / 96)).max(1)).collect();
    same_all("rounds", &rounds.read()?, &expected)
}

/// Each block passes a different number of barriers.
fn trips_by_block(b: &Bench) -> Outcome {
    let (trips, out) = (b.buffer(&[0, 1, 10, 100, 7])?, b.filled(5, -1)?);
    b.launch(&b.function("barrier", "trips_by_block")?, grid(5, 70), args![&trips, &out])?;
    same_all("out", &out.read()?, &[0, 0, 45, 4950, 21])
}

/// 57 barriers, blocks of 1, 33 and 1024 threads.
fn values_travel(b: &Bench) -> Outcome {
    for block in [1, 33, 1024] {
        let out = b.zeros::<i32>(block)?;
        b.launch(&b.function("barrier", "rotate")?, grid(1, block as u32), args![&out, 57])?;
        let expected: Vec<i32> = (0..block).map(|t| ((t + 57) % block) as i32).collect();
        same_all(&format!("out of {block}"), &out.read()?, &expected)?;
    }
    Ok(())
}

/// A block of 10 by 5 by 7, mirrored.
fn three_dimensions(b: &Bench) -> Outcome {
    let out = b.zeros::<u32>(350)?;
    b.launch(&b.function("barrier", "mirror")?, Shape::of([1; 3], [10, 5, 7]), args![&out])?;
    let at = |i: u32| (9 - i % 10) + 100 * (4 - i / 10 % 5) + 10_000 * (6 - i / 50);
    same_all("out", &out.read()?, &(0..350).map(at).collect::<Vec<u32>>())
}

/// Barriers that count or combine predicates.
fn count_or_and(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(100)?;
    b.launch(&b.function("barrier", "count_or_and")?, grid(1, 100), args![&out])?;
    // 34 of 0..100 are multiples of three; some 1, none 0, all 1, most 0.
    same_all("out", &out.read()?, &[341_010; 100])
}

/// Odd and even lanes diverge, reconverge in their warp, then in the block.
fn divergence_and_back(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(128)?;
    b.launch(&b.function("barrier", "reconverge")?, grid(1, 128), args![&out])?;
    // An even lane got that of t ^ 2, an odd one that of t ^ 4; then each adds its neighbour's.
    let apart = |t: i32| if t % 2 == 0 { t ^ 2 } else { t ^ 4 };
    let value = |t: i32| apart(t) + apart(t ^ 1);
    let total = |odd: i32| (0..128).filter(|t| t % 2 == odd).map(value).sum::<i32>();
    let expected: Vec<i32> = (0..128).map(|t| value(t) + total(t % 2)).collect();
    same_all("out", &out.read()?, &expected)
}

/// A function with barriers, called twice.
fn inside_a_function(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(2 * 256)?;
    b.launch(&b.function("barrier", "in_a_function")?, grid(2, 256), args![&out])?;
    // 0 + … + 255 = 32640; then 128 threads have that and 128 have 1.
    same_all("out", &out.read()?, &[128 * 32_640 + 128; 512])
}

/// Even and odd blocks take different branches, with different barriers.
fn a_branch_for_each_block(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(6 * 64)?;
    b.launch(&b.function("barrier", "branch_of_a_block")?, grid(6, 64), args![&out])?;
    let at = |i: i32| {
        let t = i % 64;
        if i / 64 % 2 == 0 { 63 - t } else { 2 * ((t + 2) % 64) + 1 }
    };
    same_all("out", &out.read()?, &(0..6 * 64).map(at).collect::<Vec<i32>>())
}
