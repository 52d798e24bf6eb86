//! Scaled dot product attention: by hand, against the formula composed of other operations, masks, heads, layouts, errors.

use crate::common::{devices, layouts, on_devices, tensor, values};
use tensor_core::{DType, Device, ErrorKind, Result, Tensor};

/// Numbers between −1 and 1 in a fixed, uneven order.
fn numbers(dims: &[usize], seed: usize, dtype: DType, device: &Device) -> Result<Tensor> {
    let count: usize = dims.iter().product();
    let one = |i: usize| ((i * 37 + seed * 101 + i / 7 * 13) % 129) as f64 / 64.0 - 1.0;
    tensor((0..count).map(one).collect::<Vec<f64>>(), dtype, device)?.reshape(dims)
}

fn plain(q: &Tensor, k: &Tensor, v: &Tensor) -> Result<Tensor> {
    q.scaled_dot_product_attention(k, v, None, false, None)
}

#[track_caller]
fn near(got: &Tensor, expected: &[f64], tolerance: f64) -> Result<()> {
    let got_values = values(got)?;
    assert_eq!(got_values.len(), expected.len());
    let close = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance;
    let equal = got_values.iter().zip(expected).all(close);
    assert!(equal, "got {got_values:?}, expected {expected:?} ({} on {})", got.dtype(), got.device());
    Ok(())
}

/// The formula, in f64 and with loops.
fn by_definition(
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    seen: impl Fn(usize, usize) -> bool,
) -> Result<Vec<f64>> {
    let (x, y, z) = (values(q)?, values(k)?, values(v)?);
    let (&[b, hq, tq, d], &[_, hk, tk, dv]) = (q.dims(), v.dims()) else { panic!("rank 4") };
    let mut out = Vec::new();
    for head in 0..b * hq {
        let kv = head / hq * hk + head % hq / (hq / hk);
        for i in 0..tq {
            let score = |j: usize| -> f64 {
                let dot: f64 = (0..d).map(|p| x[(head * tq + i) * d + p] * y[(kv * tk + j) * d + p]).sum();
                dot / (d as f64).sqrt()
            };
            let weights: Vec<f64> = (0..tk).map(|j| if seen(i, j) { score(j).exp() } else { 0.0 }).collect();
            let total: f64 = weights.iter().sum();
            for c in 0..dv {
                let sum: f64 = (0..tk).map(|j| weights[j] * z[(kv * tk + j) * dv + c]).sum();
                out.push(if total == 0.0 { 0.0 } else { sum / total });
            }
        }
    }
    Ok(out)
}

#[test]
fn two_keys_by_hand() {
    on_devices(|device| {
        // Scores ln 3 and 0, so weights 3/4 and 1/4; f16 rounds ln 3, and with it the weights.
        for (dtype, tolerance) in
            [(DType::F64, 1e-14), (DType::F32, 2e-6), (DType::F16, 0.02), (DType::BF16, 0.06)]
        {
            let four = |x: Vec<f64>, dims: [usize; 4]| tensor(x, dtype, device)?.reshape(dims);
            let q = four(vec![1.0], [1, 1, 1, 1])?;
            let k = four(vec![3f64.ln(), 0.0], [1, 1, 2, 1])?;
            let v = four(vec![4.0, 8.0, 12.0, -8.0], [1, 1, 2, 2])?;
            near(&plain(&q, &k, &v)?, &[6.0, 4.0], tolerance)?;
            let scaled = q.scaled_dot_product_attention(&k, &v, None, false, Some(2.0))?;
            near(&scaled, &[4.8, 6.4], tolerance)?;
            near(&q.scaled_dot_product_attention(&k, &v, None, true, None)?, &[4.0, 8.0], 0.0)?;
            let second = tensor([0.0, 1.0], DType::U8, device)?;
            near(&q.scaled_dot_product_attention(&k, &v, Some(&second), false, None)?, &[12.0, -8.0], 0.0)?;
            let added = tensor([0.0, 3f64.ln()], dtype, device)?;
            let even = q.scaled_dot_product_attention(&k, &v, Some(&added), false, None)?;
            near(&even, &[8.0, 0.0], tolerance)?;
        }
        Ok(())
    });
}

#[test]
fn every_size_agrees_with_the_formula() {
    on_devices(|device| {
        for dtype in [DType::F32, DType::F64] {
            let tolerance = if dtype == DType::F64 { 1e-13 } else { 4e-6 };
            for [b, hq, hk, tq, tk, d, dv] in [
                [1, 1, 1, 1, 1, 1, 1],
                [2, 4, 2, 70, 33, 20, 12],
                [1, 6, 1, 9, 70, 16, 130],
                [2, 2, 2, 1, 300, 65, 64],
                [1, 3, 3, 5, 257, 8, 200],
                [2, 8, 2, 3, 530, 64, 64],
                [1, 1, 1, 65, 130, 128, 65],
            ] {
                let q = numbers(&[b, hq, tq, d], 1, dtype, device)?;
                let (k, v) = (
                    numbers(&[b, hk, tk, d], 2, dtype, device)?,
                    numbers(&[b, hk, tk, dv], 3, dtype, device)?,
                );
                let out = plain(&q, &k, &v)?;
                assert_eq!(out.dims(), [b, hq, tq, dv]);
                near(&out, &by_definition(&q, &k, &v, |_, _| true)?, tolerance)?;
                let causal = q.scaled_dot_product_attention(&k, &v, None, true, None)?;
                near(&causal, &by_definition(&q, &k, &v, |i, j| j <= i)?, tolerance)?;
                let hidden = |i: usize, j: usize| !(i + j / 3).is_multiple_of(3);
                let mask: Vec<u8> = (0..tq * tk).map(|at| hidden(at / tk, at % tk).into()).collect();
                let mask = Tensor::from_slice(&mask, [tq, tk], device)?;
                let expected = by_definition(&q, &k, &v, hidden)?;
                near(
                    &q.scaled_dot_product_attention(&k, &v, Some(&mask), false, None)?,
                    &expected,
                    tolerance,
                )?;
                // The logarithm of 0 and 1 hides the same keys.
                let added = mask.to_dtype(dtype)?.log()?;
                near(
                    &q.scaled_dot_product_attention(&k, &v, Some(&added), false, None)?,
                    &expected,
                    tolerance,
                )?;
            }
        }
        Ok(())
    });
}

#[test]
fn matrix_units_agree_with_the_formula() {
    for shared in devices() {
        // A device of this test's own: the others' attention stays what it is.
        let device = Device::parse(&shared.name()).expect("a device that was opened before");
        let Some(hip) = device.as_hip() else { continue };
        // Used without a word.
        let host = device.name().starts_with("host");
        // Half a unit in the last place, and what the weights are off by.
        for (dtype, rounding, weights) in
            [(DType::F16, 1.0 / 2048.0, 2e-6), (DType::BF16, 1.0 / 256.0, 1.6e-5)]
        {
            let (q, k, v) = (
                numbers(&[1, 2, 70, 80], 1, dtype, &device).unwrap(),
                numbers(&[1, 1, 260, 80], 2, dtype, &device).unwrap(),
                numbers(&[1, 1, 260, 72], 3, dtype, &device).unwrap(),
            );
            for causal in [false, true] {
                let out = q.scaled_dot_product_attention(&k, &v, None, causal, None).unwrap();
                let expected = by_definition(&q, &k, &v, |i, j| !causal || j <= i).unwrap();
                for (got, expected) in values(&out).unwrap().into_iter().zip(expected) {
                    let near = (got - expected).abs() <= expected.abs() * rounding + weights;
                    assert!(near, "{got}, not {expected} ({dtype} on {device})");
                }
            }
            let unit = format!("attention_mma_{dtype}");
            assert!(!host || hip.code_origins().contains_key(&unit), "{unit} on {device}");
        }
        // What those kernels do not take goes to the others.
        let odd = numbers(&[1, 1, 70, 20], 1, DType::F16, &device).unwrap();
        assert_eq!(plain(&odd, &odd, &odd).unwrap().dims(), [1, 1, 70, 20]);
        // And where they are not allowed, all does.
        let other = Device::parse(&shared.name()).expect("a device that was opened before");
        let Some(hip) = other.as_hip() else { continue };
        hip.allow_matrix_attention(false);
        let even = numbers(&[1, 1, 70, 16], 1, DType::F16, &other).unwrap();
        assert_eq!(plain(&even, &even, &even).unwrap().dims(), [1, 1, 70, 16]);
        assert!(!hip.code_origins().contains_key("attention_mma_f16"), "on {other}");
    }
}

#[test]
fn strided_operands_are_read_in_place() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32] {
            for tq in [2, 34] {
                let q = numbers(&[2, 2, tq, 8], 1, dtype, device)?;
                let (k, v) =
                    (numbers(&[2, 2, 70, 8], 2, dtype, device)?, numbers(&[2, 2, 70, 12], 3, dtype, device)?);
                let expected = plain(&q, &k, &v)?;
                // Sums in another order where packs cannot be read; one unit of f16 at most.
                let tolerance = if dtype == DType::F16 { 5e-4 } else { 1e-6 };
                for (((_, q), (_, k)), (_, v)) in layouts(&q)?.into_iter().zip(layouts(&k)?).zip(layouts(&v)?)
                {
                    near(&plain(&q, &k, &v)?, &values(&expected)?, tolerance)?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn softmax_does_not_overflow_and_shifts_change_nothing() {
    on_devices(|device| {
        for tq in [1, 20] {
            let v = numbers(&[1, 1, 40, 4], 3, DType::F32, device)?;
            // Scores of 10,000 and more.
            let q = Tensor::full(100, [1, 1, tq, 1], DType::F32, device)?;
            let k = Tensor::full(100, [1, 1, 40, 1], DType::F32, device)?;
            let mean = values(&v.mean_keepdim(2)?)?;
            let expected: Vec<f64> = (0..tq).flat_map(|_| mean.clone()).collect();
            near(&plain(&q, &k, &v)?, &expected, 1e-6)?;
            let low = Tensor::full(-5000, [1], DType::F32, device)?;
            let shifted = q.scaled_dot_product_attention(&k, &v, Some(&low), false, None)?;
            near(&shifted, &expected, 1e-6)?;
            // A score far above the rest takes all, wherever it comes.
            for key in [0, 17, 39] {
                let mut bias = vec![0f32; 40];
                bias[key] = 1000.0;
                let bias = Tensor::from_slice(&bias, [40], device)?;
                let one = q.scaled_dot_product_attention(&k, &v, Some(&bias), false, None)?;
                let row = values(&v.narrow(2, key, 1)?)?;
                near(&one, &(0..tq).flat_map(|_| row.clone()).collect::<Vec<_>>(), 0.0)?;
            }
        }
        Ok(())
    });
}

#[test]
fn padding_by_any_finite_number_hides_keys() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            // As many as the kernels for matrix units want.
            let (rows, keys, hidden) = (64, 256, 64);
            let ones = |count: usize, value| Tensor::full(value, [1, 1, count, 16], dtype, device);
            let v = Tensor::cat(&[&ones(hidden, 1.0)?, &ones(keys - hidden, 3.0)?], 2)?;
            let q = Tensor::zeros([1, 1, rows, 64], dtype, device)?;
            let k = numbers(&[1, 1, keys, 64], 2, dtype, device)?;
            let masks: &[f64] = match dtype {
                DType::F16 => &[-30000.0, -65504.0],
                _ => &[-1e9, -5e9, -1e20, -1e30, -1e38, -3.3895313892515355e38],
            };
            for &mask in masks {
                let all = Tensor::full(mask, [keys], dtype, device)?;
                let none = Tensor::zeros([keys - hidden], dtype, device)?;
                let left = Tensor::cat(&[&all.narrow(0, 0, hidden)?, &none], 0)?;
                for (mask, mean) in [(left, 3.0), (all, 2.5)] {
                    let out = q.scaled_dot_product_attention(&k, &v, Some(&mask), false, None)?;
                    near(&out, &vec![mean; rows * 16], 0.0)?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn nothing_to_attend_to_gives_zero() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            for tq in [2, 9] {
                let q = numbers(&[1, 2, tq, 4], 1, dtype, device)?;
                let (k, v) =
                    (numbers(&[1, 2, 5, 4], 2, dtype, device)?, numbers(&[1, 2, 5, 3], 3, dtype, device)?);
                let none = Tensor::zeros([tq, 5], DType::U8, device)?;
                let zeros = vec![0.0; 2 * tq * 3];
                near(&q.scaled_dot_product_attention(&k, &v, Some(&none), false, None)?, &zeros, 0.0)?;
                let hidden = Tensor::full(f64::NEG_INFINITY, [1], dtype, device)?;
                near(&q.scaled_dot_product_attention(&k, &v, Some(&hidden), false, None)?, &zeros, 0.0)?;
                let (k, v) = (k.narrow(2, 0, 0)?, v.narrow(2, 0, 0)?);
                near(&plain(&q, &k, &v)?, &zeros, 0.0)?;
            }
        }
        Ok(())
    });
}

#[test]
fn empty_operands() {
    on_devices(|device| {
        let zeros = |dims: [usize; 4]| Tensor::zeros(dims, DType::F32, device);
        for (q, k, v, out) in [
            ([0, 2, 3, 4], [0, 2, 5, 4], [0, 2, 5, 6], [0, 2, 3, 6]),
            ([1, 0, 3, 4], [1, 0, 5, 4], [1, 0, 5, 6], [1, 0, 3, 6]),
            ([1, 2, 0, 4], [1, 2, 5, 4], [1, 2, 5, 6], [1, 2, 0, 6]),
            ([1, 2, 3, 4], [1, 2, 5, 4], [1, 2, 5, 0], [1, 2, 3, 0]),
        ] {
            assert_eq!(plain(&zeros(q)?, &zeros(k)?, &zeros(v)?)?.dims(), out);
        }
        // Without columns every score is 0: the mean of the values.
        let v = numbers(&[1, 1, 4, 2], 3, DType::F32, device)?;
        for tq in [1, 12] {
            let out = plain(&zeros([1, 1, tq, 0])?, &zeros([1, 1, 4, 0])?, &v)?;
            let mean = values(&v.mean(2)?)?;
            near(&out, &(0..tq).flat_map(|_| mean.clone()).collect::<Vec<_>>(), 1e-6)?;
        }
        Ok(())
    });
}

#[test]
fn results_that_overflow_are_errors() {
    on_devices(|device| {
        let one = Tensor::ones([1, 1, 1, 1], DType::F32, device)?;
        // The factors of 2^64 + 1, each of which fits.
        let q = one.expand([1, 1, 67_280_421_310_721, 1])?;
        let v = one.expand([1, 1, 1, 274_177])?;
        let error = plain(&q, &one, &v).expect_err("2^64 + 1 elements");
        assert!(matches!(error.kind(), ErrorKind::Overflow { .. }), "{error}");
        Ok(())
    });
}

#[test]
fn nan_passes_through() {
    on_devices(|device| {
        for tq in [2, 9] {
            let q = numbers(&[1, 1, tq, 4], 1, DType::F32, device)?;
            let (k, v) = (
                numbers(&[1, 1, 5, 4], 2, DType::F32, device)?,
                numbers(&[1, 1, 5, 1], 3, DType::F32, device)?,
            );
            for bad in [f64::NAN, f64::INFINITY] {
                let mut bias = vec![0.0; 5];
                bias[3] = bad;
                let bias = tensor(bias, DType::F32, device)?;
                let out = q.scaled_dot_product_attention(&k, &v, Some(&bias), false, None)?;
                assert!(values(&out)?.iter().all(|x| x.is_nan()));
                // Not where the key is out of sight.
                let out = q.scaled_dot_product_attention(&k, &v, Some(&bias), true, None)?;
                let nan: Vec<bool> = values(&out)?.iter().map(|x| x.is_nan()).collect();
                assert_eq!(nan, (0..tq).map(|i| i >= 3).collect::<Vec<_>>());
            }
        }
        Ok(())
    });
}

#[test]
fn errors_name_shapes() {
    on_devices(|device| {
        let zeros = |dims: &[usize]| Tensor::zeros(dims, DType::F32, device);
        let says = |result: Result<Tensor>, expected: &str| match result {
            Ok(_) => panic!("no error, expected: {expected}"),
            Err(error) => assert_eq!(
                error.to_string(),
                format!("scaled_dot_product_attention: {}", expected.replace('@', &device.to_string()))
            ),
        };
        let (q, k, v) = (zeros(&[1, 4, 3, 8])?, zeros(&[1, 2, 5, 8])?, zeros(&[1, 2, 5, 6])?);
        says(plain(&q.get(0)?, &k, &v), "[4, 3, 8] has rank 3, expected 4 on @");
        says(
            plain(&q, &k.narrow(3, 0, 7)?, &v),
            "q [1, 4, 3, 8], k [1, 2, 5, 7] and v [1, 2, 5, 6] do not fit: batches and head sizes of q and k must be equal on @",
        );
        says(
            plain(&q, &k, &v.narrow(2, 0, 4)?),
            "q [1, 4, 3, 8], k [1, 2, 5, 8] and v [1, 2, 4, 6] do not fit: batches, heads and lengths of k and v must be equal on @",
        );
        says(
            plain(&q.narrow(1, 0, 3)?, &k, &v),
            "q [1, 3, 3, 8], k [1, 2, 5, 8] and v [1, 2, 5, 6] do not fit: the heads of q must be a multiple of those of k and v on @",
        );
        let with = |mask: &Tensor| q.scaled_dot_product_attention(&k, &v, Some(mask), false, None);
        says(with(&zeros(&[4, 5])?), "[4, 5] does not broadcast to [1, 4, 3, 5] on @");
        says(
            with(&Tensor::zeros([3, 5], DType::F16, device)?),
            "dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        says(
            plain(&q, &k.to_dtype(DType::F16)?, &v),
            "dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        let whole = Tensor::zeros([1, 1, 1, 1], DType::I32, device)?;
        says(
            plain(&whole, &whole, &whole),
            "i32 is not supported (shape [1, 1, 1, 1]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        Ok(())
    });
}
