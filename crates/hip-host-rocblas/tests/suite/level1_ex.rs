//! Vectors whose types are arguments.

use crate::harness::*;
use crate::level1::check_results;
use hip_sys::rocblas::rocblas_datatype as t;
use hip_sys::rocblas::*;

const N: usize = 7;
const F16: t = t::rocblas_datatype_f16_r;
const BF16: t = t::rocblas_datatype_bf16_r;
const F32: t = t::rocblas_datatype_f32_r;
const F64: t = t::rocblas_datatype_f64_r;
const C32: t = t::rocblas_datatype_f32_c;
const C64: t = t::rocblas_datatype_f64_c;

macro_rules! axpy_and_scal {
    ($b:ident $a:ty = $at:ident, $x:ty = $xt:ident, $execution:ident) => {
        $b.each(|form, mode| {
            let (x, y) = ($b.arg::<$x>(13, 1), $b.arg::<$x>(N, 2));
            let alpha = $b.values::<$a>(mode, &[Z::new(1.5, -0.5)]);
            let factor = alpha.get()[0];
            run!($b, form, rocblas_axpy_ex rocblas_axpy_batched_ex rocblas_axpy_strided_batched_ex:
                (N as _) (alpha.any()) ($at) [x as $xt, 2] [y as $xt, 1] batch ($execution));
            y.check(form, |i| (0..N).map(|j| factor * x.values[i][2 * j] + y.values[i][j]).collect());
            run!($b, form, rocblas_scal_ex rocblas_scal_batched_ex rocblas_scal_strided_batched_ex:
                (N as _) (alpha.any()) ($at) [x as $xt, 2] batch ($execution));
            x.check(form, |i| put(&x.values[i], 2, &(0..N).map(|j| factor * x.values[i][2 * j]).collect::<Vec<_>>()));
        });
    };
}

#[test]
fn axpy_and_scal() {
    let b = &blas();
    axpy_and_scal!(b rocblas_half = F16, rocblas_half = F16, F16);
    axpy_and_scal!(b rocblas_half = F16, rocblas_half = F16, F32);
    axpy_and_scal!(b f32 = F32, rocblas_half = F16, F32);
    axpy_and_scal!(b rocblas_bfloat16 = BF16, rocblas_bfloat16 = BF16, F32);
    axpy_and_scal!(b f32 = F32, rocblas_bfloat16 = BF16, F32);
    axpy_and_scal!(b f32 = F32, f32 = F32, F32);
    axpy_and_scal!(b f64 = F64, f64 = F64, F64);
    axpy_and_scal!(b rocblas_float_complex = C32, rocblas_float_complex = C32, C32);
    axpy_and_scal!(b rocblas_double_complex = C64, rocblas_double_complex = C64, C64);
}

macro_rules! dots {
    ($b:ident $x:ty = $xt:ident, $r:ty = $rt:ident, $execution:ident) => {
        $b.each(|form, mode| {
            let (x, y) = ($b.arg::<$x>(13, 3), $b.arg::<$x>(N, 4));
            let result = $b.values::<$r>(mode, &[Z::from(9.0); BATCH]);
            run!($b, form, rocblas_dot_ex rocblas_dot_batched_ex rocblas_dot_strided_batched_ex:
                (N as _) [x as $xt, 2] [y as $xt, 1] batch (result.any()) ($rt) ($execution));
            check_results(&result, form, |i| (0..N).map(|j| x.values[i][2 * j] * y.values[i][j]).sum());
            run!($b, form, rocblas_dotc_ex rocblas_dotc_batched_ex rocblas_dotc_strided_batched_ex:
                (N as _) [x as $xt, 2] [y as $xt, 1] batch (result.any()) ($rt) ($execution));
            check_results(&result, form, |i| (0..N).map(|j| x.values[i][2 * j].conj() * y.values[i][j]).sum());
        });
    };
}

#[test]
fn dots() {
    let b = &blas();
    dots!(b rocblas_half = F16, rocblas_half = F16, F16);
    dots!(b rocblas_half = F16, rocblas_half = F16, F32);
    dots!(b rocblas_bfloat16 = BF16, rocblas_bfloat16 = BF16, F32);
    dots!(b f32 = F32, f32 = F32, F32);
    dots!(b f32 = F32, f64 = F64, F64);
    dots!(b f64 = F64, f64 = F64, F64);
    dots!(b rocblas_float_complex = C32, rocblas_float_complex = C32, C32);
    dots!(b rocblas_double_complex = C64, rocblas_double_complex = C64, C64);
}

/// 3 and 4, and nothing else, have the length 5.
macro_rules! nrm2 {
    ($b:ident $x:ty = $xt:ident, $r:ty = $rt:ident, $execution:ident) => {
        $b.each(|form, mode| {
            let x = $b.arg_of::<$x>(3, |_| [3.0, 0.0, -4.0].map(Z::from).to_vec());
            let result = $b.values::<$r>(mode, &[Z::from(9.0); BATCH]);
            run!($b, form, rocblas_nrm2_ex rocblas_nrm2_batched_ex rocblas_nrm2_strided_batched_ex:
                (3) [x as $xt, 1] batch (result.any()) ($rt) ($execution));
            check_results(&result, form, |_| Z::from(5.0));
        });
    };
}

#[test]
fn nrm2() {
    let b = &blas();
    nrm2!(b rocblas_half = F16, rocblas_half = F16, F32);
    nrm2!(b rocblas_bfloat16 = BF16, rocblas_bfloat16 = BF16, F32);
    nrm2!(b f32 = F32, f32 = F32, F32);
    nrm2!(b f64 = F64, f64 = F64, F64);
    nrm2!(b rocblas_float_complex = C32, f32 = F32, F32);
    nrm2!(b rocblas_double_complex = C64, f64 = F64, F64);
}

macro_rules! rot {
    ($b:ident $x:ty = $xt:ident, $c:ty = $ct:ident, $execution:ident) => {
        $b.each(|form, mode| {
            let (x, y) = ($b.arg::<$x>(N, 5), $b.arg::<$x>(N, 6));
            let (c, s) = ($b.values::<$c>(mode, &[Z::from(0.5)]), $b.values::<$c>(mode, &[Z::new(1.5, -2.0)]));
            run!($b, form, rocblas_rot_ex rocblas_rot_batched_ex rocblas_rot_strided_batched_ex:
                (N as _) [x as $xt, 1] [y as $xt, 1] (c.any()) (s.any()) ($ct) batch ($execution));
            let (c, s) = (c.get()[0], s.get()[0]);
            x.check(form, |i| (0..N).map(|j| c * x.values[i][j] + s * y.values[i][j]).collect());
            y.check(form, |i| (0..N).map(|j| c * y.values[i][j] - s.conj() * x.values[i][j]).collect());
        });
    };
}

#[test]
fn rot() {
    let b = &blas();
    rot!(b rocblas_half = F16, rocblas_half = F16, F32);
    rot!(b rocblas_bfloat16 = BF16, rocblas_bfloat16 = BF16, F32);
    rot!(b f32 = F32, f32 = F32, F32);
    rot!(b f64 = F64, f64 = F64, F64);
    rot!(b rocblas_float_complex = C32, f32 = F32, C32);
    rot!(b rocblas_float_complex = C32, rocblas_float_complex = C32, C32);
    rot!(b rocblas_double_complex = C64, f64 = F64, C64);
    rot!(b rocblas_double_complex = C64, rocblas_double_complex = C64, C64);
}
