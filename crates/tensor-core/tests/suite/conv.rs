//! Convolutions worked out by hand, in every layout, and what their errors say.

use crate::common::{FLOATS, layouts, on_devices, same, tensor, values};
use tensor_core::{Conv1dConfig, Conv2dConfig, DType, Result, Tensor};

#[test]
fn one_dimension_by_hand() {
    on_devices(|device| {
        let x = tensor([[[1.0, 2.0, 3.0, 4.0, 5.0]]], DType::F32, device)?;
        let kernel = tensor([[[1.0, 10.0, 100.0]]], DType::F32, device)?;
        same(&x.conv1d(&kernel, 0, 1, 1, 1)?, &[321.0, 432.0, 543.0])?;
        same(&x.conv1d(&kernel, 1, 2, 1, 1)?, &[210.0, 432.0, 54.0])?;
        same(&x.conv1d(&kernel, 0, 1, 2, 1)?, &[531.0])?;
        // Padding, stride and dilation at once: positions −2, 0, 2; 0, 2, 4; 2, 4, 6.
        same(&x.conv1d(&kernel, 2, 2, 2, 1)?, &[310.0, 531.0, 53.0])?;
        let y = x.conv_transpose1d(&kernel, 0, 0, 2, 1, 1)?;
        assert_eq!(y.dims(), [1, 1, 11]);
        same(&y, &[1.0, 10.0, 102.0, 20.0, 203.0, 30.0, 304.0, 40.0, 405.0, 50.0, 500.0])?;
        let y = x.conv_transpose1d(&kernel, 1, 1, 2, 1, 1)?;
        same(&y, &[10.0, 102.0, 20.0, 203.0, 30.0, 304.0, 40.0, 405.0, 50.0, 500.0])?;
        // Stride 3 leaves a gap that two taps do not reach.
        let short = kernel.narrow(2, 0, 2)?;
        let y = x.narrow(2, 0, 2)?.conv_transpose1d(&short, 0, 0, 3, 1, 1)?;
        same(&y, &[1.0, 10.0, 0.0, 2.0, 20.0])
    });
}

#[test]
fn both_axes_have_their_own_parameters() {
    on_devices(|device| {
        // Rows of 1 2 3, 4 5 6; the kernel takes an element and 10 times the one below.
        let x = tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]], DType::F64, device)?;
        let kernel = tensor([[[[1.0], [10.0]]]], DType::F64, device)?;
        same(&x.conv2d(&kernel, 0, 1, 1, 1)?, &[41.0, 52.0, 63.0])?;
        let config = Conv2dConfig { padding: [1, 0], stride: [1, 2], ..Default::default() };
        let y = x.conv2d_with(&kernel, None, &config)?;
        assert_eq!(y.dims(), [1, 1, 3, 2]);
        same(&y, &[10.0, 30.0, 41.0, 63.0, 4.0, 6.0])?;
        let config = Conv2dConfig { stride: [2, 1], output_padding: [1, 0], ..Default::default() };
        let y = x.conv_transpose2d_with(&kernel, None, &config)?;
        assert_eq!(y.dims(), [1, 1, 5, 3]);
        same(&y, &[1.0, 2.0, 3.0, 10.0, 20.0, 30.0, 4.0, 5.0, 6.0, 40.0, 50.0, 60.0, 0.0, 0.0, 0.0])
    });
}

#[test]
fn groups_and_bias() {
    on_devices(|device| {
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            let x = tensor([[[[1.0, 2.0]], [[3.0, 4.0]]]], dtype, device)?;
            let bias = tensor([100.0, 200.0], dtype, device)?;
            let kernel = tensor([[[[1.0, 10.0]]], [[[5.0, 2.0]]]], dtype, device)?;
            let config = Conv2dConfig { groups: 2, ..Default::default() };
            same(&x.conv2d_with(&kernel, Some(&bias), &config)?, &[121.0, 223.0])?;
            let kernel = tensor([[[[1.0]], [[10.0]]], [[[3.0]], [[30.0]]]], dtype, device)?;
            same(&x.conv2d(&kernel, 0, 1, 1, 1)?, &[31.0, 42.0, 93.0, 126.0])?;
            // Transposed, the kernel's first axis is the input's channels.
            same(&x.conv_transpose2d(&kernel, 0, 0, 1, 1)?, &[10.0, 14.0, 100.0, 140.0])?;
            let kernel = kernel.narrow(1, 0, 1)?;
            let y = x.conv_transpose2d_with(&kernel, Some(&bias), &config)?;
            same(&y, &[101.0, 102.0, 209.0, 212.0])?;
        }
        Ok(())
    });
}

/// Small whole numbers, whose products' sums are exact in every dtype.
pub(crate) fn small(dims: &[usize], seed: usize, dtype: DType, like: &Tensor) -> Result<Tensor> {
    let count: usize = dims.iter().product();
    let numbers: Vec<i64> = (0..count).map(|i| ((i * 7 + i / 3 + seed) % 3) as i64 - 1).collect();
    tensor(numbers, dtype, &like.device())?.reshape(dims)
}

/// The forward convolution by the definition, in `f64`.
pub(crate) fn by_definition(x: &Tensor, kernel: &Tensor, config: &Conv2dConfig) -> Result<Vec<f64>> {
    let Conv2dConfig { padding: [up, left], stride, dilation, groups, .. } = *config;
    let (&[batch, channels, height, width], &[outputs, inner, rows, columns]) = (x.dims(), kernel.dims())
    else {
        panic!("two tensors of rank 4")
    };
    let (v, f) = (values(x)?, values(kernel)?);
    let out = |length: usize, padding: usize, axis: usize, taps: usize| {
        (length + 2 * padding - dilation[axis] * (taps - 1) - 1) / stride[axis] + 1
    };
    let (h, w) = (out(height, up, 0, rows), out(width, left, 1, columns));
    let mut result = Vec::new();
    for index in 0..batch * outputs * h * w {
        let (z, y, o) = (index % w, index / w % h, index / (w * h) % outputs);
        let mut sum = 0.0;
        for tap in 0..inner * rows * columns {
            let (j, i, c) = (tap % columns, tap / columns % rows, tap / (columns * rows));
            let (row, column) = (y * stride[0] + i * dilation[0], z * stride[1] + j * dilation[1]);
            if (up..up + height).contains(&row) && (left..left + width).contains(&column) {
                let plane = index / (w * h * outputs) * channels + o / (outputs / groups) * inner + c;
                sum += v[(plane * height + row - up) * width + column - left]
                    * f[o * inner * rows * columns + tap];
            }
        }
        result.push(sum);
    }
    Ok(result)
}

#[test]
fn every_layout_has_the_same_result() {
    on_devices(|device| {
        let any = Tensor::zeros(1, DType::F32, device)?;
        for dtype in FLOATS {
            for (x, kernel, groups) in [([2, 4, 7, 9], [9, 4, 3, 2], 1), ([1, 6, 9, 5], [6, 1, 3, 3], 6)] {
                let (x, kernel) = (small(&x, 1, dtype, &any)?, small(&kernel, 5, dtype, &any)?);
                let config = Conv2dConfig { padding: [1, 0], stride: [2, 1], groups, ..Default::default() };
                let expected = by_definition(&x, &kernel, &config)?;
                for (name, x) in layouts(&x)? {
                    for (other, kernel) in layouts(&kernel)? {
                        let got = values(&x.conv2d_with(&kernel, None, &config)?)?;
                        assert_eq!(got, expected, "{dtype} {name} x {other}");
                    }
                }
            }
        }
        Ok(())
    });
}

#[test]
fn many_channels_and_tiles() {
    on_devices(|device| {
        let any = Tensor::zeros(1, DType::F32, device)?;
        let x = small(&[2, 33, 21, 19], 2, DType::F32, &any)?;
        let kernel = small(&[140, 33, 3, 3], 3, DType::F32, &any)?;
        let config = Conv2dConfig { padding: [1, 1], dilation: [1, 2], ..Default::default() };
        assert_eq!(values(&x.conv2d_with(&kernel, None, &config)?)?, by_definition(&x, &kernel, &config)?);
        Ok(())
    });
}

#[test]
fn twelve_bit_integers_are_exact_in_f32() {
    on_devices(|device| {
        let x = Tensor::full(4093, [1, 1, 5, 5], DType::F32, device)?;
        let kernel = Tensor::full(4091, [9, 1, 1, 1], DType::F32, device)?;
        same(&x.conv2d(&kernel, 0, 1, 1, 1)?, &[4093.0 * 4091.0; 225])?;
        let x = Tensor::full(63, [1, 455, 3, 3], DType::F32, device)?;
        let kernel = Tensor::full(65, [1, 455, 3, 3], DType::F32, device)?;
        same(&x.conv2d(&kernel, 0, 1, 1, 1)?, &[63.0 * 65.0 * 4095.0])
    });
}

#[test]
fn small_floats_accumulate_in_f32_and_round_once() {
    on_devices(|device| {
        // 2048 + 1 + 1 is 2050 in f32; in f16 each 1 would be lost.
        let x = tensor([[[2048.0, 1.0]]], DType::F16, device)?;
        let kernel = tensor([[[1.0, 1.0]]], DType::F16, device)?;
        let bias = tensor([1.0], DType::F16, device)?;
        let y = x.conv1d_with(&kernel, Some(&bias), &Conv1dConfig::default())?;
        same(&y, &[2050.0])?;
        let repeated = kernel.expand([9, 1, 2])?;
        let y = x.conv1d_with(&repeated, Some(&bias.expand([9])?), &Conv1dConfig::default())?;
        same(&y, &[2050.0; 9])
    });
}

#[test]
fn nothing_and_one_element() {
    on_devices(|device| {
        let none = Tensor::zeros([0, 3, 5, 5], DType::F32, device)?;
        let kernel = Tensor::ones([4, 3, 3, 3], DType::F32, device)?;
        assert_eq!(none.conv2d(&kernel, 0, 1, 1, 1)?.dims(), [0, 4, 3, 3]);
        // No channels, or nothing but padding: the bias alone.
        let bias = tensor([5.0, 6.0], DType::F32, device)?;
        let hollow = Tensor::zeros([1, 0, 1, 2], DType::F32, device)?;
        let kernel = Tensor::zeros([2, 0, 1, 1], DType::F32, device)?;
        let y = hollow.conv2d_with(&kernel, Some(&bias), &Conv2dConfig::default())?;
        same(&y, &[5.0, 5.0, 6.0, 6.0])?;
        let empty = Tensor::zeros([1, 3, 0], DType::F32, device)?;
        let kernel = Tensor::ones([2, 3, 2], DType::F32, device)?;
        let config = Conv1dConfig { padding: 1, ..Default::default() };
        same(&empty.conv1d_with(&kernel, Some(&bias), &config)?, &[5.0, 6.0])?;
        let one = Tensor::full(3, [1, 1, 1, 1], DType::F32, device)?;
        same(&one.conv2d(&one, 0, 1, 1, 1)?, &[9.0])?;
        same(&one.conv_transpose2d(&one, 0, 0, 1, 1)?, &[9.0])
    });
}

/// One position of the input: whatever the stride, the taps side by side.
#[test]
fn strides_beyond_the_output() {
    on_devices(|device| {
        for stride in [1 << 20, 1 << 32, 1 << 40, 1 << 62] {
            // Of one tap: the product of [1 2; 3 4] and [5 6; 7 8].
            let x = tensor([[1.0, 2.0], [3.0, 4.0]], DType::F32, device)?.reshape([2, 2, 1, 1])?;
            let kernel = tensor([[5.0, 6.0], [7.0, 8.0]], DType::F32, device)?.reshape([2, 2, 1, 1])?;
            let y = x.conv_transpose2d(&kernel, 0, 0, stride, 1)?;
            assert_eq!(y.dims(), [2, 2, 1, 1]);
            same(&y, &[19.0, 22.0, 43.0, 50.0])?;
            // Of three taps in a row, from two channels, and each channel alone.
            let x = x.narrow(0, 0, 1)?;
            let taps = [[1.0, 10.0, 100.0], [3.0, 30.0, 300.0]];
            let kernel = tensor(taps, DType::F32, device)?.reshape([2, 1, 1, 3])?;
            same(&x.conv_transpose2d(&kernel, 0, 0, stride, 1)?, &[7.0, 70.0, 700.0])?;
            let config = Conv2dConfig { stride: [stride; 2], groups: 2, ..Default::default() };
            let y = x.conv_transpose2d_with(&kernel, None, &config)?;
            assert_eq!(y.dims(), [1, 2, 1, 3]);
            same(&y, &[1.0, 10.0, 100.0, 6.0, 60.0, 600.0])?;
        }
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
        let x = Tensor::zeros([1, 3, 5, 5], DType::F32, device)?;
        let kernel = Tensor::zeros([4, 2, 3, 3], DType::F32, device)?;
        says(
            x.conv2d(&kernel, 0, 1, 1, 1),
            "conv2d: the input [1, 3, 5, 5] has 3 channels, but the kernel [4, 2, 3, 3] with 1 groups takes 2 on @",
        );
        says(
            x.conv2d(&kernel, 0, 1, 1, 2),
            "conv2d: 2 groups do not divide the channels of the input [1, 3, 5, 5] and of the kernel [4, 2, 3, 3] on @",
        );
        says(
            x.conv2d(&kernel, 0, 1, 1, 0),
            "conv2d: 0 groups do not divide the channels of the input [1, 3, 5, 5] and of the kernel [4, 2, 3, 3] on @",
        );
        says(
            x.conv2d(&kernel, 0, 0, 1, 1),
            "conv2d: the stride [0, 0] has a 0 (input [1, 3, 5, 5], kernel [4, 2, 3, 3]) on @",
        );
        let kernel = Tensor::zeros([4, 3, 6, 6], DType::F32, device)?;
        says(
            x.conv2d(&kernel, 0, 1, 1, 1),
            "conv2d: the kernel [4, 3, 6, 6], dilation [1, 1] and padding [0, 0] do not fit into the input [1, 3, 5, 5] on @",
        );
        assert_eq!(x.conv2d(&kernel, 1, 1, 1, 1)?.dims(), [1, 4, 2, 2]);
        let kernel = Tensor::zeros([3, 4, 2, 2], DType::F32, device)?;
        says(
            x.conv_transpose2d(&kernel, 0, 2, 2, 1),
            "conv_transpose2d: the output padding [2, 2] is not less than 2 (stride [2, 2], dilation [1, 1]) on @",
        );
        says(
            x.conv_transpose2d(&kernel, 5, 0, 1, 1),
            "conv_transpose2d: the kernel [3, 4, 2, 2], dilation [1, 1] and padding [5, 5] leave no output of the input \
             [1, 3, 5, 5] on @",
        );
        let bias = Tensor::zeros(3, DType::F32, device)?;
        says(
            x.conv_transpose2d_with(&kernel, Some(&bias), &Conv2dConfig::default()),
            "conv_transpose2d: the bias [3] is not [4], as the kernel [3, 4, 2, 2] needs on @",
        );
        says(x.conv1d(&kernel, 0, 1, 1, 1), "conv1d: [1, 3, 5, 5] has rank 4, expected 3 on @");
        let half = kernel.to_dtype(DType::F16)?;
        says(
            x.conv2d(&half, 0, 1, 1, 1),
            "conv2d: dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        let ints = x.to_dtype(DType::I32)?;
        says(
            ints.conv2d(&ints, 0, 1, 1, 1),
            "conv2d: i32 is not supported (shape [1, 3, 5, 5]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        Ok(())
    });
}
