//! Streams join a capture by waiting for its events, and the first stream joins them in the same way.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/fork":
    fork_and_join, three_streams, fork_of_a_fork, join_waits_for_the_branch, branch_waits_for_the_trunk,
    diamond_many_times, without_work_needs_no_join, only_events_are_no_nodes, branch_after_its_join, stream_is_free_afterwards,
    event_that_was_never_recorded, event_recorded_again, event_counts_as_unrecorded_afterwards,
    other_device_joins, from_another_thread, streams_and_events_may_be_gone,
);

/// One branch and the first stream, four nodes.
fn fork_and_join(b: &Bench) -> Outcome {
    let (memory, trunk, branch) = (b.zeros::<i32>(4)?, b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    fill(b, memory.at(0), 5, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    copy_word(b, memory.at(1), memory.at(0), branch.raw)?;
    copy_word(b, memory.at(2), memory.at(0), trunk.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    copy_word(b, memory.at(3), memory.at(1), trunk.raw)?;
    let graph = end(b, trunk.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY, MEMCPY, MEMCPY, MEMSET])?;
    same_all("before the launch", &memory.read()?, &[0; 4])?;
    run_once(b, &graph, trunk.raw)?;
    same_all("after the launch", &memory.read()?, &[5; 4])
}

/// Seven functions on three streams; work on the streams before they join is not part of the graph
/// (hip-tests).
fn three_streams(b: &Bench) -> Outcome {
    let journal = Journal::new();
    let streams = [b.stream()?, b.stream()?, b.stream()?];
    let events = [b.event()?, b.event()?, b.event()?];
    begin(b, streams[0].raw)?;
    ok!(b, hipEventRecord(events[0].raw, streams[0].raw));
    journal.write(b, 100, streams[1].raw)?;
    journal.write(b, 100, streams[2].raw)?;
    for stream in &streams[1..] {
        ok!(b, hipStreamWaitEvent(stream.raw, events[0].raw, 0));
    }
    for index in [0, 1, 2, 0, 1, 2, 2] {
        journal.write(b, index, streams[index as usize].raw)?;
    }
    for index in [1, 2] {
        link(b, &events[index], streams[index].raw, streams[0].raw)?;
    }
    let graph = end(b, streams[0].raw)?;
    same("the types", node_types(b, &graph)?, vec![HOST; 7])?;
    b.sync()?;
    same("before the launch", journal.read(), vec![100, 100])?;
    run_once(b, &graph, streams[0].raw)?;
    let mut calls = journal.read();
    calls.sort_unstable();
    same("after the launch", calls, vec![0, 0, 1, 1, 2, 2, 2, 100, 100])
}

/// The third stream joins through the second (hip-tests).
fn fork_of_a_fork(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(3)?;
    let streams = [b.stream()?, b.stream()?, b.stream()?];
    let events = [b.event()?, b.event()?, b.event()?, b.event()?];
    begin(b, streams[0].raw)?;
    fill(b, memory.at(0), 3, 1, streams[0].raw)?;
    link(b, &events[0], streams[0].raw, streams[1].raw)?;
    copy_word(b, memory.at(1), memory.at(0), streams[1].raw)?;
    link(b, &events[1], streams[1].raw, streams[2].raw)?;
    same("the third stream's status", status(b, streams[2].raw)?, 1)?;
    copy_word(b, memory.at(2), memory.at(1), streams[2].raw)?;
    link(b, &events[2], streams[2].raw, streams[0].raw)?;
    let graph = end(b, streams[0].raw)?;
    same("the nodes", node_count(b, graph.raw)?, 3)?;
    run_once(b, &graph, streams[0].raw)?;
    same_all("the words", &memory.read()?, &[3; 3])
}

/// Nodes after the join see all results of the branch.
fn join_waits_for_the_branch(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    for number in 1..=5 {
        journal.write(b, number, branch.raw)?;
    }
    link(b, &join, branch.raw, trunk.raw)?;
    journal.write(b, 6, trunk.raw)?;
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    same("the calls", journal.read(), vec![1, 2, 3, 4, 5, 6])
}

/// The branch sees all results of the first stream before the fork.
fn branch_waits_for_the_trunk(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    for number in 1..=5 {
        journal.write(b, number, trunk.raw)?;
    }
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 6, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    same("the calls", journal.read(), vec![1, 2, 3, 4, 5, 6])
}

/// One node first, two in either order, one last: fifty times.
fn diamond_many_times(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    journal.write(b, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 2, trunk.raw)?;
    journal.write(b, 3, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    journal.write(b, 4, trunk.raw)?;
    let exec = instantiate(b, &end(b, trunk.raw)?)?;
    for _ in 0..50 {
        ok!(b, hipGraphLaunch(exec.raw, trunk.raw));
    }
    ok!(b, hipStreamSynchronize(trunk.raw));
    let calls = journal.read();
    same("the number of calls", calls.len(), 200)?;
    let good = |run: &[u32]| [[1, 2, 3, 4], [1, 3, 2, 4]].iter().any(|order| run == order);
    let bad = calls.chunks(4).find(|run| !good(run));
    same("a run out of order", bad, None)
}

/// A stream that joined the capture and did nothing need not be joined back (hip-tests).
fn without_work_needs_no_join(b: &Bench) -> Outcome {
    let (journal, trunk, branch, fork) = (Journal::new(), b.stream()?, b.stream()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 1, trunk.raw)?;
    same("the nodes", node_count(b, end(b, trunk.raw)?.raw)?, 1)
}

/// Recording events and waiting for them adds no nodes (hip-tests).
fn only_events_are_no_nodes(b: &Bench) -> Outcome {
    let streams = [b.stream()?, b.stream()?, b.stream()?];
    let events = [b.event()?, b.event()?, b.event()?];
    begin(b, streams[0].raw)?;
    ok!(b, hipEventRecord(events[0].raw, streams[0].raw));
    for index in [1, 2] {
        ok!(b, hipStreamWaitEvent(streams[index].raw, events[0].raw, 0));
        link(b, &events[index], streams[index].raw, streams[0].raw)?;
    }
    same("the nodes", node_count(b, end(b, streams[0].raw)?.raw)?, 0)
}

/// A branch can continue after its join, and be joined again.
fn branch_after_its_join(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    for number in 1..=3 {
        journal.write(b, number, branch.raw)?;
        link(b, &join, branch.raw, trunk.raw)?;
    }
    journal.write(b, 4, trunk.raw)?;
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    same("the calls", journal.read(), vec![1, 2, 3, 4])
}

/// After the capture, streams that joined it are free to run work and to be captured (hip-tests).
fn stream_is_free_afterwards(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 1, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    drop(end(b, trunk.raw)?);
    same("the branch's status", status(b, branch.raw)?, 0)?;
    journal.write(b, 2, branch.raw)?;
    ok!(b, hipStreamSynchronize(branch.raw));
    same("the calls", journal.read(), vec![2])?;
    begin(b, branch.raw)?;
    journal.write(b, 3, branch.raw)?;
    journal.write(b, 3, branch.raw)?;
    same("nodes of the branch's own graph", node_count(b, end(b, branch.raw)?.raw)?, 2)
}

/// An event that was never recorded is not waited for, in a capture too.
fn event_that_was_never_recorded(b: &Bench) -> Outcome {
    let (journal, stream, event) = (Journal::new(), b.stream()?, b.event()?);
    begin(b, stream.raw)?;
    ok!(b, hipStreamWaitEvent(stream.raw, event.raw, 0));
    journal.write(b, 1, stream.raw)?;
    same("the nodes", node_count(b, end(b, stream.raw)?.raw)?, 1)
}

/// A wait refers to the last recording.
fn event_recorded_again(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    ok!(b, hipEventRecord(fork.raw, trunk.raw));
    journal.write(b, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 2, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    same("the calls", journal.read(), vec![1, 2])
}

/// After the capture an event recorded only in it counts as never recorded, and may be used again.
fn event_counts_as_unrecorded_afterwards(b: &Bench) -> Outcome {
    let (stream, event, other) = (b.stream()?, b.event()?, b.event()?);
    begin(b, stream.raw)?;
    ok!(b, hipEventRecord(event.raw, stream.raw));
    drop(end(b, stream.raw)?);
    let mut time = 0.0;
    ok!(b, hipEventQuery(event.raw); hipEventSynchronize(event.raw); hipStreamWaitEvent(stream.raw, event.raw, 0));
    expect!(b, hipEventElapsedTime(&mut time, event.raw, event.raw) => HANDLE);
    ok!(b,
        hipEventRecord(event.raw, stream.raw);
        hipEventRecord(other.raw, stream.raw);
        hipEventSynchronize(other.raw);
        hipEventElapsedTime(&mut time, event.raw, other.raw);
    );
    Ok(())
}

/// A stream of another device joins, and its nodes run there.
fn other_device_joins(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    let (here, trunk, fork) = (b.zeros::<i32>(1)?, b.stream()?, b.event()?);
    b.set_device(other)?;
    let (there, branch, join) = (b.zeros::<i32>(1)?, b.stream()?, b.event()?);
    b.set_device(b.device())?;
    begin(b, trunk.raw)?;
    fill(b, here.pointer, 8, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    fill(b, there.pointer, 9, 1, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    same_all("the word here", &here.read()?, &[8])?;
    same_all("the word there", &there.read()?, &[9])
}

/// Another thread may submit to the streams of a capture (hip-tests).
fn from_another_thread(b: &Bench) -> Outcome {
    let (journal, trunk, branch) = (Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    journal.write(b, 1, trunk.raw)?;
    let (to, from) = (trunk.raw as usize, branch.raw as usize);
    let (line, event) = (journal.line(2) as usize, join.raw as usize);
    b.elsewhere(|b| {
        let (to, from, event) = (to as hipStream_t, from as hipStream_t, event as hipEvent_t);
        ok!(b,
            hipLaunchHostFunc(from, Some(write_line), line as *mut c_void);
            hipEventRecord(event, from);
            hipStreamWaitEvent(to, event, 0);
        );
        Ok(())
    })?;
    journal.write(b, 3, trunk.raw)?;
    let graph = end(b, trunk.raw)?;
    same("the nodes", node_count(b, graph.raw)?, 3)?;
    run_once(b, &graph, trunk.raw)?;
    same("the last call", journal.read().last().copied(), Some(3))
}

/// A graph needs nothing that it was captured from, except the memory.
fn streams_and_events_may_be_gone(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(2)?;
    let graph = {
        let (trunk, branch, fork, join) = (b.stream()?, b.stream()?, b.event()?, b.event()?);
        begin(b, trunk.raw)?;
        fill(b, memory.at(0), 4, 1, trunk.raw)?;
        link(b, &fork, trunk.raw, branch.raw)?;
        copy_word(b, memory.at(1), memory.at(0), branch.raw)?;
        link(b, &join, branch.raw, trunk.raw)?;
        end(b, trunk.raw)?
    };
    let stream = b.stream()?;
    run_once(b, &graph, stream.raw)?;
    same_all("the words", &memory.read()?, &[4, 4])
}
