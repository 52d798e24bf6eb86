//! Complex numbers that are aligned to one part only, which rocBLAS allows and cuBLAS does not.

use crate::bench::{Bench, ok};
use crate::{N, OK, STANDARD};
use hip_sys::rocblas::*;
use std::ffi::c_void;

/// From a multiple of 16 bytes on.
#[repr(align(16))]
struct Four([f64; 4]);

impl Four {
    /// The complex number in the middle two values.
    fn between(&mut self) -> *mut rocblas_double_complex {
        self.0.as_mut_ptr().wrapping_add(1).cast()
    }
}

#[test]
fn complex_numbers_on_the_host_may_be_misaligned() {
    let Some(bench) = Bench::open() else { return };
    let (mut alpha, mut beta) = (Four([9.0, 0.0, 2.0, 9.0]), Four([9.0, 1.0, 0.0, 9.0]));
    let (alpha, beta) = (alpha.between(), beta.between());
    let (x, y) = (bench.put(&[1.0_f64, 3.0]), bench.put(&[0.0_f64, 1.0]));
    ok!(bench.rocblas_zscal(1, alpha, x.at(), 1));
    x.is(&[-6.0, 2.0]);
    // (2i) (-6 + 2i) + i, of one row.
    let matrix = bench.put(&[-6.0_f64, 2.0]);
    let one = bench.put(&[1.0_f64, 0.0]);
    ok!(bench.rocblas_zgemv(N, 1, 1, alpha, matrix.at(), 1, one.at(), 1, beta, y.at(), 1));
    y.is(&[-4.0, -11.0]);
    ok!(bench.rocblas_zgemm(N, N, 1, 1, 1, alpha, one.at(), 1, one.at(), 1, beta, y.at(), 1));
    y.is(&[-4.0, -9.0]);
    let pointers = bench.put(&[y.at::<c_void>(), one.at()]);
    let into = pointers.at::<*mut rocblas_double_complex>();
    let from = pointers.at::<*const rocblas_double_complex>().wrapping_add(1);
    ok!(bench.rocblas_zgemm_batched(N, N, 1, 1, 1, alpha, from, 1, from, 1, beta, into, 1, 1));
    y.is(&[-4.0, -7.0]);
    let mut dot = Four([9.0; 4]);
    ok!(bench.rocblas_zdotu(1, x.at(), 1, one.at(), 1, dot.between()));
    assert_eq!(dot.0, [9.0, -6.0, 2.0, 9.0]);
    let (mut a, mut b, mut s) = (Four([9.0, 3.0, 0.0, 9.0]), Four([9.0, 0.0, 0.0, 9.0]), Four([9.0; 4]));
    let mut c = 9.0;
    ok!(bench.rocblas_zrotg(a.between(), b.between(), &mut c, s.between()));
    assert_eq!((a.0, c, s.0), ([9.0, 3.0, 0.0, 9.0], 1.0, [9.0, 0.0, 0.0, 9.0]));
}

#[test]
fn misaligned_complex_numbers_on_the_device_are_refused() {
    let Some(bench) = Bench::open() else { return };
    const POINTER: rocblas_status = rocblas_status::rocblas_status_invalid_pointer;
    let x = bench.put(&[1.0_f64, 2.0, 3.0, 4.0]);
    let alpha = rocblas_double_complex { x: 2.0, y: 0.0 };
    let between = x.at::<f64>().wrapping_add(1).cast();
    // SAFETY: S1: the test's own memory.
    assert_eq!(unsafe { (bench.blas().rocblas_zscal)(bench.handle, 1, &alpha, between, 1) }, POINTER);
    let narrow = x.at::<f32>().wrapping_add(1).cast();
    let alpha = rocblas_float_complex { x: 2.0, y: 0.0 };
    // SAFETY: S1: as above.
    assert_eq!(unsafe { (bench.blas().rocblas_cscal)(bench.handle, 1, &alpha, narrow, 1) }, POINTER);
    x.is(&[1.0_f64, 2.0, 3.0, 4.0]);
}

#[test]
fn real_scalars_are_refused_for_complex_elements() {
    let Some(bench) = Bench::open() else { return };
    const C64: rocblas_datatype = rocblas_datatype::rocblas_datatype_f64_c;
    let (x, one) = (bench.put(&[1.0_f64, 2.0]), 1.0_f64);
    let (x, one) = (x.at::<c_void>(), (&raw const one).cast());
    let f64_r = rocblas_datatype::rocblas_datatype_f64_r;
    // SAFETY: S1: the test's own memory.
    let status = unsafe {
        (bench.blas().rocblas_gemm_ex)(
            bench.handle,
            N,
            N,
            1,
            1,
            1,
            one,
            x,
            C64,
            1,
            x,
            C64,
            1,
            one,
            x,
            C64,
            1,
            x,
            C64,
            1,
            f64_r,
            STANDARD,
            0,
            0,
        )
    };
    assert_eq!(status, rocblas_status::rocblas_status_not_implemented);
}
