//! The tensors of two real files: their values by the package gguf, and products with them on every device.
//!
//! HIPSTACK_MODELS names their folder, which ci/fetch-models.sh fills; without it nothing is tested. A few tensors of each
//! format are tested by default, all by `--ignored`.

mod common;

use std::path::Path;

use tensor_core::{DType, Device, Result, Tensor, Upload};
use weights::{Checkpoint, Weight};

use common::models;

/// File, tensor, format, and the MD5 of the values as little-endian `f32`: data/real.py wrote it.
const VALUES: &str = include_str!("data/real.tsv");
/// Tensors of each format in each file, by default.
const FEW: usize = 2;
/// The most elements of a tensor that is tested by default.
const SMALL: usize = 1 << 20;

/// Calls `test` with tensors of both files and the MD5 of their values: all, or a few small ones of each format.
fn each(folder: &Path, all: bool, test: &dyn Fn(&Checkpoint, &str, &str) -> Result<()>) -> Result<()> {
    let mut known: Vec<[&str; 4]> = VALUES
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>().try_into().expect("four columns"))
        .collect();
    known.sort_unstable();
    let mut tested = 0;
    for of_file in known.chunk_by(|a, b| a[0] == b[0]) {
        let checkpoint = Checkpoint::open(folder.join(of_file[0][0]))?;
        let mut taken: Vec<&str> = Vec::new();
        for [file, name, format, md5] in of_file {
            let info = checkpoint.info(name).expect("the file has the tensor");
            assert_eq!(info.format_name, *format, "{file}: {name}");
            let small = info.shape.elements("test")? <= SMALL;
            if all || small && taken.iter().filter(|taken| *taken == format).count() < FEW {
                taken.push(format);
                test(&checkpoint, name, md5)?;
                tested += 1;
            }
        }
    }
    assert!(tested >= 8, "{tested} tensors tested");
    Ok(())
}

fn load(checkpoint: &Checkpoint, name: &str, device: &Device) -> Result<Weight> {
    checkpoint.load(name, &mut Upload::new(device)?)
}

/// The values on the CPU are those of the package, and those of the other devices have the same bits.
fn values(all: bool) -> Result<()> {
    let Some(folder) = models() else { return Ok(()) };
    let devices = Device::all()?;
    each(&folder, all, &|checkpoint, name, md5| {
        let here = load(checkpoint, name, &Device::Cpu)?;
        let expected = here.quantized().expect("it is quantized").dequantize(&Device::Cpu)?.to_bytes()?;
        assert_eq!(format!("{:x}", md5::compute(&expected)), md5, "{name}");
        for device in devices.iter().filter(|device| device.as_hip().is_some()) {
            let there = load(checkpoint, name, device)?;
            let values = there.quantized().expect("it is quantized").dequantize(&Device::Cpu)?;
            assert!(values.to_bytes()? == expected, "{name} on {device}");
        }
        Ok(())
    })
}

/// Products with one row and with nine rows of activations, beside those in `f64` of the dequantized values.
///
/// Up to eight rows, and on the CPU all, are rounded to 8 bits: to multiples of max |x| / 127 at most, so by half of that and a
/// little. That is multiplied by |w|. The sums in `f32` add at most 2^-23 of Σ |w| · max |x| for each of 64 roundings on a path;
/// a scaled number and a minimum are at most four times the largest weight. For blocks of 32 the CPU rounds the steps to `f16`,
/// which adds 2^-11 of these, or 2^-25 of 127 steps.
fn products(all: bool) -> Result<()> {
    let Some(folder) = models() else { return Ok(()) };
    let devices = Device::all()?;
    each(&folder, all, &|checkpoint, name, _| {
        let here = load(checkpoint, name, &Device::Cpu)?;
        let wide = here.quantized().expect("it is quantized").dequantize(&Device::Cpu)?;
        let wide = wide.to_dtype(DType::F64)?;
        let (rows, width) = (wide.dims()[0], wide.dims()[1]);
        let noise = |i: usize| ((i * 7919 + 13) % 2003) as f32 / 1001.0 - 1.0;
        let x = Tensor::from_vec((0..9 * width).map(noise).collect(), [9, width], &Device::Cpu)?;
        let exact = x.to_dtype(DType::F64)?.matmul(&wide.t()?)?.to_vec2::<f64>()?;
        let magnitudes = wide.abs()?.sum([1])?.to_vec1::<f64>()?;
        let largest = wide.abs()?.max([1])?.to_vec1::<f64>()?;
        for device in &devices {
            let weight = load(checkpoint, name, device)?;
            for count in [1, 9] {
                let x = x.narrow(0, 0, count)?.to_device(device)?;
                let y = weight.quantized().expect("it is quantized").forward(&x)?.to_vec2::<f32>()?;
                let on_cpu = device.as_hip().is_none();
                let rounding = if count <= 8 || on_cpu { 0.5001 / 127.0 } else { 0.0 };
                let halves =
                    on_cpu && weight.quantized().expect("it is quantized").dtype().block_size() == 32;
                let halves = if halves { 1.01 * 2f64.powi(-11) + 127.0 * 2f64.powi(-25) } else { 0.0 };
                for (row, exact) in y.iter().zip(&exact) {
                    for n in 0..rows {
                        let sums = (halves + 64.0 * 2f64.powi(-23)) * 4.0 * largest[n] * width as f64;
                        let bound = rounding * magnitudes[n] + sums;
                        let error = (f64::from(row[n]) - exact[n]).abs();
                        assert!(
                            error <= bound,
                            "{name}, row {n}, {count} on {device}: {error:e} > {bound:e}"
                        );
                    }
                }
            }
        }
        Ok(())
    })
}

#[test]
fn values_of_a_few_tensors_are_those_of_the_package() -> Result<()> {
    values(false)
}

#[test]
fn products_with_a_few_tensors_are_near_the_exact_ones() -> Result<()> {
    products(false)
}

#[test]
#[ignore = "minutes: all 338 tensors"]
fn values_of_all_tensors_are_those_of_the_package() -> Result<()> {
    values(true)
}

#[test]
#[ignore = "minutes: all 338 tensors"]
fn products_with_all_tensors_are_near_the_exact_ones() -> Result<()> {
    products(true)
}
