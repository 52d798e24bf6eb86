//! Running sums and products against values worked out by hand and against exact integers.

use crate::common::{FLOATS, layouts, on_devices, same, tensor, values, vector};
use tensor_core::{DType, Tensor};

#[test]
fn along_either_axis_in_every_layout() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[1, 2, 3], [4, 1, 2]], dtype, device)?;
            for (name, x) in layouts(&x)? {
                let what = format!("{dtype} {name}");
                assert_eq!(values(&x.cumsum(1)?)?, [1., 3., 6., 4., 5., 7.], "{what}");
                assert_eq!(values(&x.cumsum(-2)?)?, [1., 2., 3., 5., 3., 5.], "{what}");
                assert_eq!(values(&x.cumprod(-1)?)?, [1., 2., 6., 4., 4., 8.], "{what}");
                assert_eq!(values(&x.cumprod(0)?)?, [1., 2., 3., 4., 2., 6.], "{what}");
                assert_eq!((x.cumsum(0)?.dtype(), x.cumsum(0)?.dims()), (dtype, &[2, 3][..]));
            }
        }
        Ok(())
    });
}

#[test]
fn lengths_around_those_of_blocks_and_sections() {
    on_devices(|device| {
        for length in [1usize, 2, 31, 32, 33, 255, 256, 257, 1024, 1025, 8192, 8193, 16384, 40_001] {
            let terms = |i: usize| (i * i + 3 * i + i / 7) as i64 % 5 - 2;
            for lines in [1, 3] {
                let all: Vec<i64> = (0..lines * length).map(terms).collect();
                let sums: Vec<f64> = all
                    .chunks(length)
                    .flat_map(|line| {
                        line.iter().scan(0, |sum, x| {
                            *sum += x;
                            Some(*sum as f64)
                        })
                    })
                    .collect();
                for dtype in [DType::I32, DType::F32, DType::F64] {
                    let x = tensor(all.clone(), dtype, device)?.reshape([lines, length])?;
                    assert!(values(&x.cumsum(1)?)? == sums, "{lines} x {length} of {dtype} on {device}");
                    // The same lines as columns.
                    let columns = x.t()?.contiguous()?.cumsum(0)?;
                    assert!(values(&columns.t()?)? == sums, "{length} x {lines} of {dtype} on {device}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn many_lines_side_by_side() {
    on_devices(|device| {
        let x = Tensor::ones([2, 40, 9000], DType::F16, device)?;
        let sums = x.cumsum(1)?.narrow(2, 8999, 1)?;
        let expected: Vec<f64> = (1..=40).chain(1..=40).map(f64::from).collect();
        assert_eq!(values(&sums)?, expected);
        Ok(())
    });
}

#[test]
fn small_floats_accumulate_in_f32_and_round_once() {
    on_devices(|device| {
        // 1, then halves of an ulp of 1: in f16 each is lost to the tie; together they are not.
        let half_ulp = 2f64.powi(-11);
        let x = tensor([1.0, half_ulp, half_ulp, half_ulp, half_ulp], DType::F16, device)?;
        let ulp = 2f64.powi(-10);
        same(&x.cumsum(0)?, &[1.0, 1.0, 1.0 + ulp, 1.0 + 2.0 * ulp, 1.0 + 2.0 * ulp])?;
        for dtype in FLOATS {
            let x = tensor([2.0, f64::NAN, 1.0], dtype, device)?;
            same(&x.cumsum(0)?, &[2.0, f64::NAN, f64::NAN])?;
            same(&x.cumprod(0)?, &[2.0, f64::NAN, f64::NAN])?;
        }
        Ok(())
    });
}

#[test]
fn integers_wrap() {
    on_devices(|device| {
        let x = vector(&[200u8, 100, 3], device)?;
        assert_eq!(x.cumsum(0)?.to_vec::<u8>()?, [200, 44, 47]);
        assert_eq!(x.cumprod(0)?.to_vec::<u8>()?, [200, 32, 96]);
        let x = vector(&[i64::MAX, 1, -1], device)?;
        assert_eq!(x.cumsum(0)?.to_vec::<i64>()?, [i64::MAX, i64::MIN, i64::MAX]);
        let x = vector(&[i16::MIN, -1], device)?;
        assert_eq!(x.cumprod(0)?.to_vec::<i16>()?, [i16::MIN, i16::MIN]);
        // Odd factors keep the low bits busy over several sections.
        let x = Tensor::full(3, 20_000, DType::U32, device)?;
        let expected: Vec<u32> = (0..20_000)
            .scan(1u32, |p, _| {
                *p = p.wrapping_mul(3);
                Some(*p)
            })
            .collect();
        assert!(x.cumprod(0)?.to_vec::<u32>()? == expected, "on {device}");
        Ok(())
    });
}

/// One addition after the other stops at 2^24.
#[test]
fn a_long_line_of_ones() {
    on_devices(|device| {
        let count = (1 << 24) + (1 << 16);
        let ones = Tensor::ones(1, DType::F32, device)?.expand([count])?;
        let sums = ones.cumsum(0)?;
        for index in [0, 1 << 10, (1 << 24) - 1, count - 1] {
            assert_eq!(sums.get(index)?.to_vec0::<f32>()?, (index + 1) as f32, "{index} on {device}");
        }
        Ok(())
    });
}

#[test]
fn nothing_to_add_and_wrong_axes() {
    on_devices(|device| {
        for dims in [[0, 5], [5, 0]] {
            let x = Tensor::zeros(dims, DType::BF16, device)?;
            for axis in 0..2usize {
                assert_eq!((x.cumsum(axis)?.dims(), x.cumprod(axis)?.dims()), (&dims[..], &dims[..]));
            }
        }
        let x = Tensor::zeros([2, 3], DType::F32, device)?;
        let error = x.cumsum(2).unwrap_err();
        assert_eq!(error.to_string(), format!("cumsum: axis 2 is out of range for [2, 3] on {device}"));
        let scalar = Tensor::zeros((), DType::F32, device)?;
        let error = scalar.cumprod(0).unwrap_err();
        assert_eq!(error.to_string(), format!("cumprod: axis 0 is out of range for [] on {device}"));
        Ok(())
    });
}
