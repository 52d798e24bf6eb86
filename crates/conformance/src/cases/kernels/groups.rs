//! Cooperative groups: tiles of a warp, coalesced lanes, the whole grid.

use crate::cases::prelude::*;

pub(crate) const CASES: &[Case] = cases!("kernel/group":
    block, tiles, tiles_that_go_apart, lanes_that_are_there, grid_sync, grid_sum,
    one_block_too_many, no_blocks,
);

/// Launches cooperatively, so that all blocks run at once.
fn launch_together(b: &Bench, function: &Function, shape: Shape, arguments: &mut [Arg]) -> Outcome {
    b.expect(together(b, function.raw, shape, arguments)?, SUCCESS, "a cooperative launch")
}

/// The code of a cooperative launch; skips the case if the device does not support it.
fn together(b: &Bench, raw: hipFunction_t, shape: Shape, arguments: &mut [Arg]) -> Result<u32, Failure> {
    let (mut can, attribute) = (0, hipDeviceAttribute_t::hipDeviceAttributeCooperativeLaunch);
    ok!(b, hipDeviceGetAttribute(&mut can, attribute, b.device()));
    if can == 0 {
        return Err(Failure::skip("the device has no cooperative launches"));
    }
    let mut addresses: Vec<*mut c_void> = arguments.iter_mut().map(Arg::address).collect();
    let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
    let list = addresses.as_mut_ptr();
    Ok(call!(b, hipModuleLaunchCooperativeKernel(raw, gx, gy, gz, bx, by, bz, shape.shared, NULL, list)))
}

/// The most blocks of that size that can run at once.
fn most_blocks(b: &Bench, function: &Function, block: i32) -> Result<u32, Failure> {
    let (mut each, mut processors) = (0, 0);
    ok!(b, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&mut each, function.raw, block, 0));
    let count = hipDeviceAttribute_t::hipDeviceAttributeMultiprocessorCount;
    ok!(b, hipDeviceGetAttribute(&mut processors, count, b.device()));
    Ok((each * processors) as u32)
}

/// Rank, size and barrier of a block of 16 by 8.
fn block(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(128)?;
    b.launch(&b.function("group", "block_group")?, Shape::of([1; 3], [16, 8, 1]), args![&out])?;
    let expected: Vec<i32> = (0..128).map(|t| 127 - t + 1000 * (t / 16)).collect();
    same_all("out", &out.read()?, &expected)
}

/// Tiles of 4, 16 and 32 add up and tell their lanes' ranks.
fn tiles(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(3 * 128)?;
    b.launch(&b.function("group", "tiles")?, grid(1, 128), args![&out])?;
    let mut expected = Vec::new();
    for size in [4, 16, 32] {
        let first = |t: i32| t - t % size;
        expected.extend((0..128).map(|t| size * first(t) + size * (size - 1) / 2 + 100_000 * (t % size)));
    }
    same_all("out", &out.read()?, &expected)
}

/// Each tile loops a different number of times.
fn tiles_that_go_apart(b: &Bench) -> Outcome {
    let out = b.zeros::<i32>(64)?;
    b.launch(&b.function("group", "tiles_apart")?, grid(1, 64), args![&out])?;
    let mut values: Vec<i32> = (0..64).collect();
    for round in 0..3 {
        let before = values.clone();
        for t in (0..64).filter(|t| t / 8 % 4 > round) {
            values[t] += before[t ^ (1 << round)];
        }
    }
    same_all("out", &out.read()?, &values)
}

/// Every third lane forms a group with the others that are active.
fn lanes_that_are_there(b: &Bench) -> Outcome {
    let (out, wave) = (b.zeros::<i32>(128)?, b.wave() as i32);
    b.launch(&b.function("group", "those_that_are_here")?, grid(1, 128), args![&out])?;
    let count = (0..wave).filter(|lane| lane % 3 == 1).count() as i32;
    // The lane of rank 0 is lane 1.
    let at = |t: i32| if t % wave % 3 == 1 { 100 * count + t % wave / 3 + 10_000 } else { -1 };
    same_all("out", &out.read()?, &(0..128).map(at).collect::<Vec<i32>>())
}

/// Values travel through the grid, on as many blocks as fit.
fn grid_sync(b: &Bench) -> Outcome {
    let function = b.function("group", "grid_rotate")?;
    for (blocks, threads) in [(1, 40), (4, 64), (most_blocks(b, &function, 256)?.min(64), 256)] {
        let count = (blocks * threads) as usize;
        let ring = b.zeros::<i32>(2 * count)?;
        launch_together(b, &function, grid(blocks, threads), args![&ring, 7])?;
        // The last round wrote the second half.
        let expected: Vec<i32> = (0..count).map(|t| ((t + 7) % count) as i32).collect();
        same_all(&format!("{blocks} blocks"), &ring.read()?[count..], &expected)?;
    }
    Ok(())
}

/// A whole reduction in one launch.
fn grid_sum(b: &Bench) -> Outcome {
    let values: Vec<i32> = (0..9000).map(|i| i % 100 - 20).collect();
    let (input, parts, out) = (b.buffer(&values)?, b.zeros::<i32>(8)?, b.zeros::<i32>(1)?);
    let function = b.function("group", "grid_sum")?;
    launch_together(b, &function, grid(8, 128), args![&input, &parts, &out, 9000])?;
    // 90 times the sum of -20 to 79.
    same_all("sum", &out.read()?, &[90 * 2950])
}

/// One block more than can run at once is refused.
fn one_block_too_many(b: &Bench) -> Outcome {
    let function = b.function("group", "grid_rotate")?;
    let blocks = most_blocks(b, &function, 64)? + 1;
    let ring = b.zeros::<i32>(64 * blocks as usize)?;
    let code = together(b, function.raw, grid(blocks, 64), args![&ring, 0])?;
    b.expect(code, COOPERATIVE_TOO_LARGE, &format!("{blocks} blocks"))?;
    b.sync()?;
    same_all("the ring", &ring.read()?, &vec![0; 64 * blocks as usize])
}

/// A launch without blocks or threads is refused.
fn no_blocks(b: &Bench) -> Outcome {
    let (function, ring) = (b.function("group", "grid_rotate")?, b.zeros::<i32>(2)?);
    for shape in [grid(0, 64), grid(1, 0)] {
        let code = together(b, function.raw, shape, args![&ring, 0])?;
        b.expect(code, VALUE, &format!("{:?} blocks of {:?} threads", shape.grid, shape.block))?;
    }
    b.sync()
}
