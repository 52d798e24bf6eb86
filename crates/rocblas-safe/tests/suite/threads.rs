//! Handles and threads.

use crate::under_test;
use rocblas_safe::{Handle, Layout, Matrix, MatrixMut};
use std::thread;

fn is_send_and_sync<T: Send + Sync>() {}

#[test]
fn handles_and_views_are_send_and_sync() {
    is_send_and_sync::<Handle>();
    is_send_and_sync::<Matrix<'static, f32>>();
    is_send_and_sync::<MatrixMut<'static, f32>>();
    is_send_and_sync::<rocblas_safe::MatrixBatch<'static, f32>>();
    is_send_and_sync::<rocblas_safe::MatrixBatchMut<'static, f32>>();
    is_send_and_sync::<rocblas_safe::BandMatrix<'static, f32>>();
    is_send_and_sync::<rocblas_safe::Vector<'static, f32>>();
    is_send_and_sync::<rocblas_safe::VectorMut<'static, f32>>();
    is_send_and_sync::<rocblas_safe::VectorBatch<'static, f32>>();
    is_send_and_sync::<rocblas_safe::VectorBatchMut<'static, f32>>();
    is_send_and_sync::<rocblas_safe::Scalar<'static, f32>>();
    is_send_and_sync::<rocblas_safe::Error>();
}

/// Scalars on the host and on the device in turn: a call never sees the pointer mode of another thread's.
#[test]
fn one_handle_for_many_threads() {
    let (stream, handle) = under_test::handle();
    thread::scope(|scope| {
        for number in 0..4_u8 {
            let (stream, handle) = (&stream, &handle);
            scope.spawn(move || {
                let factor = stream.upload(&[2.0_f32]).unwrap();
                for round in 0..30_u8 {
                    let start = f32::from(number) + f32::from(round);
                    let mut x = stream.upload(&[start; 50]).unwrap();
                    match number % 2 {
                        0 => handle.scal(2.0, &mut x).unwrap(),
                        _ => handle.scal(factor.view(), &mut x).unwrap(),
                    }
                    assert_eq!(handle.dot(&x, &x).unwrap(), 50.0 * 4.0 * start * start);
                }
            });
        }
    });
}

/// Two streams that write the same memory in turn, from two threads each.
#[test]
fn handles_on_two_streams_and_one_matrix() {
    let (first, one) = under_test::handle();
    let second = first.device().new_stream().unwrap();
    let two = Handle::with_workspace(&second, 1 << 16).unwrap();
    let mut c = first.upload(&[1.0_f64, 0.0, 0.0, 1.0]).unwrap();
    let fibonacci = first.upload(&[1.0_f64, 1.0, 1.0, 0.0]).unwrap();
    let mut next = first.alloc_zeros::<f64>(4).unwrap();
    for round in 0..35 {
        let handle = if round % 2 == 0 { &one } else { &two };
        let (a, b) = (
            Matrix::new(fibonacci.view(), 2, 2, Layout::RowMajor).unwrap(),
            Matrix::new(c.view(), 2, 2, Layout::RowMajor).unwrap(),
        );
        let result = MatrixMut::new(next.view_mut(), 2, 2, Layout::RowMajor).unwrap();
        thread::scope(|scope| scope.spawn(|| handle.gemm(1.0, a, b, 0.0, result).unwrap()).join().unwrap());
        std::mem::swap(&mut c, &mut next);
    }
    assert_eq!(second.download(&c).unwrap(), [14_930_352.0, 9_227_465.0, 9_227_465.0, 5_702_887.0]);
}

/// One thread captures calls while another changes the handle, which waits for captures.
#[test]
fn a_handle_changes_while_others_capture() {
    let (stream, handle) = under_test::handle();
    let mut x = stream.upload(&[1.0_f32; 8]).unwrap();
    thread::scope(|scope| {
        let changes = scope.spawn(|| {
            for round in 0..20 {
                handle.set_workspace(round << 16).unwrap();
            }
        });
        for _ in 0..10 {
            let mut called = Ok(());
            let graph = stream.capture(|_| {
                called = handle.scal(2.0, &mut x);
                Ok(())
            });
            called.unwrap();
            let launches = graph.unwrap().instantiate().unwrap();
            launches.launch(&stream).unwrap();
        }
        changes.join().unwrap();
    });
    assert_eq!(stream.download(&x).unwrap(), [1024.0; 8]);
}
