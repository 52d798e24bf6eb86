//! Statistics against values worked out by hand.

use crate::common::{FLOATS, layouts, on_devices, same, tensor, values, vector};
use tensor_core::{DType, Tensor};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

#[test]
fn variance_and_deviation() {
    on_devices(|device| {
        for dtype in FLOATS {
            // Row means 5 and 2: distances −4 0 4 and 0 0 0.
            let x = tensor([[1.0, 5.0, 9.0], [2.0, 2.0, 2.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.var(1)?, &[16.0, 0.0])?;
                same(&x.std(1)?, &[4.0, 0.0])?;
                // Columns 1 2, 5 2, 9 2: half the squared difference.
                same(&x.var(0)?, &[0.5, 4.5, if dtype == DType::F8E4M3 { 24.0 } else { 24.5 }])?;
            }
            assert_eq!(x.var_keepdim(0)?.dims(), [1, 3]);
            assert_eq!(x.std_keepdim(-1)?.dims(), [2, 1]);
            same(&tensor([1.0, 5.0, 9.0], dtype, device)?.var_all()?, &[16.0])?;
            same(&tensor([1.0], dtype, device)?.var(0)?, &[NAN])?;
            same(&Tensor::zeros([2, 0], dtype, device)?.std(1)?, &[NAN, NAN])?;
            assert_eq!(Tensor::zeros([0, 2], dtype, device)?.var(1)?.dims(), [0]);
        }
        // A large mean: Σx² − n·mean² would keep nothing of it. 2^24 and its neighbours, which are two apart from there on.
        let x = vector(&[16_777_216f32, 16_777_218.0, 16_777_220.0], device)?;
        same(&x.var_all()?, &[4.0])?;
        same(&vector(&[1.0f32, f32::INFINITY], device)?.var_all()?, &[NAN])?;
        same(&vector(&[3e30f32, -3e30], device)?.var_all()?, &[INF])?;
        // Long rows and columns of −1 and 1: n/(n−1).
        let x = Tensor::arange(0i32, 20_000, device)?.to_dtype(DType::F64)?;
        let signs = (&(&x % 2.0)? * 2.0)?.affine(1.0, -1.0)?;
        same(&signs.var_all()?, &[20_000.0 / 19_999.0])?;
        same(&signs.reshape([10_000, 2])?.var(0)?, &[0.0, 0.0])?;
        same(&signs.reshape([2, 10_000])?.var(1)?, &[10_000.0 / 9_999.0; 2])?;
        same(&signs.reshape([2, 10_000])?.t()?.var(0)?, &[10_000.0 / 9_999.0; 2])
    });
}

#[test]
fn deviations_do_not_overflow() {
    on_devices(|device| {
        // Squares beyond the largest number of the dtype: √((10²⁰)² + (10²⁰)²).
        for (dtype, tolerance) in [(DType::F32, 1e-6), (DType::BF16, 0.01)] {
            let deviation = values(&tensor([1e20, -1e20], dtype, device)?.std_all()?)?[0];
            let expected = std::f64::consts::SQRT_2 * 1e20;
            assert!((deviation / expected - 1.0).abs() < tolerance, "{dtype} {deviation} on {device}");
        }
        // And below the least: 2⁻⁹⁰ · √2.
        let small = 2f64.powi(-90);
        let deviation = values(&tensor([small, -small], DType::F32, device)?.std_all()?)?[0];
        let expected = std::f64::consts::SQRT_2 * small;
        assert!((deviation / expected - 1.0).abs() < 1e-6, "{deviation} on {device}");
        Ok(())
    });
}

#[test]
fn norms_neither_overflow_nor_vanish() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([[3.0, -4.0], [0.0, -0.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.norm(1)?, &[5.0, 0.0])?;
                same(&x.norm(0)?, &[3.0, 4.0])?;
                same(&x.norm_all()?, &[5.0])?;
            }
            assert_eq!(x.norm_keepdim(1)?.dims(), [2, 1]);
            same(&Tensor::zeros([2, 0], dtype, device)?.norm(1)?, &[0.0, 0.0])?;
        }
        // Squares beyond the largest and below the least numbers of the dtype. The last one is a subnormal.
        let smallest = 2f64.powi(-600) * 2f64.powi(-470);
        for (dtype, scale) in [
            (DType::BF16, 2f64.powi(120)),
            (DType::F32, 2f64.powi(120)),
            (DType::F32, 2f64.powi(-140)),
            (DType::F64, 2f64.powi(1000)),
            (DType::F64, smallest),
        ] {
            same(&tensor([3.0 * scale, 4.0 * scale], dtype, device)?.norm_all()?, &[5.0 * scale])?;
        }
        same(&vector(&[1.0, f64::NEG_INFINITY], device)?.norm_all()?, &[INF])?;
        same(&vector(&[f64::NAN, f64::NEG_INFINITY], device)?.norm_all()?, &[NAN])?;
        // 2^20 ones, in rows and columns.
        let ones = Tensor::ones([1024, 1024], DType::F32, device)?;
        same(&ones.norm_all()?, &[1024.0])?;
        assert_eq!(values(&ones.norm(0)?)?, [32.0; 1024]);
        assert_eq!(values(&ones.norm(1)?)?, [32.0; 1024]);
        Ok(())
    });
}

#[test]
fn log_sum_exp_is_shifted() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([[200.0, 0.0], [-400.0, 0.0]], dtype, device)?;
            // f8e4m3 has 192 and 208 around 200: a tie, which goes to the even one.
            let first = values(&x)?[0];
            for (_, x) in layouts(&x)? {
                same(&x.log_sum_exp(1)?, &[first, 0.0])?;
            }
            assert_eq!(x.log_sum_exp_keepdim(0)?.dims(), [1, 2]);
        }
        same(&vector(&[0f64, 0.0], device)?.log_sum_exp_all()?, &[std::f64::consts::LN_2])?;
        same(&vector(&[f32::MAX, -f32::MAX], device)?.log_sum_exp_all()?, &[f64::from(f32::MAX)])?;
        let x = tensor([[-INF, -INF], [-INF, INF], [2.0, -INF], [NAN, INF]], DType::F32, device)?;
        same(&x.log_sum_exp(1)?, &[-INF, INF, 2.0, NAN])?;
        same(&Tensor::zeros([2, 0], DType::F32, device)?.log_sum_exp(1)?, &[-INF, -INF])
    });
}

#[test]
fn truth() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[0.0, 0.0], [0.0, 2.0], [1.0, 3.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.any(1)?, &[0.0, 1.0, 1.0])?;
                same(&x.all(1)?, &[0.0, 0.0, 1.0])?;
                same(&x.any_all()?, &[1.0])?;
                same(&x.all_all()?, &[0.0])?;
            }
            assert_eq!(x.any(0)?.dtype(), DType::U8);
            assert_eq!(x.all_keepdim(0)?.dims(), [1, 2]);
            assert_eq!(x.any_keepdim([0, 1])?.dims(), [1, 1]);
            let nothing = Tensor::zeros([2, 0], dtype, device)?;
            same(&nothing.any(1)?, &[0.0, 0.0])?;
            same(&nothing.all(1)?, &[1.0, 1.0])?;
            assert_eq!(nothing.any(0)?.dims(), [0]);
        }
        same(&vector(&[-0f32, f32::NAN], device)?.any_all()?, &[1.0])?;
        same(&vector(&[-0f32, 0.0], device)?.any_all()?, &[0.0])
    });
}

#[test]
fn integers_are_named() {
    on_devices(|device| {
        let x = Tensor::ones([2, 3], DType::I32, device)?;
        let text = |result: tensor_core::Result<Tensor>| result.unwrap_err().to_string();
        let end = "i32 is not supported (shape [2, 3])";
        let remedy = "statistics of integers need a cast: to_dtype(DType::F32)";
        assert_eq!(text(x.var(0)), format!("var: {end} on {device}; {remedy}"));
        assert_eq!(text(x.log_sum_exp_all()), format!("log_sum_exp: {end} on {device}; {remedy}"));
        let x = x.to_dtype(DType::F32)?;
        assert_eq!(text(x.norm(2)), format!("norm: axis 2 is out of range for [2, 3] on {device}"));
        assert_eq!(text(x.any([0, 0])), format!("any: axis 0 is given twice for [2, 3] on {device}"));
        Ok(())
    });
}
