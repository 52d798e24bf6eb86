//! Factors, solutions, singular values and eigenvalues of dense matrices.

use super::numbers::{unit, units};
use super::{Call, Outcome, Step, Suite, text};
use hip_safe::{DeviceBuffer, Stream};
use rayon::prelude::*;
use rocblas_safe::Layout::ColMajor;
use rocblas_safe::{Handle, Matrix, MatrixMut, Triangle};
use rocsolver_safe::{Solver, Transpose, Vectors};

/// What the libraries ask for most is below this.
const WORKSPACE: usize = 1 << 30;
/// Right sides of a system.
const SIDES: usize = 256;
/// Matrices of a repeat, which calls replace by their factors.
const SLOTS: u32 = 8;

pub(super) fn run(suite: &mut Suite<'_>) {
    suite.group(&["getrf", "getrs"], lu);
    suite.group(&["potrf"], cholesky);
    suite.group(&["gesvd"], singular);
    suite.group(&["syevd"], eigen);
}

/// Copies of numbers, for calls that replace them.
struct Slots {
    given: DeviceBuffer<f32>,
    copies: Vec<DeviceBuffer<f32>>,
    sizes: [usize; 2],
}

impl Slots {
    fn new(stream: &Stream, numbers: &[f32], sizes: [usize; 2]) -> Outcome<Self> {
        let given = stream.upload(numbers).map_err(text)?;
        let copies = (0..SLOTS).map(|_| stream.clone_of(&given).map_err(text)).collect::<Outcome<_>>()?;
        Ok(Self { given, copies, sizes })
    }

    fn restore(&mut self, stream: &Stream) -> Outcome {
        self.copies.iter_mut().try_for_each(|copy| stream.copy(&self.given, copy).map_err(text))
    }

    fn matrix(&mut self, number: u32) -> Outcome<MatrixMut<'_, f32>> {
        let [rows, cols] = self.sizes;
        MatrixMut::new(self.copies[number as usize].view_mut(), rows, cols, ColMajor).map_err(text)
    }
}

fn handle(stream: &Stream) -> Outcome<Handle> {
    let handle = Handle::new(stream).map_err(text)?;
    handle.set_workspace(WORKSPACE).map_err(text)?;
    Ok(handle)
}

fn square(n: usize) -> String {
    format!("{n} x {n}")
}

/// A symmetric matrix, with something added to its diagonal.
fn symmetric(seed: u64, n: usize, added: f32) -> Vec<f32> {
    let number = |index: usize| {
        let (row, col) = (index % n, index / n);
        let number = unit(seed, (row.min(col) * n + row.max(col)) as u64);
        if row == col { number + added } else { number }
    };
    (0..n * n).into_par_iter().map(number).collect()
}

fn lu(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(4096, 8));
    let handle = handle(stream)?;
    let solver = Solver::new(&handle).map_err(text)?;
    let mut a = Slots::new(stream, &units(3, n * n), [n, n])?;
    let (unit, cube) = ("GFLOP/s", (n as f64).powi(3));
    let mut factored = None;
    let call = Call { name: "getrf", sizes: square(n), work: 2.0 / 3.0 * cube, unit, slots: SLOTS };
    suite.measure(call, |step| match step {
        Step::Restore => a.restore(stream),
        Step::Call(number) => {
            factored = Some(solver.getrf(a.matrix(number)?).map_err(text)?);
            Ok(())
        }
    })?;
    let (pivots, info) = factored.ok_or("no factors were made")?;
    info.check().map_err(text)?;

    let factors = stream.clone_of(&a.copies[0]).map_err(text)?;
    let factors = Matrix::new(factors.view(), n, n, ColMajor).map_err(text)?;
    let sides = SIDES.min(n);
    let mut b = Slots::new(stream, &units(4, n * sides), [n, sides])?;
    let (sizes, work) = (format!("{n} x {n}, {sides}"), 2.0 * (n * n * sides) as f64);
    suite.measure(Call { name: "getrs", sizes, work, unit, slots: SLOTS }, |step| match step {
        Step::Restore => b.restore(stream),
        Step::Call(number) => solver.getrs(Transpose::No, factors, &pivots, b.matrix(number)?).map_err(text),
    })?;
    // By columns: the transposed matrices, in files.
    let (square, sizes) = ([n, n], [sides, n]);
    suite.save("solve", &[("a", &a.given, &square), ("b", &b.given, &sizes), ("x", &b.copies[0], &sizes)])
}

fn cholesky(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(4096, 8));
    let handle = handle(stream)?;
    let solver = Solver::new(&handle).map_err(text)?;
    let mut a = Slots::new(stream, &symmetric(5, n, n as f32), [n, n])?;
    let work = (n as f64).powi(3) / 3.0;
    let call = Call { name: "potrf", sizes: square(n), work, unit: "GFLOP/s", slots: SLOTS };
    let mut info = None;
    suite.measure(call, |step| match step {
        Step::Restore => a.restore(stream),
        Step::Call(number) => {
            info = Some(solver.potrf(Triangle::Lower, a.matrix(number)?).map_err(text)?);
            Ok(())
        }
    })?;
    info.ok_or("no factor was made")?.check().map_err(text)?;
    suite.save("potrf", &[("a", &a.given, &[n, n]), ("l", &a.copies[0], &[n, n])])
}

fn singular(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(512, 8));
    let handle = handle(stream)?;
    let solver = Solver::new(&handle).map_err(text)?;
    let mut a = Slots::new(stream, &units(6, n * n), [n, n])?;
    let zeros = |count| stream.alloc_zeros::<f32>(count).map_err(text);
    let (mut s, mut u, mut vh) = (zeros(n)?, zeros(n * n)?, zeros(n * n)?);
    // The usual count for singular values with both kinds of vectors.
    let work = 22.0 * (n as f64).powi(3);
    let call = Call { name: "gesvd", sizes: square(n), work, unit: "GFLOP/s", slots: SLOTS };
    let mut info = None;
    suite.measure(call, |step| match step {
        Step::Restore => a.restore(stream),
        Step::Call(number) => {
            let left = MatrixMut::new(u.view_mut(), n, n, ColMajor).map_err(text)?;
            let right = MatrixMut::new(vh.view_mut(), n, n, ColMajor).map_err(text)?;
            let (left, right) = (Some(left.into()), Some(right.into()));
            info = Some(solver.gesvd(a.matrix(number)?, &mut s, left, right).map_err(text)?);
            Ok(())
        }
    })?;
    info.ok_or("no singular values were made")?.check().map_err(text)?;
    let square: &[usize] = &[n, n];
    suite.save("gesvd", &[("a", &a.given, square), ("s", &s, &[n]), ("u", &u, square), ("vh", &vh, square)])
}

fn eigen(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(1024, 8));
    let handle = handle(stream)?;
    let solver = Solver::new(&handle).map_err(text)?;
    let mut a = Slots::new(stream, &symmetric(7, n, 0.0), [n, n])?;
    let mut values = stream.alloc_zeros::<f32>(n).map_err(text)?;
    // The usual count for eigenvalues with vectors.
    let work = 9.0 * (n as f64).powi(3);
    let call = Call { name: "syevd", sizes: square(n), work, unit: "GFLOP/s", slots: SLOTS };
    let mut info = None;
    suite.measure(call, |step| match step {
        Step::Restore => a.restore(stream),
        Step::Call(number) => {
            let matrix = a.matrix(number)?;
            let found = solver.syevd(Vectors::InPlace, Triangle::Lower, matrix, &mut values);
            info = Some(found.map_err(text)?);
            Ok(())
        }
    })?;
    info.ok_or("no eigenvalues were made")?.check().map_err(text)?;
    suite.save("syevd", &[("a", &a.given, &[n, n]), ("w", &values, &[n]), ("v", &a.copies[0], &[n, n])])
}
