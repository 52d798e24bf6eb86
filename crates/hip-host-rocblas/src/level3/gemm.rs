//! gemm: c = alpha op(a) op(b) + beta c.

use super::super::c::forms::forms;
use super::super::check::{
    NOT_IMPLEMENTED, Outcome, POINTER, SIZE, VALUE, counts, ensure, matrix, operation,
};
use super::super::handle::{Call, begin, status};
use super::super::operand::{Operand, Plan, Source};
use super::super::scalar::{Element, Field, Int, Scalar};
use super::matrix::Matrix;
use super::product::steps;
use super::tiles::{Factor, multiply};
use half::{bf16, f16};
use hip_sys::rocblas::{rocblas_handle, rocblas_operation, rocblas_status};
use num_complex::{Complex32, Complex64};

forms! { "gemm", "" [T: Element] [T]
gemm(trans_a: rocblas_operation, trans_b: rocblas_operation, m: int, n: int, k: int, alpha: *const T,
    [a: in T, lda, stride_a], [b: in T, ldb, stride_b], beta: *const T, [c: out T, ldc, stride_c], batch) }

unsafe fn gemm<T: Element>(
    call: Call,
    trans_a: rocblas_operation,
    trans_b: rocblas_operation,
    m: i64,
    n: i64,
    k: i64,
    alpha: *const T,
    a: Operand,
    b: Operand,
    beta: *const T,
    c: Operand,
    batch: i64,
) -> Outcome {
    let ops = Ops { a: trans_a, b: trans_b, sizes: [m, n, k, batch] };
    let (alpha, beta) = (alpha.cast::<T::Value>(), beta.cast::<T::Value>());
    // SAFETY: S11: the C function's contract.
    unsafe { typed::<T::Value, T::Value, T::Value>(call, ops, alpha, a, b, beta, c, c) }
}

/// Types are arguments, and the result has an address of its own.
pub(crate) mod ex {
    use super::*;
    use hip_sys::rocblas::{rocblas_datatype, rocblas_gemm_algo};
    use std::ffi::c_void;

    forms! { "gemm", "_ex" [] []
    gemm_ex(trans_a: rocblas_operation, trans_b: rocblas_operation, m: int, n: int, k: int, alpha: *const c_void,
        [a: from a_type, lda, stride_a], [b: from b_type, ldb, stride_b], beta: *const c_void,
        [c: from c_type, ldc, stride_c], [d: into d_type, ldd, stride_d], batch, compute_type: rocblas_datatype,
        algo: rocblas_gemm_algo, solution_index: i32, flags: u32) }

    unsafe fn gemm_ex(
        call: Call,
        trans_a: rocblas_operation,
        trans_b: rocblas_operation,
        m: i64,
        n: i64,
        k: i64,
        alpha: *const c_void,
        a: Operand,
        a_type: rocblas_datatype,
        b: Operand,
        b_type: rocblas_datatype,
        beta: *const c_void,
        c: Operand,
        c_type: rocblas_datatype,
        d: Operand,
        d_type: rocblas_datatype,
        batch: i64,
        compute_type: rocblas_datatype,
        _algo: rocblas_gemm_algo,
        _solution_index: i32,
        _flags: u32,
    ) -> Outcome {
        use rocblas_datatype as t;
        let ops = Ops { a: trans_a, b: trans_b, sizes: [m, n, k, batch] };
        if !ops.check(a, b, c, d)? {
            return Ok(());
        }
        ensure((k == 0 || !alpha.is_null()) && !beta.is_null() && !d.is_null(), POINTER)?;
        if c.is(d) {
            ensure(c.step == d.step, SIZE)?;
            ensure(c_type == d_type, VALUE)?;
        }
        ensure(a_type == b_type && c_type == d_type, NOT_IMPLEMENTED)?;
        // SAFETY: S11: the C function's contract.
        unsafe {
            match (a_type, c_type, compute_type) {
                (t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r, t::rocblas_datatype_f64_r) => {
                    typed::<f64, f64, f64>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    typed::<f32, f32, f32>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r) => {
                    typed::<f16, f16, f16>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r) => {
                    typed::<f32, f16, f16>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_f16_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    typed::<f32, f16, f32>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r) => {
                    typed::<f32, bf16, bf16>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_bf16_r, t::rocblas_datatype_f32_r, t::rocblas_datatype_f32_r) => {
                    typed::<f32, bf16, f32>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_i8_r, t::rocblas_datatype_i32_r, t::rocblas_datatype_i32_r) => {
                    typed::<i32, i8, i32>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c, t::rocblas_datatype_f32_c) => {
                    typed::<Complex32, Complex32, Complex32>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                (t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c, t::rocblas_datatype_f64_c) => {
                    typed::<Complex64, Complex64, Complex64>(call, ops, alpha.cast(), a, b, beta.cast(), c, d)
                }
                _ => Err(NOT_IMPLEMENTED),
            }
        }
    }
}

/// The shape of a product: operations, m, n, k and the batch's size.
struct Ops {
    a: rocblas_operation,
    b: rocblas_operation,
    sizes: [i64; 4],
}

impl Ops {
    /// Whether the result has elements.
    fn check(&self, a: Operand, b: Operand, c: Operand, d: Operand) -> Outcome<bool> {
        let (trans_a, trans_b) = (operation(self.a)?, operation(self.b)?);
        let [m, n, k, batch] = self.sizes;
        ensure(m >= 0 && n >= 0 && k >= 0 && batch >= 0, SIZE)?;
        let rows_a = if trans_a.transposed { k } else { m };
        let rows_b = if trans_b.transposed { n } else { k };
        ensure(rows_a <= a.step && rows_b <= b.step && m <= c.step && m <= d.step, SIZE)?;
        Ok(m > 0 && n > 0 && batch > 0)
    }
}

/// `S` is the scalars' type.
unsafe fn typed<S, In, Out>(
    call: Call,
    ops: Ops,
    alpha: *const S,
    a: Operand,
    b: Operand,
    beta: *const S,
    c: Operand,
    d: Operand,
) -> Outcome
where
    S: Scalar<Wide = Out::Wide>,
    In: Scalar,
    Out: Scalar<Wide = In::Wide>,
{
    if !ops.check(a, b, c, d)? {
        return Ok(());
    }
    let [m, n, k, batch] = counts(ops.sizes)?;
    let (zero, one) = (S::narrow(S::Wide::ZERO), S::narrow(S::Wide::ONE));
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract.
    let beta = unsafe { plan.scalar(beta)? };
    let in_place = c.is(d) && beta.is(one);
    if in_place && k == 0 {
        return Ok(());
    }
    // SAFETY: S11: as above.
    let alpha = if k == 0 { Source::Known(zero) } else { unsafe { plan.scalar(alpha)? } };
    if in_place && alpha.is(zero) {
        return Ok(());
    }
    let (multiplies, reads) = (!alpha.is(zero), !beta.is(zero));
    ensure(
        !d.is_null() && (!c.is_null() || !reads) && (!multiplies || !a.is_null() && !b.is_null()),
        POINTER,
    )?;
    let (op_a, op_b) = (operation(ops.a)?, operation(ops.b)?);
    let (rows_a, columns_a) = if op_a.transposed { (k, m) } else { (m, k) };
    let (rows_b, columns_b) = if op_b.transposed { (n, k) } else { (k, n) };
    let used = usize::from(multiplies);
    let a = plan.read::<In>(a, used * matrix(rows_a, columns_a, a.step))?;
    let b = plan.read::<In>(b, used * matrix(rows_b, columns_b, b.step))?;
    let apart = !c.is(d) && reads;
    let c = plan.read::<Out>(c, usize::from(apart) * matrix(m, n, c.step))?;
    let d = plan.write::<Out>(d, matrix(m, n, d.step))?;
    let size = (m, n, k);
    let body = move |index| {
        let (alpha, beta) = (alpha.value().wide(), beta.value().wide());
        // SAFETY: S2: named above. What is not used is not followed.
        unsafe {
            let factor = |used: bool, members: super::super::operand::Members<In>, op| {
                let start = if used { members.at(index).cast_const() } else { std::ptr::null() };
                Factor::of(start, members.step(), op)
            };
            let target = Matrix::new(d.at(index), d.step());
            let c = if apart { Matrix::new(c.at(index), c.step()) } else { target };
            let (a, b) = (factor(multiplies, a, op_a), factor(multiplies, b, op_b));
            multiply::<In, Out>(size, alpha, &a, &b, beta, c, target);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps(size) + (m * n) as f64, body) }
}
