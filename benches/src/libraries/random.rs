//! Random numbers.

use super::{Call, Outcome, Step, Suite, text};
use rocrand_safe::{Generator, Kind};

pub(super) fn run(suite: &mut Suite<'_>) {
    suite.group(&["uniform", "normal"], numbers);
}

fn numbers(suite: &mut Suite<'_>) -> Outcome {
    let (stream, n) = (suite.stream, suite.size(1 << 26, 1024));
    let mut y = stream.alloc_zeros::<f32>(n).map_err(text)?;
    for name in ["uniform", "normal"] {
        let mut generator = Generator::new(stream, Kind::Philox4x32x10).map_err(text)?;
        generator.set_seed(42).map_err(text)?;
        let (sizes, work) = (n.to_string(), 4.0 * n as f64);
        suite.measure(Call { name, sizes, work, unit: "GB/s", slots: 0 }, |step| match step {
            Step::Restore => Ok(()),
            Step::Call(_) if name == "uniform" => generator.fill_uniform(&mut y).map_err(text),
            Step::Call(_) => generator.fill_normal(&mut y, 0.0, 1.0).map_err(text),
        })?;
    }
    Ok(())
}
