//! Symmetric and triangular matrices, sums of matrices, diagonal ones.

use crate::harness::*;
use crate::reference::{after, times};
use hip_sys::rocblas::rocblas_datatype as t;
use hip_sys::rocblas::*;

type C = rocblas_float_complex;
type D = rocblas_double_complex;

macro_rules! four {
    ($test:ident $b:ident, $($s:ident $d:ident $c:ident $z:ident)*) => {
        $test!($b f32, $($s)*);
        $test!($b f64, $($d)*);
        $test!($b C, $($c)*);
        $test!($b D, $($z)*);
    };
}

/// Small ones in all forms; larger ones, of several blocks and with work for several threads, in one.
const SIZES: [(usize, usize); 4] = [(5, 4), (150, 9), (9, 150), (150, 360)];

fn runs(size: (usize, usize), form: Form, mode: Mode) -> bool {
    size == SIZES[0] || (form, mode) == (Form::Plain, Mode::Host)
}

/// All of a matrix of which a triangle lies in memory.
fn symmetric(fill: rocblas_fill, a: &[Z], lda: usize, n: usize) -> Vec<Z> {
    put_matrix(&vec![Z::from(0.0); n * n], n, (n, n), |row, column| {
        Some(if inside(fill, row, column) { at(a, lda, row, column) } else { at(a, lda, column, row) })
    })
}

/// Of symmetric matrices that are multiplied in several steps.
const LONG: [(usize, usize); 2] = [(600, 70), (70, 600)];

macro_rules! symm {
    ($b:ident $t:ty, $($name:ident)*) => {
        for (side, fill) in SIDES.into_iter().flat_map(|side| FILLS.map(|fill| (side, fill))) {
            for (m, n) in SIZES.into_iter().chain(LONG) {
                $b.each(|form, mode| {
                    if !runs((m, n), form, mode) {
                        return;
                    }
                    let left = side == SIDES[0];
                    let k = if left { m } else { n };
                    let (lda, ldb, ldc) = (k + 1, m + 2, m + 3);
                    let (a, bb, c) = ($b.arg::<$t>(lda * k, 1), $b.arg::<$t>(ldb * n, 2), $b.arg::<$t>(ldc * n, 3));
                    let (alpha, beta) = ($b.values::<$t>(mode, &[Z::new(1.5, 0.5)]), $b.values::<$t>(mode, &[Z::new(-0.5, 1.0)]));
                    run!($b, form, $($name)*: (side) (fill) (m as _) (n as _) (alpha.p()) [a lda as _] [bb ldb as _] (beta.p())
                        [c ldc as _] batch);
                    let (alpha, beta) = (alpha.get()[0], beta.get()[0]);
                    c.check(form, |i| {
                        let (a, bb) = (symmetric(fill, &a.values[i], lda, k), after(OPS[0], &bb.values[i], ldb, (m, n)));
                        let product = if left { times(&a, &bb, (m, n, k)) } else { times(&bb, &a, (m, n, k)) };
                        put_matrix(&c.values[i], ldc, (m, n), |row, column| {
                            Some(alpha * product[column * m + row] + beta * at(&c.values[i], ldc, row, column))
                        })
                    });
                });
            }
        }
    };
}

#[test]
fn symm() {
    let b = &blas();
    four!(symm b, rocblas_ssymm rocblas_dsymm rocblas_csymm rocblas_zsymm
        rocblas_ssymm_batched rocblas_dsymm_batched rocblas_csymm_batched rocblas_zsymm_batched
        rocblas_ssymm_strided_batched rocblas_dsymm_strided_batched rocblas_csymm_strided_batched rocblas_zsymm_strided_batched);
}

macro_rules! syrk {
    ($b:ident $t:ty, $s:ty, $ops:expr, $hermitian:literal, $($name:ident)*) => {
        for (op, fill) in $ops.into_iter().flat_map(|op| FILLS.map(|fill| (op, fill))) {
            for (n, k) in SIZES {
                $b.each(|form, mode| {
                    if !runs((n, k), form, mode) {
                        return;
                    }
                    let (rows, columns) = if op == OPS[0] { (n, k) } else { (k, n) };
                    let (lda, ldc) = (rows + 1, n + 2);
                    let (a, c) = ($b.arg::<$t>(lda * columns, 4), $b.arg::<$t>(ldc * n, 5));
                    let (alpha, beta) = ($b.values::<$s>(mode, &[Z::new(1.5, 0.5)]), $b.values::<$s>(mode, &[Z::new(-0.5, 1.0)]));
                    run!($b, form, $($name)*: (fill) (op) (n as _) (k as _) (alpha.p()) [a lda as _] (beta.p()) [c ldc as _] batch);
                    let (alpha, beta) = (alpha.get()[0], beta.get()[0]);
                    c.check(form, |i| {
                        let a = after(op, &a.values[i], lda, (n, k));
                        let other = if $hermitian { OPS[2] } else { OPS[1] };
                        let product = times(&a, &after(other, &a, n, (k, n)), (n, n, k));
                        put_matrix(&c.values[i], ldc, (n, n), |row, column| {
                            let sum = alpha * product[column * n + row] + beta * at(&c.values[i], ldc, row, column);
                            let sum = if $hermitian && row == column { Z::from(sum.re) } else { sum };
                            inside(fill, row, column).then_some(sum)
                        })
                    });
                });
            }
        }
    };
}

#[test]
fn syrk_and_herk() {
    let b = &blas();
    let (two, hermitian) = ([OPS[0], OPS[1]], [OPS[0], OPS[2]]);
    syrk!(b f32, f32, OPS, false, rocblas_ssyrk rocblas_ssyrk_batched rocblas_ssyrk_strided_batched);
    syrk!(b f64, f64, OPS, false, rocblas_dsyrk rocblas_dsyrk_batched rocblas_dsyrk_strided_batched);
    syrk!(b C, C, two, false, rocblas_csyrk rocblas_csyrk_batched rocblas_csyrk_strided_batched);
    syrk!(b D, D, two, false, rocblas_zsyrk rocblas_zsyrk_batched rocblas_zsyrk_strided_batched);
    syrk!(b C, f32, hermitian, true, rocblas_cherk rocblas_cherk_batched rocblas_cherk_strided_batched);
    syrk!(b D, f64, hermitian, true, rocblas_zherk rocblas_zherk_batched rocblas_zherk_strided_batched);
}

/// All ways to apply a triangle.
fn triangles() -> Vec<(rocblas_side, rocblas_fill, rocblas_operation, rocblas_diagonal)> {
    let sides = SIDES.into_iter().flat_map(|side| FILLS.map(|fill| (side, fill)));
    let ops = sides.flat_map(|(side, fill)| OPS.map(|op| (side, fill, op)));
    ops.flat_map(|(side, fill, op)| DIAGONALS.map(|diagonal| (side, fill, op, diagonal))).collect()
}

/// op(triangle) b, or b op(triangle), without gaps.
fn apply(
    (side, fill, op, diagonal): (rocblas_side, rocblas_fill, rocblas_operation, rocblas_diagonal),
    (a, lda): (&[Z], usize),
    b: &[Z],
    (m, n): (usize, usize),
) -> Vec<Z> {
    let k = if side == SIDES[0] { m } else { n };
    let element = |row, column| Some(triangle_at(fill, diagonal, a, lda, row, column));
    let full = put_matrix(&vec![Z::from(0.0); k * k], k, (k, k), element);
    let full = after(op, &full, k, (k, k));
    if side == SIDES[0] { times(&full, b, (m, n, k)) } else { times(b, &full, (m, n, k)) }
}

macro_rules! trmm {
    ($b:ident $t:ty, $($name:ident)*) => {
        for kind in triangles() {
            for (m, n) in SIZES {
                $b.each(|form, mode| {
                    if !runs((m, n), form, mode) {
                        return;
                    }
                    let k = if kind.0 == SIDES[0] { m } else { n };
                    let (lda, ldb, ldc) = (k + 1, m + 2, m + 3);
                    let (a, bb, c) = ($b.arg::<$t>(lda * k, 6), $b.arg::<$t>(ldb * n, 7), $b.arg::<$t>(ldc * n, 8));
                    let alpha = $b.values::<$t>(mode, &[Z::new(1.5, -1.0)]);
                    let wanted = |i: usize, old: &[Z], ld: usize| {
                        let plain = after(OPS[0], &bb.values[i], ldb, (m, n));
                        let product = apply(kind, (&a.values[i], lda), &plain, (m, n));
                        put_matrix(old, ld, (m, n), |row, column| Some(alpha.get()[0] * product[column * m + row]))
                    };
                    run!($b, form, $($name)*: (kind.0) (kind.1) (kind.2) (kind.3) (m as _) (n as _) (alpha.p()) [a lda as _]
                        [bb ldb as _] [c ldc as _] batch);
                    c.check(form, |i| wanted(i, &c.values[i], ldc));
                    assert_eq!(bb.now(), bb.values);
                    run!($b, form, $($name)*: (kind.0) (kind.1) (kind.2) (kind.3) (m as _) (n as _) (alpha.p()) [a lda as _]
                        [bb ldb as _] [bb ldb as _] batch);
                    bb.check(form, |i| wanted(i, &bb.values[i], ldb));
                });
            }
        }
    };
}

#[test]
fn trmm() {
    let b = &blas();
    four!(trmm b, rocblas_strmm rocblas_dtrmm rocblas_ctrmm rocblas_ztrmm
        rocblas_strmm_batched rocblas_dtrmm_batched rocblas_ctrmm_batched rocblas_ztrmm_batched
        rocblas_strmm_strided_batched rocblas_dtrmm_strided_batched rocblas_ctrmm_strided_batched rocblas_ztrmm_strided_batched);
}

/// The right side is made of a solution of small numbers; with a power of two on the diagonal every step is exact.
macro_rules! trsm {
    ($b:ident $t:ty, $($name:ident)*) => {
        trsm!(@ $b $t, |form, kind, m, n, alpha, a, lda, bb, ldb| {
            run!($b, form, $($name)*: (kind.0) (kind.1) (kind.2) (kind.3) (m as _) (n as _) (alpha.p()) [a lda as _] [bb ldb as _] batch);
        });
    };
    (@ $b:ident $t:ty, |$form:ident, $kind:ident, $m:ident, $n:ident, $alpha:ident, $a:ident, $lda:ident, $bb:ident, $ldb:ident| $run:block) => {
        for $kind in triangles() {
            for ($m, $n) in SIZES {
                $b.each(|$form, mode| {
                    if !runs(($m, $n), $form, mode) {
                        return;
                    }
                    let k = if $kind.0 == SIDES[0] { $m } else { $n };
                    let ($lda, $ldb) = (k + 1, $m + 2);
                    let $a = $b.arg_of::<$t>($lda * k, |i| {
                        let values = numbers::<$t>($lda * k, i as u64);
                        put_matrix(&values, $lda, (k, k), |row, column| (row == column).then_some(Z::from(-2.0)))
                    });
                    let solution = |i: usize| numbers::<$t>($m * $n, 50 + i as u64);
                    let $bb = $b.arg_of::<$t>($ldb * $n, |i| {
                        // What the call is not for is never solved.
                        if i >= $form.count() {
                            return numbers::<$t>($ldb * $n, 70 + i as u64);
                        }
                        let product = apply($kind, (&$a.values[i], $lda), &solution(i), ($m, $n));
                        put_matrix(&vec![Z::from(0.5); $ldb * $n], $ldb, ($m, $n), |row, column| Some(product[column * $m + row]))
                    });
                    let $alpha = $b.values::<$t>(mode, &[Z::new(2.0, 1.0)]);
                    $run
                    let alpha = $alpha.get()[0];
                    $bb.check($form, |i| {
                        let solution = solution(i);
                        put_matrix(&$bb.values[i], $ldb, ($m, $n), |row, column| Some(alpha * solution[column * $m + row]))
                    });
                });
            }
        }
    };
}

#[test]
fn trsm() {
    let b = &blas();
    four!(trsm b, rocblas_strsm rocblas_dtrsm rocblas_ctrsm rocblas_ztrsm
        rocblas_strsm_batched rocblas_dtrsm_batched rocblas_ctrsm_batched rocblas_ztrsm_batched
        rocblas_strsm_strided_batched rocblas_dtrsm_strided_batched rocblas_ctrsm_strided_batched rocblas_ztrsm_strided_batched);
}

#[test]
fn trsm_ex() {
    let b = &blas();
    macro_rules! typed {
        ($t:ty, $type:ident) => {
            trsm!(@ b $t, |form, kind, m, n, alpha, a, lda, bb, ldb| {
                let none = std::ptr::null();
                let (lda, ldb, h) = (lda as i32, ldb as i32, b.handle);
                let (array_a, array_b) = (a.a::<std::ffi::c_void>().cast(), bb.a::<std::ffi::c_void>().cast_mut().cast());
                let (side, fill, op, diagonal, m, n) = (kind.0, kind.1, kind.2, kind.3, m as i32, n as i32);
                let alpha = alpha.any();
                // SAFETY: S1, S11: live operands.
                let status = unsafe {
                    match form {
                        Form::Plain => (b.table.rocblas_trsm_ex)(h, side, fill, op, diagonal, m, n, alpha, a.any(), lda, bb.any(), ldb,
                            none, 0, t::$type),
                        Form::Batched => (b.table.rocblas_trsm_batched_ex)(h, side, fill, op, diagonal, m, n, alpha, array_a, lda, array_b,
                            ldb, 3, none, 0, t::$type),
                        Form::Strided => (b.table.rocblas_trsm_strided_batched_ex)(h, side, fill, op, diagonal, m, n, alpha, a.any(), lda,
                            a.stride, bb.any(), ldb, bb.stride, 3, none, 0, 0, t::$type),
                    }
                };
                assert_eq!(status, SUCCESS);
                b.sync();
            });
        };
    }
    typed!(f32, rocblas_datatype_f32_r);
    typed!(C, rocblas_datatype_f32_c);
    typed!(f64, rocblas_datatype_f64_r);
    typed!(D, rocblas_datatype_f64_c);
}

macro_rules! geam {
    ($b:ident $t:ty, $($name:ident)*) => {
        for (op_a, op_b) in OPS.into_iter().flat_map(|op| OPS.map(|other| (op, other))) {
            $b.each(|form, mode| {
                let (m, n) = (5_usize, 4_usize);
                let size = |op| if op == OPS[0] { (m, n) } else { (n, m) };
                let (lda, ldb, ldc) = (size(op_a).0 + 1, size(op_b).0 + 2, m + 3);
                let (a, bb) = ($b.arg::<$t>(lda * size(op_a).1, 1), $b.arg::<$t>(ldb * size(op_b).1, 2));
                let c = $b.arg::<$t>(ldc * n, 3);
                let (alpha, beta) = ($b.values::<$t>(mode, &[Z::new(1.5, 0.5)]), $b.values::<$t>(mode, &[Z::new(-0.5, 1.0)]));
                run!($b, form, $($name)*: (op_a) (op_b) (m as _) (n as _) (alpha.p()) [a lda as _] (beta.p()) [bb ldb as _] [c ldc as _] batch);
                let (alpha, beta) = (alpha.get()[0], beta.get()[0]);
                c.check(form, |i| put_matrix(&c.values[i], ldc, (m, n), |row, column| {
                    Some(alpha * op_at(op_a, &a.values[i], lda, row, column) + beta * op_at(op_b, &bb.values[i], ldb, row, column))
                }));
            });
        }
    };
}

#[test]
fn geam() {
    let b = &blas();
    four!(geam b, rocblas_sgeam rocblas_dgeam rocblas_cgeam rocblas_zgeam
        rocblas_sgeam_batched rocblas_dgeam_batched rocblas_cgeam_batched rocblas_zgeam_batched
        rocblas_sgeam_strided_batched rocblas_dgeam_strided_batched rocblas_cgeam_strided_batched rocblas_zgeam_strided_batched);
}

macro_rules! dgmm {
    ($b:ident $t:ty, $($name:ident)*) => {
        for side in SIDES {
            $b.each(|form, _| {
                let (m, n, lda, ldc) = (5_usize, 4_usize, 6, 7);
                let k = if side == SIDES[0] { m } else { n };
                let (a, x, c) = ($b.arg::<$t>(lda * n, 4), $b.arg::<$t>(2 * k - 1, 5), $b.arg::<$t>(ldc * n, 6));
                run!($b, form, $($name)*: (side) (m as _) (n as _) [a lda as _] [x -2] [c ldc as _] batch);
                c.check(form, |i| {
                    let x = vector(&x.values[i], k, -2);
                    put_matrix(&c.values[i], ldc, (m, n), |row, column| {
                        Some(at(&a.values[i], lda, row, column) * x[if side == SIDES[0] { row } else { column }])
                    })
                });
            });
        }
    };
}

#[test]
fn dgmm() {
    let b = &blas();
    four!(dgmm b, rocblas_sdgmm rocblas_ddgmm rocblas_cdgmm rocblas_zdgmm
        rocblas_sdgmm_batched rocblas_ddgmm_batched rocblas_cdgmm_batched rocblas_zdgmm_batched
        rocblas_sdgmm_strided_batched rocblas_ddgmm_strided_batched rocblas_cdgmm_strided_batched rocblas_zdgmm_strided_batched);
}

/// The zeros beside a triangle are not multiplied, so infinities elsewhere do not become NaN.
#[test]
fn infinities_outside_a_triangle_do_not_spread() {
    let b = &blas();
    let (n, one) = (70_usize, b.values::<f64>(Mode::Host, &[Z::from(1.0)]));
    let a = b.arg_of::<f64>(n * n, |_| vec![Z::from(1.0); n * n]);
    let x = b.arg_of::<f64>(n, |_| {
        (0..n).map(|row| Z::from(if row + 1 == n { f64::INFINITY } else { 1.0 })).collect()
    });
    let c = b.arg::<f64>(n, 1);
    run!(b, Form::Plain, rocblas_dtrmm rocblas_dtrmm_batched rocblas_dtrmm_strided_batched:
        (SIDES[0]) (FILLS[1]) (OPS[0]) (DIAGONALS[1]) (n as _) (1) (one.p()) [a n as _] [x n as _] [c n as _] batch);
    c.check(Form::Plain, |_| {
        (0..n).map(|row| Z::from(if row + 1 == n { f64::INFINITY } else { row as f64 + 1.0 })).collect()
    });
}

/// If beta is zero, c is not read.
#[test]
fn nan_in_c_does_not_spread_if_beta_is_zero() {
    let b = &blas();
    let n = 5_usize;
    b.each(|form, mode| {
        let (one, zero) = (b.values::<f64>(mode, &[Z::from(1.0)]), b.values::<f64>(mode, &[Z::from(0.0)]));
        let nan = |i: usize| vec![Z::from(if i < form.count() { f64::NAN } else { 1.0 }); n * n];
        let (a, bb) = (b.arg::<f64>(n * n, 1), b.arg::<f64>(n * n, 2));
        let c = b.arg_of::<f64>(n * n, nan);
        run!(b, form, rocblas_dsymm rocblas_dsymm_batched rocblas_dsymm_strided_batched:
            (SIDES[1]) (FILLS[0]) (n as _) (n as _) (one.p()) [a n as _] [bb n as _] (zero.p()) [c n as _] batch);
        c.check(form, |i| times(&bb.values[i], &symmetric(FILLS[0], &a.values[i], n, n), (n, n, n)));
        // If alpha is zero the result is zero, whatever a and b are.
        let bad = b.arg_of::<f64>(n * n, |_| vec![Z::from(f64::NAN); n * n]);
        let c = b.arg_of::<f64>(n * n, nan);
        run!(b, form, rocblas_dsymm rocblas_dsymm_batched rocblas_dsymm_strided_batched:
            (SIDES[0]) (FILLS[0]) (n as _) (n as _) (zero.p()) [bad n as _] [bad n as _] (zero.p()) [c n as _] batch);
        c.check(form, |_| vec![Z::from(0.0); n * n]);
        let c = b.arg_of::<f64>(n * n, nan);
        run!(b, form, rocblas_dtrmm rocblas_dtrmm_batched rocblas_dtrmm_strided_batched: (SIDES[0]) (FILLS[0]) (OPS[0])
            (DIAGONALS[0]) (n as _) (n as _) (zero.p()) [bad n as _] [bad n as _] [c n as _] batch);
        c.check(form, |_| vec![Z::from(0.0); n * n]);
        let c = b.arg_of::<f64>(n * n, nan);
        run!(b, form, rocblas_dtrsm rocblas_dtrsm_batched rocblas_dtrsm_strided_batched: (SIDES[0]) (FILLS[0]) (OPS[0])
            (DIAGONALS[0]) (n as _) (n as _) (zero.p()) [bad n as _] [c n as _] batch);
        c.check(form, |_| vec![Z::from(0.0); n * n]);
        let c = b.arg_of::<f64>(n * n, nan);
        run!(b, form, rocblas_dgeam rocblas_dgeam_batched rocblas_dgeam_strided_batched: (OPS[1]) (OPS[0])
            (n as _) (n as _) (one.p()) [a n as _] (zero.p()) [bad n as _] [c n as _] batch);
        c.check(form, |i| after(OPS[1], &a.values[i], n, (n, n)));
    });
}
