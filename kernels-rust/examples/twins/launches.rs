//! Launches of both twins: the kernel in Rust, and the same algorithm in HIP text, which the device's run-time compiler compiles.

use hip_kernel::hip_safe::{self, Device, DeviceView, DeviceViewMut, LaunchConfig, Source, Stream, kernel};
use kernels_rust::{BLOCK, TILE};

/// Which of the twins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Rust,
    Hip,
}

impl Side {
    pub(crate) const BOTH: [Self; 2] = [Self::Rust, Self::Hip];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Hip => "hip",
        }
    }
}

/// A launch on a stream, with the bytes of what it reads and of what it writes.
pub(crate) type Run =
    Box<dyn Fn(&Stream, &[DeviceView<'_, u8>], DeviceViewMut<'_, u8>) -> hip_safe::Result<()>>;

/// Makes the launch of one of the twins, for a result of these dimensions.
pub(crate) type Load = fn(Side, &Device, Dims) -> hip_safe::Result<Run>;

/// Sizes of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dims {
    /// Elements of what is read, or rows of a matrix.
    pub(crate) rows: usize,
    /// Columns of the result; 1 if it has none.
    pub(crate) columns: usize,
    /// Columns of the first operand.
    pub(crate) inner: usize,
    /// Blocks of a launch that does not follow from the sizes.
    pub(crate) blocks: u32,
}

/// The factor of `saxpy`.
pub(crate) const FACTOR: f32 = 0.7;

kernel! {
    kernel SaxpyInHip = "saxpy"(a: f32, x: &[f32], y: &mut [f32], count: u32)
    of { Source::new(include_str!("../../twins/saxpy.hip")) }
    audit unsafe { "thread i reads x[i] and changes y[i], and only for i < count" }
    require |config| { config.is_linear(), count as usize <= x.len(), count as usize <= y.len() }
}

kernel! {
    kernel BlockSumInHip = "block_sum"(x: &[f32], sums: &mut [f32], count: u32)
    of { Source::new(include_str!("../../twins/block_sum.hip")) }
    audit unsafe { "threads read x[i] for i < count; the first one of a block writes sums[block]; blocks have whole waves, of which there are \
                    at most 32" }
    require |config| {
        config.is_linear(), count as usize <= x.len(), config.grid[0] as usize <= sums.len(), config.block[0] == BLOCK as u32
    }
}

kernel! {
    kernel MatmulInHip = "matmul"(m: u32, n: u32, k: u32, a: &[f32], b: &[f32], c: &mut [f32])
    of { Source::new(include_str!("../../twins/matmul.hip")) }
    audit unsafe { "block and thread determine row and column; a is read for row < m and column < k, b for row < k and column < n, and c is \
                    written for row < m and column < n" }
    require |config| {
        config.is_linear(), config.block[0] == BLOCK as u32, n > 0,
        u64::from(m) * u64::from(k) <= a.len().min(u32::MAX as usize) as u64,
        u64::from(k) * u64::from(n) <= b.len().min(u32::MAX as usize) as u64,
        u64::from(m) * u64::from(n) <= c.len().min(u32::MAX as usize) as u64
    }
}

kernel! {
    kernel SoftmaxInHip = "softmax"(x: &[f32], y: &mut [f32], width: u32)
    of { Source::new(include_str!("../../twins/softmax.hip")) }
    audit unsafe { "a block reads and writes its row, a thread every 256th column" }
    require |config| {
        config.is_linear(), config.block[0] == BLOCK as u32,
        config.grid[0] as usize * width as usize <= x.len(), config.grid[0] as usize * width as usize <= y.len()
    }
}

kernel! {
    kernel HistogramInHip = "histogram"(x: &[u8], counts: &mut [u32], count: u32)
    of { Source::new(include_str!("../../twins/histogram.hip")) }
    audit unsafe { "threads read x[i] for i < count, and change the 256 counts by atomic additions" }
    require |config| {
        config.is_linear(), config.block[0] == BLOCK as u32, count as usize <= x.len(), counts.len() >= 256
    }
}

kernel! {
    kernel SortTilesInHip = "sort_tiles"(x: &[u32], y: &mut [u32], count: u32)
    of { Source::new(include_str!("../../twins/sort_tiles.hip")) }
    audit unsafe { "thread i reads x[i] and writes y[i], and only for i < count; shared memory has an element for each thread" }
    require |config| {
        config.is_linear(), config.block[0] == BLOCK as u32, count as usize <= x.len(), count as usize <= y.len()
    }
}

fn blocks(count: usize) -> LaunchConfig {
    LaunchConfig { grid: [count as u32, 1, 1], block: [BLOCK as u32, 1, 1], shared_bytes: 0 }
}

pub(crate) fn saxpy(side: Side, device: &Device, Dims { rows, .. }: Dims) -> hip_safe::Result<Run> {
    let config = blocks(rows.div_ceil(BLOCK));
    Ok(match side {
        Side::Rust => {
            let kernel = kernels_rust::Saxpy::load(device)?;
            Box::new(move |stream, x, y| {
                kernel.launch(stream, config, FACTOR, &x[0].recast()?, &mut y.recast()?)
            })
        }
        Side::Hip => {
            let kernel = SaxpyInHip::load(device)?;
            Box::new(move |stream, x, y| {
                kernel.launch(stream, config, FACTOR, &x[0].recast()?, &mut y.recast()?, rows as u32)
            })
        }
    })
}

pub(crate) fn block_sum(side: Side, device: &Device, dims: Dims) -> hip_safe::Result<Run> {
    let (config, count) = (blocks(dims.blocks as usize), dims.rows as u32);
    Ok(match side {
        Side::Rust => {
            let kernel = kernels_rust::BlockSum::load(device)?;
            Box::new(move |stream, x, sums| {
                kernel.launch(stream, config, &x[0].recast()?, &mut sums.recast()?)
            })
        }
        Side::Hip => {
            let kernel = BlockSumInHip::load(device)?;
            Box::new(move |stream, x, sums| {
                kernel.launch(stream, config, &x[0].recast()?, &mut sums.recast()?, count)
            })
        }
    })
}

pub(crate) fn matmul(side: Side, device: &Device, dims: Dims) -> hip_safe::Result<Run> {
    let config = blocks(dims.rows.div_ceil(TILE) * dims.columns.div_ceil(TILE));
    let (m, n, k) = (dims.rows as u32, dims.columns as u32, dims.inner as u32);
    Ok(match side {
        Side::Rust => {
            let kernel = kernels_rust::Matmul::load(device)?;
            Box::new(move |stream, x, c| {
                kernel.launch(stream, config, n, k, &x[0].recast()?, &x[1].recast()?, &mut c.recast()?)
            })
        }
        Side::Hip => {
            let kernel = MatmulInHip::load(device)?;
            Box::new(move |stream, x, c| {
                kernel.launch(stream, config, m, n, k, &x[0].recast()?, &x[1].recast()?, &mut c.recast()?)
            })
        }
    })
}

pub(crate) fn softmax(side: Side, device: &Device, dims: Dims) -> hip_safe::Result<Run> {
    let (config, width) = (blocks(dims.rows), dims.columns);
    Ok(match side {
        Side::Rust => {
            let kernel = kernels_rust::Softmax::load(device)?;
            Box::new(move |stream, x, y| {
                kernel.launch(stream, config, &x[0].recast()?, &mut y.recast()?, width)
            })
        }
        Side::Hip => {
            let kernel = SoftmaxInHip::load(device)?;
            Box::new(move |stream, x, y| {
                kernel.launch(stream, config, &x[0].recast()?, &mut y.recast()?, width as u32)
            })
        }
    })
}

pub(crate) fn histogram(side: Side, device: &Device, dims: Dims) -> hip_safe::Result<Run> {
    let (config, count) = (blocks(dims.blocks as usize), dims.rows as u32);
    Ok(match side {
        Side::Rust => {
            let kernel = kernels_rust::Histogram::load(device)?;
            Box::new(move |stream, x, counts| {
                kernel.launch(stream, config, &x[0].recast()?, &mut counts.recast()?)
            })
        }
        Side::Hip => {
            let kernel = HistogramInHip::load(device)?;
            Box::new(move |stream, x, counts| {
                kernel.launch(stream, config, &x[0].recast()?, &mut counts.recast()?, count)
            })
        }
    })
}

pub(crate) fn sort_tiles(side: Side, device: &Device, Dims { rows, .. }: Dims) -> hip_safe::Result<Run> {
    let config = blocks(rows.div_ceil(BLOCK));
    Ok(match side {
        Side::Rust => {
            let kernel = kernels_rust::SortTiles::load(device)?;
            Box::new(move |stream, x, y| kernel.launch(stream, config, &x[0].recast()?, &mut y.recast()?))
        }
        Side::Hip => {
            let kernel = SortTilesInHip::load(device)?;
            Box::new(move |stream, x, y| {
                kernel.launch(stream, config, &x[0].recast()?, &mut y.recast()?, rows as u32)
            })
        }
    })
}
