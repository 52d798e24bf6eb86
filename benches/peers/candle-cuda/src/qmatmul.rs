//! How fast candle multiplies packed matrices with a few rows of activations, and with many.

use std::time::Instant;

use candle_core::quantized::{GgmlDType, QMatMul, QStorage, QTensor};
use candle_core::{DType, Device, Module, Result, Tensor};

use crate::{Arguments, device, packed, text};

/// Rows and columns of the matrices: those of a model of 8 billion numbers.
const SHAPES: [[usize; 2]; 2] = [[4096, 14336], [14336, 4096]];
/// The bytes of all matrices that are multiplied in turns: none of them lies in a cache.
const BYTES: usize = 512 << 20;
/// Products of one sample, and how many samples there are.
const PRODUCTS: usize = 200;
const SAMPLES: usize = 9;

/// Prints a table of all formats, shapes and rows.
///
/// # Errors
/// Of the arguments or of the device.
pub fn run(arguments: &Arguments) -> std::result::Result<(), String> {
    let rows = arguments.numbers("rows", "1,512")?;
    let dtype = match arguments.text("dtype", "f32") {
        "f32" => DType::F32,
        "f16" => DType::F16,
        "bf16" => DType::BF16,
        other => return Err(format!("--dtype {other}: f32, f16 or bf16")),
    };
    let names: Vec<&str> = arguments.text("format", "q4_0,q4_k,q6_k,q8_0").split(',').collect();
    let mut formats = Vec::new();
    for name in names {
        let format = packed::format(name).ok_or(format!("{name}: the formats are q4_0, q4_k, q6_k, q8_0"))?;
        formats.push((name, format));
    }
    let device = device::open(arguments)?;
    println!(
        "{:<6} {:>12} {:>5} {:>6} {:>9} {:>8} {:>9}",
        "format", "matrix", "rows", "dtype", "us", "GB/s", "TFLOP/s"
    );
    for (name, format) in formats {
        let blocks = packed::blocks(format).map_err(text)?;
        for [height, width] in SHAPES {
            let (matrices, size) = matrices(&blocks, format, [height, width], &device).map_err(text)?;
            for &rows in &rows {
                let time = product(&matrices, [rows, width], dtype, &device).map_err(text)?;
                println!(
                    "{name:<6} {:>12} {rows:>5} {:>6} {:>9.2} {:>8.0} {:>9.1}",
                    format!("{height}x{width}"),
                    dtype.as_str(),
                    time * 1e6,
                    size as f64 / time / 1e9,
                    2.0 * (rows * height * width) as f64 / time / 1e12
                );
            }
        }
    }
    Ok(())
}

/// Matrices of [`BYTES`] together, two at least, and the bytes of one.
fn matrices(
    blocks: &[u8],
    format: GgmlDType,
    [height, width]: [usize; 2],
    device: &Device,
) -> Result<(Vec<QMatMul>, usize)> {
    let size = height * width / format.block_size() * format.type_size();
    let bytes: Vec<u8> = blocks.iter().copied().cycle().take(size).collect();
    let matrix = || {
        let storage = QStorage::from_data(bytes.as_slice().into(), device, format)?;
        QMatMul::from_qtensor(QTensor::new(storage, (height, width))?)
    };
    let count = BYTES.div_ceil(size).max(2);
    Ok(((0..count).map(|_| matrix()).collect::<Result<_>>()?, size))
}

/// Seconds of one product with activations of a shape: the median of some samples.
fn product(matrices: &[QMatMul], shape: [usize; 2], dtype: DType, device: &Device) -> Result<f64> {
    let x = Tensor::rand(-1f32, 1f32, (shape[0], shape[1]), device)?.to_dtype(dtype)?;
    let mut times = Vec::with_capacity(SAMPLES);
    for sample in 0..=SAMPLES {
        device.synchronize()?;
        let start = Instant::now();
        for matrix in matrices.iter().cycle().take(PRODUCTS) {
            matrix.forward(&x)?;
        }
        device.synchronize()?;
        // The first sample loads kernels.
        if sample > 0 {
            times.push(start.elapsed().as_secs_f64() / PRODUCTS as f64);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[SAMPLES / 2])
}
