//! Tensors as DLPack's structs: what they say, whose memory they are, and the way back.

use std::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{layouts, on_devices, values, vector};
use tensor_core::dlpack::{self, DLDataType, DLDevice, DLManagedTensor, DLTensor};
use tensor_core::{DType, Device, ErrorKind, Tensor};

#[test]
fn there_and_back() {
    on_devices(|device| {
        for dtype in DType::ALL {
            let x = Tensor::arange(0f32, 12.0, device)?.to_dtype(dtype)?.reshape([3, 4])?;
            for (name, view) in layouts(&x)? {
                let exported = dlpack::export(view)?;
                // SAFETY: S12: the struct is ours, and so is its memory.
                let y = unsafe { dlpack::import(exported.into_raw(), device) }?;
                assert_eq!((y.dtype(), y.dims(), y.is_contiguous()), (dtype, &[3, 4][..], true), "{name}");
                assert_eq!(values(&y)?, values(&x)?, "{name} {dtype} on {device}");
            }
        }
        for shape in [&[][..], &[0, 3], &[1, 1, 1]] {
            let exported = dlpack::export(Tensor::ones(shape, DType::BF16, device)?)?;
            // SAFETY: S12: as above.
            let y = unsafe { dlpack::import(exported.into_raw(), device) }?;
            assert_eq!(y.dims(), shape);
        }
        Ok(())
    });
}

#[test]
fn exported_structs_describe_the_tensor() {
    on_devices(|device| {
        let x = Tensor::arange(0i16, 12, device)?.reshape([3, 4])?.t()?.narrow(0, 1, 2)?;
        let kept = x.clone();
        // Shared: a tight copy.
        let copied = dlpack::export(x)?;
        let DLTensor { ndim, dtype, strides, byte_offset, .. } = *copied.tensor();
        assert_eq!((ndim, dtype, byte_offset), (2, DLDataType { code: 0, bits: 16, lanes: 1 }, 0));
        // SAFETY: S12: the struct has two strides.
        assert_eq!(unsafe { std::slice::from_raw_parts(strides, 2) }, [3, 1]);
        drop(copied);
        assert_eq!(kept.to_vec::<i16>()?, [1, 5, 9, 2, 6, 10]);
        // Alone: as it lies.
        let moved = dlpack::export(kept)?;
        // SAFETY: S12: as above.
        assert_eq!(unsafe { std::slice::from_raw_parts(moved.tensor().strides, 2) }, [1, 4]);
        if moved.tensor().device == (DLDevice { device_type: 1, device_id: 0 }) {
            // SAFETY: S12: ten elements of this machine's memory lie from there on.
            let memory = unsafe { std::slice::from_raw_parts(moved.tensor().data.cast::<i16>(), 10) };
            assert_eq!(memory, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        }
        Ok(())
    });
}

static FREED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn count(_: *mut DLManagedTensor) {
    FREED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn memory_of_others_is_copied_and_freed_once() {
    let mut memory = [0f32, 1.0, 2.0, 3.0, 4.0, 5.0];
    let (mut shape, mut strides) = ([2i64, 3], [-3i64, 1]);
    let mut foreign = |device_type, code, bits| DLManagedTensor {
        dl_tensor: DLTensor {
            data: memory.as_mut_ptr().cast::<c_void>(),
            device: DLDevice { device_type, device_id: 0 },
            ndim: 2,
            dtype: DLDataType { code, bits, lanes: 1 },
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 12,
        },
        manager_ctx: std::ptr::null_mut(),
        deleter: Some(count),
    };
    let mut good = foreign(1, 2, 32);
    // SAFETY: S12: the rows begin at elements 3 and 0, and end before the array does.
    let x = unsafe { dlpack::import(&mut good, &Device::Cpu) }.unwrap();
    assert_eq!(
        (x.to_vec::<f32>().unwrap(), FREED.load(Ordering::Relaxed)),
        (vec![3.0, 4.0, 5.0, 0.0, 1.0, 2.0], 1)
    );
    let mut complex = foreign(1, 5, 64);
    // SAFETY: S12: it is refused before anything is read.
    let error = unsafe { dlpack::import(&mut complex, &Device::Cpu) }.unwrap_err().to_string();
    assert_eq!(
        error,
        "dlpack::import: tensors have no elements of DLDataType { code: 5, bits: 64, lanes: 1 } on cpu"
    );
    let mut elsewhere = foreign(8, 2, 32);
    // SAFETY: S12: as above.
    let error = unsafe { dlpack::import(&mut elsewhere, &Device::Cpu) }.unwrap_err().to_string();
    assert!(error.contains("which cpu cannot read"), "{error}");
    assert_eq!(FREED.load(Ordering::Relaxed), 3);
}

/// Counts in the struct's own context, which a test reads that is not alone.
unsafe extern "C" fn count_own(managed: *mut DLManagedTensor) {
    // SAFETY: S4: the test lends the context until the struct is freed.
    unsafe { &*(*managed).manager_ctx.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
}

/// One element, seen as more of them than there is memory, or as addresses count.
#[test]
fn huge_views_are_an_error_and_freed() {
    on_devices(|device| {
        let memory = [1.5f32];
        let import = |shape: &[i64], strides: &[i64]| {
            let freed = AtomicUsize::new(0);
            let (mut shape, mut strides) = (shape.to_vec(), strides.to_vec());
            let mut managed = DLManagedTensor {
                dl_tensor: DLTensor {
                    data: memory.as_ptr().cast_mut().cast::<c_void>(),
                    device: DLDevice { device_type: 1, device_id: 0 },
                    ndim: shape.len() as i32,
                    dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
                    shape: shape.as_mut_ptr(),
                    strides: strides.as_mut_ptr(),
                    byte_offset: 0,
                },
                manager_ctx: std::ptr::from_ref(&freed).cast_mut().cast(),
                deleter: Some(count_own),
            };
            // SAFETY: S12: strides of 0 reach one element, which is there.
            let result = unsafe { dlpack::import(&mut managed, device) };
            assert_eq!(freed.into_inner(), 1, "{shape:?}");
            result
        };
        // Beyond the address space: some systems promise any memory that fits it.
        for (length, bytes) in [(1 << 46, 1u64 << 48), (1 << 61, 1 << 63), (1 << 62, u64::MAX)] {
            let error = import(&[length], &[0]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
            let expected = format!("dlpack::import: out of memory: {bytes} bytes asked for on {device}");
            assert_eq!(error.to_string(), expected);
        }
        let error = import(&[1 << 40, 1 << 40], &[0, 0]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Overflow { .. }), "{error}");
        assert_eq!(import(&[2, 3], &[0, 0])?.to_vec2::<f32>()?, [[1.5; 3]; 2]);
        assert_eq!(import(&[1 << 40, 0], &[0, 0])?.dims(), [1 << 40, 0]);
        Ok(())
    });
}

#[test]
fn dropping_an_export_frees_it() {
    on_devices(|device| {
        drop(dlpack::export(vector(&[1u8, 2], device)?)?);
        Ok(())
    });
}
