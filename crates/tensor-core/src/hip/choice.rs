//! Chooses the fastest of several implementations of an operation by measuring them, without waiting for the device.
//!
//! The first calls of a problem run all implementations ("ways") in turn, each several times between two events. Later
//! calls check whether these events have completed. Once all times are known, every call takes the fastest way. For a
//! graph that is the way with the shortest device time; otherwise the longer of device time and host time counts.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use hip_safe::{Event, Stream};
use parking_lot::Mutex;

/// Runs of each way before the choice. The first run is not counted, because it loads and compiles code.
const RUNS: usize = 3;
/// Device work queued before a timed run. It hides the host's submission time, so that the measurement has no gaps.
const FILLING: Duration = Duration::from_micros(200);
/// The maximum number of runs queued for that.
const MOST_FILLING: u32 = 8;

/// The maximum number of problems remembered. When it is exceeded, all are forgotten.
pub(super) const MOST_PROBLEMS: usize = 4096;

/// The outcome of running a way.
pub(super) enum Attempt<R> {
    /// The result.
    Done(R),
    /// It failed, and a later call may succeed: memory was short, for example.
    NotNow,
    /// It cannot compute this problem.
    Impossible,
}

/// The measurements of each problem so far.
pub(super) struct Choices<K> {
    /// The key includes the number of ways, because some ways are not always available.
    trials: Mutex<HashMap<(K, usize), Trial<Pending>>>,
}

/// The events before and after a run.
struct Pending {
    start: Event,
    end: Event,
}

/// The measurements of one problem's ways. `P` is a pending run whose time will be known later.
struct Trial<P> {
    ways: Vec<Way>,
    pending: Vec<(usize, P)>,
    /// Whether the problem was seen before. A problem that occurs once is not worth measuring.
    met: bool,
}

/// The measurements of one way.
#[derive(Default, Clone)]
struct Way {
    started: usize,
    timed: usize,
    best: Option<Duration>,
    /// Host time of the submission.
    host: Option<Duration>,
    impossible: bool,
}

impl<K: Eq + Hash + Clone> Choices<K> {
    pub(super) fn new() -> Self {
        Self { trials: Mutex::new(HashMap::new()) }
    }

    /// Runs the problem one of `ways` ways. The last way must always work, and `run` may be called repeatedly.
    ///
    /// # Errors
    /// The first error of `run`. It ends the call and does not count against the way.
    pub(super) fn run<R, E>(
        &self,
        stream: &Stream,
        problem: &K,
        ways: usize,
        mut run: impl FnMut(usize) -> Result<Attempt<R>, E>,
    ) -> Result<Attempt<R>, E> {
        if ways == 1 {
            return run(0);
        }
        let problem = (problem.clone(), ways);
        for _ in 0..ways {
            // A captured graph is not timed, and timing events do not belong in it.
            let (way, filling) = if stream.is_capturing() {
                (self.trials.lock().get(&problem).map_or(Some(0), |trial| trial.best(true)), None)
            } else {
                self.collect(&problem, ways);
                self.trials.lock().get_mut(&problem).map_or((Some(0), None), Trial::next)
            };
            let Some(way) = way else { break };
            for _ in 0..filling.unwrap_or(0) {
                run(ways - 1)?;
            }
            let start = filling.and_then(|_| recorded(stream));
            let begun = Instant::now();
            let result = run(way)?;
            let host = begun.elapsed();
            let end = start.is_some().then(|| recorded(stream)).flatten();
            let timed = start.zip(end);
            let mut trials = self.trials.lock();
            let trial = trials.entry(problem.clone()).or_insert_with(|| Trial::new(ways));
            let tried = &mut trial.ways[way];
            match result {
                Attempt::Done(_) => {}
                Attempt::NotNow => break,
                Attempt::Impossible => {
                    tried.impossible = true;
                    continue;
                }
            }
            if let Some((start, end)) = timed {
                tried.host = tried.host.into_iter().chain([host]).min();
                trial.pending.push((way, Pending { start, end }));
            }
            return Ok(result);
        }
        run(ways - 1)
    }

    /// Collects the times of a problem's completed runs. Events are queried without holding the lock.
    fn collect(&self, problem: &(K, usize), ways: usize) {
        let mut trials = self.trials.lock();
        let full = trials.len() >= MOST_PROBLEMS && !trials.contains_key(problem);
        let former = if full { std::mem::take(&mut *trials) } else { HashMap::new() };
        let trial = trials.entry(problem.clone()).or_insert_with(|| Trial::new(ways));
        let pending = std::mem::take(&mut trial.pending);
        drop(trials);
        drop(former);
        let mut known = Trial { pending, ..Trial::new(ways) };
        known.collect(Pending::time);
        if let Some(trial) = self.trials.lock().get_mut(problem) {
            trial.add(known);
        }
    }
}

/// Records an event on the stream. On failure nothing is timed, which does not affect results.
fn recorded(stream: &Stream) -> Option<Event> {
    let event = Event::new(stream.device()).ok()?;
    stream.record_event(&event).ok().map(|()| event)
}

impl Pending {
    /// The run's time if it is complete; `Some(None)` if its time is unavailable.
    fn time(&self) -> Option<Option<Duration>> {
        match self.end.is_done() {
            Ok(false) => None,
            Ok(true) => Some(self.end.elapsed_since(&self.start).ok()),
            Err(_) => Some(None),
        }
    }
}

impl<P> Trial<P> {
    fn new(ways: usize) -> Self {
        Self { ways: vec![Way::default(); ways], pending: Vec::new(), met: false }
    }

    /// Collects the times of completed runs.
    fn collect(&mut self, time: impl Fn(&P) -> Option<Option<Duration>>) {
        let ways = &mut self.ways;
        self.pending.retain(|(way, pending)| {
            let Some(answer) = time(pending) else { return true };
            let way = &mut ways[*way];
            way.timed += 1;
            way.best = way.best.into_iter().chain(answer).min();
            false
        });
    }

    /// Merges another trial: its times, and its pending runs.
    fn add(&mut self, other: Self) {
        for (way, known) in self.ways.iter_mut().zip(other.ways) {
            way.timed += known.timed;
            way.best = way.best.into_iter().chain(known.best).min();
        }
        self.pending.extend(other.pending);
    }

    /// The way to run now, `None` if there is none. If it is to be timed, also how often to run the last way before.
    fn next(&mut self) -> (Option<usize>, Option<u32>) {
        if !std::mem::replace(&mut self.met, true) {
            return (self.best(false), None);
        }
        let untried = self.ways.iter().position(|way| !way.impossible && way.started < RUNS);
        let Some(number) = untried else { return (self.best(false), None) };
        let filling = self.filling();
        let way = &mut self.ways[number];
        way.started += 1;
        (Some(number), (way.started > 1).then_some(filling))
    }

    /// How many runs of the last way keep the device busy long enough.
    fn filling(&self) -> u32 {
        let known = self.ways.last().and_then(|way| way.best).filter(|best| !best.is_zero());
        let runs = known.map_or(1.0, |best| FILLING.as_secs_f64() / best.as_secs_f64());
        (runs.ceil() as u32).clamp(1, MOST_FILLING)
    }

    /// The fastest way so far, by device time or including host time. The first possible one if nothing is known.
    fn best(&self, on_device: bool) -> Option<usize> {
        let possible = || (0..self.ways.len()).filter(|&way| !self.ways[way].impossible);
        let time =
            |way: &Way| Some(if on_device { way.best? } else { way.best?.max(way.host.unwrap_or_default()) });
        let timed = possible().filter_map(|way| Some((time(&self.ways[way])?, way)));
        timed.min().map(|(_, way)| way).or_else(|| possible().next())
    }

    #[cfg(test)]
    fn is_over(&self) -> bool {
        self.pending.is_empty() && self.ways.iter().all(|way| way.impossible || way.started == RUNS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(time: u64) -> Duration {
        Duration::from_micros(time)
    }

    #[test]
    fn each_way_is_warmed_up_and_timed_and_the_fastest_is_chosen() {
        let mut trial = Trial::<Duration>::new(3);
        // The first call measures nothing.
        assert_eq!(trial.next(), (Some(0), None));
        let times = [30, 10, 20];
        let mut order = Vec::new();
        for _ in 0..3 * RUNS {
            let (way, filling) = trial.next();
            let way = way.unwrap();
            order.push((way, filling));
            if filling.is_some() {
                trial.pending.push((way, us(times[way])));
            }
        }
        let expected = |way| [(way, None), (way, Some(1)), (way, Some(1))];
        assert_eq!(order, [expected(0), expected(1), expected(2)].concat());
        // Nothing is known yet, and nobody waits.
        trial.collect(|_| None);
        assert_eq!((trial.next(), trial.is_over()), ((Some(0), None), false));
        trial.collect(|time| Some(Some(*time)));
        assert_eq!((trial.next(), trial.is_over()), ((Some(1), None), true));
        assert_eq!(trial.ways[1].timed, RUNS - 1);
    }

    #[test]
    fn a_way_that_cannot_compute_the_problem_is_skipped() {
        let mut trial = Trial::<Duration> { met: true, ..Trial::new(2) };
        assert_eq!(trial.next(), (Some(0), None));
        trial.ways[0].impossible = true;
        assert_eq!(trial.next(), (Some(1), None));
        assert_eq!(trial.best(false), Some(1));
        trial.ways[1].impossible = true;
        assert_eq!((trial.next(), trial.best(true)), ((None, None), None));
    }

    #[test]
    fn a_run_without_a_time_does_not_affect_the_choice() {
        let mut trial = Trial::<Option<Duration>>::new(2);
        trial.pending = vec![(0, None), (0, Some(us(5))), (1, Some(us(4))), (1, None)];
        trial.collect(|time| Some(*time));
        let mut whole = Trial::new(2);
        whole.add(trial);
        let trial = whole;
        assert_eq!(trial.best(true), Some(1));
        assert_eq!((trial.ways[0].timed, trial.ways[0].best), (2, Some(us(5))));
    }

    #[test]
    fn the_hosts_time_counts_where_no_graph_is_made() {
        let mut trial = Trial::<Duration>::new(2);
        (trial.ways[0].best, trial.ways[0].host) = (Some(us(20)), Some(us(75)));
        (trial.ways[1].best, trial.ways[1].host) = (Some(us(60)), Some(us(5)));
        assert_eq!((trial.best(true), trial.best(false)), (Some(0), Some(1)));
    }

    #[test]
    fn the_device_is_kept_busy_for_long_enough() {
        let mut trial = Trial::<Duration>::new(2);
        let mut filling = |best: Option<u64>| {
            trial.ways[1].best = best.map(us);
            trial.filling()
        };
        assert_eq!(
            [None, Some(0), Some(1), Some(90), Some(200), Some(5000)].map(&mut filling),
            [1, 1, 8, 3, 1, 1]
        );
    }
}
