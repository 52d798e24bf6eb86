//! Tensors joined, cut, repeated, rolled, padded and spread, against values worked out by hand.

use crate::common::{layouts, on_devices, same, tensor, values, vector};
use tensor_core::{DType, Device, Result, Tensor};

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("an error was expected"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn cat_and_stack() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let a = tensor([[1.0, 2.0], [3.0, 4.0]], dtype, device)?;
            let b = tensor([[5.0], [6.0]], dtype, device)?;
            for ((_, a), (_, b)) in layouts(&a)?.into_iter().zip(layouts(&b)?) {
                same(&Tensor::cat(&[&a, &b], 1)?, &[1.0, 2.0, 5.0, 3.0, 4.0, 6.0])?;
                same(&Tensor::cat(&[&b, &a, &b], -1)?, &[5.0, 1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 6.0])?;
                same(&Tensor::cat(&[&a, &a.t()?], 0)?, &[1.0, 2.0, 3.0, 4.0, 1.0, 3.0, 2.0, 4.0])?;
                same(&Tensor::stack(&[&a, &a.t()?], 0)?, &[1.0, 2.0, 3.0, 4.0, 1.0, 3.0, 2.0, 4.0])?;
                same(&Tensor::stack(&[&a, &a.t()?], 1)?, &[1.0, 2.0, 1.0, 3.0, 3.0, 4.0, 2.0, 4.0])?;
                same(&Tensor::stack(&[&a, &a.t()?], -1)?, &[1.0, 1.0, 2.0, 3.0, 3.0, 2.0, 4.0, 4.0])?;
            }
        }
        let one = vector(&[1f32, 2.0], device)?;
        assert!(Tensor::cat(&[&one], 0)?.shares_storage(&one));
        assert_eq!(Tensor::stack(&[&one], 1)?.dims(), [2, 1]);
        let row = one.expand([2, 2])?;
        same(&Tensor::cat(&[&row, &one.unsqueeze(0)?], 0)?, &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0])?;
        let empty = Tensor::zeros([2, 0], DType::F32, device)?;
        same(&Tensor::cat(&[&empty, &row, &empty], 1)?, &[1.0, 2.0, 1.0, 2.0])?;
        assert_eq!(Tensor::cat(&[&empty, &empty], 0)?.dims(), [4, 0]);
        let scalars: Vec<Tensor> = (0..3).map(|i| Tensor::new(i, device)).collect::<Result<_>>()?;
        assert_eq!(Tensor::stack(&scalars, 0)?.to_vec1::<i32>()?, [0, 1, 2]);
        // Rows longer than a block of the CPU's loops.
        let long = Tensor::arange(0u32, 9000, device)?.reshape([3, 3000])?;
        let both = Tensor::cat(&[&long, &long.narrow(1, 100, 5)?], 1)?;
        let expected: Vec<u32> =
            (0..3).flat_map(|row| (0..3000).chain(100..105).map(move |column| row * 3000 + column)).collect();
        assert_eq!(both.to_vec::<u32>()?, expected);
        Ok(())
    });
}

#[test]
fn joins_say_what_does_not_fit() {
    on_devices(|device| {
        let (a, b) = (Tensor::ones([2, 3], DType::F32, device)?, Tensor::ones([2, 4], DType::F32, device)?);
        assert_eq!(
            message(Tensor::cat(&[&a, &b], 0)),
            format!("cat: [2, 3] and [2, 4] differ along another axis than 0 on {device}")
        );
        assert_eq!(
            message(Tensor::cat(&[&a, &b.flatten()?], 0)),
            format!("cat: [2, 3] and [8] differ along another axis than 0 on {device}")
        );
        assert_eq!(
            message(Tensor::stack(&[&a, &b], 0)),
            format!("stack: shapes differ: [2, 3] and [2, 4] on {device}")
        );
        assert_eq!(
            message(Tensor::stack(&[&a], 3)),
            format!("stack: axis 3 is out of range for [2, 3] on {device}")
        );
        assert_eq!(message(Tensor::cat::<Tensor>(&[], 0)), "cat: no tensors given: at least one is needed");
        assert_eq!(
            message(Tensor::stack::<&Tensor>(&[], 0)),
            "stack: no tensors given: at least one is needed"
        );
        assert_eq!(
            message(Tensor::cat(&[&a, &a.to_dtype(DType::F16)?], 0)),
            format!("cat: dtypes differ: f32 and f16 on {device}; cast one of them with to_dtype")
        );
        assert_eq!(
            message(Tensor::cat(&[&a], 2)),
            format!("cat: axis 2 is out of range for [2, 3] on {device}")
        );
        if !device.is_cpu() {
            let elsewhere = a.to_device(&Device::Cpu)?;
            assert!(
                message(Tensor::cat(&[&a, &elsewhere], 0)).starts_with("cat: operands lie on two devices")
            );
        }
        Ok(())
    });
}

#[test]
fn cuts_are_views() {
    on_devices(|device| {
        let x = Tensor::arange(0i32, 14, device)?.reshape([2, 7])?;
        let parts = x.chunk(3, 1)?;
        assert_eq!(parts.iter().map(|part| part.dims()[1]).collect::<Vec<_>>(), [3, 2, 2]);
        assert!(parts.iter().all(|part| part.shares_storage(&x)));
        assert_eq!(parts[1].to_vec::<i32>()?, [3, 4, 10, 11]);
        assert_eq!(x.chunk(5, 0)?.len(), 2);
        for count in [3, usize::MAX] {
            assert_eq!(Tensor::zeros([0], DType::F32, device)?.chunk(count, 0)?.len(), 1);
        }
        assert_eq!(
            message(x.chunk(0, 1)),
            format!("chunk: 0 chunks of [2, 7] make no sense: at least 1 is needed on {device}")
        );
        let parts = x.split(3, -1)?;
        assert_eq!(parts.iter().map(|part| part.dims()[1]).collect::<Vec<_>>(), [3, 3, 1]);
        assert_eq!(parts[2].to_vec::<i32>()?, [6, 13]);
        assert_eq!(
            message(x.split(0, 1)),
            format!("split: parts of 0 elements of [2, 7] make no sense: at least 1 is needed on {device}")
        );
        let parts = x.split_with_sizes(&[1, 0, 6], 1)?;
        assert_eq!(parts.iter().map(|part| part.dims()[1]).collect::<Vec<_>>(), [1, 0, 6]);
        assert_eq!(parts[2].to_vec::<i32>()?, [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13]);
        assert_eq!(
            message(x.split_with_sizes(&[1, 2], 1)),
            format!("split_with_sizes: [1, 2] do not add up to axis 1 of [2, 7] on {device}")
        );
        Ok(())
    });
}

#[test]
fn repetitions_and_rolls() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[1.0, 2.0], [3.0, 4.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.repeat([1, 2])?, &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0])?;
                same(&x.repeat([2, 1])?, &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0])?;
                same(&x.roll(1, 1)?, &[2.0, 1.0, 4.0, 3.0])?;
                same(&x.roll(-3, 0)?, &[3.0, 4.0, 1.0, 2.0])?;
            }
        }
        let x = vector(&[1u8, 2, 3], device)?;
        assert_eq!(x.repeat([2, 1, 2])?.dims(), [2, 1, 6]);
        assert_eq!(x.repeat([2, 2])?.to_vec2::<u8>()?, [[1, 2, 3, 1, 2, 3]; 2]);
        assert_eq!(x.repeat(0)?.dims(), [0]);
        assert_eq!(x.reshape([3, 1])?.repeat(2)?.dims(), [6, 1]);
        assert_eq!(x.roll(2, 0)?.to_vec::<u8>()?, [2, 3, 1]);
        assert_eq!(x.roll(i64::MIN, 0)?.to_vec::<u8>()?, [3, 1, 2]); // −2^63 is 1 modulo 3
        assert!(x.roll(-6, 0)?.shares_storage(&x));
        assert_eq!(Tensor::zeros([0, 2], DType::F32, device)?.roll(1, 0)?.dims(), [0, 2]);
        let text = message(x.repeat(usize::MAX / 2));
        assert!(text.starts_with("repeat: ") && text.contains("too large"), "{text}");
        Ok(())
    });
}

#[test]
fn borders() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = tensor([[1.0, 2.0], [3.0, 4.0]], dtype, device)?;
            for (_, x) in layouts(&x)? {
                same(&x.pad_with_zeros(1, 1, 0)?, &[0.0, 1.0, 2.0, 0.0, 3.0, 4.0])?;
                same(&x.pad_with_zeros(0, 0, 1)?, &[1.0, 2.0, 3.0, 4.0, 0.0, 0.0])?;
                same(&x.pad_with_same(1, 1, 2)?, &[1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 4.0])?;
                same(&x.pad_with_same(0, 1, 0)?, &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0])?;
                // One behind each row, one row before.
                same(&x.pad(&[0, 1, 1, 0], 9)?, &[9.0, 9.0, 9.0, 1.0, 2.0, 9.0, 3.0, 4.0, 9.0])?;
                same(&x.pad(&[1, 0], 7)?, &[7.0, 1.0, 2.0, 7.0, 3.0, 4.0])?;
                same(&x.pad(&[], 7)?, &[1.0, 2.0, 3.0, 4.0])?;
            }
        }
        let empty = Tensor::zeros([2, 0], DType::F32, device)?;
        same(&empty.pad(&[1, 1], 2.5)?, &[2.5; 4])?;
        assert_eq!(empty.pad_with_same(1, 0, 0)?.dims(), [2, 0]);
        assert_eq!(
            message(empty.pad_with_same(1, 1, 0)),
            format!("pad_with_same: [2, 0] has no element along axis 1 to repeat on {device}")
        );
        assert_eq!(
            message(empty.pad(&[1, 1, 1], 0)),
            format!(
                "pad: 3 numbers given for [2, 0]: there is a pair for each padded axis, the last axis first on {device}"
            )
        );
        let text = message(vector(&[1f32], device)?.pad_with_zeros(0, usize::MAX, 1));
        assert!(text.starts_with("pad_with_zeros: ") && text.contains("too large"), "{text}");
        Ok(())
    });
}

#[test]
fn merged_axes_and_grids() {
    on_devices(|device| {
        let x = Tensor::arange(0i64, 24, device)?.reshape([2, 3, 4])?;
        assert_eq!(x.flatten_all()?.dims(), [24]);
        assert_eq!(x.flatten_from(1)?.dims(), [2, 12]);
        assert_eq!(x.flatten_to(-2)?.dims(), [6, 4]);
        assert_eq!(x.flatten_axes(1, 1)?.dims(), [2, 3, 4]);
        assert_eq!(x.transpose(0, 2)?.flatten_from(0)?.to_vec::<i64>()?[..4], [0, 12, 4, 16]);
        assert_eq!(
            message(x.flatten_axes(2, 0)),
            format!("flatten_axes: axis 0 comes before axis 2 of [2, 3, 4] on {device}")
        );
        let (a, b) = (vector(&[1f32, 2.0, 3.0], device)?, vector(&[10f32, 20.0], device)?);
        let grids = Tensor::meshgrid(&[&a, &b], false)?;
        same(&grids[0], &[1.0, 1.0, 2.0, 2.0, 3.0, 3.0])?;
        same(&grids[1], &[10.0, 20.0, 10.0, 20.0, 10.0, 20.0])?;
        assert_eq!(grids[0].dims(), [3, 2]);
        let grids = Tensor::meshgrid(&[&a, &b], true)?;
        assert_eq!(grids[0].dims(), [2, 3]);
        same(&grids[0], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0])?;
        same(&grids[1], &[10.0, 10.0, 10.0, 20.0, 20.0, 20.0])?;
        assert_eq!(
            message(Tensor::meshgrid(&[&x], false)),
            format!("meshgrid: [2, 3, 4] has rank 3, expected 1 on {device}")
        );
        Ok(())
    });
}

#[test]
fn equal_distances() {
    on_devices(|device| {
        assert_eq!(Tensor::linspace(0f32, 1.0, 5, device)?.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(Tensor::linspace(10i32, 0, 6, device)?.to_vec::<i32>()?, [10, 8, 6, 4, 2, 0]);
        assert_eq!(Tensor::linspace(3f64, 4.0, 1, device)?.to_vec::<f64>()?, [3.0]);
        assert_eq!(Tensor::linspace(3f64, 4.0, 0, device)?.dims(), [0]);
        assert_eq!(values(&Tensor::linspace(-f64::MAX, f64::MAX, 3, device)?)?, [-f64::MAX, 0.0, f64::MAX]);
        assert_eq!(
            Tensor::linspace(0f32, 1.0, 4, device)?.to_vec::<f32>()?,
            [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]
        );
        assert_eq!(
            message(Tensor::linspace(0f32, f32::INFINITY, 4, device)),
            format!("linspace: from 0 to inf is no range: both ends must be finite on {device}")
        );
        Ok(())
    });
}
