//! Products of 16-bit elements for a library above this one, such as rocBLAS's. The algorithm is searched for once for each problem.
//! cuBLAS searches at each call, which takes the host longer than the launch.

use crate::convert::Outcome;
use crate::functions::{Algorithm, Heuristic, Raw};
use crate::library::{self, cublaslt};
use crate::product::Descriptors;
use crate::search::{Wanted, search};
use cudarc::cublaslt::sys::{cublasLtReductionScheme_t as reduction, cublasStatus_t};
use hip_nvidia::library::RawStream;
use hip_sys::hipblaslt::{hipDataType, hipblasComputeType_t, hipblasOperation_t};
use hip_sys::provider::hipblaslt::{Layout, Product};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// Products of columns, `count` of them: `m` by `k` times `k` by `n`, after the operations. All elements are of one type of 16 bits; sums
/// and scalars are `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gemm {
    /// What is done to a and to b, a `hipblasOperation_t` each.
    pub operations: [u32; 2],
    /// m, n and k.
    pub sizes: [u64; 3],
    /// Leading dimensions of a, b and the result.
    pub leading: [u64; 3],
    /// Elements from one member of the batch to the next, an `i64` each.
    pub strides: [u64; 3],
    /// The members of the batch.
    pub count: u32,
    /// A `hipDataType`.
    pub element: u32,
}

/// The matrices, and what the call works with.
pub struct Operands {
    /// The factors.
    pub factors: [*const c_void; 2],
    /// The result.
    pub result: *mut c_void,
    /// The scalars alpha and beta, in host memory.
    pub scalars: [*const f32; 2],
    /// Memory that the products may use.
    pub work: *mut c_void,
    /// Its size.
    pub work_bytes: usize,
}

/// A handle of cuBLASLt, with what was searched for.
pub struct GemmPlans {
    raw: Raw,
    plans: Mutex<HashMap<Problem, Option<Arc<Plan>>>>,
}

/// What an algorithm depends on: a product, the powers of two that the three addresses are multiples of, and the size of the workspace.
type Problem = (Gemm, [u32; 3], usize);

struct Plan {
    made: Descriptors,
    algorithm: Algorithm,
}

/// The most problems that are remembered; with one more all are forgotten.
const MAX_PLANS: usize = 1024;
/// Bytes of an element.
const ELEMENT: u64 = 2;

// SAFETY: S8: cuBLASLt's handle may be used from any thread, and is locked inside; plans are not changed after they were made.
unsafe impl Send for GemmPlans {}
// SAFETY: S8: as above.
unsafe impl Sync for GemmPlans {}

impl GemmPlans {
    /// A handle on the device whose context is current; `None` if there is no cuBLASLt.
    pub fn new() -> Option<Self> {
        library::open().ok()?;
        let mut raw = null_mut();
        // SAFETY: S1: a live variable; the device's context is current.
        let code = unsafe { (cublaslt().cublasLtCreate)(&mut raw) };
        (code == 0).then(|| Self { raw, plans: Mutex::default() })
    }

    /// Submits the products, and returns cuBLAS's status. `None` if cuBLASLt has no algorithm for them: then nothing was submitted.
    ///
    /// # Safety
    /// The matrices have these sizes and live until the stream has used them. The stream is of the device, whose context is current.
    pub unsafe fn multiply(&self, gemm: Gemm, operands: &Operands, stream: RawStream) -> Option<u32> {
        let &Operands { factors: [a, b], result, scalars: [alpha, beta], work, work_bytes } = operands;
        // Of all products: those behind the first are a stride further each.
        let apart = if gemm.count > 1 { gemm.strides } else { [0; 3] };
        let alignments = std::array::from_fn(|index| {
            let bytes = [a, b, result.cast_const()][index].addr() as u64 | ELEMENT.wrapping_mul(apart[index]);
            1_u32 << bytes.trailing_zeros().min(8)
        });
        let problem = (gemm, alignments, work_bytes);
        let plan = self.plan(problem)?;
        let [la, lb, lc, ld] = plan.made.layouts;
        // SAFETY: S2, S11: live descriptors, and what the caller vouches for. With beta 0 the result is not read.
        let code = unsafe {
            (cublaslt().cublasLtMatmul)(
                self.raw,
                plan.made.product,
                alpha.cast(),
                a,
                la,
                b,
                lb,
                beta.cast(),
                result.cast_const(),
                lc,
                result,
                ld,
                &plan.algorithm,
                work,
                work_bytes,
                stream,
            )
        };
        let refused =
            [cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED, cublasStatus_t::CUBLAS_STATUS_INVALID_VALUE];
        if refused.iter().any(|status| code == *status as u32) {
            self.plans.lock().insert(problem, None);
            return None;
        }
        Some(code)
    }

    fn plan(&self, problem: Problem) -> Option<Arc<Plan>> {
        let mut plans = self.plans.lock();
        if let Some(known) = plans.get(&problem) {
            return known.clone();
        }
        // What failed may not fail the next time, such as for want of memory.
        let plan = self.searched(&problem).ok()?.map(Arc::new);
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert(problem, plan.clone());
        plan
    }

    fn searched(&self, &(gemm, [a, b, d], work_bytes): &Problem) -> Outcome<Option<Plan>> {
        let made = gemm.descriptors()?;
        let wanted = Wanted {
            work_bytes: work_bytes as u64,
            alignments: Some([a, b, d, d]),
            // Parts of a sum are added in f32.
            reductions: Some(reduction::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32),
        };
        let mut found = [Heuristic::default()];
        let count = search(self.raw, &made, &wanted, &mut found)?;
        let [Heuristic { algorithm, state, .. }] = found;
        Ok((count == 1 && state == 0).then_some(Plan { made, algorithm }))
    }
}

impl Gemm {
    fn descriptors(&self) -> Outcome<Descriptors> {
        let sums = Product::new(hipblasComputeType_t::HIPBLAS_COMPUTE_32F, hipDataType::HIP_R_32F);
        let product = Product { operations: self.operations, ..sums };
        let [a, b, result] = self.layouts();
        Descriptors::new(&product, [&a, &b, &result, &result])
    }

    /// The matrices as they lie in memory: a, b and the result.
    fn layouts(&self) -> [Layout; 3] {
        let [m, n, k] = self.sizes;
        let [first, second] = self.operations.map(|number| number == hipblasOperation_t::HIPBLAS_OP_N.0);
        let stored = |plain, (rows, cols)| if plain { (rows, cols) } else { (cols, rows) };
        let sizes = [stored(first, (m, k)), stored(second, (k, n)), (m, n)];
        std::array::from_fn(|index| Layout {
            data_type: self.element,
            order: 0,
            rows: sizes[index].0,
            cols: sizes[index].1,
            ld: self.leading[index],
            batch: self.count,
            stride: self.strides[index],
        })
    }
}

impl Drop for GemmPlans {
    fn drop(&mut self) {
        self.plans.get_mut().clear();
        // SAFETY: S11: it was live, and nobody else has it any more. What it answers nobody waits for.
        unsafe { (cublaslt().cublasLtDestroy)(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_factor_lies_the_other_way_round() {
        let [plain, turned] = [hipblasOperation_t::HIPBLAS_OP_N.0, hipblasOperation_t::HIPBLAS_OP_T.0];
        let gemm = |operations| Gemm {
            operations,
            sizes: [2, 3, 5],
            leading: [7, 8, 9],
            strides: [70, 80, 90],
            count: 4,
            element: hipDataType::HIP_R_16BF.0,
        };
        let sizes = |operations| gemm(operations).layouts().map(|layout| (layout.rows, layout.cols));
        assert_eq!(sizes([plain, plain]), [(2, 5), (5, 3), (2, 3)]);
        assert_eq!(sizes([turned, plain]), [(5, 2), (5, 3), (2, 3)]);
        assert_eq!(sizes([plain, turned]), [(2, 5), (3, 5), (2, 3)]);
        let rest = gemm([plain, plain]).layouts().map(|layout| (layout.ld, layout.stride, layout.batch));
        assert_eq!(rest, [(7, 70, 4), (8, 80, 4), (9, 90, 4)]);
    }
}
