//! `quantized`: how fast quantized matrices are multiplied with a few rows of activations, and with many.

use std::borrow::Cow;
use std::process::ExitCode;

use benches::throughput::copy::Copy;
use benches::throughput::measure::{Effort, Kernels, interleaved};
use benches::throughput::replay::{Replay, describe};
use clap::Parser;
use tensor_core::{DType, Device, HipDevice, QStorage, QTensor, QuantFormat, Tensor};

const EXAMPLES: &str = "\
Examples:
  quantized --device nvidia:0
  quantized --device nvidia:0 --format q4_k --rows 1
  quantized --device host:0 --shrink 64      the program itself, on the CPU

A graph multiplies distinct matrices of 512 MB together, one after the other, so that none of them lies in a cache. The share is
that of the bytes of the blocks, divided by the time, in the bytes that the device's own copy moves (read and written). With more
than eight rows two other ways are timed in turns: each matrix is dequantized to f16 and multiplied, and one matrix of f16 is
multiplied.";

/// Measures products of quantized matrices with activations of f16.
#[derive(Parser)]
#[command(after_help = EXAMPLES)]
struct Options {
    /// The device: nvidia:0, amd:0, host:0
    #[arg(long)]
    device: String,
    /// The formats, separated by commas
    #[arg(long, value_delimiter = ',', default_values = ["q4_0", "q4_k", "q6_k", "q8_0"])]
    format: Vec<String>,
    /// Rows of activations, separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [1, 4, 8, 512])]
    rows: Vec<usize>,
    /// Divides the sizes, to try the program on a small device
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=256))]
    shrink: u64,
}

/// Rows and columns of the matrices: those of a model of 8 billion numbers.
const SHAPES: [[usize; 2]; 2] = [[4096, 14336], [14336, 4096]];
/// The bytes of all matrices of a graph.
const BYTES: usize = 512 << 20;
/// More rows of activations than this are compared with products of f16.
const FEW: usize = 8;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quantized: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let device = Device::parse(&options.device).map_err(text)?;
    let hip = device.as_hip().ok_or("the device must be one of HIP: nvidia:0, amd:0, host:0")?;
    let formats: Vec<QuantFormat> =
        options.format.iter().map(|name| format(name)).collect::<Result<_, _>>()?;
    println!("{}", describe(hip));
    let shrink = options.shrink as usize;
    let mut copy = Copy::new(hip, shrink)?;
    let copies = copy.times(Effort::default())?;
    let copied = 2.0 * copy.bytes() as f64 / copies[copies.len() / 2];
    println!("copy: {:.0} GB/s, read and written", copied / 1e9);
    drop(copy);
    println!("{:<6} {:>12} {:>5} {:>9} {:>8} {:>6}", "format", "matrix", "rows", "us", "GB/s", "share");
    for format in formats {
        for [rows, width] in SHAPES.map(|[rows, width]| [rows / shrink, width]) {
            let one = QTensor::quantize(&noise([16, width])?, format).map_err(text)?;
            let bytes = one.data().map_err(text)?.repeat(rows.div_ceil(16));
            let size = rows * width / format.block_size() * format.type_size();
            let count = (BYTES / shrink).div_ceil(size).max(2);
            let matrix = || -> Result<QTensor, String> {
                let storage = QStorage::from_data(Cow::Borrowed(&bytes[..size]), &device, format);
                QTensor::new(storage.map_err(text)?, [rows, width]).map_err(text)
            };
            let matrices: Vec<QTensor> = (0..count).map(|_| matrix()).collect::<Result<_, _>>()?;
            for activations in &options.rows {
                let x = noise([*activations, width])?.to_dtype(DType::F16).and_then(|x| x.to_device(&device));
                let x = x.map_err(text)?;
                let name = format!("{rows}x{width}");
                let each = |product: &dyn Fn(&QTensor) -> tensor_core::Result<Tensor>| {
                    let (last, others) = matrices.split_last().expect("two matrices at least");
                    others.iter().try_for_each(|matrix| product(matrix).map(drop))?;
                    product(last)
                };
                let forward = || each(&|matrix| matrix.forward(&x));
                if *activations <= FEW {
                    let all = recorded(hip, &forward)?;
                    let all = Kernels::new(hip, &all)?;
                    let time = interleaved(Effort::default(), &mut [&mut |calls| all.time(calls)])?[0];
                    let (time, rate) = (time / count as f64, (size * count) as f64 / time);
                    println!(
                        "{:<6} {name:>12} {activations:>5} {:>9.2} {:>8.0} {:>5.1}%",
                        format.name(),
                        time * 1e6,
                        rate / 1e9,
                        100.0 * rate / copied
                    );
                    continue;
                }
                let dense = matrices[0].dequantize_f16(&device).and_then(|dense| dense.t()).map_err(text)?;
                let dequantized = || each(&|matrix| x.matmul(&matrix.dequantize_f16(&device)?.t()?));
                let matmul = || x.matmul(&dense);
                let ways = [recorded(hip, &forward)?, recorded(hip, &dequantized)?, recorded(hip, &matmul)?];
                let [ours, dequantized, beside] = &ways;
                let ours = Kernels::new(hip, ours)?;
                let (dequantized, beside) = (Kernels::new(hip, dequantized)?, Kernels::new(hip, beside)?);
                let mut sides =
                    (|calls| ours.time(calls), |calls| dequantized.time(calls), |calls| beside.time(calls));
                let times = interleaved(Effort::default(), &mut [&mut sides.0, &mut sides.1, &mut sides.2])?;
                let [ours, dequantized] = [times[0], times[1]].map(|time| time / count as f64);
                println!(
                    "{:<6} {name:>12} {activations:>5} {:>9.2} dequantized first {:.2} us, f16 {:.2} us ({:.1}% of its rate)",
                    format.name(),
                    ours * 1e6,
                    dequantized * 1e6,
                    times[2] * 1e6,
                    100.0 * times[2] / ours,
                );
            }
        }
    }
    Ok(())
}

fn format(name: &str) -> Result<QuantFormat, String> {
    let known = || QuantFormat::ALL.map(QuantFormat::name).join(" ");
    QuantFormat::ALL
        .into_iter()
        .find(|format| format.name() == name)
        .ok_or_else(|| format!("there is no format {name}; there are {}", known()))
}

/// Numbers between −1 and 1.
fn noise(shape: [usize; 2]) -> Result<Tensor, String> {
    let number = |i: usize| ((i * 7919 + 13) % 2003) as f32 / 1001.0 - 1.0;
    Tensor::from_vec((0..shape[0] * shape[1]).map(number).collect(), shape, &Device::Cpu).map_err(text)
}

/// Records what `run` submits, after one call that loads the kernels.
fn recorded<'a>(
    device: &HipDevice,
    run: &(dyn Fn() -> tensor_core::Result<Tensor> + 'a),
) -> Result<Replay<'a>, String> {
    run().and_then(|_| device.synchronize()).map_err(text)?;
    Replay::record(device, run)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
