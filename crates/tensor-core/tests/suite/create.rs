//! Making tensors, reading them back, and the operators.

use crate::common::{on_devices, values, vector};
use tensor_core::{DType, Device, F8E4M3, Result, Tensor, bf16, f16};

#[test]
fn nested_arrays() {
    on_devices(|device| {
        assert_eq!(Tensor::new(5u8, device)?.to_vec0::<u8>()?, 5);
        assert_eq!(Tensor::new([[[1i64, 2]], [[3, 4]]], device)?.to_vec3::<i64>()?, [[[1, 2]], [[3, 4]]]);
        assert_eq!(Tensor::new(vec![vec![1f64], vec![2.0]], device)?.dims(), [2, 1]);
        assert_eq!(Tensor::new(&[1i16, 2][..], device)?.to_vec1::<i16>()?, [1, 2]);
        assert_eq!(Tensor::new([[0f32; 0]; 3], device)?.dims(), [3, 0]);
        assert_eq!(Tensor::new(Vec::<[f32; 4]>::new(), device)?.dims(), [0, 4]);
        assert_eq!(Tensor::new([bf16::ONE], device)?.dtype(), DType::BF16);
        assert_eq!(Tensor::new([F8E4M3::MAX], device)?.to_vec1::<F8E4M3>()?[0].to_f32(), 448.0);
        Ok(())
    });
}

#[test]
fn constants_and_ranges() {
    on_devices(|device| {
        for dtype in DType::ALL {
            assert_eq!(values(&Tensor::zeros([2, 2], dtype, device)?)?, [0.0; 4]);
            assert_eq!(values(&Tensor::ones(3, dtype, device)?)?, [1.0; 3]);
            assert_eq!(values(&Tensor::full(7, (), dtype, device)?)?, [7.0]);
            let eye = Tensor::eye(3, dtype, device)?;
            assert_eq!(values(&eye)?, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
            assert_eq!(values(&eye.ones_like()?.sub(&eye.zeros_like()?)?)?, [1.0; 9]);
        }
        assert_eq!(Tensor::eye(0, DType::F32, device)?.dims(), [0, 0]);
        assert_eq!(Tensor::arange(2i32, 5, device)?.to_vec1::<i32>()?, [2, 3, 4]);
        assert_eq!(Tensor::arange(5i32, 2, device)?.dims(), [0]);
        assert_eq!(Tensor::arange_step(5i64, 0, -2, device)?.to_vec1::<i64>()?, [5, 3, 1]);
        assert_eq!(
            Tensor::arange_step(i64::MIN, i64::MAX, i64::MAX, device)?.to_vec1::<i64>()?,
            [i64::MIN, -1, i64::MAX - 1]
        );
        assert_eq!(Tensor::arange_step(0f32, 1.0, 0.25, device)?.to_vec1::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
        assert_eq!(Tensor::arange_step(0f64, 1.0, 0.3, device)?.dims(), [4]);
        assert_eq!(values(&Tensor::arange(f16::ZERO, f16::from_f32(3.5), device)?)?, [0.0, 1.0, 2.0, 3.0]);
        Ok(())
    });
}

#[test]
fn ranges_are_computed_from_indices() {
    on_devices(|device| {
        // More elements than a block has, in number no multiple of a vector's.
        const MANY: i64 = 20_003;
        let x = Tensor::arange_step(-7i64, 3 * MANY - 7, 3, device)?;
        assert_eq!(x.to_vec::<i64>()?, (0..MANY).map(|i| 3 * i - 7).collect::<Vec<_>>());
        let x = Tensor::arange(-10_001i16, 10_002, device)?;
        assert_eq!(x.to_vec::<i16>()?, (-10_001..10_002).collect::<Vec<_>>());
        let x = Tensor::arange_step(0f32, 5000.75, 0.25, device)?;
        assert_eq!(values(&x)?, (0..MANY).map(|i| i as f64 / 4.0).collect::<Vec<_>>());
        let x = Tensor::linspace(f16::from_f32(-2048.0), f16::from_f32(2048.0), 4097, device)?;
        assert_eq!(values(&x)?, (-2048..=2048).map(f64::from).collect::<Vec<_>>());
        let x = Tensor::linspace(0f64, 20_002.0, 20_003, device)?;
        assert_eq!(values(&x)?, (0..MANY).map(|i| i as f64).collect::<Vec<_>>());
        // 3 times 0.1 is 2⁻⁵⁵ above 0.3, and its rounding twice as much.
        let x = Tensor::arange_step(-0.3f64, 0.1, 0.1, device)?;
        assert_eq!(x.to_vec::<f64>()?[3], 2f64.powi(-55));
        // The ends are not rounded, and their distance may overflow.
        let x = Tensor::linspace(i64::MAX, i64::MIN + 1, 3, device)?;
        assert_eq!(x.to_vec::<i64>()?, [i64::MAX, 0, i64::MIN + 1]);
        let (far, half) = (2f64.powi(1023), 2f64.powi(1022));
        let x = Tensor::linspace(-far, far, 5, device)?;
        assert_eq!(values(&x)?, [-far, -half, 0.0, half, far]);
        Ok(())
    });
}

#[test]
fn reading_a_view_gives_its_elements_only() {
    on_devices(|device| {
        let x = Tensor::arange(0u32, 1000, device)?.reshape([10, 100])?;
        let view = x.narrow(0, 3, 2)?.narrow(1, 98, 2)?;
        assert_eq!(view.to_vec2::<u32>()?, [[398, 399], [498, 499]]);
        assert_eq!(view.to_cpu_storage()?.len(), 4);
        assert_eq!(view.to_bytes()?.len(), 16);
        assert_eq!(x.t()?.get(7)?.to_vec1::<u32>()?, (0..10).map(|i| i * 100 + 7).collect::<Vec<_>>());
        let moved = view.to_device(&Device::Cpu)?;
        assert_eq!(moved.to_vec::<u32>()?, [398, 399, 498, 499]);
        assert!(device.is_cpu() || moved.storage().len() == 4);
        Ok(())
    });
}

#[test]
fn operators() {
    on_devices(|device| -> Result<()> {
        let a = vector(&[1f32, 2.0, 4.0], device)?;
        let b = vector(&[2f32, 2.0, 8.0], device)?;
        assert_eq!((&a + &b)?.to_vec1::<f32>()?, [3.0, 4.0, 12.0]);
        assert_eq!((&a - b.clone())?.to_vec1::<f32>()?, [-1.0, 0.0, -4.0]);
        assert_eq!((a.clone() * &b)?.to_vec1::<f32>()?, [2.0, 4.0, 32.0]);
        assert_eq!((&a / &b)?.to_vec1::<f32>()?, [0.5, 1.0, 0.5]);
        assert_eq!((&b % 3.0)?.to_vec1::<f32>()?, [2.0, 2.0, 2.0]);
        assert_eq!((-&a)?.to_vec1::<f32>()?, [-1.0, -2.0, -4.0]);
        // Results are taken on either side.
        assert_eq!((&a + &b * 2.0)?.to_vec1::<f32>()?, [5.0, 6.0, 20.0]);
        assert_eq!(((&a + &b) * &a)?.to_vec1::<f32>()?, [3.0, 8.0, 48.0]);
        assert_eq!((1.0 - &a)?.to_vec1::<f32>()?, [0.0, -1.0, -3.0]);
        assert_eq!((8.0 / &a)?.to_vec1::<f32>()?, [8.0, 4.0, 2.0]);
        // −0 stays −0 when multiplied, and integers divide as integers.
        assert!((vector(&[-0f32], device)? * 1.0)?.to_vec1::<f32>()?[0].is_sign_negative());
        assert_eq!((vector(&[7i32, -7], device)? / 2.0)?.to_vec1::<i32>()?, [3, -3]);
        assert!((&a + vector(&[1f32, 2.0], device)?).is_err());
        Ok(())
    });
}

#[test]
fn to_dtype_and_to_device_of_the_same_are_free() {
    on_devices(|device| {
        let x = Tensor::zeros(10, DType::F32, device)?;
        assert!(x.to_dtype(DType::F32)?.shares_storage(&x));
        assert!(x.to_device(device)?.shares_storage(&x));
        assert!(x.contiguous()?.shares_storage(&x));
        Ok(())
    });
}
