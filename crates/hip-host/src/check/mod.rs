//! The race checker: decides from the order of the calls alone whether operations that use the same memory
//! are ordered. The rest of the crate reports events to this file; `machine.rs` judges them.

#[cfg(test)]
mod brute_force;
mod clock;
mod extension;
#[cfg(test)]
mod histories;
mod machine;
mod report;
mod shadow;
mod uses;

pub(crate) use clock::Clock;
pub(crate) use extension::{announce, release, reserve, touch};
pub use report::{Conflict, Operation, Origin, Report};

use crate::adversary;
use crate::memory;
use crate::stream::{Point, Stream};
use crate::work::Work;
use machine::{Extent, Kind, Machine, StreamName};
use parking_lot::Mutex;
use shadow::Access;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

/// How many reports are kept. Further ones are only counted.
const KEPT: usize = 1024;

/// The settings of `HIPSTACK_HOST_CHECK`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Settings {
    on: bool,
    /// Abort the process at the first report.
    abort: bool,
    /// Treat the program's threads as unordered.
    threads: bool,
}

static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let text = std::env::var("HIPSTACK_HOST_CHECK").ok();
    settings(text.as_deref(), adversary::on())
});

#[derive(Default)]
struct State {
    machine: Machine,
    reports: Vec<Report>,
    /// The pairs of operations already printed, by name and stream: a loop's reports are printed once.
    printed: HashSet<(Conflict, String, String)>,
    found: u64,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
static UNCHECKED: AtomicU64 = AtomicU64::new(0);

/// Parses the setting. The adversary switches the checker on; then only a 0 keeps it off.
fn settings(text: Option<&str>, adversary: bool) -> Settings {
    let words: Vec<&str> = text.unwrap_or_default().split(',').map(str::trim).collect();
    let has = |word| words.contains(&word);
    let on = match text {
        None | Some("") => adversary,
        Some(_) => !has("0"),
    };
    Settings { on, abort: on && has("abort"), threads: on && has("threads") }
}

/// Whether anything is checked.
pub(crate) fn on() -> bool {
    SETTINGS.on
}

/// The reports so far, oldest first: at most 1024.
pub fn reports() -> Vec<Report> {
    STATE.lock().reports.clone()
}

/// As [`reports`], and clears them.
pub fn take_reports() -> Vec<Report> {
    std::mem::take(&mut STATE.lock().reports)
}

/// Number of launches that were not announced; their reads and writes were not checked.
pub fn unchecked() -> u64 {
    UNCHECKED.load(Ordering::Relaxed)
}

/// Notes that an operation was submitted. Returns the operation's vector clock, which covers the operation
/// itself.
pub(crate) fn submitted(stream: &Stream, work: &Work, after: &[Point]) -> Option<Arc<Clock>> {
    if !on() {
        return None;
    }
    let uses = uses::of(work, announced(stream, work).as_ref());
    if uses.unknown {
        note_unchecked(&uses.what);
    }
    let after: Vec<Arc<Clock>> = after.iter().filter_map(|point| point.stamp.clone()).collect();
    let mut clock = Arc::default();
    judge(|machine| {
        let (end, reports) = machine.submit(thread(), name(stream), &after, uses.what, &uses.extents);
        clock = end;
        reports
    });
    Some(clock)
}

/// What the program announced that an operation uses.
pub(crate) struct Announced(Vec<Extent>);

/// Takes what the calling thread announced for the operation that it submits to the stream. An announcement
/// is used once.
pub(crate) fn announced(stream: &Stream, work: &Work) -> Option<Announced> {
    match work {
        Work::Launch(_) | Work::Host(_) if on() => extension::take_announced(stream).map(Announced),
        _ => None,
    }
}

/// Notes that the program has released a stream whose operations have ended.
pub(crate) fn stream_dropped(id: u64) {
    if on() {
        STATE.lock().machine.dropped(id);
    }
}

/// The clock that a thread learns by a wait; `None` if the checker is off.
pub(crate) struct Known(Option<Clock>);

/// The clock of a stream's work. Taken before a wait, and learned after it.
pub(crate) fn of_stream(stream: &Stream) -> Known {
    Known(on().then(|| STATE.lock().machine.of_stream(name(stream))))
}

/// The clock of a device's work.
pub(crate) fn of_device(device: usize) -> Known {
    Known(on().then(|| STATE.lock().machine.of_device(device)))
}

/// Notes that the calling thread has waited.
pub(crate) fn learn(known: Known) {
    if let Known(Some(clock)) = known {
        STATE.lock().machine.learn(thread(), &clock);
    }
}

/// Notes that the calling thread knows that an operation has ended.
pub(crate) fn passed(stamp: Option<&Arc<Clock>>) {
    if let Some(clock) = stamp {
        STATE.lock().machine.learn(thread(), clock);
    }
}

/// Notes an allocation that any stream or thread may use at once.
pub(crate) fn allocated(base: usize, len: usize) {
    if on() && base != 0 {
        STATE.lock().machine.allocated(base..base + len);
    }
}

/// Notes an allocation that is ordered in a stream. Memory that an earlier free in that stream released keeps
/// its history: the uses before the free must happen before the new owner's.
pub(crate) fn allocated_on(stream: &Stream, base: usize, len: usize, reused: bool) {
    if !on() || base == 0 {
        return;
    }
    let range = base..base + len;
    judge(|machine| {
        if reused {
            machine.reserved(range.clone());
        } else {
            machine.allocated(range.clone());
        }
        let extents = [Extent { range, access: Access::Write }];
        machine.submit(thread(), name(stream), &[], "hipMallocAsync".to_owned(), &extents).1
    });
}

/// Notes that the calling thread frees memory, after it has waited for the work that it believes uses it.
pub(crate) fn freed(base: usize, len: usize, what: &str) {
    if on() {
        let extents = [Extent { range: base..base + len, access: Access::Free }];
        judge(|machine| machine.touch(thread(), what.to_owned(), &extents));
    }
}

/// Passes an event to the machine, and prints and stores the reports.
fn judge(ask: impl FnOnce(&mut Machine) -> Vec<Report>) {
    let mut state = STATE.lock();
    for mut report in ask(&mut state.machine) {
        report.allocation = report.extents.first().and_then(allocation);
        state.tell(report);
    }
}

impl State {
    fn tell(&mut self, report: Report) {
        self.found += 1;
        let key = |operation: &Operation| match operation.origin {
            Origin::Stream { stream, device, .. } => format!("{} {stream} {device}", operation.what),
            Origin::Host { thread } => format!("{} host {thread}", operation.what),
        };
        if self.printed.insert((report.conflict, key(&report.first), key(&report.second))) {
            eprintln!("hip-host: {report}");
        }
        if SETTINGS.abort {
            eprintln!("hip-host: HIPSTACK_HOST_CHECK=abort ends the process here");
            std::process::abort();
        }
        if self.reports.len() < KEPT {
            self.reports.push(report);
        }
    }
}

fn allocation(extent: &Range<usize>) -> Option<Range<usize>> {
    let range = memory::find(extent.start)?;
    Some(range.base..range.base + range.len)
}

fn note_unchecked(what: &str) {
    if UNCHECKED.fetch_add(1, Ordering::Relaxed) == 0 {
        eprintln!(
            "hip-host: checker: {what} was launched without saying what it reads and writes: such launches are not \
             checked (hip_host::checker::unchecked() counts them)"
        );
    }
}

fn name(stream: &Stream) -> StreamName {
    let kind = match (stream.is_null, stream.blocking) {
        (true, _) => Kind::Null,
        (false, true) => Kind::Blocking,
        (false, false) => Kind::NonBlocking,
    };
    StreamName { id: stream.id, number: stream.number(), device: stream.device, kind }
}

/// The calling thread. Unless the setting says otherwise all threads count as one, since the checker does not
/// see what orders them.
fn thread() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static NUMBER: u64 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    if SETTINGS.threads { NUMBER.try_with(|number| *number).unwrap_or(0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_a_list_of_words() {
        let with = |on, abort, threads| Settings { on, abort, threads };
        assert_eq!(settings(None, false), with(false, false, false));
        assert_eq!(settings(None, true), with(true, false, false));
        assert_eq!(settings(Some("1"), false), with(true, false, false));
        assert_eq!(settings(Some("0"), true), with(false, false, false));
        assert_eq!(settings(Some("abort"), false), with(true, true, false));
        assert_eq!(settings(Some("threads, abort"), true), with(true, true, true));
    }
}
