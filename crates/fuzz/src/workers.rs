//! The threads that make and read inputs, and their counts.

use super::base::Base;
use super::check::{Outcome, check};
use super::guard::{CAPACITY, Guarded};
use super::mutate::{Container, input};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An input that takes longer than this counts as a hang.
const LONGEST: Duration = Duration::from_secs(60);

/// The number of inputs for each container and outcome.
pub(super) type Counts = BTreeMap<(&'static str, Outcome), u64>;

/// The result of a run.
#[derive(Default)]
pub(super) struct Found {
    pub(super) counts: Counts,
    /// The first input that the reader got wrong: its number, and why.
    pub(super) wrong: Option<(u64, String)>,
}

/// The file that holds a worker's current input.
pub(super) fn file(folder: &Path, worker: usize) -> PathBuf {
    folder.join(format!("worker-{worker}.input"))
}

/// Reads inputs `0..inputs`. Ends the process if one of them hangs.
pub(super) fn run(
    bases: &[Base],
    folder: &Path,
    inputs: u64,
    seed: u64,
    workers: usize,
) -> Result<Found, String> {
    let (next, stop, done) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
    let found = Mutex::new(Found::default());
    let started: Vec<AtomicU64> = (0..workers).map(|_| AtomicU64::new(0)).collect();
    let memory: Vec<Guarded> =
        (0..workers).map(|worker| Guarded::new(&file(folder, worker), CAPACITY)).collect::<Result<_, _>>()?;
    let bar = indicatif::ProgressBar::new(inputs).with_style(style());
    std::thread::scope(|scope| {
        for (mut guarded, started) in memory.into_iter().zip(&started) {
            let (next, stop, done, found) = (&next, &stop, &done, &found);
            scope.spawn(move || {
                let mut counts = Counts::new();
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= inputs {
                        break;
                    }
                    let input = input(bases, seed, index);
                    let container = input.container.name();
                    started.store(index + 1, Ordering::Relaxed);
                    let outcome = check(guarded.put(index, &input.bytes), input.arch, input.kernels);
                    guarded.done();
                    if let Outcome::Wrong(why) = &outcome {
                        lock(found).wrong.get_or_insert((index, why.clone()));
                        stop.store(true, Ordering::Relaxed);
                    }
                    *counts.entry((container, outcome)).or_default() += 1;
                    done.fetch_add(1, Ordering::Relaxed);
                }
                started.store(0, Ordering::Relaxed);
                let mut found = lock(found);
                for (key, count) in counts {
                    *found.counts.entry(key).or_default() += count;
                }
            });
        }
        watch(&started, &done, &bar);
    });
    bar.finish_and_clear();
    Ok(found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
}

/// Moves the bar until all workers are done.
fn watch(started: &[AtomicU64], done: &AtomicU64, bar: &indicatif::ProgressBar) {
    let mut since = vec![(0, Instant::now()); started.len()];
    loop {
        std::thread::sleep(Duration::from_millis(100));
        bar.set_position(done.load(Ordering::Relaxed));
        for (now, since) in started.iter().zip(&mut since) {
            let now = now.load(Ordering::Relaxed);
            if now != since.0 {
                *since = (now, Instant::now());
            } else if now != 0 && since.1.elapsed() > LONGEST {
                bar.suspend(|| eprintln!("fuzz: input {} takes more than {LONGEST:?}", now - 1));
                // The input is in the worker's file, so the parent process can save it.
                std::process::abort();
            }
        }
        let all = done.load(Ordering::Relaxed) > 0 || bar.length() == Some(0);
        if all && started.iter().all(|now| now.load(Ordering::Relaxed) == 0) {
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn style() -> indicatif::ProgressStyle {
    indicatif::ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {per_sec} {eta}")
        .expect("the template is a constant")
        .progress_chars("=> ")
}

/// The inputs by outcome, with a column for each container.
pub(super) fn table(counts: &Counts) -> String {
    let total: u64 = counts.values().sum();
    let mut endings: Vec<&Outcome> = counts.keys().map(|(_, outcome)| outcome).collect();
    endings.sort();
    endings.dedup();
    let mut table = row(["ended", "code objects", "bundles", "compressed", "all", "share"]);
    for ending in endings {
        let of = |container: Container| counts.get(&(container.name(), ending.clone())).copied().unwrap_or(0);
        let columns = Container::ALL.map(of);
        let all: u64 = columns.iter().sum();
        let name = match ending {
            Outcome::Read => "read to the end".into(),
            Outcome::WithoutKernels => "read, no metadata".into(),
            Outcome::Refused(stage) => format!("refused: {stage}"),
            Outcome::Wrong(_) => "WRONG".into(),
        };
        let [plain, bundles, compressed] = columns.map(|n| n.to_string());
        let share = format!("{:.1} %", 100.0 * all as f64 / total.max(1) as f64);
        table += &row([&name, &plain, &bundles, &compressed, &all.to_string(), &share]);
    }
    table
}

fn row([ended, numbers @ ..]: [&str; 6]) -> String {
    let numbers: String = numbers.iter().map(|number| format!("{number:>14}")).collect();
    format!("{ended:24}{numbers}\n")
}
