//! Two devices timed in turns.

use std::time::Instant;

use candle_core::{Device, Result};

/// A device, and a call on it: the number says which operands.
pub type Side<'a> = (&'a Device, &'a dyn Fn(usize) -> Result<()>);

/// Samples of each side.
const SAMPLES: usize = 15;
/// A sample takes at least so many seconds.
const SAMPLE: f64 = 0.01;

/// The medians of both, in seconds a call. A sample is calls without a wait in between, and a wait at the end.
///
/// # Errors
/// Of the calls.
pub fn in_turns(ours: Side, theirs: Side) -> Result<(f64, f64)> {
    let sides = [ours, theirs];
    let mut calls = [0; 2];
    for (side, calls) in sides.iter().zip(&mut calls) {
        // Kernels are compiled and loaded, pools filled.
        sample(side, 20)?;
        let once = sample(side, 20)?;
        *calls = ((SAMPLE / once) as usize).clamp(20, 20_000);
        sample(side, *calls)?;
    }
    let mut samples = [Vec::new(), Vec::new()];
    for _ in 0..SAMPLES {
        for ((side, calls), samples) in sides.iter().zip(calls).zip(&mut samples) {
            samples.push(sample(side, calls)?);
        }
    }
    let [ours, theirs] = samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[SAMPLES / 2]
    });
    Ok((ours, theirs))
}

fn sample((device, call): &Side, calls: usize) -> Result<f64> {
    device.synchronize()?;
    let start = Instant::now();
    (0..calls).try_for_each(call)?;
    device.synchronize()?;
    Ok(start.elapsed().as_secs_f64() / calls as f64)
}
