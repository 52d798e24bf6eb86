//! Quantized tensors on every device: values to the bit, and products within a derived bound of the exact ones.

use std::borrow::Cow;

use tensor_core::{DType, Device, QStorage, QTensor, QuantFormat, Result, Tensor};

use crate::common::devices;

/// The formats that HIP devices have kernels for.
pub(crate) const FORMATS: [QuantFormat; 13] = [
    QuantFormat::Q4_0,
    QuantFormat::Q4_1,
    QuantFormat::Q5_0,
    QuantFormat::Q5_1,
    QuantFormat::Q8_0,
    QuantFormat::Q2K,
    QuantFormat::Q3K,
    QuantFormat::Q4K,
    QuantFormat::Q5K,
    QuantFormat::Q6K,
    QuantFormat::IQ4NL,
    QuantFormat::IQ4XS,
    QuantFormat::MXFP4,
];

/// Numbers from −1 to 1 that look random.
fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

pub(crate) fn tensor(shape: &[usize], seed: u64, dtype: DType) -> Result<Tensor> {
    let values = noise(shape.iter().product(), seed);
    Tensor::from_vec(values, shape, &Device::Cpu)?.to_dtype(dtype)
}

/// The unit roundoff of a dtype.
fn roundoff(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-11),
        DType::BF16 => 2f64.powi(-8),
        _ => 2f64.powi(-24),
    }
}

/// Checks `y` `[m, n]` against the products in `f64` of `x` `[m, k]` with the values `w` `[n, k]` of a format.
///
/// - Rounded activations: each becomes a multiple of a step s = max |x| / 127, with an error of at most 0.5001 · s, which is
///   multiplied by |w|. HIP devices have a step for 32 activations, and so has the CPU for blocks of 32; for blocks of 256
///   it has one for 256. The CPU rounds a step for 32, and s · Σq, to `f16`: by 2^-11 of them, or by 2^-25 of at most 127
///   steps. Integers are summed exactly. Terms c · (|x| + s / 2), where c is at most four times the largest weight of the row
///   (a scaled number and a minimum), pass through 16 + k / 32 roundings of `f32`.
/// - HIP devices round more than eight rows not at all: weights are rounded to the dtype of `x`, and k terms are summed in
///   `f32` in any order.
/// - The result is rounded to its dtype.
fn check(y: &Tensor, x: &Tensor, w: &Tensor, format: QuantFormat, what: &str) -> Result<()> {
    let (dtype, width) = (y.dtype(), x.dims()[1]);
    let on_cpu = y.device().as_hip().is_none();
    let wide = |tensor: &Tensor| -> Result<Vec<f64>> { tensor.to_dtype(DType::F64)?.to_vec() };
    let (y, x, w) = (wide(y)?, wide(x)?, wide(w)?);
    let rows = x.len() / width;
    let single = roundoff(DType::F32);
    let shared = if on_cpu { format.block_size().min(256) } else { 32 };
    let half = if on_cpu && shared == 32 { roundoff(DType::F16) } else { 0.0 };
    for (m, x) in x.chunks_exact(width).enumerate() {
        for (n, w) in w.chunks_exact(width).enumerate() {
            let got = y[m * (y.len() / rows) + n];
            let exact: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
            let terms: f64 = x.iter().zip(w).map(|(x, w)| (x * w).abs()).sum();
            let largest = w.iter().fold(0f64, |most, w| most.max(w.abs()));
            let bound = if rows <= 8 || on_cpu {
                let (mut moved, mut magnitude) = (0.0, 0.0);
                for (x, w) in x.chunks_exact(shared).zip(w.chunks_exact(shared)) {
                    let step = x.iter().fold(0f64, |most, x| most.max(x.abs())) / 127.0;
                    moved += 0.5001 * step * w.iter().map(|w| w.abs()).sum::<f64>();
                    magnitude += x.iter().map(|x| 4.0 * largest * (x.abs() + 0.5001 * step)).sum::<f64>();
                }
                let tiny =
                    if half == 0.0 { 0.0 } else { 2f64.powi(-25) * 127.0 * 4.0 * largest * width as f64 };
                moved + ((16.0 + width as f64 / 32.0) * single + half) * magnitude + tiny
            } else {
                (roundoff(dtype) * 1.001 + width as f64 * single) * terms
            };
            let bound = bound + roundoff(dtype) * (exact.abs() + bound) + f64::from(f32::MIN_POSITIVE);
            assert!(
                (got - exact).abs() <= bound,
                "{what}: row {m}, column {n}: {got} is further than {bound:e} from {exact}"
            );
        }
    }
    Ok(())
}

#[test]
fn values_are_those_of_the_cpu() -> Result<()> {
    for format in FORMATS {
        let here = QTensor::quantize(&tensor(&[5, 512], 1, DType::F32)?, format)?;
        let ids = Tensor::new([[3i64, 0, 4], [4, 4, 1]], &Device::Cpu)?;
        for device in devices() {
            let there = here.to_device(device)?;
            assert_eq!(there.data()?, here.data()?, "{format} on {device}");
            for dtype in [DType::F32, DType::F16, DType::BF16] {
                let (a, b) = (here.dequantize_to(dtype, device)?, there.dequantize_to(dtype, device)?);
                assert_eq!(a.to_bytes()?, b.to_bytes()?, "{format} as {dtype} on {device}");
            }
            for dtype in [DType::U8, DType::U32, DType::I32, DType::I64] {
                let ids = ids.to_dtype(dtype)?;
                let (a, b) = (here.embedding(&ids)?, there.embedding(&ids.to_device(device)?)?);
                assert_eq!(b.dims(), [2, 3, 512]);
                assert_eq!(a.to_bytes()?, b.to_bytes()?, "{format} by {dtype} on {device}");
            }
        }
    }
    Ok(())
}

#[test]
fn products_are_near_the_exact_ones() -> Result<()> {
    for (turn, format) in FORMATS.into_iter().enumerate() {
        // An odd number of rows; long enough for several pieces of a lane, and for one that some lanes do not have.
        let weights = QTensor::quantize(&tensor(&[7, 2304], 2, DType::F32)?, format)?;
        let exact = weights.dequantize(&Device::Cpu)?;
        for device in devices() {
            let weights = weights.to_device(device)?;
            let dtypes = [DType::F32, DType::F16, DType::BF16];
            for (index, rows) in [1, 3, 5, 8, 9].into_iter().enumerate() {
                let dtype = dtypes[(turn + index) % 3];
                let x = tensor(&[rows, 2304], 3, dtype)?;
                let y = weights.forward(&x.to_device(device)?)?;
                assert_eq!((y.dtype(), y.dims()), (dtype, &[rows, 7][..]));
                check(&y, &x, &exact, format, &format!("{format}, {rows} rows of {dtype} on {device}"))?;
            }
        }
    }
    Ok(())
}

#[test]
fn experts_are_near_the_exact_products() -> Result<()> {
    let (experts, columns, width) = (3, 9, 256);
    for (turn, format) in FORMATS.into_iter().enumerate() {
        let dtype = [DType::F32, DType::F16, DType::BF16][turn % 3];
        let all = QTensor::quantize(&tensor(&[experts, columns, width], 4, DType::F32)?, format)?;
        let exact = all.dequantize(&Device::Cpu)?;
        let chosen = [[2u32, 0], [1, 2]];
        for device in devices() {
            let all = all.to_device(device)?;
            let ids = Tensor::new(chosen, device)?;
            for each in [1, 2] {
                let x = tensor(&[2, each, width], 5, dtype)?;
                let y = all.indexed_moe_forward(&x.to_device(device)?, &ids)?;
                assert_eq!(y.dims(), [2, 2, columns]);
                for (row, experts) in chosen.iter().enumerate() {
                    for (index, expert) in experts.iter().enumerate() {
                        let x = x.narrow(0, row, 1)?.narrow(1, index.min(each - 1), 1)?.squeeze(0)?;
                        let y = y.narrow(0, row, 1)?.narrow(1, index, 1)?.squeeze(0)?;
                        let w = exact.narrow(0, *expert as usize, 1)?.squeeze(0)?;
                        check(
                            &y,
                            &x,
                            &w,
                            format,
                            &format!("{format}, expert {expert} of {dtype} on {device}"),
                        )?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn activations_may_be_views() -> Result<()> {
    for device in devices() {
        let weights = QTensor::quantize_onto(&tensor(&[6, 64], 6, DType::F32)?, QuantFormat::Q8_0, device)?;
        let exact = weights.dequantize(&Device::Cpu)?;
        for dtype in [DType::F32, DType::F16] {
            // Columns of a wider tensor, from an odd element on, and a transposed one.
            let wide = tensor(&[3, 99], 7, dtype)?;
            let (here, there) = (wide.narrow(1, 33, 64)?, wide.to_device(device)?.narrow(1, 33, 64)?);
            check(&weights.forward(&there)?, &here.contiguous()?, &exact, QuantFormat::Q8_0, "narrowed")?;
            let row = wide.to_device(device)?.flatten_all()?.narrow(0, 1, 64)?;
            let y = weights.forward(&row)?.reshape([1, 6])?;
            check(
                &y,
                &wide.flatten_all()?.narrow(0, 1, 64)?.reshape([1, 64])?,
                &exact,
                QuantFormat::Q8_0,
                "unaligned",
            )?;
            let turned = tensor(&[64, 9], 8, dtype)?;
            let y = weights.forward(&turned.to_device(device)?.t()?)?;
            check(&y, &turned.t()?.contiguous()?, &exact, QuantFormat::Q8_0, "transposed")?;
        }
    }
    Ok(())
}

#[test]
fn infinite_and_tiny_activations_give_the_same_on_every_device() -> Result<()> {
    let here = QTensor::quantize(&Tensor::ones([2, 64], DType::F32, &Device::Cpu)?, QuantFormat::Q8_0)?;
    for device in devices() {
        let weights = here.to_device(device)?;
        let row = |first: f32| -> Result<Vec<f32>> {
            let mut x = vec![0.0; 64];
            x[0] = first;
            weights.forward(&Tensor::from_vec(x, [1, 64], &Device::Cpu)?.to_device(device)?)?.to_vec::<f32>()
        };
        for first in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(row(first)?.iter().all(|y| y.is_nan()), "{first} on {device}: {:?}", row(first)?);
        }
        // Below the normal numbers a scale has no reciprocal.
        for first in [1e-38f32, 1e-40, 0.0] {
            assert!(
                row(first)?.iter().all(|y| (y - first).abs() <= 1e-38),
                "{first} on {device}: {:?}",
                row(first)?
            );
        }
    }
    Ok(())
}

#[test]
fn wrong_rows_and_formats_without_kernels_are_errors() -> Result<()> {
    for device in devices().iter().filter(|device| device.as_hip().is_some()) {
        // Opened anew: another test that reads from the same device would get the errors of wrong ids.
        let device = &Device::parse(&device.name())?;
        let table = QTensor::quantize_onto(&tensor(&[4, 32], 9, DType::F32)?, QuantFormat::Q4_0, device)?;
        let rows = table.embedding(&Tensor::new([1i64, 4], device)?)?;
        let error = rows.to_bytes().unwrap_err().to_string();
        assert!(error.contains("embedding: index 4 is out of range for axis 0 of length 4"), "{error}");
        let experts = table_of_experts(device)?;
        let x = tensor(&[2, 1, 32], 9, DType::F16)?.to_device(device)?;
        let y = experts.indexed_moe_forward(&x, &Tensor::new([[0i32, 1], [-1, 2]], device)?)?;
        let error = y.to_bytes().unwrap_err().to_string();
        assert!(error.contains("index -1 is out of range for axis 0 of length 3"), "{error}");
        // No row and no matrix at all: every id is wrong, and nothing is read.
        let none = QTensor::quantize_onto(&tensor(&[0, 32], 9, DType::F32)?, QuantFormat::Q4_0, device)?;
        let error = none.embedding(&Tensor::new([0u32], device)?)?.to_bytes().unwrap_err().to_string();
        assert!(error.contains("index 0 is out of range for axis 0 of length 0"), "{error}");
        let none = QTensor::quantize_onto(&tensor(&[0, 2, 32], 9, DType::F32)?, QuantFormat::Q4_0, device)?;
        let y = none.indexed_moe_forward(&x, &Tensor::new([[0u32, 0], [0, 0]], device)?)?;
        let error = y.to_bytes().unwrap_err().to_string();
        assert!(error.contains("index 0 is out of range for axis 0 of length 0"), "{error}");
        let blocks = vec![0; QuantFormat::IQ1S.type_size()];
        let error = QStorage::from_data(Cow::Owned(blocks), device, QuantFormat::IQ1S).unwrap_err();
        assert!(error.to_string().contains("there are no kernels for iq1_s"), "{error}");
        assert!(error.to_string().contains("q4_k"), "{error}");
        // No rows, no columns, no activations.
        let none = QTensor::quantize_onto(&tensor(&[0, 32], 9, DType::F32)?, QuantFormat::Q4_0, device)?;
        assert_eq!(none.dequantize(device)?.dims(), [0, 32]);
        let x = tensor(&[2, 32], 9, DType::F32)?.to_device(device)?;
        assert_eq!(none.forward(&x)?.dims(), [2, 0]);
        assert_eq!(table.forward(&x.narrow(0, 0, 0)?)?.dims(), [0, 4]);
    }
    Ok(())
}

fn table_of_experts(device: &Device) -> Result<QTensor> {
    QTensor::quantize_onto(&tensor(&[3, 2, 32], 11, DType::F32)?, QuantFormat::Q4_0, device)
}

#[test]
fn bytes_of_a_device_become_blocks() -> Result<()> {
    let here = QTensor::quantize(&tensor(&[3, 256], 10, DType::F32)?, QuantFormat::Q6K)?;
    for device in devices() {
        let bytes = Tensor::from_vec(here.data()?.into_owned(), here.data()?.len(), device)?;
        let there = QTensor::new(QStorage::from_tensor(bytes, QuantFormat::Q6K)?, here.shape().clone())?;
        assert!(there.device().same_device(device));
        assert_eq!(there.data()?, here.data()?);
        let floats = tensor(&[210], 1, DType::F32)?.to_device(device)?;
        let error = QStorage::from_tensor(floats, QuantFormat::Q6K).unwrap_err().to_string();
        assert!(error.contains("u8"), "{error}");
    }
    Ok(())
}
