//! syrk and herk: c = alpha op(a) op(a)ᵀ + beta c, in one triangle; herk's second factor is conjugated.

use super::super::c::forms::forms;
use super::super::check::{Op, Outcome, POINTER, SIZE, VALUE, counts, ensure, is_lower, matrix, operation};
use super::super::handle::{Call, begin, status, there};
use super::super::operand::{Operand, Plan, Source};
use super::super::parallel;
use super::super::scalar::{Element, Field, Int};
use super::matrix::Matrix;
use super::product::{product, steps};
use hip_sys::rocblas::{rocblas_fill, rocblas_handle, rocblas_operation, rocblas_status};
use std::ops::Range;

forms! { "syrk", "" [T: Element<Value: Field + From<S::Value>>, S: Element<Value: Field>, const HERMITIAN: bool]
[T::Value, S::Value, HERMITIAN]
syrk(uplo: rocblas_fill, trans: rocblas_operation, n: int, k: int, alpha: *const S, [a: in T, lda, stride_a],
    beta: *const S, [c: out T, ldc, stride_c], batch) }

/// Rows and columns of the diagonal triangles that are not divided on all threads: the products beside them are small.
const CORNER: usize = 128;
/// Rows and columns of the diagonal blocks, which are computed as whole squares.
const BLOCK: usize = 32;

unsafe fn syrk<T: Field + From<S>, S: Field, const HERMITIAN: bool>(
    call: Call,
    uplo: rocblas_fill,
    trans: rocblas_operation,
    n: i64,
    k: i64,
    alpha: *const impl Sized,
    a: Operand,
    beta: *const impl Sized,
    c: Operand,
    batch: i64,
) -> Outcome {
    let (lower, op) = (is_lower(uplo)?, operation(trans)?);
    let complex = size_of::<T>() != size_of::<<T as Field>::Part>();
    // Complex matrices allow only one of the two transpositions.
    ensure(!complex || !op.transposed || op.conjugated == HERMITIAN, VALUE)?;
    ensure(c.step >= n && a.step >= if op.transposed { k } else { n }, SIZE)?;
    let [n, k, batch] = counts([n, k, batch])?;
    if n == 0 || batch == 0 {
        return Ok(());
    }
    there(beta)?;
    let mut plan = Plan::new(call, batch);
    // SAFETY: S11: the C function's contract; the types have the same layout.
    let (alpha, beta) = unsafe {
        let alpha = if k == 0 { Source::Known(S::ZERO) } else { plan.scalar(alpha.cast::<S>())? };
        (alpha, plan.scalar(beta.cast::<S>())?)
    };
    let used = usize::from(!alpha.is(S::ZERO));
    if used == 0 && beta.is(S::ONE) {
        return Ok(());
    }
    ensure(!c.is_null() && (used == 0 || !a.is_null()), POINTER)?;
    let (rows, columns) = if op.transposed { (k, n) } else { (n, k) };
    let a = plan.read::<T>(a, used * matrix(rows, columns, a.step))?;
    let c = plan.write::<T>(c, matrix(n, n, c.step))?;
    let body = move |index| {
        let (alpha, beta) = (alpha.value(), beta.value());
        if alpha == S::ZERO && beta == S::ONE {
            return;
        }
        // SAFETY: S2: named above; what has no part in the result is not followed.
        unsafe {
            let start = if used == 0 { std::ptr::null_mut() } else { a.at(index) };
            let left = Matrix::<T>::new(start, a.step()).after(op);
            let right = left.transposed().after(Op { transposed: false, conjugated: HERMITIAN });
            let depth = if alpha == S::ZERO { 0 } else { k };
            let c = Matrix::<T>::new(c.at(index), c.step());
            let (alpha, beta) = (T::from(alpha), T::from(beta));
            Update::<T, HERMITIAN> { k: depth, lower, alpha, left, right, beta, c }.run(n);
        }
    };
    // SAFETY: S11: all of it is named.
    unsafe { plan.submit(steps((n, n, k)) / 2.0, body) }
}

/// The product c = alpha left right + beta c, limited to one triangle.
struct Update<T, const HERMITIAN: bool> {
    k: usize,
    lower: bool,
    alpha: T,
    left: Matrix<T>,
    right: Matrix<T>,
    beta: T,
    c: Matrix<T>,
}

impl<T: Field, const HERMITIAN: bool> Update<T, HERMITIAN> {
    /// Computes the triangle: first the large products, each on all threads, then the other parts, each on one thread.
    ///
    /// # Safety
    /// left is n × k, right is k × n, c is n × n; nobody else uses the triangle.
    unsafe fn run(&self, n: usize) {
        let mut small = Vec::new();
        // SAFETY: S2: the caller vouches for the matrices.
        unsafe { self.cut(0..n, &mut small) };
        let size = BLOCK.min(n);
        parallel::each(small.len(), steps((size, size, self.k)), &|index| {
            let (late, early) = small[index].clone();
            // SAFETY: S2, S12: as above; the parts are disjoint.
            unsafe {
                if late == early {
                    self.block(late);
                } else {
                    self.rectangle(late, early);
                }
            }
        });
    }

    /// Computes the large products beside a part of the diagonal, and lists the rest. An item of the rest is the rectangle beside two parts
    /// of the diagonal, or a diagonal block, which is given as two equal parts.
    ///
    /// # Safety
    /// As [`Update::run`].
    unsafe fn cut(&self, part: Range<usize>, small: &mut Vec<(Range<usize>, Range<usize>)>) {
        if part.len() <= BLOCK {
            return small.push((part.clone(), part));
        }
        let middle = part.start + (part.len() / 2).next_multiple_of(BLOCK);
        let (early, late) = (part.start..middle, middle..part.end);
        // SAFETY: S2: the caller vouches for the matrices.
        unsafe {
            if part.len() <= CORNER {
                small.push((late.clone(), early.clone()));
            } else {
                self.rectangle(late.clone(), early.clone());
            }
            self.cut(early, small);
            self.cut(late, small);
        }
    }

    /// The rectangle at the rows of the first part and the columns of the second; the first comes later on the diagonal.
    ///
    /// # Safety
    /// As [`Update::run`].
    unsafe fn rectangle(&self, late: Range<usize>, early: Range<usize>) {
        let (rows, columns) = if self.lower { (late, early) } else { (early, late) };
        let (left, right) = (self.left.from(rows.start, 0), self.right.from(0, columns.start));
        let c = self.c.from(rows.start, columns.start);
        // SAFETY: S2: the caller vouches for the matrices.
        unsafe { product((rows.len(), columns.len(), self.k), self.alpha, left, right, self.beta, c) };
    }

    /// A diagonal block: all of it is computed, and one triangle is kept.
    ///
    /// # Safety
    /// As [`Update::run`]; the part is no larger than a block.
    unsafe fn block(&self, part: Range<usize>) {
        let size = part.len();
        let mut block = [T::ZERO; BLOCK * BLOCK];
        let whole = Matrix::of(&mut block, size);
        let (left, right) = (self.left.from(part.start, 0), self.right.from(0, part.start));
        let corner = self.c.from(part.start, part.start);
        // SAFETY: S2: the caller vouches for the matrices; the block has room.
        unsafe {
            product((size, size, self.k), self.alpha, left, right, T::ZERO, whole);
            for column in 0..size {
                let rows = if self.lower { column..size } else { 0..column + 1 };
                for row in rows {
                    let new = whole.get(row, column);
                    let sum =
                        if self.beta == T::ZERO { new } else { new + self.beta * corner.get(row, column) };
                    let real = HERMITIAN && row == column;
                    corner.set(row, column, if real { T::of_real(sum.real()) } else { sum });
                }
            }
        }
    }
}
