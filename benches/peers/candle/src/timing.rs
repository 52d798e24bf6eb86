//! Two functions timed in turns.

use std::time::{Duration, Instant};

const SAMPLES: usize = 15;
/// Seconds that one sample takes at least.
const SAMPLE: f64 = 2e-3;
/// Before each sample.
const PAUSE: Duration = Duration::from_millis(2);

/// Median seconds of a call of each, measured in turns so that both meet the same machine.
pub fn in_turns(ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> (f64, f64) {
    let (our_calls, their_calls) = (calls(ours), calls(theirs));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        a.push(after_a_pause(ours, our_calls));
        b.push(after_a_pause(theirs, their_calls));
    }
    (median(a), median(b))
}

/// How many calls take as long as a sample.
fn calls(work: &mut dyn FnMut()) -> usize {
    time(work, 1);
    let once = time(work, 1);
    (SAMPLE / once.max(1e-9)).ceil() as usize
}

/// Candle's threads wait busily for about half a millisecond after a call, each on a core of its own: a pause sends them to sleep, so that
/// neither library is timed on cores that the other one keeps.
fn after_a_pause(work: &mut dyn FnMut(), calls: usize) -> f64 {
    std::thread::sleep(PAUSE);
    time(work, calls)
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
