//! Vectors.

use crate::harness::*;
use hip_sys::rocblas::*;

type C = rocblas_float_complex;
type D = rocblas_double_complex;

const N: usize = 7;

macro_rules! axpy {
    ($b:ident $t:ty, $($name:ident)*) => {
        $b.each(|form, mode| {
            let (incx, incy) = (2, -1);
            let (x, y) = ($b.arg::<$t>(13, 1), $b.arg::<$t>(N, 2));
            let alpha = $b.values::<$t>(mode, &[Z::new(1.5, -0.5)]);
            run!($b, form, $($name)*: (N as _) (alpha.p()) [x incx] [y incy] batch);
            y.check(form, |i| {
                let alpha = alpha.get()[0];
                let (x, old) = (vector(&x.values[i], N, incx as i32), vector(&y.values[i], N, incy as i32));
                put(&y.values[i], incy as i32, &(0..N).map(|j| alpha * x[j] + old[j]).collect::<Vec<_>>())
            });
        });
    };
}

#[test]
fn axpy() {
    let b = &blas();
    axpy!(b f32, rocblas_saxpy rocblas_saxpy_batched rocblas_saxpy_strided_batched);
    axpy!(b f64, rocblas_daxpy rocblas_daxpy_batched rocblas_daxpy_strided_batched);
    axpy!(b C, rocblas_caxpy rocblas_caxpy_batched rocblas_caxpy_strided_batched);
    axpy!(b D, rocblas_zaxpy rocblas_zaxpy_batched rocblas_zaxpy_strided_batched);
    axpy!(b rocblas_half, rocblas_haxpy rocblas_haxpy_batched rocblas_haxpy_strided_batched);
}

macro_rules! scal {
    ($b:ident $a:ty, $t:ty, $($name:ident)*) => {
        $b.each(|form, mode| {
            let x = $b.arg::<$t>(13, 3);
            let alpha = $b.values::<$a>(mode, &[Z::new(-1.5, 2.0)]);
            run!($b, form, $($name)*: (N as _) (alpha.p()) [x 2] batch);
            x.check(form, |i| {
                let new: Vec<Z> = vector(&x.values[i], N, 2).iter().map(|x| alpha.get()[0] * x).collect();
                put(&x.values[i], 2, &new)
            });
        });
    };
}

#[test]
fn scal() {
    let b = &blas();
    scal!(b f32, f32, rocblas_sscal rocblas_sscal_batched rocblas_sscal_strided_batched);
    scal!(b f64, f64, rocblas_dscal rocblas_dscal_batched rocblas_dscal_strided_batched);
    scal!(b C, C, rocblas_cscal rocblas_cscal_batched rocblas_cscal_strided_batched);
    scal!(b D, D, rocblas_zscal rocblas_zscal_batched rocblas_zscal_strided_batched);
    scal!(b f32, C, rocblas_csscal rocblas_csscal_batched rocblas_csscal_strided_batched);
    scal!(b f64, D, rocblas_zdscal rocblas_zdscal_batched rocblas_zdscal_strided_batched);
}

macro_rules! copy_and_swap {
    ($b:ident $t:ty, $($copy:ident)*, $($swap:ident)*) => {
        $b.each(|form, _| {
            let (x, y) = ($b.arg::<$t>(13, 4), $b.arg::<$t>(N, 5));
            run!($b, form, $($copy)*: (N as _) [x -2] [y 1] batch);
            y.check(form, |i| vector(&x.values[i], N, -2));
            let (x, y) = ($b.arg::<$t>(13, 4), $b.arg::<$t>(N, 5));
            run!($b, form, $($swap)*: (N as _) [x -2] [y 1] batch);
            y.check(form, |i| vector(&x.values[i], N, -2));
            x.check(form, |i| put(&x.values[i], -2, &y.values[i]));
        });
    };
}

#[test]
fn copy_and_swap() {
    let b = &blas();
    copy_and_swap!(b f32, rocblas_scopy rocblas_scopy_batched rocblas_scopy_strided_batched,
        rocblas_sswap rocblas_sswap_batched rocblas_sswap_strided_batched);
    copy_and_swap!(b f64, rocblas_dcopy rocblas_dcopy_batched rocblas_dcopy_strided_batched,
        rocblas_dswap rocblas_dswap_batched rocblas_dswap_strided_batched);
    copy_and_swap!(b C, rocblas_ccopy rocblas_ccopy_batched rocblas_ccopy_strided_batched,
        rocblas_cswap rocblas_cswap_batched rocblas_cswap_strided_batched);
    copy_and_swap!(b D, rocblas_zcopy rocblas_zcopy_batched rocblas_zcopy_strided_batched,
        rocblas_zswap rocblas_zswap_batched rocblas_zswap_strided_batched);
}

/// The results of a reduction.
pub(crate) fn check_results<T: Elem>(values: &Values<'_, T>, form: Form, wanted: impl Fn(usize) -> Z) {
    let wanted: Vec<Z> = (0..form.count()).map(wanted).map(rounded::<T>).collect();
    assert_eq!(values.get()[..form.count()], wanted, "{form:?}");
}

macro_rules! dot {
    ($b:ident $t:ty, $conj:literal, $($name:ident)*) => {
        $b.each(|form, mode| {
            let (x, y) = ($b.arg::<$t>(13, 6), $b.arg::<$t>(N, 7));
            let result = $b.values::<$t>(mode, &[Z::from(9.0); BATCH]);
            run!($b, form, $($name)*: (N as _) [x -2] [y 1] batch (result.p()));
            check_results(&result, form, |i| {
                let x = vector(&x.values[i], N, -2);
                (0..N).map(|j| if $conj { x[j].conj() } else { x[j] } * y.values[i][j]).sum()
            });
        });
    };
}

#[test]
fn dot() {
    let b = &blas();
    dot!(b f32, false, rocblas_sdot rocblas_sdot_batched rocblas_sdot_strided_batched);
    dot!(b f64, false, rocblas_ddot rocblas_ddot_batched rocblas_ddot_strided_batched);
    dot!(b rocblas_half, false, rocblas_hdot rocblas_hdot_batched rocblas_hdot_strided_batched);
    dot!(b rocblas_bfloat16, false, rocblas_bfdot rocblas_bfdot_batched rocblas_bfdot_strided_batched);
    dot!(b C, false, rocblas_cdotu rocblas_cdotu_batched rocblas_cdotu_strided_batched);
    dot!(b D, false, rocblas_zdotu rocblas_zdotu_batched rocblas_zdotu_strided_batched);
    dot!(b C, true, rocblas_cdotc rocblas_cdotc_batched rocblas_cdotc_strided_batched);
    dot!(b D, true, rocblas_zdotc rocblas_zdotc_batched rocblas_zdotc_strided_batched);
}

#[test]
fn a_long_dot_is_the_sum_of_its_parts() {
    let b = &blas();
    let long = 300_000;
    let (x, y) = (b.arg::<f64>(long, 8), b.arg::<f64>(long, 9));
    let result = b.values::<f64>(Mode::Host, &[Z::from(0.0)]);
    run!(b, Form::Plain, rocblas_ddot rocblas_ddot_batched rocblas_ddot_strided_batched: (long as _) [x 1] [y 1] batch (result.p()));
    let wanted: Z = (0..long).map(|j| x.values[0][j] * y.values[0][j]).sum();
    assert_eq!(result.get(), [wanted]);
}

macro_rules! asum_and_nrm2 {
    ($b:ident $t:ty, $r:ty, $($asum:ident)*, $($nrm2:ident)*) => {
        $b.each(|form, mode| {
            let x = $b.arg::<$t>(13, 10);
            let result = $b.values::<$r>(mode, &[Z::from(9.0); BATCH]);
            run!($b, form, $($asum)*: (N as _) [x 2] batch (result.p()));
            check_results(&result, form, |i| vector(&x.values[i], N, 2).iter().map(|x| Z::from(x.re.abs() + x.im.abs())).sum());
            // Squares that overflow, and squares that vanish.
            let (large, small) = (<$r>::MAX / 8.0, <$r>::MIN_POSITIVE * 8.0);
            for factor in [1.0, f64::from(large), f64::from(small)] {
                let x = $b.arg_of::<$t>(13, |i| numbers::<$t>(13, 11 + i as u64).into_iter().map(|z| z * factor).collect());
                run!($b, form, $($nrm2)*: (N as _) [x 2] batch (result.p()));
                for (i, norm) in result.get().into_iter().enumerate().take(form.count()) {
                    let squares: f64 = vector(&x.values[i], N, 2).iter().map(|z| (z / factor).norm_sqr()).sum();
                    let wanted = squares.sqrt() * factor;
                    assert!((norm.re - wanted).abs() <= 4.0 * <$r as Elem>::EPS * wanted, "{norm} {wanted} {factor}");
                }
            }
        });
    };
}

#[test]
fn asum_and_nrm2() {
    let b = &blas();
    asum_and_nrm2!(b f32, f32, rocblas_sasum rocblas_sasum_batched rocblas_sasum_strided_batched,
        rocblas_snrm2 rocblas_snrm2_batched rocblas_snrm2_strided_batched);
    asum_and_nrm2!(b f64, f64, rocblas_dasum rocblas_dasum_batched rocblas_dasum_strided_batched,
        rocblas_dnrm2 rocblas_dnrm2_batched rocblas_dnrm2_strided_batched);
    asum_and_nrm2!(b C, f32, rocblas_scasum rocblas_scasum_batched rocblas_scasum_strided_batched,
        rocblas_scnrm2 rocblas_scnrm2_batched rocblas_scnrm2_strided_batched);
    asum_and_nrm2!(b D, f64, rocblas_dzasum rocblas_dzasum_batched rocblas_dzasum_strided_batched,
        rocblas_dznrm2 rocblas_dznrm2_batched rocblas_dznrm2_strided_batched);
}

macro_rules! extremes {
    ($b:ident $t:ty, $($max:ident)*, $($min:ident)*, $($max64:ident)*) => {
        $b.each(|form, mode| {
            // The largest and the smallest twice each: the first counts.
            let sizes = [1.0, -3.0, 2.0, 3.0, -0.5, 1.0, 0.5];
            let x = $b.arg_of::<$t>(14, |i| (0..14).map(|j| Z::from(sizes[(j / 2 + i) % 7])).collect());
            let result = $b.values::<i32>(mode, &[Z::from(99.0); BATCH]);
            let wanted = |i: usize, largest: bool| {
                let sizes: Vec<f64> = vector(&x.values[i], N, 2).iter().map(|z| z.re.abs()).collect();
                let best = sizes.iter().copied().reduce(if largest { f64::max } else { f64::min }).expect("some");
                Z::from(1.0 + sizes.iter().position(|size| *size == best).expect("there") as f64)
            };
            run!($b, form, $($max)*: (N as _) [x 2] batch (result.p()));
            check_results(&result, form, |i| wanted(i, true));
            run!($b, form, $($min)*: (N as _) [x 2] batch (result.p()));
            check_results(&result, form, |i| wanted(i, false));
            let result = $b.values::<i64>(mode, &[Z::from(99.0); BATCH]);
            let table = ($($b.table.$max64.get().expect("hip-host has it"),)*);
            // SAFETY: S1, S11: live operands.
            let status = unsafe {
                match form {
                    Form::Plain => (table.0)($b.handle, 7, x.p(), 2, result.p()),
                    Form::Batched => (table.1)($b.handle, 7, x.a(), 2, 3, result.p()),
                    Form::Strided => (table.2)($b.handle, 7, x.p(), 2, x.stride, 3, result.p()),
                }
            };
            assert_eq!(status, SUCCESS);
            $b.sync();
            check_results(&result, form, |i| wanted(i, true));
        });
    };
}

#[test]
fn iamax_and_iamin() {
    let b = &blas();
    extremes!(b f32, rocblas_isamax rocblas_isamax_batched rocblas_isamax_strided_batched,
        rocblas_isamin rocblas_isamin_batched rocblas_isamin_strided_batched,
        rocblas_isamax_64 rocblas_isamax_batched_64 rocblas_isamax_strided_batched_64);
    extremes!(b f64, rocblas_idamax rocblas_idamax_batched rocblas_idamax_strided_batched,
        rocblas_idamin rocblas_idamin_batched rocblas_idamin_strided_batched,
        rocblas_idamax_64 rocblas_idamax_batched_64 rocblas_idamax_strided_batched_64);
    extremes!(b C, rocblas_icamax rocblas_icamax_batched rocblas_icamax_strided_batched,
        rocblas_icamin rocblas_icamin_batched rocblas_icamin_strided_batched,
        rocblas_icamax_64 rocblas_icamax_batched_64 rocblas_icamax_strided_batched_64);
    extremes!(b D, rocblas_izamax rocblas_izamax_batched rocblas_izamax_strided_batched,
        rocblas_izamin rocblas_izamin_batched rocblas_izamin_strided_batched,
        rocblas_izamax_64 rocblas_izamax_batched_64 rocblas_izamax_strided_batched_64);
}

/// A leading NaN stays, since no comparison with it is true. Others are skipped, also at the start of a part of a long vector.
#[test]
fn iamax_and_nan() {
    let b = &blas();
    let long = 200_000;
    let with = |position: usize| {
        let mut values = vec![Z::from(1.0); long];
        values[position] = Z::from(f64::NAN);
        values[150_000] = Z::from(-5.0);
        b.arg_of::<f32>(long, move |_| values.clone())
    };
    for (position, wanted) in [(0, 1.0), (7, 150_001.0), (131_072, 150_001.0)] {
        let (x, result) = (with(position), b.values::<i32>(Mode::Host, &[Z::from(0.0)]));
        run!(b, Form::Plain, rocblas_isamax rocblas_isamax_batched rocblas_isamax_strided_batched:
            (long as _) [x 1] batch (result.p()));
        assert_eq!(result.get(), [Z::from(wanted)]);
    }
}

macro_rules! rot {
    ($b:ident $t:ty, $c:ty, $s:ty, $($name:ident)*) => {
        $b.each(|form, mode| {
            let (x, y) = ($b.arg::<$t>(13, 12), $b.arg::<$t>(N, 13));
            let (c, s) = ($b.values::<$c>(mode, &[Z::from(0.5)]), $b.values::<$s>(mode, &[Z::new(1.5, -2.0)]));
            run!($b, form, $($name)*: (N as _) [x 2] [y -1] (c.p()) (s.p()) batch);
            let (c, s) = (c.get()[0], s.get()[0]);
            let pair = |i: usize, j: usize| (vector(&x.values[i], N, 2)[j], vector(&y.values[i], N, -1)[j]);
            x.check(form, |i| put(&x.values[i], 2, &(0..N).map(|j| c * pair(i, j).0 + s * pair(i, j).1).collect::<Vec<_>>()));
            y.check(form, |i| {
                let new: Vec<Z> = (0..N).map(|j| c * pair(i, j).1 - s.conj() * pair(i, j).0).collect();
                put(&y.values[i], -1, &new)
            });
        });
    };
}

#[test]
fn rot() {
    let b = &blas();
    rot!(b f32, f32, f32, rocblas_srot rocblas_srot_batched rocblas_srot_strided_batched);
    rot!(b f64, f64, f64, rocblas_drot rocblas_drot_batched rocblas_drot_strided_batched);
    rot!(b C, f32, C, rocblas_crot rocblas_crot_batched rocblas_crot_strided_batched);
    rot!(b D, f64, D, rocblas_zrot rocblas_zrot_batched rocblas_zrot_strided_batched);
    rot!(b C, f32, f32, rocblas_csrot rocblas_csrot_batched rocblas_csrot_strided_batched);
    rot!(b D, f64, f64, rocblas_zdrot rocblas_zdrot_batched rocblas_zdrot_strided_batched);
}

/// By hand: a vector of 3 and 4 has the length 5.
macro_rules! rotg {
    ($b:ident $t:ty, $r:ty, $($name:ident)*) => {
        for form in [Form::Plain, Form::Batched, Form::Strided] {
            $b.mode(Mode::Device);
            let (a, bb) = ($b.arg_of::<$t>(1, |_| vec![Z::from(3.0)]), $b.arg_of::<$t>(1, |_| vec![Z::from(4.0)]));
            let (c, s) = ($b.arg::<$r>(1, 1), $b.arg::<$t>(1, 1));
            run!($b, form, $($name)*: {a} {bb} {c} {s} batch);
            c.check(form, |_| vec![Z::from(0.6)]);
            s.check(form, |_| vec![Z::from(0.8)]);
            a.check(form, |_| vec![Z::from(5.0)]);
            let complex = <$t as Elem>::COMPLEX;
            bb.check(form, |_| vec![if complex { Z::from(4.0) } else { Z::from(1.0) / rounded::<$r>(Z::from(0.6)) }]);
            $b.mode(Mode::Host);
        }
        let values = |z: f64| $b.values::<$t>(Mode::Host, &[Z::from(z)]);
        let (a, bb, c, s) = (values(3.0), values(4.0), $b.values::<$r>(Mode::Host, &[Z::from(0.0)]), values(0.0));
        // SAFETY: S1, S11: pointers to the host's memory.
        unsafe { rotg!(@plain $b a bb c s $($name)*) };
        assert_eq!((a.get()[0], c.get()[0], s.get()[0]),
            (Z::from(5.0), rounded::<$r>(Z::from(0.6)), rounded::<$r>(Z::from(0.8))));
    };
    (@plain $b:ident $a:ident $bb:ident $c:ident $s:ident $plain:ident $($other:ident)*) => {
        assert_eq!(($b.table.$plain)($b.handle, $a.p(), $bb.p(), $c.p(), $s.p()), SUCCESS)
    };
}

#[test]
fn rotg() {
    let b = &blas();
    rotg!(b f32, f32, rocblas_srotg rocblas_srotg_batched rocblas_srotg_strided_batched);
    rotg!(b f64, f64, rocblas_drotg rocblas_drotg_batched rocblas_drotg_strided_batched);
    rotg!(b C, f32, rocblas_crotg rocblas_crotg_batched rocblas_crotg_strided_batched);
    rotg!(b D, f64, rocblas_zrotg rocblas_zrotg_batched rocblas_zrotg_strided_batched);
}

/// In host mode everything is in host memory, also the addresses of a batch.
#[test]
fn rotg_of_the_hosts_batch() {
    let b = &blas();
    let values = |z: f64| b.values::<f64>(Mode::Host, &[Z::from(z); BATCH]);
    let (a, bb, c, s) = (values(3.0), values(-4.0), values(9.0), values(9.0));
    let addresses = |values: &Values<'_, f64>| [0, 1, 2].map(|i| values.p().wrapping_add(i));
    let [aa, ba, ca, sa] = [&a, &bb, &c, &s].map(addresses);
    // SAFETY: S1, S11: pointers to the host's memory.
    let status = unsafe {
        (b.table.rocblas_drotg_batched)(b.handle, aa.as_ptr(), ba.as_ptr(), ca.as_ptr(), sa.as_ptr(), 2)
    };
    assert_eq!(status, SUCCESS);
    // The longer side determines the sign.
    assert_eq!(a.get(), [-5.0, -5.0, 3.0].map(Z::from));
    assert_eq!(c.get(), [-0.6, -0.6, 9.0].map(Z::from));
    assert_eq!(s.get(), [0.8, 0.8, 9.0].map(Z::from));
    // SAFETY: S1, S11: as above.
    let status = unsafe {
        (b.table.rocblas_drotg_strided_batched)(b.handle, a.p(), 1, bb.p(), 1, c.p(), 1, s.p(), 1, 3)
    };
    assert_eq!(status, SUCCESS);
    assert_eq!((a.get()[2], c.get()[2], s.get()[2]), (Z::from(-5.0), Z::from(-0.6), Z::from(0.8)));
}

#[test]
fn no_elements_and_no_steps() {
    let b = &blas();
    b.each(|form, mode| {
        let (x, y) = (b.arg::<f32>(4, 1), b.arg::<f32>(4, 2));
        let result = b.values::<f32>(mode, &[Z::from(9.0); BATCH]);
        run!(b, form, rocblas_sdot rocblas_sdot_batched rocblas_sdot_strided_batched:
            (0) [x 1] [y 1] batch (result.p()));
        check_results(&result, form, |_| Z::from(0.0));
        run!(b, form, rocblas_snrm2 rocblas_snrm2_batched rocblas_snrm2_strided_batched: (4) [x -1] batch (result.p()));
        check_results(&result, form, |_| Z::from(0.0));
        // The same element each time, with the sums in one element.
        let alpha = b.values::<f32>(mode, &[Z::from(2.0)]);
        run!(b, form, rocblas_saxpy rocblas_saxpy_batched rocblas_saxpy_strided_batched:
            (4) (alpha.p()) [x 0] [y 1] batch);
        y.check(form, |i| y.values[i].iter().map(|y| y + 2.0 * x.values[i][0]).collect());
        let y = b.arg::<f32>(1, 2);
        run!(b, form, rocblas_saxpy rocblas_saxpy_batched rocblas_saxpy_strided_batched:
            (4) (alpha.p()) [x 1] [y 0] batch);
        y.check(form, |i| vec![y.values[i][0] + 2.0 * x.values[i].iter().sum::<Z>()]);
    });
}
