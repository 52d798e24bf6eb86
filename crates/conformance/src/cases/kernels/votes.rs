//! Votes: ballot, any, all, and counting with them.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/vote":
    ballot, any_and_all, part_of_a_warp, both_sides_of_a_branch, helper_in_two_branches, uneven_rounds, nested_branches, compaction, same_key,
    until_all_are_done,
);

/// The mask of the lanes, in a warp of `lanes`, for which the condition holds.
fn mask(lanes: u32, holds: impl Fn(u32) -> bool) -> u64 {
    (0..lanes).filter(|lane| holds(*lane)).fold(0, |mask, lane| mask | 1 << lane)
}

/// A bit for each lane.
fn ballot(b: &Bench) -> Outcome {
    let (wave, threads) = (b.wave(), 2 * b.wave() as usize);
    for modulus in [1, 3, 7, 100] {
        let out = b.zeros::<u64>(threads)?;
        b.launch(&b.function("vote", "ballot")?, grid(1, threads as u32), args![&out, modulus])?;
        let expected = mask(wave, |lane| lane % modulus == 0);
        same_all(&format!("modulus {modulus}"), &out.read()?, &vec![expected; threads])?;
    }
    Ok(())
}

/// Whether any lane votes true, and whether all do.
fn any_and_all(b: &Bench) -> Outcome {
    let wave = b.wave() as i32;
    for limit in [0, 3, wave - 1, wave] {
        let out = b.filled(2 * wave as usize, -1)?;
        b.launch(&b.function("vote", "any_and_all")?, grid(1, 2 * wave as u32), args![&out, limit])?;
        let expected = i32::from(limit < wave) + 10 * i32::from(limit == 0) + 100;
        same_all(&format!("limit {limit}"), &out.read()?, &vec![expected; 2 * wave as usize])?;
    }
    Ok(())
}

/// Lanes that do not exist do not vote: 40 threads are not a whole number of warps.
fn part_of_a_warp(b: &Bench) -> Outcome {
    let (out, wave) = (b.zeros::<u64>(40)?, b.wave());
    b.launch(&b.function("vote", "ballot")?, grid(1, 40), args![&out, 3])?;
    let expected: Vec<u64> =
        (0..40).map(|t| mask(wave.min(40 - t / wave * wave), |lane| lane % 3 == 0)).collect();
    same_all("out", &out.read()?, &expected)
}

/// Each side of a branch votes separately.
fn both_sides_of_a_branch(b: &Bench) -> Outcome {
    let (out, wave) = (b.zeros::<u64>(128)?, b.wave());
    b.launch(&b.function("vote", "two_sides")?, grid(1, 128), args![&out])?;
    let odd = mask(wave, |lane| lane >= 5 && lane % 2 == 1);
    let expected: Vec<u64> = (0..128).map(|t| if t % wave < 5 { 0b11011 } else { odd }).collect();
    same_all("out", &out.read()?, &expected)
}

/// Both sides call the same function with a vote in it, and still vote separately.
fn helper_in_two_branches(b: &Bench) -> Outcome {
    let (out, wave) = (b.zeros::<u64>(128)?, b.wave());
    b.launch(&b.function("vote", "two_calls")?, grid(1, 128), args![&out])?;
    // Lanes 0 to 4 ask for even lanes, the others for odd ones.
    let odd = mask(wave, |lane| lane >= 5 && lane % 2 == 1);
    let expected: Vec<u64> = (0..128).map(|t| if t % wave < 5 { 0b10101 } else { odd }).collect();
    same_all("out", &out.read()?, &expected)
}

/// Lane n loops n times.
fn uneven_rounds(b: &Bench) -> Outcome {
    let wave = b.wave() as i32;
    let out = b.zeros::<i32>(wave as usize)?;
    b.launch(&b.function("vote", "uneven_rounds")?, grid(1, wave as u32), args![&out])?;
    // Round i has the lanes above i: wave - 1 - i of them. All meet at the end.
    let seen = |lane: i32| (0..lane).map(|i| wave - 1 - i).sum::<i32>();
    same_all("out", &out.read()?, &(0..wave).map(|lane| 1000 * seen(lane) + wave).collect::<Vec<i32>>())
}

/// Nested branches: fewer lanes inside, the same ones again afterwards.
fn nested_branches(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(128)?;
    b.launch(&b.function("vote", "nested")?, grid(1, 128), args![&out])?;
    let wave = b.wave() as i32;
    let at = |t: i32| match t % wave {
        lane if lane >= 24 => 0,
        lane if lane % 4 == 0 => 24_061_224,
        lane if lane % 2 == 0 => 24_001_224,
        _ => 24_000_024,
    };
    same_all("out", &out.read()?, &(0..128).map(at).collect::<Vec<i32>>())
}

/// Multiples of three move to the front of their warp's part.
fn compaction(b: &Bench) -> Outcome {
    let (wave, values) = (b.wave() as usize, (0..256).map(|i| i * 7 % 50).collect::<Vec<i32>>());
    let (input, out, counts) = (b.buffer(&values)?, b.filled(256, -1)?, b.zeros::<i32>(256 / wave)?);
    b.launch(&b.function("vote", "compact")?, grid(1, 256), args![&input, &out, &counts])?;
    let (mut expected, mut expected_counts) = (Vec::new(), Vec::new());
    for warp in values.chunks(wave) {
        let mut kept: Vec<i32> = warp.iter().copied().filter(|value| value % 3 == 0).collect();
        expected_counts.push(kept.len() as i32);
        kept.resize(wave, -1);
        expected.extend(kept);
    }
    same_all("counts", &counts.read()?, &expected_counts)?;
    same_all("out", &out.read()?, &expected)
}

/// Lanes with the same key find each other.
fn same_key(b: &Bench) -> Outcome {
    let (wave, keys) = (b.wave(), (0..128).map(|t| t * t % 11 - 3).collect::<Vec<i32>>());
    let (input, out) = (b.buffer(&keys)?, b.zeros::<u64>(128)?);
    b.launch(&b.function("vote", "same_key")?, grid(1, 128), args![&input, &out])?;
    let at = |t: u32| mask(wave, |lane| keys[(t - t % wave + lane) as usize] == keys[t as usize]);
    same_all("out", &out.read()?, &(0..128).map(at).collect::<Vec<u64>>())
}

/// A warp loops as often as its slowest lane.
fn until_all_are_done(b: &Bench) -> Outcome {
    let (wave, steps) = (b.wave() as usize, (0..192).map(|t| t * 5 % 37 * (t / 64)).collect::<Vec<i32>>());
    let (input, rounds) = (b.buffer(&steps)?, b.filled(192, -1)?);
    b.launch(&b.function("vote", "until_all")?, grid(1, 192), args![&input, &rounds])?;
    let most = |t: usize| steps[t / wave * wave..][..wave].iter().copied().max();
    let expected: Vec<i32> = (0..192).filter_map(most).collect();
    same_all("rounds", &rounds.read()?, &expected)
}
