//! rocBLAS's C functions over cuBLAS on a card, with results computed by hand. A machine without the driver, a card or cuBLAS skips
//! all tests and says so.

mod bench;
mod complex;

use bench::{Bench, Memory, ok};
use hip_sys::hip::{hipError_t, hipStream_t};
use hip_sys::rocblas::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const OK: rocblas_status = rocblas_status::rocblas_status_success;
const N: rocblas_operation = rocblas_operation::rocblas_operation_none;
const T: rocblas_operation = rocblas_operation::rocblas_operation_transpose;
const UPPER: rocblas_fill = rocblas_fill::rocblas_fill_upper;
const LOWER: rocblas_fill = rocblas_fill::rocblas_fill_lower;
const LEFT: rocblas_side = rocblas_side::rocblas_side_left;
const RIGHT: rocblas_side = rocblas_side::rocblas_side_right;
const NON_UNIT: rocblas_diagonal = rocblas_diagonal::rocblas_diagonal_non_unit;
const F16: rocblas_datatype = rocblas_datatype::rocblas_datatype_f16_r;
const BF16: rocblas_datatype = rocblas_datatype::rocblas_datatype_bf16_r;
const F32: rocblas_datatype = rocblas_datatype::rocblas_datatype_f32_r;
const STANDARD: rocblas_gemm_algo = rocblas_gemm_algo::rocblas_gemm_algo_standard;
const DEVICE: rocblas_pointer_mode = rocblas_pointer_mode::rocblas_pointer_mode_device;

/// 2 by 3: `1 3 5` above `2 4 6`.
const A: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// 3 by 2.
const B: [f32; 6] = [1.0, 0.0, 1.0, 2.0, 1.0, 0.0];
/// `A B`.
const AB: [f32; 4] = [6.0, 8.0, 5.0, 8.0];

/// Whole and half numbers up to 15 as 16-bit floats.
fn f16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value == 0.0 {
        0
    } else {
        ((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | bits >> 13 & 0x3ff) as u16
    }
}

fn bf16(value: f32) -> u16 {
    (value.to_bits() >> 16) as u16
}

#[test]
fn products_of_both_size_widths_add_to_c() {
    let Some(bench) = Bench::open() else { return };
    let (a, b, c) = (bench.put(&A), bench.put(&B), bench.put(&[1.0_f32; 4]));
    let (a, b) = (a.at(), b.at());
    ok!(bench.rocblas_sgemm(N, N, 2, 2, 3, &2.0, a, 2, b, 3, &3.0, c.at(), 2));
    c.is(&[15.0_f32, 19.0, 13.0, 19.0]);
    ok!(bench.rocblas_sgemm_64?(N, N, 2, 2, 3, &1.0, a, 2, b, 3, &0.0, c.at(), 2));
    c.is(&AB);
    // The scalars in the device's memory.
    let scalars = bench.put(&[2.0_f32, 1.0]);
    bench.device_scalars();
    let beta = scalars.at::<f32>().wrapping_add(1);
    ok!(bench.rocblas_sgemm(N, N, 2, 2, 3, scalars.at(), a, 2, b, 3, beta, c.at(), 2));
    c.is(&[18.0_f32, 24.0, 15.0, 24.0]);
}

#[test]
fn products_with_k_zero_only_scale() {
    let Some(bench) = Bench::open() else { return };
    let c = bench.put(&[1.0_f32, 2.0, 3.0, 4.0]);
    let (none, away) = (null(), null::<c_void>());
    ok!(bench.rocblas_sgemm(N, N, 2, 2, 0, none, none, 2, none, 1, &3.0, c.at(), 2));
    c.is(&[3.0_f32, 6.0, 9.0, 12.0]);
    // As without columns: nothing is read of what is not there.
    ok!(bench.rocblas_sgemm(T, T, 2, 2, 3, &0.0, none, 3, none, 2, &2.0, c.at(), 2));
    c.is(&[6.0_f32, 12.0, 18.0, 24.0]);
    ok!(bench.rocblas_sgemm_strided_batched(
        N,
        N,
        1,
        2,
        0,
        none,
        none,
        1,
        0,
        none,
        1,
        0,
        &0.5,
        c.at(),
        1,
        2,
        2
    ));
    c.is(&[3.0_f32, 6.0, 9.0, 12.0]);
    let two = 2.0_f32;
    let (beta, at) = ((&raw const two).cast(), c.at::<c_void>());
    ok!(bench.rocblas_gemm_ex(
        N, N, 2, 2, 0, away, away, F32, 2, away, F32, 1, beta, at, F32, 2, at, F32, 2, F32, STANDARD, 0, 0,
    ));
    c.is(&[6.0_f32, 12.0, 18.0, 24.0]);
    ok!(bench.rocblas_sgemm(N, N, 2, 2, 0, none, none, 2, none, 1, &0.0, c.at(), 2));
    c.is(&[0.0_f32; 4]);
}

#[test]
fn sums_of_32_bits_keep_every_bit() {
    let Some(bench) = Bench::open() else { return };
    // This value has 13 mantissa bits; TF32 would lose the last.
    let fine = 1.0_f32 + 1.0 / 4096.0;
    let (a, b, c) =
        (bench.put(&[fine; 64 * 64]), bench.put(&[0.5_f32; 64 * 64]), bench.put(&[0.0_f32; 64 * 64]));
    ok!(bench.rocblas_sgemm(N, N, 64, 64, 64, &1.0, a.at(), 64, b.at(), 64, &0.0, c.at(), 64));
    c.is(&[32.0 * fine; 64 * 64]);
}

#[test]
fn halves_are_multiplied_with_scalars_in_either_memory() {
    let Some(bench) = Bench::open() else { return };
    let (a, b) = (bench.put(&A.map(f16)), bench.put(&B.map(f16)));
    let c = bench.put(&[f16(1.0); 4]);
    let [one, two] = [1.0, 2.0].map(|value| rocblas_half { data: f16(value) });
    ok!(bench.rocblas_hgemm(N, N, 2, 2, 3, &one, a.at(), 2, b.at(), 3, &two, c.at(), 2));
    c.is(&[8.0, 10.0, 7.0, 10.0].map(f16));
    ok!(bench.rocblas_hgemm_strided_batched(
        N,
        N,
        1,
        1,
        1,
        &two,
        a.at(),
        1,
        1,
        b.at(),
        1,
        2,
        &one,
        c.at(),
        1,
        1,
        2,
    ));
    // 2 * 1 * 1 and 2 * 2 * 1 more.
    c.is(&[10.0, 14.0, 7.0, 10.0].map(f16));
    let scalars = bench.put(&[f16(1.0), f16(0.0)]);
    bench.device_scalars();
    let zero = scalars.at::<rocblas_half>().wrapping_add(1);
    ok!(bench.rocblas_hgemm(N, N, 2, 2, 3, scalars.at(), a.at(), 2, b.at(), 3, zero, c.at(), 2));
    c.is(&AB.map(f16));
}

#[test]
fn a_product_may_be_written_to_another_matrix() {
    let Some(bench) = Bench::open() else { return };
    let (a, b) = (bench.put(&A.map(bf16)), bench.put(&B.map(bf16)));
    let (c, d) = (bench.put(&[1.0_f32, 2.0, 3.0, 4.0]), bench.put(&[9.0_f32; 6]));
    let numbers = [1.0_f32, 0.0];
    let [one, zero]: [*const c_void; 2] = [(&raw const numbers[0]).cast(), (&raw const numbers[1]).cast()];
    let (a, b) = (a.at::<c_void>(), b.at::<c_void>());
    // D has one row more than is written.
    ok!(bench.rocblas_gemm_ex(
        N,
        N,
        2,
        2,
        3,
        one,
        a,
        BF16,
        2,
        b,
        BF16,
        3,
        one,
        c.at(),
        F32,
        2,
        d.at(),
        F32,
        3,
        F32,
        STANDARD,
        0,
        0,
    ));
    d.is(&[7.0_f32, 10.0, 9.0, 8.0, 12.0, 9.0]);
    c.is(&[1.0_f32, 2.0, 3.0, 4.0]);
    // The product is zero, so C is only copied.
    ok!(bench.rocblas_gemm_ex(
        N,
        N,
        2,
        2,
        3,
        zero,
        a,
        BF16,
        2,
        b,
        BF16,
        3,
        one,
        c.at(),
        F32,
        2,
        d.at(),
        F32,
        3,
        F32,
        STANDARD,
        0,
        0,
    ));
    d.is(&[1.0_f32, 2.0, 9.0, 3.0, 4.0, 9.0]);
    // beta is zero, so C may be null.
    ok!(bench.rocblas_gemm_ex(
        N,
        N,
        2,
        2,
        3,
        one,
        a,
        BF16,
        2,
        b,
        BF16,
        3,
        zero,
        null(),
        F32,
        2,
        d.at(),
        F32,
        2,
        F32,
        STANDARD,
        0,
        0,
    ));
    d.is(&AB);
    // Two columns as two matrices, D with a gap between them.
    let d = bench.put(&[9.0_f32; 5]);
    ok!(bench.rocblas_gemm_strided_batched_ex(
        N,
        N,
        2,
        1,
        3,
        one,
        a,
        BF16,
        2,
        0,
        b,
        BF16,
        3,
        3,
        one,
        c.at(),
        F32,
        2,
        2,
        d.at(),
        F32,
        2,
        3,
        2,
        F32,
        STANDARD,
        0,
        0,
    ));
    d.is(&[7.0_f32, 10.0, 9.0, 8.0, 12.0]);
}

#[test]
fn a_batch_by_addresses_is_computed() {
    let Some(bench) = Bench::open() else { return };
    let (a, b, c) = (bench.put(&A), bench.put(&B), bench.put(&[0.0_f32; 8]));
    let array = |memory: &Memory<'_>, step: usize| {
        bench.put(&[memory.start as usize, memory.start as usize + step * size_of::<f32>()])
    };
    let (all_a, all_b, all_c) = (array(&a, 0), array(&b, 0), array(&c, 4));
    ok!(bench.rocblas_sgemm_batched(
        N,
        N,
        2,
        2,
        3,
        &1.0,
        all_a.at(),
        2,
        all_b.at(),
        3,
        &0.0,
        all_c.at(),
        2,
        2,
    ));
    c.is(&[AB, AB]);
    // A of a vector: of the first column of B, and of the second.
    let (x, y) = (array(&b, 3), array(&c, 4));
    ok!(bench.rocblas_sgemv_batched(N, 2, 3, &1.0, all_a.at(), 2, x.at(), 1, &1.0, y.at(), 1, 2));
    c.is(&[12.0_f32, 16.0, 5.0, 8.0, 11.0, 16.0, 5.0, 8.0]);
    ok!(bench.rocblas_sgemv_strided_batched(
        N,
        2,
        3,
        &1.0,
        a.at(),
        2,
        0,
        b.at(),
        1,
        3,
        &0.0,
        c.at(),
        1,
        2,
        2
    ));
    c.is(&AB);
    // 2 0 above 1 4, for 2 and 9: 1 and 2; for 4 and 10: 2 and 2.
    let (l, x) = (bench.put(&[2.0_f32, 1.0, 0.0, 4.0]), bench.put(&[2.0_f32, 9.0, 4.0, 10.0]));
    let (all_l, all_x) = (array(&l, 0), array(&x, 2));
    ok!(bench.rocblas_strsm_batched(LEFT, LOWER, N, NON_UNIT, 2, 1, &1.0, all_l.at(), 2, all_x.at(), 2, 2));
    x.is(&[1.0_f32, 2.0, 2.0, 2.0]);
}

#[test]
fn a_strided_batch_of_vectors_is_computed() {
    let Some(bench) = Bench::open() else { return };
    let (x, y) = (bench.put(&[1.0_f32, -5.0, 2.0, 3.0]), bench.put(&[1.0_f32, 2.0, 3.0, 4.0]));
    ok!(bench.rocblas_saxpy_strided_batched(2, &2.0, x.at(), 1, 2, y.at(), 1, 2, 2));
    y.is(&[3.0_f32, -8.0, 7.0, 10.0]);
    let mut indices = [0; 2];
    ok!(bench.rocblas_isamax_strided_batched(2, x.at(), 1, 2, 2, indices.as_mut_ptr()));
    assert_eq!(indices, [2, 2]);
    let mut index = 0_i64;
    ok!(bench.rocblas_isamin_64?(4, x.at(), 1, &mut index));
    assert_eq!(index, 1);
    let results = bench.put(&[9.0_f32; 3]);
    bench.device_scalars();
    ok!(bench.rocblas_sdot_strided_batched(2, x.at(), 1, 2, y.at(), 1, 2, 2, results.at()));
    results.is(&[43.0_f32, 44.0, 9.0]);
    // Of no elements the results are zero.
    ok!(bench.rocblas_snrm2_strided_batched(0, x.at(), 1, 2, 2, results.at()));
    results.is(&[0.0_f32, 0.0, 9.0]);
}

#[test]
fn vectors_of_16_bits_are_computed_in_32() {
    let Some(bench) = Bench::open() else { return };
    let (x, y) = (bench.put(&[1.0, 2.0, 3.0].map(f16)), bench.put(&[4.0, 5.0, 6.0].map(f16)));
    let two = rocblas_half { data: f16(2.0) };
    ok!(bench.rocblas_haxpy(3, &two, x.at(), 1, y.at(), 1));
    y.is(&[6.0, 9.0, 12.0].map(f16));
    let mut dot = rocblas_half::default();
    ok!(bench.rocblas_hdot(3, x.at(), 1, x.at(), 1, &mut dot));
    assert_eq!(dot.data, f16(14.0));
    let z = bench.put(&[3.0, 4.0].map(bf16));
    let mut dot = rocblas_bfloat16::default();
    ok!(bench.rocblas_bfdot(2, z.at(), 1, z.at(), 1, &mut dot));
    assert_eq!(dot.data, bf16(25.0));
    let mut norm = rocblas_bfloat16::default();
    ok!(bench.rocblas_nrm2_ex(2, z.at(), BF16, 1, (&raw mut norm).cast(), BF16, F32));
    assert_eq!(norm.data, bf16(5.0));
    ok!(bench.rocblas_scal_ex(3, (&raw const two).cast(), F16, x.at(), F16, 1, F32));
    x.is(&[2.0, 4.0, 6.0].map(f16));
    // A quarter turn.
    let (c, s) = (f16(0.0), f16(1.0));
    ok!(bench.rocblas_rot_ex(
        3,
        x.at(),
        F16,
        1,
        y.at(),
        F16,
        1,
        (&raw const c).cast(),
        (&raw const s).cast(),
        F16,
        F32,
    ));
    x.is(&[6.0, 9.0, 12.0].map(f16));
    y.is(&[-2.0, -4.0, -6.0].map(f16));
}

#[test]
fn matrices_of_every_kind() {
    let Some(bench) = Bench::open() else { return };
    // 1 2 above 0 3 as a triangle, and 1 2 above 2 3 as a symmetric matrix.
    let (a, x) = (bench.put(&[1.0_f32, -7.0, 2.0, 3.0]), bench.put(&[1.0_f32, 1.0]));
    let y = bench.put(&[1.0_f32, 1.0]);
    ok!(bench.rocblas_ssymv(UPPER, 2, &1.0, a.at(), 2, x.at(), 1, &1.0, y.at(), 1));
    y.is(&[4.0_f32, 6.0]);
    ok!(bench.rocblas_strmv(UPPER, N, NON_UNIT, 2, a.at(), 2, x.at(), 1));
    x.is(&[3.0_f32, 3.0]);
    ok!(bench.rocblas_strsv(UPPER, N, NON_UNIT, 2, a.at(), 2, x.at(), 1));
    x.is(&[1.0_f32, 1.0]);
    let c = bench.put(&[0.0_f32; 4]);
    ok!(bench.rocblas_strmm(LEFT, UPPER, N, NON_UNIT, 2, 1, &1.0, a.at(), 2, y.at(), 2, c.at(), 2));
    c.is(&[16.0_f32, 18.0, 0.0, 0.0]);
    ok!(bench.rocblas_sdgmm(RIGHT, 2, 2, a.at(), 2, y.at(), 1, c.at(), 2));
    c.is(&[4.0_f32, -28.0, 12.0, 18.0]);
    ok!(bench.rocblas_sgeam(T, N, 2, 2, &1.0, a.at(), 2, &2.0, a.at(), 2, c.at(), 2));
    c.is(&[3.0_f32, -12.0, -3.0, 9.0]);
    let c = bench.put(&[1.0_f32; 4]);
    // 4 and 6 with themselves, the lower half of it.
    ok!(bench.rocblas_ssyrk(LOWER, N, 2, 1, &1.0, y.at(), 2, &2.0, c.at(), 2));
    c.is(&[18.0_f32, 26.0, 1.0, 38.0]);
    ok!(bench.rocblas_ssyrk(LOWER, T, 2, 0, null(), null(), 1, &0.5, c.at(), 2));
    c.is(&[9.0_f32, 13.0, 1.0, 19.0]);
    // Two rank-one updates, of 1 and 1 and of 4 and 6 with themselves.
    let (v, c) = (bench.put(&[1.0_f32, 1.0, 4.0, 6.0]), bench.put(&[0.0_f32; 8]));
    ok!(bench.rocblas_sger_strided_batched(2, 2, &1.0, v.at(), 1, 2, v.at(), 1, 2, c.at(), 2, 4, 2));
    c.is(&[1.0_f32, 1.0, 1.0, 1.0, 16.0, 24.0, 24.0, 36.0]);
}

#[test]
fn streams_and_workspaces_keep_their_settings() {
    let Some(bench) = Bench::open() else { return };
    let (a, b, c) = (bench.put(&A), bench.put(&B), bench.put(&[0.0_f32; 4]));
    let memory = bench.put(&vec![0_u8; 4 << 20]);
    let mut streams: [hipStream_t; 2] = [null_mut(); 2];
    let mut size = 0;
    ok!(bench.rocblas_set_workspace(memory.at(), 4 << 20));
    for stream in &mut streams {
        // SAFETY: S1: a live variable.
        assert_eq!(unsafe { (bench.hip().hipStreamCreateWithFlags)(stream, 1) }, hipError_t::hipSuccess);
        ok!(bench.rocblas_set_stream(*stream));
        let mut now = null_mut();
        ok!(bench.rocblas_get_stream(&mut now));
        ok!(bench.rocblas_get_device_memory_size(&mut size));
        assert_eq!((now, size), (*stream, 4 << 20));
        ok!(bench.rocblas_sgemm(N, N, 2, 2, 3, &1.0, a.at(), 2, b.at(), 3, &1.0, c.at(), 2));
        // SAFETY: S1: a live stream.
        assert_eq!(unsafe { (bench.hip().hipStreamSynchronize)(*stream) }, hipError_t::hipSuccess);
    }
    c.is(&AB.map(|value| 2.0 * value));
    ok!(bench.rocblas_set_workspace(null_mut(), 0));
    ok!(bench.rocblas_set_stream(null_mut()));
    for stream in streams {
        // SAFETY: S1: a stream that no handle has any more; afterwards its handle is stale, which is recognised.
        unsafe {
            assert_eq!((bench.hip().hipStreamDestroy)(stream), hipError_t::hipSuccess);
            let refused = (bench.blas().rocblas_set_stream)(bench.handle, stream);
            assert_eq!(refused, rocblas_status::rocblas_status_invalid_value);
        }
    }
    ok!(bench.rocblas_sgemm(N, N, 2, 2, 3, &1.0, a.at(), 2, b.at(), 3, &0.0, c.at(), 2));
    c.is(&AB);
}

#[test]
fn bad_arguments_have_rocblas_s_codes() {
    let Some(bench) = Bench::open() else { return };
    let c = bench.put(&[0.0_f32; 4]);
    let (blas, handle, at) = (bench.blas(), bench.handle, c.at::<f32>());
    let gemm = |operation, m, lda, alpha: *const f32, a: *const f32| {
        // SAFETY: S1: refused before any of it is read.
        unsafe { (blas.rocblas_sgemm)(handle, operation, N, m, 2, 2, alpha, a, lda, at, 2, &1.0, at, 2) }
    };
    assert_eq!(gemm(rocblas_operation(1), 2, 2, &1.0, at), rocblas_status::rocblas_status_invalid_value);
    assert_eq!(gemm(N, -1, 2, &1.0, at), rocblas_status::rocblas_status_invalid_size);
    assert_eq!(gemm(N, 2, 1, &1.0, at), rocblas_status::rocblas_status_invalid_size);
    assert_eq!(gemm(N, 2, 2, null(), at), rocblas_status::rocblas_status_invalid_pointer);
    assert_eq!(gemm(N, 2, 2, &1.0, null()), rocblas_status::rocblas_status_invalid_pointer);
    // SAFETY: S1: as above.
    unsafe {
        let step = (blas.rocblas_sgemv)(handle, N, 2, 2, &1.0, at, 2, at, 0, &1.0, at, 1);
        assert_eq!(step, rocblas_status::rocblas_status_invalid_size);
        let missing = (blas.rocblas_saxpy)(handle, 2, &1.0, null(), 1, at, 1);
        assert_eq!(missing, rocblas_status::rocblas_status_invalid_pointer);
        let nothing = (blas.rocblas_saxpy)(handle, 0, null(), null(), 1, null_mut(), 1);
        assert_eq!(nothing, OK);
        let mut other = null_mut();
        assert_eq!((blas.rocblas_create_handle)(&mut other), OK);
        assert_eq!((blas.rocblas_destroy_handle)(other), OK);
        assert_eq!((blas.rocblas_destroy_handle)(other), rocblas_status::rocblas_status_invalid_handle);
        assert_eq!(
            (blas.rocblas_saxpy)(other, 2, &1.0, at, 1, at, 1),
            rocblas_status::rocblas_status_invalid_handle
        );
    }
}
