//! What must not happen to a captured stream. Most of it invalidates the capture, which its end reports.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/illegal":
    begin_on_the_null_stream, begin_twice, begin_on_a_stream_that_joined, begin_with_a_bad_mode, begin_on_a_dead_stream,
    begin_on_a_spoilt_capture, end_without_begin, end_on_the_null_stream, end_without_an_output, end_on_a_stream_that_joined,
    end_on_another_thread, end_on_another_thread_when_relaxed, end_after_the_stream_is_gone, end_twice,
    unjoined_fork, work_after_the_join, a_branch_is_destroyed,
    synchronize_the_stream, query_the_stream, synchronize_the_device, synchronize_an_event, query_an_event,
    synchronize_a_stream_that_joined, copy_and_wait, fill_and_wait, copy_and_wait_beside_a_free_stream,
    launch_on_the_null_stream, record_on_the_null_stream, null_stream_waits_for_the_capture,
    null_stream_beside_a_free_stream, wait_for_an_event_from_outside, wait_for_another_capture,
    submit_to_a_spoilt_capture, a_bad_call_is_no_node,
    destroy_the_unfinished_graph, instantiate_the_unfinished_graph,
);

/// The null stream cannot be captured, neither as 0 nor as the legacy handle (behaviour table).
fn begin_on_the_null_stream(b: &Bench) -> Outcome {
    for mode in MODES {
        expect!(b,
            hipStreamBeginCapture(NULL, mode) => CAPTURE_UNSUPPORTED;
            hipStreamBeginCapture(1 as hipStream_t, mode) => CAPTURE_UNSUPPORTED;
        );
    }
    same("its status", status(b, NULL)?, 0)
}

/// The second call fails, and the capture stays valid (behaviour table).
fn begin_twice(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    begin(b, stream.raw)?;
    fill(b, memory.pointer, 1, 1, stream.raw)?;
    expect!(b, hipStreamBeginCapture(stream.raw, GLOBAL) => ILLEGAL_STATE);
    fill(b, memory.pointer, 2, 1, stream.raw)?;
    same("the nodes", node_count(b, end(b, stream.raw)?.raw)?, 2)
}

/// The stream is already captured (hip-tests).
fn begin_on_a_stream_that_joined(b: &Bench) -> Outcome {
    let (trunk, branch, fork) = (b.stream()?, b.stream()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    expect!(b, hipStreamBeginCapture(branch.raw, GLOBAL) => ILLEGAL_STATE);
    drop(end(b, trunk.raw)?);
    Ok(())
}

/// There are only three modes (hip-tests).
fn begin_with_a_bad_mode(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    for mode in [3, u32::MAX] {
        expect!(b, hipStreamBeginCapture(stream.raw, hipStreamCaptureMode(mode)) => VALUE);
    }
    same("the status", status(b, stream.raw)?, 0)
}

/// A destroyed stream (hip-tests).
fn begin_on_a_dead_stream(b: &Bench) -> Outcome {
    let stream = b.stream()?.raw;
    let mut status = hipStreamCaptureStatus(9);
    expect!(b,
        hipStreamBeginCapture(stream, GLOBAL) => DESTROYED;
        hipStreamIsCapturing(stream, &mut status) => DESTROYED;
    );
    Ok(())
}

/// An invalidated capture has to be ended first.
fn begin_on_a_spoilt_capture(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    expect!(b,
        hipStreamQuery(stream.raw) => CAPTURE_UNSUPPORTED;
        hipStreamBeginCapture(stream.raw, GLOBAL) => ILLEGAL_STATE;
    );
    end_spoilt(b, stream.raw)?;
    begin(b, stream.raw)?;
    drop(end(b, stream.raw)?);
    Ok(())
}

/// There is no capture to end (hip-tests).
fn end_without_begin(b: &Bench) -> Outcome {
    let (stream, mut graph) = (b.stream()?, null_mut());
    expect!(b,
        hipStreamEndCapture(stream.raw, &mut graph) => ILLEGAL_STATE;
        hipStreamEndCapture(PER_THREAD, &mut graph) => ILLEGAL_STATE;
    );
    Ok(())
}

/// The null stream is never captured (hip-tests).
fn end_on_the_null_stream(b: &Bench) -> Outcome {
    let mut graph = null_mut();
    expect!(b, hipStreamEndCapture(NULL, &mut graph) => ILLEGAL_STATE);
    Ok(())
}

/// The output pointer is required; the capture stays valid (clr).
fn end_without_an_output(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    expect!(b, hipStreamEndCapture(stream.raw, null_mut()) => VALUE);
    drop(end(b, stream.raw)?);
    Ok(())
}

/// A capture ends on the stream that it began on (hip-tests).
fn end_on_a_stream_that_joined(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join, mut graph) = (b.event()?, b.event()?, null_mut());
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 1, branch.raw)?;
    expect!(b, hipStreamEndCapture(branch.raw, &mut graph) => CAPTURE_UNMATCHED);
    link(b, &join, branch.raw, trunk.raw)?;
    same("the nodes", node_count(b, end(b, trunk.raw)?.raw)?, 1)
}

#[track_caller]
fn end_elsewhere(b: &Bench, stream: hipStream_t) -> Result<(u32, hipGraph_t), Failure> {
    let stream = stream as usize;
    let (code, graph) = b.elsewhere(|b| {
        let mut graph = null_mut();
        let code = call!(b, hipStreamEndCapture(stream as hipStream_t, &mut graph));
        Ok((code, graph as usize))
    })?;
    Ok((code, graph as hipGraph_t))
}

/// Only the thread that began the capture may end it (behaviour table), and it still can (hip-tests).
fn end_on_another_thread(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    for mode in [GLOBAL, THREAD_LOCAL] {
        ok!(b, hipStreamBeginCapture(stream.raw, mode));
        fill(b, memory.pointer, 1, 1, stream.raw)?;
        b.expect(end_elsewhere(b, stream.raw)?.0, CAPTURE_WRONG_THREAD, "end on another thread")?;
        same("the nodes", node_count(b, end(b, stream.raw)?.raw)?, 1)?;
    }
    Ok(())
}

/// In relaxed mode any thread may end it (hip-tests).
fn end_on_another_thread_when_relaxed(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    ok!(b, hipStreamBeginCapture(stream.raw, RELAXED));
    fill(b, memory.pointer, 5, 1, stream.raw)?;
    let (code, raw) = end_elsewhere(b, stream.raw)?;
    b.expect(code, SUCCESS, "end on another thread")?;
    run_once(b, &Graph { raw, hip: b.hip() }, stream.raw)?;
    same_all("the word", &memory.read()?, &[5])
}

/// Destroying its stream ends a capture (hip-tests).
fn end_after_the_stream_is_gone(b: &Bench) -> Outcome {
    let (mut stream, mut graph) = (null_mut(), null_mut());
    ok!(b, hipStreamCreateWithFlags(&mut stream, 0));
    begin(b, stream)?;
    ok!(b, hipStreamDestroy(stream));
    expect!(b, hipStreamEndCapture(stream, &mut graph) => DESTROYED);
    // No stream is captured any more.
    ok!(b, hipDeviceSynchronize());
    drop(b.zeros::<i32>(1)?);
    Ok(())
}

/// At the second call there is no capture to end.
fn end_twice(b: &Bench) -> Outcome {
    let (stream, mut graph) = (b.stream()?, null_mut());
    begin(b, stream.raw)?;
    drop(end(b, stream.raw)?);
    expect!(b, hipStreamEndCapture(stream.raw, &mut graph) => ILLEGAL_STATE);
    Ok(())
}

/// Ends a capture whose branch was not joined: there is no graph, and the capture is over.
#[track_caller]
fn end_unjoined(b: &Bench, trunk: hipStream_t, branch: hipStream_t) -> Outcome {
    let mut graph = dangling();
    expect!(b, hipStreamEndCapture(trunk, &mut graph) => CAPTURE_UNJOINED);
    same("the graph", graph, null_mut())?;
    same("the trunk's status", status(b, trunk)?, 0)?;
    same("the branch's status", status(b, branch)?, 0)
}

/// A branch with work that is never joined (behaviour table).
fn unjoined_fork(b: &Bench) -> Outcome {
    let (journal, trunk, branch, fork) = (Journal::new(), b.stream()?, b.stream()?, b.event()?);
    begin(b, trunk.raw)?;
    journal.write(b, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 2, branch.raw)?;
    end_unjoined(b, trunk.raw, branch.raw)
}

/// A branch with work after its join (hip-tests).
fn work_after_the_join(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    journal.write(b, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 2, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    journal.write(b, 3, branch.raw)?;
    end_unjoined(b, trunk.raw, branch.raw)
}

/// A joined branch may be destroyed before the end (clr).
fn a_branch_is_destroyed(b: &Bench) -> Outcome {
    let (journal, trunk) = (Journal::new(), b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    {
        let branch = b.stream()?;
        link(b, &fork, trunk.raw, branch.raw)?;
        journal.write(b, 1, branch.raw)?;
        link(b, &join, branch.raw, trunk.raw)?;
    }
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    same("the calls", journal.read(), vec![1])
}

/// Checks for each mode that the call returns the code and invalidates the capture.
#[track_caller]
fn spoils(
    b: &Bench,
    stream: hipStream_t,
    code: u32,
    what: &str,
    call: impl Fn() -> Result<u32, Failure>,
) -> Outcome {
    for mode in MODES {
        ok!(b, hipStreamBeginCapture(stream, mode));
        b.expect(call()?, code, &format!("{what} in mode {}", mode.0))?;
        same(&format!("the status after {what}"), status(b, stream)?, 2)?;
        end_spoilt(b, stream)?;
    }
    Ok(())
}

/// From the behaviour table.
fn synchronize_the_stream(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    spoils(b, stream.raw, CAPTURE_UNSUPPORTED, "synchronize", || {
        Ok(call!(b, hipStreamSynchronize(stream.raw)))
    })
}

/// From the behaviour table.
fn query_the_stream(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    spoils(b, stream.raw, CAPTURE_UNSUPPORTED, "query", || Ok(call!(b, hipStreamQuery(stream.raw))))
}

/// In every mode (hip-tests).
fn synchronize_the_device(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    spoils(b, stream.raw, CAPTURE_UNSUPPORTED, "hipDeviceSynchronize", || {
        Ok(call!(b, hipDeviceSynchronize()))
    })
}

/// The program cannot wait for an event of the capture (hip-tests).
fn synchronize_an_event(b: &Bench) -> Outcome {
    let (stream, event) = (b.stream()?, b.event()?);
    spoils(b, stream.raw, CAPTURED_EVENT, "hipEventSynchronize", || {
        ok!(b, hipEventRecord(event.raw, stream.raw));
        Ok(call!(b, hipEventSynchronize(event.raw)))
    })
}

/// It cannot query the event either (hip-tests).
fn query_an_event(b: &Bench) -> Outcome {
    let (stream, event) = (b.stream()?, b.event()?);
    spoils(b, stream.raw, CAPTURED_EVENT, "hipEventQuery", || {
        ok!(b, hipEventRecord(event.raw, stream.raw));
        Ok(call!(b, hipEventQuery(event.raw)))
    })
}

/// Streams that joined are captured as well.
fn synchronize_a_stream_that_joined(b: &Bench) -> Outcome {
    let (trunk, branch, fork) = (b.stream()?, b.stream()?, b.event()?);
    spoils(b, trunk.raw, CAPTURE_UNSUPPORTED, "synchronize", || {
        link(b, &fork, trunk.raw, branch.raw)?;
        Ok(call!(b, hipStreamSynchronize(branch.raw)))
    })
}

/// hipMemcpy would wait for the captured stream (hip-tests; in relaxed mode clr).
fn copy_and_wait(b: &Bench) -> Outcome {
    let (memory, stream, word) = (b.zeros::<i32>(1)?, b.stream()?, 5_i32);
    let from = (&raw const word).cast();
    let kind = hipMemcpyKind::hipMemcpyHostToDevice;
    spoils(b, stream.raw, CAPTURE_IMPLICIT, "hipMemcpy", || {
        Ok(call!(b, hipMemcpy(memory.pointer, from, 4, kind)))
    })?;
    same_all("the word", &memory.read()?, &[0])
}

/// So would hipMemset (hip-tests; in relaxed mode clr).
fn fill_and_wait(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    spoils(b, stream.raw, CAPTURE_IMPLICIT, "hipMemset", || Ok(call!(b, hipMemset(memory.pointer, 1, 4))))?;
    same_all("the word", &memory.read()?, &[0])
}

/// They are refused during any capture, also of a stream that does not synchronise with the null stream
/// (clr).
fn copy_and_wait_beside_a_free_stream(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream_with(hipStreamNonBlocking)?);
    spoils(b, stream.raw, CAPTURE_IMPLICIT, "hipMemset", || Ok(call!(b, hipMemset(memory.pointer, 1, 4))))
}

/// The null stream would have to wait for the captured stream (HIP's definition of error 906).
fn launch_on_the_null_stream(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    spoils(b, stream.raw, CAPTURE_IMPLICIT, "a fill on the null stream", || {
        Ok(call!(b, hipMemsetD32Async(memory.pointer, 1, 1, NULL)))
    })?;
    same_all("the word", &memory.read()?, &[0])
}

/// Recording an event there is work as well.
fn record_on_the_null_stream(b: &Bench) -> Outcome {
    let (stream, event) = (b.stream()?, b.event()?);
    spoils(b, stream.raw, CAPTURE_IMPLICIT, "hipEventRecord", || {
        Ok(call!(b, hipEventRecord(event.raw, NULL)))
    })
}

/// The null stream cannot join a capture.
fn null_stream_waits_for_the_capture(b: &Bench) -> Outcome {
    let (stream, event) = (b.stream()?, b.event()?);
    spoils(b, stream.raw, CAPTURE_IMPLICIT, "hipStreamWaitEvent", || {
        ok!(b, hipEventRecord(event.raw, stream.raw));
        Ok(call!(b, hipStreamWaitEvent(NULL, event.raw, 0)))
    })
}

/// During the capture of a non-blocking stream it may be used.
fn null_stream_beside_a_free_stream(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream_with(hipStreamNonBlocking)?);
    begin(b, stream.raw)?;
    fill(b, memory.at(0), 1, 1, stream.raw)?;
    fill(b, memory.at(1), 2, 1, NULL)?;
    let graph = end(b, stream.raw)?;
    same_all("before the launch", &memory.read()?, &[0, 2])?;
    run_once(b, &graph, stream.raw)?;
    same_all("after the launch", &memory.read()?, &[1, 2])
}

/// Work outside the capture cannot become part of the graph (hip-tests). It is open whether this invalidates
/// the capture.
fn wait_for_an_event_from_outside(b: &Bench) -> Outcome {
    let (other, event) = (b.stream()?, b.event()?);
    ok!(b, hipEventRecord(event.raw, other.raw); hipEventSynchronize(event.raw));
    for mode in MODES {
        let stream = b.stream()?;
        ok!(b, hipStreamBeginCapture(stream.raw, mode));
        expect!(b, hipStreamWaitEvent(stream.raw, event.raw, 0) => CAPTURE_ISOLATION);
    }
    Ok(())
}

/// Two captures cannot be merged (HIP's definition of error 902). It is open whether this invalidates them.
fn wait_for_another_capture(b: &Bench) -> Outcome {
    let (one, two, event) = (b.stream()?, b.stream()?, b.event()?);
    begin(b, one.raw)?;
    begin(b, two.raw)?;
    ok!(b, hipEventRecord(event.raw, one.raw));
    expect!(b, hipStreamWaitEvent(two.raw, event.raw, 0) => CAPTURE_MERGE);
    Ok(())
}

/// Operations submitted after the error are refused (clr).
fn submit_to_a_spoilt_capture(b: &Bench) -> Outcome {
    let (memory, stream, event) = (b.zeros::<i32>(1)?, b.stream()?, b.event()?);
    let journal = Journal::new();
    begin(b, stream.raw)?;
    expect!(b,
        hipStreamQuery(stream.raw) => CAPTURE_UNSUPPORTED;
        hipMemsetD32Async(memory.pointer, 1, 1, stream.raw) => CAPTURE_INVALIDATED;
        hipLaunchHostFunc(stream.raw, Some(write_line), journal.line(1)) => CAPTURE_INVALIDATED;
        hipEventRecord(event.raw, stream.raw) => CAPTURE_INVALIDATED;
    );
    end_spoilt(b, stream.raw)?;
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the calls", journal.read(), vec![])?;
    same_all("the word", &memory.read()?, &[0])
}

/// A call with invalid arguments fails as usual, and the capture stays valid.
fn a_bad_call_is_no_node(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    begin(b, stream.raw)?;
    fill(b, memory.pointer, 1, 1, stream.raw)?;
    expect!(b,
        hipMemcpyAsync(null_mut(), memory.pointer, 4, kind, stream.raw) => VALUE;
        hipLaunchHostFunc(stream.raw, None, null_mut()) => VALUE;
        hipMemsetAsync(null_mut(), 0, 4, stream.raw) => VALUE;
    );
    same("the nodes", node_count(b, end(b, stream.raw)?.raw)?, 1)
}

/// The graph of a capture cannot be destroyed before its end.
fn destroy_the_unfinished_graph(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    let graph = unfinished(b, stream.raw)?;
    expect!(b, hipGraphDestroy(graph) => VALUE);
    same("the graph", end(b, stream.raw)?.raw, graph)
}

/// It cannot be instantiated either.
fn instantiate_the_unfinished_graph(b: &Bench) -> Outcome {
    let (stream, mut exec) = (b.stream()?, null_mut());
    let graph = unfinished(b, stream.raw)?;
    expect!(b, hipGraphInstantiateWithFlags(&mut exec, graph, 0) => VALUE);
    drop(end(b, stream.raw)?);
    Ok(())
}

/// Begins a capture and returns its graph.
#[track_caller]
fn unfinished(b: &Bench, stream: hipStream_t) -> Result<hipGraph_t, Failure> {
    begin(b, stream)?;
    let (mut status, mut graph) = (hipStreamCaptureStatus(9), null_mut());
    let none = null_mut();
    ok!(b, hipStreamGetCaptureInfo_v2(stream, &mut status, none, &mut graph, null_mut(), null_mut()));
    Ok(graph)
}
