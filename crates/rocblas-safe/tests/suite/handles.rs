//! Handles: their streams, modes and workspaces, and their end.

use crate::{lacking, under_test};
use hip_safe::Device;
use hip_sys::rocblas::{rocblas_atomics_mode, rocblas_handle, rocblas_status};
use hip_sys::{LoadError, Rocblas, RocblasTable};
use rocblas_safe::{AtomicsMode, Error, Handle, Layout, MathMode, Matrix, MatrixMut};
use std::cell::Cell;

#[test]
fn a_handle_on_every_device() {
    for device in Device::all(&under_test::platform()).unwrap() {
        let stream = device.new_stream().unwrap();
        let handle = Handle::new(&stream).unwrap();
        assert_eq!((handle.device(), handle.stream()), (&device, stream.clone()));
        assert_eq!(handle.workspace_bytes(), 32 << 20);
        let x = stream.upload(&[3.0_f64, 4.0]).unwrap();
        assert_eq!(handle.nrm2(&x).unwrap(), 5.0);
        handle.close().unwrap();
    }
}

#[test]
fn another_stream() {
    let (first, handle) = under_test::handle();
    let second = first.device().new_stream().unwrap();
    let mut x = first.upload(&[1.0_f32, 2.0]).unwrap();
    handle.scal(2.0, &mut x).unwrap();
    handle.set_stream(&second).unwrap();
    assert_eq!(handle.stream(), second);
    // Work on the new stream comes after what the old one does with the same memory, and the other way round.
    handle.scal(10.0, &mut x).unwrap();
    assert_eq!(first.download(&x).unwrap(), [20.0, 40.0]);
    assert_eq!(handle.asum(&x).unwrap(), 60.0);
    handle.set_stream(&first).unwrap();
    assert_eq!(handle.asum(&x).unwrap(), 60.0);
}

#[test]
fn the_last_reference_to_a_former_stream() {
    let handle = {
        let stream = under_test::stream();
        Handle::with_workspace(&stream, 0).unwrap()
    };
    let stream = under_test::stream();
    let x = handle.stream().upload(&[1.0_f32, 2.0]).unwrap();
    assert_eq!(handle.asum(&x).unwrap(), 3.0);
    handle.set_stream(&stream).unwrap();
    assert_eq!(handle.asum(&x).unwrap(), 3.0);
}

#[test]
fn modes_and_workspaces() {
    let (stream, handle) = under_test::handle();
    let a = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let mut c = stream.alloc_zeros::<f32>(4).unwrap();
    let mut product = |handle: &Handle| {
        let a = Matrix::new(a.view(), 2, 2, Layout::ColMajor).unwrap();
        let result = MatrixMut::new(c.view_mut(), 2, 2, Layout::ColMajor).unwrap();
        handle.gemm(1.0, a, a, 0.0, result).unwrap();
        assert_eq!(stream.download(&c).unwrap(), [7.0, 10.0, 15.0, 22.0]);
    };
    for bytes in [0, 1 << 20, 8 << 20] {
        handle.set_workspace(bytes).unwrap();
        assert_eq!(handle.workspace_bytes(), bytes.max(64 << 10));
        product(&handle);
    }
    handle.set_atomics_mode(AtomicsMode::Allowed).unwrap();
    product(&handle);
    handle.set_atomics_mode(AtomicsMode::Forbidden).unwrap();
    handle.set_math_mode(MathMode::Full).unwrap();
    product(&handle);
    match handle.set_math_mode(MathMode::Reduced) {
        Ok(()) => product(&handle),
        Err(Error::Unsupported(_) | Error::Status { function: "rocblas_set_math_mode", .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

thread_local! {
    static MADE: Cell<rocblas_handle> = const { Cell::new(std::ptr::null_mut()) };
}

fn library() -> RocblasTable {
    rocblas_safe::library(&under_test::platform()).expect("the platform has it").table().clone()
}

fn make(out: *mut rocblas_handle, mode: rocblas_atomics_mode) -> rocblas_status {
    let library = library();
    // SAFETY: S1: the caller's out-pointer, and the handle that was just written there.
    unsafe {
        let status = (library.rocblas_create_handle)(out);
        MADE.set(*out);
        if status == rocblas_status::rocblas_status_success {
            return (library.rocblas_set_atomics_mode)(*out, mode);
        }
        status
    }
}

unsafe extern "C" fn as_rocblas_4(out: *mut rocblas_handle) -> rocblas_status {
    make(out, rocblas_atomics_mode::rocblas_atomics_allowed)
}

unsafe extern "C" fn as_rocblas_5(out: *mut rocblas_handle) -> rocblas_status {
    make(out, rocblas_atomics_mode::rocblas_atomics_not_allowed)
}

fn of_rocblas_4() -> Result<Rocblas, LoadError> {
    lacking::changed(|table, _| table.rocblas_create_handle = as_rocblas_4)
}

fn of_rocblas_5() -> Result<Rocblas, LoadError> {
    lacking::changed(|table, _| table.rocblas_create_handle = as_rocblas_5)
}

/// rocBLAS 4 makes handles that may add in any order, rocBLAS 5 ones that may not.
#[test]
fn a_new_handle_forbids_atomics_whatever_the_library_does() {
    for of in [of_rocblas_4, of_rocblas_5] {
        let stream = Device::new(&lacking::platform_with(of, |_| {}), 0).unwrap().new_stream().unwrap();
        let handle = Handle::with_workspace(&stream, 1 << 20).unwrap();
        let mode = || {
            let mut mode = rocblas_atomics_mode(77);
            // SAFETY: S1: the handle and the out-pointer are live.
            let status = unsafe { (library().rocblas_get_atomics_mode)(MADE.get(), &mut mode) };
            assert_eq!(status, rocblas_status::rocblas_status_success);
            mode
        };
        assert_eq!(mode(), rocblas_atomics_mode::rocblas_atomics_not_allowed);
        handle.set_atomics_mode(AtomicsMode::Allowed).unwrap();
        assert_eq!(mode(), rocblas_atomics_mode::rocblas_atomics_allowed);
        handle.close().unwrap();
    }
}

#[test]
fn dropping_a_handle_while_its_work_goes_on() {
    let stream = under_test::stream();
    let _alone = under_test::drop_errors_alone();
    let before = hip_safe::drop_errors();
    let mut x = stream.upload(&vec![1.0_f64; 1 << 16]).unwrap();
    for _ in 0..20 {
        let handle = Handle::with_workspace(&stream, 1 << 16).unwrap();
        handle.scal(2.0, &mut x).unwrap();
    }
    assert!(stream.download(&x).unwrap().iter().all(|&x| x == f64::from(1 << 20)));
    assert_eq!(hip_safe::drop_errors(), before);
}

#[test]
fn an_error_is_small_enough_to_return() {
    assert!(size_of::<Error>() <= 96, "{}", size_of::<Error>());
}
