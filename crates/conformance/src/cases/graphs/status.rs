//! Queries about a capture.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/status":
    before_during_and_after, of_a_stream_that_joined, of_a_spoilt_capture, info_while_capturing, info_grows_with_the_capture,
    info_of_a_join, info_is_the_graph_that_comes_out, info_outside_writes_only_the_status, only_the_status_is_needed,
    numbers_are_unique, null_output, null_stream_beside_a_blocking_stream, null_stream_beside_a_free_stream,
    nodes_of_an_unfinished_graph,
);

/// The results of hipStreamGetCaptureInfo_v2.
struct Info {
    status: u32,
    id: u64,
    graph: hipGraph_t,
    nodes: Vec<hipGraphNode_t>,
}

#[track_caller]
fn info(b: &Bench, stream: hipStream_t) -> Result<Info, Failure> {
    let (mut status, mut id, mut graph) = (hipStreamCaptureStatus(9), 0, null_mut());
    let (mut nodes, mut count) = (null(), 0);
    ok!(b, hipStreamGetCaptureInfo_v2(stream, &mut status, &mut id, &mut graph, &mut nodes, &mut count));
    let list = (0..count).map(|index| {
        // SAFETY: S2: the list has `count` nodes until the stream's next operation.
        unsafe { *nodes.add(index) }
    });
    Ok(Info { status: status.0, id, graph, nodes: list.collect() })
}

/// The status is none, active, and none again.
fn before_during_and_after(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    same("before", status(b, stream.raw)?, 0)?;
    begin(b, stream.raw)?;
    same("during", status(b, stream.raw)?, 1)?;
    drop(end(b, stream.raw)?);
    same("after", status(b, stream.raw)?, 0)
}

/// A stream that waits for an event of the capture takes part in it; other streams do not.
fn of_a_stream_that_joined(b: &Bench) -> Outcome {
    let (trunk, branch, other, fork) = (b.stream()?, b.stream()?, b.stream()?, b.event()?);
    begin(b, trunk.raw)?;
    ok!(b, hipEventRecord(fork.raw, trunk.raw));
    same("before it waits", status(b, branch.raw)?, 0)?;
    ok!(b, hipStreamWaitEvent(branch.raw, fork.raw, 0));
    same("after it waits", status(b, branch.raw)?, 1)?;
    same("another stream", status(b, other.raw)?, 0)?;
    same("the number", info(b, branch.raw)?.id, info(b, trunk.raw)?.id)?;
    drop(end(b, trunk.raw)?);
    Ok(())
}

/// The status is invalidated for all streams of the capture.
fn of_a_spoilt_capture(b: &Bench) -> Outcome {
    let (trunk, branch, fork) = (b.stream()?, b.stream()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    expect!(b, hipStreamQuery(branch.raw) => CAPTURE_UNSUPPORTED);
    same("the trunk", status(b, trunk.raw)?, 2)?;
    same("the branch", status(b, branch.raw)?, 2)?;
    end_spoilt(b, trunk.raw)?;
    same("the branch afterwards", status(b, branch.raw)?, 0)
}

/// The capture's number, its graph, and the node that the next one depends on.
fn info_while_capturing(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    begin(b, stream.raw)?;
    fill(b, memory.pointer, 1, 1, stream.raw)?;
    let info = info(b, stream.raw)?;
    same("the status", info.status, 1)?;
    ensure(info.id > 0, "a capture has the number 0")?;
    ensure(!info.graph.is_null(), "a capture has no graph")?;
    same("the number of nodes", info.nodes.len(), 1)?;
    same("the node's type", node_type(b, info.nodes[0])?, MEMSET)?;
    drop(end(b, stream.raw)?);
    Ok(())
}

/// At first there is no dependency, then the last node.
fn info_grows_with_the_capture(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream()?);
    begin(b, stream.raw)?;
    let first = info(b, stream.raw)?;
    same("nodes at first", first.nodes.len(), 0)?;
    fill(b, memory.at(0), 1, 1, stream.raw)?;
    copy_word(b, memory.at(1), memory.at(0), stream.raw)?;
    let second = info(b, stream.raw)?;
    same("nodes then", second.nodes.len(), 1)?;
    same("the last node's type", node_type(b, second.nodes[0])?, MEMCPY)?;
    same("the number", second.id, first.id)?;
    same("the graph", second.graph, first.graph)?;
    drop(end(b, stream.raw)?);
    Ok(())
}

/// After a join the next node depends on two nodes.
fn info_of_a_join(b: &Bench) -> Outcome {
    let (memory, trunk, branch) = (b.zeros::<i32>(3)?, b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    fill(b, memory.at(0), 1, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    copy_word(b, memory.at(1), memory.at(0), branch.raw)?;
    copy_word(b, memory.at(2), memory.at(0), trunk.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    let nodes = info(b, trunk.raw)?.nodes;
    same("the number of nodes", nodes.len(), 2)?;
    for node in nodes {
        same("a node's type", node_type(b, node)?, MEMCPY)?;
    }
    fill(b, memory.at(0), 1, 1, trunk.raw)?;
    same("nodes after the next one", info(b, trunk.raw)?.nodes.len(), 1)?;
    drop(end(b, trunk.raw)?);
    Ok(())
}

/// The graph returned by the query is the one that the capture returns.
fn info_is_the_graph_that_comes_out(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    begin(b, stream.raw)?;
    fill(b, memory.pointer, 1, 1, stream.raw)?;
    let graph = info(b, stream.raw)?.graph;
    same("the graph", end(b, stream.raw)?.raw, graph)
}

/// Without a capture only the status is written (hip-tests).
fn info_outside_writes_only_the_status(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    let (mut status, mut id, mut graph) = (hipStreamCaptureStatus(9), 77, dangling());
    let (mut nodes, mut count) = (null(), 5);
    ok!(b, hipStreamGetCaptureInfo_v2(stream.raw, &mut status, &mut id, &mut graph, &mut nodes, &mut count));
    same("the status", status.0, 0)?;
    same("the others", (id, graph, nodes, count), (77, dangling(), null(), 5))
}

/// The other output pointers may be null.
fn only_the_status_is_needed(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    let mut status = hipStreamCaptureStatus(9);
    ok!(
        b,
        hipStreamGetCaptureInfo_v2(stream.raw, &mut status, null_mut(), null_mut(), null_mut(), null_mut())
    );
    same("the status", status.0, 1)?;
    drop(end(b, stream.raw)?);
    Ok(())
}

/// A hundred captures at once have a hundred numbers (hip-tests).
fn numbers_are_unique(b: &Bench) -> Outcome {
    let streams = (0..100).map(|_| b.stream()).collect::<Result<Vec<_>, Failure>>()?;
    let mut numbers = Vec::new();
    for stream in &streams {
        begin(b, stream.raw)?;
        numbers.push(info(b, stream.raw)?.id);
    }
    numbers.sort_unstable();
    numbers.dedup();
    same("different numbers", numbers.len(), 100)?;
    for stream in &streams {
        drop(end(b, stream.raw)?);
    }
    Ok(())
}

/// The output pointer for the status is required (hip-tests).
fn null_output(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    let none = null_mut();
    expect!(b,
        hipStreamIsCapturing(stream.raw, none) => VALUE;
        hipStreamGetCaptureInfo_v2(stream.raw, none, null_mut(), null_mut(), null_mut(), null_mut()) => VALUE;
    );
    Ok(())
}

/// Querying the null stream while a blocking stream is captured is an error that invalidates nothing
/// (hip-tests).
fn null_stream_beside_a_blocking_stream(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    let mut captured = hipStreamCaptureStatus(9);
    begin(b, stream.raw)?;
    let none = null_mut();
    expect!(b,
        hipStreamGetCaptureInfo_v2(NULL, &mut captured, null_mut(), null_mut(), null_mut(), null_mut())
            => CAPTURE_IMPLICIT;
        hipStreamGetCaptureInfo_v2(NULL, &mut captured, none, null_mut(), null_mut(), null_mut()) => CAPTURE_IMPLICIT;
        hipStreamIsCapturing(NULL, &mut captured) => CAPTURE_IMPLICIT;
    );
    same("the captured stream", status(b, stream.raw)?, 1)?;
    fill(b, memory.pointer, 1, 1, stream.raw)?;
    same("the nodes", node_count(b, end(b, stream.raw)?.raw)?, 1)
}

/// A non-blocking stream does not synchronise with the null stream, which is never captured (clr).
fn null_stream_beside_a_free_stream(b: &Bench) -> Outcome {
    same("without a capture", status(b, NULL)?, 0)?;
    let stream = b.stream_with(hipStreamNonBlocking)?;
    begin(b, stream.raw)?;
    same("beside one", status(b, NULL)?, 0)?;
    drop(end(b, stream.raw)?);
    Ok(())
}

/// The nodes captured so far can be listed.
fn nodes_of_an_unfinished_graph(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    begin(b, stream.raw)?;
    for count in 0..3 {
        same("the nodes", node_count(b, info(b, stream.raw)?.graph)?, count)?;
        fill(b, memory.pointer, 1, 1, stream.raw)?;
    }
    drop(end(b, stream.raw)?);
    Ok(())
}
