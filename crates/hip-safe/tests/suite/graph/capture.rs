//! Graphs: what is captured, and how launches are ordered with other work.

use crate::under_test::{self, module};
use crate::waiting::{RECORD_AND_WAIT, streams, waits};
use crate::watched::{calls, device, work_calls};
use hip_safe::{DeviceBuffer, Error, Event, Function, LaunchConfig, PinnedBuffer, Result, Stream};
use kernels_hip::args::Map2;
use std::panic::{AssertUnwindSafe, catch_unwind};

const LEN: usize = 1000;

/// total = total + step.
fn add(
    stream: &Stream,
    add: &Function,
    step: &DeviceBuffer<f32>,
    total: &mut DeviceBuffer<f32>,
) -> Result<()> {
    let former = stream.clone_of(total)?;
    let (count, flags) = (LEN as u64, Map2::A_TIGHT | Map2::B_TIGHT);
    let map = Map2 { count, rank: 1, flags, dims: [count; 8], a: [1; 8], b: [1; 8] };
    let mut launch = stream.launch(add, LaunchConfig::linear(count, 64));
    launch.arg(&former).arg(step).arg_mut(total).value(&map);
    // SAFETY: S9: the kernel reads LEN elements of both inputs and writes LEN of the total.
    unsafe { launch.submit() }
}

/// What the chain works on.
struct Chain {
    add: Function,
    step: DeviceBuffer<f32>,
    total: DeviceBuffer<f32>,
    input: PinnedBuffer<f32>,
    output: PinnedBuffer<f32>,
}

impl Chain {
    fn new(stream: &Stream) -> Self {
        let device = stream.device();
        Self {
            add: module(device).function("elementwise_add_f32").unwrap(),
            step: stream.alloc_zeros(LEN).unwrap(),
            total: stream.alloc_zeros(LEN).unwrap(),
            input: PinnedBuffer::from_slice(device, &[0.25; LEN]).unwrap(),
            output: PinnedBuffer::zeroed(device, LEN).unwrap(),
        }
    }

    /// Copies from and to the host, a copy on the device, a kernel and a fill.
    fn submit(&mut self, stream: &Stream) -> Result<()> {
        stream.copy_from_pinned(&self.input, &mut self.step)?;
        stream.memset(&mut self.step.slice_mut(..10)?, 0)?;
        add(stream, &self.add, &self.step, &mut self.total)?;
        stream.copy_to_pinned(&self.total, &mut self.output)
    }
}

#[test]
fn a_captured_chain_does_what_the_same_work_does_directly() {
    for ordinal in under_test::ordinals() {
        let stream = under_test::device(ordinal).new_stream().unwrap();
        let mut direct = Chain::new(&stream);
        for _ in 0..100 {
            direct.submit(&stream).unwrap();
        }
        let mut captured = Chain::new(&stream);
        let graph = stream.capture(|stream| captured.submit(stream)).unwrap();
        assert_eq!(graph.node_count(), 5);
        assert_eq!(stream.download(&captured.total).unwrap(), [0.0; LEN], "nothing ran yet");
        let exec = graph.instantiate().unwrap();
        graph.close().unwrap();
        for _ in 0..100 {
            exec.launch(&stream).unwrap();
        }
        let expected = direct.output.to_vec().unwrap();
        assert_eq!((expected[9], expected[10]), (0.0, 25.0));
        assert_eq!(captured.output.to_vec().unwrap(), expected);
        assert_eq!(stream.download(&captured.total).unwrap(), expected);
        // The host gives it other values.
        captured.input.copy_from_slice(&[1.0; LEN]).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(captured.output.to_vec().unwrap()[9..11], [0.0, 26.0]);
        exec.close().unwrap();
    }
}

#[test]
fn a_capture_makes_only_the_calls_that_it_consists_of() {
    let device = device();
    let [stream, other] = streams(&device);
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    other.memset(&mut buffer, 1).unwrap();
    stream.synchronize().unwrap();
    calls();
    let graph = stream.capture(|stream| stream.memset(&mut buffer, 2)).unwrap();
    let expected = [
        "hipStreamBeginCapture",
        "hipMemsetAsync",
        "hipStreamEndCapture",
        "hipGraphGetNodes",
        "hipGraphGetNodes",
        "hipGraphNodeGetType",
    ];
    assert_eq!(work_calls(), expected, "the other stream's write is not waited for");
    let exec = graph.instantiate().unwrap();
    calls();
    exec.launch(&stream).unwrap();
    assert_eq!(
        work_calls(),
        [&RECORD_AND_WAIT[..], &["hipGraphLaunch"]].concat(),
        "it is when it is launched"
    );
    exec.launch(&stream).unwrap();
    assert_eq!(work_calls(), ["hipGraphLaunch"]);
    let mut exec = exec;
    exec.update(&graph).unwrap();
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipGraphExecUpdate"], "not while it is launched");
    exec.launch(&stream).unwrap();
    calls();
    drop(exec);
    assert_eq!(work_calls(), ["hipStreamSynchronize", "hipGraphExecDestroy"], "not while it is launched");
    drop(graph);
    assert_eq!(work_calls(), ["hipGraphDestroy"]);
}

#[test]
fn launches_on_two_streams_are_ordered_with_work_outside() {
    let device = device();
    let [first, second, reader] = streams(&device);
    let source = first.upload(&[7_u8; LEN]).unwrap();
    let mut target = first.alloc_zeros::<u8>(LEN).unwrap();
    let graph = first.capture(|stream| stream.copy(&source, &mut target)).unwrap();
    let (exec, twin) = (graph.instantiate().unwrap(), graph.instantiate().unwrap());
    device.synchronize().unwrap();
    first.synchronize().unwrap();
    calls();
    exec.launch(&first).unwrap();
    exec.launch(&first).unwrap();
    assert_eq!(waits(), [""; 0], "one stream keeps order by itself");
    exec.launch(&second).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "after the launch on the other stream");
    twin.launch(&first).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "both write the same memory");
    drop(reader.clone_of(&source).unwrap());
    assert_eq!(waits(), [""; 0], "two may read");
    drop(reader.clone_of(&target).unwrap());
    assert_eq!(waits(), RECORD_AND_WAIT, "the launch writes it");
    exec.launch(&first).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "it is being read");
    second.memset(&mut target, 9).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
    exec.launch(&first).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
    assert_eq!(second.download(&target).unwrap(), [7; LEN]);
}

fn is_refused<R: std::fmt::Debug>(result: Result<R>, named: &str) {
    match result.unwrap_err() {
        Error::Capturing { what, .. } => assert!(what.contains(named), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn work_that_cannot_be_captured_is_refused_before_any_call() {
    let device = device();
    let [stream, other] = streams(&device);
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    let event = Event::new(&device).unwrap();
    other.record_event(&event).unwrap();
    let former = stream.capture(|stream| stream.memset(&mut buffer, 1)).unwrap().instantiate().unwrap();
    let mut managed = stream.alloc_managed::<u8>(LEN);
    let graph = stream.capture(|stream| {
        calls();
        is_refused(stream.download(&buffer), "a copy to a slice");
        is_refused(stream.copy_from_host(&[0; LEN], &mut buffer), "a copy from a slice");
        is_refused(stream.synchronize(), "a wait for the stream");
        is_refused(stream.is_done(), "the stream's progress");
        is_refused(stream.record_event(&event), "the record of an event");
        is_refused(stream.wait_event(&event), "a wait for an event");
        is_refused(stream.capture(|_| panic!("it is not called")), "another capture");
        is_refused(former.launch(stream), "the launch of a graph");
        is_refused(device.synchronize(), "a whole device");
        is_refused(stream.launch_host(|| panic!("it is not called")), "a host function");
        if let Ok(managed) = &mut managed {
            is_refused(stream.memset(managed, 1), "managed memory");
        }
        assert_eq!(calls(), [""; 0]);
        stream.memset(&mut buffer, 3)
    });
    let exec = graph.unwrap().instantiate().unwrap();
    former.launch(&stream).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [3; LEN]);
    device.synchronize().unwrap();
}

#[test]
fn other_streams_and_the_host_continue_during_a_capture() {
    let device = device();
    let [stream, other] = streams(&device);
    let mut buffer = stream.upload(&[1_u8; LEN]).unwrap();
    let mut pinned = PinnedBuffer::<u8>::zeroed(&device, LEN).unwrap();
    let mut captured = stream.alloc_zeros::<u8>(LEN).unwrap();
    stream.copy_to_pinned(&buffer, &mut pinned).unwrap();
    stream.memset(&mut buffer, 2).unwrap();
    let graph = stream.capture(|stream| {
        stream.memset(&mut captured, 3)?;
        calls();
        // Both wait for what the capturing stream had before.
        assert_eq!(pinned.as_slice()?, [1; LEN]);
        assert_eq!(waits(), ["hipEventSynchronize"]);
        assert_eq!(other.download(&buffer)?, [2; LEN]);
        assert_eq!(waits(), [""; 0], "the host has just waited for it");
        let mut more = other.upload(&[5_u8; LEN])?;
        other.memset(&mut more, 6)?;
        other.synchronize()
    });
    let graph = graph.unwrap();
    assert_eq!(graph.node_count(), 1);
    graph.instantiate().unwrap().launch(&other).unwrap();
    assert_eq!(stream.download(&captured).unwrap(), [3; LEN]);
}

#[test]
fn the_stream_goes_on_after_an_error_or_a_panic_in_the_closure() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    calls();
    let error = stream.capture(|stream| {
        stream.memset(&mut buffer, 1)?;
        Err(Error::NotReady)
    });
    assert!(matches!(error.unwrap_err(), Error::NotReady));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        stream.capture(|stream| {
            stream.memset(&mut buffer, 2).unwrap();
            panic!("a closure that panics")
        })
    }));
    assert!(panic.is_err());
    let ends = calls().into_iter().filter(|call| ["hipStreamEndCapture", "hipGraphDestroy"].contains(call));
    assert_eq!(ends.collect::<Vec<_>>(), ["hipStreamEndCapture", "hipGraphDestroy"].repeat(2));
    assert_eq!(stream.download(&buffer).unwrap(), [0; LEN], "neither was called");
    let graph = stream.capture(|stream| stream.memset(&mut buffer, 4)).unwrap();
    graph.instantiate().unwrap().launch(&stream).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [4; LEN]);
}

#[test]
fn an_update_takes_over_a_graph_of_the_same_shape() {
    let device = device();
    let [stream, other] = streams(&device);
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    let mut second = stream.alloc_zeros::<u8>(LEN).unwrap();
    let first = stream.capture(|stream| stream.memset(&mut buffer, 1)).unwrap();
    let same = stream.capture(|stream| stream.memset(&mut second, 2)).unwrap();
    let longer = stream.capture(|stream| {
        stream.memset(&mut buffer, 3)?;
        stream.memset(&mut buffer, 4)
    });
    let longer = longer.unwrap();
    let copy = stream.capture(|stream| stream.copy(&second, &mut buffer)).unwrap();
    let mut exec = first.instantiate().unwrap();
    drop(first);
    exec.launch(&other).unwrap();
    for unlike in [&longer, &copy] {
        let error = exec.update(unlike).unwrap_err();
        assert_eq!(error.hip_code(), Some(910), "{error}");
        assert!(matches!(error, Error::GraphUpdate { .. }), "{error:?}");
        stream.memset(&mut buffer, 0).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(stream.download(&buffer).unwrap(), [1; LEN], "it is as it was");
    }
    exec.update(&same).unwrap();
    drop(same);
    stream.memset(&mut buffer, 5).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [5; LEN]);
    assert_eq!(stream.download(&second).unwrap(), [2; LEN]);
}
