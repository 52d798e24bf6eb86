//! Convolutions and linear layers that end with an activation.

use crate::common::{FLOATS, devices, on_devices, same, tensor, values};
use crate::conv::{by_definition, small};
use tensor_core::{Activation, Conv1dConfig, Conv2dConfig, DType, Device, Result, Tensor};

/// More calls than it takes until each way of computing was tried several times, and one of them chosen.
const CALLS: usize = 24;

const ALL: [Activation; 9] = [
    Activation::Relu,
    Activation::LeakyRelu(0.25),
    Activation::Elu(0.5),
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Gelu,
    Activation::GeluErf,
    Activation::Silu,
    Activation::Softplus,
];

/// An activation of a number, by its definition in `f64`.
fn function(activation: Activation, x: f64) -> f64 {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::LeakyRelu(slope) => x.max(0.0) + slope * x.min(0.0),
        Activation::Elu(alpha) => x.max(0.0) + alpha * x.min(0.0).exp_m1(),
        Activation::Sigmoid => sigmoid(x),
        Activation::Tanh => x.tanh(),
        // 1 + tanh(u) is twice the sigmoid of 2u, which does not cancel.
        Activation::Gelu => {
            x * sigmoid(2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x))
        }
        Activation::GeluErf => 0.5 * x * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2),
        Activation::Silu => x * sigmoid(x),
        Activation::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
        other => panic!("{other:?} has no definition here"),
    }
}

/// Asserts that results are the activation of sums that every dtype holds: rounded to it, and as near as its functions are.
#[track_caller]
fn near(got: &Tensor, sums: &[f64], activation: Activation) -> Result<()> {
    let (relative, least) = match got.dtype() {
        DType::F64 => (1e-14, 1e-300),
        DType::F32 => (1e-6, 1e-36),
        DType::F16 => (1.0 / 1024.0, 1e-7),
        _ => (1.0 / 128.0, 1e-36),
    };
    let results = values(got)?;
    assert_eq!(results.len(), sums.len());
    for (y, sum) in results.iter().zip(sums) {
        let wanted = function(activation, *sum);
        let what =
            format!("{activation:?} of {sum}: {y}, not {wanted} ({} on {})", got.dtype(), got.device());
        assert!((y - wanted).abs() <= relative * wanted.abs() + least, "{what}");
    }
    Ok(())
}

#[test]
fn by_hand() {
    on_devices(|device| {
        for dtype in FLOATS {
            let x = tensor([[[[1.0, 2.0]], [[3.0, 4.0]]]], dtype, device)?;
            let bias = tensor([-12.0, -20.0], dtype, device)?;
            let kernel = tensor([[[[1.0, 4.0]]], [[[5.0, 2.0]]]], dtype, device)?;
            let config = Conv2dConfig { groups: 2, ..Default::default() };
            // 1 + 2·4 − 12 and 3·5 + 4·2 − 20, then without the bias, and with the other sign.
            let conv =
                |x: &Tensor, bias, activation| x.conv2d_with_activation(&kernel, bias, &config, activation);
            let leaky = Activation::LeakyRelu(0.5);
            for _ in 0..CALLS {
                same(&conv(&x, Some(&bias), Activation::Relu)?, &[0.0, 3.0])?;
                same(&conv(&x, Some(&bias), leaky)?, &[-1.5, 3.0])?;
                same(&conv(&x, None, Activation::Relu)?, &[9.0, held(dtype, 23.0)])?;
                let y = conv(&x.neg()?, None, leaky)?;
                same(&y, &[-4.5, held(dtype, -23.0) / 2.0])?;
            }
        }
        Ok(())
    });
}

/// A sum of 23 as a dtype holds it before the activation: `f8e4m3` has four bits.
fn held(dtype: DType, sum: f64) -> f64 {
    if dtype == DType::F8E4M3 { sum / 23.0 * 24.0 } else { sum }
}

#[test]
fn convolutions_of_every_kind() {
    on_devices(|device| {
        let any = Tensor::zeros(1, DType::F32, device)?;
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            // Strides, dilation, padding and groups; groups of one channel; one tap.
            let plain = Conv2dConfig::default();
            let walk = Conv2dConfig { padding: [1, 2], stride: [2, 1], dilation: [1, 2], groups: 2, ..plain };
            let each = Conv2dConfig { padding: [1, 1], groups: 6, ..plain };
            for (x, kernel, config) in [
                ([2, 6, 7, 9], [4, 3, 3, 2], walk),
                ([2, 6, 5, 6], [6, 1, 3, 3], each),
                ([2, 6, 4, 5], [5, 6, 1, 1], plain),
            ] {
                let (x, kernel) = (small(&x, 1, dtype, &any)?, small(&kernel, 5, dtype, &any)?);
                let outputs = kernel.dims()[0];
                let bias = small(&[outputs], 2, dtype, &any)?;
                let sums = by_definition(&x, &kernel, &config)?;
                let positions = sums.len() / 2 / outputs;
                let addends = values(&bias)?;
                let biased: Vec<f64> = sums
                    .iter()
                    .enumerate()
                    .map(|(at, sum)| sum + addends[at / positions % outputs])
                    .collect();
                for activation in ALL {
                    for _ in 0..CALLS / 4 {
                        let y = x.conv2d_with_activation(&kernel, Some(&bias), &config, activation)?;
                        near(&y, &biased, activation)?;
                        near(
                            &x.conv2d_with_activation(&kernel, None, &config, activation)?,
                            &sums,
                            activation,
                        )?;
                    }
                }
                // A bias that does not lie side by side, and an input that does not either.
                let same_everywhere = tensor([1.0], dtype, device)?.expand([outputs])?;
                let sums: Vec<f64> = sums.iter().map(|sum| sum + 1.0).collect();
                let turned = x.t()?.contiguous()?.t()?;
                for x in [&x, &turned] {
                    let y = x.conv2d_with_activation(&kernel, Some(&same_everywhere), &config, ALL[0])?;
                    near(&y, &sums, ALL[0])?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn one_dimension_and_transposed() {
    on_devices(|device| {
        let x = tensor([[[1.0, 2.0, 3.0]]], DType::F32, device)?;
        let kernel = tensor([[[1.0, 10.0]]], DType::F32, device)?;
        let bias = tensor([-25.0], DType::F32, device)?;
        let (config, relu) = (Conv1dConfig::default(), Activation::Relu);
        for _ in 0..CALLS {
            // 21 and 32; transposed 1, 12, 23 and 30.
            let y = x.conv1d_with_activation(&kernel, Some(&bias), &config, relu)?;
            assert_eq!(y.dims(), [1, 1, 2]);
            same(&y, &[0.0, 7.0])?;
            let y = x.conv_transpose1d_with_activation(&kernel, Some(&bias), &config, relu)?;
            assert_eq!(y.dims(), [1, 1, 4]);
            same(&y, &[0.0, 0.0, 0.0, 5.0])?;
            let (x, kernel) = (x.unsqueeze(3)?, kernel.unsqueeze(3)?);
            let leaky = Activation::LeakyRelu(0.5);
            let config = Conv2dConfig::default();
            let y = x.conv_transpose2d_with_activation(&kernel, Some(&bias), &config, leaky)?;
            same(&y, &[-12.0, -6.5, -1.0, 5.0])?;
        }
        Ok(())
    });
}

#[test]
fn nothing_to_convolve() {
    on_devices(|device| {
        let none = Tensor::zeros([0, 3, 5, 5], DType::F32, device)?;
        let kernel = Tensor::ones([4, 3, 3, 3], DType::F32, device)?;
        let config = Conv2dConfig::default();
        let y = none.conv2d_with_activation(&kernel, None, &config, Activation::Silu)?;
        assert_eq!(y.dims(), [0, 4, 3, 3]);
        // No channels: the activation of the bias alone.
        let hollow = Tensor::zeros([1, 0, 1, 2], DType::F32, device)?;
        let kernel = Tensor::zeros([2, 0, 1, 1], DType::F32, device)?;
        let bias = tensor([5.0, -6.0], DType::F32, device)?;
        let y = hollow.conv2d_with_activation(&kernel, Some(&bias), &config, Activation::Relu)?;
        same(&y, &[5.0, 5.0, 0.0, 0.0])
    });
}

#[test]
fn linear_by_hand() {
    on_devices(|device| {
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            let weight = tensor([[1.0, 10.0], [3.0, 30.0], [0.0, -1.0]], dtype, device)?;
            let bias = tensor([-22.0, 1.0, 2.0], dtype, device)?;
            let x = tensor([[1.0, 2.0], [0.0, -1.0]], dtype, device)?;
            same(&x.linear(&weight, None)?, &[21.0, 63.0, -2.0, -10.0, -30.0, 1.0])?;
            same(&x.linear(&weight, Some(&bias))?, &[-1.0, 64.0, 0.0, -32.0, -29.0, 3.0])?;
            let y = x.linear_with_activation(&weight, Some(&bias), Activation::Relu)?;
            same(&y, &[0.0, 64.0, 0.0, 0.0, 0.0, 3.0])?;
            let y = x.linear_with_activation(&weight, None, Activation::LeakyRelu(0.5))?;
            same(&y, &[21.0, 63.0, -1.0, -5.0, -15.0, 1.0])?;
            // Of any rank, side by side or not.
            let batch = x.reshape([1, 2, 1, 2])?;
            let y = batch.linear(&weight, Some(&bias))?;
            assert_eq!(y.dims(), [1, 2, 1, 3]);
            same(&y, &[-1.0, 64.0, 0.0, -32.0, -29.0, 3.0])?;
            let y = batch.transpose(0, 1)?.t()?.contiguous()?.t()?.linear(&weight, Some(&bias))?;
            assert_eq!(y.dims(), [2, 1, 1, 3]);
            same(&y, &[-1.0, 64.0, 0.0, -32.0, -29.0, 3.0])?;
            let y = x.select(0, 0)?.linear(&weight, Some(&bias))?;
            assert_eq!(y.dims(), [3]);
            same(&y, &[-1.0, 64.0, 0.0])?;
            // No features: the bias alone; no rows: nothing.
            let (x, hollow) = (x.narrow(1, 0, 0)?, weight.narrow(1, 0, 0)?);
            let y = x.unsqueeze(0)?.linear(&hollow, Some(&bias))?;
            assert_eq!(y.dims(), [1, 2, 3]);
            same(&y, &[-22.0, 1.0, 2.0, -22.0, 1.0, 2.0])?;
            let none = Tensor::zeros([4, 0, 2], dtype, device)?;
            assert_eq!(none.linear(&weight, Some(&bias))?.dims(), [4, 0, 3]);
        }
        Ok(())
    });
}

#[test]
fn linear_layers_with_every_activation() {
    on_devices(|device| {
        let any = Tensor::zeros(1, DType::F32, device)?;
        for dtype in [DType::BF16, DType::F16, DType::F32, DType::F64] {
            let (x, weight) = (small(&[3, 7, 19], 1, dtype, &any)?, small(&[12, 19], 4, dtype, &any)?);
            let bias = small(&[12], 2, dtype, &any)?;
            let (v, w, b) = (values(&x)?, values(&weight)?, values(&bias)?);
            let sum = |at: usize| {
                let (row, output) = (at / 12, at % 12);
                (0..19).map(|i| v[row * 19 + i] * w[output * 19 + i]).sum::<f64>() + b[output]
            };
            let sums: Vec<f64> = (0..3 * 7 * 12).map(sum).collect();
            for activation in ALL {
                let y = x.linear_with_activation(&weight, Some(&bias), activation)?;
                assert_eq!(y.dims(), [3, 7, 12]);
                near(&y, &sums, activation)?;
                near(&x.linear(&weight, Some(&bias))?.activate(activation)?, &sums, activation)?;
            }
        }
        Ok(())
    });
}

#[test]
fn graphs_hold_layers() {
    for device in devices() {
        // On a stream of its own: other tests use those of the shared devices meanwhile.
        let device = &Device::parse(&device.name()).unwrap();
        let Some(hip) = device.as_hip() else { continue };
        let x = tensor([[[[1.0, 2.0, 3.0]]]], DType::F32, device).unwrap();
        let kernel = tensor([[[[10.0, 1.0]]], [[[-1.0, 0.0]]]], DType::F32, device).unwrap();
        let bias = tensor([-20.0, 3.0], DType::F32, device).unwrap();
        let weight = tensor([[1.0, 1.0, -1.0]], DType::F32, device).unwrap();
        let layers = || -> Result<[Tensor; 3]> {
            let config = Conv2dConfig::default();
            let conv = |activation| x.conv2d_with_activation(&kernel, Some(&bias), &config, activation);
            let linear = x.linear_with_activation(&weight, None, Activation::Relu)?;
            Ok([conv(Activation::Relu)?, conv(Activation::Elu(2.0))?, linear])
        };
        // What is loaded on first use cannot be captured.
        let first = layers().unwrap();
        let mut made = None;
        let graph = hip.stream().capture(|_| {
            made = Some(layers());
            Ok(())
        });
        let made = made.expect("the closure ran").unwrap();
        let graph = graph.unwrap().instantiate().unwrap();
        for _ in 0..2 {
            graph.launch(hip.stream()).unwrap();
            // 12 and 23, less 20; 3 less 1 and 2.
            for [relu, elu, linear] in [&first, &made] {
                same(relu, &[0.0, 3.0, 2.0, 1.0]).unwrap();
                near(elu, &[-8.0, 3.0, 2.0, 1.0], Activation::Elu(2.0)).unwrap();
                same(linear, &[0.0]).unwrap();
            }
        }
    }
}

#[test]
fn errors_name_the_shapes() {
    on_devices(|device| {
        let says = |result: Result<Tensor>, expected: &str| {
            let message = result.expect_err(expected).to_string();
            assert_eq!(message, expected.replace('@', &device.to_string()));
        };
        let x = Tensor::zeros([2, 3], DType::F32, device)?;
        let weight = Tensor::zeros([4, 5], DType::F32, device)?;
        says(
            x.linear(&weight, None),
            "linear: the input [2, 3] has 3 features, but the weight [4, 5] takes 5 on @",
        );
        let weight = weight.narrow(1, 0, 3)?;
        says(
            x.linear_with_activation(&weight, Some(&x), Activation::Relu),
            "linear: the bias [2, 3] is not [4], as the weight [4, 3] needs on @",
        );
        says(x.linear(&weight.unsqueeze(0)?, None), "linear: [1, 4, 3] has rank 3, expected 2 on @");
        says(x.sum_all()?.linear(&weight, None), "linear: [] has rank 0, expected at least 1 on @");
        let ints = x.to_dtype(DType::I32)?;
        says(
            ints.linear(&ints, None),
            "linear: i32 is not supported (shape [2, 3]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        says(
            x.linear(&weight.to_dtype(DType::F16)?, None),
            "linear: dtypes differ: f32 and f16 on @; cast one of them with to_dtype",
        );
        let image = Tensor::zeros([1, 3, 5, 5], DType::F32, device)?;
        let kernel = Tensor::zeros([4, 2, 3, 3], DType::F32, device)?;
        says(
            image.conv2d_with_activation(&kernel, None, &Conv2dConfig::default(), Activation::Tanh),
            "conv2d: the input [1, 3, 5, 5] has 3 channels, but the kernel [4, 2, 3, 3] with 1 groups takes 2 on @",
        );
        Ok(())
    });
}

/// Weights with rows of whole packs are multiplied in one launch on a HIP device, others one by one.
#[test]
fn several_layers_give_what_each_gives() {
    on_devices(|device| {
        let numbers = |dims: [usize; 2], dtype| {
            let count = dims[0] * dims[1];
            let values = (0..count).map(|i| (i * 37 % 61) as f32 / 16.0 - 1.9).collect::<Vec<f32>>();
            Tensor::from_vec(values, dims, device)?.to_dtype(dtype)
        };
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
            for (rows, inputs) in [(1, 160), (1, 1000), (1, 77), (3, 160)] {
                let x = numbers([rows, inputs], dtype)?;
                let weights = [70, 64, 300].map(|outputs| numbers([outputs, inputs], dtype));
                let weights = weights.into_iter().collect::<Result<Vec<_>>>()?;
                for count in [0, 1, 2, 3] {
                    let some: Vec<&Tensor> = weights.iter().take(count).collect();
                    let together = x.linear_each(&some)?;
                    assert_eq!(together.len(), count);
                    for (y, weight) in together.iter().zip(&some) {
                        let wide = |tensor: &Tensor| tensor.to_dtype(DType::F64);
                        let (x, weight) = (wide(&x)?, wide(weight)?.t()?);
                        // A term is rounded once when it is multiplied and once in each sum; the result once to the dtype.
                        let unit = if dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
                        let last = match dtype {
                            DType::BF16 => 1.0 / 256.0,
                            DType::F16 => 1.0 / 2048.0,
                            _ => unit,
                        };
                        let (exact, sizes) = (x.matmul(&weight)?, x.abs()?.matmul(&weight.abs()?)?);
                        let bound =
                            (exact.abs()?.affine(last, 0.0)? + sizes.affine(inputs as f64 * unit, 0.0)?)?;
                        let off = wide(y)?.sub(&exact)?.abs()?.gt(&bound)?;
                        assert_eq!(
                            off.to_dtype(DType::U32)?.sum_all()?.to_vec0::<u32>()?,
                            0,
                            "{dtype} on {device}"
                        );
                    }
                    for (y, weight) in together.iter().zip(&weights) {
                        assert_eq!(y.dims(), x.linear(weight, None)?.dims());
                    }
                }
            }
        }
        let x = numbers([1, 160], DType::F32)?;
        let weight = numbers([70, 161], DType::F32)?;
        assert!(x.linear_each(&[&weight, &weight]).is_err());
        Ok(())
    });
}
