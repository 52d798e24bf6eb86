//! Loads a checkpoint onto a device: prints each tensor of a safetensors file with its range and mean.
//!
//! `cargo run --release -p examples --bin 06_checkpoint -- model.safetensors [DEVICE]`

use tensor_core::{DType, Device, Error, safetensors};

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        println!("usage: 06_checkpoint FILE.safetensors [DEVICE]");
        return Ok(());
    };
    let device = Device::parse(&arguments.next().unwrap_or_else(|| "host:0".to_owned()))?;
    // Only the header is read now; a tensor's bytes are read when it is requested.
    let file = safetensors::File::open(&path)?;
    for name in file.names() {
        let tensor = file.load(name, &device)?.to_dtype(DType::F32)?;
        let [least, greatest, mean] = [tensor.min_all()?, tensor.max_all()?, tensor.mean_all()?];
        let (least, greatest, mean) =
            (least.to_vec0::<f32>()?, greatest.to_vec0::<f32>()?, mean.to_vec0::<f32>()?);
        println!(
            "{name:60} {:>16} {least:>10.4} .. {greatest:<10.4} mean {mean:.6}",
            tensor.shape().to_string()
        );
    }
    Ok(())
}
