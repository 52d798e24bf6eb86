//! One unsafe function for each step: statuses become results. Nothing else here touches the table.
//!
//! # Safety
//! Every function asks of its caller what the C functions ask: live objects that no other thread uses at the same time, and memory of the handle's
//! device. Functions that take or make a handle also ask for its device to be current (docs/SAFETY.md S1 to S3). Descriptors are values in host
//! memory and belong to no device.

use super::problem::{Problem, Side};
use hip_sys::HipblasltTable;
use hip_sys::hip::hipStream_t;
use hip_sys::hipblaslt::{
    hipblasLtHandle_t, hipblasLtMatmulAlgo_t, hipblasLtMatmulDesc_t,
    hipblasLtMatmulDescAttributes_t as product_attribute, hipblasLtMatmulHeuristicResult_t,
    hipblasLtMatmulPreferenceAttributes_t as preference_attribute, hipblasLtMatrixLayout_t,
    hipblasLtMatrixLayoutAttribute_t as layout_attribute, hipblasOperation_t, hipblasStatus_t,
};
use std::ffi::c_void;
use std::ptr::{from_ref, null_mut};

/// A C call that did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failure {
    pub(crate) function: &'static str,
    pub(crate) status: hipblasStatus_t,
}

pub(crate) type Result<T = ()> = std::result::Result<T, Failure>;

macro_rules! call {
    ($table:expr, $function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: S1, S3: each use says why its arguments are what the C function asks for.
        match unsafe { ($table.$function)($($argument),*) } {
            hipblasStatus_t::HIPBLAS_STATUS_SUCCESS => Ok(()),
            status => Err(Failure { function: stringify!($function), status }),
        }
    };
}

pub(crate) unsafe fn create(table: &HipblasltTable) -> Result<hipblasLtHandle_t> {
    let mut handle = null_mut();
    // SAFETY: S1, S3: the out-pointer is live; the caller made the device current.
    call!(table, hipblasLtCreate(&mut handle))?;
    Ok(handle)
}

pub(crate) unsafe fn destroy(table: &HipblasltTable, handle: hipblasLtHandle_t) -> Result {
    // SAFETY: S1, S4: the caller owns the handle and nothing uses it any more.
    call!(table, hipblasLtDestroy(handle))
}

/// Addresses on the device that a product's description has. Null where there is none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extras {
    pub(crate) bias: *const c_void,
    pub(crate) aux: *mut c_void,
    /// Of a, b and d.
    pub(crate) scales: [*const c_void; 3],
}

/// The descriptors of a product: of itself, and of a, b, c and d. Dropping it destroys them.
pub(crate) struct Descriptors<'t> {
    table: &'t HipblasltTable,
    product: hipblasLtMatmulDesc_t,
    layouts: [hipblasLtMatrixLayout_t; 4],
}

impl<'t> Descriptors<'t> {
    /// # Safety
    /// The addresses stay valid for as long as calls use them.
    pub(crate) unsafe fn new(table: &'t HipblasltTable, problem: &Problem, extras: Extras) -> Result<Self> {
        let mut made = Self { table, product: null_mut(), layouts: [null_mut(); 4] };
        // SAFETY: S1: the out-pointer is live.
        call!(table, hipblasLtMatmulDescCreate(&mut made.product, problem.compute, problem.scale_type))?;
        for (layout, side) in made.layouts.iter_mut().zip(problem.sides()) {
            // SAFETY: S1: the out-pointer is live.
            unsafe { create_layout(table, layout, side) }?;
        }
        let operation = |transposed| match transposed {
            false => hipblasOperation_t::HIPBLAS_OP_N,
            true => hipblasOperation_t::HIPBLAS_OP_T,
        };
        let [a, b] = problem.transposed.map(operation);
        made.set(product_attribute::HIPBLASLT_MATMUL_DESC_TRANSA, &a.0)?;
        made.set(product_attribute::HIPBLASLT_MATMUL_DESC_TRANSB, &b.0)?;
        made.set(product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE, &problem.epilogue.0)?;
        if let Some(data_type) = problem.bias {
            made.set(product_attribute::HIPBLASLT_MATMUL_DESC_BIAS_POINTER, &extras.bias)?;
            made.set(product_attribute::HIPBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &data_type.0)?;
        }
        if let Some(aux) = &problem.aux {
            made.set(product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &extras.aux)?;
            made.set(product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &(aux.ld as i64))?;
            made.set(
                product_attribute::HIPBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
                &(aux.stride as i64),
            )?;
        }
        let of_scales = [
            product_attribute::HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER,
            product_attribute::HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER,
            product_attribute::HIPBLASLT_MATMUL_DESC_D_SCALE_POINTER,
        ];
        for (attribute, address) in of_scales.into_iter().zip(&extras.scales) {
            if !address.is_null() {
                made.set(attribute, address)?;
            }
        }
        Ok(made)
    }

    /// Sets an attribute, whose type has as many bytes as C's.
    fn set<T>(&self, attribute: product_attribute, value: &T) -> Result {
        let (product, value) = (self.product, from_ref(value).cast());
        // SAFETY: S1: the descriptor is live, and the value has the size given.
        call!(self.table, hipblasLtMatmulDescSetAttribute(product, attribute, value, size_of::<T>()))
    }

    /// The best algorithm that the library knows for a handle and so many bytes of work memory, and the bytes that it needs.
    ///
    /// # Safety
    /// The handle is live, and no other thread uses it.
    pub(crate) unsafe fn algorithm(
        &self,
        handle: hipblasLtHandle_t,
        work_limit: u64,
    ) -> Result<Option<(hipblasLtMatmulAlgo_t, usize)>> {
        let (table, [a, b, c, d]) = (self.table, self.layouts);
        let mut preferred = null_mut();
        // SAFETY: S1: the out-pointer is live.
        call!(table, hipblasLtMatmulPreferenceCreate(&mut preferred))?;
        let (mut count, mut result) = (0, hipblasLtMatmulHeuristicResult_t::default());
        let most = preference_attribute::HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
        let limit = from_ref(&work_limit).cast();
        // SAFETY: S1: the descriptor is live, and the value has the size given.
        let found =
            call!(table, hipblasLtMatmulPreferenceSetAttribute(preferred, most, limit, 8)).and_then(|()| {
                // SAFETY: S1, S3: all descriptors and the handle are live; there is room for one result.
                call!(
                    table,
                    hipblasLtMatmulAlgoGetHeuristic(
                        handle,
                        self.product,
                        a,
                        b,
                        c,
                        d,
                        preferred,
                        1,
                        &mut result,
                        &mut count
                    )
                )
            });
        // SAFETY: S1, S4: nobody else has it. Its destruction decides nothing.
        let _ = call!(table, hipblasLtMatmulPreferenceDestroy(preferred));
        match found {
            Ok(()) if count > 0 && result.state == hipblasStatus_t::HIPBLAS_STATUS_SUCCESS => {
                Ok(Some((result.algo, result.workspaceSize)))
            }
            Ok(()) => Ok(None),
            Err(Failure { status, .. }) if means_none(status) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Multiplies. `scalars` are alpha and beta on the host, of the problem's type of scalars.
    ///
    /// # Safety
    /// Handle and stream are live and of one device; the memory is that of the problem, in a, b, c and d; the algorithm is for this problem, and
    /// the work memory has the bytes that it needs.
    pub(crate) unsafe fn multiply(
        &self,
        handle: hipblasLtHandle_t,
        (alpha, beta): (*const c_void, *const c_void),
        (a, b, c, d): (*const c_void, *const c_void, *const c_void, *mut c_void),
        algorithm: &hipblasLtMatmulAlgo_t,
        (work, bytes): (*mut c_void, usize),
        stream: hipStream_t,
    ) -> Result {
        let [la, lb, lc, ld] = self.layouts;
        let algorithm = from_ref(algorithm);
        // SAFETY: S1, S2, S3: the caller vouches for all of it.
        call!(
            self.table,
            hipblasLtMatmul(
                handle,
                self.product,
                alpha,
                a,
                la,
                b,
                lb,
                beta,
                c,
                lc,
                d,
                ld,
                algorithm,
                work,
                bytes,
                stream
            )
        )
    }
}

/// Whether that is the library's answer where it has no algorithm. For a card that it has no kernels for, AMD's says that a value is invalid,
/// which it cannot be here: the values were checked.
fn means_none(status: hipblasStatus_t) -> bool {
    status == hipblasStatus_t::HIPBLAS_STATUS_NOT_SUPPORTED
        || status == hipblasStatus_t::HIPBLAS_STATUS_INVALID_VALUE
}

/// # Safety
/// The table's functions are the library's.
unsafe fn create_layout(table: &HipblasltTable, out: &mut hipblasLtMatrixLayout_t, side: &Side) -> Result {
    let (rows, cols, ld) = (side.rows as u64, side.cols as u64, side.ld as i64);
    // SAFETY: S1: the out-pointer is live.
    call!(table, hipblasLtMatrixLayoutCreate(out, side.data_type, rows, cols, ld))?;
    if side.count == 1 {
        return Ok(());
    }
    // Counts were found to fit.
    let (count, stride) = (side.count as i32, side.stride as i64);
    let (of_count, of_stride) = (
        layout_attribute::HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
        layout_attribute::HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
    );
    // SAFETY: S1: the descriptor is live, and the value has the size given.
    call!(table, hipblasLtMatrixLayoutSetAttribute(*out, of_count, from_ref(&count).cast(), 4))?;
    // SAFETY: S1: as above.
    call!(table, hipblasLtMatrixLayoutSetAttribute(*out, of_stride, from_ref(&stride).cast(), 8))
}

impl Drop for Descriptors<'_> {
    /// What destroying them answers decides nothing.
    fn drop(&mut self) {
        for layout in self.layouts.into_iter().filter(|layout| !layout.is_null()) {
            // SAFETY: S1, S4: nobody else has it; submitted work does not need it.
            let _ = call!(self.table, hipblasLtMatrixLayoutDestroy(layout));
        }
        if !self.product.is_null() {
            // SAFETY: S1, S4: as above.
            let _ = call!(self.table, hipblasLtMatmulDescDestroy(self.product));
        }
    }
}
