//! `gemm_ex`: products with types as arguments and a separate output matrix.
#![allow(non_snake_case, reason = "BLAS's names")]

use super::check::{Int, NOT_IMPLEMENTED, Outcome, VALUE, ensure, leading, there};
use super::convert::{self, Algorithm, Compute, DataType, Pass};
use super::functions::{Cublas, GemmBatchedEx, GemmEx, GemmStridedEx};
use super::gemm::{Shape, operands};
use super::handle::{Handle, done, with};
use super::held::{Held, aligned_to, hold_typed};
use super::library::cublas;
use super::move_matrix::{Matrices, move_matrices};
use super::scalar;
use super::table::put;
use hip_nvidia_hipblaslt::{Gemm, Operands};
use hip_sys::RocblasTable;
use hip_sys::hipblaslt::{hipDataType, hipblasOperation_t};
use hip_sys::rocblas::{rocblas_datatype, rocblas_gemm_algo, rocblas_handle};
use hip_sys::rocblas::{rocblas_operation, rocblas_status, rocblas_stride};
use std::ffi::c_void;

#[rustfmt::skip]
pub(super) fn fill(table: &mut RocblasTable) {
    put! { table;
        gemm_ex gemm_strided_ex gemm_batched_ex: rocblas_gemm_ex rocblas_gemm_ex_64, rocblas_gemm_strided_batched_ex rocblas_gemm_strided_batched_ex_64, rocblas_gemm_batched_ex rocblas_gemm_batched_ex_64;
    }
}

/// A product that is written to `d`; the shape's leading dimension of `C` is that of `d`.
pub(super) struct Product<I> {
    pub(super) shape: Shape<I>,
    pub(super) a: *const c_void,
    pub(super) b: *const c_void,
    pub(super) alpha: Held<c_void>,
    pub(super) beta: Held<c_void>,
    pub(super) d: *mut c_void,
    /// The types of the factors and of the product.
    pub(super) types: [DataType; 3],
    pub(super) compute: Compute,
}

impl<I: Int> Product<I> {
    /// The product of 16-bit elements with sums in `f32`, by cuBLASLt with an algorithm that was searched for once. cuBLAS searches at each
    /// call, which takes longer than the launch. `None` if it has to be cuBLAS.
    ///
    /// # Safety
    /// As for [`Product::strided`].
    unsafe fn by_lt(&self, handle: &Handle, strides: [rocblas_stride; 3]) -> Option<Outcome> {
        let &Self { shape, a, b, ref alpha, ref beta, d, types, compute } = self;
        let element = match types {
            [DataType::F16, DataType::F16, DataType::F16] => hipDataType::HIP_R_16F,
            [DataType::BF16, DataType::BF16, DataType::BF16] => hipDataType::HIP_R_16BF,
            _ => return None,
        };
        let workspace = handle.workspace();
        // Its own workspace is cuBLAS's alone.
        if compute != Compute::F32 || !handle.on_host() || workspace.start == 0 || shape.k.long() == 0 {
            return None;
        }
        // With alpha 0 the factors must not be read, which cuBLASLt does. With beta it may round the product to 16 bits before it adds.
        // SAFETY: S11: live scalars on the host.
        if unsafe {
            handle.is(alpha.pointer().cast::<f32>(), 0) || !handle.is(beta.pointer().cast::<f32>(), 0)
        } {
            return None;
        }
        let number = |size: I| u64::try_from(size.long()).unwrap_or_default();
        let operation = |given| match given {
            rocblas_operation::rocblas_operation_none => hipblasOperation_t::HIPBLAS_OP_N.0,
            _ => hipblasOperation_t::HIPBLAS_OP_T.0,
        };
        let gemm = Gemm {
            operations: shape.operations.map(operation),
            sizes: [shape.m, shape.n, shape.k].map(number),
            leading: [leading(shape.lda), leading(shape.ldb), shape.ldc].map(number),
            strides: strides.map(i64::cast_unsigned),
            count: u32::try_from(shape.count.long()).ok()?,
            element: element.0,
        };
        let operands = Operands {
            factors: [a, b],
            result: d,
            scalars: [alpha.pointer().cast(), beta.pointer().cast()],
            work: workspace.start as *mut c_void,
            work_bytes: workspace.bytes,
        };
        // SAFETY: S2, S11: as promised above; a live handle with its context current, and the program's workspace.
        let code = unsafe { handle.lt.as_ref()?.multiply(gemm, &operands, handle.driver_stream()) }?;
        Some(done(code))
    }

    /// # Safety
    /// The matrices have the shape's sizes, and live until the stream has used them.
    pub(super) unsafe fn one(&self, handle: &Handle) -> Outcome
    where
        Cublas: GemmEx<I>,
    {
        // SAFETY: S2, S11: as promised above.
        if let Some(outcome) = unsafe { self.by_lt(handle, [0; 3]) } {
            return outcome;
        }
        let Self { shape, a, b, alpha, beta, d, types, compute } = self;
        let [first, second] = shape.operations;
        // SAFETY: S2, S11: as promised above; a live handle with its context current.
        done(unsafe {
            cublas().gemm_ex()(
                handle.raw,
                first.pass(),
                second.pass(),
                shape.m,
                shape.n,
                shape.k,
                alpha.pointer(),
                *a,
                types[0],
                leading(shape.lda),
                *b,
                types[1],
                leading(shape.ldb),
                beta.pointer(),
                *d,
                types[2],
                shape.ldc,
                *compute,
                Algorithm::DEFAULT,
            )
        })
    }

    /// # Safety
    /// As for one product.
    pub(super) unsafe fn strided(&self, handle: &Handle, strides: [rocblas_stride; 3]) -> Outcome
    where
        Cublas: GemmStridedEx<I>,
    {
        // SAFETY: S2, S11: as promised above.
        if let Some(outcome) = unsafe { self.by_lt(handle, strides) } {
            return outcome;
        }
        let Self { shape, a, b, alpha, beta, d, types, compute } = self;
        let [first, second] = shape.operations;
        // SAFETY: S2, S11: as promised above; a live handle with its context current.
        done(unsafe {
            cublas().gemm_strided_ex()(
                handle.raw,
                first.pass(),
                second.pass(),
                shape.m,
                shape.n,
                shape.k,
                alpha.pointer(),
                *a,
                types[0],
                leading(shape.lda),
                strides[0],
                *b,
                types[1],
                leading(shape.ldb),
                strides[1],
                beta.pointer(),
                *d,
                types[2],
                shape.ldc,
                strides[2],
                shape.count,
                *compute,
                Algorithm::DEFAULT,
            )
        })
    }

    /// # Safety
    /// As for one product; each matrix is an array of addresses.
    pub(super) unsafe fn batched(&self, handle: &Handle) -> Outcome
    where
        Cublas: GemmBatchedEx<I>,
    {
        let Self { shape, a, b, alpha, beta, d, types, compute } = self;
        let [first, second] = shape.operations;
        // SAFETY: S2, S11: as promised above; a live handle with its context current.
        done(unsafe {
            cublas().gemm_batched_ex()(
                handle.raw,
                first.pass(),
                second.pass(),
                shape.m,
                shape.n,
                shape.k,
                alpha.pointer(),
                a.cast(),
                types[0],
                leading(shape.lda),
                b.cast(),
                types[1],
                leading(shape.ldb),
                beta.pointer(),
                d.cast_const().cast(),
                types[2],
                shape.ldc,
                shape.count,
                *compute,
                Algorithm::DEFAULT,
            )
        })
    }
}

/// One matrix argument of `gemm_ex`: its address, type, leading dimension and stride.
type Matrix = (*const c_void, rocblas_datatype, rocblas_stride);

/// `gemm_ex`'s arguments.
struct Told<I> {
    shape: Shape<I>,
    alpha: *const c_void,
    a: Matrix,
    b: Matrix,
    beta: *const c_void,
    c: Matrix,
    d: Matrix,
    ldd: I,
    compute: rocblas_datatype,
    algorithm: rocblas_gemm_algo,
    solution: i32,
}

/// How a batch is passed: strided or by addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Many {
    Strided,
    ByAddress,
}

impl<I: Int> Told<I> {
    /// Checks the arguments, and copies `C` to `D`, where the product is added.
    ///
    /// # Safety
    /// The arguments fulfil rocBLAS's contract.
    unsafe fn product(self, handle: &Handle, many: Many) -> Outcome<Product<I>> {
        let Self { shape, alpha, a, b, beta, c, d, ldd, compute, .. } = self;
        let ldc = shape.ldc;
        Shape { ldc: ldc.min(ldd), ..shape }.check()?;
        let first_solution =
            self.algorithm != rocblas_gemm_algo::rocblas_gemm_algo_solution_index || self.solution == 0;
        // cuBLAS numbers its algorithms in another way.
        ensure(first_solution, VALUE)?;
        let (type_a, bytes_a) = convert::data_type(a.1)?;
        let (type_b, bytes_b) = convert::data_type(b.1)?;
        let (type_d, bytes) = convert::data_type(d.1)?;
        let computed = convert::compute_type(compute)?;
        ensure(c.1 == d.1, NOT_IMPLEMENTED)?;
        // cuBLAS would read complex scalars where the caller has real ones.
        ensure(convert::complex(compute) == convert::complex(a.1), NOT_IMPLEMENTED)?;
        // SAFETY: S11: as promised above; scalars are checked for null before they are asked for.
        let is = |scalar, number| unsafe { scalar::is(handle, scalar, compute, number) };
        let in_place = c.0 == d.0;
        // Here there is work even if nothing is added: C is copied.
        let told = |scalar, number| (number == 0 || in_place) && is(scalar, number);
        let with = operands(shape.k, (alpha, beta), (a.0, b.0), d.0, told)?;
        if many == Many::Strided {
            [(with.a, bytes_a), (with.b, bytes_b), (d.0, bytes)]
                .into_iter()
                .try_for_each(|(matrix, bytes)| aligned_to(matrix, bytes))?;
        }
        if in_place {
            ensure(ldc == ldd && (shape.count.long() == 1 || c.2 == d.2), VALUE)?;
        } else if !is(beta, 0) {
            there(c.0)?;
            ensure(many == Many::Strided, NOT_IMPLEMENTED)?;
            let matrices = Matrices {
                rows: shape.m.long(),
                columns: shape.n.long(),
                count: shape.count.long(),
                bytes,
                from: (c.0, ldc.long(), c.2),
                to: (d.0.cast_mut(), ldd.long(), d.2),
            };
            // SAFETY: S2, S11: as promised above.
            unsafe { move_matrices(handle, matrices) }?;
        }
        // SAFETY: S11: as promised above.
        let (alpha, beta) =
            unsafe { (hold_typed(handle, with.alpha, compute)?, hold_typed(handle, beta, compute)?) };
        let shape = Shape { k: with.k, ldc: ldd, ..shape };
        Ok(Product {
            shape,
            a: with.a,
            b: with.b,
            alpha,
            beta,
            d: d.0.cast_mut(),
            types: [type_a, type_b, type_d],
            compute: computed,
        })
    }
}

unsafe extern "C" fn gemm_ex<I: Int>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const c_void,
    a: *const c_void,
    a_type: rocblas_datatype,
    lda: I,
    b: *const c_void,
    b_type: rocblas_datatype,
    ldb: I,
    beta: *const c_void,
    c: *const c_void,
    c_type: rocblas_datatype,
    ldc: I,
    d: *mut c_void,
    d_type: rocblas_datatype,
    ldd: I,
    compute: rocblas_datatype,
    algorithm: rocblas_gemm_algo,
    solution: i32,
    _flags: u32,
) -> rocblas_status
where
    Cublas: GemmEx<I>,
{
    with(handle, |handle| {
        let told = Told {
            shape: Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count: I::of(1) },
            alpha,
            a: (a, a_type, 0),
            b: (b, b_type, 0),
            beta,
            c: (c, c_type, 0),
            d: (d, d_type, 0),
            ldd,
            compute,
            algorithm,
            solution,
        };
        // SAFETY: S2, S11: the caller's arguments.
        unsafe { told.product(handle, Many::Strided)?.one(handle) }
    })
}

unsafe extern "C" fn gemm_strided_ex<I: Int>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const c_void,
    a: *const c_void,
    a_type: rocblas_datatype,
    lda: I,
    stride_a: rocblas_stride,
    b: *const c_void,
    b_type: rocblas_datatype,
    ldb: I,
    stride_b: rocblas_stride,
    beta: *const c_void,
    c: *const c_void,
    c_type: rocblas_datatype,
    ldc: I,
    stride_c: rocblas_stride,
    d: *mut c_void,
    d_type: rocblas_datatype,
    ldd: I,
    stride_d: rocblas_stride,
    count: I,
    compute: rocblas_datatype,
    algorithm: rocblas_gemm_algo,
    solution: i32,
    _flags: u32,
) -> rocblas_status
where
    Cublas: GemmStridedEx<I>,
{
    with(handle, |handle| {
        let told = Told {
            shape: Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count },
            alpha,
            a: (a, a_type, stride_a),
            b: (b, b_type, stride_b),
            beta,
            c: (c, c_type, stride_c),
            d: (d, d_type, stride_d),
            ldd,
            compute,
            algorithm,
            solution,
        };
        // SAFETY: S2, S11: the caller's arguments.
        unsafe { told.product(handle, Many::Strided)?.strided(handle, [stride_a, stride_b, stride_d]) }
    })
}

unsafe extern "C" fn gemm_batched_ex<I: Int>(
    handle: rocblas_handle,
    transA: rocblas_operation,
    transB: rocblas_operation,
    m: I,
    n: I,
    k: I,
    alpha: *const c_void,
    a: *const c_void,
    a_type: rocblas_datatype,
    lda: I,
    b: *const c_void,
    b_type: rocblas_datatype,
    ldb: I,
    beta: *const c_void,
    c: *const c_void,
    c_type: rocblas_datatype,
    ldc: I,
    d: *mut c_void,
    d_type: rocblas_datatype,
    ldd: I,
    count: I,
    compute: rocblas_datatype,
    algorithm: rocblas_gemm_algo,
    solution: i32,
    _flags: u32,
) -> rocblas_status
where
    Cublas: GemmBatchedEx<I>,
{
    with(handle, |handle| {
        let told = Told {
            shape: Shape { operations: [transA, transB], m, n, k, lda, ldb, ldc, count },
            alpha,
            a: (a, a_type, 0),
            b: (b, b_type, 0),
            beta,
            c: (c, c_type, 0),
            d: (d, d_type, 0),
            ldd,
            compute,
            algorithm,
            solution,
        };
        // SAFETY: S2, S11: the caller's arguments.
        unsafe { told.product(handle, Many::ByAddress)?.batched(handle) }
    })
}
