//! Tests of the machine: small histories written by hand, each with a variant in which one rule is missing.

use super::clock::Clock;
use super::machine::{Extent, Kind, Machine, StreamName};
use super::report::{Conflict, Origin, Report};
use super::shadow::Access::{self, Free, Read, Write};
use std::ops::Range;
use std::sync::Arc;

const A: StreamName = StreamName { id: 10, number: 1, device: 0, kind: Kind::NonBlocking };
const B: StreamName = StreamName { id: 11, number: 2, device: 0, kind: Kind::NonBlocking };
const BLOCKING: StreamName = StreamName { id: 12, number: 3, device: 0, kind: Kind::Blocking };
const BLOCKING_TOO: StreamName = StreamName { id: 13, number: 4, device: 0, kind: Kind::Blocking };
const NULL: StreamName = StreamName { id: 0, number: 0, device: 0, kind: Kind::Null };
const OTHER_DEVICE: StreamName = StreamName { id: 14, number: 5, device: 1, kind: Kind::Blocking };
const MAIN: u64 = 0;
const X: Range<usize> = 0x1000..0x1010;

#[derive(Default)]
struct History {
    machine: Machine,
    reports: Vec<Report>,
}

impl History {
    fn submit_behind(
        &mut self,
        stream: StreamName,
        after: &[Arc<Clock>],
        access: Access,
        range: Range<usize>,
    ) -> Arc<Clock> {
        let what = format!("{access:?} on {}", stream.number);
        let (clock, reports) = self.machine.submit(MAIN, stream, after, what, &[Extent { range, access }]);
        self.reports.extend(reports);
        clock
    }

    fn submit(&mut self, stream: StreamName, access: Access) -> Arc<Clock> {
        self.submit_behind(stream, &[], access, X)
    }

    fn touch(&mut self, thread: u64, access: Access) {
        let extent = Extent { range: X, access };
        self.reports.extend(self.machine.touch(thread, format!("{access:?}"), &[extent]));
    }

    fn synchronize(&mut self, thread: u64, stream: StreamName) {
        let known = self.machine.of_stream(stream);
        self.machine.learn(thread, &known);
    }

    fn conflicts(&self) -> Vec<Conflict> {
        self.reports.iter().map(|report| report.conflict).collect()
    }
}

#[test]
fn one_stream_is_ordered_and_two_are_not() {
    for (first, second, conflict) in [
        (Write, Write, Some(Conflict::WriteAfterWrite)),
        (Write, Read, Some(Conflict::ReadAfterWrite)),
        (Read, Write, Some(Conflict::WriteAfterRead)),
        (Read, Read, None),
        (Read, Free, Some(Conflict::FreeInUse)),
        (Write, Free, Some(Conflict::FreeInUse)),
    ] {
        let mut history = History::default();
        history.submit(A, first);
        history.submit(A, second);
        assert_eq!(history.conflicts(), []);

        let mut history = History::default();
        history.submit(A, first);
        history.submit(B, second);
        assert_eq!(history.conflicts(), conflict.into_iter().collect::<Vec<_>>(), "{first:?} {second:?}");
    }
}

#[test]
fn an_event_orders_what_is_before_its_record_and_nothing_later() {
    let mut history = History::default();
    let written = history.submit(A, Write);
    history.submit_behind(B, &[Arc::clone(&written)], Read, X);
    assert_eq!(history.conflicts(), []);
    // The second write comes after the record, so the event does not order it, and it is not ordered after
    // the read.
    history.submit(A, Write);
    assert_eq!(history.conflicts(), [Conflict::WriteAfterRead]);
    history.submit_behind(B, &[written], Read, X);
    assert_eq!(history.conflicts(), [Conflict::WriteAfterRead, Conflict::ReadAfterWrite]);
}

#[test]
fn order_goes_on_through_other_streams() {
    let mut history = History::default();
    let written = history.submit(A, Write);
    let between = history.submit_behind(BLOCKING, &[written], Read, 0..0);
    history.submit_behind(B, &[between], Write, X);
    assert_eq!(history.conflicts(), []);
}

#[test]
fn the_null_stream_orders_blocking_streams_of_its_device() {
    let mut history = History::default();
    history.submit(BLOCKING, Write);
    history.submit(NULL, Write);
    history.submit(BLOCKING_TOO, Write);
    assert_eq!(history.conflicts(), []);
    // Without an operation on the null stream between them, two blocking streams are unordered.
    history.submit(BLOCKING, Write);
    assert_eq!(history.conflicts(), [Conflict::WriteAfterWrite]);
}

#[test]
fn the_null_stream_does_not_order_others() {
    for stranger in [A, OTHER_DEVICE] {
        let mut history = History::default();
        history.submit(stranger, Write);
        history.submit(NULL, Read);
        assert_eq!(history.conflicts(), [Conflict::ReadAfterWrite]);
        let mut history = History::default();
        history.submit(NULL, Write);
        history.submit(stranger, Read);
        assert_eq!(history.conflicts(), [Conflict::ReadAfterWrite]);
    }
}

#[test]
fn a_synchronisation_orders_what_comes_later_on_any_stream() {
    let mut history = History::default();
    history.submit(A, Write);
    history.synchronize(MAIN, A);
    history.submit(B, Write);
    assert_eq!(history.conflicts(), []);
    // Waiting for the null stream waits for blocking streams, not for A and B.
    history.synchronize(MAIN, NULL);
    history.submit(A, Write);
    assert_eq!(history.conflicts(), [Conflict::WriteAfterWrite]);
    let known = history.machine.of_device(0);
    history.machine.learn(MAIN, &known);
    history.submit(BLOCKING, Write);
    history.synchronize(MAIN, NULL);
    history.submit(B, Write);
    assert_eq!(history.conflicts().len(), 1);
}

#[test]
fn a_new_stream_continues_as_the_actor_of_a_dropped_one() {
    let mut history = History::default();
    history.submit(A, Write);
    history.synchronize(MAIN, A);
    history.machine.dropped(A.id);
    let actors = history.machine.actors();
    // B comes after A, whose end the host knows.
    history.submit(B, Write);
    assert_eq!((history.machine.actors(), history.conflicts()), (actors, vec![]));
    // BLOCKING is ordered after A, but not after B.
    history.submit(BLOCKING, Read);
    assert_eq!(history.conflicts(), [Conflict::ReadAfterWrite]);
    // Nobody has waited for B, so its actor cannot be reused when it is dropped.
    history.machine.dropped(B.id);
    history.submit(A, Write);
    assert_eq!(history.machine.actors(), actors + 2);
    assert_eq!(history.conflicts()[1..], [Conflict::WriteAfterWrite, Conflict::WriteAfterRead]);
}

#[test]
fn the_hosts_own_uses_count() {
    let mut history = History::default();
    history.touch(MAIN, Write);
    history.submit(A, Read);
    assert_eq!(history.conflicts(), []);
    // The copy may still read.
    history.touch(MAIN, Read);
    assert_eq!(history.conflicts(), []);
    history.touch(MAIN, Write);
    assert_eq!(history.conflicts(), [Conflict::WriteAfterRead]);
    let mut history = History::default();
    history.submit(A, Write);
    history.synchronize(MAIN, A);
    history.touch(MAIN, Write);
    assert_eq!(history.conflicts(), []);
}

#[test]
fn a_new_thread_knows_what_the_program_has_waited_for() {
    let mut history = History::default();
    // Thread 2 exists before thread 1 waits, so it does not learn of the wait. Thread 3 comes later and does.
    history.touch(1, Read);
    history.touch(2, Read);
    history.submit(A, Write);
    history.synchronize(1, A);
    history.reports.clear();
    history.touch(3, Read);
    assert_eq!(history.conflicts(), []);
    history.touch(2, Read);
    assert_eq!(history.conflicts(), [Conflict::ReadAfterWrite]);
}

#[test]
fn memory_is_not_used_after_it_was_freed() {
    let mut history = History::default();
    history.submit(A, Write);
    history.submit(A, Free);
    history.submit(A, Read);
    history.submit(A, Free);
    assert_eq!(history.conflicts(), [Conflict::UseAfterFree, Conflict::DoubleFree]);
    // New memory at the same address has no history.
    history.machine.allocated(X);
    history.submit(B, Write);
    assert_eq!(history.conflicts().len(), 2);
}

#[test]
fn a_suballocation_keeps_its_recorded_uses() {
    for (stream, conflicts) in [(A, vec![]), (B, vec![Conflict::WriteAfterWrite])] {
        let mut history = History::default();
        history.submit(A, Write);
        history.submit(A, Free);
        history.machine.reserved(X);
        history.submit(stream, Write);
        assert_eq!(history.conflicts(), conflicts);
    }
}

#[test]
fn neighbours_are_no_race_and_overlaps_are_named_exactly() {
    let mut history = History::default();
    history.submit_behind(A, &[], Write, 0x1000..0x1010);
    history.submit_behind(B, &[], Write, 0x1010..0x1020);
    assert_eq!(history.conflicts(), []);
    // One byte of each.
    history.submit_behind(BLOCKING, &[], Write, 0x100f..0x1011);
    let found = history.reports.iter().flat_map(|report| report.extents.clone());
    assert_eq!(found.collect::<Vec<_>>(), [0x100f..0x1010, 0x1010..0x1011]);
    assert_eq!(history.reports.len(), 2);
}

#[test]
fn a_pair_of_accesses_is_one_report() {
    let mut history = History::default();
    let rows =
        |access| (0..3).map(|row| Extent { range: row * 16..row * 16 + 4, access }).collect::<Vec<_>>();
    history.machine.submit(MAIN, A, &[], "rows".into(), &rows(Write));
    let (_, reports) =
        history.machine.submit(MAIN, B, &[], "all".into(), &[Extent { range: 0..64, access: Read }]);
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.bytes(), &report.extents[..]), (12, &[0..4, 16..20, 32..36][..]));
    assert_eq!(report.first.origin, Origin::Stream { stream: 1, device: 0, number: 1 });
    assert_eq!(
        report.to_string(),
        "race: a read that is not ordered behind a write\n  first:  rows, operation 1 of stream 1 (device 0)\n  \
         second: all, operation 1 of stream 2 (device 0)\n  both use 12 bytes at 0x0 and 2 more ranges\n  \
         no event or synchronisation orders them: record an event on stream 1 behind the first and let stream 2 \
         wait for it"
    );
}
