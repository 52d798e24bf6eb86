//! Products of one row with a matrix whose columns are contiguous, as a linear layer's weight is: its bytes are read once, at the
//! rate of memory.

use kernels_hip::args::MatvecArgs;
use kernels_hip::launch;

use super::product::Product;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::layout::Layout;

/// Kernels read packs of so many bytes.
const PACK: usize = 16;
/// The fewest columns: with less to read a BLAS is as fast.
const LEAST: usize = 64;

/// Writes the product to `out`; false if it is no such product.
pub(super) fn by_vector(
    (a, lhs): (&HipStorage, &Layout),
    (b, rhs): (&HipStorage, &Layout),
    (out, result): (&mut HipStorage, &Layout),
) -> Result<bool> {
    let (device, dtype) = (a.device().clone(), a.dtype());
    if !matches!(dtype, DType::F32 | DType::F16 | DType::BF16) {
        return Ok(false);
    }
    let Some(product) = Product::new(lhs, rhs, result) else { return Ok(false) };
    let Product { rows: 1, columns, inner, count: 1, left, right, .. } = product else { return Ok(false) };
    let &[[x, w, y]] = product.calls.as_slice() else { return Ok(false) };
    let whole = (right.column * dtype.size_in_bytes()).is_multiple_of(PACK);
    let aligned = a.begins_at(x, PACK) && b.begins_at(w, PACK);
    let tight = (left.column == 1 || inner == 1) && (right.row == 1 || inner == 1);
    if columns < LEAST || !whole || !aligned || !tight {
        return Ok(false);
    }
    let name = "matmul";
    let arguments = MatvecArgs { rows: columns as u64, width: inner as u64, stride: right.column as u64 };
    let function = device.kernels().get(&device, Kernel { family: "matvec", op: "", dtype, to: None })?;
    let shape = launch::matvec(arguments.rows, device.multiprocessors());
    let (matrix, vector, mut target) = (b.tail(w, name)?, a.tail(x, name)?, out.tail_mut(y, name)?);
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&matrix).arg(&vector).arg_mut(&mut target).value(&arguments);
    // SAFETY: S9: the kernel reads `columns` rows of `inner` elements of the matrix, which the layout has, and the row of `a`;
    // it writes `columns` elements.
    unsafe { launch.submit() }.map_err(wrap(name))?;
    Ok(true)
}
