//! gemm.

use crate::harness::*;
use crate::reference::{after, times};
use hip_sys::rocblas::rocblas_datatype as t;
use hip_sys::rocblas::*;

type C = rocblas_float_complex;
type D = rocblas_double_complex;

/// alpha op(a) op(b) + beta c, exactly.
pub(crate) struct Gemm {
    pub ops: [rocblas_operation; 2],
    pub size: (usize, usize, usize),
    pub scalars: [Z; 2],
}

impl Gemm {
    /// The memory that c becomes.
    pub(crate) fn of(
        &self,
        (a, lda): (&[Z], usize),
        (b, ldb): (&[Z], usize),
        (c, ldc): (&[Z], usize),
    ) -> Vec<Z> {
        let (m, n, k) = self.size;
        let [alpha, beta] = self.scalars;
        let (a, b) = (after(self.ops[0], a, lda, (m, k)), after(self.ops[1], b, ldb, (k, n)));
        let product = times(&a, &b, (m, n, k));
        put_matrix(c, ldc, (m, n), |row, column| {
            // If beta is zero, c has no part in the result.
            let old = if beta == Z::from(0.0) { beta } else { beta * at(c, ldc, row, column) };
            Some(alpha * product[column * m + row] + old)
        })
    }
}

/// Rows and columns in memory.
fn stored(op: rocblas_operation, rows: usize, columns: usize) -> (usize, usize) {
    if op == OPS[0] { (rows, columns) } else { (columns, rows) }
}

macro_rules! gemm {
    ($b:ident $t:ty, $($name:ident)*) => {
        for (op_a, op_b) in OPS.into_iter().flat_map(|op| OPS.map(|other| (op, other))) {
            $b.each(|form, mode| {
                let size = (5_usize, 4_usize, 6_usize);
                let (in_a, in_b) = (stored(op_a, size.0, size.2), stored(op_b, size.2, size.1));
                let (lda, ldb, ldc) = (in_a.0 + 1, in_b.0 + 2, size.0 + 3);
                let (a, bb) = ($b.arg::<$t>(lda * in_a.1, 1), $b.arg::<$t>(ldb * in_b.1, 2));
                let c = $b.arg::<$t>(ldc * size.1, 3);
                let (alpha, beta) = ($b.values::<$t>(mode, &[Z::new(1.5, 0.5)]), $b.values::<$t>(mode, &[Z::new(-0.5, 1.0)]));
                run!($b, form, $($name)*: (op_a) (op_b) (size.0 as _) (size.1 as _) (size.2 as _) (alpha.p())
                    [a lda as _] [bb ldb as _] (beta.p()) [c ldc as _] batch);
                let gemm = Gemm { ops: [op_a, op_b], size, scalars: [alpha.get()[0], beta.get()[0]] };
                c.check(form, |i| gemm.of((&a.values[i], lda), (&bb.values[i], ldb), (&c.values[i], ldc)));
            });
        }
    };
}

#[test]
fn gemm() {
    let b = &blas();
    gemm!(b f32, rocblas_sgemm rocblas_sgemm_batched rocblas_sgemm_strided_batched);
    gemm!(b f64, rocblas_dgemm rocblas_dgemm_batched rocblas_dgemm_strided_batched);
    gemm!(b C, rocblas_cgemm rocblas_cgemm_batched rocblas_cgemm_strided_batched);
    gemm!(b D, rocblas_zgemm rocblas_zgemm_batched rocblas_zgemm_strided_batched);
    gemm!(b rocblas_half, rocblas_hgemm rocblas_hgemm_batched rocblas_hgemm_strided_batched);
}

macro_rules! gemm_ex {
    ($b:ident $s:ty = $st:ident, $a:ty = $at:ident, $c:ty = $ct:ident) => {
        for (op, in_place) in OPS.into_iter().flat_map(|op| [(op, false), (op, true)]) {
            $b.each(|form, mode| {
                let size = (7_usize, 5_usize, 9_usize);
                let (in_a, in_b) = (stored(op, size.0, size.2), stored(op, size.2, size.1));
                let (lda, ldb, ldc) = (in_a.0 + 1, in_b.0, size.0 + 2);
                let (a, bb) = ($b.arg::<$a>(lda * in_a.1, 1), $b.arg::<$a>(ldb * in_b.1, 2));
                let (c, other) = ($b.arg::<$c>(ldc * size.1, 3), $b.arg::<$c>(ldc * size.1, 4));
                let (alpha, beta) = ($b.values::<$s>(mode, &[Z::new(2.0, 0.5)]), $b.values::<$s>(mode, &[Z::new(-1.0, 1.0)]));
                let d = if in_place { &c } else { &other };
                run!($b, form, rocblas_gemm_ex rocblas_gemm_batched_ex rocblas_gemm_strided_batched_ex:
                    (op) (op) (size.0 as _) (size.1 as _) (size.2 as _) (alpha.any())
                    [a as t::$at, lda as _] [bb as t::$at, ldb as _] (beta.any()) [c as t::$ct, ldc as _] [d as t::$ct, ldc as _]
                    batch (t::$st) (rocblas_gemm_algo::rocblas_gemm_algo_standard) (0) (0));
                let gemm = Gemm { ops: [op, op], size, scalars: [alpha.get()[0], beta.get()[0]] };
                d.check(form, |i| {
                    let result = gemm.of((&a.values[i], lda), (&bb.values[i], ldb), (&c.values[i], ldc));
                    put_matrix(&d.values[i], ldc, (size.0, size.1), |row, column| Some(at(&result, ldc, row, column)))
                });
                if !in_place {
                    assert_eq!(c.now(), c.values);
                }
            });
        }
    };
}

#[test]
fn gemm_ex() {
    let b = &blas();
    gemm_ex!(b f64 = rocblas_datatype_f64_r, f64 = rocblas_datatype_f64_r, f64 = rocblas_datatype_f64_r);
    gemm_ex!(b f32 = rocblas_datatype_f32_r, f32 = rocblas_datatype_f32_r, f32 = rocblas_datatype_f32_r);
    gemm_ex!(b rocblas_half = rocblas_datatype_f16_r, rocblas_half = rocblas_datatype_f16_r, rocblas_half = rocblas_datatype_f16_r);
    gemm_ex!(b f32 = rocblas_datatype_f32_r, rocblas_half = rocblas_datatype_f16_r, rocblas_half = rocblas_datatype_f16_r);
    gemm_ex!(b f32 = rocblas_datatype_f32_r, rocblas_half = rocblas_datatype_f16_r, f32 = rocblas_datatype_f32_r);
    gemm_ex!(b f32 = rocblas_datatype_f32_r, rocblas_bfloat16 = rocblas_datatype_bf16_r, rocblas_bfloat16 = rocblas_datatype_bf16_r);
    gemm_ex!(b f32 = rocblas_datatype_f32_r, rocblas_bfloat16 = rocblas_datatype_bf16_r, f32 = rocblas_datatype_f32_r);
    gemm_ex!(b i32 = rocblas_datatype_i32_r, i8 = rocblas_datatype_i8_r, i32 = rocblas_datatype_i32_r);
    gemm_ex!(b C = rocblas_datatype_f32_c, C = rocblas_datatype_f32_c, C = rocblas_datatype_f32_c);
    gemm_ex!(b D = rocblas_datatype_f64_c, D = rocblas_datatype_f64_c, D = rocblas_datatype_f64_c);
}

/// Several tiles and several depths, with sums of f16 that are exact in f32 and are rounded once.
#[test]
fn a_large_gemm_of_halves() {
    let b = &blas();
    let size = (300_usize, 270_usize, 1100_usize);
    let one = b.values::<f32>(Mode::Host, &[Z::from(1.0)]);
    let half = b.values::<f32>(Mode::Host, &[Z::from(0.5)]);
    for op in [OPS[0], OPS[1]] {
        let (in_a, in_b) = (stored(op, size.0, size.2), stored(op, size.2, size.1));
        let (a, bb) = (b.arg::<rocblas_half>(in_a.0 * in_a.1, 1), b.arg::<rocblas_half>(in_b.0 * in_b.1, 2));
        let c = b.arg::<rocblas_half>(size.0 * size.1, 3);
        let f16 = t::rocblas_datatype_f16_r;
        run!(b, Form::Plain, rocblas_gemm_ex rocblas_gemm_batched_ex rocblas_gemm_strided_batched_ex:
            (op) (op) (size.0 as _) (size.1 as _) (size.2 as _) (one.any()) [a as f16, in_a.0 as _] [bb as f16, in_b.0 as _]
            (half.any()) [c as f16, size.0 as _] [c as f16, size.0 as _] batch (t::rocblas_datatype_f32_r)
            (rocblas_gemm_algo::rocblas_gemm_algo_standard) (0) (0));
        let gemm = Gemm { ops: [op, op], size, scalars: [Z::from(1.0), Z::from(0.5)] };
        c.check(Form::Plain, |i| {
            gemm.of((&a.values[i], in_a.0), (&bb.values[i], in_b.0), (&c.values[i], size.0))
        });
    }
}

/// Large enough for several threads, alone and as a batch.
#[test]
fn a_large_gemm() {
    let b = &blas();
    let n = 150_usize;
    let (one, zero) =
        (b.values::<f32>(Mode::Host, &[Z::from(1.0)]), b.values::<f32>(Mode::Host, &[Z::from(0.0)]));
    for form in [Form::Plain, Form::Strided] {
        let (a, bb) = (b.arg::<f32>(n * n, 1), b.arg::<f32>(n * n, 2));
        let c = b.arg_of::<f32>(n * n, |i| {
            vec![if i < form.count() { Z::from(f64::NAN) } else { Z::from(1.0) }; n * n]
        });
        run!(b, form, rocblas_sgemm rocblas_sgemm_batched rocblas_sgemm_strided_batched:
            (OPS[0]) (OPS[1]) (n as _) (n as _) (n as _) (one.p()) [a n as _] [bb n as _] (zero.p()) [c n as _] batch);
        let gemm = Gemm { ops: [OPS[0], OPS[1]], size: (n, n, n), scalars: [Z::from(1.0), Z::from(0.0)] };
        c.check(form, |i| gemm.of((&a.values[i], n), (&bb.values[i], n), (&c.values[i], n)));
    }
}

/// If k or alpha is zero, the result is beta c, and NaN in a and b has no effect.
#[test]
fn gemm_of_nothing_scales() {
    let b = &blas();
    b.each(|form, mode| {
        let nan = b.arg_of::<f32>(6, |_| vec![Z::from(f64::NAN); 6]);
        let (one, zero) = (b.values::<f32>(mode, &[Z::from(1.0)]), b.values::<f32>(mode, &[Z::from(0.0)]));
        let beta = b.values::<f32>(mode, &[Z::from(-0.5)]);
        for (alpha, k) in [(&one, 0), (&zero, 2)] {
            let c = b.arg::<f32>(6, 3);
            run!(b, form, rocblas_sgemm rocblas_sgemm_batched rocblas_sgemm_strided_batched:
                (OPS[0]) (OPS[0]) (3) (2) (k) (alpha.p()) [nan 3] [nan 3] (beta.p()) [c 3] batch);
            c.check(form, |i| c.values[i].iter().map(|c| c * -0.5).collect());
            let c = b.arg_of::<f32>(6, |i| vec![Z::from(if i < form.count() { f64::NAN } else { 1.0 }); 6]);
            run!(b, form, rocblas_sgemm rocblas_sgemm_batched rocblas_sgemm_strided_batched:
                (OPS[0]) (OPS[0]) (3) (2) (k) (alpha.p()) [nan 3] [nan 3] (zero.p()) [c 3] batch);
            c.check(form, |_| vec![Z::from(0.0); 6]);
        }
    });
}

/// The functions with sizes of 64 bits are the same.
#[test]
fn wide_sizes() {
    let b = &blas();
    let size = (3_usize, 2_usize, 4_usize);
    let (a, bb, c) = (b.arg::<f32>(12, 1), b.arg::<f32>(8, 2), b.arg::<f32>(6, 3));
    let gemm = b.table.rocblas_sgemm_strided_batched_64.get().expect("hip-host has it");
    let stride = |arg: &Arg<'_, f32>| arg.stride;
    // SAFETY: S1, S11: live operands.
    let status = unsafe {
        gemm(
            b.handle,
            OPS[0],
            OPS[0],
            3,
            2,
            4,
            &1.5,
            a.p(),
            3,
            stride(&a),
            bb.p(),
            4,
            stride(&bb),
            &2.0,
            c.p(),
            3,
            stride(&c),
            3,
        )
    };
    assert_eq!(status, SUCCESS);
    b.sync();
    let wanted = Gemm { ops: [OPS[0], OPS[0]], size, scalars: [Z::from(1.5), Z::from(2.0)] };
    c.check(Form::Strided, |i| wanted.of((&a.values[i], 3), (&bb.values[i], 4), (&c.values[i], 3)));
    // SAFETY: S1, S11: the sizes are what the function must refuse.
    let status = unsafe {
        gemm(
            b.handle,
            OPS[0],
            OPS[0],
            i64::MAX,
            2,
            4,
            &1.5,
            a.p(),
            i64::MAX,
            0,
            bb.p(),
            4,
            0,
            &2.0,
            c.p(),
            i64::MAX,
            0,
            3,
        )
    };
    assert_eq!(status, rocblas_status::rocblas_status_invalid_pointer);
}
