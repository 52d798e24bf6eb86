//! Launches.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!("launch/arguments": by_parameters);

/// Pointers and a number, by `kernelParams`.
fn by_parameters(b: &Bench) -> Outcome {
    let (x, y, sum) = (b.buffer(&[1, 2, 3, 4])?, b.buffer(&[10, 20, 30, 40])?, b.filled(4, -1)?);
    b.launch(&b.function("basic", "add")?, grid(1, 64), args![&x, &y, &sum, 3_u32])?;
    same_all("the sum", &sum.read()?, &[11, 22, 33, -1])
}
