//! Handles can be sent to other threads and dropped in any order.

use crate::under_test::{device, ordinals, stream};
use hip_safe::*;
use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;

/// Asserts that the types are `Send` and `Sync`, and returns their names.
macro_rules! both {
    ($($type:ty),* $(,)?) => {{
        fn both<T: Send + Sync>() {}
        $( both::<$type>(); )*
        [$( stringify!($type) ),*]
    }};
}

/// Asserts that the types are neither `Send` nor `Sync`, and returns their names.
macro_rules! neither {
    ($($type:ty),* $(,)?) => {{
        // A type that were one of the two would have two functions of that name, and this would not compile.
        trait Function<Which> { fn of() {} }
        impl<T: ?Sized> Function<()> for T {}
        struct Sent;
        impl<T: ?Sized + Send> Function<Sent> for T {}
        struct Shared;
        impl<T: ?Sized + Sync> Function<Shared> for T {}
        $( <$type as Function<_>>::of(); )*
        [$( stringify!($type) ),*]
    }};
}

/// `DeviceView` of `DeviceView<'_, f32>`.
fn plain(name: &str) -> &str {
    name.split('<').next().unwrap_or(name).trim()
}

/// The types that the crate's root exports: names with a capital that are no traits. Exports of test builds only are
/// left out.
fn exported() -> BTreeSet<&'static str> {
    let traits = ["DeviceRepr", "AnyBits", "DeviceSlice", "DeviceSliceMut", "Result"];
    let root = include_str!("../../../src/lib.rs");
    let always = root.split(';').filter(|item| !item.contains("\n#[cfg("));
    let uses = always.filter_map(|item| item.split_once("\npub use "));
    let names = uses.flat_map(|(_, names)| names.split([':', '{', '}', ',', ' ', '\n']));
    names.filter(|name| name.starts_with(char::is_uppercase) && !traits.contains(name)).collect()
}

/// The types that the table of docs/SAFETY.md names, with its two answers.
fn argued() -> BTreeSet<(&'static str, bool, bool)> {
    let page = include_str!("../../../../../docs/SAFETY.md");
    let (_, table) = page.split_once("\n## Threads and types\n").expect("the page has the section");
    let mut argued = BTreeSet::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, names, send, sync, why, _] = cells[..] else { panic!("{row}") };
        assert!(!why.is_empty(), "{row}");
        for name in names.split(',') {
            assert!(
                argued.insert((name.trim().trim_matches('`'), send == "yes", sync == "yes")),
                "{name} twice"
            );
        }
    }
    argued
}

#[test]
fn every_type_is_argued_and_the_compiler_agrees() {
    let both = both![
        Device,
        DeviceId,
        DeviceLabel,
        Memo<u8, u8>,
        MemoStatistics,
        MemoryInfo,
        MemorySource,
        Properties,
        PoolStatistics,
        Limit,
        Stream,
        StreamId,
        Event,
        Submission<'_>,
        DeviceBuffer<f32>,
        SharedBuffer<f32>,
        DeviceView<'_, f32>,
        DeviceViewMut<'_, f32>,
        PinnedBuffer<f32>,
        ManagedBuffer<f32>,
        ManagedAdvice,
        ManagedLocation<'_>,
        IpcHandle,
        BufferKind,
        LiveBuffer,
        MemoryCheck,
        MemoryReport,
        DeviceUsage,
        Module,
        ModuleCode<'_>,
        Function,
        FunctionAttributes,
        SuggestedBlock,
        Launch<'_>,
        BufferArgument<'_>,
        LaunchConfig,
        Graph,
        GraphExec,
        LibraryHandle<u8>,
        Source,
        Compiled,
        CodeCache,
        CacheAnswer,
        CacheStatistics,
        CacheUsage,
        CodeObject,
        KernelInfo,
        Param,
        Platform,
        PlatformKind,
        MemoryKind,
        Version,
        Error,
        UnknownArchitecture,
    ];
    let neither = neither![CurrentDevice<'_>, DropErrorsLater];
    let rows = |names: &[&'static str], answer| -> BTreeSet<_> {
        names.iter().map(|name| (plain(name), answer, answer)).collect()
    };
    let mut checked = rows(&both, true);
    checked.extend(rows(&neither, false));
    assert_eq!(argued(), checked, "docs/SAFETY.md, and what the compiler says");
    assert_eq!(exported(), checked.iter().map(|row| row.0).collect(), "what the crate exports");
}

#[test]
fn buffers_are_dropped_on_other_threads() {
    let (sender, receiver) = mpsc::channel::<(DeviceBuffer<u32>, u32)>();
    let consumer = thread::spawn(move || {
        for (buffer, value) in receiver {
            let stream = buffer.stream().clone();
            assert_eq!(stream.download(&buffer.slice(1000..1001).unwrap()).unwrap(), [value]);
        }
    });
    for ordinal in ordinals() {
        let stream = device(ordinal).new_stream().unwrap();
        for byte in 0..50_u8 {
            let mut buffer = stream.alloc_zeros::<u32>(2000).unwrap();
            stream.memset(&mut buffer, byte).unwrap();
            sender.send((buffer, u32::from_ne_bytes([byte; 4]))).unwrap();
        }
        // The stream's last reference goes with the last buffer, on the other thread.
    }
    drop(sender);
    consumer.join().unwrap();
}

#[test]
fn many_threads_on_one_stream() {
    let stream = stream();
    let shared = SharedBuffer::new(stream.upload(&(0..10_000_u32).collect::<Vec<_>>()).unwrap());
    thread::scope(|scope| {
        for thread in 0..8_u32 {
            let (stream, shared) = (stream.clone(), shared.clone());
            scope.spawn(move || {
                for round in 0..20_u32 {
                    let at = (thread * 1000 + round) as usize;
                    let copy = stream.clone_of(&shared.slice(at..at + 100).unwrap()).unwrap();
                    let expected: Vec<u32> = (at as u32..at as u32 + 100).collect();
                    assert_eq!(stream.download(&copy).unwrap(), expected);
                    drop(copy);
                    if round % 5 == 0 {
                        stream.synchronize().unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(shared.strong_count(), 1);
}

#[test]
fn a_stream_outlives_its_variable_while_a_buffer_needs_it() {
    let mut buffer = {
        let stream = device(ordinals().len() - 1).new_stream().unwrap();
        stream.alloc_zeros::<u8>(1 << 20).unwrap()
    };
    let stream = buffer.stream().clone();
    stream.memset(&mut buffer, 4).unwrap();
    drop(stream);
    assert_eq!(buffer.stream().download(&buffer).unwrap(), vec![4; 1 << 20]);
    buffer.close().unwrap();
}
