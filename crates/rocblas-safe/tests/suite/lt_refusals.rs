//! What `lt` refuses before any call, what it does where the library has no algorithm, and what it says.

use crate::under_test;
use hip_safe::{Device, DeviceBuffer, Platform};
use hip_sys::hipblaslt::{
    hipblasLtHandle_t, hipblasLtMatmulAlgoGetHeuristic_fn, hipblasLtMatmulDesc_t,
    hipblasLtMatmulHeuristicResult_t, hipblasLtMatmulPreference_t, hipblasLtMatrixLayout_t, hipblasStatus_t,
};
use hip_sys::{Hipblaslt, LoadError};
use rocblas_safe::lt::{self, LtHandle, Matmul};
use rocblas_safe::{Error, Layout, Matrix, MatrixBatch, MatrixBatchMut, MatrixMut};
use std::sync::Arc;

const COLS: Layout = Layout::ColMajor;

/// Sixteen numbers to read and sixteen to write, of which the tests take small matrices.
struct Bench {
    stream: hip_safe::Stream,
    lt: LtHandle,
    numbers: DeviceBuffer<f32>,
    result: DeviceBuffer<f32>,
}

fn bench() -> Bench {
    let stream = under_test::stream();
    let lt = LtHandle::new(stream.device()).expect("the platform has the library");
    let (numbers, result) = (stream.upload(&[1.0_f32; 16]).unwrap(), stream.upload(&[7.0_f32; 16]).unwrap());
    Bench { stream, lt, numbers, result }
}

impl Bench {
    fn matrix(&self, rows: usize, cols: usize) -> Matrix<'_, f32> {
        Matrix::new(self.numbers.view(), rows, cols, COLS).unwrap()
    }

    /// What a product of 2 x 2 answers, after a change; the result has to be as it was.
    fn refused<'b>(
        &'b self,
        layout: Layout,
        change: impl FnOnce(Matmul<'b, 'b, f32, f32, f32>) -> Matmul<'b, 'b, f32, f32, f32>,
        result: &'b mut DeviceBuffer<f32>,
    ) -> String {
        let result = MatrixMut::new(result.view_mut(), 2, 2, layout).unwrap();
        let call = change(self.lt.matmul(self.matrix(2, 2), self.matrix(2, 2), result));
        call.run(&self.stream).expect_err("it is refused").to_string()
    }
}

#[test]
fn sizes_that_do_not_agree() {
    let Bench { stream, lt, numbers, mut result } = bench();
    let of = |rows, cols| Matrix::new(numbers.view(), rows, cols, COLS).unwrap();
    for (a, b, d, message) in [
        ((2, 3), (2, 2), (2, 2), "matmul: b is 2 x 2, and 3 x 2 is needed"),
        ((2, 3), (3, 4), (3, 4), "matmul: d is 3 x 4, and 2 x 4 is needed"),
        ((2, 3), (3, 4), (2, 3), "matmul: b is 3 x 4, and 3 x 3 is needed"),
    ] {
        let target = MatrixMut::new(result.view_mut(), d.0, d.1, COLS).unwrap();
        let answer = lt.matmul(of(a.0, a.1), of(b.0, b.1), target).run(&stream);
        assert_eq!(answer.unwrap_err().to_string(), message);
    }
    let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
    let answer = lt.matmul(of(2, 2), of(2, 2), target).add(1.0, of(2, 3)).run(&stream);
    assert_eq!(answer.unwrap_err().to_string(), "matmul: c is 2 x 3, and 2 x 2 is needed");
    assert_eq!(stream.download(&result).unwrap(), [7.0; 16]);
    assert_eq!(lt.statistics().misses, 0, "the library was not asked");
}

#[test]
fn biases_factors_and_auxiliary_outputs() {
    let bench = bench();
    let mut result = bench.stream.upload(&[7.0_f32; 4]).unwrap();
    let view = |len: usize| bench.numbers.slice(..len).unwrap();
    let message = bench.refused(COLS, |call| call.bias_per_row(view(3)), &mut result);
    assert_eq!(message, "matmul: the length of the bias is 3, and 2 is needed");
    let message = bench.refused(COLS, |call| call.bias_per_column(view(2)), &mut result);
    assert!(
        message.starts_with("matmul: a bias for each row of a row-major result, or for each column"),
        "{message}"
    );
    assert!(message.ends_with("store the result in the other layout"), "{message}");
    let message = bench.refused(Layout::RowMajor, |call| call.bias_per_row(view(2)), &mut result);
    assert!(message.starts_with("matmul: a bias for each row of a row-major result"), "{message}");

    let mut aux = bench.stream.alloc_zeros::<f32>(8).unwrap();
    let (first, second) = aux.split_at_mut(4).unwrap();
    let target = MatrixMut::new(first, 2, 2, COLS).unwrap();
    let message = bench.refused(COLS, |call| call.aux(target), &mut result);
    assert!(message.starts_with("matmul: an auxiliary output without an activation"), "{message}");
    let target = MatrixMut::new(second, 2, 2, Layout::RowMajor).unwrap();
    let message = bench.refused(COLS, |call| call.relu().aux(target), &mut result);
    assert!(message.contains("in another layout than the result"), "{message}");
    let c = Matrix::new(bench.numbers.view(), 2, 2, Layout::RowMajor).unwrap();
    let message = bench.refused(COLS, |call| call.add(1.0, c), &mut result);
    assert!(message.ends_with("store both by rows or both by columns"), "{message}");
    assert_eq!(bench.stream.download(&result).unwrap(), [7.0; 4]);
}

#[test]
fn a_factor_is_one_number() {
    use rocblas_safe::lt::F8E4M3;
    let Bench { stream, lt, numbers, mut result } = bench();
    let byte = stream.upload(&[F8E4M3::from_bits(0x38)]).unwrap();
    let one = Matrix::new(byte.view(), 1, 1, COLS).unwrap();
    let target = MatrixMut::new(result.view_mut(), 1, 1, COLS).unwrap();
    let answer = lt.matmul(one, one, target).scale_b(numbers.slice(..2).unwrap()).run(&stream);
    assert!(matches!(answer, Err(Error::ScalarLen { wanted: 1, got: 2, .. })), "{answer:?}");
}

#[test]
fn batches() {
    let Bench { stream, lt, numbers, mut result } = bench();
    let many = |count| MatrixBatch::strided(numbers.view(), (2, 2), COLS, None, (count, 4)).unwrap();
    let one = Matrix::new(numbers.view(), 2, 2, COLS).unwrap();
    let target = MatrixBatchMut::strided(result.view_mut(), (2, 2), COLS, None, (3, 4)).unwrap();
    let answer = lt.matmul(many(2), one, target).run(&stream);
    assert!(matches!(answer, Err(Error::BatchCount { expected: 3, got: 2, .. })), "{answer:?}");
    let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
    let answer = lt.matmul(many(2), one, target).run(&stream);
    assert!(
        matches!(answer, Err(Error::BatchCount { expected: 1, got: 2, .. })),
        "one result for many: {answer:?}"
    );
    let anywhere = MatrixBatch::from_matrices([one, one]).unwrap();
    let target = MatrixBatchMut::strided(result.view_mut(), (2, 2), COLS, None, (2, 4)).unwrap();
    let answer = lt.matmul(anywhere, one, target).run(&stream);
    assert!(matches!(answer, Err(Error::NotSupported { .. })), "{answer:?}");
    // The members of a result do not overlap: that is refused where the batch is made.
    let overlapping = MatrixBatchMut::strided(result.view_mut(), (2, 2), COLS, None, (3, 2));
    assert!(matches!(overlapping, Err(Error::Overlap { count: 3, stride: 2 })));
    assert!(MatrixBatch::strided(numbers.view(), (2, 2), COLS, None, (5, 4)).is_err(), "beyond the buffer");
    assert_eq!(stream.download(&result).unwrap(), [7.0; 16]);
}

/// A leading dimension says nothing where there is one column, so that a small buffer has a large one.
#[test]
fn sizes_beyond_32_bits_and_an_inner_size_of_nothing() {
    let Bench { stream, lt, numbers, mut result } = bench();
    let column = Matrix::with_ld(numbers.view(), 2, 1, COLS, 1 << 31).unwrap();
    let row = Matrix::new(numbers.view(), 1, 2, COLS).unwrap();
    let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
    let message = lt.matmul(column, row, target).run(&stream).unwrap_err().to_string();
    assert!(message.contains("above 2147483647") && message.contains("Handle::gemm"), "{message}");
    let (a, b) = (Matrix::new(numbers.view(), 2, 0, COLS), Matrix::new(numbers.view(), 0, 2, COLS));
    let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
    let answer = lt.matmul(a.unwrap(), b.unwrap(), target).run(&stream);
    assert!(matches!(answer, Err(Error::NotSupported { .. })), "{answer:?}");
    assert!(Matrix::with_ld(numbers.view(), 2, 2, COLS, usize::MAX).is_err());
    assert_eq!(stream.download(&result).unwrap(), [7.0; 16]);
}

#[test]
fn streams_and_memory_of_another_device() {
    let Some((first, second)) = under_test::two_devices() else { return };
    let lt = LtHandle::new(&first).unwrap();
    let (here, there) = (first.new_stream().unwrap(), second.new_stream().unwrap());
    let numbers = here.upload(&[1.0_f32; 4]).unwrap();
    let foreign = there.upload(&[1.0_f32; 4]).unwrap();
    let mut result = here.upload(&[7.0_f32; 4]).unwrap();
    let square = |buffer| Matrix::new(buffer, 2, 2, COLS).unwrap();
    let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
    let answer = lt.matmul(square(numbers.view()), square(numbers.view()), target).run(&there);
    assert!(matches!(answer, Err(Error::Hip(hip_safe::Error::WrongDevice { .. }))), "{answer:?}");
    let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
    let answer = lt.matmul(square(numbers.view()), square(foreign.view()), target).run(&here);
    assert!(matches!(answer, Err(Error::Hip(_))), "{answer:?}");
    assert_eq!(here.download(&result).unwrap(), [7.0; 4]);
}

/// The platform under test, with another answer to the question for an algorithm.
fn platform_with(heuristic: hipblasLtMatmulAlgoGetHeuristic_fn) -> Arc<Platform> {
    let real = under_test::platform();
    let changed = || {
        let library = lt::library(&real).map_err(Clone::clone)?;
        let mut table = library.table().clone();
        table.hipblasLtMatmulAlgoGetHeuristic = heuristic;
        // SAFETY: S1: the functions are the real library's, and one that finds nothing.
        Ok(unsafe { Hipblaslt::from_table(library.version(), "a part of it".into(), table) })
    };
    let rtc = Err(LoadError::NotProvided { library: "a compiler", reason: "none is needed" });
    // SAFETY: S1, S11: the functions are the real platform's, and the library is made of its library's.
    unsafe {
        let platform =
            Platform::from_tables(real.kind, real.raw_version, real.hip().clone(), rtc, *real.ext());
        platform.library(changed).expect("the platform has the library");
        Arc::new(platform)
    }
}

macro_rules! heuristic {
    ($name:ident, $status:ident) => {
        unsafe extern "C" fn $name(
            _: hipblasLtHandle_t,
            _: hipblasLtMatmulDesc_t,
            _: hipblasLtMatrixLayout_t,
            _: hipblasLtMatrixLayout_t,
            _: hipblasLtMatrixLayout_t,
            _: hipblasLtMatrixLayout_t,
            _: hipblasLtMatmulPreference_t,
            _: i32,
            _: *mut hipblasLtMatmulHeuristicResult_t,
            count: *mut i32,
        ) -> hipblasStatus_t {
            // SAFETY: S11: the caller's pointer to the number of results.
            unsafe { count.write(0) };
            hipblasStatus_t::$status
        }
    };
}

heuristic!(nothing, HIPBLAS_STATUS_SUCCESS);
heuristic!(not_supported, HIPBLAS_STATUS_NOT_SUPPORTED);
heuristic!(invalid, HIPBLAS_STATUS_INVALID_VALUE);
heuristic!(no_memory, HIPBLAS_STATUS_ALLOC_FAILED);

#[test]
fn no_algorithm_is_an_error_that_names_the_product_and_what_to_do() {
    for none in [nothing, not_supported, invalid] as [hipblasLtMatmulAlgoGetHeuristic_fn; 3] {
        let device = Device::new(&platform_with(none), 0).unwrap();
        let (stream, lt) = (device.new_stream().unwrap(), LtHandle::new(&device).unwrap());
        let numbers = stream.upload(&[1.0_f32; 6]).unwrap();
        let mut result = stream.upload(&[7.0_f32; 4]).unwrap();
        let a = Matrix::new(numbers.view(), 2, 3, COLS).unwrap();
        let target = MatrixMut::new(result.view_mut(), 2, 2, COLS).unwrap();
        let answer =
            lt.matmul(a, a.t(), target).bias_per_row(numbers.slice(..2).unwrap()).gelu().run(&stream);
        let error = answer.expect_err("there is none");
        assert!(!error.is_passing());
        assert_eq!(
            error.to_string(),
            "the library has no algorithm for d [f32 2 x 2] = a [f32 2 x 3] bᵀ [f32 2 x 3] with bias, gelu (bias of f32), within \
             33554432 bytes of work memory; column-major: take Handle::gemm or gemm_ex, which have every layout, and what follows \
             the product in calls of its own; or allow more work memory (LtHandle::set_work_limit)"
        );
        assert_eq!(lt.statistics().remembered, 0);
        assert_eq!(stream.download(&result).unwrap(), [7.0; 4]);
    }
}

#[test]
fn what_the_library_answers_is_an_error_with_its_name() {
    let device = Device::new(&platform_with(no_memory), 0).unwrap();
    let (stream, lt) = (device.new_stream().unwrap(), LtHandle::new(&device).unwrap());
    let number = stream.upload(&[1.0_f32]).unwrap();
    let mut result = stream.alloc_zeros::<f32>(1).unwrap();
    let one = Matrix::new(number.view(), 1, 1, COLS).unwrap();
    let answer = lt.matmul(one, one, MatrixMut::new(result.view_mut(), 1, 1, COLS).unwrap()).run(&stream);
    let error = answer.expect_err("it is refused");
    assert!(error.is_passing(), "memory may be there later");
    let message = error.to_string();
    assert!(
        message.starts_with("hipblasLtMatmulAlgoGetHeuristic answered HIPBLAS_STATUS_ALLOC_FAILED (2)"),
        "{message}"
    );
}
