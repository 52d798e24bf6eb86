//! A Rust kernel on a device: of hip-host, or with the argument `amd` the first of AMD's, after
//! `cargo xtask build-rust-kernels kernels-rust --arch …` for it.
//!
//! `cargo run -p kernels-rust --example saxpy`

use hip_safe::{Device, LaunchConfig, Platform};
use kernels_rust::Saxpy;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let platform = match std::env::args().nth(1).as_deref() {
        Some("amd") => Arc::new(Platform::load_amd()?),
        _ => hip_host::platform(),
    };
    let stream = Device::new(&platform, 0)?.new_stream()?;
    let saxpy = Saxpy::load(stream.device())?;

    let x = stream.upload(&[1.0_f32, 2.0, 3.0])?;
    let mut y = stream.upload(&[10.0_f32, 20.0, 30.0])?;
    saxpy.launch(&stream, LaunchConfig::linear(3, 64), 0.5, &x, &mut y)?;

    println!("{}: {:?}", stream.device(), stream.download(&y)?);
    Ok(())
}
