//! Matrix products against the definition, in every layout and with every kind of batch.

use crate::common::{layouts, on_devices, tensor, values};
use tensor_core::{DType, Device, Result, Tensor};

/// Small whole numbers, whose products' sums are exact in every dtype tested.
fn matrix(dims: &[usize], seed: usize, dtype: DType, device: &Device) -> Result<Tensor> {
    let count: usize = dims.iter().product();
    let numbers: Vec<i64> = (0..count).map(|i| ((i * 7 + i / 3 + seed) % 5) as i64 - 2).collect();
    tensor(numbers, dtype, device)?.reshape(dims)
}

/// The products by the definition, over batches that `expand` makes equal.
fn by_definition(a: &Tensor, b: &Tensor) -> Result<Vec<f64>> {
    let (m, k, n) = (a.dims()[a.rank() - 2], a.dims()[a.rank() - 1], b.dims()[b.rank() - 1]);
    let (x, y) = (values(a)?, values(b)?);
    let batch = if k == 0 { 0 } else { x.len() / (m * k) };
    let mut out = Vec::new();
    for matrix in 0..batch {
        for i in 0..m {
            for j in 0..n {
                let term = |p: usize| x[(matrix * m + i) * k + p] * y[(matrix * k + p) * n + j];
                out.push((0..k).map(term).sum());
            }
        }
    }
    Ok(out)
}

#[test]
fn every_layout_and_dtype() {
    on_devices(|device| {
        for dtype in crate::common::FLOATS {
            for (m, k, n) in [(1, 1, 1), (2, 3, 4), (5, 1, 7), (1, 9, 1), (17, 33, 19), (64, 5, 2)] {
                let (a, b) = (matrix(&[m, k], 1, dtype, device)?, matrix(&[k, n], 2, dtype, device)?);
                // Exact sums, rounded to the dtype once.
                let expected = values(&tensor(by_definition(&a, &b)?, dtype, device)?)?;
                for (left, a) in layouts(&a)? {
                    for (right, b) in layouts(&b)? {
                        let got = a.matmul(&b)?;
                        assert_eq!(got.dims(), [m, n]);
                        assert_eq!(values(&got)?, expected, "{dtype} {left} [{m}, {k}] x {right} [{k}, {n}]");
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn batches_broadcast() {
    on_devices(|device| {
        let cases: [(&[usize], &[usize], &[usize]); 8] = [
            (&[3], &[3], &[3]),
            (&[3], &[], &[3]),
            (&[], &[3], &[3]),
            (&[2, 3], &[3], &[2, 3]),
            (&[2, 1], &[1, 3], &[2, 3]),
            (&[1, 3, 1], &[2, 1, 4], &[2, 3, 4]),
            (&[0], &[1], &[0]),
            (&[2, 1, 2, 1, 2], &[2, 1], &[2, 1, 2, 2, 2]),
        ];
        for dtype in [DType::F16, DType::F32, DType::F64] {
            for (left, right, batch) in cases {
                let a = matrix(&[left, &[4, 5]].concat(), 1, dtype, device)?;
                let b = matrix(&[right, &[5, 6]].concat(), 2, dtype, device)?;
                let expanded = (a.expand([batch, &[4, 5]].concat())?, b.expand([batch, &[5, 6]].concat())?);
                let expected = by_definition(&expanded.0, &expanded.1)?;
                for (name, a) in layouts(&a)? {
                    for (other, b) in layouts(&b)? {
                        let got = a.matmul(&b)?;
                        assert_eq!(got.dims(), [batch, &[4, 6]].concat());
                        assert_eq!(values(&got)?, expected, "{left:?} {name} x {right:?} {other}");
                    }
                }
                assert_eq!(values(&expanded.0.matmul(&expanded.1)?)?, expected);
            }
        }
        Ok(())
    });
}

#[test]
fn vectors_are_rows_on_the_left_and_columns_on_the_right() {
    on_devices(|device| {
        let v = tensor([1.0, 2.0], DType::F32, device)?;
        let m = tensor([[1.0, 10.0], [100.0, 1000.0]], DType::F32, device)?;
        assert_eq!(v.matmul(&v)?.to_vec0::<f32>()?, 5.0);
        assert_eq!(v.matmul(&m)?.to_vec1::<f32>()?, [201.0, 2010.0]);
        assert_eq!(m.matmul(&v)?.to_vec1::<f32>()?, [21.0, 2100.0]);
        let batch = m.unsqueeze(0)?.expand([3, 2, 2])?;
        assert_eq!(batch.matmul(&v)?.dims(), [3, 2]);
        assert_eq!(v.matmul(&batch)?.to_vec2::<f32>()?, [[201.0, 2010.0]; 3]);
        Ok(())
    });
}

#[test]
fn repeated_rows_and_columns_are_read_in_place() {
    on_devices(|device| {
        for dtype in [DType::BF16, DType::F32, DType::F64] {
            let row = tensor([[1.0, 2.0, 3.0]], dtype, device)?.expand([4, 3])?;
            let column = tensor([[1.0], [0.5], [2.0]], dtype, device)?.expand([3, 5])?;
            assert_eq!(values(&row.matmul(&column)?)?, [8.0; 20]);
        }
        Ok(())
    });
}

#[test]
fn twelve_bit_integers_are_exact_in_f32() {
    on_devices(|device| {
        // Products of 23 bits: TF32 or 16-bit accumulation would lose the lowest.
        let a = Tensor::full(4093, [33, 1], DType::F32, device)?;
        let b = Tensor::full(4091, [1, 31], DType::F32, device)?;
        assert_eq!(values(&a.matmul(&b)?)?, vec![4093.0 * 4091.0; 33 * 31]);
        // A long sum of odd numbers just below 2^24.
        let k = 4095;
        let a = Tensor::full(63, [3, k], DType::F32, device)?;
        let b = Tensor::full(65, [k, 2], DType::F32, device)?;
        assert_eq!(values(&a.matmul(&b)?)?, [(63 * 65 * k) as f64; 6]);
        Ok(())
    });
}

#[test]
fn small_floats_accumulate_in_f32() {
    on_devices(|device| {
        for (dtype, k) in [(DType::F16, 4096), (DType::BF16, 4096), (DType::F8E4M3, 256)] {
            let a = Tensor::ones([2, k], dtype, device)?;
            let b = Tensor::ones([k, 3], dtype, device)?;
            assert_eq!(values(&a.matmul(&b)?)?, [k as f64; 6], "{dtype}");
        }
        // Infinite in f16 on the way, but not in f32.
        let a = tensor([[300.0, 300.0, 1.0]], DType::F16, device)?;
        let b = tensor([[300.0], [-300.0], [1.0]], DType::F16, device)?;
        assert_eq!(values(&a.matmul(&b)?)?, [1.0]);
        Ok(())
    });
}

#[test]
fn nan_and_infinity_pass_through() {
    on_devices(|device| {
        let a = tensor([[f64::NAN, 0.0], [f64::INFINITY, 1.0]], DType::F32, device)?;
        let b = tensor([[0.0, 1.0], [1.0, 1.0]], DType::F32, device)?;
        let got = values(&a.matmul(&b)?)?;
        assert!(got[0].is_nan() && got[1].is_nan() && got[2].is_nan());
        assert_eq!(got[3], f64::INFINITY);
        Ok(())
    });
}

#[test]
fn large_products_agree_with_exact_integers() {
    on_devices(|device| {
        let (m, k, n) = (150, 700, 130);
        let (a, b) = (matrix(&[m, k], 3, DType::F32, device)?, matrix(&[k, n], 4, DType::F32, device)?);
        let expected = by_definition(&a, &b)?;
        assert_eq!(values(&a.matmul(&b)?)?, expected);
        let rows = a.reshape([10, 15, k])?.matmul(&b)?;
        assert_eq!((rows.dims(), values(&rows)?), (&[10, 15, n][..], expected));
        Ok(())
    });
}
