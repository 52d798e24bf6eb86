//! Sharing of memory, and the doors to tensor-core.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::scalar::Scalar;
use candle_core::{CpuStorage, Layout, Result, Shape};
use candle_hip::{converted, HipStorage};
use tensor_core::Tensor;

use crate::devices;
#[cfg(feature = "host")]
use crate::pair;

fn read(storage: &HipStorage) -> Vec<f32> {
    match storage.to_cpu_storage().expect("a reading") {
        CpuStorage::F32(elements) => elements,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_clone_shares_memory_until_either_is_written() {
    for device in devices() {
        let all = Layout::contiguous(4);
        let mut x = device.storage_from_slice(&[1f32, 2.0, 3.0, 4.0]).unwrap();
        let mut y = x.try_clone(&all).unwrap();
        let shared =
            |x: &HipStorage, y: &HipStorage| x.tensor(&all).unwrap().shares_storage(&y.tensor(&all).unwrap());
        assert!(shared(&x, &y));

        y.const_set(Scalar::F32(9.0), &all.narrow(0, 1, 2).unwrap()).unwrap();
        assert!(!shared(&x, &y));
        assert_eq!((read(&x), read(&y)), (vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 9.0, 9.0, 4.0]));

        let z = x.try_clone(&all).unwrap();
        x.const_set(Scalar::F32(0.0), &all).unwrap();
        assert_eq!((read(&x), read(&z)), (vec![0.0; 4], vec![1.0, 2.0, 3.0, 4.0]));
    }
}

#[test]
fn cloning_copies_nothing() {
    for device in devices() {
        let shape = Shape::from(1 << 24);
        let x = device.zeros_impl(&shape, candle_core::DType::F32).unwrap();
        let layout = Layout::contiguous(shape);
        let clones: Result<Vec<HipStorage>> = (0..1000).map(|_| x.try_clone(&layout)).collect();
        // 1001 copies of 64 MiB would not fit the machine.
        assert_eq!(clones.unwrap()[999].tensor(&layout).unwrap().storage_references(), 1002);
    }
}

#[test]
fn custom_operations_work_on_tensors() {
    /// A forward function as the documentation shows it.
    fn square_sum(x: &HipStorage, l: &Layout) -> Result<(HipStorage, Shape)> {
        let sum = x.tensor(l)?.sqr().and_then(|x| x.sum_all()).map_err(converted)?;
        Ok((HipStorage::from_tensor(sum, x.hip_device())?, Shape::from(())))
    }
    for device in devices() {
        let x = device.storage_from_slice(&[1f32, 2.0, 3.0, 4.0]).unwrap();
        let second_column = Layout::contiguous((2, 2)).narrow(1, 1, 1).unwrap();
        let (sum, shape) = square_sum(&x, &second_column).unwrap();
        assert_eq!((read(&sum), shape.dims()), (vec![20.0], &[][..]));
    }
}

#[test]
fn operations_in_place_write_their_elements_only() {
    for device in devices() {
        let mut x = device.storage_from_slice(&[1f32, 2.0, 3.0, 4.0]).unwrap();
        let second_column = Layout::contiguous((2, 2)).narrow(1, 1, 1).unwrap();
        x.in_place(&second_column, |part| part.affine_(10.0, 0.0).map_err(converted)).unwrap();
        assert_eq!(read(&x), [1.0, 20.0, 3.0, 40.0]);

        let repeated = Layout::contiguous(1).broadcast_as(4).unwrap();
        assert!(x.in_place(&repeated, |_| Ok(())).is_err());
        let beyond = Layout::contiguous(5);
        assert!(x.in_place(&beyond, |_| Ok(())).is_err());
        assert_eq!(read(&x), [1.0, 20.0, 3.0, 40.0]);

        // The operation replaces the tensor: the documented loss.
        let other = |part: &mut Tensor| {
            *part = part.zeros_like().map_err(converted)?;
            Ok(())
        };
        assert!(x.in_place(&second_column, other).is_err());
        assert_eq!(read(&x), [0.0; 4]);
    }
}

#[test]
#[cfg(feature = "host")]
fn tensors_become_storage_and_layouts_are_checked() {
    let [device, other] = pair();
    let tensor = Tensor::new([[1f32, 2.0], [3.0, 4.0]], device.device()).unwrap();
    let x = HipStorage::from_tensor(tensor.t().unwrap(), &device).unwrap();
    assert_eq!(read(&x), [1.0, 3.0, 2.0, 4.0]);
    assert!(HipStorage::from_tensor(tensor, &other).is_err());
    let error = x.tensor(&Layout::contiguous(5)).unwrap_err().to_string();
    assert!(error.contains("reaches past the end of its storage of 4 elements"), "{error}");
}
