//! Fourier transforms.

use super::numbers::unit;
use super::{Call, Outcome, Step, Suite, text};
use num_complex::Complex;
use rayon::prelude::*;
use rocfft_safe::{Direction, Plan, Spec};

const BATCH: usize = 16;
const IMAGES: usize = 8;

pub(super) fn run(suite: &mut Suite<'_>) {
    suite.group(&["fft_c2c"], complex);
    suite.group(&["fft_r2c_2d"], real);
}

fn complex(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(1 << 20, 16));
    let spec = Spec::complex(Direction::Forward, &[n]).batch(BATCH);
    let plan = Plan::<f32>::new(stream.device(), &spec).map_err(text)?;
    let number = |index: u64| Complex::new(unit(1, 2 * index), unit(1, 2 * index + 1));
    let given: Vec<_> = (0..(n * BATCH) as u64).into_par_iter().map(number).collect();
    let x = stream.upload(&given).map_err(text)?;
    let mut y = stream.alloc_zeros::<Complex<f32>>(n * BATCH).map_err(text)?;
    let operations = 5.0 * (n * BATCH) as f64 * (n as f64).log2();
    let (sizes, unit) = (format!("{n} x {BATCH}"), "GFLOP/s");
    suite.measure(Call { name: "fft_c2c", sizes, work: operations, unit, slots: 0 }, |step| match step {
        Step::Restore => Ok(()),
        Step::Call(_) => plan.complex(stream, &x, &mut y).map_err(text),
    })?;
    suite.save("fft_c2c", &[("x", &x, &[BATCH, n]), ("y", &y, &[BATCH, n])])
}

fn real(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(2048, 8));
    let plan = Plan::<f32>::new(stream.device(), &Spec::real_forward(&[n, n]).batch(IMAGES)).map_err(text)?;
    let given = stream.upload(&super::numbers::units(2, n * n * IMAGES)).map_err(text)?;
    let mut x = stream.clone_of(&given).map_err(text)?;
    let half = n / 2 + 1;
    let mut y = stream.alloc_zeros::<Complex<f32>>(n * half * IMAGES).map_err(text)?;
    let operations = 2.5 * (n * n * IMAGES) as f64 * ((n * n) as f64).log2();
    let (sizes, unit) = (format!("{n} x {n} x {IMAGES}"), "GFLOP/s");
    // A call may overwrite the input, and takes as long with any numbers: it is put back before the first call alone.
    suite.measure(
        Call { name: "fft_r2c_2d", sizes, work: operations, unit, slots: 0 },
        |step| match step {
            Step::Restore => stream.copy(&given, &mut x).map_err(text),
            Step::Call(_) => plan.real_forward(stream, &mut x, &mut y).map_err(text),
        },
    )?;
    suite.save("fft_r2c_2d", &[("x", &given, &[IMAGES, n, n]), ("y", &y, &[IMAGES, n, half])])
}
