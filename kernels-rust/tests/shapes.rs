//! Launches of `matmul` with other shapes than it is written for fail. Each case has a device of its own, because a device keeps its error.

use hip_safe::{Device, LaunchConfig, Result};
use kernels_rust::Matmul;

/// The message of a launch with that shape, of a product that is all zeros.
fn failure(ordinal: usize, grid: [u32; 3], block: [u32; 3]) -> Result<String> {
    let stream = Device::new(&hip_host::platform(), ordinal as _)?.new_stream()?;
    let (a, b) = (stream.upload(&[1.0_f32; 32 * 16])?, stream.upload(&[1.0_f32; 16 * 32])?);
    let mut c = stream.alloc_zeros::<f32>(32 * 32)?;
    let config = LaunchConfig { grid, block, shared_bytes: 0 };
    Matmul::load(stream.device())?.launch(&stream, config, 32, 16, &a, &b, &mut c)?;
    Ok(stream.synchronize().expect_err("the launch fails").to_string())
}

#[test]
fn other_blocks_fail() -> Result<()> {
    let text = failure(0, [4, 1, 1], [512, 1, 1])?;
    assert!(text.contains("a block of matmul has 256 threads along x"), "{text}");
    Ok(())
}

#[test]
fn other_grids_fail() -> Result<()> {
    let text = failure(1, [4, 2, 1], [256, 1, 1])?;
    assert!(text.contains("a grid of matmul has one dimension"), "{text}");
    Ok(())
}
