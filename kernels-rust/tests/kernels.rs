//! Each kernel on both of hip-host's devices, compared with loops in f64 or with integers. With `HIPSTACK_TEST_PLATFORM=amd` or
//! `nvidia` they run on these devices, with code that `cargo xtask build-rust-kernels` built.

use hip_safe::{Device, DeviceSlice, DeviceSliceMut, Error, LaunchConfig, Platform, Stream};
use kernels_rust::{
    BLOCK, BlockSum, Histogram, Matmul, Ranks, Saxpy, SaxpyWide, ScaleF32, ScaleF64, ScaleHalves, ScaleU32,
    Softmax, Softplus, SortTiles, TILE,
};
use std::sync::Arc;

fn streams() -> Vec<Stream> {
    let platform = match std::env::var("HIPSTACK_TEST_PLATFORM").as_deref() {
        Ok("amd") => Arc::new(Platform::load_amd().expect("AMD's library is on this machine")),
        Ok("nvidia") => hip_nvidia::platform().expect("NVIDIA's driver is on this machine"),
        _ => hip_host::platform(),
    };
    let count = Device::count(&platform).expect("devices are counted");
    let stream = |ordinal| Device::new(&platform, ordinal)?.new_stream();
    (0..count.min(2)).map(|ordinal| stream(ordinal).expect("a device opens")).collect()
}

/// Numbers from -1 to 1 that look random.
fn numbers(count: usize) -> Vec<f32> {
    words(count).into_iter().map(|word| (word >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// Words of an LCG with Knuth's constants.
fn words(count: usize) -> Vec<u32> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    (0..count).map(|_| next()).collect()
}

fn blocks(count: usize) -> LaunchConfig {
    LaunchConfig { grid: [count as u32, 1, 1], block: [BLOCK as u32, 1, 1], shared_bytes: 0 }
}

#[test]
fn saxpy() -> hip_safe::Result<()> {
    for stream in streams() {
        let (x, before) = (numbers(1000), numbers(2000)[1000..].to_vec());
        let buffer = stream.upload(&x)?;
        let mut y = stream.upload(&before)?;
        Saxpy::load(stream.device())?.launch(
            &stream,
            LaunchConfig::linear(1000, 256),
            0.5,
            &buffer,
            &mut y,
        )?;
        // A product with a half is exact, so the sum is rounded once, fused or not.
        let expected: Vec<f32> =
            x.iter().zip(&before).map(|(x, y)| (f64::from(*x) * 0.5 + f64::from(*y)) as f32).collect();
        assert_eq!(stream.download(&y)?, expected);

        let kernel = SaxpyWide::load(stream.device())?;
        let mut y = stream.upload(&before)?;
        let wide = buffer.as_view().recast()?;
        kernel.launch(&stream, LaunchConfig::linear(250, 64), 0.5, &wide, &mut y.as_view_mut().recast()?)?;
        assert_eq!(stream.download(&y)?, expected);
    }
    Ok(())
}

#[test]
fn one_function_for_several_types() -> hip_safe::Result<()> {
    let config = LaunchConfig::linear(100, 64);
    for stream in streams() {
        let x = numbers(100);
        let mut y = stream.alloc_zeros::<f32>(100)?;
        ScaleF32::load(stream.device())?.launch(&stream, config, 3.0, &stream.upload(&x)?, &mut y)?;
        assert_eq!(stream.download(&y)?, x.iter().map(|x| 3.0 * x).collect::<Vec<_>>());

        let x: Vec<f64> = x.into_iter().map(f64::from).collect();
        let mut y = stream.alloc_zeros::<f64>(100)?;
        ScaleF64::load(stream.device())?.launch(&stream, config, 0.1, &stream.upload(&x)?, &mut y)?;
        assert_eq!(stream.download(&y)?, x.iter().map(|x| 0.1 * x).collect::<Vec<_>>());

        // Products below 2^32, so that no debug build panics.
        let x: Vec<u32> = words(100).into_iter().map(|word| word >> 3).collect();
        let mut y = stream.alloc_zeros::<u32>(100)?;
        ScaleU32::load(stream.device())?.launch(&stream, config, 7, &stream.upload(&x)?, &mut y)?;
        assert_eq!(stream.download(&y)?, x.iter().map(|x| 7 * x).collect::<Vec<_>>());
    }
    Ok(())
}

#[test]
fn block_sums() -> hip_safe::Result<()> {
    for stream in streams() {
        let x = numbers(5 * BLOCK + 77);
        let buffer = stream.upload(&x)?;
        let mut sums = stream.upload(&[9.0_f32; 4])?;
        BlockSum::load(stream.device())?.launch(&stream, blocks(3), &buffer, &mut sums)?;
        let sums = stream.download(&sums)?;
        for (block, sum) in sums[..3].iter().enumerate() {
            let mine = x.chunks(BLOCK).skip(block).step_by(3).flatten();
            let (exact, size) =
                mine.fold((0.0, 0.0), |(sum, size), x| (sum + f64::from(*x), size + f64::from(x.abs())));
            // Each element goes through at most 2 + 6 + 8 additions, each off by half a unit in the last place.
            assert!(
                (f64::from(*sum) - exact).abs() <= 16.0 * size * f64::from(f32::EPSILON) / 2.0,
                "{sum} {exact}"
            );
        }
        assert_eq!(sums[3], 9.0);
    }
    Ok(())
}

#[test]
fn products() -> hip_safe::Result<()> {
    // One shape fills its tiles; another fills none; the last ones have nothing to sum, or nothing at all.
    for (m, n, k) in [(32, 48, 16), (19, 35, 21), (19, 35, 0), (4, 0, 5)] {
        for stream in streams() {
            let (a, b) = (numbers(m * k), numbers(k * n));
            let (left, right) = (stream.upload(&a)?, stream.upload(&b)?);
            let mut c = stream.alloc_zeros::<f32>(m * n)?;
            let grid = blocks((m.div_ceil(TILE) * n.div_ceil(TILE)).max(1));
            Matmul::load(stream.device())?
                .launch(&stream, grid, n as u32, k as u32, &left, &right, &mut c)?;
            for (index, c) in stream.download(&c)?.into_iter().enumerate() {
                let (row, column) = (index / n, index % n);
                let term = |i: usize| f64::from(a[row * k + i]) * f64::from(b[i * n + column]);
                let (exact, size) =
                    (0..k).fold((0.0, 0.0), |(sum, size), i| (sum + term(i), size + term(i).abs()));
                // A product and at most k additions.
                let bound = (k + 1) as f64 * size * f64::from(f32::EPSILON) / 2.0;
                assert!((f64::from(c) - exact).abs() <= bound, "({row}, {column}): {c} {exact}");
            }
        }
    }
    Ok(())
}

#[test]
fn softmax_of_rows() -> hip_safe::Result<()> {
    for width in [7, BLOCK, 600] {
        for stream in streams() {
            let x: Vec<f32> = numbers(3 * width).into_iter().map(|x| 20.0 * x).collect();
            let buffer = stream.upload(&x)?;
            let mut y = stream.alloc_zeros::<f32>(3 * width)?;
            Softmax::load(stream.device())?.launch(&stream, blocks(3), &buffer, &mut y, width)?;
            let y = stream.download(&y)?;
            for (x, y) in x.chunks(width).zip(y.chunks(width)) {
                let max = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = x.iter().map(|x| (f64::from(*x) - f64::from(max)).exp()).sum();
                for (x, y) in x.iter().zip(y) {
                    let distance = (f64::from(*x) - f64::from(max)).abs();
                    let exact = (-distance).exp() / sum;
                    // The difference is off by half a unit, which exp turns into that part of the result; exp twice by 2 units, the sum by
                    // at most 3 + 8 roundings, the quotient by 3 units, all of f32.
                    let bound =
                        exact * f64::from(f32::EPSILON) * (distance / 2.0 + 40.0 / 2.0 + 4.0 + 5.5 + 3.0);
                    assert!((f64::from(*y) - exact).abs() <= bound, "{x}: {y} {exact}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn precise_and_fast_functions() -> hip_safe::Result<()> {
    for stream in streams() {
        let x: Vec<f32> = numbers(1000).into_iter().map(|x| 40.0 * x).collect();
        let (buffer, config) = (stream.upload(&x)?, LaunchConfig::linear(1000, 256));
        let (mut precise, mut fast) = (stream.alloc_zeros::<f32>(1000)?, stream.alloc_zeros::<f32>(1000)?);
        Softplus::load(stream.device())?.launch(&stream, config, &buffer, &mut precise, &mut fast)?;
        let (precise, fast) = (stream.download(&precise)?, stream.download(&fast)?);
        let u = f64::from(f32::EPSILON) / 2.0;
        for ((x, precise), fast) in x.iter().zip(precise).zip(fast) {
            let x = f64::from(*x);
            let (exact, part) = (x.exp().ln_1p(), 1.0 / (1.0 + (-x).exp()));
            // exp is off by 2 ulps, 4 u, of which `part` reaches the sum; the sum is rounded; ln is off by 2 ulps. A sum of 1 + s is off
            // by u, and so is its logarithm.
            let bound = u * (4.0 * part + 1.0 + 4.0 * exact);
            assert!((f64::from(precise) - exact).abs() <= bound, "{x}: {precise} {exact}");
            // The product with 1/ln 2 is off by 2 u, which exp makes 2 |x| u of its result, and the instruction by 4 u. The instruction for
            // the logarithm is off by 2^-22 or by 4 u of its result, and the product with ln 2 by 2 u.
            let bound = u * ((2.0 * x.abs() + 4.0) * part + 1.0 + 4.0 + 6.0 * exact);
            assert!((f64::from(fast) - exact).abs() <= bound, "fast, {x}: {fast} {exact}");
        }
    }
    Ok(())
}

#[test]
fn counts_of_bytes() -> hip_safe::Result<()> {
    for stream in streams() {
        let x: Vec<u8> = words(10_000).into_iter().map(|word| (word >> 24) as u8 & 0x5f).collect();
        let buffer = stream.upload(&x)?;
        let mut counts = stream.upload(&[1_u32; BLOCK])?;
        Histogram::load(stream.device())?.launch(&stream, blocks(5), &buffer, &mut counts)?;
        let mut expected = [1_u32; BLOCK];
        x.iter().for_each(|byte| expected[usize::from(*byte)] += 1);
        assert_eq!(stream.download(&counts)?, expected);
    }
    Ok(())
}

#[test]
fn sorted_tiles() -> hip_safe::Result<()> {
    for stream in streams() {
        let mut x = words(3 * BLOCK + 100);
        let buffer = stream.upload(&x)?;
        let mut y = stream.alloc_zeros::<u32>(x.len())?;
        SortTiles::load(stream.device())?.launch(&stream, blocks(4), &buffer, &mut y)?;
        x.chunks_mut(BLOCK).for_each(<[u32]>::sort_unstable);
        assert_eq!(stream.download(&y)?, x);
    }
    Ok(())
}

#[test]
fn halves_become_bfloat16() -> hip_safe::Result<()> {
    for stream in streams() {
        // Every finite half of both signs.
        let x: Vec<u16> = (0..=u16::MAX).filter(|bits| half::f16::from_bits(*bits).is_finite()).collect();
        let buffer = stream.upload(&x)?;
        let mut y = stream.alloc_zeros::<u16>(x.len())?;
        let config = LaunchConfig::linear(x.len() as u64, 256);
        ScaleHalves::load(stream.device())?.launch(&stream, config, 3.0, &buffer, &mut y)?;
        let expected: Vec<u16> = x
            .iter()
            .map(|x| half::bf16::from_f32(half::f16::from_bits(*x).to_f32() * 3.0).to_bits())
            .collect();
        assert_eq!(stream.download(&y)?, expected);
    }
    Ok(())
}

#[test]
fn lanes_of_waves() -> hip_safe::Result<()> {
    for stream in streams() {
        let wave = stream.device().properties().wave_size as usize;
        let x = words(2 * BLOCK);
        let buffer = stream.upload(&x)?;
        let mut y = stream.alloc_zeros::<u32>(x.len())?;
        Ranks::load(stream.device())?.launch(&stream, blocks(2), &buffer, &mut y)?;
        let of_wave = |odd: Vec<u32>| -> Vec<u32> {
            let last = odd.len() - 1;
            let rank = |lane: usize| odd[..lane].iter().sum::<u32>();
            let others = |lane: usize| odd[lane.saturating_sub(1)] + odd[(lane + 1).min(last)] + odd[3];
            (0..odd.len()).map(|lane| rank(lane) + 1000 * others(lane)).collect()
        };
        let expected: Vec<u32> =
            x.chunks(wave).flat_map(|x| of_wave(x.iter().map(|x| x & 1).collect())).collect();
        assert_eq!(stream.download(&y)?, expected, "waves of {wave}");
    }
    Ok(())
}

#[test]
fn a_grid_of_two_dimensions_is_refused() -> hip_safe::Result<()> {
    for stream in streams() {
        let x = stream.upload(&[1.0_f32])?;
        let mut y = stream.upload(&[1.0_f32])?;
        let config = LaunchConfig { grid: [1, 2, 1], block: [32, 1, 1], shared_bytes: 0 };
        let refused = Saxpy::load(stream.device())?.launch(&stream, config, 1.0, &x, &mut y);
        assert!(matches!(refused, Err(Error::LaunchRefused { .. })), "{refused:?}");
        assert_eq!(stream.download(&y)?, [1.0]);
    }
    Ok(())
}
