//! Objects that graphs keep alive, and their destructors.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/objects":
    create_refuses, without_data, retain_refuses, moved_to_a_graph, kept_by_the_program, kept_by_what_was_instantiated,
    kept_by_two_graphs, several_references, moved_in_parts, kept_until_the_run_has_ended, of_a_capture,
    of_a_capture_that_fails, of_an_update, handles_are_unique,
);

const NO_SYNC: u32 = 1;
const MOVE: u32 = 1;

#[track_caller]
fn object(b: &Bench, counter: Counter, references: u32) -> Result<hipUserObject_t, Failure> {
    let mut object = null_mut();
    ok!(b, hipUserObjectCreate(&mut object, counter.data(), Some(count), references, NO_SYNC));
    ensure(!object.is_null(), "a new object is null")?;
    Ok(object)
}

#[track_caller]
fn empty(b: &Bench) -> Result<Graph<'_>, Failure> {
    let mut raw = null_mut();
    ok!(b, hipGraphCreate(&mut raw, 0));
    Ok(Graph { raw, hip: b.hip() })
}

/// The destructor may run a little later than the last reference is released.
#[track_caller]
fn destroyed(counter: Counter) -> Outcome {
    soon("the destructor", || counter.get() > 0)?;
    same("calls of the destructor", counter.get(), 1)
}

#[track_caller]
fn alive(counter: Counter) -> Outcome {
    same("calls of the destructor", counter.get(), 0)
}

/// An output pointer, a destructor, at least one reference and the one flag are required (hip-tests).
fn create_refuses(b: &Bench) -> Outcome {
    let (counter, mut object) = (Counter::new(), null_mut());
    let data = counter.data();
    expect!(b,
        hipUserObjectCreate(null_mut(), data, Some(count), 1, NO_SYNC) => VALUE;
        hipUserObjectCreate(&mut object, data, None, 1, NO_SYNC) => VALUE;
        hipUserObjectCreate(&mut object, data, Some(count), 0, NO_SYNC) => VALUE;
        hipUserObjectCreate(&mut object, data, Some(count), 0x8000_0000, NO_SYNC) => VALUE;
        hipUserObjectCreate(&mut object, data, Some(count), 1, 0) => VALUE;
        hipUserObjectCreate(&mut object, data, Some(count), 1, 9) => VALUE;
    );
    alive(counter)
}

unsafe extern "C" fn ignore(_data: *mut c_void) {}

/// The destructor's argument may be null (hip-tests).
fn without_data(b: &Bench) -> Outcome {
    let (mut object, graph) = (null_mut(), empty(b)?);
    ok!(b,
        hipUserObjectCreate(&mut object, null_mut(), Some(ignore), 1, NO_SYNC);
        hipGraphRetainUserObject(graph.raw, object, 1, MOVE);
    );
    Ok(())
}

/// A graph, an object, at least one reference and a known flag are required (hip-tests).
fn retain_refuses(b: &Bench) -> Outcome {
    let (counter, graph) = (Counter::new(), empty(b)?);
    let object = object(b, counter, 1)?;
    expect!(b,
        hipGraphRetainUserObject(null_mut(), object, 1, MOVE) => VALUE;
        hipGraphRetainUserObject(graph.raw, null_mut(), 1, MOVE) => VALUE;
        hipGraphRetainUserObject(graph.raw, object, 0, MOVE) => VALUE;
        hipGraphRetainUserObject(graph.raw, object, 0x8000_0000, MOVE) => VALUE;
        hipGraphRetainUserObject(graph.raw, object, 1, 2) => VALUE;
        hipGraphRetainUserObject(graph.raw, object, 1, i32::MAX as u32) => VALUE;
    );
    alive(counter)
}

/// The graph has the only reference, so the object is destroyed with it.
fn moved_to_a_graph(b: &Bench) -> Outcome {
    let (counter, graph) = (Counter::new(), empty(b)?);
    let object = object(b, counter, 1)?;
    ok!(b, hipGraphRetainUserObject(graph.raw, object, 1, MOVE));
    alive(counter)?;
    drop(graph);
    destroyed(counter)
}

/// The program's own reference outlives the graph.
fn kept_by_the_program(b: &Bench) -> Outcome {
    let (counter, graph) = (Counter::new(), empty(b)?);
    let object = object(b, counter, 1)?;
    ok!(b, hipGraphRetainUserObject(graph.raw, object, 1, 0));
    drop(graph);
    alive(counter)?;
    let last = empty(b)?;
    ok!(b, hipGraphRetainUserObject(last.raw, object, 1, MOVE));
    drop(last);
    destroyed(counter)
}

/// An executable graph keeps the objects of its graph.
fn kept_by_what_was_instantiated(b: &Bench) -> Outcome {
    let (counter, graph) = (Counter::new(), empty(b)?);
    let object = object(b, counter, 1)?;
    ok!(b, hipGraphRetainUserObject(graph.raw, object, 1, MOVE));
    let exec = instantiate(b, &graph)?;
    drop(graph);
    alive(counter)?;
    drop(exec);
    destroyed(counter)
}

/// The object lives until the last of two graphs is destroyed.
fn kept_by_two_graphs(b: &Bench) -> Outcome {
    let (counter, one, two) = (Counter::new(), empty(b)?, empty(b)?);
    let object = object(b, counter, 2)?;
    ok!(b,
        hipGraphRetainUserObject(one.raw, object, 1, MOVE);
        hipGraphRetainUserObject(two.raw, object, 1, MOVE);
    );
    drop(one);
    alive(counter)?;
    drop(two);
    destroyed(counter)
}

/// Three references of one graph are released together.
fn several_references(b: &Bench) -> Outcome {
    let (counter, graph) = (Counter::new(), empty(b)?);
    let object = object(b, counter, 3)?;
    ok!(b, hipGraphRetainUserObject(graph.raw, object, 3, MOVE));
    drop(graph);
    destroyed(counter)
}

/// Two of three references are moved: the program has one left.
fn moved_in_parts(b: &Bench) -> Outcome {
    let (counter, one, two) = (Counter::new(), empty(b)?, empty(b)?);
    let object = object(b, counter, 3)?;
    ok!(b, hipGraphRetainUserObject(one.raw, object, 2, MOVE));
    drop(one);
    alive(counter)?;
    ok!(b, hipGraphRetainUserObject(two.raw, object, 1, MOVE));
    drop(two);
    destroyed(counter)
}

/// A launched run keeps the object until it has ended.
fn kept_until_the_run_has_ended(b: &Bench) -> Outcome {
    let (counter, gate, stream) = (Counter::new(), Gate::new(), b.stream()?);
    begin(b, stream.raw)?;
    gate.hold(b, stream.raw)?;
    let graph = end(b, stream.raw)?;
    let object = object(b, counter, 1)?;
    ok!(b, hipGraphRetainUserObject(graph.raw, object, 1, MOVE));
    let exec = instantiate(b, &graph)?;
    drop(graph);
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    soon("the gate", || gate.arrived() == 1)?;
    let ((), seen) = gate.open_after(|| drop(exec), || counter.get());
    same("calls while the graph runs", seen, 0)?;
    ok!(b, hipStreamSynchronize(stream.raw));
    destroyed(counter)
}

/// The graph of an active capture, as returned by its info, can already keep an object.
fn of_a_capture(b: &Bench) -> Outcome {
    let (counter, stream) = (Counter::new(), b.stream()?);
    let object = object(b, counter, 1)?;
    begin(b, stream.raw)?;
    retain_in_capture(b, stream.raw, object)?;
    let graph = end(b, stream.raw)?;
    alive(counter)?;
    drop(graph);
    destroyed(counter)
}

#[track_caller]
fn retain_in_capture(b: &Bench, stream: hipStream_t, object: hipUserObject_t) -> Outcome {
    let (mut status, mut graph) = (hipStreamCaptureStatus(9), null_mut());
    ok!(b,
        hipStreamGetCaptureInfo_v2(stream, &mut status, null_mut(), &mut graph, null_mut(), null_mut());
        hipGraphRetainUserObject(graph, object, 1, MOVE);
    );
    Ok(())
}

/// A capture that fails releases the object with its graph.
fn of_a_capture_that_fails(b: &Bench) -> Outcome {
    let (counter, stream) = (Counter::new(), b.stream()?);
    let object = object(b, counter, 1)?;
    begin(b, stream.raw)?;
    retain_in_capture(b, stream.raw, object)?;
    expect!(b, hipStreamQuery(stream.raw) => CAPTURE_UNSUPPORTED);
    end_spoilt(b, stream.raw)?;
    destroyed(counter)
}

/// An update takes over the objects of its graph, and releases the previous ones.
fn of_an_update(b: &Bench) -> Outcome {
    let (first, second, one, two) = (Counter::new(), Counter::new(), empty(b)?, empty(b)?);
    let (a, z) = (object(b, first, 1)?, object(b, second, 1)?);
    ok!(b, hipGraphRetainUserObject(one.raw, a, 1, MOVE); hipGraphRetainUserObject(two.raw, z, 1, MOVE));
    let exec = instantiate(b, &one)?;
    let (mut node, mut why) = (null_mut(), hipGraphExecUpdateResult(99));
    ok!(b, hipGraphExecUpdate(exec.raw, two.raw, &mut node, &mut why));
    drop(one);
    destroyed(first)?;
    drop(two);
    alive(second)?;
    drop(exec);
    destroyed(second)
}

/// Two objects have different handles, and a destroyed one is refused.
fn handles_are_unique(b: &Bench) -> Outcome {
    let (counter, graph) = (Counter::new(), empty(b)?);
    let (one, two) = (object(b, counter, 1)?, object(b, counter, 1)?);
    ensure(one != two, "two objects have one handle")?;
    ok!(b, hipGraphRetainUserObject(graph.raw, one, 1, MOVE));
    ok!(b, hipGraphRetainUserObject(graph.raw, two, 1, MOVE));
    drop(graph);
    soon("both destructors", || counter.get() == 2)
}
