//! A matrix and vectors.

use crate::harness::*;
use hip_sys::rocblas::*;

type C = rocblas_float_complex;
type D = rocblas_double_complex;

/// Each of the four types.
macro_rules! four {
    ($test:ident $b:ident, $($s:ident $d:ident $c:ident $z:ident)*) => {
        $test!($b f32, $($s)*);
        $test!($b f64, $($d)*);
        $test!($b C, $($c)*);
        $test!($b D, $($z)*);
    };
}

macro_rules! gemv {
    ($b:ident $t:ty, $($name:ident)*) => {
        for op in OPS {
            $b.each(|form, mode| {
                let (m, n, lda) = (5_usize, 4, 6);
                let (in_x, in_y) = if op == OPS[0] { (n, m) } else { (m, n) };
                let (a, x, y) = ($b.arg::<$t>(lda * n, 1), $b.arg::<$t>(2 * in_x, 2), $b.arg::<$t>(in_y, 3));
                let (alpha, beta) = ($b.values::<$t>(mode, &[Z::new(1.5, 0.5)]), $b.values::<$t>(mode, &[Z::new(-0.5, 1.0)]));
                run!($b, form, $($name)*: (op) (m as _) (n as _) (alpha.p()) [a lda as _] [x -2] (beta.p()) [y 1] batch);
                let (alpha, beta) = (alpha.get()[0], beta.get()[0]);
                y.check(form, |i| {
                    // The memory of a vector with a step of −2 ends one element early.
                    let x = vector(&x.values[i][..2 * in_x - 1], in_x, -2);
                    let sum = |row: usize| -> Z { (0..in_x).map(|k| op_at(op, &a.values[i], lda, row, k) * x[k]).sum() };
                    (0..in_y).map(|row| alpha * sum(row) + beta * y.values[i][row]).collect()
                });
            });
        }
    };
}

#[test]
fn gemv() {
    let b = &blas();
    four!(gemv b, rocblas_sgemv rocblas_dgemv rocblas_cgemv rocblas_zgemv
        rocblas_sgemv_batched rocblas_dgemv_batched rocblas_cgemv_batched rocblas_zgemv_batched
        rocblas_sgemv_strided_batched rocblas_dgemv_strided_batched rocblas_cgemv_strided_batched rocblas_zgemv_strided_batched);
}

macro_rules! gbmv {
    ($b:ident $t:ty, $($name:ident)*) => {
        for op in OPS {
            for (m, n, kl, ku) in [(6_usize, 5_usize, 1_usize, 2_usize), (3, 8, 0, 1)] {
                $b.each(|form, mode| {
                    let lda = kl + ku + 2;
                    let (in_x, in_y) = if op == OPS[0] { (n, m) } else { (m, n) };
                    let (a, x, y) = ($b.arg::<$t>(lda * n, 4), $b.arg::<$t>(in_x, 5), $b.arg::<$t>(2 * in_y, 6));
                    let (alpha, beta) = ($b.values::<$t>(mode, &[Z::new(1.0, 0.5)]), $b.values::<$t>(mode, &[Z::new(0.5, 0.0)]));
                    run!($b, form, $($name)*: (op) (m as _) (n as _) (kl as _) (ku as _) (alpha.p()) [a lda as _] [x 1]
                        (beta.p()) [y 2] batch);
                    let (alpha, beta) = (alpha.get()[0], beta.get()[0]);
                    y.check(form, |i| {
                        let mut full = vec![Z::from(0.0); m * n];
                        for column in 0..n {
                            for row in column.saturating_sub(ku)..m.min(column + kl + 1) {
                                full[column * m + row] = a.values[i][column * lda + ku + row - column];
                            }
                        }
                        let sum = |row: usize| -> Z { (0..in_x).map(|k| op_at(op, &full, m, row, k) * x.values[i][k]).sum() };
                        let old = vector(&y.values[i], in_y, 2);
                        put(&y.values[i], 2, &(0..in_y).map(|row| alpha * sum(row) + beta * old[row]).collect::<Vec<_>>())
                    });
                });
            }
        }
    };
}

#[test]
fn gbmv() {
    let b = &blas();
    four!(gbmv b, rocblas_sgbmv rocblas_dgbmv rocblas_cgbmv rocblas_zgbmv
        rocblas_sgbmv_batched rocblas_dgbmv_batched rocblas_cgbmv_batched rocblas_zgbmv_batched
        rocblas_sgbmv_strided_batched rocblas_dgbmv_strided_batched rocblas_cgbmv_strided_batched rocblas_zgbmv_strided_batched);
}

macro_rules! symv {
    ($b:ident $t:ty, $($name:ident)*) => {
        for fill in FILLS {
            $b.each(|form, mode| {
                let (n, lda) = (5_usize, 7);
                let (a, x, y) = ($b.arg::<$t>(lda * n, 7), $b.arg::<$t>(n, 8), $b.arg::<$t>(n, 9));
                let (alpha, beta) = ($b.values::<$t>(mode, &[Z::new(0.5, 1.0)]), $b.values::<$t>(mode, &[Z::new(2.0, -1.0)]));
                run!($b, form, $($name)*: (fill) (n as _) (alpha.p()) [a lda as _] [x -1] (beta.p()) [y 1] batch);
                let (alpha, beta) = (alpha.get()[0], beta.get()[0]);
                y.check(form, |i| {
                    let x = vector(&x.values[i], n, -1);
                    let of = |row: usize, k: usize| {
                        let (r, c) = if inside(fill, row, k) { (row, k) } else { (k, row) };
                        at(&a.values[i], lda, r, c)
                    };
                    let sum = |row: usize| -> Z { (0..n).map(|k| of(row, k) * x[k]).sum() };
                    (0..n).map(|row| alpha * sum(row) + beta * y.values[i][row]).collect()
                });
            });
        }
    };
}

#[test]
fn symv() {
    let b = &blas();
    four!(symv b, rocblas_ssymv rocblas_dsymv rocblas_csymv rocblas_zsymv
        rocblas_ssymv_batched rocblas_dsymv_batched rocblas_csymv_batched rocblas_zsymv_batched
        rocblas_ssymv_strided_batched rocblas_dsymv_strided_batched rocblas_csymv_strided_batched rocblas_zsymv_strided_batched);
}

macro_rules! ger {
    ($b:ident $t:ty, $conj:literal, $($name:ident)*) => {
        $b.each(|form, mode| {
            let (m, n, lda) = (5_usize, 4_usize, 6);
            let (x, y, a) = ($b.arg::<$t>(2 * m, 1), $b.arg::<$t>(n, 2), $b.arg::<$t>(lda * n, 3));
            let alpha = $b.values::<$t>(mode, &[Z::new(1.5, 0.5)]);
            run!($b, form, $($name)*: (m as _) (n as _) (alpha.p()) [x 2] [y -1] [a lda as _] batch);
            let alpha = alpha.get()[0];
            a.check(form, |i| {
                let (x, y) = (vector(&x.values[i], m, 2), vector(&y.values[i], n, -1));
                put_matrix(&a.values[i], lda, (m, n), |row, column| {
                    let y = if $conj { y[column].conj() } else { y[column] };
                    Some(at(&a.values[i], lda, row, column) + alpha * x[row] * y)
                })
            });
        });
    };
}

#[test]
fn ger() {
    let b = &blas();
    ger!(b f32, false, rocblas_sger rocblas_sger_batched rocblas_sger_strided_batched);
    ger!(b f64, false, rocblas_dger rocblas_dger_batched rocblas_dger_strided_batched);
    ger!(b C, false, rocblas_cgeru rocblas_cgeru_batched rocblas_cgeru_strided_batched);
    ger!(b D, false, rocblas_zgeru rocblas_zgeru_batched rocblas_zgeru_strided_batched);
    ger!(b C, true, rocblas_cgerc rocblas_cgerc_batched rocblas_cgerc_strided_batched);
    ger!(b D, true, rocblas_zgerc rocblas_zgerc_batched rocblas_zgerc_strided_batched);
}

macro_rules! syr {
    ($b:ident $t:ty, $($name:ident)*) => {
        for fill in FILLS {
            $b.each(|form, mode| {
                let (n, lda) = (5_usize, 6);
                let (x, a) = ($b.arg::<$t>(2 * n, 4), $b.arg::<$t>(lda * n, 5));
                let alpha = $b.values::<$t>(mode, &[Z::new(-1.5, 0.5)]);
                run!($b, form, $($name)*: (fill) (n as _) (alpha.p()) [x 2] [a lda as _] batch);
                let alpha = alpha.get()[0];
                a.check(form, |i| {
                    let x = vector(&x.values[i], n, 2);
                    put_matrix(&a.values[i], lda, (n, n), |row, column| {
                        let new = at(&a.values[i], lda, row, column) + alpha * x[row] * x[column];
                        inside(fill, row, column).then_some(new)
                    })
                });
            });
        }
    };
}

#[test]
fn syr() {
    let b = &blas();
    four!(syr b, rocblas_ssyr rocblas_dsyr rocblas_csyr rocblas_zsyr
        rocblas_ssyr_batched rocblas_dsyr_batched rocblas_csyr_batched rocblas_zsyr_batched
        rocblas_ssyr_strided_batched rocblas_dsyr_strided_batched rocblas_csyr_strided_batched rocblas_zsyr_strided_batched);
}

macro_rules! trmv {
    ($b:ident $t:ty, $($name:ident)*) => {
        for (fill, op, diagonal) in triangles() {
            $b.each(|form, _| {
                let (n, lda) = (6_usize, 7);
                let (a, x) = ($b.arg::<$t>(lda * n, 6), $b.arg::<$t>(n, 7));
                run!($b, form, $($name)*: (fill) (op) (diagonal) (n as _) [a lda as _] [x -1] batch);
                x.check(form, |i| put(&x.values[i], -1, &apply(fill, op, diagonal, &a.values[i], lda, &vector(&x.values[i], n, -1))));
            });
        }
    };
}

/// All kinds of triangles.
fn triangles() -> Vec<(rocblas_fill, rocblas_operation, rocblas_diagonal)> {
    let ops = FILLS.into_iter().flat_map(|fill| OPS.map(|op| (fill, op)));
    ops.flat_map(|(fill, op)| DIAGONALS.map(|diagonal| (fill, op, diagonal))).collect()
}

/// op(triangle) x.
fn apply(
    fill: rocblas_fill,
    op: rocblas_operation,
    diagonal: rocblas_diagonal,
    a: &[Z],
    lda: usize,
    x: &[Z],
) -> Vec<Z> {
    let n = x.len();
    let mut full = vec![Z::from(0.0); n * n];
    for column in 0..n {
        for row in 0..n {
            full[column * n + row] = triangle_at(fill, diagonal, a, lda, row, column);
        }
    }
    (0..n).map(|row| (0..n).map(|k| op_at(op, &full, n, row, k) * x[k]).sum()).collect()
}

#[test]
fn trmv() {
    let b = &blas();
    four!(trmv b, rocblas_strmv rocblas_dtrmv rocblas_ctrmv rocblas_ztrmv
        rocblas_strmv_batched rocblas_dtrmv_batched rocblas_ctrmv_batched rocblas_ztrmv_batched
        rocblas_strmv_strided_batched rocblas_dtrmv_strided_batched rocblas_ctrmv_strided_batched rocblas_ztrmv_strided_batched);
}

/// The right side is made of a solution of small numbers; with powers of two on the diagonal every step is exact.
macro_rules! trsv {
    ($b:ident $t:ty, $($name:ident)*) => {
        for (fill, op, diagonal) in triangles() {
            $b.each(|form, _| {
                let (n, lda) = (6_usize, 7);
                let a = $b.arg_of::<$t>(lda * n, |i| {
                    let values = numbers::<$t>(lda * n, i as u64);
                    put_matrix(&values, lda, (n, n), |row, column| (row == column).then_some(Z::from(-2.0)))
                });
                let wanted = |i: usize| numbers::<$t>(n, 40 + i as u64);
                let x = $b.arg_of::<$t>(n, |i| put(&vec![Z::from(0.0); n], -1, &apply(fill, op, diagonal, &a.values[i], lda, &wanted(i))));
                run!($b, form, $($name)*: (fill) (op) (diagonal) (n as _) [a lda as _] [x -1] batch);
                x.check(form, |i| put(&x.values[i], -1, &wanted(i)));
            });
        }
    };
}

#[test]
fn trsv() {
    let b = &blas();
    four!(trsv b, rocblas_strsv rocblas_dtrsv rocblas_ctrsv rocblas_ztrsv
        rocblas_strsv_batched rocblas_dtrsv_batched rocblas_ctrsv_batched rocblas_ztrsv_batched
        rocblas_strsv_strided_batched rocblas_dtrsv_strided_batched rocblas_ctrsv_strided_batched rocblas_ztrsv_strided_batched);
}

/// Large enough for several threads.
#[test]
fn a_large_gemv() {
    let b = &blas();
    let (m, n) = (2000_usize, 1500_usize);
    let one = b.values::<f64>(Mode::Host, &[Z::from(1.0)]);
    let zero = b.values::<f64>(Mode::Host, &[Z::from(0.0)]);
    for op in [OPS[0], OPS[1]] {
        let (in_x, in_y) = if op == OPS[0] { (n, m) } else { (m, n) };
        let (a, x) = (b.arg::<f64>(m * n, 1), b.arg::<f64>(in_x, 2));
        // y is not read.
        let y = b.arg_of::<f64>(in_y, |_| vec![Z::from(f64::NAN); in_y]);
        run!(b, Form::Strided, rocblas_dgemv rocblas_dgemv_batched rocblas_dgemv_strided_batched:
            (op) (m as _) (n as _) (one.p()) [a m as _] [x 1] (zero.p()) [y 1] batch);
        y.check(Form::Strided, |i| {
            (0..in_y)
                .map(|row| (0..in_x).map(|k| op_at(op, &a.values[i], m, row, k) * x.values[i][k]).sum())
                .collect()
        });
    }
}
