//! Kernels in Rust beside their twins in HIP text: the same algorithm in both languages.
//!
//! ```sh
//! cargo run -p kernels-rust --example twins                                  # parity: both against exact results, on every device here
//! cargo run -p kernels-rust --example twins -- --device host:0 --sabotage
//! cargo run -p kernels-rust --example twins -- speed --device nvidia:0       # times of both, and their ratio
//! cargo run -p kernels-rust --example twins -- panic --device nvidia:0       # what a panic on the device looks like
//! ```
//!
//! GPUs need the code of `cargo xtask build-rust-kernels kernels-rust --arch sm_90` (or gfx942 and so on).

mod launches;
mod operations;
mod panic;
mod speed;

use hip_kernel::hip_safe;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["speed", rest @ ..] => device(rest).and_then(|device| speed::run(&device)),
        ["panic", rest @ ..] => device(rest).and_then(|device| panic::run(&device)),
        _ => {
            let program = "cargo run -p kernels-rust --example twins --";
            return parity::custom::main(program, operations::cases());
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("twins: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The device that the arguments name.
fn device(arguments: &[&str]) -> Result<hip_safe::Device, Box<dyn std::error::Error>> {
    let ["--device", name] = arguments else { return Err("name a device: --device nvidia:0".into()) };
    match tensor_core::Device::parse(name)? {
        tensor_core::Device::Hip(device) => Ok(device.device().clone()),
        _ => Err(format!("{name} runs no kernels").into()),
    }
}
