//! The adversary and the checker. The environment switches both on, so each test runs small programs in
//! processes of their own. It checks their results and the checker's reports.

#[macro_use]
mod common;

use common::apart::{Left, again, role};
use common::gate::{pinned, read_host, soon, write};
use common::{Buffer, Hip, hip, shape};
use hip_host::checker::{self, Conflict};
use hip_sys::hip::*;
use hip_sys::{Access, Extent};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::time::{Duration, Instant};

const SEEDS: std::ops::RangeInclusive<u64> = 1..=20;

/// A small program. Returns its result.
type Scenario = fn(&Hip) -> i32;

const SCENARIOS: &[(&str, Scenario)] = &[
    ("two_streams", |hip| two_streams(hip, false)),
    ("two_streams_with_event", |hip| two_streams(hip, true)),
    ("null_stream", |hip| with_null_stream(hip, hipStreamDefault)),
    ("null_stream_and_free_stream", |hip| with_null_stream(hip, hipStreamNonBlocking)),
    ("free_while_read", |hip| free_while_read(hip, false)),
    ("free_behind_read", |hip| free_while_read(hip, true)),
    ("use_after_free", use_after_free),
    ("neighbours", |hip| pieces(hip, 0)),
    ("overlap", |hip| pieces(hip, 1)),
    ("read_without_wait", |hip| host_reads(hip, false)),
    ("read_after_wait", |hip| host_reads(hip, true)),
    ("pinned_reused", |hip| pinned_reuse(hip, false)),
    ("pinned_reused_after_wait", |hip| pinned_reuse(hip, true)),
    ("many", many),
    ("graph", graph),
    ("uninitialised", uninitialised),
    ("unannounced", unannounced),
];

/// Runs a scenario if this process was started for one.
#[test]
fn child() {
    let Some(name) = role() else { return };
    let hip = hip();
    let (_, scenario) = SCENARIOS.iter().find(|(known, _)| *known == name).expect("a known scenario");
    let result = scenario(&hip);
    println!("\nchild: result {result}");
    for report in checker::reports() {
        println!("child: report {:?}", report.conflict);
    }
    for decision in hip_host::adversary::trace() {
        println!("child: decision {decision}");
    }
    println!("child: unchecked {}", checker::unchecked());
}

/// The output of a scenario's process.
struct Outcome {
    left: Left,
    result: Option<i32>,
    reports: Vec<String>,
    decisions: Vec<String>,
    unchecked: Option<String>,
}

fn run(scenario: &str, settings: &[(&str, &str)]) -> Outcome {
    // Even on a loaded machine, patience must not run out.
    let settings = [&[("HIPSTACK_HOST_ADVERSARY_PATIENCE_MS", "60000")], settings].concat();
    let left = again("child", scenario, &settings);
    let lines = |word: &str| -> Vec<String> {
        let prefix = format!("child: {word} ");
        left.output.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    let result = lines("result").first().and_then(|text| text.parse().ok());
    let unchecked = lines("unchecked").pop();
    Outcome { result, reports: lines("report"), decisions: lines("decision"), unchecked, left }
}

impl Outcome {
    fn stderr(&self) -> &str {
        &self.left.text
    }
}

/// The reports with the checker alone, which do not depend on the timing.
fn checked(scenario: &str) -> Vec<String> {
    let outcome = run(scenario, &[("HIPSTACK_HOST_CHECK", "1")]);
    assert!(outcome.result.is_some(), "{scenario}: {}", outcome.stderr());
    outcome.reports
}

/// The results of a scenario with each seed.
fn results(scenario: &str) -> Vec<i32> {
    let seeded = |seed: u64| run(scenario, &[("HIPSTACK_HOST_ADVERSARY", &seed.to_string())]);
    let result =
        |outcome: Outcome| outcome.result.unwrap_or_else(|| panic!("{scenario}: {}", outcome.stderr()));
    SEEDS.map(|seed| result(seeded(seed))).collect()
}

fn report(conflict: Conflict) -> Vec<String> {
    vec![format!("{conflict:?}")]
}

/// Gives the device time, like a program that is busy with something else: until it is done or, if the
/// adversary holds the device back, for a while.
fn do_something_else(done: impl Fn() -> bool) {
    if hip_host::adversary::seed().is_none() {
        assert!(soon(done));
        return;
    }
    let start = Instant::now();
    while !done() && start.elapsed() < Duration::from_millis(50) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn announce(stream: hipStream_t, extents: &[Extent]) {
    if let Some(announce) = hip_host::platform().ext().announce {
        // SAFETY: S1: a live list.
        assert_eq!(unsafe { announce(stream, extents.as_ptr(), extents.len()) }.0, 0);
    }
}

fn touch(pointer: *mut c_void, bytes: usize, access: Access) {
    if let Some(touch) = hip_host::platform().ext().touch {
        // SAFETY: S1: a live extent.
        assert_eq!(unsafe { touch(&Extent { pointer, bytes, access }, 1) }.0, 0);
    }
}

/// A kernel writes 7 on one stream, and a copy on another stream reads it. The event between them may be
/// missing.
fn two_streams(hip: &Hip, event_between: bool) -> i32 {
    let (a, b) = (hip.stream(hipStreamNonBlocking), hip.stream(hipStreamNonBlocking));
    let (from, to, flag) = (hip.zeros::<i32>(4), hip.zeros::<i32>(4), pinned(hip));
    hip.sync();
    announce(a, &[Extent { pointer: from.pointer, bytes: 4, access: Access::WRITE }]);
    write(hip, a, from.pointer, 7);
    announce(a, &[Extent { pointer: flag, bytes: 4, access: Access::WRITE }]);
    write(hip, a, flag, 1);
    do_something_else(|| read_host(flag) == 1);
    if event_between {
        let event = hip.event();
        ok!(hip, hipEventRecord(event, a));
        ok!(hip, hipStreamWaitEvent(b, event, 0));
    }
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(hip, hipMemcpyAsync(to.pointer, from.pointer, 16, kind, b));
    ok!(hip, hipStreamSynchronize(b));
    ok!(hip, hipStreamSynchronize(a));
    to.read()[0]
}

#[test]
fn a_missing_event_goes_well_without_an_adversary_and_wrong_with_one() {
    assert_eq!(run("two_streams", &[]).result, Some(7));
    let results = results("two_streams");
    assert!(results.contains(&0), "{results:?}");
    assert_eq!(self::results("two_streams_with_event"), [7; 20]);
}

#[test]
fn a_missing_event_is_reported_whether_or_not_it_went_well() {
    for settings in [("HIPSTACK_HOST_CHECK", "1"), ("HIPSTACK_HOST_ADVERSARY", "3")] {
        let outcome = run("two_streams", &[settings]);
        assert_eq!(outcome.reports, ["ReadAfterWrite"]);
        let text = outcome.stderr();
        for part in [
            "hip-host: race: a read that is not ordered behind a write",
            "first:  kernel write_one, operation 1 of stream 1 (device 0)",
            "second: copy of 16 bytes within devices, operation 1 of stream 2 (device 0)",
            "both use 4 bytes at 0x",
            "offset 0 of an allocation of 16 bytes",
            "record an event on stream 1 behind the first and let stream 2 wait for it",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert_eq!(checked("two_streams_with_event"), [""; 0]);
}

#[test]
fn abort_ends_the_process_with_the_report() {
    let outcome = run("two_streams", &[("HIPSTACK_HOST_CHECK", "abort")]);
    assert!(!outcome.left.success && outcome.result.is_none());
    assert!(
        outcome.stderr().contains("race: a read that is not ordered behind a write"),
        "{}",
        outcome.stderr()
    );
    assert!(run("two_streams_with_event", &[("HIPSTACK_HOST_CHECK", "abort")]).left.success);
}

/// A stream fills, and the null stream copies.
fn with_null_stream(hip: &Hip, flags: u32) -> i32 {
    let (stream, from, to) = (hip.stream(flags), hip.zeros::<i32>(4), hip.zeros::<i32>(4));
    hip.sync();
    ok!(hip, hipMemsetD32Async(from.pointer, 5, 4, stream));
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(hip, hipMemcpyAsync(to.pointer, from.pointer, 16, kind, null_mut()));
    hip.sync();
    to.read()[3]
}

#[test]
fn the_null_stream_orders_blocking_streams_only() {
    assert_eq!(checked("null_stream"), [""; 0]);
    assert_eq!(checked("null_stream_and_free_stream"), report(Conflict::ReadAfterWrite));
    assert_eq!(results("null_stream"), [5; 20]);
    let results = results("null_stream_and_free_stream");
    assert!(results.contains(&0), "{results:?}");
}

/// One stream frees memory that another stream copies from. The memory's next owner fills it with 9.
fn free_while_read(hip: &Hip, event_between: bool) -> i32 {
    let (a, b, to) =
        (hip.stream(hipStreamNonBlocking), hip.stream(hipStreamNonBlocking), hip.zeros::<i32>(4));
    let (mut from, mut next) = (null_mut(), null_mut());
    ok!(hip, hipMallocAsync(&mut from, 16, a));
    ok!(hip, hipMemsetD32Async(from, 5, 4, a));
    hip.sync();
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(hip, hipMemcpyAsync(to.pointer, from, 16, kind, b));
    if event_between {
        let event = hip.event();
        ok!(hip, hipEventRecord(event, b));
        ok!(hip, hipStreamWaitEvent(a, event, 0));
    }
    ok!(hip, hipFreeAsync(from, a));
    // A copy whose memory was freed does not run, and the next calls report it.
    let codes = [
        call!(hip, hipMallocAsync(&mut next, 16, a)),
        call!(hip, hipMemsetD32Async(next, 9, 4, a)),
        call!(hip, hipStreamSynchronize(a)),
        call!(hip, hipStreamSynchronize(b)),
    ];
    if codes.contains(&700) {
        return -700;
    }
    assert_eq!(codes, [0; 4]);
    hip.sync();
    ok!(hip, hipFree(next));
    to.read()[0]
}

#[test]
fn memory_freed_while_another_stream_reads_it() {
    let outcome = run("free_while_read", &[("HIPSTACK_HOST_CHECK", "1")]);
    assert_eq!(outcome.reports, report(Conflict::FreeInUse));
    for part in ["first:  copy of 16 bytes within devices, operation ", "second: hipFreeAsync, operation "] {
        assert!(outcome.stderr().contains(part), "{part}: {}", outcome.stderr());
    }
    assert_eq!(checked("free_behind_read"), [""; 0]);
    assert_eq!(results("free_behind_read"), [5; 20]);
    let results = results("free_while_read");
    assert!(results.iter().any(|value| *value != 5), "{results:?}");
}

/// Declares that a kernel, which does nothing, reads memory that was freed before.
fn use_after_free(hip: &Hip) -> i32 {
    let (stream, nothing) = (hip.stream(hipStreamNonBlocking), hip.function("test_plain", "nothing"));
    let (mut freed, mut piece) = (null_mut(), null_mut());
    ok!(hip, hipMalloc(&mut piece, 64));
    ok!(hip, hipMalloc(&mut freed, 64));
    ok!(hip, hipFree(freed));
    announce(stream, &[Extent { pointer: freed.wrapping_byte_add(8), bytes: 8, access: Access::READ }]);
    hip.launch(nothing, shape(1, 1), stream, &mut []);
    // A pool's piece is free until it is reserved again.
    let platform = hip_host::platform();
    let (Some(release), Some(reserve)) = (platform.ext().release, platform.ext().reserve) else { return 0 };
    let used = [Extent { pointer: piece, bytes: 4, access: Access::WRITE }];
    // SAFETY: S1: the pointers are only looked up.
    assert_eq!(unsafe { release(piece, 16, stream) }.0, 0);
    announce(stream, &used);
    hip.launch(nothing, shape(1, 1), stream, &mut []);
    // SAFETY: S1: as above.
    assert_eq!(unsafe { reserve(piece, 16, stream) }.0, 0);
    announce(stream, &used);
    hip.launch(nothing, shape(1, 1), stream, &mut []);
    hip.sync();
    0
}

#[test]
fn freed_memory_and_released_pieces_are_not_used() {
    let outcome = run("use_after_free", &[("HIPSTACK_HOST_CHECK", "1")]);
    assert_eq!(outcome.reports, ["UseAfterFree", "UseAfterFree"]);
    let text = outcome.stderr();
    for parts in [
        ["first:  hipFree, by the host", "second: kernel nothing, operation 1 of stream 1 (device 0)"],
        [
            "first:  release of a piece of a pool, operation 2 of stream 1 (device 0)",
            "second: kernel nothing, operation 3 of stream 1 (device 0)",
        ],
    ] {
        let report = format!("hip-host: use after free\n  {}\n  {}\n", parts[0], parts[1]);
        assert!(text.contains(&report), "{report}: {text}");
    }
}

/// Two streams fill pieces of one allocation.
fn pieces(hip: &Hip, overlap: usize) -> i32 {
    let (a, b) = (hip.stream(hipStreamNonBlocking), hip.stream(hipStreamNonBlocking));
    let memory = hip.zeros::<u8>(128);
    hip.sync();
    ok!(hip, hipMemsetAsync(memory.pointer, 1, 64 + overlap, a));
    ok!(hip, hipMemsetAsync(memory.pointer.wrapping_byte_add(64), 2, 64, b));
    hip.sync();
    let values = memory.read();
    i32::from(values[63]) + i32::from(values[65])
}

#[test]
fn neighbours_are_no_race() {
    assert_eq!(checked("neighbours"), [""; 0]);
    assert_eq!(checked("overlap"), report(Conflict::WriteAfterWrite));
    assert_eq!(results("neighbours"), [3; 20]);
}

/// The host reads the result of a copy to pinned memory.
fn host_reads(hip: &Hip, wait: bool) -> i32 {
    let (stream, word, from) = (hip.stream(hipStreamNonBlocking), pinned(hip), hip.buffer(&[6, 6, 6, 6]));
    hip.sync();
    let kind = hipMemcpyKind::hipMemcpyDeviceToHost;
    ok!(hip, hipMemcpyAsync(word, from.pointer, 16, kind, stream));
    if wait {
        ok!(hip, hipStreamSynchronize(stream));
    } else {
        do_something_else(|| read_host(word) == 6);
    }
    touch(word, 4, Access::READ);
    let value = read_host(word);
    ok!(hip, hipStreamSynchronize(stream));
    value
}

#[test]
fn the_host_waits_before_it_reads() {
    assert_eq!(run("read_without_wait", &[]).result, Some(6));
    assert_eq!(checked("read_without_wait"), report(Conflict::ReadAfterWrite));
    assert_eq!(checked("read_after_wait"), [""; 0]);
    let results = results("read_without_wait");
    assert!(results.iter().any(|value| *value != 6), "{results:?}");
    assert_eq!(self::results("read_after_wait"), [6; 20]);
}

/// The host overwrites pinned memory that a copy reads.
fn pinned_reuse(hip: &Hip, wait: bool) -> i32 {
    let (stream, word, to, flag) =
        (hip.stream(hipStreamNonBlocking), pinned(hip), hip.zeros::<i32>(4), pinned(hip));
    hip.sync();
    // SAFETY: S2: pinned memory that nobody else uses yet.
    unsafe { word.cast::<i32>().write_volatile(4) };
    touch(word, 4, Access::WRITE);
    let kind = hipMemcpyKind::hipMemcpyHostToDevice;
    ok!(hip, hipMemcpyAsync(to.pointer, word, 4, kind, stream));
    write(hip, stream, flag, 1);
    if wait {
        ok!(hip, hipStreamSynchronize(stream));
    } else {
        do_something_else(|| read_host(flag) == 1);
    }
    touch(word, 4, Access::WRITE);
    // SAFETY: S2: as above; without the wait the copy may read at the same time, which is what this tests.
    unsafe { word.cast::<i32>().write_volatile(8) };
    ok!(hip, hipStreamSynchronize(stream));
    to.read()[0]
}

#[test]
fn pinned_memory_is_not_reused_before_the_copy_has_read_it() {
    assert_eq!(run("pinned_reused", &[]).result, Some(4));
    assert_eq!(checked("pinned_reused"), report(Conflict::WriteAfterRead));
    assert_eq!(checked("pinned_reused_after_wait"), [""; 0]);
    let results = results("pinned_reused");
    assert!(results.contains(&8), "{results:?}");
    assert_eq!(self::results("pinned_reused_after_wait"), [4; 20]);
}

/// A value moves from cell to cell over four streams, each step ordered after the previous one, with copies,
/// host functions, events and pool memory between them.
fn many(hip: &Hip) -> i32 {
    unsafe extern "C" fn nothing(_: *mut c_void) {}
    let streams: Vec<hipStream_t> = (0..4).map(|_| hip.stream(hipStreamNonBlocking)).collect();
    let cells = hip.zeros::<i32>(41);
    hip.sync();
    ok!(hip, hipMemsetD32Async(cells.pointer, 13, 1, streams[0]));
    let mut last = streams[0];
    for step in 0..40 {
        let (stream, event, mut spare) = (streams[(step * 3 + 1) % 4], hip.event(), null_mut());
        ok!(hip, hipEventRecord(event, last));
        ok!(hip, hipStreamWaitEvent(stream, event, 0));
        let at = |index: usize| cells.pointer.wrapping_byte_add(4 * index);
        ok!(hip, hipMallocAsync(&mut spare, 4, stream));
        let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
        ok!(hip, hipMemcpyAsync(spare, at(step), 4, kind, stream));
        assert_eq!(call_optional!(hip, hipLaunchHostFunc(stream, Some(nothing), null_mut())), 0);
        ok!(hip, hipMemcpyAsync(at(step + 1), spare, 4, kind, stream));
        ok!(hip, hipFreeAsync(spare, stream));
        // Nothing waits for these.
        ok!(hip, hipMemsetD32Async(at(step), 1, 1, stream));
        if step % 8 == 0 {
            call!(hip, hipStreamQuery(stream));
        }
        last = stream;
    }
    hip.sync();
    cells.read()[40]
}

#[test]
fn the_same_seed_makes_the_same_decisions() {
    let trace = |seed: &str| {
        let outcome = run("many", &[("HIPSTACK_HOST_ADVERSARY", seed)]);
        assert_eq!((outcome.result, outcome.reports.len()), (Some(13), 0), "{}", outcome.stderr());
        assert!(!outcome.decisions.iter().any(|line| line.contains("patience")), "{:?}", outcome.decisions);
        outcome.decisions
    };
    let (first, second, other) = (trace("1"), trace("1"), trace("2"));
    assert!(first.len() > 200, "{}", first.len());
    assert_eq!(first, second);
    assert_ne!(first, other);
    // Without an adversary there are no decisions and no checks.
    let plain = run("many", &[]);
    assert_eq!((plain.result, plain.decisions.len(), plain.reports.len()), (Some(13), 0, 0));
}

/// A graph of three kernels, launched twice on a stream that has other work too.
fn graph(hip: &Hip) -> i32 {
    let (stream, word) = (hip.stream(hipStreamNonBlocking), pinned(hip));
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(hip, hipStreamBeginCapture(stream, hipStreamCaptureMode::hipStreamCaptureModeGlobal));
    for value in 1..4 {
        write(hip, stream, word, value);
    }
    ok!(hip, hipStreamEndCapture(stream, &mut graph));
    ok!(hip, hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    for _ in 0..2 {
        ok!(hip, hipMemsetD32Async(word, 9, 1, stream));
        ok!(hip, hipGraphLaunch(exec, stream));
        call!(hip, hipStreamQuery(stream));
    }
    ok!(hip, hipStreamSynchronize(stream));
    read_host(word)
}

#[test]
fn only_launches_that_run_are_decided() {
    let trace = |seed: &str| {
        let outcome = run("graph", &[("HIPSTACK_HOST_ADVERSARY", seed)]);
        assert_eq!(outcome.result, Some(3), "{}", outcome.stderr());
        outcome.decisions
    };
    for seed in ["1", "2", "3"] {
        let decisions = trace(seed);
        // Three at the capture, and three in each run of the graph.
        assert_eq!(decisions.iter().filter(|line| line.starts_with("launch ")).count(), 9, "{decisions:?}");
        assert_eq!(trace(seed), decisions);
    }
}

/// Memory that was never written.
fn uninitialised(hip: &Hip) -> i32 {
    let mut memory = null_mut();
    ok!(hip, hipMalloc(&mut memory, 4));
    Buffer::<i32>::own(hip, memory, 1).read()[0]
}

#[test]
fn fresh_memory_has_a_pattern() {
    let value = |seed: &str| run("uninitialised", &[("HIPSTACK_HOST_ADVERSARY", seed)]).result;
    assert_eq!(value("0"), Some(0xa5a5_a5a5_u32 as i32));
    assert_eq!(value("1"), Some(-1));
    assert_eq!(value("2"), Some(0x5a5a_5a5a));
}

/// Launches that do not declare what they use.
fn unannounced(hip: &Hip) -> i32 {
    let (stream, word) = (hip.stream(hipStreamNonBlocking), pinned(hip));
    for _ in 0..3 {
        write(hip, stream, word, 2);
    }
    ok!(hip, hipStreamSynchronize(stream));
    read_host(word)
}

#[test]
fn launches_that_are_not_announced_are_counted() {
    let outcome = run("unannounced", &[("HIPSTACK_HOST_CHECK", "1")]);
    assert_eq!((outcome.result, outcome.unchecked.as_deref()), (Some(2), Some("3")));
    assert_eq!(outcome.stderr().matches("kernel write_one was launched without saying").count(), 1);
    assert_eq!(run("unannounced", &[]).unchecked.as_deref(), Some("0"));
}
