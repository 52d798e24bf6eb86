//! The leak check, in separate processes: buffers that are alive at exit are printed.

use crate::under_test::{device, platform};
use crate::{again, is_child};
use hip_safe::{
    BufferKind, Device, DeviceBuffer, Error, MemoryCheck, MemoryReport, PinnedBuffer, SharedBuffer,
    assert_no_leaks,
};
use std::mem::forget;
use std::sync::Mutex;

const VARIABLE: &str = "HIPSTACK_MEMORY_CHECK";

static HELD: Mutex<Option<DeviceBuffer<u8>>> = Mutex::new(None);

/// The lines of a child's report.
fn report(test: &str, value: &str) -> Vec<String> {
    let child = again(&format!("memory::check::{test}"), &[(VARIABLE, value)]);
    let text = String::from_utf8(child.stderr).expect("it is a text");
    assert!(child.status.success(), "{text}");
    text.lines()
        .filter(|line| line.starts_with("memory check: ") || line.starts_with("    "))
        .map(Into::into)
        .collect()
}

fn name() -> String {
    format!("{} device 0", platform().kind)
}

#[test]
fn live_buffers_are_listed_at_exit_largest_first() {
    if !is_child() {
        let found = report("live_buffers_are_listed_at_exit_largest_first", "1");
        let name = name();
        let (devices, lines): (Vec<_>, Vec<_>) =
            found.iter().partition(|line| line.contains(": in buffers "));
        assert_eq!(
            lines,
            [
                &format!("memory check: leaked 4000 bytes on {name}: \"weights\""),
                &format!("memory check: leaked 3000 bytes of pinned memory for {name}: \"staging\""),
                &format!("memory check: leaked 1000 bytes on {name}, without a name"),
                &format!("memory check: leaked 1000 bytes on {name}: \"kept in a static\""),
                "memory check: 4 buffers leaked, 9000 bytes in all",
            ]
        );
        let [device] = devices[..] else { panic!("{devices:?}") };
        let starts = format!(
            "memory check: {name}: in buffers 0 bytes before, 6000 after, 6500 at most; reserved 0 before, "
        );
        assert!(device.starts_with(&starts), "{device}");
        let after = device[starts.len()..].strip_suffix(" after").expect("a number");
        assert!(after.parse::<usize>().unwrap() >= 6000, "{after}");
        return;
    }
    let device = device(0);
    let stream = device.new_stream().unwrap();
    let freed = stream.alloc_zeros::<u8>(500).unwrap();
    forget(stream.alloc_zeros::<u8>(1000).unwrap());
    let held = stream.alloc_zeros::<u8>(1000).unwrap().named("kept in a static");
    *HELD.lock().unwrap() = Some(held);
    let shared = SharedBuffer::new(stream.alloc_zeros::<f32>(1000).unwrap());
    shared.set_name("weights");
    forget(shared.clone());
    drop(shared);
    forget(PinnedBuffer::<u8>::zeroed(&device, 3000).unwrap().named("staging"));
    forget(stream.alloc_zeros::<u8>(0).unwrap());
    drop((PinnedBuffer::<u8>::zeroed(&device, 3000).unwrap(), freed));
}

#[test]
fn without_leaks_a_line_says_so() {
    if !is_child() {
        let found = report("without_leaks_a_line_says_so", "1");
        let device = format!(
            "memory check: {}: in buffers 0 bytes before, 0 after, 1000 at most; reserved 0 before, 0 after",
            name()
        );
        assert_eq!(found, [device.as_str(), "memory check: no leaks"]);
        for off in ["0", ""] {
            assert_eq!(report("without_leaks_a_line_says_so", off), [""; 0]);
        }
        return;
    }
    let stream = device(0).new_stream().unwrap();
    stream.alloc_zeros::<u8>(1000).unwrap();
}

#[test]
fn a_wrong_value_is_reported() {
    if !is_child() {
        let child = again("memory::check::a_wrong_value_is_reported", &[(VARIABLE, "yes")]);
        let text = String::from_utf8_lossy(&child.stderr);
        assert!(text.contains("HIPSTACK_MEMORY_CHECK=yes: there are 0, 1 and backtrace"), "{text}");
        assert!(!text.contains("memory check: "), "{text}");
        return;
    }
    forget(device(0).new_stream().unwrap().alloc_zeros::<u8>(1000).unwrap());
}

#[inline(never)]
fn a_named_function() -> DeviceBuffer<u8> {
    device(0).new_stream().unwrap().alloc_zeros::<u8>(1000).unwrap()
}

#[test]
fn the_backtrace_says_where_it_was_allocated() {
    if !is_child() {
        let found = report("the_backtrace_says_where_it_was_allocated", "backtrace");
        assert_eq!(found[0], format!("memory check: leaked 1000 bytes on {}: \"here\"", name()));
        let frames: Vec<_> = found[1..].iter().take_while(|line| line.starts_with("    ")).collect();
        let named = frames.iter().any(|line| line.contains("a_named_function"));
        assert!(named || !frames_have_names() && !frames.is_empty(), "{found:#?}");
        assert!(!frames.iter().any(|line| line.contains("force_capture")), "{found:#?}");
        assert_eq!(found.last().unwrap(), "memory check: 1 buffer leaked, 1000 bytes in all");
        return;
    }
    forget(a_named_function().named("here"));
}

/// Whether this program's frames have names: a stripped one's have not.
fn frames_have_names() -> bool {
    let here = std::backtrace::Backtrace::force_capture().to_string().contains("frames_have_names");
    if !here {
        println!("without the names of frames: this program is stripped");
    }
    here
}

fn panic_of(act: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(act).expect_err("it panics");
    panic.downcast_ref::<String>().expect("with a text").clone()
}

#[test]
fn a_program_can_list_live_buffers() {
    if !is_child() {
        let child = again("memory::check::a_program_can_list_live_buffers", &[]);
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
        assert!(
            !String::from_utf8_lossy(&child.stderr).contains("memory check: no leaks"),
            "nobody asked for a report"
        );
        return;
    }
    assert_eq!(MemoryCheck::current(), MemoryCheck::Off);
    let device = device(0);
    let stream = device.new_stream().unwrap();
    assert_no_leaks();
    // Off, nothing is listed, and the figures of the pool still tell.
    let early = stream.alloc_zeros::<u8>(100).unwrap().named("early");
    assert!(device.live_buffers().is_empty());
    let text = panic_of(assert_no_leaks);
    assert!(
        text.contains("100 bytes are in buffers from before the check") && text.contains("100 bytes in all"),
        "{text}"
    );

    MemoryCheck::Names.start();
    let buffer = stream.alloc_zeros::<u8>(200).unwrap();
    let pinned = PinnedBuffer::<u32>::zeroed(&device, 100).unwrap();
    buffer.set_name(format_args!("layer {}", 7));
    let live = device.live_buffers();
    let seen: Vec<_> = live.iter().map(|live| (live.kind, live.bytes, live.name.as_deref())).collect();
    assert_eq!(seen, [(BufferKind::Pinned, 400, None), (BufferKind::Device, 200, Some("layer 7"))]);
    assert!(live.iter().all(|live| live.device == device.label() && live.backtrace.is_none()));
    let report = MemoryReport::now();
    assert_eq!(report.leaked_bytes(), 700);
    let [usage] = report.devices[..] else { panic!("{report}") };
    assert_eq!((usage.allocated_before, usage.allocated_after, usage.unseen), (100, 300, 100));
    drop(early);
    let text = panic_of(assert_no_leaks);
    for line in [
        "leaked 200 bytes on ",
        ": \"layer 7\"",
        "leaked 400 bytes of pinned memory",
        "2 buffers leaked, 600 bytes",
    ] {
        assert!(text.contains(line), "{text}");
    }

    MemoryCheck::Backtraces.start();
    let named = a_named_function();
    let backtrace = device.live_buffers()[0].backtrace.clone().expect("it is remembered");
    assert!(backtrace.to_string().contains("a_named_function") || !frames_have_names(), "{backtrace}");
    assert!(other_device_has_none(&device));
    drop((buffer, named));
    pinned.close().unwrap();
    assert_no_leaks();
    MemoryCheck::Off.start();
    let late = stream.alloc_zeros::<u8>(10).unwrap();
    assert!(device.live_buffers().is_empty());
    drop(late);
}

#[test]
fn managed_memory_is_listed_too() {
    if !is_child() {
        let child = again("memory::check::managed_memory_is_listed_too", &[]);
        assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
        print!("{}", String::from_utf8_lossy(&child.stdout));
        return;
    }
    MemoryCheck::Names.start();
    let stream = device(0).new_stream().unwrap();
    let buffer = match stream.alloc_managed::<u64>(100) {
        Ok(buffer) => buffer.named("both sides"),
        Err(Error::NotOffered { what, .. }) => return println!("skipped: no {what}"),
        Err(other) => panic!("{other}"),
    };
    let live = stream.device().live_buffers();
    let seen: Vec<_> = live.iter().map(|live| (live.kind, live.bytes, live.name.as_deref())).collect();
    assert_eq!(seen, [(BufferKind::Managed, 800, Some("both sides"))]);
    assert!(live[0].to_string().starts_with("800 bytes of managed memory for "), "{}", live[0]);
    buffer.close().unwrap();
    assert_no_leaks();
}

/// A buffer is listed for its own device alone.
fn other_device_has_none(device: &Device) -> bool {
    match Device::count(device.platform()) {
        Ok(count) if count > 1 => Device::new(device.platform(), 1).unwrap().live_buffers().is_empty(),
        _ => true,
    }
}
