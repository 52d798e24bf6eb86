//! What the functions refuse, and with which status.

use crate::harness::*;
use hip_sys::rocblas::rocblas_status as status;
use hip_sys::rocblas::*;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

const HANDLE: status = status::rocblas_status_invalid_handle;
const POINTER: status = status::rocblas_status_invalid_pointer;
const SIZE: status = status::rocblas_status_invalid_size;
const VALUE: status = status::rocblas_status_invalid_value;
const INTERNAL: status = status::rocblas_status_internal_error;

/// What one call answers.
macro_rules! ask {
    ($b:ident, $name:ident($($argument:expr),* $(,)?)) => {{
        let handle = $b.handle;
        // SAFETY: S1, S11: live variables, or what the function must refuse.
        unsafe { ($b.table.$name)(handle, $($argument),*) }
    }};
}

#[test]
fn handles() {
    let b = &blas();
    let table = &b.table;
    let (mut handle, mut mode) = (null_mut(), rocblas_pointer_mode(9));
    let mut text = [1; 64];
    let (mut size, mut stream) = (0, null_mut());
    // SAFETY: S1, S11: live variables, or what the functions must refuse.
    unsafe {
        assert_eq!((table.rocblas_create_handle)(null_mut()), HANDLE);
        assert_eq!((table.rocblas_create_handle)(&mut handle), SUCCESS);
        assert_eq!((table.rocblas_get_stream)(handle, &mut stream), SUCCESS);
        assert!(stream.is_null());
        assert_eq!((table.rocblas_get_stream)(b.handle, &mut stream), SUCCESS);
        assert_eq!(stream, b.stream);
        assert_eq!((table.rocblas_set_stream)(handle, 0x1234 as _), VALUE);
        assert_eq!((table.rocblas_get_pointer_mode)(handle, &mut mode), SUCCESS);
        assert_eq!(mode, rocblas_pointer_mode::rocblas_pointer_mode_host);
        assert_eq!((table.rocblas_set_pointer_mode)(handle, rocblas_pointer_mode(7)), VALUE);
        assert_eq!((table.rocblas_get_pointer_mode)(handle, null_mut()), POINTER);
        assert!((table.rocblas_is_managing_device_memory)(handle));
        let mut memory = [0_u8; 16];
        assert_eq!((table.rocblas_set_workspace)(handle, memory.as_mut_ptr().cast(), 16), SUCCESS);
        assert!(!(table.rocblas_is_managing_device_memory)(handle));
        assert_eq!((table.rocblas_get_device_memory_size)(handle, &mut size), SUCCESS);
        assert_eq!(size, 16);
        assert_eq!((table.rocblas_destroy_handle)(handle), SUCCESS);
        assert_eq!((table.rocblas_destroy_handle)(handle), HANDLE);
        assert_eq!((table.rocblas_sscal)(handle, 1, null(), null_mut(), 1), HANDLE);
        assert_eq!((table.rocblas_sscal)(null_mut(), 1, null(), null_mut(), 1), HANDLE);
        assert_eq!((table.rocblas_get_version_string_size)(&mut size), SUCCESS);
        assert_eq!((table.rocblas_get_version_string)(text.as_mut_ptr(), size - 1), SIZE);
        assert_eq!((table.rocblas_get_version_string)(text.as_mut_ptr(), size), SUCCESS);
        assert!(CStr::from_ptr(text.as_ptr()).to_bytes().starts_with(b"4.4.0"));
        assert_eq!(CStr::from_ptr((table.rocblas_status_to_string)(SIZE)), c"rocblas_status_invalid_size");
        assert_eq!(
            CStr::from_ptr((table.rocblas_status_to_string)(status(99))),
            c"<undefined rocblas_status value>"
        );
    }
}

#[test]
fn a_size_query_runs_nothing() {
    let b = &blas();
    let (x, two) = (b.arg::<f32>(4, 1), 2.0);
    assert_eq!(ask!(b, rocblas_start_device_memory_size_query()), SUCCESS);
    assert_eq!(ask!(b, rocblas_start_device_memory_size_query()), status::rocblas_status_size_query_mismatch);
    assert_eq!(ask!(b, rocblas_sscal(4, &two, x.p(), 1)), status::rocblas_status_size_unchanged);
    let mut size = 9;
    assert_eq!(ask!(b, rocblas_stop_device_memory_size_query(&mut size)), SUCCESS);
    assert_eq!(size, 0);
    b.sync();
    assert_eq!(x.now(), x.values);
}

#[test]
fn level1() {
    let b = &blas();
    let (x, y, two) = (b.arg::<f32>(4, 1), b.arg::<f32>(4, 2), 2.0);
    let (mut result, mut index) = (5.0, 5);
    // If there is nothing to do, pointers may be null.
    assert_eq!(ask!(b, rocblas_saxpy(0, null(), null(), 1, null_mut(), 1)), SUCCESS);
    assert_eq!(ask!(b, rocblas_saxpy(4, &0.0, null(), 1, null_mut(), 1)), SUCCESS);
    assert_eq!(ask!(b, rocblas_saxpy(4, null(), x.p(), 1, y.p(), 1)), POINTER);
    assert_eq!(ask!(b, rocblas_saxpy(4, &two, null(), 1, y.p(), 1)), POINTER);
    assert_eq!(ask!(b, rocblas_sscal(4, &two, x.p(), 0)), SUCCESS);
    assert_eq!(ask!(b, rocblas_sscal(4, &two, x.p(), -1)), SUCCESS);
    assert_eq!(ask!(b, rocblas_sscal(4, null(), x.p(), 1)), POINTER);
    assert_eq!(ask!(b, rocblas_sscal(4, &1.0, x.p(), 1)), SUCCESS);
    assert_eq!(ask!(b, rocblas_scopy(4, x.p(), 1, null_mut(), 1)), POINTER);
    assert_eq!(ask!(b, rocblas_sdot(0, null(), 1, null(), 1, &mut result)), SUCCESS);
    assert_eq!(result, 0.0);
    assert_eq!(ask!(b, rocblas_sdot(0, null(), 1, null(), 1, null_mut())), POINTER);
    assert_eq!(ask!(b, rocblas_sdot(4, x.p(), 1, y.p(), 1, null_mut())), POINTER);
    result = 5.0;
    assert_eq!(ask!(b, rocblas_snrm2(4, x.p(), 0, &mut result)), SUCCESS);
    assert_eq!(result, 0.0);
    assert_eq!(ask!(b, rocblas_isamax(0, null(), 1, &mut index)), SUCCESS);
    assert_eq!(index, 0);
    assert_eq!(ask!(b, rocblas_isamax(4, null(), 1, &mut index)), POINTER);
    b.sync();
    assert_eq!((x.now(), y.now()), (x.values, y.values));
}

#[test]
fn memory_that_is_not_hip_s_is_refused() {
    let b = &blas();
    let (x, two, mut mine) = (b.arg::<f32>(4, 1), 2.0, [1.0_f32; 4]);
    assert_eq!(ask!(b, rocblas_sscal(4, &two, mine.as_mut_ptr(), 1)), POINTER);
    // One member more than the operand has room for.
    assert_eq!(ask!(b, rocblas_sscal(21, &two, x.p(), 1)), SUCCESS);
    assert_eq!(ask!(b, rocblas_sscal(22, &two, x.p(), 1)), POINTER);
    b.mode(Mode::Device);
    assert_eq!(ask!(b, rocblas_sscal(4, &two, x.p(), 1)), POINTER);
    b.sync();
}

/// With a stride of zero a batch of any size needs one vector. Its results are more than the host has memory for.
#[test]
fn a_batch_with_more_results_than_memory_is_an_error() {
    let b = &blas();
    let (x, mut result) = (b.arg::<f32>(4, 1), 7.0_f32);
    let dot = b.table.rocblas_sdot_strided_batched_64.get().expect("hip-host has it");
    for (batch, wanted) in [(1, SUCCESS), (1 << 60, status::rocblas_status_memory_error)] {
        // SAFETY: S1, S11: live variables; there is room for one result, and the call for more writes none.
        let answered = unsafe { dot(b.handle, 4, x.p(), 1, 0, x.p(), 1, 0, batch, &mut result) };
        assert_eq!(answered, wanted);
    }
    assert_ne!(result, 7.0);
    b.sync();
}

#[test]
fn matrices() {
    let b = &blas();
    let (a, x, y) = (b.arg::<f32>(30, 1), b.arg::<f32>(30, 2), b.arg::<f32>(30, 3));
    let (one, two, zero) = (1.0, 2.0, 0.0);
    let bad = rocblas_operation(99);
    let [none, transpose, conjugate] = OPS;
    let gemv = |op, m, n, alpha: *const f32, a: *const f32, lda, incx, beta: *const f32, y: *mut f32| {
        ask!(b, rocblas_sgemv(op, m, n, alpha, a, lda, x.p(), incx, beta, y, 1))
    };
    assert_eq!(gemv(bad, -1, 3, &one, a.p(), 3, 1, &one, y.p()), VALUE);
    assert_eq!(gemv(none, -1, 3, &one, a.p(), 3, 1, &one, y.p()), SIZE);
    assert_eq!(gemv(none, 4, 3, &one, a.p(), 3, 1, &one, y.p()), SIZE);
    assert_eq!(gemv(none, 3, 3, &one, a.p(), 3, 0, &one, y.p()), SIZE);
    assert_eq!(gemv(none, 0, 3, null(), null(), 3, 1, null(), null_mut()), SUCCESS);
    assert_eq!(gemv(none, 3, 3, null(), a.p(), 3, 1, &one, y.p()), POINTER);
    assert_eq!(gemv(none, 3, 3, &zero, null(), 3, 1, &one, null_mut()), SUCCESS);
    assert_eq!(gemv(none, 3, 3, &one, null(), 3, 1, &one, y.p()), POINTER);
    let gemm = |op, other, m, lda, alpha: *const f32, a: *const f32, beta: *const f32, c: *mut f32, ldc| {
        ask!(b, rocblas_sgemm(op, other, m, 3, 2, alpha, a, lda, x.p(), 3, beta, c, ldc))
    };
    assert_eq!(gemm(none, bad, 3, 3, &one, a.p(), &one, y.p(), 3), VALUE);
    assert_eq!(gemm(none, none, -3, 3, &one, a.p(), &one, y.p(), 3), SIZE);
    assert_eq!(gemm(none, transpose, 3, 2, &one, a.p(), &one, y.p(), 3), SIZE);
    assert_eq!(gemm(transpose, transpose, 3, 2, &one, a.p(), &one, y.p(), 2), SIZE);
    assert_eq!(gemm(none, conjugate, 0, 3, null(), null(), null(), null_mut(), 3), SUCCESS);
    assert_eq!(gemm(none, transpose, 3, 3, &one, a.p(), null(), y.p(), 3), POINTER);
    assert_eq!(gemm(none, transpose, 3, 3, &zero, null(), &one, null_mut(), 3), SUCCESS);
    assert_eq!(gemm(none, transpose, 3, 3, &two, null(), &one, y.p(), 3), POINTER);
    assert_eq!(gemm(none, transpose, 3, 3, &two, a.p(), &one, null_mut(), 3), POINTER);
    let (left, upper, unit) = (SIDES[0], FILLS[0], DIAGONALS[0]);
    let trsm = |side, fill, diagonal, m, alpha: *const f32, a: *const f32, bb: *mut f32, ldb| {
        ask!(b, rocblas_strsm(side, fill, none, diagonal, m, 2, alpha, a, 3, bb, ldb))
    };
    assert_eq!(trsm(rocblas_side::rocblas_side_both, upper, unit, 3, &one, a.p(), x.p(), 3), VALUE);
    assert_eq!(trsm(left, rocblas_fill::rocblas_fill_full, unit, 3, &one, a.p(), x.p(), 3), VALUE);
    assert_eq!(trsm(left, upper, rocblas_diagonal(5), 3, &one, a.p(), x.p(), 3), VALUE);
    assert_eq!(trsm(left, upper, unit, 4, &one, a.p(), x.p(), 4), SIZE);
    assert_eq!(trsm(left, upper, unit, 3, &one, a.p(), x.p(), 2), SIZE);
    assert_eq!(trsm(left, upper, unit, 3, null(), a.p(), x.p(), 3), POINTER);
    assert_eq!(trsm(left, upper, unit, 3, &one, null(), x.p(), 3), POINTER);
    assert_eq!(trsm(left, upper, unit, 3, &zero, null(), x.p(), 3), SUCCESS);
    b.sync();
    // A product in place needs equal leading dimensions; a sum in place needs untransposed operands, too.
    assert_eq!(
        ask!(b, rocblas_strmm(left, upper, none, unit, 3, 2, &one, a.p(), 3, x.p(), 3, x.p(), 4)),
        VALUE
    );
    assert_eq!(ask!(b, rocblas_sgeam(transpose, none, 3, 3, &one, a.p(), 3, &one, x.p(), 3, a.p(), 3)), SIZE);
    assert_eq!(ask!(b, rocblas_sgeam(none, none, 3, 3, &one, a.p(), 4, &one, x.p(), 3, a.p(), 3)), SIZE);
    let (c, real) = (b.arg::<rocblas_float_complex>(9, 1), 1.0);
    let complex = rocblas_float_complex { x: 1.0, y: 0.0 };
    assert_eq!(ask!(b, rocblas_csyrk(upper, conjugate, 3, 3, &complex, c.p(), 3, &complex, c.p(), 3)), VALUE);
    assert_eq!(ask!(b, rocblas_cherk(upper, transpose, 3, 3, &real, c.p(), 3, &real, c.p(), 3)), VALUE);
}

#[test]
fn untyped() {
    let b = &blas();
    let (a, c) = (b.arg::<f32>(9, 1), b.arg::<f32>(9, 2));
    let (f32, f64) = (rocblas_datatype::rocblas_datatype_f32_r, rocblas_datatype::rocblas_datatype_f64_r);
    let one = 1.0_f32;
    let ask = |a_type, c_type, d_type, ldd| {
        let alpha = (&raw const one).cast();
        let algo = rocblas_gemm_algo::rocblas_gemm_algo_standard;
        ask!(
            b,
            rocblas_gemm_ex(
                OPS[0],
                OPS[0],
                3,
                3,
                3,
                alpha,
                a.any(),
                a_type,
                3,
                a.any(),
                f32,
                3,
                alpha,
                c.any(),
                c_type,
                3,
                c.any(),
                d_type,
                ldd,
                f32,
                algo,
                0,
                0
            )
        )
    };
    assert_eq!(ask(f64, f32, f32, 3), status::rocblas_status_not_implemented);
    assert_eq!(ask(f32, f64, f64, 3), status::rocblas_status_not_implemented);
    assert_eq!(ask(f32, f32, f64, 3), VALUE);
    assert_eq!(ask(f32, f32, f32, 4), SIZE);
    assert_eq!(ask(f32, f32, f32, 3), SUCCESS);
    b.sync();
}

#[test]
fn a_capturing_stream_refuses_calls_that_wait() {
    use hip_sys::hip::{hipGraph_t, hipStreamCaptureMode};
    let b = &blas();
    let (x, mut result) = (b.arg::<f32>(4, 1), 0.0);
    ok!(b.hip, hipStreamBeginCapture(b.stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    assert_eq!(ask!(b, rocblas_sdot(4, x.p(), 1, x.p(), 1, &mut result)), INTERNAL);
    let mut graph: hipGraph_t = null_mut();
    assert_ne!(call!(b.hip, hipStreamEndCapture(b.stream, &mut graph)), 0);
}
