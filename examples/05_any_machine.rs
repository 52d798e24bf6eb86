//! One program for every machine: it uses AMD's GPU if there is one, otherwise the threads of the CPU.
//!
//! `cargo run -p examples --bin 05_any_machine`

use hip_safe::{Device, Platform};
use std::sync::Arc;

fn main() -> Result<(), hip_safe::Error> {
    let device = first_device()?;
    println!("{device}: {}", device.properties().name);

    let stream = device.new_stream()?;
    let numbers = stream.upload(&[1.0f32, 2.0, 3.0])?;
    println!("{:?}", stream.download(&numbers)?);
    Ok(())
}

/// AMD's first GPU or, without ROCm or without a GPU, the first device of hip-host; a message says why.
fn first_device() -> Result<Device, hip_safe::Error> {
    let missing = match Platform::load_amd().map(Arc::new) {
        Ok(amd) if Device::count(&amd)? > 0 => return Device::new(&amd, 0),
        Ok(_) => "ROCm is installed, and it finds no GPU".to_owned(),
        Err(missing) => missing.to_string(),
    };
    eprintln!("{missing}\nusing the CPU instead");
    Device::new(&hip_host::platform(), 0)
}
