//! Two functions timed in turns.

use std::time::Instant;

const SAMPLES: usize = 15;
/// Seconds that one sample takes at least.
const SAMPLE: f64 = 2e-3;

/// Median seconds of a call of each, measured in turns so that both meet the same machine.
pub fn in_turns(ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> (f64, f64) {
    let (our_calls, their_calls) = (calls(ours), calls(theirs));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        a.push(time(ours, our_calls));
        b.push(time(theirs, their_calls));
    }
    (median(a), median(b))
}

/// How many calls take as long as a sample.
fn calls(work: &mut dyn FnMut()) -> usize {
    time(work, 1);
    let once = time(work, 1);
    (SAMPLE / once.max(1e-9)).ceil() as usize
}

fn time(work: &mut dyn FnMut(), calls: usize) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_secs_f64() / calls as f64
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
