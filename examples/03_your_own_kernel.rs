//! A kernel of your own: its source is compiled at run time, and it is launched with checked arguments.
//!
//! `cargo run -p examples --bin 03_your_own_kernel`

use hip_safe::{Device, LaunchConfig, Source};

const SAXPY: &str = r#"
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = a * x[i] + y[i];
}
"#;

fn main() -> Result<(), hip_safe::Error> {
    let device = Device::new(&hip_host::platform(), 0)?;
    let stream = device.new_stream()?;

    // Compiled for this device, or loaded from the cache on disk.
    let module = device.compile(&Source::new(SAXPY).name("saxpy.hip"))?;
    let saxpy = module.function("saxpy")?;

    let x = stream.upload(&[1.0f32, 2.0, 3.0])?;
    let mut y = stream.upload(&[10.0f32, 20.0, 30.0])?;

    // SAFETY: S9: thread i reads x[i] and reads and writes y[i], and only for i < 3, the length of both.
    unsafe {
        stream
            .launch(&saxpy, LaunchConfig::linear(3, 256))
            .value(&2.0f32)
            .arg(&x)
            .arg_mut(&mut y)
            .value(&3u32)
            .submit()
    }?;
    println!("{:?}", stream.download(&y)?); // [12.0, 24.0, 36.0]

    // The number and sizes of the arguments are compared with the kernel's declaration.
    // SAFETY: S9: the launch is refused, because the kernel declares four arguments.
    let refused = unsafe { stream.launch(&saxpy, LaunchConfig::linear(3, 256)).arg(&x).submit() };
    println!("{}", refused.expect_err("three arguments are missing"));
    Ok(())
}
