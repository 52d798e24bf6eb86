//! Softmax and normalisation against numbers worked out by hand.

use crate::common::{FLOATS, bits, layouts, on_devices, same, tensor, values, vector};
use tensor_core::{DType, Device, ErrorKind, Result, Tensor};

/// Asserts that the elements are these but for `ulps` units of 2^-23, relative to the greatest.
#[track_caller]
fn near(got: &Tensor, expected: &[f64], ulps: f64) -> Result<()> {
    let numbers = values(got)?;
    let greatest = expected.iter().fold(0f64, |greatest, x| greatest.max(x.abs()));
    let close = |(got, expected): (&f64, &f64)| (got - expected).abs() <= ulps * 1.2e-7 * greatest;
    assert_eq!(numbers.len(), expected.len());
    assert!(
        numbers.iter().zip(expected).all(close),
        "got {numbers:?}, expected {expected:?} on {}",
        got.device()
    );
    Ok(())
}

/// Asserts a message, in which `@` stands for the device.
#[track_caller]
fn says(result: Result<Tensor>, device: &Device, expected: &str) {
    match result {
        Ok(_) => panic!("no error, expected: {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected.replace('@', &device.to_string())),
    }
}

#[test]
fn softmax_of_equal_elements_is_exact() {
    on_devices(|device| {
        // Powers of two: 1/n is exact. Lengths of one lane, of a wave, of a block, and beyond its registers.
        for dtype in FLOATS {
            for length in [1usize, 2, 8, 64, 256] {
                let x = Tensor::full(3, [3, length], dtype, device)?;
                same(&x.softmax(1)?, &vec![1.0 / length as f64; 3 * length])?;
                same(&x.softmax(0)?.t()?.contiguous()?, &vec![round_third(dtype); 3 * length])?;
            }
        }
        for length in [2048, 1 << 14] {
            let x = Tensor::full(-7, [2, length], DType::F32, device)?;
            same(&x.softmax(-1)?, &vec![1.0 / length as f64; 2 * length])?;
            same(&x.t()?.softmax(0)?, &vec![1.0 / length as f64; 2 * length])?;
        }
        Ok(())
    });
}

/// What fills the lanes up that a row leaves over is no element of it, though 8 bits have nothing less than the least number.
#[test]
fn softmax_of_equal_smallest_numbers_is_uniform() {
    on_devices(|device| {
        let x = Tensor::full(-448, [3, 48], DType::F8E4M3, device)?;
        // 1/48 and -ln 48, rounded.
        same(&x.softmax(1)?, &[0.021484375; 3 * 48])?;
        same(&x.log_softmax(1)?, &[-3.75; 3 * 48])
    });
}

/// 1/3 in a dtype, as f32 if it has no more bits.
fn round_third(dtype: DType) -> f64 {
    let bits = match dtype {
        DType::F8E4M3 => 5,
        DType::BF16 => 9,
        DType::F16 => 12,
        DType::F32 => 25,
        _ => return 1.0 / 3.0,
    };
    let unit = 2f64.powi(-bits);
    (1.0 / 3.0 / unit).round() * unit
}

/// e^0, e^(ln 2) and e^(ln 4) are as 1 : 2 : 4.
#[test]
fn softmax_by_hand_in_every_layout() {
    on_devices(|device| {
        let (two, four) = (std::f64::consts::LN_2, 2.0 * std::f64::consts::LN_2);
        let x = tensor([[0.0, two, four], [four, 100.0 + four, 0.0]], DType::F32, device)?;
        let sevenths = [1.0 / 7.0, 2.0 / 7.0, 4.0 / 7.0];
        let tiny = (-100f64).exp();
        let rows = [sevenths[0], sevenths[1], sevenths[2], tiny, 1.0, tiny / 4.0];
        let columns = [0.2, tiny / 2.0, 0.8, 0.8, 1.0, 0.2];
        for (_, x) in layouts(&x)? {
            near(&x.softmax(1)?, &rows, 4.0)?;
            near(&x.softmax(0)?, &columns, 4.0)?;
            near(&x.unsqueeze(1)?.softmax(0)?, &columns, 4.0)?;
            let log = [-(7f64.ln()), two - 7f64.ln(), four - 7f64.ln(), -100.0, 0.0, -100.0 - four];
            near(&x.log_softmax(-1)?, &log, 2.0)?;
        }
        // Stride 0: every element is one and the same, or every row.
        let row = x.narrow(0, 0, 1)?.expand([40, 3])?;
        near(&row.softmax(1)?, &sevenths.repeat(40), 4.0)?;
        near(&row.softmax(0)?, &[1.0 / 40.0; 120], 2.0)?;
        Ok(())
    });
}

#[test]
fn softmax_does_not_overflow() {
    on_devices(|device| {
        for (dtype, huge) in
            [(DType::F16, 65504.0), (DType::BF16, 3e38), (DType::F32, 3e38), (DType::F64, 1e308)]
        {
            let x = tensor([[huge, -huge, huge, 0.0]], dtype, device)?;
            same(&x.softmax(1)?, &[0.5, 0.0, 0.5, 0.0])?;
            same(&x.t()?.contiguous()?.softmax(0)?, &[0.5, 0.0, 0.5, 0.0])?;
        }
        let x = vector(&[-200f32, 0.0], device)?;
        assert_eq!(x.log_softmax(0)?.to_vec::<f32>()?, [-200.0, 0.0]);
        Ok(())
    });
}

#[test]
fn special_values_stay_in_their_rows() {
    on_devices(|device| {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            let x = tensor([[-inf, 2.0], [-inf, -inf], [inf, 2.0], [nan, 2.0], [1.0, 1.0]], dtype, device)?;
            let expected = [0.0, 1.0, nan, nan, nan, nan, nan, nan, 0.5, 0.5];
            same(&x.softmax(1)?, &expected)?;
            same(&x.t()?.contiguous()?.softmax(0)?.t()?.contiguous()?, &expected)?;
            let log = values(&x.log_softmax(1)?)?;
            assert_eq!(log[..2], [-inf, 0.0]);
            assert!(log[2..8].iter().all(|x| x.is_nan()) && log[8] == log[9]);
            let normal = values(&x.layer_norm(None, None, 1.0)?)?;
            assert!(normal[..8].iter().all(|x| x.is_nan()));
            assert_eq!(normal[8..], [0.0, 0.0]);
        }
        // Masks over long rows: what is masked counts for nothing.
        for length in [3000, 20_000] {
            let mut row = vec![f32::NEG_INFINITY; 2 * length];
            for i in [1, length - 1, length + 7, length + 8] {
                row[i] = 5.0;
            }
            let x = Tensor::from_vec(row, [2, length], device)?;
            for y in [x.softmax(1)?, x.t()?.contiguous()?.softmax(0)?.t()?.contiguous()?] {
                let y = y.to_vec::<f32>()?;
                assert_eq!(y.iter().filter(|y| **y == 0.5).count(), 4);
                assert_eq!(y.iter().filter(|y| **y == 0.0).count(), 2 * length - 4);
            }
        }
        Ok(())
    });
}

/// In an ascending row the greatest element so far changes with every step.
#[test]
fn long_ascending_rows_keep_their_sums() {
    on_devices(|device| {
        let length = 30_000usize;
        let row: Vec<f32> = (0..length).map(|i| i as f32 / 1024.0).collect();
        // A geometric series: (1 − q^n) / (1 − q) with q = e^(−1/1024).
        let q = (-1f64 / 1024.0).exp();
        let last = (1.0 - q) / (1.0 - q.powi(length as i32));
        let x = Tensor::from_vec(row, [1, length], device)?;
        for y in [x.softmax(1)?, x.t()?.softmax(0)?] {
            let y = values(&y)?;
            for back in [0, 1, 1000, 5000] {
                let expected = last * q.powi(back as i32);
                let got = y[length - 1 - back];
                assert!((got / expected - 1.0).abs() < 4e-6, "{got} for {expected} on {device}");
            }
        }
        Ok(())
    });
}

/// −1, 1 have mean 0 and variance 1; 7, 9 mean 8 and variance 1.
#[test]
fn layer_norm_by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([[-1.0, 1.0], [7.0, 9.0]], dtype, device)?;
            let (w, b) = (tensor([2.0, 3.0], dtype, device)?, tensor([10.0, 20.0], dtype, device)?);
            for (_, x) in layouts(&x)? {
                same(&x.layer_norm(None, None, 0.0)?, &[-1.0, 1.0, -1.0, 1.0])?;
                same(&x.layer_norm(&w, None, 0.0)?, &[-2.0, 3.0, -2.0, 3.0])?;
                same(&x.layer_norm(None, &b, 3.0)?, &[9.5, 20.5, 9.5, 20.5].map(|x| rounded(dtype, x)))?;
                same(
                    &x.layer_norm(Some(&w), Some(&b), 0.0)?,
                    &[8.0, 23.0, 8.0, 23.0].map(|x| rounded(dtype, x)),
                )?;
            }
        }
        Ok(())
    });
}

/// A number between 8 and 32 in a dtype, ties to even.
fn rounded(dtype: DType, x: f64) -> f64 {
    let unit = if x < 16.0 { 1.0 } else { 2.0 };
    if dtype == DType::F8E4M3 { (x / unit).round_ties_even() * unit } else { x }
}

/// Where the mean is large against the deviation, mean of squares minus square of the mean would be 0 or less.
#[test]
fn variance_does_not_cancel() {
    on_devices(|device| {
        for length in [64usize, 2000, 20_000] {
            let row: Vec<f32> = (0..length).map(|i| 30_000.0 + if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
            let x = Tensor::from_vec(row, [1, length], device)?;
            let expected: Vec<f64> = (0..length).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
            near(&x.layer_norm(None, None, 0.0)?, &expected, 2.0)?;
            near(&x.group_norm(1, None, None, 0.0)?, &expected, 2.0)?;
        }
        // The largest f16 numbers: their squares do not fit f16.
        let x = tensor([[65504.0, -65504.0]], DType::F16, device)?;
        same(&x.layer_norm(None, None, 1e-5)?, &[1.0, -1.0])?;
        same(&x.rms_norm(None, 1e-5)?, &[1.0, -1.0])?;
        Ok(())
    });
}

#[test]
fn rms_norm_by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            // 3² + 4² are 25: the mean is 12.5, and 3.5 more are 16.
            let x = tensor([[3.0, 4.0], [-4.0, 3.0]], dtype, device)?;
            let w = tensor([1.0, -2.0], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.rms_norm(None, 3.5)?, &[0.75, 1.0, -1.0, 0.75])?;
                same(&x.rms_norm(&w, 3.5)?, &[0.75, -2.0, -1.0, -1.5])?;
            }
        }
        let x = Tensor::full(2, [3, 5000], DType::F32, device)?;
        same(&x.rms_norm(None, 0.0)?, &vec![1.0; 15_000])?;
        Ok(())
    });
}

#[test]
fn add_rms_norm_is_both_operations() {
    on_devices(|device| {
        for dtype in FLOATS {
            // Rows of lanes, of a block, and longer than a block holds in registers, in packs and not.
            for dims in [[3, 7], [5, 64], [2, 1296], [2, 4099], [1, 9001], [1, 12_288]] {
                let count = dims[0] * dims[1];
                let ramp = |step: f64| -> Result<Tensor> {
                    let ids = Tensor::arange(0i64, count as i64, device)?.to_dtype(DType::F64)?;
                    ids.affine(step, 0.0)?.sin()?.to_dtype(dtype)?.reshape(dims)
                };
                let (x, y, w) = (ramp(0.7)?, ramp(1.3)?, ramp(0.1)?.get(0)?);
                let sums = x.add(&y)?;
                for (name, mut sum) in layouts(&x)? {
                    for (_, y) in layouts(&y)? {
                        let mut sum = sum.clone();
                        let normed = sum.add_rms_norm_(&y, &w, 1e-5)?;
                        assert_eq!(bits(&sum)?, bits(&sums)?, "{dtype} {dims:?} {name}");
                        assert_eq!(
                            bits(&normed)?,
                            bits(&sums.rms_norm(&w, 1e-5)?)?,
                            "{dtype} {dims:?} {name}"
                        );
                    }
                    let normed = sum.add_rms_norm_(&w, None, 0.5)?;
                    assert_eq!(bits(&sum)?, bits(&x.add(&w)?)?);
                    assert_eq!(bits(&normed)?, bits(&sum.rms_norm(None, 0.5)?)?);
                }
                // The tensor that shared its storage is as it was.
                assert_eq!(bits(&x)?, bits(&ramp(0.7)?)?);
            }
            let mut none = Tensor::zeros([0, 5], dtype, device)?;
            assert_eq!(none.add_rms_norm_(&none.clone(), None, 1.0)?.dims(), [0, 5]);
        }
        let mut x = Tensor::zeros([2, 3], DType::F32, device)?;
        let wide = Tensor::zeros([4, 2, 3], DType::F32, device)?;
        assert!(matches!(x.add_rms_norm_(&wide, None, 1.0).unwrap_err().kind(), ErrorKind::Expand { .. }));
        let weight = Tensor::zeros(2, DType::F32, device)?;
        let error = x.add_rms_norm_(&x.clone(), &weight, 1.0).unwrap_err().to_string();
        assert!(
            error.starts_with("add_rms_norm_: the weight has shape [2], expected [3] for [2, 3]"),
            "{error}"
        );
        let mut ints = Tensor::zeros([2, 3], DType::I32, device)?;
        let error = ints.add_rms_norm_(&ints.clone(), None, 1.0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnsupportedDType { .. }));
        Ok(())
    });
}

/// 1 1 3 3 has mean 2 and variance 1; 0 0 4 4 mean 2 and variance 4.
#[test]
fn group_norm_by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([1.0, 1.0, 3.0, 3.0, 0.0, 0.0, 4.0, 4.0], dtype, device)?.reshape([1, 4, 2])?;
            let w = tensor([1.0, 2.0, 3.0, 4.0], dtype, device)?;
            let b = tensor([0.0, 0.0, 0.0, 1.0], dtype, device)?;
            for (_, x) in layouts(&x)? {
                let got = x.group_norm(2, &w, &b, 0.0)?;
                same(&got, &[-1.0, -1.0, 2.0, 2.0, -3.0, -3.0, 5.0, 5.0])?;
                assert_eq!(got.dims(), [1, 4, 2]);
            }
            // Two items of two channels: a group of one channel of one element has no variance.
            let x = tensor([[5.0, 6.0], [7.0, 8.0]], dtype, device)?;
            same(&x.group_norm(2, None, None, 1.0)?, &[0.0; 4])?;
            same(&x.group_norm(1, None, None, 0.0)?, &[-1.0, 1.0, -1.0, 1.0])?;
        }
        Ok(())
    });
}

#[test]
fn batch_norm_by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            let of = |numbers: [f64; 2]| tensor(numbers, dtype, device);
            let (mean, variance) = (of([1.0, 5.0])?, of([3.0, 15.0])?);
            let (w, b) = (of([2.0, 3.0])?, of([0.0, 7.0])?);
            let x = tensor([[[1.0, 3.0], [5.0, 9.0]], [[-1.0, 5.0], [1.0, 13.0]]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                let got = x.batch_norm(&mean, &variance, &w, &b, 1.0)?;
                same(&got, &[0.0, 2.0, 7.0, 10.0, -2.0, 4.0, 4.0, 13.0])?;
                same(
                    &x.batch_norm(&mean, &variance, None, None, 1.0)?,
                    &[0.0, 1.0, 0.0, 1.0, -1.0, 2.0, -1.0, 2.0],
                )?;
            }
            let flat = tensor([[1.0, 9.0], [3.0, 5.0]], dtype, device)?;
            same(&flat.batch_norm(&mean, &variance, &w, &b, 1.0)?, &[0.0, 10.0, 2.0, 7.0])?;
        }
        Ok(())
    });
}

/// Norms square what they divide by in the type that they compute in. Where the sum of squares is infinite the quotients are 0.
#[test]
fn norms_of_great_elements_are_zero() {
    on_devices(|device| {
        let (one, two) =
            (tensor([1.0, 1.0, 1.0, 1.0], DType::F32, device)?, vector(&[2f32], device)?.expand(4)?);
        let (one, two) = (one.contiguous()?, two.contiguous()?);
        for dtype in [DType::F32, DType::BF16, DType::F64] {
            let (one, two) = (one.to_dtype(dtype)?, two.to_dtype(dtype)?);
            let norms = |scale: f64| -> Result<[Vec<f64>; 3]> {
                let x = tensor([[-1.0, 1.0, -1.0, 1.0]], dtype, device)?.affine(scale, 0.0)?;
                let group = x.reshape([1, 4])?.group_norm(1, &one, &two, 0.0)?;
                Ok([
                    values(&x.layer_norm(&one, &two, 0.0)?)?,
                    values(&x.rms_norm(&two, 0.0)?)?,
                    values(&group)?,
                ])
            };
            // Four squares of 2^62 are 2^126; the type of the computation ends at 2^128, that of f64 at 2^1024.
            let (fits, too_great) = if dtype == DType::F64 { (510, 513) } else { (62, 65) };
            let right = [vec![1.0, 3.0, 1.0, 3.0], vec![-2.0, 2.0, -2.0, 2.0], vec![1.0, 3.0, 1.0, 3.0]];
            assert_eq!(norms(2f64.powi(fits))?, right, "{dtype}");
            // Of what is 0 the bias is left; a minus sign may stay.
            let [layer, rms, group] = norms(2f64.powi(too_great))?;
            assert_eq!([layer, group], [[2.0; 4]; 2], "{dtype}");
            assert_eq!(rms, [0.0; 4], "{dtype}");
        }
        // Halves cannot be so great.
        let x = Tensor::new([[-65504f32, 65504.0]], device)?.to_dtype(DType::F16)?;
        same(&x.rms_norm(None, 0.0)?, &[-1.0, 1.0])?;
        same(&x.layer_norm(None, None, 0.0)?, &[-1.0, 1.0])
    });
}

#[test]
fn empty_tensors() {
    on_devices(|device| {
        for dims in [[0, 5], [5, 0]] {
            let x = Tensor::zeros(dims, DType::F32, device)?;
            let w = Tensor::ones(dims[1], DType::F32, device)?;
            let all = [
                x.softmax(0)?,
                x.softmax(1)?,
                x.log_softmax(1)?,
                x.layer_norm(&w, &w, 1e-5)?,
                x.rms_norm(&w, 1e-5)?,
                x.group_norm(1, &w, &w, 1e-5)?,
                x.batch_norm(&w, &w, &w, &w, 1e-5)?,
            ];
            assert!(all.iter().all(|y| y.dims() == dims));
        }
        Ok(())
    });
}

#[test]
fn errors_name_shapes() {
    on_devices(|device| {
        let x = Tensor::zeros([2, 6, 4], DType::F32, device)?;
        let short = Tensor::zeros(3, DType::F32, device)?;
        let six = Tensor::zeros(6, DType::F32, device)?;
        let ints = Tensor::zeros([2, 3], DType::I32, device)?;
        let scalar = Tensor::zeros((), DType::F32, device)?;
        says(x.softmax(3), device, "softmax: axis 3 is out of range for [2, 6, 4] on @");
        says(x.log_softmax(-4), device, "log_softmax: axis -4 is out of range for [2, 6, 4] on @");
        says(
            ints.softmax(0),
            device,
            "softmax: i32 is not supported (shape [2, 3]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        says(
            x.layer_norm(&short, None, 1e-5),
            device,
            "layer_norm: the weight has shape [3], expected [4] for [2, 6, 4] on @",
        );
        says(
            x.rms_norm(&x, 1e-5),
            device,
            "rms_norm: the weight has shape [2, 6, 4], expected [4] for [2, 6, 4] on @",
        );
        says(
            scalar.layer_norm(None, None, 1e-5),
            device,
            "layer_norm: [] has rank 0, expected at least 1 on @",
        );
        says(
            x.group_norm(4, None, None, 1e-5),
            device,
            "group_norm: 4 groups do not divide the 6 channels of [2, 6, 4] on @",
        );
        says(
            x.group_norm(0, None, None, 1e-5),
            device,
            "group_norm: 0 groups do not divide the 6 channels of [2, 6, 4] on @",
        );
        says(
            six.group_norm(1, None, None, 1e-5),
            device,
            "group_norm: [6] has rank 1, expected at least 2 on @",
        );
        says(
            x.batch_norm(&six, &short, None, None, 1e-5),
            device,
            "batch_norm: the running_var has shape [3], expected [6] for [2, 6, 4] on @",
        );
        let half = six.to_dtype(DType::F16)?;
        says(
            x.group_norm(2, &half, None, 1e-5),
            device,
            "group_norm: dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        Ok(())
    });
}

/// The other lengths of an empty tensor may be such that their product does not fit.
#[test]
fn softmax_of_empty_tensors_with_great_lengths() {
    on_devices(|device| {
        let nothing = Tensor::zeros([0, 1 << 40, 1 << 40], DType::F32, device)?;
        for axis in 0..3usize {
            assert_eq!(nothing.softmax(axis)?.dims(), [0, 1 << 40, 1 << 40]);
            assert_eq!(nothing.log_softmax(axis)?.dims(), [0, 1 << 40, 1 << 40]);
        }
        Ok(())
    });
}
