//! Times of calls: by the host's clock, and by events of the device.

use super::replay::Replay;
use hip_safe::Event;
use std::time::Instant;
use tensor_core::HipDevice;

/// How often a thing is done for one figure. The figure is the median of the repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Calls before any is timed.
    pub warm_ups: u32,
    /// Timed repeats.
    pub repeats: u32,
    /// Calls in a repeat; fewer if a repeat would take longer than [`LONGEST`].
    pub calls: u32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { warm_ups: 5, repeats: 7, calls: 20 }
    }
}

/// What a repeat may take, in seconds, before it makes fewer calls.
pub const LONGEST: f64 = 1.0;

/// Seconds for one call by the host's clock, from the first call of a repeat until `wait` returns. Both may fail.
///
/// # Errors
/// The first error of `call` or `wait`.
pub fn wall<E>(
    effort: Effort,
    mut call: impl FnMut() -> Result<(), E>,
    wait: impl Fn() -> Result<(), E>,
) -> Result<f64, E> {
    let mut timed = |calls: u32| -> Result<f64, E> {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        wait()?;
        Ok(start.elapsed().as_secs_f64() / f64::from(calls))
    };
    let calls = affordable(effort, || timed(1))?;
    median(effort, || timed(calls))
}

/// Seconds for one replay by the device's clock, between events before and after the replays of a repeat.
///
/// # Errors
/// What failed, in words.
pub fn kernel(effort: Effort, device: &HipDevice, replay: &Replay<'_>) -> Result<f64, String> {
    let text = |error: hip_safe::Error| error.to_string();
    let (start, end) =
        (Event::new(device.device()).map_err(text)?, Event::new(device.device()).map_err(text)?);
    let stream = device.stream();
    let timed = |calls: u32| -> Result<f64, String> {
        stream.record_event(&start).map_err(text)?;
        for _ in 0..calls {
            replay.launch()?;
        }
        stream.record_event(&end).map_err(text)?;
        end.synchronize().map_err(text)?;
        Ok(end.elapsed_since(&start).map_err(text)?.as_secs_f64() / f64::from(calls))
    };
    let _current = device.device().make_current().map_err(text)?;
    let calls = affordable(effort, || timed(1))?;
    median(effort, || timed(calls))
}

/// Warms up, and says how many calls a repeat can make in [`LONGEST`], judging by the quickest warm-up.
fn affordable<E>(effort: Effort, mut once: impl FnMut() -> Result<f64, E>) -> Result<u32, E> {
    let (mut quickest, mut spent, mut turn) = (f64::INFINITY, 0.0, 0);
    while turn < effort.warm_ups.max(1) && spent < 2.0 * LONGEST {
        let seconds = once()?;
        (quickest, spent, turn) = (quickest.min(seconds), spent + seconds, turn + 1);
    }
    Ok(((LONGEST / quickest.max(1e-9)) as u32).clamp(1, effort.calls.max(1)))
}

fn median<E>(effort: Effort, mut timed: impl FnMut() -> Result<f64, E>) -> Result<f64, E> {
    let mut all = (0..effort.repeats.max(1)).map(|_| timed()).collect::<Result<Vec<_>, E>>()?;
    all.sort_by(f64::total_cmp);
    Ok(all[all.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

    #[test]
    fn every_call_is_made_and_each_repeat_waits() {
        let (calls, waits) = (Cell::new(0), Cell::new(0));
        let count = |cell: &Cell<u32>| {
            cell.set(cell.get() + 1);
            Ok::<(), ()>(())
        };
        wall(Effort::default(), || count(&calls), || count(&waits)).unwrap();
        assert_eq!((calls.get(), waits.get()), (5 + 7 * 20, 5 + 7));
        assert_eq!(wall(Effort::default(), || Err("stop"), || Ok(())), Err("stop"));
    }

    #[test]
    fn slow_calls_are_made_less_often() {
        let once = |seconds: f64| affordable(Effort::default(), || Ok::<f64, ()>(seconds)).unwrap();
        assert_eq!([once(0.001), once(0.05), once(0.1), once(0.3), once(5.0)], [20, 20, 10, 3, 1]);
    }

    #[test]
    fn the_figure_is_the_median() {
        let mut times = [3.0, 1.0, 9.0, 2.0, 4.0].into_iter();
        let effort = Effort { warm_ups: 0, repeats: 5, calls: 1 };
        assert_eq!(median(effort, || times.next().ok_or(())), Ok(3.0));
        let seconds = wall(
            Effort { warm_ups: 1, repeats: 3, calls: 2 },
            || {
                std::thread::sleep(Duration::from_millis(2));
                Ok::<(), ()>(())
            },
            || Ok(()),
        );
        assert!(seconds.unwrap() >= 0.002);
    }
}
