//! Products of one row with matrices whose columns are contiguous, as a linear layer's weight is. A kernel of ours reads the
//! matrices once, at the rate of memory, and takes several in one launch.

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
const NAME: &str = "matmul";

/// The most matrices of a launch.
pub(crate) const MOST: usize = MatvecArgs::MOST;

/// The products of the row with each of up to [`MOST`] matrices `[…, k, n]`; `None` if one of them is no such product. Nothing is
/// empty.
pub(crate) fn by_vector(
    (a, lhs): (&HipStorage, &Layout),
    matrices: &[(&HipStorage, &Layout)],
) -> Result<Option<Vec<HipStorage>>> {
    let (device, dtype) = (a.device(), a.dtype());
    let mut arguments = MatvecArgs { rows: [0; MOST], stride: [0; MOST], width: 0 };
    let (mut starts, mut row) = ([0; MOST], 0);
    for (index, (b, rhs)) in matrices.iter().enumerate() {
        let Some(found) = Found::of((a, lhs), (b, rhs))? else { return Ok(None) };
        (arguments.rows[index], arguments.stride[index]) = (found.columns as u64, found.stride as u64);
        (arguments.width, row, starts[index]) = (found.inner as u64, found.vector, found.matrix);
    }
    let function = device.kernels().get(device, Kernel { family: "matvec", op: "", dtype, to: None })?;
    let shape = launch::matvec(arguments.rows.iter().sum(), device.multiprocessors());
    let vector = a.tail(row, NAME)?;
    // A matrix that is not there has no rows: its pointers are not used.
    let matrix = |index: usize| match matrices.get(index) {
        Some((b, _)) => b.tail(starts[index], NAME),
        None => a.tail(0, NAME),
    };
    let (first, second, third) = (matrix(0)?, matrix(1)?, matrix(2)?);
    let result = |index: usize| {
        // SAFETY: S15: the kernel writes each element.
        unsafe { HipStorage::uninit(device, dtype, arguments.rows[index] as usize, NAME) }
    };
    let mut results = [result(0)?, result(1)?, result(2)?];
    let [one, two, three] = &mut results;
    let (mut one, mut two, mut three) =
        (one.tail_mut(0, NAME)?, two.tail_mut(0, NAME)?, three.tail_mut(0, NAME)?);
    let mut launch = device.stream().launch(function, config(shape));
    launch.arg(&first).arg(&second).arg(&third).arg(&vector);
    launch.arg_mut(&mut one).arg_mut(&mut two).arg_mut(&mut three).value(&arguments);
    // SAFETY: S9: the kernel reads `rows` rows of `width` elements of each matrix, which its layout has, and the row of `a`; it
    // writes `rows` elements of each result.
    unsafe { launch.submit() }.map_err(wrap(NAME))?;
    Ok(Some(results.into_iter().take(matrices.len()).collect()))
}

/// A product that the kernel takes.
struct Found {
    columns: usize,
    inner: usize,
    stride: usize,
    /// Where the vector and the matrix begin.
    vector: usize,
    matrix: usize,
}

impl Found {
    fn of((a, lhs): (&HipStorage, &Layout), (b, rhs): (&HipStorage, &Layout)) -> Result<Option<Found>> {
        let dtype = a.dtype();
        if !matches!(dtype, DType::F32 | DType::F16 | DType::BF16) || dtype != b.dtype() {
            return Ok(None);
        }
        let rank = lhs.rank();
        // Most products have more rows: they are told apart first.
        if lhs.elements() != lhs.dims()[rank - 1] {
            return Ok(None);
        }
        let dims: Vec<usize> =
            lhs.dims()[..rank - 1].iter().chain(&rhs.dims()[rank - 1..]).copied().collect();
        let result = Layout::contiguous(dims, NAME)?;
        let Some(product) = Product::new(lhs, rhs, &result) else { return Ok(None) };
        let Product { rows: 1, columns, inner, count: 1, left, right, .. } = product else { return Ok(None) };
        let &[[vector, matrix, _]] = product.calls.as_slice() else { return Ok(None) };
        let whole = (right.column * dtype.size_in_bytes()).is_multiple_of(PACK);
        let aligned = a.begins_at(vector, PACK) && b.begins_at(matrix, PACK);
        let tight = left.column == 1 && right.row == 1;
        let fits = columns >= LEAST && u32::try_from(inner).is_ok() && whole && aligned && tight;
        Ok(fits.then_some(Found { columns, inner, stride: right.column, vector, matrix }))
    }
}
