//! Tensors on a HIP device made of this machine's CPU threads. On a machine with an AMD card, `amd:0` is the card.
//!
//! `cargo run -p examples --bin 01_tensors [DEVICE]`

use tensor_core::{Device, Tensor};

fn main() -> Result<(), tensor_core::Error> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "host:0".to_owned());
    let device = Device::parse(&name)?;
    let weights = Tensor::new([[0.5f32, -1.0, 2.0], [0.25, 0.0, 3.0]], &device)?;
    let bias = Tensor::new([1.0f32, 2.0, 3.0], &device)?;
    let sums = weights.add(&bias)?.gelu()?.sum(1)?;
    println!("{sums}");
    Ok(())
}
