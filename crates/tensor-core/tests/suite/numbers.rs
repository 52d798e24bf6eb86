//! Integers and conversions: the sentences of the operations' meaning about them, one test each, on every device.

use crate::common::{INTS, on_devices, same, tensor, vector};
use tensor_core::{DType, Device, Element, F8E4M3, Result, Tensor, bf16};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

#[test]
fn scalars_are_rounded_to_the_dtype_first() {
    on_devices(|device| {
        // 0.1 in bf16 is 0.10009765625; 10 of it is 1.0009765625, which rounds to 1.
        let ten = Tensor::full(10, 1, DType::BF16, device)?;
        same(&ten.affine(0.1, 0)?, &[1.0])?;
        // In f16 2049 is 2048, so 0·x + 2049 is 2048.
        same(&Tensor::zeros(1, DType::F16, device)?.affine(1, 2049)?, &[2048.0])?;
        // For integers a float scalar is truncated before the product: 3.9 becomes 3.
        same(&Tensor::full(10, 1, DType::I32, device)?.affine(3.9, -0.9)?, &[30.0])?;
        // i64 scalars make no detour through f64.
        let big = (1i64 << 53) + 1;
        assert_eq!(Tensor::zeros(1, DType::I64, device)?.affine(1, big)?.to_vec::<i64>()?, [big]);
        assert_eq!(Tensor::full(big, 1, DType::I64, device)?.to_vec::<i64>()?, [big]);
        Ok(())
    });
}

#[test]
fn integers_wrap() {
    on_devices(|device| {
        fn check<T: Element>(least: T, greatest: T, both: T, device: &Device) -> Result<()> {
            let x = vector(&[least, greatest], device)?;
            let one = Tensor::ones(1, T::DTYPE, device)?;
            assert_eq!(x.add(&one)?.to_vec::<T>()?[1], least, "{}", T::DTYPE);
            assert_eq!(x.sub(&one)?.to_vec::<T>()?[0], greatest, "{}", T::DTYPE);
            assert_eq!(x.affine(1, 1)?.to_vec::<T>()?[1], least, "{}", T::DTYPE);
            assert_eq!(x.mul(&x)?.to_vec::<T>()?, x.sqr()?.to_vec::<T>()?);
            // MAX² is (2^n − 1)² or (2^(n−1) − 1)², which is 1 modulo 2^n either way.
            assert_eq!(x.sqr()?.to_vec::<T>()?[1], T::from_scalar(1.into()), "{}", T::DTYPE);
            assert_eq!(x.sum(0)?.to_vec0::<T>()?, both, "{}", T::DTYPE);
            Ok(())
        }
        check(u8::MIN, u8::MAX, u8::MAX, device)?;
        check(u32::MIN, u32::MAX, u32::MAX, device)?;
        check(i16::MIN, i16::MAX, -1, device)?;
        check(i32::MIN, i32::MAX, -1, device)?;
        check(i64::MIN, i64::MAX, -1, device)?;
        assert_eq!(vector(&[u8::MAX; 3], device)?.sum(0)?.to_vec0::<u8>()?, 253);
        let least = vector(&[i16::MIN, -3, 3], device)?;
        assert_eq!(least.abs()?.to_vec::<i16>()?, [i16::MIN, 3, 3]);
        assert_eq!(least.neg()?.to_vec::<i16>()?, [i16::MIN, 3, -3]);
        assert_eq!(least.sign()?.to_vec::<i16>()?, [-1, -1, 1]);
        assert_eq!(least.relu()?.to_vec::<i16>()?, [0, 0, 3]);
        assert_eq!(vector(&[0u8, 1, 255], device)?.neg()?.to_vec::<u8>()?, [0, 255, 1]);
        assert_eq!(vector(&[0u32, 1, 255], device)?.sign()?.to_vec::<u32>()?, [0, 1, 1]);
        // 2^20 of 2^12 is 2^32: 0 modulo 2^32; the product of 33 twos likewise.
        assert_eq!(Tensor::full(4096, 1 << 20, DType::I32, device)?.sum_all()?.to_vec0::<i32>()?, 0);
        assert_eq!(Tensor::full(2, 33, DType::U32, device)?.prod_all()?.to_vec0::<u32>()?, 0);
        assert_eq!(Tensor::full(2, 31, DType::I32, device)?.prod_all()?.to_vec0::<i32>()?, i32::MIN);
        Ok(())
    });
}

#[test]
fn integer_division_by_zero_is_zero() {
    on_devices(|device| {
        for dtype in INTS {
            let x = tensor([7i64, 0, 100], dtype, device)?;
            let zero = Tensor::zeros(3, dtype, device)?;
            same(&x.div(&zero)?, &[0.0; 3])?;
            same(&x.rem(&zero)?, &[0.0; 3])?;
        }
        let minus_one = vector(&[-1i32], device)?;
        assert_eq!(vector(&[i32::MIN], device)?.div(&minus_one)?.to_vec::<i32>()?, [i32::MIN]);
        assert_eq!(vector(&[i32::MIN], device)?.rem(&minus_one)?.to_vec::<i32>()?, [0]);
        let minus_one = vector(&[-1i64], device)?;
        assert_eq!(vector(&[i64::MIN], device)?.div(&minus_one)?.to_vec::<i64>()?, [i64::MIN]);
        assert_eq!(vector(&[i64::MIN], device)?.rem(&minus_one)?.to_vec::<i64>()?, [0]);
        let minus_one = vector(&[-1i16], device)?;
        assert_eq!(vector(&[i16::MIN], device)?.div(&minus_one)?.to_vec::<i16>()?, [i16::MIN]);
        Ok(())
    });
}

#[test]
fn means_of_integers_are_an_error_that_names_the_cast() {
    on_devices(|device| {
        for dtype in INTS {
            let error = Tensor::ones([2, 3], dtype, device)?.mean(0).unwrap_err();
            let expected = format!(
                "mean: {dtype} is not supported (shape [2, 3]) on {device}; the mean of integers needs a cast: to_dtype(DType::F32)"
            );
            assert_eq!(error.to_string(), expected);
        }
        Ok(())
    });
}

#[test]
fn floats_become_integers_by_truncation_and_saturate() {
    on_devices(|device| {
        let x = tensor([2.9, -2.9, 1e20, -1e20, NAN, INF, -INF, -0.9], DType::F32, device)?;
        assert_eq!(x.to_dtype(DType::U8)?.to_vec::<u8>()?, [2, 0, 255, 0, 0, 255, 0, 0]);
        assert_eq!(
            x.to_dtype(DType::I16)?.to_vec::<i16>()?,
            [2, -2, i16::MAX, i16::MIN, 0, i16::MAX, i16::MIN, 0]
        );
        assert_eq!(
            x.to_dtype(DType::I32)?.to_vec::<i32>()?,
            [2, -2, i32::MAX, i32::MIN, 0, i32::MAX, i32::MIN, 0]
        );
        assert_eq!(x.to_dtype(DType::U32)?.to_vec::<u32>()?, [2, 0, u32::MAX, 0, 0, u32::MAX, 0, 0]);
        assert_eq!(
            x.to_dtype(DType::I64)?.to_vec::<i64>()?,
            [2, -2, i64::MAX, i64::MIN, 0, i64::MAX, i64::MIN, 0]
        );
        let f8 = tensor([-448.0, 300.0, NAN], DType::F8E4M3, device)?;
        assert_eq!(f8.to_dtype(DType::U8)?.to_vec::<u8>()?, [0, 255, 0]);
        // Integers wrap into narrower ones.
        let ints = vector(&[300i32, -1, 65536, i32::MIN], device)?;
        assert_eq!(ints.to_dtype(DType::U8)?.to_vec::<u8>()?, [44, 255, 0, 0]);
        assert_eq!(ints.to_dtype(DType::I64)?.to_vec::<i64>()?, [300, -1, 65536, i32::MIN.into()]);
        assert_eq!(ints.to_dtype(DType::U32)?.to_vec::<u32>()?, [300, u32::MAX, 65536, 1 << 31]);
        Ok(())
    });
}

#[test]
fn conversions_round_once() {
    on_devices(|device| {
        // Just above a tie of f16; through f32 it would become the tie and go to even.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        same(&vector(&[x], device)?.to_dtype(DType::F16)?, &[1.0 + 2f64.powi(-10)])?;
        let x = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        same(&vector(&[x], device)?.to_dtype(DType::BF16)?, &[1.0 + 2f64.powi(-7)])?;
        let x = 1.0 + 2f64.powi(-4) + 2f64.powi(-40);
        same(&vector(&[x], device)?.to_dtype(DType::F8E4M3)?, &[1.125])?;
        let x = (1i64 << 40) + (1 << 32) + 1;
        same(&vector(&[x], device)?.to_dtype(DType::BF16)?, &[((1i64 << 40) + (1 << 33)) as f64])?;
        let x = (1i64 << 53) + 1;
        same(&vector(&[x, -x], device)?.to_dtype(DType::F32)?, &[2f64.powi(53), -(2f64.powi(53))])?;
        // bf16 and f16 meet without loss beyond their own rounding.
        let b = vector(&[bf16::MAX, bf16::from_f32(1.0078125)], device)?;
        same(&b.to_dtype(DType::F16)?, &[INF, 1.0078125])
    });
}

#[test]
fn casts_between_all_dtypes_keep_small_integers() {
    on_devices(|device| {
        for from in DType::ALL {
            for to in DType::ALL {
                let x = tensor([0i64, 1, 2, 7, 16], from, device)?.to_dtype(to)?;
                assert_eq!(x.dtype(), to);
                same(&x, &[0.0, 1.0, 2.0, 7.0, 16.0])?;
            }
        }
        Ok(())
    });
}

#[test]
fn values_of_every_dtype_survive_a_round_trip() {
    on_devices(|device| {
        let patterns: Vec<u8> = (0..=255).collect();
        for dtype in DType::ALL {
            let size = dtype.size_in_bytes();
            let x = Tensor::from_bytes(&patterns, dtype, 256 / size, device)?;
            assert_eq!(x.to_bytes()?, patterns, "{dtype}");
            assert_eq!(x.copy()?.to_bytes()?, patterns, "{dtype}");
        }
        assert_eq!(vector(&[F8E4M3::MAX], device)?.to_vec::<F8E4M3>()?[0].to_bits(), 0x7e);
        Ok(())
    });
}
