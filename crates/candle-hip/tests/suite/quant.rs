//! Quantized storage, beside candle's own on its CPU.

use std::borrow::Cow;

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::quantized::GgmlDType;
use candle_core::{CpuStorage, Layout, Shape};
use candle_hip::{HipStorage, QHipStorage};

use crate::compare::numbers;
use crate::devices;

const FORMATS: [GgmlDType; 13] = [
    GgmlDType::F32,
    GgmlDType::F16,
    GgmlDType::BF16,
    GgmlDType::Q4_0,
    GgmlDType::Q4_1,
    GgmlDType::Q5_0,
    GgmlDType::Q5_1,
    GgmlDType::Q8_0,
    GgmlDType::Q2K,
    GgmlDType::Q3K,
    GgmlDType::Q4K,
    GgmlDType::Q5K,
    GgmlDType::Q6K,
];
const N: usize = 3;
const K: usize = 256;

fn weights() -> Vec<f32> {
    (0..N * K).map(|i| ((i * 31 + 7) % 101) as f32 / 50.0 - 1.0).collect()
}

fn read(storage: &HipStorage) -> Vec<f64> {
    numbers(&storage.to_cpu_storage().unwrap())
}

#[test]
fn blocks_are_those_of_candles_cpu() {
    for device in devices() {
        for format in FORMATS {
            let mut candles = format.cpu_zeros(N * K);
            candles.from_float(&weights());
            let expected = numbers(&candles.dequantize(N * K).unwrap());

            let mut ours = QHipStorage::zeros(&device, N * K, format).unwrap();
            assert!(read(&ours.dequantize(N * K).unwrap()).iter().all(|x| *x == 0.0), "{format:?}");
            ours.quantize_onto(&CpuStorage::F32(weights())).unwrap();
            assert_eq!(ours.dtype(), format);
            assert_eq!(ours.storage_size_in_bytes(), candles.storage_size_in_bytes());
            assert_eq!(read(&ours.dequantize(N * K).unwrap()), expected, "{format:?}");

            let on_device = device.storage_from_slice(&weights()).unwrap();
            let mut again = QHipStorage::zeros(&device, N * K, format).unwrap();
            again.quantize(&on_device).unwrap();
            assert_eq!(again.data().unwrap(), ours.data().unwrap(), "{format:?}");
            let back = QHipStorage::from_data(&device, Cow::Owned(ours.data().unwrap()), format).unwrap();
            assert_eq!(read(&back.dequantize(N * K).unwrap()), expected, "{format:?}");
            let halves = numbers(&ours.dequantize_f16(N * K).unwrap().to_cpu_storage().unwrap());
            let near = |(half, x): (&f64, &f64)| (half - x).abs() <= x.abs() * 2f64.powi(-11) + 1e-7;
            assert!(halves.iter().zip(&expected).all(near), "{format:?}");
        }
    }
}

#[test]
fn products_are_those_of_the_values() {
    let x: Vec<f32> = (0..2 * K).map(|i| ((i * 17 + 3) % 23) as f32 / 11.0 - 1.0).collect();
    for device in devices() {
        for format in FORMATS {
            let mut blocks = QHipStorage::zeros(&device, N * K, format).unwrap();
            blocks.quantize_onto(&CpuStorage::F32(weights())).unwrap();
            let w = read(&blocks.dequantize(N * K).unwrap());
            let activations = device.storage_from_slice(&x).unwrap();
            let l = Layout::contiguous((2, K));
            let (product, shape) = blocks.fwd(&Shape::from((N, K)), &activations, &l).unwrap();
            assert_eq!(shape.dims(), [2, N]);
            for (at, got) in read(&product).iter().enumerate() {
                let (row, n) = (at / N, at % N);
                let terms = || (0..K).map(|k| (w[n * K + k], f64::from(x[row * K + k])));
                let exact: f64 = terms().map(|(w, x)| w * x).sum();
                // Activations are rounded to 8 bits, every 32 with the largest of at most 1.1 as the scale, and sums to f32.
                let bound: f64 = terms().map(|(w, _)| w.abs() * 1.1 / 254.0).sum::<f64>() + 1e-3;
                assert!((got - exact).abs() <= bound, "{format:?}: {got} and {exact}, bound {bound}");
            }
            let ids = device.storage_from_slice(&[2u32, 0]).unwrap();
            let rows = blocks.embedding(N, K, &ids, &Layout::contiguous(2)).unwrap();
            assert_eq!(read(&rows), [&w[2 * K..], &w[..K]].concat(), "{format:?}");
        }
    }
}

#[test]
fn experts_are_chosen_by_ids() {
    let x: Vec<f32> = (0..2 * K).map(|i| ((i * 17 + 3) % 23) as f32 / 11.0 - 1.0).collect();
    let shape = Shape::from((N, 1, K));
    for device in devices() {
        let mut experts = QHipStorage::zeros(&device, N * K, GgmlDType::Q8_0).unwrap();
        experts.quantize_onto(&CpuStorage::F32(weights())).unwrap();
        let w = read(&experts.dequantize(N * K).unwrap());
        let activations = device.storage_from_slice(&x).unwrap();
        let chosen = [2u32, 0, 1, 2];
        let ids = device.storage_from_slice(&chosen).unwrap();
        let (x_l, ids_l) = (Layout::contiguous((2, 1, K)), Layout::contiguous((2, 2)));
        let (product, shape) =
            experts.indexed_moe_forward(&shape, (&activations, &x_l), (&ids, &ids_l)).unwrap();
        assert_eq!(shape.dims(), [2, 2, 1]);
        for (at, got) in read(&product).iter().enumerate() {
            let (row, expert) = (at / 2, chosen[at] as usize);
            let terms = || (0..K).map(|k| (w[expert * K + k], f64::from(x[row * K + k])));
            let exact: f64 = terms().map(|(w, x)| w * x).sum();
            let bound: f64 = terms().map(|(w, _)| w.abs() * 1.1 / 254.0).sum::<f64>() + 1e-3;
            assert!((got - exact).abs() <= bound, "{got} and {exact}, bound {bound}");
        }
    }
}

#[test]
fn importance_is_that_of_candles_quantizer() {
    let importance: Vec<f32> = (0..K).map(|i| 1.0 + (i % 5) as f32).collect();
    for device in devices() {
        let mut candles = GgmlDType::Q4K.cpu_zeros(N * K);
        candles.from_float_imatrix(&weights(), &importance, K);
        let mut ours = QHipStorage::zeros(&device, N * K, GgmlDType::Q4K).unwrap();
        ours.quantize_imatrix_onto(&CpuStorage::F32(weights()), &importance, K).unwrap();
        let expected = numbers(&candles.dequantize(N * K).unwrap());
        assert_eq!(read(&ours.dequantize(N * K).unwrap()), expected);
        let on_device = device.storage_from_slice(&weights()).unwrap();
        ours.quantize_imatrix(&on_device, &importance, K).unwrap();
        assert_eq!(read(&ours.dequantize(N * K).unwrap()), expected);
    }
}

#[test]
fn formats_of_activations_and_wrong_sizes_are_errors() {
    for device in devices() {
        for format in [GgmlDType::Q8_1, GgmlDType::Q8K] {
            let error = QHipStorage::zeros(&device, K, format).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("there are no kernels for"), "{error}");
        }
        let parts = QHipStorage::zeros(&device, 33, GgmlDType::Q8_0).map(|_| ()).unwrap_err().to_string();
        assert!(parts.contains("33 elements are not whole blocks of Q8_0"), "{parts}");
        let mut blocks = QHipStorage::zeros(&device, N * K, GgmlDType::Q8_0).unwrap();
        assert!(blocks.quantize_onto(&CpuStorage::F32(vec![0.0; K])).is_err());
        assert!(blocks.dequantize(K).is_err());
        let x = device.storage_from_slice(&[0f32; 32]).unwrap();
        assert!(blocks.fwd(&Shape::from((N, K)), &x, &Layout::contiguous((1, 32))).is_err());
    }
}
