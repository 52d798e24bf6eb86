//! Streams, threads, captures, devices, and ends.

use crate::matrices::Matrix;
use crate::under_test;
use hip_safe::Error as Hip;
use rocsparse_safe::{Error, Format, Handle, Op, OwnedMatrix, Parts, Spmv};

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn all_is_send_and_sync() {
    is_send_and_sync::<Handle>();
    is_send_and_sync::<Spmv<hip_safe::DeviceBuffer<i32>, hip_safe::DeviceBuffer<f32>>>();
    is_send_and_sync::<OwnedMatrix<i64, f64>>();
    is_send_and_sync::<Error>();
}

/// 1 2
/// 0 3
fn small(stream: &hip_safe::Stream) -> OwnedMatrix<i32, f64> {
    Parts::csr(2, 2, &[0, 2, 3][..], &[0, 1, 1][..], &[1.0, 2.0, 3.0][..]).upload(stream).unwrap()
}

/// Operands that other streams write, and that they use afterwards, are waited for.
#[test]
fn operands_of_other_streams() {
    let first = under_test::stream();
    let second = first.device().new_stream().unwrap();
    let handle = Handle::new(&first).unwrap();
    let product = Spmv::prepare(&handle, Op::None, small(&second)).unwrap();
    let mut x = second.alloc_zeros::<f64>(2).unwrap();
    let mut y = second.alloc_zeros::<f64>(2).unwrap();
    let given = second.upload(&[1.0, 10.0]).unwrap();
    let release = under_test::hold(&second);
    second.copy(&given, &mut x).unwrap();
    product.compute(1.0, &x, 0.0, &mut y).unwrap();
    if let Some(release) = release {
        assert!(!first.is_done().unwrap(), "it waits for the second stream");
        release.send(()).unwrap();
    }
    assert_eq!(second.download(&y).unwrap(), [21.0, 30.0]);
}

/// One prepared product on several threads, with memory of each.
#[test]
fn threads_share_what_was_prepared() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let product = Spmv::prepare(&handle, Op::None, small(&stream)).unwrap();
    std::thread::scope(|scope| {
        for factor in 1..5 {
            let (product, stream) = (&product, &stream);
            scope.spawn(move || {
                let x = stream.upload(&[1.0, 1.0]).unwrap();
                for _ in 0..20 {
                    let mut y = stream.alloc_zeros::<f64>(2).unwrap();
                    product.compute(f64::from(factor), &x, 0.0, &mut y).unwrap();
                    let expected = [3.0, 3.0].map(|sum| sum * f64::from(factor));
                    assert_eq!(stream.download(&y).unwrap(), expected);
                }
            });
        }
    });
}

/// A handle that was dropped lives on in what was prepared with it, and the matrix comes back.
#[test]
fn ends_in_any_order() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let parts = Matrix::<f64>::random(4, 10, 10, 30).parts::<i32>(Format::Csr);
    let product = Spmv::prepare(&handle, Op::None, parts.as_slices().upload(&stream).unwrap()).unwrap();
    drop(handle);
    let x = stream.upload(&[0.0; 10]).unwrap();
    let mut y = stream.upload(&[1.0; 10]).unwrap();
    product.compute(1.0, &x, 0.0, &mut y).unwrap();
    let matrix = product.into_matrix();
    assert_eq!(stream.download(&y).unwrap(), [0.0; 10]);
    assert_eq!(matrix.download(&stream).unwrap(), parts);
    Handle::new(&stream).unwrap().close().unwrap();
}

#[test]
fn calls_are_not_captured() {
    let stream = under_test::stream();
    let handle = Handle::new(&stream).unwrap();
    let product = Spmv::prepare(&handle, Op::None, small(&stream)).unwrap();
    let x = stream.upload(&[1.0, 1.0]).unwrap();
    let mut y = stream.alloc_zeros::<f64>(2).unwrap();
    let (mut computed, mut made, mut prepared) = (None, None, None);
    let matrix = small(&stream);
    let captured = stream.capture(|stream| {
        computed = Some(product.compute(1.0, &x, 0.0, &mut y));
        made = Some(Handle::new(stream).map(drop));
        prepared = Some(Spmv::prepare(&handle, Op::None, matrix.view()).map(drop));
        Ok(())
    });
    captured.unwrap();
    for refused in [computed, made, prepared] {
        assert!(matches!(refused, Some(Err(Error::Hip(Hip::Capturing { .. })))), "{refused:?}");
    }
    product.compute(1.0, &x, 0.0, &mut y).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [3.0, 3.0]);
}

#[test]
fn memory_of_another_device_is_refused() {
    let Some((zero, one)) = under_test::two_devices() else { return };
    let (stream, other) = (zero.new_stream().unwrap(), one.new_stream().unwrap());
    let handle = Handle::new(&stream).unwrap();
    let prepared = Spmv::prepare(&handle, Op::None, small(&other)).map(drop);
    assert!(matches!(prepared, Err(Error::Hip(Hip::WrongDevice { .. }))), "{prepared:?}");
    let product = Spmv::prepare(&handle, Op::None, small(&stream)).unwrap();
    let x = other.upload(&[1.0, 1.0]).unwrap();
    let mut y = stream.alloc_zeros::<f64>(2).unwrap();
    let computed = product.compute(1.0, &x, 0.0, &mut y);
    assert!(matches!(computed, Err(Error::Hip(Hip::WrongDevice { .. }))), "{computed:?}");
}

/// A handle knows what the library does not say without one.
#[test]
fn a_handle_has_a_version() {
    let version = Handle::new(&under_test::stream()).unwrap().version().unwrap();
    if under_test::name() == "amd" {
        assert!(version.major > 0, "{version:?}");
    } else {
        assert_eq!(version, hip_sys::Version { major: 4, minor: 2, patch: 0 });
    }
}
