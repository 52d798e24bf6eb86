//! Launches of executable graphs.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/execute":
    many_times, many_times_without_waiting, counts_in_memory, returns_before_it_runs,
    after_and_before_other_work, on_the_null_stream, on_the_stream_of_the_thread, on_another_stream,
    waits_for_an_event, is_waited_for_by_an_event, two_of_one_graph, an_empty_graph, a_graph_by_hand,
    after_the_graph_is_destroyed, destroyed_while_it_waits, a_long_chain, a_wide_graph,
    on_two_devices, from_two_threads, between_captures, upload,
);

/// A hundred launches call the function a hundred times, in order.
fn many_times(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    begin(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    journal.write(b, 2, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    for _ in 0..100 {
        run(b, &exec, stream.raw)?;
    }
    same("the calls", journal.read(), [1, 2].repeat(100))
}

/// The same without a wait in between.
fn many_times_without_waiting(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    begin(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    journal.write(b, 2, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    for _ in 0..500 {
        ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    }
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the calls", journal.read(), [1, 2].repeat(500))
}

/// Each run moves ten words by one position, so after nine runs all equal the first.
fn counts_in_memory(b: &Bench) -> Outcome {
    let mut start = [0_i32; 10];
    start[0] = 7;
    let (memory, stream) = (b.buffer(&start)?, b.stream()?);
    begin(b, stream.raw)?;
    for index in (1..10).rev() {
        copy_word(b, memory.at(index), memory.at(index - 1), stream.raw)?;
    }
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    for filled in 2..=10 {
        run(b, &exec, stream.raw)?;
        let words = memory.read()?;
        let expected: Vec<i32> = (0..10).map(|index| if index < filled { 7 } else { 0 }).collect();
        same_all("the words", &words, &expected)?;
    }
    Ok(())
}

/// A launch is asynchronous, like every operation.
fn returns_before_it_runs(b: &Bench) -> Outcome {
    let (gate, stream) = (Gate::new(), b.stream()?);
    begin(b, stream.raw)?;
    gate.hold(b, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    expect!(b, hipStreamQuery(stream.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("passages", gate.passed(), 1)
}

/// A graph is one operation of its stream: it runs after operations submitted before it, and before later
/// ones.
fn after_and_before_other_work(b: &Bench) -> Outcome {
    let (journal, gate, stream) = (Journal::new(), Gate::new(), b.stream()?);
    begin(b, stream.raw)?;
    journal.write(b, 2, stream.raw)?;
    journal.write(b, 3, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    gate.hold(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    journal.write(b, 4, stream.raw)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    journal.write(b, 5, stream.raw)?;
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the calls", journal.read(), vec![1, 2, 3, 4, 2, 3, 5])
}

fn one_call(b: &Bench, journal: &Journal) -> Result<hipGraphExec_t, Failure> {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    let mut exec = null_mut();
    ok!(b, hipGraphInstantiateWithFlags(&mut exec, end(b, stream.raw)?.raw, 0));
    Ok(exec)
}

/// The null stream cannot be captured, but a graph can be launched on it.
fn on_the_null_stream(b: &Bench) -> Outcome {
    let journal = Journal::new();
    let exec = one_call(b, &journal)?;
    ok!(b, hipGraphLaunch(exec, NULL); hipStreamSynchronize(NULL); hipGraphExecDestroy(exec));
    same("the calls", journal.read(), vec![1])
}

/// The thread's own stream.
fn on_the_stream_of_the_thread(b: &Bench) -> Outcome {
    let journal = Journal::new();
    let exec = one_call(b, &journal)?;
    ok!(b, hipGraphLaunch(exec, PER_THREAD); hipStreamSynchronize(PER_THREAD); hipGraphExecDestroy(exec));
    same("the calls", journal.read(), vec![1])
}

/// A graph can be launched on any stream, also a non-blocking one, not only on the one that was captured.
fn on_another_stream(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream_with(hipStreamNonBlocking)?);
    let exec = one_call(b, &journal)?;
    ok!(b, hipGraphLaunch(exec, stream.raw); hipStreamSynchronize(stream.raw); hipGraphExecDestroy(exec));
    same("the calls", journal.read(), vec![1])
}

/// A wait before the launch delays the graph.
fn waits_for_an_event(b: &Bench) -> Outcome {
    let (journal, gate, event) = (Journal::new(), Gate::new(), b.event()?);
    let (first, second) = (b.stream_with(hipStreamNonBlocking)?, b.stream_with(hipStreamNonBlocking)?);
    let exec = one_call(b, &journal)?;
    gate.hold(b, first.raw)?;
    journal.write(b, 9, first.raw)?;
    link(b, &event, first.raw, second.raw)?;
    ok!(b, hipGraphLaunch(exec, second.raw));
    expect!(b, hipStreamQuery(second.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(second.raw); hipGraphExecDestroy(exec));
    same("the calls", journal.read(), vec![9, 1])
}

/// An event recorded after the launch is reached when all nodes have run.
fn is_waited_for_by_an_event(b: &Bench) -> Outcome {
    let (gate, event) = (Gate::new(), b.event()?);
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    gate.hold(b, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw); hipEventRecord(event.raw, stream.raw));
    soon("the gate", || gate.arrived() == 1)?;
    expect!(b, hipEventQuery(event.raw) => NOT_READY);
    gate.open();
    ok!(b, hipEventSynchronize(event.raw));
    same("passages", gate.passed(), 1)
}

/// Two executable graphs of one graph are independent: one is blocked, the other runs.
fn two_of_one_graph(b: &Bench) -> Outcome {
    let (journal, gate) = (Journal::new(), Gate::new());
    let (first, second) = (b.stream_with(hipStreamNonBlocking)?, b.stream_with(hipStreamNonBlocking)?);
    begin(b, first.raw)?;
    journal.write(b, 1, first.raw)?;
    let graph = end(b, first.raw)?;
    let (one, two) = (instantiate(b, &graph)?, instantiate(b, &graph)?);
    gate.hold(b, first.raw)?;
    ok!(b, hipGraphLaunch(one.raw, first.raw); hipGraphLaunch(two.raw, second.raw));
    ok!(b, hipStreamSynchronize(second.raw));
    same("the calls so far", journal.read(), vec![1])?;
    gate.open();
    ok!(b, hipStreamSynchronize(first.raw));
    same("the calls", journal.read(), vec![1, 1])
}

/// An empty graph runs, and keeps its stream's order.
fn an_empty_graph(b: &Bench) -> Outcome {
    let (gate, stream) = (Gate::new(), b.stream()?);
    begin(b, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    gate.hold(b, stream.raw)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    expect!(b, hipStreamQuery(stream.raw) => NOT_READY);
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    Ok(())
}

/// A graph made by hipGraphCreate is empty as well.
fn a_graph_by_hand(b: &Bench) -> Outcome {
    let (mut raw, stream) = (null_mut(), b.stream()?);
    ok!(b, hipGraphCreate(&mut raw, 0));
    let graph = Graph { raw, hip: b.hip() };
    same("the nodes", node_count(b, graph.raw)?, 0)?;
    run_once(b, &graph, stream.raw)
}

/// An executable graph does not need the graph any more.
fn after_the_graph_is_destroyed(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream()?);
    begin(b, stream.raw)?;
    fill(b, memory.at(0), 6, 1, stream.raw)?;
    copy_word(b, memory.at(1), memory.at(0), stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    run(b, &exec, stream.raw)?;
    same_all("the words", &memory.read()?, &[6, 6])
}

/// A queued launch still runs completely.
fn destroyed_while_it_waits(b: &Bench) -> Outcome {
    let (journal, gate, stream) = (Journal::new(), Gate::new(), b.stream()?);
    begin(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    journal.write(b, 2, stream.raw)?;
    let exec = instantiate(b, &end(b, stream.raw)?)?;
    gate.hold(b, stream.raw)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    gate.open_after(|| drop(exec), || ());
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the calls", journal.read(), vec![1, 2])
}

/// A thousand nodes one after the other.
fn a_long_chain(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1001)?, b.stream()?);
    begin(b, stream.raw)?;
    fill(b, memory.at(0), 9, 1, stream.raw)?;
    for index in 1..=1000 {
        copy_word(b, memory.at(index), memory.at(index - 1), stream.raw)?;
    }
    let graph = end(b, stream.raw)?;
    same("the nodes", node_count(b, graph.raw)?, 1001)?;
    run_once(b, &graph, stream.raw)?;
    same_all("the words", &memory.read()?, &[9; 1001])
}

/// Sixteen branches of one fork.
fn a_wide_graph(b: &Bench) -> Outcome {
    let (memory, trunk, fork) = (b.zeros::<i32>(17)?, b.stream()?, b.event()?);
    let branches = (0..16).map(|_| Ok((b.stream()?, b.event()?))).collect::<Result<Vec<_>, Failure>>()?;
    begin(b, trunk.raw)?;
    fill(b, memory.at(16), 4, 1, trunk.raw)?;
    ok!(b, hipEventRecord(fork.raw, trunk.raw));
    for (index, (branch, join)) in branches.iter().enumerate() {
        ok!(b, hipStreamWaitEvent(branch.raw, fork.raw, 0));
        copy_word(b, memory.at(index), memory.at(16), branch.raw)?;
        link(b, join, branch.raw, trunk.raw)?;
    }
    fill(b, memory.at(16), 5, 1, trunk.raw)?;
    run_once(b, &end(b, trunk.raw)?, trunk.raw)?;
    let mut expected = [4; 17];
    expected[16] = 5;
    same_all("the words", &memory.read()?, &expected)
}

/// Each device captures and runs its own graph (hip-tests).
fn on_two_devices(b: &Bench) -> Outcome {
    let devices = [b.device(), b.other_device()?];
    for (value, device) in (1..).zip(devices) {
        b.set_device(device)?;
        let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
        begin(b, stream.raw)?;
        fill(b, memory.pointer, value, 1, stream.raw)?;
        run_once(b, &end(b, stream.raw)?, stream.raw)?;
        same_all("the word", &memory.read()?, &[value])?;
    }
    b.set_device(b.device())
}

/// Two threads launch one executable graph fifty times each.
fn from_two_threads(b: &Bench) -> Outcome {
    let journal = Journal::new();
    let exec = one_call(b, &journal)?;
    let raw = exec as usize;
    b.elsewhere(|b| {
        let here = b.stream()?;
        for _ in 0..50 {
            ok!(b, hipGraphLaunch(raw as hipGraphExec_t, here.raw));
        }
        // A third thread launches while the second thread's launches are running.
        b.elsewhere(|b| {
            let there = b.stream()?;
            for _ in 0..50 {
                ok!(b, hipGraphLaunch(raw as hipGraphExec_t, there.raw));
            }
            ok!(b, hipStreamSynchronize(there.raw));
            Ok(())
        })?;
        ok!(b, hipStreamSynchronize(here.raw));
        Ok(())
    })?;
    ok!(b, hipGraphExecDestroy(exec));
    same("the calls", journal.read(), vec![1; 100])
}

/// Graphs run while another stream is captured.
fn between_captures(b: &Bench) -> Outcome {
    let (journal, captured, stream) = (Journal::new(), b.stream()?, b.stream_with(hipStreamNonBlocking)?);
    let exec = one_call(b, &journal)?;
    begin(b, captured.raw)?;
    ok!(b, hipGraphLaunch(exec, stream.raw));
    soon("the call", || journal.read() == [1])?;
    same("the nodes", node_count(b, end(b, captured.raw)?.raw)?, 0)?;
    ok!(b, hipGraphExecDestroy(exec));
    Ok(())
}

/// An upload runs nothing, on any stream (hip-tests).
fn upload(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let exec = one_call(b, &journal)?;
    for target in [NULL, PER_THREAD, stream.raw] {
        ok!(b, hipGraphUpload(exec, target); hipStreamSynchronize(target));
    }
    same("the calls before the launch", journal.read(), vec![])?;
    ok!(b, hipGraphLaunch(exec, stream.raw); hipStreamSynchronize(stream.raw); hipGraphExecDestroy(exec));
    same("the calls", journal.read(), vec![1])
}
