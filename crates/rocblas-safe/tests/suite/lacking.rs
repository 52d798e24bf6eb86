//! Libraries that lack functions: what is done then, and what is an error before any call.

use crate::gaps::done;
use crate::under_test;
use half::f16;
use hip_safe::{Device, DeviceBuffer, Platform, Stream};
use hip_sys::{HipTable, LoadError, Optional, Rocblas, RocblasTable};
use rocblas_safe::{
    Error, Handle, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut, Vector, VectorBatch,
    VectorBatchMut, VectorMut,
};
use std::sync::Arc;

const WIDE: isize = 1 << 31;

/// The platform under test with a library that lacks what `lack` takes away.
fn platform(library: fn() -> Result<Rocblas, LoadError>) -> Arc<Platform> {
    platform_with(library, |_| {})
}

/// The same, with other functions of HIP too.
pub(crate) fn platform_with(
    library: fn() -> Result<Rocblas, LoadError>,
    change: impl FnOnce(&mut HipTable),
) -> Arc<Platform> {
    let mut hip = under_test::platform().hip().clone();
    change(&mut hip);
    let real = under_test::platform();
    let rtc = Err(LoadError::NotProvided { library: "a compiler", reason: "none is needed" });
    // SAFETY: S1, S11: the functions are the real platform's, and the library is made of its library's.
    unsafe {
        let platform = Platform::from_tables(real.kind, real.raw_version, hip, rtc, *real.ext());
        // Whoever asks later gets this answer, be it an error.
        let _ = platform.library(library);
        Arc::new(platform)
    }
}

pub(crate) fn changed(change: impl FnOnce(&mut RocblasTable, RocblasTable)) -> Result<Rocblas, LoadError> {
    let real = under_test::platform();
    let library = rocblas_safe::library(&real).map_err(Clone::clone)?;
    let mut table = library.table().clone();
    change(&mut table, RocblasTable::not_implemented());
    // SAFETY: S1: the functions are the real library's, or answer that they are not implemented.
    Ok(unsafe { Rocblas::from_table(library.version(), "a part of it".into(), table) })
}

fn without_addresses() -> Result<Rocblas, LoadError> {
    changed(|table, none| {
        table.rocblas_saxpy_batched = none.rocblas_saxpy_batched;
        table.rocblas_sdot_batched = none.rocblas_sdot_batched;
        table.rocblas_isamax_batched = none.rocblas_isamax_batched;
        table.rocblas_sgemm_batched = none.rocblas_sgemm_batched;
    })
}

fn without_wide_sizes() -> Result<Rocblas, LoadError> {
    changed(|table, _| {
        table.rocblas_gemm_ex_64 = Optional::absent("rocblas_gemm_ex_64", "6.2");
    })
}

fn without_wide_batches() -> Result<Rocblas, LoadError> {
    changed(|table, _| {
        table.rocblas_sgemv_batched_64 = Optional::absent("rocblas_sgemv_batched_64", "6.2");
        table.rocblas_sgemv_strided_batched_64 = Optional::absent("rocblas_sgemv_strided_batched_64", "6.2");
    })
}

fn without_16_bits() -> Result<Rocblas, LoadError> {
    changed(|table, none| {
        table.rocblas_hshgemv_batched = none.rocblas_hshgemv_batched;
        table.rocblas_hshgemv_strided_batched = none.rocblas_hshgemv_strided_batched;
        table.rocblas_hssgemv_batched = none.rocblas_hssgemv_batched;
        table.rocblas_hssgemv_strided_batched = none.rocblas_hssgemv_strided_batched;
    })
}

fn open(library: fn() -> Result<Rocblas, LoadError>) -> (Stream, Handle) {
    let stream = Device::new(&platform(library), 0).unwrap().new_stream().unwrap();
    let handle = Handle::with_workspace(&stream, 1 << 20).unwrap();
    (stream, handle)
}

#[test]
fn members_anywhere_are_called_one_by_one() {
    let (stream, handle) = open(without_addresses);
    let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let pair = |at: usize| Vector::with_inc(numbers.slice(at..).unwrap(), 2, 1).unwrap();
    let pairs = VectorBatch::from_vectors([pair(4), pair(0), pair(2)]).unwrap();
    assert_eq!(handle.dot_batch(&pairs, pair(0)).unwrap(), [17.0, 5.0, 11.0]);
    assert_eq!(handle.iamax_batch(&pairs).unwrap(), [Some(1); 3]);
    let mut results = stream.upload(&[10.0_f32, 20.0, 30.0, 40.0, 50.0, 60.0]).unwrap();
    let members = VectorBatchMut::strided(results.view_mut(), 2, 1, (3, 2)).unwrap();
    handle.axpy(2.0, &pairs, members).unwrap();
    assert_eq!(stream.download(&results).unwrap(), [20.0, 32.0, 32.0, 44.0, 56.0, 68.0]);
    let one = |at: usize| Matrix::new(numbers.slice(at..).unwrap(), 1, 1, Layout::RowMajor).unwrap();
    let factors = MatrixBatch::from_matrices([one(5), one(1)]).unwrap();
    let members =
        MatrixBatchMut::strided(results.view_mut(), (1, 1), Layout::RowMajor, None, (2, 3)).unwrap();
    handle.gemm(1.0, &factors, one(2), 0.0, members).unwrap();
    assert_eq!(stream.download(&results).unwrap(), [18.0, 32.0, 32.0, 6.0, 56.0, 68.0]);
}

/// Room for two elements so far apart that their distance takes more than 32 bits. Nothing between them is touched.
fn apart<T: hip_safe::AnyBits>(stream: &Stream, values: [T; 2]) -> Option<DeviceBuffer<T>> {
    let len = WIDE as usize + 1;
    let memory = stream.device().memory_info().unwrap();
    if memory.free < len * size_of::<T>() + (1 << 28) {
        println!("skipped: {} bytes are free", memory.free);
        return None;
    }
    // SAFETY: S15: only the two elements that are written here are read.
    let mut buffer = unsafe { stream.alloc_uninit(len) }.unwrap();
    stream.copy_from_host(&values[..1], &mut buffer.slice_mut(..1).unwrap()).unwrap();
    stream.copy_from_host(&values[1..], &mut buffer.slice_mut(len - 1..).unwrap()).unwrap();
    Some(buffer)
}

/// `2 [3 4] [5 6]ᵀ`, where the row's elements are 2³¹ bytes apart.
fn wide_product(stream: &Stream, handle: &Handle) -> Option<(rocblas_safe::Result<()>, [i32; 1])> {
    let row = apart(stream, [3_i8, 4])?;
    let column = stream.upload(&[5_i8, 6]).unwrap();
    let (c, mut d) = (stream.upload(&[0_i32]).unwrap(), stream.upload(&[7_i32]).unwrap());
    let called = handle.gemm_ex(
        2_i32,
        Matrix::from_strides(row.view(), 1, 2, 1, WIDE as usize).unwrap(),
        Matrix::new(column.view(), 2, 1, Layout::ColMajor).unwrap(),
        0_i32,
        Matrix::new(c.view(), 1, 1, Layout::ColMajor).unwrap(),
        MatrixMut::new(d.view_mut(), 1, 1, Layout::ColMajor).unwrap(),
    );
    Some((called, [stream.download(&d).unwrap()[0]]))
}

/// One after the other: hip-host's device has room for one.
#[test]
fn distances_beyond_32_bits() {
    let (stream, handle) = under_test::handle();
    if let Some((called, got)) = wide_product(&stream, &handle)
        && done(called, || "gemm_ex of i8, uneven".to_owned())
    {
        assert_eq!(got, [78]);
    }
    stream.device().trim_memory(0).unwrap();
    let (stream, handle) = open(without_wide_sizes);
    if let Some((called, got)) = wide_product(&stream, &handle) {
        let error = called.unwrap_err();
        assert!(matches!(error, Error::TooLarge { function: "rocblas_gemm_ex_64", .. }), "{error}");
        assert!(error.to_string().contains("split the call"), "{error}");
        assert_eq!(got, [7]);
    }
}

#[test]
fn increments_beyond_32_bits() {
    let (stream, handle) = under_test::handle();
    let Some(mut x) = apart(&stream, [1.0, 3.0].map(f16::from_f32)) else { return };
    handle.scal(2.0, VectorMut::with_inc(x.view_mut(), 2, WIDE).unwrap()).unwrap();
    let ends = [0, x.len() - 1].map(|at| stream.download(&x.slice(at..=at).unwrap()).unwrap()[0]);
    assert_eq!(ends, [2.0, 6.0].map(f16::from_f32));
    drop(x);
    let Some(x) = apart(&stream, [1.0_f32, -3.0]) else { return };
    let wide = Vector::with_inc(x.view(), 2, WIDE).unwrap();
    assert_eq!(handle.iamax(wide).unwrap(), Some(1));
    assert_eq!(handle.iamin(wide).unwrap(), Some(0));
    let mut index = stream.upload(&[7_i32]).unwrap();
    let error = handle.iamax_into(wide, index.view_mut()).unwrap_err().to_string();
    assert!(error.contains("beyond 32 bits"), "{error}");
    assert_eq!(stream.download(&index).unwrap(), [7]);
}

/// Matrices of one column, whose leading dimension is one of 64 bits and counts nothing, in a library that has functions for one such
/// matrix alone.
#[test]
fn members_beyond_32_bits_are_called_one_by_one() {
    let (stream, handle) = open(without_wide_batches);
    let numbers = stream.upload(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let column = |at: usize| {
        let view = numbers.slice(at..at + 2).unwrap();
        Matrix::with_ld(view, 2, 1, Layout::ColMajor, WIDE as usize).unwrap()
    };
    let two = Vector::new(numbers.slice(1..2).unwrap());
    let mut results = stream.upload(&[10.0_f32, 20.0, 30.0, 40.0]).unwrap();
    let columns = MatrixBatch::from_matrices([column(4), column(0)]).unwrap();
    let members = VectorBatchMut::strided(results.view_mut(), 2, 1, (2, 2)).unwrap();
    handle.gemv(1.0, columns, two, 1.0, members).unwrap();
    assert_eq!(stream.download(&results).unwrap(), [20.0, 32.0, 32.0, 44.0], "anywhere");
    let members = VectorBatchMut::strided(results.view_mut(), 2, 1, (2, 2)).unwrap();
    handle.gemv(1.0, column(2).repeat(2), two, 0.0, members).unwrap();
    assert_eq!(stream.download(&results).unwrap(), [6.0, 8.0, 6.0, 8.0], "at equal distances");
}

fn with_gap(y: &mut DeviceBuffer<f32>) -> VectorMut<'_, f32> {
    VectorMut::with_inc(y.view_mut(), 2, 2).unwrap()
}

/// Libraries of ROCm before 6.0, and cuBLAS here: products of matrices do it.
#[test]
fn vectors_of_16_bits_are_rows_of_matrices() {
    let (stream, handle) = open(without_16_bits);
    let halves =
        |values: &[f32]| stream.upload(&values.iter().map(|x| f16::from_f32(*x)).collect::<Vec<_>>());
    let (a, x) =
        (halves(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap(), halves(&[1.0, 9.0, 10.0, 9.0, 2.0]).unwrap());
    let rows = Matrix::new(a.view(), 2, 3, Layout::RowMajor).unwrap();
    let columns = Matrix::new(a.view(), 2, 3, Layout::ColMajor).unwrap();
    let every_other = Vector::with_inc(x.view(), 3, 2).unwrap();
    let mut y = stream.upload(&[1.0_f32, 7.0, 2.0]).unwrap();
    handle.gemv_ex(1.0, rows, every_other, 2.0, with_gap(&mut y)).unwrap();
    // 1 + 20 + 6 + 2, and 4 + 50 + 12 + 4.
    assert_eq!(stream.download(&y).unwrap(), [29.0, 7.0, 70.0]);
    handle.gemv_ex(1.0, columns, every_other, 0.0, with_gap(&mut y)).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [41.0, 7.0, 54.0]);
    let pair = |at: usize| Vector::new(x.slice(at..at + 2).unwrap());
    let pairs = VectorBatch::from_vectors([pair(3), pair(0)]).unwrap();
    let mut z = halves(&[0.0; 6]).unwrap();
    let members = VectorBatchMut::strided(z.view_mut(), 3, 1, (2, 3)).unwrap();
    handle.gemv_ex(1.0, columns.t(), pairs, 0.0, members).unwrap();
    let wanted = [13.0, 35.0, 57.0, 19.0, 39.0, 59.0].map(f16::from_f32);
    assert_eq!(stream.download(&z).unwrap(), wanted);
    let back = Vector::with_inc(x.view(), 3, -2).unwrap();
    let error = handle.gemv_ex(1.0, rows, back, 0.0, with_gap(&mut y)).unwrap_err();
    assert!(matches!(error, Error::Unsupported(_)), "{error}");
    assert!(error.to_string().contains("rocblas_hssgemv_strided_batched"), "{error}");
    // Nothing is multiplied where there are no columns.
    let none = Matrix::new(a.slice(..0).unwrap(), 2, 0, Layout::RowMajor).unwrap();
    handle.gemv_ex(1.0, none, Vector::new(x.slice(..0).unwrap()), 2.0, with_gap(&mut y)).unwrap();
    assert_eq!(stream.download(&y).unwrap(), [82.0, 7.0, 108.0]);
}

#[test]
fn a_platform_without_the_library() {
    fn none() -> Result<Rocblas, LoadError> {
        Err(LoadError::NotProvided { library: "rocBLAS", reason: "this is a test" })
    }
    let stream = Device::new(&platform(none), 0).unwrap().new_stream().unwrap();
    let error = Handle::new(&stream).unwrap_err();
    assert!(matches!(error, Error::NoLibrary(_)), "{error}");
    assert!(
        error.to_string().contains("no rocBLAS: rocBLAS does not exist on this platform: this is a test"),
        "{error}"
    );
}
