//! Matrix products of `f32` through rocblas-safe on hip-host beside the crate `gemm` called directly, in turns: the medians of a call, and
//! how much of the direct call's speed is left. `cargo run --release -p benches --example host_gemm -- 512 1024`: sizes of square matrices.

use gemm::Parallelism;
use hip_safe::{Device, Stream};
use rocblas_safe::{Handle, Layout, Matrix, MatrixMut};
use std::error::Error;
use std::time::{Duration, Instant};

/// Each way is timed as often.
const TURNS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![256, 512, 1024] } else { sizes };
    let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    let handle = Handle::new(&stream)?;
    for size in sizes {
        for calls in [1, 16] {
            let (ours, direct) = beside(&stream, &handle, size, calls)?;
            let ratio = direct.as_secs_f64() / ours.as_secs_f64();
            println!(
                "{size:>5}, {calls:>2} at once: rocblas-safe {ours:>10.2?}, gemm {direct:>10.2?}, {ratio:.2} of its speed"
            );
        }
    }
    Ok(())
}

/// The medians of so many products through the library, submitted one after the other, until all are done, and of as many direct ones.
fn beside(
    stream: &Stream,
    handle: &Handle,
    size: usize,
    calls: usize,
) -> Result<(Duration, Duration), Box<dyn Error>> {
    let element = |index: usize| (index % 17) as f32 - 8.0;
    let a: Vec<f32> = (0..size * size).map(element).collect();
    let b: Vec<f32> = (0..size * size).map(|index| element(index / 3)).collect();
    let (on_device_a, on_device_b) = (stream.upload(&a)?, stream.upload(&b)?);
    let mut on_device_c = stream.alloc_zeros::<f32>(size * size)?;
    let mut c = vec![0.0; size * size];
    let (mut ours, mut direct) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let start = Instant::now();
        for _ in 0..calls {
            handle.gemm(
                1.0,
                Matrix::new(on_device_a.view(), size, size, Layout::RowMajor)?,
                Matrix::new(on_device_b.view(), size, size, Layout::RowMajor)?,
                0.0,
                MatrixMut::new(on_device_c.view_mut(), size, size, Layout::RowMajor)?,
            )?;
        }
        stream.synchronize()?;
        ours.push(start.elapsed());
        let start = Instant::now();
        (0..calls).for_each(|_| multiply(size, &a, &b, &mut c));
        direct.push(start.elapsed());
    }
    // Small integers: sums are exact in any order.
    if stream.download(&on_device_c)? != c {
        return Err(format!("the products of {size} x {size} differ").into());
    }
    Ok((median(ours), median(direct)))
}

/// `c = a b` of square matrices by rows, on all threads.
fn multiply(size: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    assert!([a.len(), b.len(), c.len()] == [size * size; 3]);
    let (row, column) = (size as isize, 1);
    // SAFETY: S2: the matrices are as large as the strides say, and the one that is written is borrowed alone.
    unsafe {
        gemm::gemm(
            size,
            size,
            size,
            c.as_mut_ptr(),
            column,
            row,
            false,
            a.as_ptr(),
            column,
            row,
            b.as_ptr(),
            column,
            row,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
