//! The sentences of the operations' meaning, one test each, on every device.

use crate::common::{FLOATS, bits, on_devices, same, tensor, values, vector};
use tensor_core::{BinaryOp, CmpOp, DType, Device, Element, ErrorKind, ReduceOp, Result, Tensor, bf16, f16};

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

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
fn every_sum_of_16_bit_floats_is_the_correctly_rounded_one() {
    /// All patterns against a few numbers. f64 holds the exact sum; `f32` has bits enough that rounding twice does no harm.
    fn check<T: Element + Into<f64>>(
        from_bits: fn(u16) -> T,
        others: [f64; 5],
        device: &Device,
    ) -> Result<()> {
        let all: Vec<T> = (0..=u16::MAX).map(from_bits).collect();
        let x = vector(&all, device)?;
        for other in others {
            let b = T::from_scalar(other.into());
            let got: Vec<T> = x.add(&vector(&[b], device)?)?.to_vec()?;
            for (a, got) in all.iter().zip(got) {
                let (a, b, got): (f64, f64, f64) = ((*a).into(), b.into(), got.into());
                let expected: f64 = T::from_scalar((a + b).into()).into();
                assert!(
                    got == expected || got.is_nan() && expected.is_nan(),
                    "{a} + {b} = {got}, not {expected}"
                );
            }
        }
        Ok(())
    }
    on_devices(|device| {
        check(f16::from_bits, [1.0, -0.333, 6e-8, 2047.0, -65504.0], device)?;
        check(bf16::from_bits, [1.0, -0.333, 1e-38, 255.0, -3e38], device)
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

/// HIP's kernels compute these four of small floats with few instructions; the CPU as those of `f32`.
#[test]
fn activations_of_small_floats_are_next_to_the_rounded_ones() {
    use tensor_core::UnaryOp::{Gelu, GeluErf, Sigmoid, Silu};
    // Neighbours differ by 1, and so do the least numbers of both signs from 0.
    fn ranks(tensor: &Tensor) -> Result<Vec<i64>> {
        let sign = 1u64 << (8 * tensor.dtype().size_in_bytes() - 1);
        let rank = |pattern: u64| match pattern {
            u64::MAX => i64::MAX,
            pattern if pattern & sign != 0 => -((pattern ^ sign) as i64),
            pattern => pattern as i64,
        };
        Ok(bits(tensor)?.into_iter().map(rank).collect())
    }
    on_devices(|device| {
        for dtype in [DType::F8E4M3, DType::BF16, DType::F16] {
            let size = dtype.size_in_bytes();
            let count = 1usize << (8 * size);
            let patterns: Vec<u8> =
                (0..count).flat_map(|pattern| pattern.to_le_bytes()[..size].to_vec()).collect();
            let x = Tensor::from_bytes(&patterns, dtype, count, device)?;
            for op in [Sigmoid, Gelu, GeluErf, Silu] {
                let got = ranks(&x.unary(op)?)?;
                let rounded = ranks(&x.to_dtype(DType::F32)?.unary(op)?.to_dtype(dtype)?)?;
                let others = got.iter().zip(&rounded).filter(|(got, rounded)| got != rounded);
                let far = others.clone().find(|(got, rounded)| got.abs_diff(**rounded) > 1);
                assert_eq!(far, None, "{op} of {dtype}");
                let most = if device.is_cpu() { 0 } else { count / 100 };
                assert!(others.count() <= most, "{op} of {dtype}");
            }
        }
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
            for (name, strided) in crate::common::layouts(&a)? {
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
