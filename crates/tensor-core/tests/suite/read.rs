//! Elements as vectors: tensors without elements, whose rows are vectors all the same.

use crate::common::on_devices;
use tensor_core::{DType, Device, ErrorKind, Result, Tensor};

#[test]
fn rows_and_planes() {
    on_devices(|device| {
        let x = Tensor::arange(0i64, 12, device)?;
        assert_eq!(x.reshape([3, 4])?.to_vec2::<i64>()?, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]);
        assert_eq!(x.reshape([3, 4])?.t()?.narrow(0, 1, 2)?.to_vec2::<i64>()?, [[1, 5, 9], [2, 6, 10]]);
        let cube = x.reshape([2, 3, 2])?;
        let planes = [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]];
        assert_eq!(cube.to_vec3::<i64>()?, planes);
        Ok(())
    });
}

#[test]
fn rows_without_elements() {
    on_devices(|device| {
        let empty = |shape: &[usize]| Tensor::zeros(shape, DType::F32, device);
        let row: [f32; 0] = [];
        let rows: [Vec<f32>; 0] = [];
        assert_eq!(empty(&[3, 0])?.to_vec2::<f32>()?, [row; 3]);
        assert_eq!(empty(&[0, 3])?.to_vec2::<f32>()?, rows);
        assert_eq!(empty(&[2, 1, 0])?.to_vec3::<f32>()?, [[row]; 2]);
        let planes = empty(&[2, 0, 5])?.to_vec3::<f32>()?;
        assert_eq!(planes.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(empty(&[0, 2, 5])?.to_vec3::<f32>()?.len(), 0);
        Ok(())
    });
}

/// A file of 75 bytes can ask for them. They exceed the address space, since some systems promise any memory that fits it.
#[test]
fn more_rows_than_memory_are_an_error() {
    let empty = |shape: &[usize]| Tensor::zeros(shape, DType::F32, &Device::Cpu).unwrap();
    let says = |result: Result<()>, bytes: u64| {
        let error = result.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
        assert!(
            error.to_string().ends_with(&format!("out of memory: {bytes} bytes asked for on cpu")),
            "{error}"
        );
    };
    let vector = size_of::<Vec<f32>>() as u64;
    says(empty(&[1 << 43, 0]).to_vec2::<f32>().map(drop), vector << 43);
    says(empty(&[usize::MAX, 0]).to_vec2::<f32>().map(drop), u64::MAX);
    says(empty(&[1 << 43, 2, 0]).to_vec3::<f32>().map(drop), vector << 44);
    says(empty(&[2, 1 << 43, 0]).to_vec3::<f32>().map(drop), vector << 44);
    // Each plane's rows fit, all together do not.
    says(empty(&[1 << 22, 1 << 21, 0]).to_vec3::<f32>().map(drop), vector << 43);
    says(empty(&[usize::MAX, usize::MAX, 0]).to_vec3::<f32>().map(drop), u64::MAX);
    says(empty(&[1 << 43, 0, 7]).to_vec3::<f32>().map(drop), vector << 43);
    // Planes that are not there have no rows.
    assert_eq!(empty(&[0, usize::MAX, usize::MAX]).to_vec3::<f32>().unwrap().len(), 0);
}
