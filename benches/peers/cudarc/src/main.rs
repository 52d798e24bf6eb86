//! What cudarc costs the host: the same things, in the same batches, as benches' program `overhead` measures of hip-safe.

use cudarc::driver::{CudaContext, CudaSlice, DriverError, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;
use std::hint::black_box;
use std::time::Instant;

/// Calls between two waits, and how often: the median counts.
const BATCH: u32 = 500;
const BATCHES: usize = 25;

/// A kernel of four arguments that does nothing.
const PTX: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 n) { ret; }
";

fn main() -> Result<(), DriverError> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let wait = || context.synchronize();
    let row = |name: &str, seconds: f64| println!("{name:<20} {:>9.1} ns", seconds * 1e9);

    row("device_clone", batches(wait, || Ok(drop(black_box(context.clone()))))?);
    row("stream_clone", batches(wait, || Ok(drop(black_box(stream.clone()))))?);
    for (name, bytes) in [("alloc_free_4k", 4 << 10), ("alloc_free_8m", 8 << 20)] {
        // SAFETY: S15: nobody reads it.
        row(name, batches(wait, || unsafe { stream.alloc::<u8>(bytes) }.map(drop))?);
    }

    let module = context.load_module(Ptx::from_src(PTX))?;
    let nothing = module.load_function("nothing")?;
    let (a, b): (CudaSlice<f32>, CudaSlice<f32>) = (stream.alloc_zeros(256)?, stream.alloc_zeros(256)?);
    let mut c: CudaSlice<f32> = stream.alloc_zeros(256)?;
    let count = 256_u64;
    let config = LaunchConfig { grid_dim: (1, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 };
    let launch = || {
        let mut builder = stream.launch_builder(&nothing);
        builder.arg(&a).arg(&b).arg(&mut c).arg(&count);
        // SAFETY: S9: the kernel does nothing.
        unsafe { builder.launch(config) }.map(drop)
    };
    let built = batches(wait, launch)?;

    // The same function through the driver, its arguments ready.
    context.bind_to_thread()?;
    let name = std::ffi::CString::new("nothing").expect("no zero byte");
    let image = std::ffi::CString::new(PTX).expect("no zero byte");
    // SAFETY: S1: a text that ends in a zero byte; the context is current.
    let raw_module = unsafe { cudarc::driver::result::module::load_data(image.as_ptr().cast()) }?;
    // SAFETY: S1: the module was just loaded, and stays.
    let function = unsafe { cudarc::driver::result::module::get_function(raw_module, name) }?;
    let mut values = [0_u64, 0, 0, count];
    let mut arguments = values.each_mut().map(|value| std::ptr::from_mut(value).cast());
    let raw = batches(wait, || {
        // SAFETY: S9: four arguments of eight bytes; the kernel does nothing with them.
        unsafe {
            sys::cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 0, stream.cu_stream(), arguments.as_mut_ptr(), std::ptr::null_mut())
        }
        .result()
    })?;
    row("raw_launch", raw);
    row("launch_built_above", built - raw);

    // Two streams in turn write one buffer: cudarc records an event for every use, and waits for it.
    let other = context.new_stream()?;
    let mut buffer: CudaSlice<u8> = stream.alloc_zeros(512)?;
    let same = batches(wait, || stream.memset_zeros(&mut buffer))?;
    row("write", same);
    let mut turn = false;
    let handed = batches(wait, || {
        turn = !turn;
        if turn { &stream } else { &other }.memset_zeros(&mut buffer)
    })?;
    row("hand_over_above", handed - same);
    Ok(())
}

/// The median, over batches, of the seconds that a call takes until it returns. Waiting for the device is not timed.
fn batches(
    wait: impl Fn() -> Result<(), DriverError>,
    mut call: impl FnMut() -> Result<(), DriverError>,
) -> Result<f64, DriverError> {
    let mut all = Vec::new();
    for _ in 0..=BATCHES {
        let start = Instant::now();
        for _ in 0..BATCH {
            call()?;
        }
        all.push(start.elapsed().as_secs_f64() / f64::from(BATCH));
        wait()?;
    }
    // The first one warms up.
    all.remove(0);
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}
