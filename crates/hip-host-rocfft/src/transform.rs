//! The transforms.

use crate::geometry::{Geometry, Kind, Side};
use num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::sync::Arc;

/// A transform of numbers of a type.
pub(crate) struct Transform<T> {
    geometry: Geometry,
    scale: T,
    rows: Rows<T>,
    /// Along the second and the third direction.
    columns: Vec<Arc<dyn Fft<T>>>,
}

/// Along the fastest direction.
enum Rows<T> {
    Complex(Arc<dyn Fft<T>>),
    Forward(Arc<dyn RealToComplex<T>>),
    Inverse(Arc<dyn ComplexToReal<T>>),
}

impl<T: FftNum> Transform<T> {
    pub(crate) fn new(geometry: &Geometry, scale: T) -> Self {
        let direction = match geometry.kind {
            Kind::Forward | Kind::RealForward => FftDirection::Forward,
            Kind::Inverse | Kind::RealInverse => FftDirection::Inverse,
        };
        let (mut complex, mut real) = (FftPlanner::new(), RealFftPlanner::new());
        let length = geometry.lengths[0];
        let rows = match geometry.kind {
            Kind::Forward | Kind::Inverse => Rows::Complex(complex.plan_fft(length, direction)),
            Kind::RealForward => Rows::Forward(real.plan_fft_forward(length)),
            Kind::RealInverse => Rows::Inverse(real.plan_fft_inverse(length)),
        };
        let columns =
            geometry.lengths[1..].iter().map(|&length| complex.plan_fft(length, direction)).collect();
        Self { geometry: geometry.clone(), scale, rows, columns }
    }

    /// Transforms the whole batch.
    ///
    /// # Safety
    /// Both addresses have as many elements of `T`, alone or in pairs, as the geometry says. In place they are the same, and each transform's output
    /// lies where its input is. Nothing else uses the memory.
    pub(crate) unsafe fn run(&self, input: usize, output: usize) {
        let Geometry { input: from, output: to, batch, .. } = &self.geometry;
        for transform in 0..*batch {
            match &self.rows {
                Rows::Complex(rows) => {
                    // SAFETY: S2: as promised.
                    let mut grid = unsafe { read::<Complex<T>>(input, from, transform) };
                    rows.process(&mut grid);
                    self.along_columns(&mut grid, self.geometry.lengths[0]);
                    // SAFETY: S2: as promised.
                    unsafe { write(output, to, transform, grid.into_iter().map(|x| x * self.scale)) };
                }
                Rows::Forward(rows) => {
                    // SAFETY: S2: as promised.
                    let mut real = unsafe { read::<T>(input, from, transform) };
                    let half = to.lengths[0];
                    let mut grid = vec![Complex::new(T::zero(), T::zero()); to.lengths.iter().product()];
                    for (row, results) in real.chunks_mut(rows.len()).zip(grid.chunks_mut(half)) {
                        // It fails for wrong lengths alone.
                        let _ = rows.process(row, results);
                    }
                    self.along_columns(&mut grid, half);
                    // SAFETY: S2: as promised.
                    unsafe { write(output, to, transform, grid.into_iter().map(|x| x * self.scale)) };
                }
                Rows::Inverse(rows) => {
                    // SAFETY: S2: as promised.
                    let mut grid = unsafe { read::<Complex<T>>(input, from, transform) };
                    let half = from.lengths[0];
                    self.along_columns(&mut grid, half);
                    let mut real = vec![T::zero(); to.lengths.iter().product()];
                    for (row, results) in grid.chunks_mut(half).zip(real.chunks_mut(rows.len())) {
                        // The imaginary parts of numbers that are their own conjugates. realfft does not use them, and answers an error where they
                        // are not 0.
                        row[0].im = T::zero();
                        if rows.len().is_multiple_of(2) {
                            row[half - 1].im = T::zero();
                        }
                        let _ = rows.process(row, results);
                    }
                    // SAFETY: S2: as promised.
                    unsafe { write(output, to, transform, real.into_iter().map(|x| x * self.scale)) };
                }
            }
        }
    }

    /// Transforms a contiguous grid with rows of so many numbers along its other directions.
    fn along_columns(&self, grid: &mut [Complex<T>], row: usize) {
        let mut stride = row;
        for columns in &self.columns {
            let length = columns.len();
            let mut line = vec![Complex::new(T::zero(), T::zero()); length];
            for block in grid.chunks_mut(stride * length) {
                for start in 0..stride {
                    let offsets = || (start..).step_by(stride);
                    line.iter_mut().zip(offsets()).for_each(|(number, offset)| *number = block[offset]);
                    columns.process(&mut line);
                    line.iter().zip(offsets()).for_each(|(number, offset)| block[offset] = *number);
                }
            }
            stride *= length;
        }
    }
}

/// The numbers of one transform.
///
/// # Safety
/// The memory contains all elements of the transform.
unsafe fn read<E: Copy>(address: usize, side: &Side, transform: usize) -> Vec<E> {
    let start = address as *const E;
    // SAFETY: S2: as promised.
    side.offsets(transform).map(|offset| unsafe { start.add(offset).read() }).collect()
}

/// Writes the numbers of one transform.
///
/// # Safety
/// The memory has space for all of them.
unsafe fn write<E>(address: usize, side: &Side, transform: usize, numbers: impl Iterator<Item = E>) {
    let start = address as *mut E;
    for (offset, number) in side.offsets(transform).zip(numbers) {
        // SAFETY: S2: as promised.
        unsafe { start.add(offset).write(number) };
    }
}
