//! Ids as rows with one element set.

use crate::common::{on_devices, same};
use crate::index::apart;
use tensor_core::{DType, ErrorKind, Tensor, f16};

#[test]
fn one_element_of_each_row() {
    on_devices(|device| {
        for dtype in [DType::U8, DType::U32, DType::I32, DType::I64] {
            let ids = Tensor::new([[2i64, 0], [3, 3]], device)?.to_dtype(dtype)?;
            let y = ids.one_hot(4, 1f32, 0.0)?;
            assert_eq!((y.dims(), y.dtype()), (&[2, 2, 4][..], DType::F32));
            let expected = [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]];
            same(&y, &expected.as_flattened().iter().map(|x| f64::from(*x)).collect::<Vec<f64>>())?;
            // Each in its row, though the ids lie otherwise.
            let turned = ids.t()?.one_hot(4, 1u8, 9)?;
            let expected = [[9, 9, 1, 9], [9, 9, 9, 1], [1, 9, 9, 9], [9, 9, 9, 1]];
            assert_eq!(turned.to_vec::<u8>()?, expected.as_flattened());
        }
        let one = Tensor::new(1u32, device)?.one_hot(2, f16::ONE, f16::ZERO)?;
        assert_eq!((one.dims(), one.dtype()), (&[2][..], DType::F16));
        same(&one, &[0.0, 1.0])?;
        assert_eq!(Tensor::zeros([0, 3], DType::U32, device)?.one_hot(5, 1i64, 0)?.dims(), [0, 3, 5]);
        Ok(())
    });
}

#[test]
fn ids_out_of_range() {
    on_devices(|device| {
        // The error of a wrong id goes to the next reading of its device.
        let device = &apart(device)?;
        for id in [-1i64, 4, i64::MAX] {
            let result = Tensor::new([0, id], device)?.one_hot(4, 1f32, 0.0).and_then(|y| y.to_vec::<f32>());
            let error = result.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::IdOutOfRange { .. }), "{error}");
        }
        let error = Tensor::new([0f32], device)?.one_hot(4, 1f32, 0.0).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UnsupportedDType { .. }), "{error}");
        Ok(())
    });
}
