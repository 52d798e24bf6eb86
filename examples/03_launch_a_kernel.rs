//! A kernel by hand: load a module, look up a function, launch it with arguments that are checked against what it declares.
//!
//! `cargo run -p examples --bin 03_launch_a_kernel`

use hip_safe::{Device, LaunchConfig, Module};
use kernels_hip::args::Map2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let platform = hip_host::platform();
    let device = Device::new(&platform, 0)?;
    let stream = device.new_stream()?;

    // The shipped kernels were linked in for the host; an AMD device would be given a code object's bytes here.
    kernels_hip::register_host();
    let module = Module::load(&device, &hip_host::image("elementwise_f32"))?;
    let add = module.function("elementwise_add_f32")?;

    let a = stream.upload(&[1.0f32, 2.0, 3.0])?;
    let b = stream.upload(&[10.0f32, 20.0, 30.0])?;
    let mut sum = stream.alloc_zeros::<f32>(3)?;
    let map = Map2::flat(3, Map2::A_TIGHT | Map2::B_TIGHT);

    // A missing argument is found before anything runs.
    // SAFETY: S9: the launch is refused, for the kernel declares four arguments.
    let refused = unsafe { stream.launch(&add, LaunchConfig::linear(3, 256)).arg(&a).arg(&b).submit() };
    println!("{}", refused.expect_err("two arguments are too few"));

    // SAFETY: S9: elementwise_add_f32 takes two inputs, an output and a map; all three buffers have the map's 3 elements.
    unsafe {
        stream
            .launch(&add, LaunchConfig::linear(3, 256))
            .arg(&a)
            .arg(&b)
            .arg_mut(&mut sum)
            .value(&map)
            .submit()
    }?;
    println!("{:?}", stream.download(&sum)?);
    Ok(())
}
