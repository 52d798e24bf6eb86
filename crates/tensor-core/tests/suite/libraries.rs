//! Matrix products and convolutions by a platform's libraries, and without them.

use tensor_core::{Conv2dConfig, DType, Device, Result, Tensor};

use crate::common::{devices, on_devices, values};

/// Small integers, so that every sum is exact whichever way it is computed.
fn integers(shape: &[usize], step: usize, dtype: DType, device: &Device) -> Result<Tensor> {
    let count = shape.iter().product::<usize>();
    let numbers: Vec<f32> = (0..count).map(|index| ((index * step) % 7) as f32 - 3.0).collect();
    Tensor::from_vec(numbers, shape.to_vec(), device)?.to_dtype(dtype)
}

#[test]
fn a_convolution_is_right_whichever_way_it_takes() {
    let config = Conv2dConfig { padding: [1, 1], stride: [2, 1], groups: 2, ..Conv2dConfig::default() };
    let conv = |device: &Device, dtype| -> Result<[Vec<f64>; 2]> {
        let x = integers(&[2, 4, 6, 5], 3, dtype, device)?;
        let kernel = integers(&[6, 2, 3, 3], 5, dtype, device)?;
        let turned = integers(&[4, 3, 3, 3], 5, dtype, device)?;
        let bias = integers(&[6], 2, dtype, device)?;
        let forward = values(&x.conv2d_with(&kernel, Some(&bias), &config)?)?;
        Ok([forward, values(&x.conv_transpose2d_with(&turned, None, &config)?)?])
    };
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
        let expected = conv(&Device::Cpu, dtype).unwrap();
        on_devices(|device| {
            // More calls than there are ways, each of them tried several times.
            for turn in 0..20 {
                assert_eq!(conv(device, dtype)?, expected, "{dtype}, call {turn}");
            }
            Ok(())
        });
    }
}

#[test]
fn graphs_hold_what_libraries_do() {
    for device in devices() {
        // On a stream of its own: other tests use those of the shared devices meanwhile.
        let device = &Device::parse(&device.name()).unwrap();
        let Some(hip) = device.as_hip() else { continue };
        let products = |a: &Tensor, b: &Tensor, x: &Tensor, k: &Tensor| -> Result<[Tensor; 2]> {
            Ok([a.matmul(b)?, x.conv2d(k, 1, 1, 1, 1)?])
        };
        let [a, b, x, k] = [[8, 9, 1, 1], [9, 7, 1, 1], [2, 3, 8, 8], [4, 3, 3, 3]]
            .map(|shape| integers(&shape, 3, DType::F32, device).unwrap());
        let (a, b) = (a.reshape([8, 9]).unwrap(), b.reshape([9, 7]).unwrap());
        // What is loaded on first use cannot be captured.
        let expected = products(&a, &b, &x, &k).unwrap().map(|result| values(&result).unwrap());
        let mut made = None;
        let graph = hip.stream().capture(|_| {
            made = Some(products(&a, &b, &x, &k));
            Ok(())
        });
        let made = made.expect("the closure ran").unwrap();
        let graph = graph.unwrap().instantiate().unwrap();
        for _ in 0..2 {
            graph.launch(hip.stream()).unwrap();
            for (result, expected) in made.iter().zip(&expected) {
                assert_eq!(&values(result).unwrap(), expected, "on {device}");
            }
        }
    }
}

#[test]
fn products_of_strided_and_repeated_matrices() {
    on_devices(|device| {
        for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
            let a = integers(&[3, 20, 18], 3, dtype, device)?;
            let b = integers(&[3, 18, 24], 5, dtype, device)?;
            let plain = |a: &Tensor, b: &Tensor| -> Result<Vec<f64>> {
                let [a, b] = [a, b].map(|x| x.to_device(&Device::Cpu).and_then(|x| x.contiguous()));
                values(&a?.matmul(&b?)?)
            };
            let every_second = a.narrow(1, 0, 20)?.reshape([3, 10, 36])?.narrow(2, 0, 18)?;
            let repeated = a.narrow(1, 0, 1)?.expand([3, 20, 18])?;
            let swapped = b.narrow(2, 0, 18)?.t()?;
            let spread = b.reshape([3, 18, 12, 2])?.select(3, 1)?;
            let pairs = [
                (a.clone(), b.clone()),
                (a.narrow(1, 2, 17)?.narrow(2, 1, 16)?, b.narrow(1, 2, 16)?.narrow(2, 3, 20)?),
                (a.clone(), swapped),
                (every_second, b.clone()),
                (repeated, b.clone()),
                (a.clone(), spread),
                (a.narrow(0, 1, 1)?.expand([3, 20, 18])?, b.clone()),
                (a.clone(), b.narrow(0, 2, 1)?),
                (a.unsqueeze(1)?, b.unsqueeze(0)?),
                (a.narrow(0, 0, 1)?.narrow(1, 0, 1)?.expand([3, 1, 18])?, b.narrow(0, 0, 1)?),
                (a.narrow(1, 0, 1)?.expand([3, 20, 18])?, b.narrow(0, 0, 1)?),
            ];
            for (number, (a, b)) in pairs.iter().enumerate() {
                assert_eq!(values(&a.matmul(b)?)?, plain(a, b)?, "pair {number} in {dtype}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_device_without_libraries_has_a_name() {
    let Ok(device) = Device::parse("host:1:kernels") else { return };
    assert_eq!(
        (device.name().as_str(), device.as_hip().unwrap().uses_libraries()),
        ("host:1:kernels", false)
    );
    let device = Device::parse("host:1").unwrap();
    assert_eq!((device.name().as_str(), device.as_hip().unwrap().uses_libraries()), ("host:1", true));
    assert!(Device::parse("host:1:kernel").is_err() && Device::parse("cpu:kernels").is_err());
}
