//! Matrix products by our kernels, which take any strides.

use kernels_hip::args::MatmulArgs;
use kernels_hip::launch;

use crate::error::Result;
use crate::hip::HipStorage;
use crate::hip::device::{config, wrap};
use crate::hip::kernels::Kernel;
use crate::hip::maps::parts;
use crate::layout::Layout;

/// Writes the products of `a` `[batch…, m, k]` and `b` `[batch…, k, n]` to `out` `[batch…, m, n]`, which is not empty.
pub(super) fn matmul(
    (a, lhs): (&HipStorage, &Layout),
    (b, rhs): (&HipStorage, &Layout),
    (out, product): (&mut HipStorage, &Layout),
) -> Result<()> {
    let (device, dtype, rank) = (a.device(), a.dtype(), lhs.rank());
    let (m, k, n) = (lhs.dims()[rank - 2], lhs.dims()[rank - 1], rhs.dims()[rank - 1]);
    let matrices: Vec<usize> = vec![rank - 2, rank - 1];
    let batch = [lhs, rhs, product].map(|layout| layout.split(&matrices).0);
    for part in parts(&[&batch[0], &batch[1], &batch[2]]) {
        let kernel = Kernel { family: "matmul", op: "", dtype, to: None };
        let function = device.kernels().get(device, kernel)?;
        let (x, y) = (a.tail(part.starts[0], "matmul")?, b.tail(part.starts[1], "matmul")?);
        let mut target = out.tail_mut(part.starts[2], "matmul")?;
        let [row, column] =
            [rank - 2, rank - 1].map(|axis| move |layout: &Layout| layout.strides()[axis] as u64);
        let arguments = MatmulArgs {
            a_row: row(lhs),
            a_col: column(lhs),
            b_row: row(rhs),
            b_col: column(rhs),
            batch: part.count as u64,
            batch_rank: part.rank(),
            batch_dims: part.dims(),
            a_batch: part.strides(0),
            b_batch: part.strides(1),
            c_batch: part.strides(2),
            ..MatmulArgs::tight(m as u64, n as u64, k as u64)
        };
        let shape = launch::matmul(m as u64, n as u64, part.count as u64, device.multiprocessors());
        let mut launch = device.stream().launch(function, config(shape));
        launch.arg(&x).arg(&y).arg_mut(&mut target).value(&arguments);
        // SAFETY: S9: the kernel reads the layouts' elements, which lie inside their storages, and writes the part's
        // products.
        unsafe { launch.submit() }.map_err(wrap("matmul"))?;
    }
    Ok(())
}
