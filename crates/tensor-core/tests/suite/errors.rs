//! What the messages say: the operation, the shapes, the dtypes, the device, and what to do.

use crate::common::on_devices;
use tensor_core::{DType, Device, ErrorKind, Result, Tensor};

/// Asserts a message, in which `@` stands for the device.
#[track_caller]
fn says<T>(result: Result<T>, device: &Device, expected: &str) {
    match result {
        Ok(_) => panic!("no error, expected: {expected}"),
        Err(error) => assert_eq!(error.to_string(), expected.replace('@', &device.to_string())),
    }
}

#[test]
fn shapes() {
    on_devices(|device| {
        let x = Tensor::zeros([2, 3], DType::F32, device)?;
        let y = Tensor::zeros([4, 5], DType::F32, device)?;
        says(x.matmul(&y), device, "matmul: inner dimensions differ: [2, 3] x [4, 5] on @");
        says(&x + &y, device, "add: shapes do not broadcast: [2, 3] and [4, 5] on @");
        says(x.le(&y), device, "le: shapes do not broadcast: [2, 3] and [4, 5] on @");
        says(x.reshape([4, 2]), device, "reshape: [2, 3] has 6 elements, [4, 2] has 8 on @");
        says(
            x.reshape([1 << 40, 1 << 40]),
            device,
            "reshape: [2, 3] has 6 elements, [1099511627776, 1099511627776] has more than 2^64 on @",
        );
        says(
            x.t()?.view(6),
            device,
            "view: [3, 2] with strides [1, 3] cannot be viewed as [6] without a copy on @; use reshape, which copies where it must",
        );
        says(
            x.narrow(1, 2, 2),
            device,
            "narrow: range of 2 from 2 is out of range for axis 1 of [2, 3] on @",
        );
        says(
            x.narrow(0, usize::MAX, 2),
            device,
            "narrow: range of 2 from 18446744073709551615 is out of range for axis 0 of [2, 3] on @",
        );
        says(x.squeeze(2), device, "squeeze: axis 2 is out of range for [2, 3] on @");
        says(x.unsqueeze(3), device, "unsqueeze: axis 3 is out of range for [2, 3] on @");
        says(x.expand([2, 4]), device, "expand: [2, 3] does not broadcast to [2, 4] on @");
        says(x.expand(3), device, "expand: [2, 3] does not broadcast to [3] on @");
        says(x.permute([0]), device, "permute: 1 axes given to permute [2, 3] on @");
        says(x.permute([0, 0]), device, "permute: axis 0 is given twice for [2, 3] on @");
        says(x.transpose(0, 2), device, "transpose: axis 2 is out of range for [2, 3] on @");
        says(x.get(2), device, "select: index 2 is out of range for axis 0 of [2, 3] on @");
        says(x.to_vec1::<f32>(), device, "to_vec1: [2, 3] has rank 2, expected 1 on @");
        says(x.to_vec0::<f32>(), device, "to_vec0: [2, 3] has rank 2, expected 0 on @");
        says(x.get(0)?.t(), device, "t: [3] has rank 1, expected at least 2 on @");
        let scalar = Tensor::zeros((), DType::F32, device)?;
        says(scalar.matmul(&x), device, "matmul: [] has rank 0, expected at least 1 on @");
        let batch =
            (Tensor::zeros([2, 2, 3], DType::F32, device)?, Tensor::zeros([3, 3, 2], DType::F32, device)?);
        says(
            batch.0.matmul(&batch.1),
            device,
            "matmul: shapes do not broadcast: [2, 2, 3] and [3, 3, 2] on @",
        );
        Ok(())
    });
}

#[test]
fn sizes_that_overflow() {
    on_devices(|device| {
        let huge = [1 << 40, 1 << 40];
        let what = "[1099511627776, 1099511627776] is too large: its size does not fit the 64-bit address space on @";
        says(Tensor::zeros(huge, DType::U8, device), device, &format!("zeros: {what}"));
        says(Tensor::full(1, huge, DType::U8, device), device, &format!("full: {what}"));
        says(Tensor::from_vec(vec![1f32], huge, device), device, &format!("from_vec: {what}"));
        says(Tensor::from_bytes(&[0], DType::F32, huge, device), device, &format!("from_bytes: {what}"));
        let one = Tensor::zeros(1, DType::U8, device)?;
        says(one.expand(huge), device, &format!("expand: {what}"));
        // Each of these fits, their broadcast does not.
        let row = one.expand([1, 1 << 40])?;
        let column = one.expand([1 << 40, 1])?;
        says(row.add(&column), device, &format!("add: {what}"));
        // What fits the address space but not this machine's memory is an error too.
        let error = Tensor::zeros(1usize << 46, DType::F64, device).unwrap_err();
        assert!(error.to_string().contains("out of memory") || !device.is_cpu(), "{error}");
        let error = one.expand([1 << 50])?.contiguous().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }) || !device.is_cpu(), "{error}");
        Ok(())
    });
}

#[test]
fn dtypes() {
    on_devices(|device| {
        let x = Tensor::zeros([2, 3], DType::F32, device)?;
        let y = Tensor::zeros([2, 3], DType::F16, device)?;
        let i = Tensor::zeros([2, 3], DType::I32, device)?;
        says(&x * &y, device, "mul: dtypes differ: f32 and f16 on @; cast one of them with to_dtype");
        says(x.matmul(&y), device, "matmul: dtypes differ: f32 and f16 on @; cast one of them with to_dtype");
        says(
            i.exp(),
            device,
            "exp: i32 is not supported (shape [2, 3]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        says(
            i.pow(&i),
            device,
            "pow: i32 is not supported (shape [2, 3]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        says(
            i.elu(1),
            device,
            "elu: i32 is not supported (shape [2, 3]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        says(
            i.t()?.matmul(&i),
            device,
            "matmul: i32 is not supported (shape [3, 2]) on @; cast it to a float first: to_dtype(DType::F32)",
        );
        says(x.to_vec::<i32>(), device, "to_vec: the tensor is f32, not i32 on @; cast it with to_dtype");
        Ok(())
    });
}

#[test]
fn devices_differ() {
    let devices = crate::common::devices();
    let Some((first, second)) = devices.first().zip(devices.get(1)) else { return };
    let x = Tensor::zeros(3, DType::F32, first).unwrap();
    let y = Tensor::zeros(3, DType::F32, second).unwrap();
    let expected =
        format!("add: operands lie on two devices, {first} and {second}; move one of them with to_device");
    assert_eq!(x.add(&y).unwrap_err().to_string(), expected);
    assert!(matches!(x.matmul(&y).unwrap_err().kind(), ErrorKind::DeviceMismatch { .. }));
    assert!(matches!(x.clone().copy_from_(&y).unwrap_err().kind(), ErrorKind::DeviceMismatch { .. }));
    assert!(x.add(&y.to_device(first).unwrap()).is_ok());
}

#[cfg(all(feature = "host", feature = "nvidia"))]
#[test]
fn names_that_others_give_devices() {
    for (name, meant) in [
        ("cuda:0", ": write nvidia:0"),
        ("rocm:0", ": write amd:0"),
        ("AMD:0", ": write amd:0"),
        ("HOST:1:kernels", ": write host:1:kernels"),
        ("host:x", ": a number follows host, as in host:0"),
        ("cpu:0", ": write cpu"),
        ("metal:0", ""),
    ] {
        let expected = format!("device: {name:?} is none of cpu amd:N nvidia:N host:N{meant}");
        assert_eq!(Device::parse(name).unwrap_err().to_string(), expected);
    }
}

/// A device that is opened twice is two devices of one name.
#[test]
fn a_device_that_was_opened_twice_is_named_as_such() {
    for first in crate::common::devices() {
        let second = Device::parse(&first.name()).unwrap();
        let x = Tensor::ones(3, DType::F32, first).unwrap();
        let y = Tensor::ones(3, DType::F32, &second).unwrap();
        let (Some(one), Some(two)) = (first.as_hip(), second.as_hip()) else {
            // There is one CPU, however often it is named.
            assert_eq!(x.add(&y).unwrap().to_vec::<f32>().unwrap(), [2.0; 3]);
            continue;
        };
        assert_ne!(one.stream().id(), two.stream().id());
        let expected = format!(
            "add: operands lie on two devices, {first} with {} and {second} with {}: it was opened twice, and each time it got a stream of \
             its own; clone the device in place of opening it again, or move one of the operands with to_device",
            one.stream(),
            two.stream(),
        );
        let error = x.add(&y).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(matches!(error.kind(), ErrorKind::DeviceMismatch { opened_twice: true, .. }));
        // Whichever operation it is.
        let joined = Tensor::cat(&[&x, &y], 0).unwrap_err().to_string();
        assert_eq!(joined, expected.replace("add:", "cat:"));
        assert!(x.add(&y.to_device(first).unwrap()).is_ok());
        assert!(x.add(&Tensor::ones(3, DType::F32, &first.clone()).unwrap()).is_ok());
    }
}

#[test]
fn data() {
    on_devices(|device| {
        says(
            Tensor::from_vec(vec![1f32; 5], [2, 3], device),
            device,
            "from_vec: 5 elements given for [2, 3], which needs 6 on @",
        );
        says(
            Tensor::from_bytes(&[0; 5], DType::F32, 2, device),
            device,
            "from_bytes: 5 bytes given for [2], which needs 8 on @",
        );
        let ragged = Tensor::new(vec![vec![1f32, 2.0], vec![3.0]], device).unwrap_err();
        assert_eq!(ragged.to_string(), "new: rows of different lengths: [2] and [1]");
        let range = Tensor::arange_step(0i32, 5, 0, device).unwrap_err();
        assert_eq!(
            range.to_string(),
            "arange: from 0 to 5 by 0 is no range: the step must not be zero, and all must be finite"
        );
        assert!(Tensor::arange(0f32, f32::NAN, device).is_err());
        assert!(Tensor::arange(0f64, f64::INFINITY, device).is_err());
        assert!(Tensor::arange_step(0f64, 1e300, 1e-300, device).is_err());
        Ok(())
    });
}

#[test]
fn parts_of_an_error_can_be_matched() {
    let x = Tensor::zeros([2, 3], DType::F32, &Device::Cpu).unwrap();
    let error = x.matmul(&x).unwrap_err();
    assert_eq!((error.operation(), error.device()), ("matmul", Some("cpu")));
    match error.kind() {
        ErrorKind::InnerDimensions { lhs, rhs } => {
            assert_eq!((&lhs[..], &rhs[..]), (&[2, 3][..], &[2, 3][..]))
        }
        other => panic!("{other:?}"),
    }
    assert!(size_of::<tensor_core::Error>() <= size_of::<usize>(), "results stay small");
}
