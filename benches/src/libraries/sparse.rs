//! Products of sparse matrices.

use super::numbers::{hash, unit, units};
use super::{Call, Outcome, Step, Suite, text};
use hip_safe::Stream;
use rayon::prelude::*;
use rocsparse_safe::{
    DenseMatrix, DenseShape, Handle, Layout::RowMajor, Op, OwnedMatrix, Parts, Spgemm, Spmm, Spmv,
};

/// Entries of a row.
const ENTRIES: usize = 32;
/// Columns of the dense matrices.
const COLUMNS: usize = 64;
/// Entries of a row of the factors of a sparse product.
const FEW: usize = 8;

pub(super) fn run(suite: &mut Suite<'_>) {
    suite.group(&["spmv", "spmm"], dense);
    suite.group(&["spgemm"], sparse);
}

/// A square matrix with as many entries in each row: one at an arbitrary column of each of as many parts of the row.
fn matrix(stream: &Stream, seed: u64, n: usize, entries: usize) -> Outcome<OwnedMatrix<i32, f32>> {
    let part = n / entries;
    let col = |index: usize| (index % entries * part) as u64 + hash(seed, index as u64) % part as u64;
    let stored = n * entries;
    let cols: Vec<i32> = (0..stored).into_par_iter().map(|index| col(index) as i32).collect();
    let values: Vec<f32> = (0..stored).into_par_iter().map(|index| unit(seed + 1, index as u64)).collect();
    let offsets: Vec<i32> = (0..=n).map(|row| (row * entries) as i32).collect();
    Parts::csr(n, n, &offsets[..], &cols[..], &values[..]).upload(stream).map_err(text)
}

fn dense(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(1_000_000, ENTRIES));
    let handle = Handle::new(stream).map_err(text)?;
    let a = matrix(stream, 8, n, ENTRIES)?;
    let stored = n * ENTRIES;
    let x = stream.upload(&units(10, n)).map_err(text)?;
    let mut y = stream.alloc_zeros::<f32>(n).map_err(text)?;
    let product = Spmv::prepare(&handle, Op::None, a.view()).map_err(text)?;
    let (sizes, work) = (format!("{n} rows of {ENTRIES}"), (8 * stored + 4 * (3 * n + 1)) as f64);
    suite.measure(Call { name: "spmv", sizes, work, unit: "GB/s", slots: 0 }, |step| match step {
        Step::Restore => Ok(()),
        Step::Call(_) => product.compute(1.0, &x, 0.0, &mut y).map_err(text),
    })?;
    drop(product);

    let shape = DenseShape::new(n, COLUMNS, RowMajor);
    let b = stream.upload(&units(11, n * COLUMNS)).map_err(text)?;
    let b = DenseMatrix::new(b, shape).map_err(text)?;
    let c = stream.alloc_zeros::<f32>(n * COLUMNS).map_err(text)?;
    let mut c = DenseMatrix::new(c, shape).map_err(text)?;
    let product = Spmm::prepare(&handle, [Op::None; 2], a.view(), shape, shape).map_err(text)?;
    let (sizes, work) = (format!("{n} rows of {ENTRIES}, {COLUMNS}"), 2.0 * (stored * COLUMNS) as f64);
    suite.measure(Call { name: "spmm", sizes, work, unit: "GFLOP/s", slots: 0 }, |step| match step {
        Step::Restore => Ok(()),
        Step::Call(_) => product.compute(1.0, &b, 0.0, &mut c).map_err(text),
    })?;
    drop(product);
    let parts = a.into_parts();
    let offsets = parts.outer.ok_or("a matrix by rows has offsets")?;
    suite.save(
        "sparse",
        &[
            ("offsets", &offsets, &[n + 1]),
            ("cols", &parts.inner, &[stored]),
            ("values", &parts.values, &[stored]),
            ("x", &x, &[n]),
            ("y", &y, &[n]),
            ("b", b.memory(), &[n, COLUMNS]),
            ("c", c.memory(), &[n, COLUMNS]),
        ],
    )
}

fn sparse(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(1 << 17, FEW));
    let handle = Handle::new(stream).map_err(text)?;
    let (a, b) = (matrix(stream, 12, n, FEW)?, matrix(stream, 14, n, FEW)?);
    let product = Spgemm::prepare(&handle, a.view(), b.view()).map_err(text)?;
    let stored = product.stored();
    let (sizes, work) = (format!("{n} rows of {FEW}"), 2.0 * (n * FEW * FEW) as f64);
    let mut result = None;
    suite.measure(Call { name: "spgemm", sizes, work, unit: "GFLOP/s", slots: 0 }, |step| {
        if let Step::Call(_) = step {
            result = Some(product.compute(1.0).map_err(text)?);
        }
        Ok(())
    })?;
    drop(product);
    let c = result.ok_or("no product was made")?.into_parts();
    let [a, b] = [a, b].map(|matrix| matrix.into_parts());
    let offsets = "a matrix by rows has offsets";
    let entries = n * FEW;
    suite.save(
        "spgemm",
        &[
            ("a_offsets", &a.outer.ok_or(offsets)?, &[n + 1]),
            ("a_cols", &a.inner, &[entries]),
            ("a_values", &a.values, &[entries]),
            ("b_offsets", &b.outer.ok_or(offsets)?, &[n + 1]),
            ("b_cols", &b.inner, &[entries]),
            ("b_values", &b.values, &[entries]),
            ("c_offsets", &c.outer.ok_or(offsets)?, &[n + 1]),
            ("c_cols", &c.inner, &[stored]),
            ("c_values", &c.values, &[stored]),
        ],
    )
}
