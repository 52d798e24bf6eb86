//! Handles of graphs, nodes and executable graphs: errors and lists.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/handles":
    create, destroy, destroy_twice, instantiate_refuses, instantiate_flags, launch_refuses, upload_refuses, destroy_exec,
    nodes_refuses, nodes_are_counted, nodes_into_a_short_array, nodes_into_a_long_array, nodes_of_different_graphs_differ,
    type_refuses, nodes_end_with_their_graph, types_are_counted, a_refused_call_is_the_last_error,
);

/// An output pointer and zero flags are required (hip-tests).
fn create(b: &Bench) -> Outcome {
    let mut graph = null_mut();
    expect!(b, hipGraphCreate(null_mut(), 0) => VALUE; hipGraphCreate(&mut graph, 1) => VALUE);
    ok!(b, hipGraphCreate(&mut graph, 0));
    ensure(!graph.is_null(), "a new graph is null")?;
    ok!(b, hipGraphDestroy(graph));
    Ok(())
}

/// A null graph is refused (hip-tests).
fn destroy(b: &Bench) -> Outcome {
    expect!(b, hipGraphDestroy(null_mut()) => VALUE);
    Ok(())
}

/// A destroyed graph is an illegal state (clr).
fn destroy_twice(b: &Bench) -> Outcome {
    let mut graph = null_mut();
    ok!(b, hipGraphCreate(&mut graph, 0); hipGraphDestroy(graph));
    expect!(b, hipGraphDestroy(graph) => ILLEGAL_STATE);
    Ok(())
}

/// A null output pointer, a null graph (hip-tests).
fn instantiate_refuses(b: &Bench) -> Outcome {
    let (mut graph, mut exec) = (null_mut(), null_mut());
    ok!(b, hipGraphCreate(&mut graph, 0));
    expect!(b,
        hipGraphInstantiateWithFlags(null_mut(), graph, 0) => VALUE;
        hipGraphInstantiateWithFlags(&mut exec, null_mut(), 0) => VALUE;
    );
    ok!(b, hipGraphDestroy(graph));
    Ok(())
}

/// Auto-free on launch and node priorities are valid flags; there is no flag 16 (clr).
fn instantiate_flags(b: &Bench) -> Outcome {
    let mut raw = null_mut();
    ok!(b, hipGraphCreate(&mut raw, 0));
    let graph = Graph { raw, hip: b.hip() };
    for flags in [0, 1, 8] {
        let mut exec = null_mut();
        ok!(b, hipGraphInstantiateWithFlags(&mut exec, graph.raw, flags); hipGraphExecDestroy(exec));
    }
    let mut exec = null_mut();
    expect!(b, hipGraphInstantiateWithFlags(&mut exec, graph.raw, 16) => VALUE);
    Ok(())
}

/// Null, and a destroyed executable graph (hip-tests).
fn launch_refuses(b: &Bench) -> Outcome {
    let (mut graph, mut exec, stream) = (null_mut(), null_mut(), b.stream()?);
    ok!(b, hipGraphCreate(&mut graph, 0); hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(b, hipGraphDestroy(graph); hipGraphLaunch(exec, stream.raw); hipStreamSynchronize(stream.raw));
    let gone = b.stream()?.raw;
    expect!(b,
        hipGraphLaunch(null_mut(), stream.raw) => VALUE;
        hipGraphLaunch(null_mut(), PER_THREAD) => VALUE;
        hipGraphLaunch(exec, gone) => DESTROYED;
    );
    ok!(b, hipGraphExecDestroy(exec));
    expect!(b, hipGraphLaunch(exec, stream.raw) => VALUE; hipGraphLaunch(exec, PER_THREAD) => VALUE);
    Ok(())
}

/// Null, and a destroyed executable graph (hip-tests).
fn upload_refuses(b: &Bench) -> Outcome {
    let (mut graph, mut exec, stream) = (null_mut(), null_mut(), b.stream()?);
    expect!(b, hipGraphUpload(null_mut(), stream.raw) => VALUE);
    ok!(b, hipGraphCreate(&mut graph, 0); hipGraphInstantiateWithFlags(&mut exec, graph, 0));
    ok!(b, hipGraphUpload(exec, stream.raw); hipGraphExecDestroy(exec); hipGraphDestroy(graph));
    expect!(b, hipGraphUpload(exec, stream.raw) => VALUE);
    Ok(())
}

/// A null executable graph is refused (hip-tests).
fn destroy_exec(b: &Bench) -> Outcome {
    expect!(b, hipGraphExecDestroy(null_mut()) => VALUE);
    Ok(())
}

/// A graph of three fills.
fn three_fills(b: &Bench) -> Result<Graph<'_>, Failure> {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    begin(b, stream.raw)?;
    for value in 0..3 {
        fill(b, memory.pointer, value, 1, stream.raw)?;
    }
    end(b, stream.raw)
}

/// A null graph, a null count (hip-tests).
fn nodes_refuses(b: &Bench) -> Outcome {
    let (graph, mut count, mut nodes) = (three_fills(b)?, 3, [null_mut(); 3]);
    expect!(b,
        hipGraphGetNodes(null_mut(), nodes.as_mut_ptr(), &mut count) => VALUE;
        hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), null_mut()) => VALUE;
        hipGraphGetNodes(graph.raw, null_mut(), null_mut()) => VALUE;
    );
    Ok(())
}

/// Without an array the count is returned; with a large enough array every node is.
fn nodes_are_counted(b: &Bench) -> Outcome {
    let graph = three_fills(b)?;
    same("the number", node_count(b, graph.raw)?, 3)?;
    let (mut count, mut nodes) = (3, [null_mut(); 3]);
    ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    same("the number with an array", count, 3)?;
    ensure(nodes.iter().all(|node| !node.is_null()), "a node is null")?;
    ensure(nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[0] != nodes[2], "two nodes are one")
}

/// A short array is filled, and nothing is written beyond it.
fn nodes_into_a_short_array(b: &Bench) -> Outcome {
    let graph = three_fills(b)?;
    let (mut count, mut nodes) = (2, [null_mut(); 3]);
    ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    same("the number", count, 2)?;
    same("given nodes", nodes.map(|node| !node.is_null()), [true, true, false])
}

/// Surplus entries become null, and the number of nodes is returned (clr).
fn nodes_into_a_long_array(b: &Bench) -> Outcome {
    let graph = three_fills(b)?;
    let (mut count, mut nodes) = (5, [dangling(); 5]);
    ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    same("the number", count, 3)?;
    same("given nodes", nodes.map(|node| !node.is_null()), [true, true, true, false, false])
}

/// No node belongs to two graphs.
fn nodes_of_different_graphs_differ(b: &Bench) -> Outcome {
    let graphs = [three_fills(b)?, three_fills(b)?];
    let mut all = Vec::new();
    for graph in &graphs {
        let (mut count, mut nodes) = (3, [null_mut(); 3]);
        ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
        all.extend(nodes);
    }
    all.sort_unstable();
    all.dedup();
    same("different nodes", all.len(), 6)
}

/// A null node, a null output pointer (hip-tests).
fn type_refuses(b: &Bench) -> Outcome {
    let (graph, mut count, mut nodes) = (three_fills(b)?, 3, [null_mut(); 3]);
    let mut kind = hipGraphNodeType(99);
    ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    expect!(b,
        hipGraphNodeGetType(null_mut(), &mut kind) => VALUE;
        hipGraphNodeGetType(nodes[0], null_mut()) => VALUE;
    );
    same("the variable", kind.0, 99)
}

/// A node of a destroyed graph is refused.
fn nodes_end_with_their_graph(b: &Bench) -> Outcome {
    let (graph, mut count, mut nodes) = (three_fills(b)?, 3, [null_mut(); 3]);
    let mut kind = hipGraphNodeType(99);
    ok!(b, hipGraphGetNodes(graph.raw, nodes.as_mut_ptr(), &mut count));
    let raw = graph.raw;
    drop(graph);
    let mut exec = null_mut();
    expect!(b,
        hipGraphNodeGetType(nodes[0], &mut kind) => VALUE;
        hipGraphGetNodes(raw, null_mut(), &mut count) => VALUE;
        hipGraphInstantiateWithFlags(&mut exec, raw, 0) => VALUE;
    );
    Ok(())
}

/// Two copies, three fills, one function (after hip-tests).
fn types_are_counted(b: &Bench) -> Outcome {
    let (memory, journal, trunk, branch) = (b.zeros::<i32>(4)?, Journal::new(), b.stream()?, b.stream()?);
    let (fork, join) = (b.event()?, b.event()?);
    begin(b, trunk.raw)?;
    fill(b, memory.at(0), 1, 1, trunk.raw)?;
    link(b, &fork, trunk.raw, branch.raw)?;
    fill(b, memory.at(1), 2, 1, branch.raw)?;
    copy_word(b, memory.at(2), memory.at(1), branch.raw)?;
    copy_word(b, memory.at(3), memory.at(0), trunk.raw)?;
    link(b, &join, branch.raw, trunk.raw)?;
    journal.write(b, 1, trunk.raw)?;
    fill(b, memory.at(0), 3, 1, trunk.raw)?;
    let graph = end(b, trunk.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY, MEMCPY, MEMSET, MEMSET, MEMSET, HOST])
}

/// Errors of graph functions set the last error, like all others.
fn a_refused_call_is_the_last_error(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    expect!(b, hipStreamSynchronize(stream.raw) => CAPTURE_UNSUPPORTED);
    same("the last error", b.take_error(), CAPTURE_UNSUPPORTED)?;
    same("and once", b.take_error(), SUCCESS)?;
    let mut graph = null_mut();
    expect!(b, hipStreamEndCapture(stream.raw, &mut graph) => CAPTURE_INVALIDATED);
    same("the last error", b.take_error(), CAPTURE_INVALIDATED)
}
