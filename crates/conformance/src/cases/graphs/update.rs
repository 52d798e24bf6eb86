//! Updates: an executable graph takes over the parameters of a graph with the same shape.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/update":
    of_a_fill, of_a_copy, of_a_host_function, of_a_branch, many_times, to_itself,
    a_launch_that_waits_keeps_the_old, more_nodes, fewer_nodes, no_nodes, another_type, another_direction,
    other_dependencies, another_device, a_refused_update_changes_nothing, refuses_null, leaves_the_graph_alone,
    outlives_the_graph,
);

const TOPOLOGY: u32 = 2;
const TYPE: u32 = 3;
const PARAMETERS: u32 = 5;
const FUNCTION: u32 = 7;

/// Updates, and expects success.
#[track_caller]
pub(super) fn update(b: &Bench, exec: &Exec<'_>, graph: &Graph<'_>) -> Outcome {
    let (mut node, mut why) = (dangling(), hipGraphExecUpdateResult(99));
    ok!(b, hipGraphExecUpdate(exec.raw, graph.raw, &mut node, &mut why));
    same("the result", why.0, 0)
}

/// Updates, and checks that it is refused for that reason, and whether a node is named.
#[track_caller]
fn refused(b: &Bench, exec: &Exec<'_>, graph: &Graph<'_>, reason: u32, blamed: Option<usize>) -> Outcome {
    let (mut node, mut why) = (dangling(), hipGraphExecUpdateResult(99));
    expect!(b, hipGraphExecUpdate(exec.raw, graph.raw, &mut node, &mut why) => UPDATE_FAILED);
    same("the result", why.0, reason)?;
    let mut count = node_count(b, graph.raw)?;
    let mut nodes = vec![null_mut(); count];
    if count > 0 {
        ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    }
    same("the blamed node", node, blamed.map_or(null_mut(), |index| nodes[index]))
}

/// Captures what the closure submits as a graph.
#[track_caller]
pub(super) fn graph<'b>(
    b: &'b Bench,
    submit: impl FnOnce(hipStream_t) -> Outcome,
) -> Result<Graph<'b>, Failure> {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    submit(stream.raw)?;
    end(b, stream.raw)
}

/// Another value, address and length.
fn of_a_fill(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(4)?, b.stream()?);
    let exec = instantiate(b, &graph(b, |s| fill(b, memory.at(0), 1, 1, s))?)?;
    run(b, &exec, stream.raw)?;
    update(b, &exec, &graph(b, |s| fill(b, memory.at(1), 2, 3, s))?)?;
    same_all("before the launch", &memory.read()?, &[1, 0, 0, 0])?;
    run(b, &exec, stream.raw)?;
    same_all("after the launch", &memory.read()?, &[1, 2, 2, 2])
}

/// Other addresses.
fn of_a_copy(b: &Bench) -> Outcome {
    let (memory, stream) = (b.buffer(&[1, 2, 3, 4])?, b.stream()?);
    let exec = instantiate(b, &graph(b, |s| copy_word(b, memory.at(0), memory.at(1), s))?)?;
    update(b, &exec, &graph(b, |s| copy_word(b, memory.at(2), memory.at(3), s))?)?;
    run(b, &exec, stream.raw)?;
    same_all("the words", &memory.read()?, &[1, 2, 4, 4])
}

/// Another argument.
fn of_a_host_function(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let exec = instantiate(b, &graph(b, |s| journal.write(b, 1, s))?)?;
    run(b, &exec, stream.raw)?;
    update(b, &exec, &graph(b, |s| journal.write(b, 2, s))?)?;
    run(b, &exec, stream.raw)?;
    same("the calls", journal.read(), vec![1, 2])
}

/// A fill on each of two branches, in that order of capture.
fn forked<'b>(b: &'b Bench, memory: &Buffer<'_, i32>, values: [i32; 2]) -> Result<Graph<'b>, Failure> {
    let (trunk, branch, fork, join) = (b.stream()?, b.stream()?, b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    fill(b, memory.at(0), values[0], 1, trunk.raw)?;
    fill(b, memory.at(1), values[1], 1, branch.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    end(b, trunk.raw)
}

/// Branches are updated as well.
fn of_a_branch(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream()?);
    let exec = instantiate(b, &forked(b, &memory, [1, 2])?)?;
    update(b, &exec, &forked(b, &memory, [3, 4])?)?;
    run(b, &exec, stream.raw)?;
    same_all("the words", &memory.read()?, &[3, 4])
}

/// Twenty updates, each with its launch.
fn many_times(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let exec = instantiate(b, &graph(b, |s| journal.write(b, 0, s))?)?;
    for number in 1..=20 {
        update(b, &exec, &graph(b, |s| journal.write(b, number, s))?)?;
        ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    }
    ok!(b, hipStreamSynchronize(stream.raw));
    same("the calls", journal.read(), (1..=20).collect())
}

/// The graph that it was instantiated from fits.
fn to_itself(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let graph = graph(b, |s| journal.write(b, 5, s))?;
    let exec = instantiate(b, &graph)?;
    update(b, &exec, &graph)?;
    run(b, &exec, stream.raw)?;
    same("the calls", journal.read(), vec![5])
}

/// A launch before the update runs with the old parameters.
fn a_launch_that_waits_keeps_the_old(b: &Bench) -> Outcome {
    let (journal, gate, stream) = (Journal::new(), Gate::new(), b.stream()?);
    let exec = instantiate(b, &graph(b, |s| journal.write(b, 1, s))?)?;
    let new = graph(b, |s| journal.write(b, 2, s))?;
    gate.hold(b, stream.raw)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    gate.open_after(|| update(b, &exec, &new), || ()).0?;
    run(b, &exec, stream.raw)?;
    same("the calls", journal.read(), vec![1, 2])
}

/// The number of nodes differs, so no node is named (hip-tests).
fn more_nodes(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(1)?;
    let one = graph(b, |s| fill(b, memory.pointer, 1, 1, s))?;
    let two = graph(b, |s| {
        fill(b, memory.pointer, 1, 1, s)?;
        fill(b, memory.pointer, 2, 1, s)
    })?;
    refused(b, &instantiate(b, &one)?, &two, TOPOLOGY, None)
}

/// The same with fewer nodes (hip-tests).
fn fewer_nodes(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(1)?;
    let one = graph(b, |s| fill(b, memory.pointer, 1, 1, s))?;
    let two = graph(b, |s| {
        fill(b, memory.pointer, 1, 1, s)?;
        fill(b, memory.pointer, 2, 1, s)
    })?;
    refused(b, &instantiate(b, &two)?, &one, TOPOLOGY, None)
}

/// Two empty graphs have the same shape.
fn no_nodes(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(1)?;
    let (none, one) = (graph(b, |_| Ok(()))?, graph(b, |s| fill(b, memory.pointer, 1, 1, s))?);
    update(b, &instantiate(b, &none)?, &none)?;
    refused(b, &instantiate(b, &one)?, &none, TOPOLOGY, None)
}

/// A copy instead of a fill (hip-tests).
fn another_type(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(2)?;
    let filled = graph(b, |s| {
        fill(b, memory.at(0), 1, 1, s)?;
        fill(b, memory.at(1), 1, 1, s)
    })?;
    let copied = graph(b, |s| {
        fill(b, memory.at(0), 1, 1, s)?;
        copy_word(b, memory.at(1), memory.at(0), s)
    })?;
    refused(b, &instantiate(b, &filled)?, &copied, TYPE, Some(1))
}

/// A copy to the host instead of one to the device (hip-tests).
fn another_direction(b: &Bench) -> Outcome {
    let (memory, host) = (b.zeros::<i32>(1)?, b.pinned::<i32>(1)?);
    let down = graph(b, |s| {
        ok!(b, hipMemcpyAsync(memory.pointer, host.pointer, 4, hipMemcpyKind::hipMemcpyHostToDevice, s));
        Ok(())
    })?;
    let up = graph(b, |s| {
        ok!(b, hipMemcpyAsync(host.pointer, memory.pointer, 4, hipMemcpyKind::hipMemcpyDeviceToHost, s));
        Ok(())
    })?;
    refused(b, &instantiate(b, &down)?, &up, PARAMETERS, Some(0))
}

/// The same nodes in sequence and in parallel: the second no longer depends on the first (after hip-tests).
fn other_dependencies(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(2)?;
    let row = graph(b, |s| {
        fill(b, memory.at(0), 1, 1, s)?;
        fill(b, memory.at(1), 2, 1, s)
    })?;
    refused(b, &instantiate(b, &row)?, &forked(b, &memory, [1, 2])?, TOPOLOGY, Some(1))
}

/// A node of another device (after hip-tests).
fn another_device(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    let here = b.zeros::<i32>(1)?;
    let first = graph(b, |s| fill(b, here.pointer, 1, 1, s))?;
    b.set_device(other)?;
    let there = b.zeros::<i32>(1)?;
    let second = graph(b, |s| fill(b, there.pointer, 1, 1, s))?;
    b.set_device(b.device())?;
    refused(b, &instantiate(b, &first)?, &second, FUNCTION, Some(0))
}

/// A refused update changes nothing, not even the nodes that fit.
fn a_refused_update_changes_nothing(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream()?);
    let old = graph(b, |s| {
        fill(b, memory.at(0), 1, 1, s)?;
        fill(b, memory.at(1), 2, 1, s)
    })?;
    let new = graph(b, |s| {
        fill(b, memory.at(0), 3, 1, s)?;
        copy_word(b, memory.at(1), memory.at(0), s)
    })?;
    let exec = instantiate(b, &old)?;
    refused(b, &exec, &new, TYPE, Some(1))?;
    run(b, &exec, stream.raw)?;
    same_all("the words", &memory.read()?, &[1, 2])
}

/// All four arguments are required (hip-tests).
fn refuses_null(b: &Bench) -> Outcome {
    let graph = graph(b, |_| Ok(()))?;
    let exec = instantiate(b, &graph)?;
    let (mut node, mut why) = (null_mut(), hipGraphExecUpdateResult(99));
    expect!(b,
        hipGraphExecUpdate(null_mut(), graph.raw, &mut node, &mut why) => VALUE;
        hipGraphExecUpdate(exec.raw, null_mut(), &mut node, &mut why) => VALUE;
        hipGraphExecUpdate(exec.raw, graph.raw, null_mut(), &mut why) => VALUE;
        hipGraphExecUpdate(exec.raw, graph.raw, &mut node, null_mut()) => VALUE;
    );
    same("the result", why.0, 99)
}

/// The original graph does not change: a later instantiation has the old parameters.
fn leaves_the_graph_alone(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let old = graph(b, |s| journal.write(b, 1, s))?;
    let exec = instantiate(b, &old)?;
    update(b, &exec, &graph(b, |s| journal.write(b, 2, s))?)?;
    run_once(b, &old, stream.raw)?;
    run(b, &exec, stream.raw)?;
    same("the calls", journal.read(), vec![1, 2])
}

/// The graph of the update may be destroyed at once.
fn outlives_the_graph(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let exec = instantiate(b, &graph(b, |s| journal.write(b, 1, s))?)?;
    let new = graph(b, |s| journal.write(b, 2, s))?;
    update(b, &exec, &new)?;
    drop(new);
    run(b, &exec, stream.raw)?;
    same("the calls", journal.read(), vec![2])
}
