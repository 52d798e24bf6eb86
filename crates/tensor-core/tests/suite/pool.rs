//! Pooling and upsampling worked out by hand, in every layout, and what their errors say.

use crate::common::{FLOATS, bits, layouts, on_devices, same, tensor};
use tensor_core::{DType, Device, Pool2dConfig, Result, Tensor};

/// Four rows of 1 2 3 4 5, 6 7 8 9 10, …
fn plane(dtype: DType, device: &Device) -> Result<Tensor> {
    tensor((1..=20).collect::<Vec<i64>>(), dtype, device)?.reshape([1, 1, 4, 5])
}

#[test]
fn maxima_by_hand() {
    on_devices(|device| {
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            let x = plane(dtype, device)?;
            let y = x.max_pool2d(2)?;
            assert_eq!(y.dims(), [1, 1, 2, 2]);
            same(&y, &[7.0, 9.0, 17.0, 19.0])?;
            same(&x.max_pool2d((1, 5))?, &[5.0, 10.0, 15.0, 20.0])?;
            same(&x.max_pool2d_with_stride([3, 2], (1, 3))?, &[12.0, 15.0, 17.0, 20.0])?;
            let ceil = Pool2dConfig { ceil_mode: true, ..Pool2dConfig::new(2) };
            same(&x.max_pool2d_with(&ceil)?, &[7.0, 9.0, 10.0, 17.0, 19.0, 20.0])?;
            // Padding is never chosen, not even among negative numbers.
            let padded = Pool2dConfig { padding: [1, 1], stride: [3, 3], ..Pool2dConfig::new(3) };
            same(&x.neg()?.max_pool2d_with(&padded)?, &[-1.0, -3.0, -11.0, -13.0])?;
        }
        Ok(())
    });
}

#[test]
fn maxima_of_wide_windows_and_steps() {
    on_devices(|device| {
        let one = tensor([[[[-7.0]]]], DType::F32, device)?;
        let wide = Pool2dConfig { padding: [1 << 30; 2], ..Pool2dConfig::new([1 << 31, 1 << 31]) };
        same(&one.max_pool2d_with(&wide)?, &[-7.0])?;
        let far = one.expand([1, 1, 1, 1 << 40])?;
        same(&far.max_pool2d_with_stride((1, 1), (1, 1 << 39))?, &[-7.0; 2])?;
        let row =
            tensor([[[(0..100_000).map(|i| f64::from(i % 1000)).collect::<Vec<_>>()]]], DType::F32, device)?;
        same(&row.max_pool2d_with_stride((1, 3), (1, 33_333))?, &[2.0, 335.0, 668.0, 999.0][..3])?;
        Ok(())
    });
}

#[test]
fn nan_wins_and_zeros_have_signs() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([[[[f64::NAN, 1.0, -0.0, 0.0, -0.0, -0.0, 3.0, f64::NAN]]]], dtype, device)?;
            same(&x.max_pool2d((1, 2))?, &[f64::NAN, 0.0, -0.0, f64::NAN])?;
        }
        Ok(())
    });
}

#[test]
fn means_by_hand() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let x = plane(dtype, device)?;
            same(&x.avg_pool2d(2)?, &[4.0, 6.0, 14.0, 16.0])?;
            same(&x.avg_pool2d_with_stride((4, 1), 1)?, &[8.5, 9.5, 10.5, 11.5, 12.5])?;
            // A window of 3 with stride 3 and padding 1 over 6 columns, rounded up, ends with one column and one of padding.
            let row = x.reshape([1, 1, 1, 20])?.narrow(3, 0, 6)?;
            let cut = Pool2dConfig {
                window: [1, 3],
                stride: [1, 3],
                padding: [0, 1],
                ceil_mode: true,
                count_include_pad: true,
            };
            same(&row.avg_pool2d_with(&cut)?, &[1.0, 4.0, 3.0])?;
            let left_out = Pool2dConfig { count_include_pad: false, ..cut };
            same(&row.avg_pool2d_with(&left_out)?, &[1.5, 4.0, 6.0])?;
            // Bins of 5 columns in 3: 0..2, 1..4, 3..5; of 4 rows in 2: halves.
            let y = x.adaptive_avg_pool2d((2, 3))?;
            same(&y, &[4.0, 5.5, 7.0, 14.0, 15.5, 17.0])?;
            same(&x.adaptive_avg_pool2d(1)?, &[10.5])?;
            assert_eq!(x.adaptive_avg_pool2d(1)?.dims(), [1, 1, 1, 1]);
            assert_eq!(x.adaptive_avg_pool2d((0, 3))?.dims(), [1, 1, 0, 3]);
        }
        // 2048 + 1 + 1 + 1 in f32.
        let x = tensor([[[[2048.0, 2.0, 1.0, 1.0]]]], DType::F16, device)?;
        same(&x.avg_pool2d((1, 4))?, &[513.0])
    });
}

#[test]
fn means_of_long_rows_count_beyond_2_24() {
    on_devices(|device| {
        let ones = Tensor::full(1.0, 1, DType::F32, device)?.expand([1, 1, 1, 1 << 25])?;
        same(&ones.adaptive_avg_pool2d(1)?, &[1.0])
    });
}

#[test]
fn nearest_by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([[[1.0, 2.0, 4.0]]], dtype, device)?;
            same(&x.upsample_nearest1d(5)?, &[1.0, 1.0, 2.0, 2.0, 4.0])?;
            same(&x.interpolate1d(2)?, &[1.0, 2.0])?;
            let x = tensor([[[[1.0, 2.0], [3.0, 4.0]]]], dtype, device)?;
            let y = x.upsample_nearest2d(3, 4)?;
            assert_eq!(y.dims(), [1, 1, 3, 4]);
            same(&y, &[1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0])?;
            same(&x.interpolate2d(1, 1)?, &[1.0])?;
        }
        Ok(())
    });
}

#[test]
fn bilinear_by_hand() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let x = tensor([[[[1.0, 2.0, 4.0]]]], dtype, device)?;
            same(&x.upsample_bilinear2d(1, 5, true)?, &[1.0, 1.5, 2.0, 3.0, 4.0])?;
            // Positions −1/4, 1/4, 3/4, 5/4, 7/4, 9/4.
            same(&x.upsample_bilinear2d(1, 6, false)?, &[1.0, 1.25, 1.75, 2.5, 3.5, 4.0])?;
            same(&x.upsample_bilinear2d(2, 1, true)?, &[1.0, 1.0])?;
            let square = tensor([[[[0.0, 1.0], [2.0, 3.0]]]], dtype, device)?;
            let middle = square.upsample_bilinear2d(3, 3, true)?;
            same(&middle, &[0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0])?;
        }
        Ok(())
    });
}

#[test]
fn every_layout_has_the_same_bits() {
    on_devices(|device| {
        for dtype in FLOATS {
            let numbers: Vec<i64> = (0..2 * 3 * 5 * 7).map(|i| (i * 37 + i / 5) % 13 - 6).collect();
            let x = tensor(numbers, dtype, device)?.reshape([2, 3, 5, 7])?;
            let padded = Pool2dConfig { padding: [1, 0], stride: [2, 1], ..Pool2dConfig::new((3, 2)) };
            let all = |x: &Tensor| -> Result<Vec<Vec<u64>>> {
                [
                    x.max_pool2d_with(&padded)?,
                    x.avg_pool2d_with(&padded)?,
                    x.adaptive_avg_pool2d((2, 3))?,
                    x.upsample_nearest2d(8, 9)?,
                    x.upsample_bilinear2d(8, 9, false)?,
                ]
                .iter()
                .map(bits)
                .collect()
            };
            // On the CPU, tight: the reference for all devices. Its own values are worked out by hand above.
            let expected = all(&x.to_device(&Device::Cpu)?)?;
            for (name, x) in layouts(&x)? {
                assert_eq!(all(&x)?, expected, "{dtype} {name}");
            }
        }
        Ok(())
    });
}

/// A window may be much larger than the input, by padding.
#[test]
fn means_of_huge_windows_count_every_element() {
    on_devices(|device| {
        let padded = |window: usize| Pool2dConfig { padding: [window / 2; 2], ..Pool2dConfig::new(window) };
        for dtype in [DType::F32, DType::F64] {
            let x = Tensor::full(2f64.powi(62), [1, 1, 1, 1], dtype, device)?;
            // 2^31 rows of 2^31 columns.
            same(&x.avg_pool2d_with(&padded(1 << 31))?, &[1.0])?;
            let inside = Pool2dConfig { count_include_pad: false, ..padded(1 << 31) };
            same(&x.avg_pool2d_with(&inside)?, &[2f64.powi(62)])?;
            // Half as many in a row: the quotient is not 1.
            let wide = Pool2dConfig { padding: [1 << 29, 1 << 30], ..Pool2dConfig::new((1 << 30, 1 << 31)) };
            same(&x.avg_pool2d_with(&wide)?, &[2.0])?;
            let error = x.avg_pool2d_with(&padded(1 << 40)).unwrap_err();
            let window =
                "[1099511627776, 1099511627776] is too large: its size does not fit the 64-bit address space";
            assert_eq!(error.to_string(), format!("avg_pool2d: {window} on {device}"));
            same(&x.max_pool2d_with(&padded(1 << 40))?, &[2f64.powi(62)])?;
        }
        Ok(())
    });
}

#[test]
fn nothing_in_a_batch() {
    on_devices(|device| {
        let none = Tensor::zeros([0, 3, 4, 5], DType::F32, device)?;
        assert_eq!(none.max_pool2d(2)?.dims(), [0, 3, 2, 2]);
        assert_eq!(none.avg_pool2d(2)?.dims(), [0, 3, 2, 2]);
        assert_eq!(none.adaptive_avg_pool2d(1)?.dims(), [0, 3, 1, 1]);
        assert_eq!(none.upsample_nearest2d(8, 9)?.dims(), [0, 3, 8, 9]);
        assert_eq!(none.upsample_bilinear2d(8, 9, true)?.dims(), [0, 3, 8, 9]);
        Ok(())
    });
}

#[test]
fn errors_name_the_shapes() {
    on_devices(|device| {
        let says = |result: Result<Tensor>, expected: &str| {
            let message = result.expect_err(expected).to_string();
            assert_eq!(message, expected.replace('@', &device.to_string()));
        };
        let x = Tensor::zeros([1, 3, 4, 5], DType::F32, device)?;
        says(
            x.max_pool2d(5),
            "max_pool2d: the window [5, 5] with padding [0, 0] does not fit into the input [1, 3, 4, 5] on @",
        );
        says(
            x.avg_pool2d_with_stride(2, (0, 1)),
            "avg_pool2d: the window [2, 2] or the stride [0, 1] has a 0 (input [1, 3, 4, 5]) on @",
        );
        let padded = Pool2dConfig { padding: [0, 2], ..Pool2dConfig::new(3) };
        says(
            x.max_pool2d_with(&padded),
            "max_pool2d: the padding [0, 2] is more than half of the window [3, 3] (input [1, 3, 4, 5]) on @",
        );
        says(x.upsample_nearest1d(3), "upsample_nearest1d: [1, 3, 4, 5] has rank 4, expected 3 on @");
        let empty = Tensor::zeros([1, 3, 0, 5], DType::F32, device)?;
        says(
            empty.upsample_bilinear2d(2, 2, false),
            "upsample_bilinear2d: the planes of the input [1, 3, 0, 5] are empty, and [2, 2] outputs need elements on @",
        );
        says(
            empty.max_pool2d_with(&Pool2dConfig { padding: [1, 1], ..Pool2dConfig::new(2) }),
            "max_pool2d: the window [2, 2] with padding [1, 1] does not fit into the input [1, 3, 0, 5] on @",
        );
        says(
            x.to_dtype(DType::U8)?.max_pool2d(2),
            "max_pool2d: u8 is not supported (shape [1, 3, 4, 5]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        Ok(())
    });
}
