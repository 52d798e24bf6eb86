//! Operations submitted to a captured stream become nodes, and run only when the graph is launched.

use super::*;

pub(crate) const CASES: &[Case] = cases!("graph/capture":
    fill, fills_of_every_size, copy_to_device, copy_from_device, copy_inside_device, copy_between_devices, copy_rows,
    copy_by_direction, copy_with_stream, pageable_memory_is_read_at_launch, pageable_memory_is_written_at_launch,
    host_function, graph_launch, allocate_in_stream_order, free_in_stream_order,
    nothing, every_mode, every_kind_of_stream, stream_of_the_thread, order_of_the_stream,
    several_from_one_stream, two_at_once, other_streams_run_on, earlier_work_is_no_part, zero_bytes_are_no_node,
);

/// A fill is one memset node.
fn fill(b: &Bench) -> Outcome {
    let (memory, stream) = (b.filled(4, 1_i32)?, b.stream()?);
    begin(b, stream.raw)?;
    super::fill(b, memory.pointer, 7, 3, stream.raw)?;
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMSET])?;
    same_all("before the launch", &memory.read()?, &[1; 4])?;
    run_once(b, &graph, stream.raw)?;
    same_all("after the launch", &memory.read()?, &[7, 7, 7, 1])
}

/// Each of the five fills.
fn fills_of_every_size(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<u8>(20)?, b.stream()?);
    begin(b, stream.raw)?;
    ok!(b,
        hipMemsetAsync(memory.at(0), 0x11, 4, stream.raw);
        hipMemsetD8Async(memory.at(4), 0x22, 3, stream.raw);
        hipMemsetD16Async(memory.at(8), 0x3344, 2, stream.raw);
        hipMemsetD32Async(memory.at(12), 0x5566_7788, 1, stream.raw);
    );
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMSET; 4])?;
    run_once(b, &graph, stream.raw)?;
    let expected = [
        0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0, 0x44, 0x33, 0x44, 0x33, 0x88, 0x77, 0x66, 0x55, 0, 0, 0,
        0,
    ];
    same_all("the bytes", &memory.read()?, &expected)
}

/// The copy reads pinned memory when the graph runs.
fn copy_to_device(b: &Bench) -> Outcome {
    let (memory, host, stream) = (b.zeros::<i32>(2)?, b.pinned::<i32>(2)?, b.stream()?);
    host.write(&[1, 2]);
    begin(b, stream.raw)?;
    ok!(b, hipMemcpyAsync(memory.pointer, host.pointer, 8, hipMemcpyKind::hipMemcpyHostToDevice, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY])?;
    let exec = instantiate(b, &graph)?;
    for values in [[3, 4], [5, 6]] {
        host.write(&values);
        run(b, &exec, stream.raw)?;
        same_all("the copy", &memory.read()?, &values)?;
    }
    Ok(())
}

/// The copy writes to pinned memory.
fn copy_from_device(b: &Bench) -> Outcome {
    let (memory, host, stream) = (b.buffer(&[8, 9])?, b.pinned::<i32>(2)?, b.stream()?);
    begin(b, stream.raw)?;
    ok!(b, hipMemcpyAsync(host.pointer, memory.pointer, 8, hipMemcpyKind::hipMemcpyDeviceToHost, stream.raw));
    let graph = end(b, stream.raw)?;
    same_all("before the launch", &host.read(), &[0, 0])?;
    run_once(b, &graph, stream.raw)?;
    same_all("after the launch", &host.read(), &[8, 9])
}

/// From the device to itself.
fn copy_inside_device(b: &Bench) -> Outcome {
    let (memory, stream) = (b.buffer(&[1, 2, 3, 4])?, b.stream()?);
    begin(b, stream.raw)?;
    ok!(b, hipMemcpyDtoDAsync(memory.at(2), memory.at(0), 8, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY])?;
    run_once(b, &graph, stream.raw)?;
    same_all("the copy", &memory.read()?, &[1, 2, 1, 2])
}

/// From the device under test to another.
fn copy_between_devices(b: &Bench) -> Outcome {
    let other = b.other_device()?;
    let (here, stream) = (b.buffer(&[5, 6])?, b.stream()?);
    b.set_device(other)?;
    let there = b.zeros::<i32>(2)?;
    b.set_device(b.device())?;
    begin(b, stream.raw)?;
    ok!(b, hipMemcpyPeerAsync(there.pointer, other, here.pointer, b.device(), 8, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY])?;
    run_once(b, &graph, stream.raw)?;
    same_all("the copy", &there.read()?, &[5, 6])
}

/// Two rows of two words out of rows of three.
fn copy_rows(b: &Bench) -> Outcome {
    let (from, to, stream) = (b.buffer(&[1, 2, 3, 4, 5, 6])?, b.zeros::<i32>(4)?, b.stream()?);
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    begin(b, stream.raw)?;
    ok!(b, hipMemcpy2DAsync(to.pointer, 8, from.pointer, 12, 8, 2, kind, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY])?;
    run_once(b, &graph, stream.raw)?;
    same_all("the rows", &to.read()?, &[1, 2, 4, 5])
}

/// The copy functions with the direction in their name.
fn copy_by_direction(b: &Bench) -> Outcome {
    let (memory, host, stream) = (b.zeros::<i32>(1)?, b.pinned::<i32>(2)?, b.stream()?);
    host.write(&[77, 0]);
    begin(b, stream.raw)?;
    ok!(b,
        hipMemcpyHtoDAsync(memory.pointer, host.pointer, 4, stream.raw);
        hipMemcpyDtoHAsync(host.pointer.wrapping_byte_add(4), memory.pointer, 4, stream.raw);
    );
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY; 2])?;
    run_once(b, &graph, stream.raw)?;
    same_all("the words", &host.read(), &[77, 77])
}

/// The copy function that otherwise waits becomes a node like the others (clr).
fn copy_with_stream(b: &Bench) -> Outcome {
    let (memory, host, stream) = (b.zeros::<i32>(1)?, b.pinned::<i32>(1)?, b.stream()?);
    host.write(&[3]);
    begin(b, stream.raw)?;
    let kind = hipMemcpyKind::hipMemcpyHostToDevice;
    ok!(b, hipMemcpyWithStream(memory.pointer, host.pointer, 4, kind, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY])?;
    same_all("before the launch", &memory.read()?, &[0])?;
    run_once(b, &graph, stream.raw)?;
    same_all("after the launch", &memory.read()?, &[3])
}

/// Pageable memory is not staged: each launch reads its current contents (hip-tests).
fn pageable_memory_is_read_at_launch(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    let word = Box::into_raw(Box::new(1_i32));
    begin(b, stream.raw)?;
    copy_word(b, memory.pointer, word.cast(), stream.raw)?;
    let graph = end(b, stream.raw)?;
    let exec = instantiate(b, &graph)?;
    for value in [10, 20, 30] {
        // SAFETY: S2: our own value, which no work is using.
        unsafe { word.write_volatile(value) };
        run(b, &exec, stream.raw)?;
        same_all("the copy", &memory.read()?, &[value])?;
    }
    // SAFETY: S4: our own box; the graph is not launched any more.
    drop(unsafe { Box::from_raw(word) });
    Ok(())
}

/// Each launch writes pageable memory.
fn pageable_memory_is_written_at_launch(b: &Bench) -> Outcome {
    let (memory, stream) = (b.buffer(&[6])?, b.stream()?);
    let word = Box::into_raw(Box::new(1_i32));
    begin(b, stream.raw)?;
    copy_word(b, word.cast(), memory.pointer, stream.raw)?;
    let graph = end(b, stream.raw)?;
    // SAFETY: S2: our own value, which no work is using.
    same("before the launch", unsafe { word.read_volatile() }, 1)?;
    run_once(b, &graph, stream.raw)?;
    // SAFETY: S4: our own box; the graph is not launched any more.
    same("after the launch", *unsafe { Box::from_raw(word) }, 6)
}

/// A host function becomes a node, and each launch calls it.
fn host_function(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    begin(b, stream.raw)?;
    journal.write(b, 4, stream.raw)?;
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![HOST])?;
    same("before the launch", journal.read(), vec![])?;
    let exec = instantiate(b, &graph)?;
    run(b, &exec, stream.raw)?;
    run(b, &exec, stream.raw)?;
    same("after two launches", journal.read(), vec![4, 4])
}

/// A graph launched in a captured stream becomes a node of the new graph, with the contents that it had then.
fn graph_launch(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    begin(b, stream.raw)?;
    journal.write(b, 2, stream.raw)?;
    let inner = end(b, stream.raw)?;
    let exec = instantiate(b, &inner)?;
    begin(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    ok!(b, hipGraphLaunch(exec.raw, stream.raw));
    journal.write(b, 3, stream.raw)?;
    let outer = end(b, stream.raw)?;
    same("the types", node_types(b, &outer)?, vec![HOST, HOST, CHILD])?;
    same("before the launch", journal.read(), vec![])?;
    run_once(b, &outer, stream.raw)?;
    same("after the launch", journal.read(), vec![1, 2, 3])
}

/// A capture without operations gives an empty graph.
fn nothing(b: &Bench) -> Outcome {
    let stream = b.stream()?;
    begin(b, stream.raw)?;
    let graph = end(b, stream.raw)?;
    same("the nodes", node_count(b, graph.raw)?, 0)?;
    run_once(b, &graph, stream.raw)
}

/// Capturing works in all three modes.
fn every_mode(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(1)?, b.stream()?);
    for (value, mode) in (1..).zip(MODES) {
        ok!(b, hipStreamBeginCapture(stream.raw, mode));
        super::fill(b, memory.pointer, value, 1, stream.raw)?;
        run_once(b, &end(b, stream.raw)?, stream.raw)?;
        same_all("the word", &memory.read()?, &[value])?;
    }
    Ok(())
}

/// Blocking, non-blocking and urgent streams.
fn every_kind_of_stream(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(1)?;
    let mut urgent = null_mut();
    ok!(b, hipStreamCreateWithPriority(&mut urgent, hipStreamNonBlocking, -1));
    let streams = [b.stream_with(hipStreamDefault)?, b.stream_with(hipStreamNonBlocking)?];
    for (value, stream) in (1..).zip([streams[0].raw, streams[1].raw, urgent]) {
        begin(b, stream)?;
        super::fill(b, memory.pointer, value, 1, stream)?;
        run_once(b, &end(b, stream)?, stream)?;
        same_all("the word", &memory.read()?, &[value])?;
    }
    ok!(b, hipStreamDestroy(urgent));
    Ok(())
}

/// The thread's own stream can be captured.
fn stream_of_the_thread(b: &Bench) -> Outcome {
    let memory = b.zeros::<i32>(1)?;
    begin(b, PER_THREAD)?;
    super::fill(b, memory.pointer, 12, 1, PER_THREAD)?;
    let graph = end(b, PER_THREAD)?;
    same("the types", node_types(b, &graph)?, vec![MEMSET])?;
    run_once(b, &graph, PER_THREAD)?;
    same_all("the word", &memory.read()?, &[12])
}

/// Nodes of one stream run in stream order, whatever their type.
fn order_of_the_stream(b: &Bench) -> Outcome {
    let (memory, host, stream) = (b.zeros::<i32>(3)?, b.pinned::<i32>(1)?, b.stream()?);
    begin(b, stream.raw)?;
    super::fill(b, memory.at(0), 1, 1, stream.raw)?;
    copy_word(b, memory.at(1), memory.at(0), stream.raw)?;
    super::fill(b, memory.at(0), 2, 1, stream.raw)?;
    copy_word(b, memory.at(2), memory.at(0), stream.raw)?;
    super::fill(b, memory.at(0), 3, 1, stream.raw)?;
    copy_word(b, host.pointer, memory.at(2), stream.raw)?;
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY, MEMCPY, MEMCPY, MEMSET, MEMSET, MEMSET])?;
    run_once(b, &graph, stream.raw)?;
    same_all("the words", &memory.read()?, &[3, 1, 2])?;
    same("the last copy", host.get(0), 2)
}

/// One stream can be captured again and again, and the graphs are independent (hip-tests).
fn several_from_one_stream(b: &Bench) -> Outcome {
    let (journal, stream) = (Journal::new(), b.stream()?);
    let mut graphs = Vec::new();
    for nodes in 1..=3 {
        begin(b, stream.raw)?;
        for _ in 0..nodes {
            journal.write(b, nodes, stream.raw)?;
        }
        graphs.push(end(b, stream.raw)?);
    }
    for (graph, count) in graphs.iter().zip(1..) {
        same("the nodes", node_count(b, graph.raw)?, count)?;
        run_once(b, graph, stream.raw)?;
    }
    same("the calls", journal.read(), vec![1, 2, 2, 3, 3, 3])
}

/// Two streams are captured into two graphs at the same time (hip-tests).
fn two_at_once(b: &Bench) -> Outcome {
    let (memory, one, two) = (b.zeros::<i32>(2)?, b.stream()?, b.stream()?);
    begin(b, one.raw)?;
    begin(b, two.raw)?;
    super::fill(b, memory.at(0), 1, 1, one.raw)?;
    super::fill(b, memory.at(1), 2, 1, two.raw)?;
    super::fill(b, memory.at(0), 3, 1, one.raw)?;
    let (first, second) = (end(b, one.raw)?, end(b, two.raw)?);
    same("nodes of the first", node_count(b, first.raw)?, 2)?;
    same("nodes of the second", node_count(b, second.raw)?, 1)?;
    run_once(b, &second, one.raw)?;
    same_all("after the second", &memory.read()?, &[0, 2])?;
    run_once(b, &first, two.raw)?;
    same_all("after both", &memory.read()?, &[3, 2])
}

/// A stream outside the capture runs its operations at once.
fn other_streams_run_on(b: &Bench) -> Outcome {
    let (journal, captured, other) = (Journal::new(), b.stream()?, b.stream()?);
    ok!(b, hipStreamBeginCapture(captured.raw, RELAXED));
    journal.write(b, 1, other.raw)?;
    soon("the other stream's function", || journal.read() == [1])?;
    let graph = end(b, captured.raw)?;
    same("the nodes", node_count(b, graph.raw)?, 0)
}

/// Operations submitted before the capture run once, and not with the graph.
fn earlier_work_is_no_part(b: &Bench) -> Outcome {
    let (journal, gate, stream) = (Journal::new(), Gate::new(), b.stream()?);
    gate.hold(b, stream.raw)?;
    journal.write(b, 1, stream.raw)?;
    begin(b, stream.raw)?;
    journal.write(b, 2, stream.raw)?;
    let graph = end(b, stream.raw)?;
    same("the nodes", node_count(b, graph.raw)?, 1)?;
    gate.open();
    ok!(b, hipStreamSynchronize(stream.raw));
    same("before the launch", journal.read(), vec![1])?;
    run_once(b, &graph, stream.raw)?;
    same("after the launch", journal.read(), vec![1, 2])
}

/// A copy of zero bytes adds no node.
fn zero_bytes_are_no_node(b: &Bench) -> Outcome {
    let (memory, stream) = (b.zeros::<i32>(2)?, b.stream()?);
    begin(b, stream.raw)?;
    let kind = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(b, hipMemcpyAsync(memory.at(0), memory.at(1), 0, kind, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the nodes", node_count(b, graph.raw)?, 0)
}

/// An allocation becomes a node, whose address is available at once (HIP's node types).
fn allocate_in_stream_order(b: &Bench) -> Outcome {
    let (stream, mut pointer) = (b.stream()?, null_mut());
    begin(b, stream.raw)?;
    ok!(b, hipMallocAsync(&mut pointer, 16, stream.raw));
    ensure(!pointer.is_null(), "no address")?;
    same("the types", node_types(b, &end(b, stream.raw)?)?, vec![ALLOCATE])
}

/// Its release becomes another node, and nodes between the two can use the memory.
fn free_in_stream_order(b: &Bench) -> Outcome {
    let (result, stream, mut pointer) = (b.zeros::<i32>(1)?, b.stream()?, null_mut());
    begin(b, stream.raw)?;
    ok!(b, hipMallocAsync(&mut pointer, 4, stream.raw));
    super::fill(b, pointer, 7, 1, stream.raw)?;
    copy_word(b, result.pointer, pointer, stream.raw)?;
    ok!(b, hipFreeAsync(pointer, stream.raw));
    let graph = end(b, stream.raw)?;
    same("the types", node_types(b, &graph)?, vec![MEMCPY, MEMSET, ALLOCATE, FREE])?;
    run_once(b, &graph, stream.raw)?;
    same_all("the word", &result.read()?, &[7])
}
