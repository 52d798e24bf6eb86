//! Names and forms of arguments that candle has: axes, shapes with a hole, lengths, conversions, broadcasts, numbers in operators.

use crate::common::{on_devices, same, tensor, values};
use tensor_core::{D, DType, Device, F8E4M3, Result, Tensor, bf16, f16};

/// 0 to 23 of shape [2, 3, 4].
fn ramp(device: &Device) -> Result<Tensor> {
    Tensor::arange(0f32, 24.0, device)?.reshape((2, 3, 4))
}

#[track_caller]
fn says<T>(result: Result<T>, device: &Device, expected: &str) {
    match result {
        Ok(_) => panic!("no error, expected: {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected.replace('@', &device.to_string())),
    }
}

#[test]
fn axes_from_the_end_and_tuples_of_axes() {
    on_devices(|device| {
        let x = ramp(device)?;
        let rows = [6.0, 22.0, 38.0, 54.0, 70.0, 86.0];
        same(&x.sum(D::Minus1)?, &rows)?;
        same(&x.sum_keepdim((D::Minus1,))?, &rows)?;
        same(&x.max(D::Minus2)?, &[8.0, 9.0, 10.0, 11.0, 20.0, 21.0, 22.0, 23.0])?;
        same(&x.sum((D::Minus1, 0))?, &[6.0 + 54.0, 22.0 + 70.0, 38.0 + 86.0])?;
        same(&x.sum((0, 1, 2))?, &[276.0])?;
        same(&x.sum(())?, &values(&x)?)?;
        assert_eq!(x.permute((2, D::Minus(3), 1))?.dims(), [4, 2, 3]);
        assert_eq!(x.transpose(D::Minus1, D::Minus2)?.dims(), [2, 4, 3]);
        assert_eq!(x.unsqueeze(D::Minus1)?.dims(), [2, 3, 4, 1]);
        assert_eq!(x.chunk(2, D::Minus1)?[1].dims(), [2, 3, 2]);
        assert_eq!(x.narrow(D::Minus2, 1, 2)?.dims(), [2, 2, 4]);
        same(&x.reshape((6, 4))?.softmax(D::Minus1)?.sum(D::Minus1)?.round()?, &[1.0; 6])?;
        says(x.sum(D::Minus(4)), device, "sum: axis -4 is out of range for [2, 3, 4] on @");
        says(x.sum((0, D::Minus(3))), device, "sum: axis 0 is given twice for [2, 3, 4] on @");
        Ok(())
    });
}

#[test]
fn one_length_is_left_open() {
    on_devices(|device| {
        let x = ramp(device)?;
        assert_eq!(x.reshape(((), 4))?.dims(), [6, 4]);
        assert_eq!(x.reshape((2, (), 2, 2))?.dims(), [2, 3, 2, 2]);
        assert_eq!(x.reshape(((),))?.dims(), [24]);
        // Of a view that has to be copied, too.
        let turned = x.transpose(0, 2)?.reshape((4, ()))?;
        assert_eq!(turned.to_vec2::<f32>()?[1], [1.0, 13.0, 5.0, 17.0, 9.0, 21.0]);
        assert_eq!(x.narrow(0, 0, 0)?.reshape((4, ()))?.dims(), [4, 0]);
        let expected = "reshape: no single length in place of () gives [5, ()] 24 elements on @";
        says(x.reshape((5, ())), device, expected);
        let expected = "reshape: no single length in place of () gives [0, ()] 0 elements on @";
        says(x.narrow(0, 0, 0)?.reshape((0, ())), device, expected);
        Ok(())
    });
}

#[test]
fn lengths() {
    on_devices(|device| {
        let x = ramp(device)?;
        assert_eq!((x.dim(0)?, x.dim(D::Minus1)?, x.elem_count()), (2, 4, 24));
        assert_eq!(x.flatten()?.dims1()?, 24);
        assert_eq!(x.reshape((6, 4))?.dims2()?, (6, 4));
        assert_eq!(x.dims3()?, (2, 3, 4));
        assert_eq!(x.unsqueeze(0)?.dims4()?, (1, 2, 3, 4));
        assert_eq!(x.reshape((1, 2, 3, 4, 1))?.dims5()?, (1, 2, 3, 4, 1));
        says(x.dims2(), device, "dims2: [2, 3, 4] has rank 3, expected 2 on @");
        says(x.dim(3), device, "dim: axis 3 is out of range for [2, 3, 4] on @");
        Ok(())
    });
}

#[test]
fn numbers_and_vectors_from_tensors() {
    on_devices(|device| {
        let x = ramp(device)?;
        assert_eq!(x.sum_all()?.to_scalar::<f32>()?, 276.0);
        assert_eq!(f32::try_from(&x.sum_all()?)?, 276.0);
        assert_eq!(f64::try_from(x.sum_all()?.to_dtype(DType::F64)?)?, 276.0);
        assert_eq!(i64::try_from(&Tensor::new(-7i64, device)?)?, -7);
        assert_eq!(i32::try_from(&Tensor::new(-7i32, device)?)?, -7);
        assert_eq!(i16::try_from(&Tensor::new(-7i16, device)?)?, -7);
        assert_eq!(u32::try_from(&Tensor::new(7u32, device)?)?, 7);
        assert_eq!(u8::try_from(&Tensor::new(7u8, device)?)?, 7);
        assert_eq!(f16::try_from(&Tensor::new(f16::ONE, device)?)?, f16::ONE);
        assert_eq!(bf16::try_from(&Tensor::new(bf16::ONE, device)?)?, bf16::ONE);
        let eighth = F8E4M3::from_f32(0.125);
        assert_eq!(F8E4M3::try_from(&Tensor::new(eighth, device)?)?, eighth);
        assert_eq!(Vec::<f32>::try_from(&x.narrow(2, 1, 1)?.flatten()?)?, [1.0, 5.0, 9.0, 13.0, 17.0, 21.0]);
        let rows: Vec<Vec<f32>> = x.get(1)?.t()?.try_into()?;
        assert_eq!(rows[3], [15.0, 19.0, 23.0]);
        let planes: Vec<Vec<Vec<f32>>> = (&x).try_into()?;
        assert_eq!(planes[1][0], [12.0, 13.0, 14.0, 15.0]);
        says(f32::try_from(&x), device, "to_vec0: [2, 3, 4] has rank 3, expected 0 on @");
        assert!(f64::try_from(&x.sum_all()?).is_err(), "it is f32");
        Ok(())
    });
}

#[test]
fn names_that_say_broadcast() {
    on_devices(|device| {
        let x = tensor([[1.0, 2.0], [3.0, 4.0]], DType::F32, device)?;
        let row = tensor([2.0, 3.0], DType::F32, device)?;
        same(&x.broadcast_add(&row)?, &[3.0, 5.0, 5.0, 7.0])?;
        same(&x.broadcast_sub(&row)?, &[-1.0, -1.0, 1.0, 1.0])?;
        same(&x.broadcast_mul(&row)?, &[2.0, 6.0, 6.0, 12.0])?;
        same(&row.broadcast_div(&x.get(0)?)?, &[2.0, 1.5])?;
        same(&x.broadcast_pow(&row)?, &[1.0, 8.0, 9.0, 64.0])?;
        same(&x.broadcast_maximum(&row)?, &[2.0, 3.0, 3.0, 4.0])?;
        same(&x.broadcast_minimum(&row)?, &[1.0, 2.0, 2.0, 3.0])?;
        same(&x.broadcast_eq(&tensor([1.0, 4.0], DType::F32, device)?)?, &[1.0, 0.0, 0.0, 1.0])?;
        same(&x.broadcast_ne(&tensor([1.0, 4.0], DType::F32, device)?)?, &[0.0, 1.0, 1.0, 0.0])?;
        let bounds = tensor([3.0, 2.0], DType::F32, device)?;
        same(&x.broadcast_lt(&bounds)?, &[1.0, 0.0, 0.0, 0.0])?;
        same(&x.broadcast_le(&bounds)?, &[1.0, 1.0, 1.0, 0.0])?;
        same(&x.broadcast_gt(&bounds)?, &[0.0, 0.0, 0.0, 1.0])?;
        same(&x.broadcast_ge(&bounds)?, &[0.0, 1.0, 1.0, 1.0])?;
        // One matrix for both of a batch.
        let batch = Tensor::stack(&[&x, &(&x * 2.0)?], 0)?;
        let product = [7.0, 10.0, 15.0, 22.0, 14.0, 20.0, 30.0, 44.0];
        same(&batch.broadcast_matmul(&x)?, &product)
    });
}

#[test]
fn numbers_in_operators() {
    on_devices(|device| {
        for dtype in [DType::F16, DType::F32, DType::F64] {
            let x = tensor([1.0, 2.0, 4.0], dtype, device)?;
            let half = 0.5f32;
            same(&(&x + half)?, &[1.5, 2.5, 4.5])?;
            same(&(&x - half)?, &[0.5, 1.5, 3.5])?;
            same(&(&x * half)?, &[0.5, 1.0, 2.0])?;
            same(&(x.clone() / half)?, &[2.0, 4.0, 8.0])?;
            same(&(&x % 1.5f32)?, &[1.0, 0.5, 1.0])?;
            // Literals without a suffix, used at once, and beside other operators.
            same(&(&x * 0.5)?.add(&x)?, &[1.5, 3.0, 6.0])?;
            same(&(1.0 - (&x * 2)?)?.abs()?, &[1.0, 3.0, 7.0])?;
            same(&((8.0 / &x)? + &x * 0.5f32)?, &[8.5, 5.0, 4.0])?;
        }
        let big = Tensor::new([1i64 << 40], device)?;
        assert_eq!((&big + 4_000_000_000)?.to_vec::<i64>()?, [(1 << 40) + 4_000_000_000]);
        // f32 has 0.1 with fewer digits than f64, and is not rounded again.
        let x = Tensor::zeros(1, DType::F64, device)?;
        assert_eq!((&x + 0.1f32)?.to_vec::<f64>()?, [f64::from(0.1f32)]);
        Ok(())
    });
}
