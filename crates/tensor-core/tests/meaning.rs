//! The sentences of the operations' meaning, one test each, on every device.

mod common;

use common::{FLOATS, INTS, bits, on_devices, tensor, values, vector};
use tensor_core::{
    BinaryOp, CmpOp, DType, Device, Element, ErrorKind, F8E4M3, ReduceOp, Result, Tensor, bf16, f16,
};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// Whether two lists of floats are equal, −0 apart from +0 and NaN equal to NaN.
#[track_caller]
fn same(got: &Tensor, expected: &[f64]) -> Result<()> {
    let got_values = values(got)?;
    let key = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let equal = got_values.iter().map(key).eq(expected.iter().map(key));
    assert!(equal, "got {got_values:?}, expected {expected:?} ({} on {})", got.dtype(), got.device());
    Ok(())
}

#[test]
fn arithmetic_of_small_floats_rounds_once_from_f32() {
    on_devices(|device| {
        // 1 + 2^-11 is a tie of f16 (11 bits) and goes to even; in f32 it is exact, so 1 + 2^-11 + 2^-12 is not a tie.
        let one = Tensor::full(1.0, 1, DType::F16, device)?;
        let tie = Tensor::full(2f64.powi(-11), 1, DType::F16, device)?;
        same(&one.add(&tie)?, &[1.0])?;
        same(&one.affine(1.0, 2f64.powi(-11) + 2f64.powi(-12))?, &[1.0 + 2f64.powi(-10)])?;
        // 13² = 169 lies between 160 and 176, above the middle.
        let x = Tensor::full(13, 1, DType::F8E4M3, device)?;
        same(&x.sqr()?, &[176.0])
    });
}

#[test]
fn every_f16_and_bf16_sum_is_the_correctly_rounded_one() {
    on_devices(|device| {
        // All patterns of one operand against a few of the other; half's own addition goes through f32 as well, so the exact sum is
        // taken in f64, which holds it, and rounded by hand.
        let all: Vec<u16> = (0..=u16::MAX).collect();
        let halves: Vec<f16> = all.iter().map(|&b| f16::from_bits(b)).collect();
        let x = vector(&halves, device)?;
        for other in [1.0, -0.333, 6e-8, 2047.0, -65504.0] {
            let b = f16::from_f64(other);
            let got: Vec<f16> = x.add(&Tensor::full(b, 1, DType::F16, device)?)?.to_vec()?;
            for (a, got) in halves.iter().zip(got) {
                let exact = a.to_f64() + b.to_f64();
                let expected = f16::from_scalar(exact.into());
                assert!(
                    got == expected || got.is_nan() && expected.is_nan(),
                    "{a} + {b} = {got}, expected {expected}"
                );
            }
        }
        Ok(())
    });
}

#[test]
fn f8_saturates_and_keeps_nan() {
    on_devices(|device| {
        let x = tensor([440.0, -440.0, NAN, 1.0], DType::F8E4M3, device)?;
        same(&x.add(&x)?, &[448.0, -448.0, NAN, 2.0])?;
        same(&x.exp()?, &[448.0, 0.0, NAN, 2.75])?;
        let wide = tensor([1e30, -INF, NAN, 465.0], DType::F32, device)?;
        same(&wide.to_dtype(DType::F8E4M3)?, &[448.0, -448.0, NAN, 448.0])
    });
}

#[test]
fn affine_is_one_fused_multiply_add() {
    on_devices(|device| {
        // (1 + 2^-12)² − 1 needs 25 bits before the subtraction: two roundings lose the last term.
        let x = 1.0 + 2f32.powi(-12);
        let t = Tensor::full(x, 3, DType::F32, device)?;
        assert_eq!(t.affine(x, -1.0)?.to_vec::<f32>()?, [2f32.powi(-11) + 2f32.powi(-24); 3]);
        assert_ne!(x * x - 1.0, 2f32.powi(-11) + 2f32.powi(-24));
        let x = 1.0 + 2f64.powi(-27);
        let t = Tensor::full(x, 3, DType::F64, device)?;
        assert_eq!(t.affine(x, -1.0)?.to_vec::<f64>()?, [2f64.powi(-26) + 2f64.powi(-54); 3]);
        Ok(())
    });
}

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
fn sums_are_pairwise() {
    on_devices(|device| {
        let count = 1 << 25;
        let ones = Tensor::ones(count, DType::F32, device)?;
        assert_eq!(ones.sum_all()?.to_vec0::<f32>()?, 33_554_432.0);
        // The same down the columns of a tall matrix, and over both axes.
        let tall = ones.reshape([count / 2, 2])?;
        assert_eq!(tall.sum(0)?.to_vec::<f32>()?, [16_777_216.0; 2]);
        assert_eq!(tall.sum([0, 1])?.to_vec0::<f32>()?, 33_554_432.0);
        assert_eq!(tall.t()?.sum(1)?.to_vec::<f32>()?, [16_777_216.0; 2]);
        assert_eq!(ones.mean_all()?.to_vec0::<f32>()?, 1.0);
        Ok(())
    });
}

#[test]
fn small_floats_accumulate_in_f32() {
    on_devices(|device| {
        // 4096 ones stop at 2048 in f16, at 256 in bf16 and at 16 in f8 if they accumulate in their own type.
        for (dtype, count, expected) in
            [(DType::F16, 4096, 4096.0), (DType::BF16, 4096, 4096.0), (DType::F8E4M3, 384, 384.0)]
        {
            let ones = Tensor::ones(count, dtype, device)?;
            same(&ones.sum_all()?, &[expected])?;
            same(&ones.reshape([count, 1])?.sum(0)?, &[expected])?;
            same(&ones.reshape([count / 4, 4])?.sum(0)?, &[count as f64 / 4.0; 4])?;
        }
        // The mean is rounded once: the sum of 100000 would be infinite in f16.
        let x = Tensor::full(1000, 100, DType::F16, device)?;
        same(&x.mean_all()?, &[1000.0])
    });
}

#[test]
fn nan_wins_and_minus_zero_is_less() {
    on_devices(|device| {
        for dtype in FLOATS {
            let a = tensor([NAN, 1.0, -0.0, 0.0, NAN, -1.0], dtype, device)?;
            let b = tensor([1.0, NAN, 0.0, -0.0, NAN, -2.0], dtype, device)?;
            same(&a.maximum(&b)?, &[NAN, NAN, 0.0, 0.0, NAN, -1.0])?;
            same(&a.minimum(&b)?, &[NAN, NAN, -0.0, -0.0, NAN, -2.0])?;
            same(&a.relu()?, &[NAN, 1.0, 0.0, 0.0, NAN, 0.0])?;
            same(&a.clamp(-0.5, 0.5)?, &[NAN, 0.5, -0.0, 0.0, NAN, -0.5])?;
            same(&a.clamp(0.0, 2.0)?, &[NAN, 1.0, 0.0, 0.0, NAN, 0.0])?;
            same(&a.clamp(NAN, 2.0)?, &[NAN; 6])?;
            same(&a.clamp(2.0, 1.0)?, &[NAN, 1.0, 1.0, 1.0, NAN, 1.0])?;
            let rows = tensor([[1.0, NAN, 3.0], [-0.0, 0.0, -0.0], [2.0, 7.0, 7.0]], dtype, device)?;
            for (rows, axis) in [(rows.clone(), 1), (rows.t()?.contiguous()?, 0)] {
                same(&rows.max(axis)?, &[NAN, 0.0, 7.0])?;
                same(&rows.min(axis)?, &[NAN, -0.0, 2.0])?;
                assert_eq!(rows.argmax(axis)?.to_vec::<u32>()?, [1, 1, 1]);
                assert_eq!(rows.argmin(axis)?.to_vec::<u32>()?, [1, 0, 0]);
            }
        }
        Ok(())
    });
}

#[test]
fn ties_take_the_first_index() {
    on_devices(|device| {
        for dtype in DType::ALL {
            // Long enough that many threads, blocks and lanes take part, in both shapes of reduction.
            let length = 5000;
            let mut elements = vec![1i64; length];
            for i in [4321, 1234, 777, 4999] {
                elements[i] = 2;
            }
            let x = tensor(elements.clone(), dtype, device)?;
            assert_eq!(x.argmax(0)?.to_vec0::<u32>()?, 777, "{dtype}");
            assert_eq!(x.argmin(0)?.to_vec0::<u32>()?, 0, "{dtype}");
            let columns = x.reshape([length, 1])?.expand([length, 3])?.contiguous()?;
            assert_eq!(columns.argmax(0)?.to_vec::<u32>()?, [777; 3], "{dtype}");
            // Over two axes the position is the row-major one, however the elements lie.
            let matrix = x.reshape([50, 100])?;
            assert_eq!(matrix.argmax([0, 1])?.to_vec0::<u32>()?, 777);
            let transposed = matrix.t()?.contiguous()?.t()?;
            assert_eq!(transposed.argmax_all()?.to_vec0::<u32>()?, 777);
        }
        let nans = tensor([1.0, NAN, 9.0, NAN], DType::F32, device)?;
        assert_eq!((nans.argmax(0)?.to_vec0::<u32>()?, nans.argmin(0)?.to_vec0::<u32>()?), (1, 1));
        Ok(())
    });
}

#[test]
fn round_is_half_away_from_zero() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([0.5, -0.5, 1.5, 2.5, -2.5, 0.25, -0.25, -0.0, INF, NAN], dtype, device)?;
            let inf = if dtype == DType::F8E4M3 { 448.0 } else { INF };
            same(&x.round()?, &[1.0, -1.0, 2.0, 3.0, -3.0, 0.0, -0.0, -0.0, inf, NAN])?;
            same(&x.floor()?, &[0.0, -1.0, 1.0, 2.0, -3.0, 0.0, -1.0, -0.0, inf, NAN])?;
            same(&x.ceil()?, &[1.0, -0.0, 2.0, 3.0, -2.0, 1.0, -0.0, -0.0, inf, NAN])?;
        }
        // The largest f32 below a half does not become 1, as floor(x + 0.5) would make it.
        let below = 0.5f32.next_down();
        assert_eq!(vector(&[below, -below], device)?.round()?.to_vec::<f32>()?, [0.0, -0.0]);
        Ok(())
    });
}

#[test]
fn rem_has_the_sign_of_the_dividend() {
    on_devices(|device| {
        for dtype in FLOATS {
            let a = tensor([5.5, -5.5, 5.5, -5.5, 4.0, -4.0, 1.0, 3.0], dtype, device)?;
            let b = tensor([2.0, 2.0, -2.0, -2.0, 2.0, 2.0, 0.0, 8.0], dtype, device)?;
            same(&a.rem(&b)?, &[1.5, -1.5, 1.5, -1.5, 0.0, -0.0, NAN, 3.0])?;
        }
        for dtype in [DType::I16, DType::I32, DType::I64] {
            let a = tensor([7i64, -7, 7, -7], dtype, device)?;
            let b = tensor([3i64, 3, -3, -3], dtype, device)?;
            same(&a.rem(&b)?, &[1.0, -1.0, 1.0, -1.0])?;
            same(&a.div(&b)?, &[2.0, -2.0, -2.0, 2.0])?;
        }
        Ok(())
    });
}

#[test]
fn powf_follows_c() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let x = tensor([0.0, NAN, -1.0, INF, -2.0, 4.0], dtype, device)?;
            same(&x.powf(0.0)?, &[1.0; 6])?;
            same(&x.powf(0.5)?, &[0.0, NAN, NAN, INF, NAN, 2.0])?;
            same(&x.powf(-1.0)?, &[INF, NAN, -1.0, 0.0, -0.5, 0.25])?;
            same(&x.powf(3.0)?, &[0.0, NAN, -1.0, INF, -8.0, 64.0])?;
            let one = tensor([1.0; 6], dtype, device)?;
            same(&one.pow(&x)?, &[1.0; 6])?;
            same(
                &Tensor::full(-1.0, 1, dtype, device)?.pow(&tensor([INF, -INF], dtype, device)?)?,
                &[1.0, 1.0],
            )?;
        }
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
fn empty_tensors_work_or_say_why_not() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let empty = Tensor::zeros([2, 0, 3], dtype, device)?;
            same(&empty.sum(1)?, &[0.0; 6])?;
            same(&empty.prod(1)?, &[1.0; 6])?;
            same(&empty.sum_all()?, &[0.0])?;
            assert_eq!(empty.sum(0)?.dims(), [0, 3]);
            assert_eq!(empty.max(2)?.dims(), [2, 0]);
            assert_eq!(empty.argmin(0)?.dims(), [0, 3]);
            for op in [ReduceOp::Min, ReduceOp::Max, ReduceOp::ArgMin, ReduceOp::ArgMax] {
                let error = empty.reduce(op, 1, false).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::EmptyReduction { .. }));
                let expected = format!(
                    "{op}: nothing to reduce: [2, 0, 3] is empty along axes [1], and the operation has no value for no elements on {device}"
                );
                assert_eq!(error.to_string(), expected);
            }
            for op in BinaryOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                assert_eq!(empty.binary(&Tensor::ones([1, 3], dtype, device)?, op)?.dims(), [2, 0, 3]);
            }
            for op in CmpOp::ALL {
                assert_eq!(empty.compare(&empty, op)?.dims(), [2, 0, 3]);
            }
            for op in tensor_core::UnaryOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                assert_eq!(empty.unary(op)?.elements(), 0);
            }
            assert_eq!(empty.affine(2, 1)?.clamp(0, 1)?.dims(), [2, 0, 3]);
            assert_eq!(empty.permute([2, 0, 1])?.contiguous()?.dims(), [3, 2, 0]);
            assert_eq!(empty.reshape([0, 7])?.to_bytes()?.len(), 0);
            let planes = empty.to_dtype(DType::F32)?.to_vec3::<f32>()?;
            assert!(planes.len() == 2 && planes.iter().all(Vec::is_empty));
            let mut writable = empty.clone();
            writable.fill_(3)?;
            writable.add_assign_(&empty)?;
        }
        let nothing = Tensor::zeros([2, 0], DType::F32, device)?;
        assert!(nothing.mean(1)?.to_vec::<f32>()?.iter().all(|x| x.is_nan()));
        assert_eq!(
            nothing.matmul(&Tensor::zeros([0, 3], DType::F32, device)?)?.to_vec2::<f32>()?,
            [[0.0; 3]; 2]
        );
        assert_eq!(nothing.t()?.matmul(&Tensor::zeros([2, 3], DType::F32, device)?)?.dims(), [0, 3]);
        Ok(())
    });
}

#[test]
fn views_are_values() {
    on_devices(|device| {
        let base = Tensor::arange(0f32, 6.0, device)?.reshape([2, 3])?;
        let mut row = base.get(1)?;
        row.affine_(0, 9)?;
        assert_eq!(row.to_vec::<f32>()?, [9.0; 3]);
        assert_eq!(base.to_vec::<f32>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        let mut spread = vector(&[1f32, 2.0], device)?.unsqueeze(1)?.expand([2, 3])?;
        spread.add_assign_(&base)?;
        assert_eq!(spread.to_vec::<f32>()?, [1.0, 2.0, 3.0, 5.0, 6.0, 7.0]);
        Ok(())
    });
}

#[test]
fn comparisons_follow_ieee() {
    on_devices(|device| {
        for dtype in FLOATS {
            let a = tensor([1.0, NAN, -0.0, 2.0, NAN], dtype, device)?;
            let b = tensor([1.0, 1.0, 0.0, 3.0, NAN], dtype, device)?;
            let compare = |op| a.compare(&b, op)?.to_vec::<u8>();
            assert_eq!(compare(CmpOp::Eq)?, [1, 0, 1, 0, 0]);
            assert_eq!(compare(CmpOp::Ne)?, [0, 1, 0, 1, 1]);
            assert_eq!(compare(CmpOp::Lt)?, [0, 0, 0, 1, 0]);
            assert_eq!(compare(CmpOp::Le)?, [1, 0, 1, 1, 0]);
            assert_eq!(compare(CmpOp::Gt)?, [0, 0, 0, 0, 0]);
            assert_eq!(compare(CmpOp::Ge)?, [1, 0, 1, 0, 0]);
        }
        let big = vector(&[u32::MAX, 1], device)?;
        assert_eq!(big.gt(&Tensor::ones(2, DType::U32, device)?)?.to_vec::<u8>()?, [1, 0]);
        Ok(())
    });
}

#[test]
fn signs_of_zero_and_nan() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([-0.0, 0.0, NAN, -3.0, 3.0], dtype, device)?;
            same(&x.sign()?, &[0.0, 0.0, 0.0, -1.0, 1.0])?;
            same(&x.neg()?, &[0.0, -0.0, NAN, 3.0, -3.0])?;
            same(&x.abs()?, &[0.0, 0.0, NAN, 3.0, 3.0])?;
        }
        Ok(())
    });
}

#[test]
fn activations_do_not_cancel_or_overflow() {
    on_devices(|device| {
        let x = tensor([-100.0, -20.0, -10.0, 0.0, 20.0, 100.0], DType::F32, device)?;
        // (value, relative tolerance 2e-6): from 60-digit arithmetic.
        let close = |got: Tensor, expected: [f64; 6]| -> Result<()> {
            for (got, expected) in values(&got)?.into_iter().zip(expected) {
                assert!(
                    (got - expected).abs() <= 2e-6 * expected.abs() + 3e-45,
                    "{got:e}, expected {expected:e}"
                );
            }
            Ok(())
        };
        close(
            x.sigmoid()?,
            [3.720075976020836e-44, 2.061153618190e-9, 4.539786870243e-5, 0.5, 0.9999999979388, 1.0],
        )?;
        close(
            x.silu()?,
            [-3.720075976020836e-42, -4.122307236380e-8, -4.539786870243e-4, 0.0, 19.99999995877, 100.0],
        )?;
        close(
            x.softplus()?,
            [
                3.720075976020836e-44,
                2.061153620314e-9,
                4.539889921687e-5,
                std::f64::consts::LN_2,
                20.0000000021,
                100.0,
            ],
        )?;
        close(x.gelu_erf()?, [0.0, 0.0, -7.619853024160527e-23, 0.0, 20.0, 100.0])?;
        close(x.elu(1.0)?, [-1.0, -0.99999999793884, -0.99995460007, 0.0, 20.0, 100.0])?;
        // Small arguments: 1 − e^x would lose them.
        let small = tensor([-1e-6], DType::F32, device)?;
        let got = values(&small.elu(1.0)?)?[0];
        assert!((got - -9.999995e-7).abs() < 1e-13, "{got:e}");
        Ok(())
    });
}

#[test]
fn more_than_four_billion_elements_have_64_bit_counts() {
    // On the CPU only, and without touching the memory: views of a few bytes stretched to more than 2^32 elements.
    let x = Tensor::new([3u8, 5], &Device::Cpu).unwrap();
    let huge = x.unsqueeze(0).unwrap().expand([1 << 32, 2]).unwrap();
    assert_eq!(huge.elements(), 1 << 33);
    let last = huge.narrow(0, (1 << 32) - 1, 1).unwrap();
    assert_eq!(last.to_vec::<u8>().unwrap(), [3, 5]);
    assert_eq!(huge.get((1 << 32) - 1).unwrap().to_vec::<u8>().unwrap(), [3, 5]);
}

#[test]
fn strided_results_are_the_contiguous_ones_to_the_bit() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let count = 4 * 5 * 6;
            let a = Tensor::arange(-60i64, 60, device)?.affine(if dtype.is_int() { 1 } else { 2 }, 1)?;
            let a = a.to_dtype(dtype)?.reshape([4, 5, 6])?;
            let b = Tensor::arange(0i64, count, device)?.to_dtype(dtype)?.reshape([4, 5, 6])?;
            for (name, strided) in common::layouts(&a)? {
                for op in tensor_core::UnaryOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                    assert_eq!(bits(&strided.unary(op)?)?, bits(&a.unary(op)?)?, "{op} {dtype} {name}");
                }
                for op in BinaryOp::ALL.into_iter().filter(|op| op.supports(dtype)) {
                    let expected = bits(&a.binary(&b, op)?)?;
                    assert_eq!(bits(&strided.binary(&b, op)?)?, expected, "{op} {dtype} {name}");
                    let mut inplace = strided.clone();
                    inplace.binary_assign_(&b, op)?;
                    assert_eq!(bits(&inplace)?, expected, "{op} in place {dtype} {name}");
                }
                for op in CmpOp::ALL {
                    assert_eq!(
                        bits(&strided.compare(&b, op)?)?,
                        bits(&a.compare(&b, op)?)?,
                        "{op} {dtype} {name}"
                    );
                }
                for op in [ReduceOp::Min, ReduceOp::Max, ReduceOp::ArgMin, ReduceOp::ArgMax] {
                    for axes in [vec![0], vec![1], vec![2], vec![0, 2], vec![0, 1, 2], vec![]] {
                        let got = strided.reduce(op, &axes, false)?;
                        assert_eq!(
                            bits(&got)?,
                            bits(&a.reduce(op, &axes, false)?)?,
                            "{op} {axes:?} {dtype} {name}"
                        );
                    }
                }
                assert_eq!(bits(&strided.affine(3, 1)?)?, bits(&a.affine(3, 1)?)?);
                assert_eq!(bits(&strided.clamp(2, 9)?)?, bits(&a.clamp(2, 9)?)?);
                for to in DType::ALL {
                    assert_eq!(
                        bits(&strided.to_dtype(to)?)?,
                        bits(&a.to_dtype(to)?)?,
                        "{dtype} to {to} {name}"
                    );
                }
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
