//! Level 3 through rocblas-safe on hip-host, alternating with direct calls of the crate `gemm`. Reports the
//! medians for a batch of calls submitted at once, after warm-up turns, and the remaining fraction of the
//! direct call's speed in operations per second. The direct call multiplies whole matrices; operations on a
//! triangle need half of the arithmetic. The last results of both sides are compared; for trsm, its solution
//! is verified.
//!
//! `cargo run --release -p benches --example host_level3 -- 512 1024`: sizes of square matrices.

use benches::throughput::measure::median;
use gemm::Parallelism;
use hip_safe::{Device, DeviceBuffer, Stream};
use num_complex::{Complex32, Complex64};
use rocblas_safe::{Blas, Diagonal, Handle, Layout, Matrix, MatrixMut, Side, Triangle};
use std::error::Error;
use std::time::{Duration, Instant};

/// Minimum number of turns of each side, and minimum time of both together, including the work in between.
const TURNS: usize = 15;
const TIME: Duration = Duration::from_millis(500);
/// Turns that do not count: threads wake up, and memory is touched for the first time.
const WARM_UP: usize = 5;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Gemm,
    Symm,
    Syrk,
    Trmm,
    Trsm,
}

/// The element types.
trait Number: Blas + Copy {
    const NAME: &'static str;
    fn of(value: f64) -> Self;
    fn distance(self, other: Self) -> f64;
}

macro_rules! numbers {
    ($($type:ty, $name:literal, $of:expr, $size:ident;)*) => {$(
        impl Number for $type {
            const NAME: &'static str = $name;
            fn of(value: f64) -> Self {
                $of(value)
            }
            fn distance(self, other: Self) -> f64 {
                f64::from((self - other).$size())
            }
        }
    )*};
}

numbers! {
    f32, "f32", |value: f64| value as f32, abs;
    f64, "f64", |value: f64| value, abs;
    Complex32, "c32", |value: f64| Complex32::new(value as f32, -value as f32), norm;
    Complex64, "c64", |value: f64| Complex64::new(value, -value), norm;
}

fn main() -> Outcome<()> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![256, 512, 1024] } else { sizes };
    let stream = Device::new(&hip_host::platform(), 0)?.new_stream()?;
    let handle = Handle::new(&stream)?;
    println!("operation type  size  at once   rocblas-safe           gemm  of its speed");
    for size in sizes {
        all_of::<f32>(&stream, &handle, size)?;
        all_of::<f64>(&stream, &handle, size)?;
        all_of::<Complex32>(&stream, &handle, size)?;
        all_of::<Complex64>(&stream, &handle, size)?;
    }
    Ok(())
}

fn all_of<T: Number>(stream: &Stream, handle: &Handle, size: usize) -> Outcome<()> {
    use Operation::*;
    for operation in [Gemm, Symm, Syrk, Trmm, Trsm] {
        for calls in [1, 16] {
            let [ours, direct] = Comparison::<T>::new(stream, operation, size)?.run(stream, handle, calls)?;
            let part = match operation {
                Gemm | Symm => 1.0,
                Syrk | Trmm | Trsm => 0.5,
            };
            let ratio = part * direct.as_secs_f64() / ours.as_secs_f64();
            let name = format!("{operation:?}").to_lowercase();
            println!(
                "{name:<9} {:<4} {size:>5} {calls:>8} {ours:>14.2?} {direct:>14.2?} {ratio:>13.2}",
                T::NAME
            );
        }
    }
    Ok(())
}

/// One operation: a variant of `c = a b`, column-major. Triangular and symmetric matrices use their lower
/// half.
struct Comparison<T: Number> {
    operation: Operation,
    size: usize,
    /// The full matrices that the direct call reads.
    whole: [Vec<T>; 2],
    a: DeviceBuffer<T>,
    b: DeviceBuffer<T>,
    c: DeviceBuffer<T>,
}

impl<T: Number> Comparison<T> {
    fn new(stream: &Stream, operation: Operation, size: usize) -> Outcome<Self> {
        use Operation::*;
        // Small integers, whose sums are exact in any order; for trsm, small compared with a diagonal of
        // ones.
        let element = |index: usize| (index % 17) as f64 - 8.0;
        let value = |row: usize, column: usize| match operation {
            Trsm if row == column => 2.0,
            Trsm => element(row * 31 + column) / (16 * size) as f64,
            _ => element(row * 31 + column),
        };
        let of = |value: &dyn Fn(usize, usize) -> f64| -> Vec<T> {
            (0..size * size).map(|index| T::of(value(index % size, index / size))).collect()
        };
        let stored = of(&value);
        let whole = match operation {
            Gemm | Syrk => stored.clone(),
            Symm => of(&|row, column| value(row.max(column), row.min(column))),
            Trmm | Trsm => of(&|row, column| if row < column { 0.0 } else { value(row, column) }),
        };
        let b = match operation {
            Syrk => of(&|row, column| value(column, row)),
            _ => of(&|row, column| element(row + 5 * column)),
        };
        let (on_device_a, on_device_b) = (stream.upload(&stored)?, stream.upload(&b)?);
        let c = stream.upload(&b)?;
        Ok(Self { operation, size, whole: [whole, b], a: on_device_a, b: on_device_b, c })
    }

    /// The median time of `calls` products through the library, submitted in a row, until all have ended, and
    /// that of as many direct products.
    fn run(mut self, stream: &Stream, handle: &Handle, calls: usize) -> Outcome<[Duration; 2]> {
        let mut product = vec![T::of(0.0); self.size * self.size];
        let (mut ours, mut direct) = (Vec::new(), Vec::new());
        let began = Instant::now();
        while ours.len() < WARM_UP + TURNS || began.elapsed() < TIME {
            // trsm continues from its last solution, which gets smaller each time.
            stream.copy_from_host(&self.whole[1], &mut self.c)?;
            stream.synchronize()?;
            let start = Instant::now();
            (0..calls).try_for_each(|_| self.submit(handle))?;
            stream.synchronize()?;
            ours.push(start.elapsed());
            let [a, b] = &self.whole;
            let start = Instant::now();
            (0..calls).for_each(|_| multiply(self.size, a, b, &mut product));
            direct.push(start.elapsed());
        }
        self.check(stream, handle, product)?;
        Ok([ours, direct].map(|mut times| median(times.split_off(WARM_UP))))
    }

    fn submit(&mut self, handle: &Handle) -> rocblas_safe::Result<()> {
        let Self { operation, size, a, b, c, .. } = self;
        let a = Matrix::new(a.view(), *size, *size, Layout::ColMajor)?;
        let b = Matrix::new(b.view(), *size, *size, Layout::ColMajor)?;
        let c = MatrixMut::new(c.view_mut(), *size, *size, Layout::ColMajor)?;
        let (zero, one) = T::ZERO_ONE;
        let (side, lower, diagonal) = (Side::Left, Triangle::Lower, Diagonal::Stored);
        match operation {
            Operation::Gemm => handle.gemm(one, a, b, zero, c),
            Operation::Symm => handle.symm(side, lower, one, a, b, zero, c),
            Operation::Syrk => handle.syrk(lower, one, a, zero, c),
            Operation::Trmm => handle.trmm(side, lower, diagonal, one, a, b, c),
            // In place: the right-hand side is the last solution.
            Operation::Trsm => handle.trsm(side, lower, diagonal, one, a, c),
        }
    }

    /// Compares the results of both sides; for trsm, the product of the triangle and the solution with the
    /// right-hand side.
    fn check(&mut self, stream: &Stream, handle: &Handle, product: Vec<T>) -> Outcome<()> {
        let size = self.size;
        let [a, b] = &self.whole;
        let (found, wanted) = if self.operation == Operation::Trsm {
            stream.copy_from_host(b, &mut self.c)?;
            let (a, wanted) = (a.clone(), b.clone());
            self.submit(handle)?;
            let mut found = vec![T::of(0.0); size * size];
            multiply(size, &a, &stream.download(&self.c)?, &mut found);
            (found, wanted)
        } else {
            (stream.download(&self.c)?, product)
        };
        let counts = |index: &usize| self.operation != Operation::Syrk || index % size >= index / size;
        match (0..size * size).filter(counts).find(|&index| {
            let distance = found[index].distance(wanted[index]);
            distance.is_nan() || distance > 1e-3
        }) {
            Some(index) => {
                Err(format!("{:?} of {size} x {size}: element {index} differs", self.operation).into())
            }
            None => Ok(()),
        }
    }
}

/// `c = a b` of square column-major matrices, on all threads.
fn multiply<T: Number>(size: usize, a: &[T], b: &[T], c: &mut [T]) {
    assert!([a.len(), b.len(), c.len()] == [size * size; 3]);
    let (row, column) = (1, size as isize);
    // SAFETY: S2: the matrices match the strides, the output is borrowed exclusively, and `gemm` supports the
    // type.
    unsafe {
        gemm::gemm(
            size,
            size,
            size,
            c.as_mut_ptr(),
            column,
            row,
            false,
            a.as_ptr(),
            column,
            row,
            b.as_ptr(),
            column,
            row,
            T::ZERO_ONE.0,
            T::ZERO_ONE.1,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}
