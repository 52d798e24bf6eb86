//! A small convnet of every layer that images meet, held against PyTorch on every device.

use tensor_core::{Conv2dConfig, DType, Device, Pool2dConfig, Result, Tensor};

use crate::common::{on_devices, values};

/// What PyTorch gives in f64: `benches/witness/convnet_torch.py` prints it.
const PYTORCH: [[f64; 5]; 3] = [
    [0.1726895160, 0.3736026276, 0.3287657439, 0.0001539243, 0.1247881883],
    [0.1695751160, 0.4061444029, 0.3006279183, 0.0001479441, 0.1235046187],
    [0.1667155955, 0.3815254177, 0.3176828833, 0.0001576789, 0.1339184246],
];

/// Numbers in ±0.5 that f32 holds: a linear congruential generator.
fn numbers(seed: u32, shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| next()).collect();
    Tensor::from_slice(&numbers, shape, device)?.to_dtype(dtype)
}

fn probabilities(dtype: DType, device: &Device) -> Result<Tensor> {
    let planes = |seed, shape: [usize; 4]| numbers(seed, &shape, dtype, device);
    let vector = |seed, shape: [usize; 1]| numbers(seed, &shape, dtype, device);
    let matrix = |seed, shape: [usize; 2]| numbers(seed, &shape, dtype, device);
    let plain = Conv2dConfig::default();

    let padded = Conv2dConfig { padding: [1, 1], ..plain };
    let x =
        planes(1, [3, 1, 28, 28])?.conv2d_with(&planes(2, [8, 1, 3, 3])?, Some(&vector(3, [8])?), &padded)?;
    let x = x.relu()?.max_pool2d(2)?;
    let depthwise = Conv2dConfig { groups: 8, ..padded };
    let x = x.conv2d_with(&planes(4, [8, 1, 3, 3])?, Some(&vector(5, [8])?), &depthwise)?;
    let variance = vector(7, [8])?.affine(1.0, 1.0)?;
    let x = x.batch_norm(&vector(6, [8])?, &variance, &vector(8, [8])?, &vector(9, [8])?, 1e-5)?.silu()?;
    let wide = Conv2dConfig { padding: [2, 2], stride: [2, 2], dilation: [2, 2], groups: 2, ..plain };
    let x = x.conv2d_with(&planes(10, [16, 4, 3, 3])?, Some(&vector(11, [16])?), &wide)?.relu()?;
    let back = Conv2dConfig { padding: [1, 1], stride: [2, 2], output_padding: [1, 1], ..plain };
    let x = x.conv_transpose2d_with(&planes(12, [16, 4, 3, 3])?, Some(&vector(13, [4])?), &back)?;
    let (height, width) = (x.dims()[2], x.dims()[3]);
    let x = x.upsample_nearest2d(2 * height, 2 * width)?;
    let mean = Pool2dConfig { stride: [2, 2], padding: [1, 1], ..Pool2dConfig::new(3) };
    let x = x.avg_pool2d_with(&mean)?.group_norm(2, &vector(14, [4])?, &vector(15, [4])?, 1e-5)?;
    let x = x.adaptive_avg_pool2d(3)?.reshape([3, 36])?;
    x.matmul(&matrix(16, [36, 5])?)?.affine(4.0, 0.0)?.softmax(1)
}

#[test]
fn a_convnet_gives_what_pytorch_gives() {
    on_devices(|device| {
        // Some twenty layers of some hundred terms each; f16 keeps 11 bits.
        for (dtype, most) in [(DType::F64, 2e-10), (DType::F32, 2e-6), (DType::F16, 5e-3)] {
            let got = probabilities(dtype, device)?;
            assert_eq!(got.dims(), [3, 5]);
            for (got, expected) in values(&got)?.iter().zip(PYTORCH.iter().flatten()) {
                assert!((got - expected).abs() <= most, "{dtype}: {got}, PyTorch {expected}");
            }
        }
        Ok(())
    });
}
