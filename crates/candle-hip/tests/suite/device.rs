//! The device's methods.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::{CpuStorage, DType, Error, Layout, Shape, WithDType};
use candle_hip::{HipDevice, HipStorage};

use crate::compare::numbers;
use crate::given::elements;
#[cfg(feature = "host")]
use crate::pair;
use crate::{devices, ALL, FLOATS, INTEGERS};

fn read(storage: &HipStorage) -> Vec<f64> {
    numbers(&storage.to_cpu_storage().expect("a reading"))
}

#[test]
fn elements_survive_every_way_to_the_device() {
    for device in devices() {
        for dtype in ALL {
            let host = elements(11, dtype, |i| i as f64 / 2.0 - 2.0);
            let expected = numbers(&host);
            assert_eq!(read(&device.storage_from_cpu_storage(&host).unwrap()), expected);
            assert_eq!(read(&device.storage_from_cpu_storage_owned(host.clone()).unwrap()), expected);
        }
    }
}

#[test]
fn slices_of_every_dtype_become_storage() {
    fn check<T: WithDType>(device: &HipDevice) {
        let elements = [1.0, 0.0, 3.0].map(T::from_f64);
        let storage = device.storage_from_slice(&elements).unwrap();
        assert_eq!((storage.dtype(), read(&storage)), (T::DTYPE, vec![1.0, 0.0, 3.0]));
        assert!(storage.device().same_device(device));
        assert!(device.storage_from_slice::<T>(&[]).unwrap().is_empty());
    }
    for device in devices() {
        check::<u8>(&device);
        check::<u32>(&device);
        check::<i16>(&device);
        check::<i32>(&device);
        check::<i64>(&device);
        check::<float8::F8E4M3>(&device);
        check::<half::bf16>(&device);
        check::<half::f16>(&device);
        check::<f32>(&device);
        check::<f64>(&device);
    }
}

#[test]
fn formats_that_are_bytes_are_kept_as_bytes() {
    for device in devices() {
        let bytes = vec![1u8, 2, 250];
        for host in [
            CpuStorage::F8E8M0(bytes.clone()),
            CpuStorage::F6E2M3(bytes.clone()),
            CpuStorage::F6E3M2(bytes.clone()),
            CpuStorage::F4(bytes.clone()),
        ] {
            let dtype = host.dtype();
            for storage in [
                device.storage_from_cpu_storage(&host).unwrap(),
                device.storage_from_raw(&bytes, dtype).unwrap(),
            ] {
                assert_eq!(storage.dtype(), dtype);
                let clone = storage.try_clone(&Layout::contiguous(3)).unwrap();
                let back = clone.to_cpu_storage().unwrap();
                assert_eq!(format!("{back:?}"), format!("{host:?}"));
                let error = crate::root(storage.affine(&Layout::contiguous(3), 1.0, 0.0).unwrap_err());
                assert!(matches!(error, Error::UnsupportedDTypeForOp(d, _) if d == dtype), "{error}");
            }
            assert!(device.zeros_impl(&Shape::from(3), dtype).is_err());
        }
        assert!(device.storage_from_raw(&bytes, DType::U8).is_err());
    }
}

#[test]
fn zeros_and_memory_that_was_never_written_are_zeros() {
    for device in devices() {
        for dtype in ALL {
            let shape = Shape::from((2, 3));
            assert_eq!(read(&device.zeros_impl(&shape, dtype).unwrap()), [0.0; 6]);
            // SAFETY: S15: this device's memory is zeros until it is written.
            let unwritten = unsafe { device.alloc_uninit(&shape, dtype) }.unwrap();
            assert_eq!(read(&unwritten), [0.0; 6]);
        }
    }
}

#[test]
fn a_part_of_new_memory_can_be_written() {
    for device in devices() {
        // SAFETY: S15: as above.
        let mut y = unsafe { device.alloc_uninit(&Shape::from(5), DType::F32) }.unwrap();
        let x = device.storage_from_slice(&[1f32, 2.0]).unwrap();
        x.copy_strided_src(&mut y, 2, &Layout::contiguous(2)).unwrap();
        assert_eq!(read(&y), [0.0, 0.0, 1.0, 2.0, 0.0]);
    }
}

#[test]
fn random_numbers_follow_the_seed_and_lie_in_the_range() {
    let shape = Shape::from((8, 64));
    for dtype in FLOATS {
        let mut drawn = devices().into_iter().map(|device| {
            device.set_seed(7).unwrap();
            assert_eq!(device.get_current_seed().unwrap(), 7);
            let uniform = read(&device.rand_uniform(&shape, dtype, -1.0, 3.0).unwrap());
            let normal = read(&device.rand_normal(&shape, dtype, 1.0, 0.5).unwrap());
            let again = read(&device.rand_uniform(&shape, dtype, -1.0, 3.0).unwrap());
            assert_ne!(uniform, again, "{dtype:?}");
            // f8e4m3 rounds up to 3, which it has.
            let end = if dtype == DType::F32 || dtype == DType::F64 { 3.0 } else { 3.0 + 1e-9 };
            assert!(uniform.iter().all(|x| (-1.0..end).contains(x)), "{dtype:?}");
            let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
            // Five deviations of the mean of 512 numbers: 2/√3 · 5/√512, and 0.5 · 5/√512.
            assert!((mean(&uniform) - 1.0).abs() < 0.26, "{dtype:?}");
            assert!((mean(&normal) - 1.0).abs() < 0.12, "{dtype:?}");
            (uniform, normal)
        });
        let first = drawn.next().expect("a device");
        assert!(drawn.all(|other| other == first), "{dtype:?}: every device has the same numbers");
    }
}

#[test]
fn random_integers_are_candles_error() {
    for device in devices() {
        for dtype in INTEGERS {
            let error = crate::root(device.rand_uniform(&Shape::from(3), dtype, 0.0, 1.0).unwrap_err());
            assert!(
                matches!(error, Error::UnsupportedDTypeForOp(d, "rand_uniform") if d == dtype),
                "{error}"
            );
            assert!(device.rand_normal(&Shape::from(3), dtype, 0.0, 1.0).is_err());
        }
    }
}

#[test]
#[cfg(feature = "host")]
fn a_name_is_one_device() {
    let [first, second] = pair();
    let again = HipDevice::open("host").unwrap();
    assert!(first.same_device(&again) && !first.same_device(&second));
    assert_eq!(first.location(), again.location());
    assert_ne!(first.location(), second.location());
    first.synchronize().unwrap();

    // Another stream on the same hardware.
    let own = HipDevice::from_device(tensor_core::Device::parse("host:0").unwrap()).unwrap();
    assert!(!own.same_device(&first));
    assert_eq!(own.location(), first.location());
    assert!(HipDevice::from_device(tensor_core::Device::Cpu).is_err());
    let error = HipDevice::open("host:9").unwrap_err().to_string();
    assert!(error.contains('9'), "{error}");
}

#[test]
fn a_device_of_a_number_is_found() {
    // On a machine without a GPU: the host's, which are two.
    let device = HipDevice::new(0).unwrap();
    assert!(device.name().ends_with(":0"), "{device:?}");
    let error = HipDevice::new(77).unwrap_err().to_string();
    assert!(error.contains("no HIP device 77"), "{error}");
}
