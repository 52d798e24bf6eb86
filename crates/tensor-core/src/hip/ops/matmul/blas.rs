//! Matrix products by the platform's BLAS.

use half::{bf16, f16};
use hip_sys::rocblas::rocblas_status;
use rocblas_safe::{Element, Error as BlasError, Handle, MatrixBatch, MatrixBatchMut, Scalar};

use super::product::{Operand, Product};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::hip::HipStorage;
use crate::hip::device::wrap;

/// Whether the storage's device has a BLAS that supports the dtype.
pub(in crate::hip::ops) fn is_there(a: &HipStorage) -> bool {
    let has = matches!(a.dtype(), DType::F32 | DType::F64 | DType::F16 | DType::BF16);
    has && a.device().libraries().blas(a.device().stream()).is_some()
}

/// Writes the products to `out`; false if the BLAS refuses. The operands' strides are supported.
pub(in crate::hip::ops) fn matmul(
    a: &HipStorage,
    b: &HipStorage,
    out: &mut HipStorage,
    product: &Product,
) -> Result<bool> {
    let device = a.device().clone();
    let Some(blas) = device.libraries().blas(device.stream()) else { return Ok(false) };
    match a.dtype() {
        DType::F32 => run::<f32>(blas, a, b, out, product, [0.0, 1.0]),
        DType::F64 => run::<f64>(blas, a, b, out, product, [0.0, 1.0]),
        DType::F16 => run::<f16>(blas, a, b, out, product, [0.0, 1.0]),
        DType::BF16 => run::<bf16>(blas, a, b, out, product, [0.0, 1.0]),
        _ => Ok(false),
    }
}

fn run<T: Element>(
    blas: &Handle,
    a: &HipStorage,
    b: &HipStorage,
    out: &mut HipStorage,
    product: &Product,
    [zero, one]: [T::Scale; 2],
) -> Result<bool> {
    let &Product { rows, columns, inner, count, step, .. } = product;
    for &[left, right, result] in &product.calls {
        let x = operand::<T>(a, left, (rows, inner), product.left, count);
        let y = operand::<T>(b, right, (inner, columns), product.right, count);
        let made = x.and_then(|x| Ok((x, y?))).and_then(|(x, y)| {
            let view = out.tail_mut_of::<T>(result)?;
            let z = MatrixBatchMut::from_strides(view, (rows, columns), (columns, 1), (count, step))?;
            blas.gemm(Scalar::Value(one), x, y, Scalar::Value(zero), z)
        });
        match made {
            Ok(()) => {}
            // Our kernels take over, and overwrite the BLAS's partial results.
            Err(error) if is_refusal(&error) => return Ok(false),
            Err(BlasError::Hip(hip_safe::Error::OutOfMemory { .. })) => return Ok(false),
            Err(BlasError::Hip(error)) => return Err(wrap("matmul")(error)),
            Err(error) => return Err(Error::new("matmul", ErrorKind::Blas(error))),
        }
    }
    Ok(true)
}

fn operand<T: Element>(
    storage: &HipStorage,
    start: usize,
    size: (usize, usize),
    Operand { row, column, step, .. }: Operand,
    count: usize,
) -> Result<MatrixBatch<'_, T>, BlasError> {
    MatrixBatch::from_strides(storage.tail_of::<T>(start)?, size, (row, column), (count, step))
}

/// Whether the library does not support this operation on this device, with these sizes or in its workspace.
fn is_refusal(error: &BlasError) -> bool {
    match error {
        BlasError::NotSupported { .. } | BlasError::TooLarge { .. } | BlasError::Unsupported(_) => true,
        BlasError::Status { code, .. } => {
            let refusals = [
                rocblas_status::rocblas_status_not_implemented,
                rocblas_status::rocblas_status_arch_mismatch,
                rocblas_status::rocblas_status_excluded_from_build,
                rocblas_status::rocblas_status_memory_error,
            ];
            refusals.iter().any(|refusal| refusal.0 == *code)
        }
        _ => false,
    }
}
