//! Times of our calls and the peer's, measured alternately: with the host's clock, and with events of the
//! device.

use super::replay::Replay;
use hip_safe::{Event, Stream};
use std::time::{Duration, Instant};
use tensor_core::HipDevice;

/// How often something is repeated for one result, which is the median of the repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Calls before timing begins.
    pub warm_ups: u32,
    /// Timed repeats.
    pub repeats: u32,
    /// The maximum number of calls in a repeat.
    pub calls: u32,
    /// The duration of a repeat, unless `calls` limits it: long enough that the wait at its end is a small
    /// part.
    pub repeat: Duration,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { warm_ups: 5, repeats: 9, calls: 400, repeat: Duration::from_millis(5) }
    }
}

/// The time limit for all repeats of a row, in seconds; if it is exceeded there are fewer repeats.
pub const LONGEST: f64 = 3.0;

/// Makes a number of calls and waits for the device; returns the seconds per call.
pub type Side<'a> = dyn FnMut(u32) -> Result<f64, String> + 'a;

/// Seconds per call for each side. The sides alternate, so that changes on the machine affect all of them.
///
/// A call that is not timed precedes each repeat, because the device has to switch back from the other side's
/// process.
///
/// # Errors
/// The first error of a side.
pub fn interleaved(effort: Effort, sides: &mut [&mut Side<'_>]) -> Result<Vec<f64>, String> {
    let mut plans = Vec::new();
    for side in sides.iter_mut() {
        plans.push(Plan::new(effort, *side)?);
    }
    let mut times = vec![Vec::new(); sides.len()];
    for turn in 0..effort.repeats.max(1) {
        for ((side, plan), times) in sides.iter_mut().zip(&plans).zip(&mut times) {
            if turn < plan.repeats {
                if plan.wakes {
                    side(1)?;
                }
                times.push(side(plan.calls)?);
            }
        }
    }
    Ok(times.into_iter().map(median).collect())
}

/// How many calls a side makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    calls: u32,
    repeats: u32,
    wakes: bool,
}

impl Plan {
    /// Warms up, and plans from the fastest call.
    fn new(effort: Effort, side: &mut Side<'_>) -> Result<Plan, String> {
        let (mut quickest, mut spent, mut turn) = (f64::INFINITY, 0.0, 0);
        while turn < effort.warm_ups.max(1) && spent < LONGEST / 4.0 {
            let seconds = side(1)?;
            (quickest, spent, turn) = (quickest.min(seconds), spent + seconds, turn + 1);
        }
        let quickest = quickest.max(1e-9);
        let calls = ((effort.repeat.as_secs_f64() / quickest) as u32).clamp(1, effort.calls.max(1));
        let repeats = ((LONGEST / (quickest * f64::from(calls))) as u32).clamp(1, effort.repeats.max(1));
        Ok(Plan { calls, repeats, wakes: quickest < LONGEST / 100.0 })
    }
}

/// The median, the upper one of an even number. Panics without values, and with NaN.
pub fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_by(|a, b| a.partial_cmp(b).expect("times are numbers"));
    values[values.len() / 2]
}

/// The time on the host's clock, from the first call until `wait` returns.
///
/// # Errors
/// The first error of `call` or `wait`, as text.
pub fn wall<E: std::fmt::Display>(
    calls: u32,
    mut call: impl FnMut() -> Result<(), E>,
    wait: impl FnOnce() -> Result<(), E>,
) -> Result<f64, String> {
    let start = Instant::now();
    for _ in 0..calls {
        call().map_err(|error| error.to_string())?;
    }
    wait().map_err(|error| error.to_string())?;
    Ok(start.elapsed().as_secs_f64() / f64::from(calls))
}

/// The device's clock: events before and after what a stream is given.
pub struct DeviceClock<'a> {
    stream: &'a Stream,
    events: [Event; 2],
}

impl<'a> DeviceClock<'a> {
    /// Creates the events.
    ///
    /// # Errors
    /// The driver's error as text.
    pub fn new(stream: &'a Stream) -> Result<Self, String> {
        let event = || Event::new(stream.device()).map_err(|error| error.to_string());
        Ok(Self { stream, events: [event()?, event()?] })
    }

    /// Seconds per call, for a number of calls, each of which gets its number.
    ///
    /// # Errors
    /// The first error of `call`, or the driver's as text.
    pub fn time(&self, calls: u32, mut call: impl FnMut(u32) -> Result<(), String>) -> Result<f64, String> {
        let text = |error: hip_safe::Error| error.to_string();
        let ([start, end], stream) = (&self.events, self.stream);
        let _current = stream.device().make_current().map_err(text)?;
        stream.record_event(start).map_err(text)?;
        (0..calls).try_for_each(&mut call)?;
        stream.record_event(end).map_err(text)?;
        end.synchronize().map_err(text)?;
        Ok(end.elapsed_since(start).map_err(text)?.as_secs_f64() / f64::from(calls))
    }
}

/// Times replays on the device's clock.
pub struct Kernels<'a> {
    replay: &'a Replay<'a>,
    clock: DeviceClock<'a>,
}

impl<'a> Kernels<'a> {
    /// Creates the events.
    ///
    /// # Errors
    /// The driver's error as text.
    pub fn new(device: &'a HipDevice, replay: &'a Replay<'a>) -> Result<Self, String> {
        Ok(Self { replay, clock: DeviceClock::new(device.stream())? })
    }

    /// Seconds per replay, for a number of replays.
    ///
    /// # Errors
    /// The driver's error as text.
    pub fn time(&self, calls: u32) -> Result<f64, String> {
        self.clock.time(calls, |_| self.replay.launch())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    const EFFORT: Effort = Effort { warm_ups: 2, repeats: 3, calls: 20, repeat: Duration::from_millis(4) };

    #[test]
    fn both_sides_alternate_and_the_figure_is_the_median() {
        let log = RefCell::new(String::new());
        let mut times = [0.001, 0.001, 0.0, 3.0, 0.0, 1.0, 0.0, 2.0].into_iter();
        let mut ours = |calls: u32| {
            log.borrow_mut().push_str(&format!("a{calls} "));
            times.next().ok_or_else(|| "called too often".to_owned())
        };
        let mut theirs = |calls: u32| {
            log.borrow_mut().push_str(&format!("b{calls} "));
            Ok(0.002)
        };
        assert_eq!(interleaved(EFFORT, &mut [&mut ours, &mut theirs]), Ok(vec![2.0, 0.002]));
        let turn = "a1 a4 b1 b2 ";
        assert_eq!(log.into_inner(), format!("a1 a1 b1 b1 {}", turn.repeat(3)));
    }

    #[test]
    fn slow_calls_are_made_less_often() {
        let plan = |seconds: f64| Plan::new(Effort::default(), &mut |_| Ok(seconds)).unwrap();
        let (calls, repeats) = (|seconds| plan(seconds).calls, |seconds| plan(seconds).repeats);
        assert_eq!([calls(1e-6), calls(0.0005), calls(0.002), calls(0.1)], [400, 10, 2, 1]);
        assert_eq!([repeats(0.0005), repeats(0.5), repeats(2.0), repeats(9.0)], [9, 6, 1, 1]);
        assert_eq!([plan(0.01).wakes, plan(0.5).wakes], [true, false]);
        let failed = interleaved(EFFORT, &mut [&mut |_| Err("stop".to_owned())]);
        assert_eq!(failed, Err("stop".to_owned()));
    }

    #[test]
    fn every_call_is_made_and_waited_for() {
        let (calls, waits) = (Cell::new(0), Cell::new(0));
        let count = |cell: &Cell<u32>| {
            cell.set(cell.get() + 1);
            Ok::<(), String>(())
        };
        assert!(wall(7, || count(&calls), || count(&waits)).unwrap() >= 0.0);
        assert_eq!((calls.get(), waits.get()), (7, 1));
        assert_eq!(wall(1, || Err("stop"), || Ok(())), Err("stop".to_owned()));
    }
}
