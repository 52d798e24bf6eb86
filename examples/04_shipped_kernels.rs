//! Launches a shipped kernel by hand, as tensor-core does for each operation.
//!
//! `cargo run -p examples --bin 04_shipped_kernels`

use hip_safe::{Device, LaunchConfig, Source};
use kernels_hip::args::Map2;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let platform = hip_host::platform();
    let device = Device::new(&platform, 0)?;
    let stream = device.new_stream()?;

    // The shipped kernels are source text. They are compiled for the device, or loaded from the cache.
    let unit = kernels_hip::unit("elementwise", "f32").expect("it ships");
    let wave_size = device.properties().wave_size;
    let options = unit.options(platform.kind.name(), wave_size).expect("the host has a compiler");
    let source = Source::new(unit.family.source)
        .name(unit.family.file)
        .headers(unit.family.headers())
        .options(options);
    let module = device.compile(&source)?;
    let add = module.function("elementwise_add_f32")?;

    let a = stream.upload(&[1.0f32, 2.0, 3.0])?;
    let b = stream.upload(&[10.0f32, 20.0, 30.0])?;
    let mut sum = stream.alloc_zeros::<f32>(3)?;
    let map = Map2::flat(3, Map2::A_TIGHT | Map2::B_TIGHT);

    // A missing argument is reported before anything runs.
    // SAFETY: S9: the launch is refused, because the kernel declares four arguments.
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
