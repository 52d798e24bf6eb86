//! Matrix products: of one row by a kernel of ours, others by the platform's BLAS if it supports them, else by our kernels.

pub(super) mod blas;
mod own;
pub(super) mod product;
pub(crate) mod vector;

use super::copy;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::is_out_of_memory;
use crate::layout::Layout;
use product::Product;

/// The products of `lhs` `[batch…, m, k]` and `rhs` `[batch…, k, n]`, whose batch dimensions are equal. The result is
/// not empty.
pub(crate) fn matmul(a: &HipStorage, lhs: &Layout, b: &HipStorage, rhs: &Layout) -> Result<HipStorage> {
    if let Some(products) = vector::by_vector((a, lhs), &[(b, rhs)])? {
        return Ok(products.into_iter().next().expect("one matrix has one product"));
    }
    let (device, dtype, rank) = (a.device(), a.dtype(), lhs.rank());
    let shape: Vec<usize> = lhs.dims()[..rank - 1].iter().chain(&rhs.dims()[rank - 1..]).copied().collect();
    let result = Layout::contiguous(shape, "matmul")?;
    // SAFETY: S15: each way of computing writes each element.
    let mut out = unsafe { HipStorage::uninit(device, dtype, result.elements(), "matmul") }?;
    if !by_blas((a, lhs), (b, rhs), (&mut out, &result))? {
        own::matmul((a, lhs), (b, rhs), (&mut out, &result))?;
    }
    Ok(out)
}

/// How often an element must be used for a copy of its operand to pay.
const COPY_PAYS: usize = 16;

/// Computes the products with the BLAS, if it supports them. An operand with unsupported strides is copied first.
fn by_blas(
    (a, lhs): (&HipStorage, &Layout),
    (b, rhs): (&HipStorage, &Layout),
    (out, result): (&mut HipStorage, &Layout),
) -> Result<bool> {
    if !blas::is_there(a) {
        return Ok(false);
    }
    let Some(product) = Product::new(lhs, rhs, result) else { return Ok(false) };
    let pays = |fits: bool, uses: usize| fits || uses >= COPY_PAYS;
    if !pays(product.left.fits, product.columns) || !pays(product.right.fits, product.rows) {
        return Ok(false);
    }
    // Our kernels read repeated rows and columns in place.
    if [lhs, rhs].into_iter().any(repeats_lines) {
        return Ok(false);
    }
    if product.left.fits && product.right.fits {
        return blas::matmul(a, b, out, &product);
    }
    let (left, right);
    let (mut a, mut lhs, mut b, mut rhs) = (a, lhs, b, rhs);
    if !product.left.fits {
        let Some(copied) = tight(a, lhs)? else { return Ok(false) };
        left = copied;
        (a, lhs) = (&left.0, &left.1);
    }
    if !product.right.fits {
        let Some(copied) = tight(b, rhs)? else { return Ok(false) };
        right = copied;
        (b, rhs) = (&right.0, &right.1);
    }
    match Product::new(lhs, rhs, result) {
        Some(product) if product.left.fits && product.right.fits => blas::matmul(a, b, out, &product),
        _ => Ok(false),
    }
}

/// Whether a matrix repeats a row or column.
fn repeats_lines(layout: &Layout) -> bool {
    let matrix = layout.rank() - 2..;
    layout.dims()[matrix.clone()]
        .iter()
        .zip(&layout.strides()[matrix])
        .any(|(&length, &stride)| length > 1 && stride == 0)
}

/// A contiguous copy of the matrices, if there is memory for it. Matrices repeated in the batch are copied once.
fn tight(storage: &HipStorage, layout: &Layout) -> Result<Option<(HipStorage, Layout)>> {
    let mut once = layout.clone();
    for axis in 0..layout.rank() - 2 {
        if layout.strides()[axis] == 0 && layout.dims()[axis] > 1 {
            once = once.narrow(axis, 0, 1, "matmul")?;
        }
    }
    let copy = match copy::copy(storage, &once) {
        Err(error) if is_out_of_memory(&error) => return Ok(None),
        copy => copy?,
    };
    let layout = Layout::contiguous(once.shape().clone(), "matmul")?.expand(layout.shape(), "matmul")?;
    Ok(Some((copy, layout)))
}
