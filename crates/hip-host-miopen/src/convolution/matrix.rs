//! Products of matrices of floats.

/// A matrix in a slice: element (i, j) is at `i * rows + j * columns`.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl Factor<'_> {
    fn holds(&self, rows: usize, columns: usize) -> bool {
        rows * columns == 0 || (rows - 1) * self.rows + (columns - 1) * self.columns < self.values.len()
    }
}

/// Writes, or adds, the product of an m-by-k matrix and a k-by-n matrix to `out`, whose rows are `stride` apart.
pub(crate) fn multiply(
    (m, n, k): (usize, usize, usize),
    out: &mut [f32],
    stride: usize,
    left: Factor<'_>,
    right: Factor<'_>,
    add: bool,
    alone: bool,
) {
    if m * n == 0 {
        return;
    }
    assert!((m - 1) * stride + n <= out.len() && n <= stride && left.holds(m, k) && right.holds(k, n));
    let parallelism = if alone { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
    // SAFETY: S12: the assertions show that every element of the three matrices lies inside its slice, out is borrowed
    // mutably and so apart from the others, and strides fit isize because the extents of slices do.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            stride as isize,
            add,
            left.values.as_ptr(),
            left.columns as isize,
            left.rows as isize,
            right.values.as_ptr(),
            right.columns as isize,
            right.rows as isize,
            if add { 1.0 } else { 0.0 },
            1.0,
            false,
            false,
            false,
            parallelism,
        );
    }
}
