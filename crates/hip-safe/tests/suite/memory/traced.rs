//! The events of memory for `tracing`. Each test runs in a separate process: if another thread met an event for the first time just when
//! this one's subscriber comes, `tracing` would not tell it of that event.

use crate::alone;
use crate::under_test::image;
use crate::waiting::in_time;
use crate::watched::device;
use hip_safe::{Device, Module, PinnedBuffer, Source, Stream};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Calls a function with each event of ours.
struct Listener<F>(F);

#[derive(Default)]
struct Line {
    text: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.text.insert_str(0, &format!("{value:?}")),
            // It differs from run to run.
            "stream" => self.text.push_str(" stream"),
            name => write!(self.text, " {name}={value:?}").expect("a text takes it"),
        }
    }
}

impl<F: Fn(&Event<'_>) + 'static> Subscriber for Listener<F> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "hip_safe::memory"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        // What that does is no event: `tracing` is in one.
        (self.0)(event);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What `at_each` gives for each event of an act on this thread.
fn listened<T: Send + 'static>(
    at_each: impl Fn(&Event<'_>) -> T + Send + Sync + 'static,
    act: impl FnOnce(),
) -> Vec<T> {
    let list = Arc::new(Mutex::new(Vec::new()));
    let given = Arc::clone(&list);
    let listener = Listener(move |event: &Event<'_>| given.lock().unwrap().push(at_each(event)));
    tracing::subscriber::with_default(listener, act);
    std::mem::take(&mut *list.lock().unwrap())
}

/// A line for each event of an act on this thread.
fn told(act: impl FnOnce()) -> Vec<(Level, String)> {
    let line = |event: &Event<'_>| {
        let mut line = Line::default();
        event.record(&mut line);
        (*event.metadata().level(), line.text)
    };
    listened(line, act)
}

/// From now on each event of ours on any thread of this process calls `function`.
pub(crate) fn listened_everywhere(function: impl Fn() + Send + Sync + 'static) {
    tracing::subscriber::set_global_default(Listener(move |_: &Event<'_>| function()))
        .expect("it is the first");
}

/// How many events an act has, where each calls `function`; a panic if one waits for itself.
fn calls_during(function: impl Fn() + Send + Sync + 'static, act: impl FnOnce() + Send + 'static) -> usize {
    in_time(move || listened(move |_| function(), act).len())
}

#[test]
fn allocations_frees_segments_and_modules_are_traced() {
    if !alone("memory::traced::allocations_frees_segments_and_modules_are_traced") {
        return;
    }
    let device = device();
    let name = device.to_string();
    let stream = device.new_stream().unwrap();
    let line = |level, text: String| (level, text);
    let found = told(|| drop(stream.alloc_zeros::<u8>(1000).unwrap()));
    let [(Level::DEBUG, segment), allocation, free] = &found[..] else { panic!("{found:?}") };
    let from_driver = segment.strip_prefix("segment from the driver bytes=").expect("it is one");
    let segment_bytes: usize = from_driver.strip_suffix(&format!(" device={name}")).unwrap().parse().unwrap();
    assert!(segment_bytes >= 1000);
    let expected = format!("allocation bytes=1000 device={name} stream hit=false");
    assert_eq!(*allocation, line(Level::TRACE, expected));
    assert_eq!(*free, line(Level::TRACE, format!("free bytes=1000 device={name} stream")));

    let found = told(|| drop(stream.alloc_zeros::<u8>(900).unwrap()));
    let expected = [
        line(Level::TRACE, format!("allocation bytes=900 device={name} stream hit=true")),
        line(Level::TRACE, format!("free bytes=900 device={name} stream")),
    ];
    assert_eq!(found, expected, "the pool has the memory");

    let found = told(|| assert_eq!(device.trim_memory(0).unwrap(), segment_bytes));
    let expected = format!("segment to the driver bytes={segment_bytes} device={name}");
    assert_eq!(found, [line(Level::DEBUG, expected)]);

    let found = told(|| PinnedBuffer::<u32>::zeroed(&device, 10).unwrap().close().unwrap());
    let expected = ["pinned allocation", "pinned free"];
    assert_eq!(found, expected.map(|what| line(Level::DEBUG, format!("{what} bytes=40 device={name}"))));

    let image = image(&device);
    let found = told(|| drop(Module::load(&device, &image).unwrap()));
    assert_eq!(found, [line(Level::DEBUG, format!("module load bytes={} device={name}", image.len()))]);
    assert_eq!(told(|| drop(stream.alloc_zeros::<u8>(0).unwrap())), []);
}

/// A subscriber may use the device, because no lock of this crate is held.
#[test]
fn a_subscriber_may_use_the_device() {
    if !alone("memory::traced::a_subscriber_may_use_the_device") {
        return;
    }
    let device = device();
    let stream = device.new_stream().unwrap();
    let asked = device.clone();
    let figures = listened(
        move |_| asked.memory_statistics().allocated,
        || {
            drop(stream.alloc_zeros::<u8>(1000).unwrap());
            device.trim_memory(0).unwrap();
        },
    );
    assert_eq!(figures, [1000, 1000, 1000, 0], "segment, allocation, free, segment");
}

#[test]
fn a_subscriber_may_allocate_in_the_capture_that_allocates() {
    if !alone("memory::traced::a_subscriber_may_allocate_in_the_capture_that_allocates") {
        return;
    }
    let stream = device().new_stream().unwrap();
    let own = stream.clone();
    let allocate = |stream: &Stream, len: usize| drop(stream.alloc_zeros::<u8>(len).unwrap());
    let capture = move || {
        let graph = stream.capture(|stream| {
            allocate(stream, 1000);
            allocate(stream, 3 << 20);
            Ok(())
        });
        drop(graph.unwrap());
    };
    let told = calls_during(move || allocate(&own, 2000), capture);
    // Two segments and two allocations at least, and what is given back.
    assert!(told >= 4, "{told}");
}

#[test]
fn a_subscriber_may_ask_for_the_module_that_is_loaded() {
    if !alone("memory::traced::a_subscriber_may_ask_for_the_module_that_is_loaded") {
        return;
    }
    let source = || Source::new("extern \"C\" __global__ void traced_module() {}");
    type Way = fn(&Device, &[u8], &Source) -> Module;
    let ways: [Way; 4] = [
        |device, image, _| device.load_module(image).unwrap(),
        |device, _, source| device.compile(source).unwrap(),
        |device, image, _| device.get_or_load_custom("an image", image).unwrap(),
        |device, _, source| device.get_or_load_custom("a source", source).unwrap(),
    ];
    for way in ways {
        let device = device();
        let (image, source) = (image(&device), source());
        let again = Mutex::new(Vec::new());
        let asks = {
            let (device, image, source) = (device.clone(), image.clone(), source.clone());
            move || again.lock().unwrap().push(way(&device, &image, &source))
        };
        let told = calls_during(asks, move || drop(way(&device, &image, &source)));
        assert_eq!(told, 1, "it is reported once");
    }
}
