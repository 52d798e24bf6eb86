//! What a graph owns: buffers, modules, pinned memory, and memory that is allocated while it is captured.

use crate::under_test::{self, is_host, module};
use crate::watched::{calls, changed_platform, device, fail_next, work_calls};
use crate::{again, is_child};
use hip_host::checker::take_reports;
use hip_safe::{Device, DeviceBuffer, Error, Graph, LaunchConfig, PinnedBuffer, Stream};
use hip_sys::hip::*;
use std::cell::OnceCell;
use std::ptr::null_mut;
use std::sync::Arc;

const LEN: usize = 1000;

#[test]
fn a_graph_keeps_what_it_captured() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut result = PinnedBuffer::<f32>::zeroed(&device, LEN).unwrap();
    let graph = {
        let fill = module(&device).function("elementwise_fill_f32").unwrap();
        let mut buffer = stream.alloc_zeros::<f32>(LEN).unwrap();
        let captured = stream.capture(|stream| {
            let mut launch = stream.launch(&fill, LaunchConfig::linear(LEN as u64, 64));
            launch.arg_mut(&mut buffer).value(&(LEN as u64)).value(&2.5_f32);
            // SAFETY: S9: the kernel fills that many elements.
            unsafe { launch.submit() }?;
            stream.copy_to_pinned(&buffer, &mut result)
        });
        captured.unwrap()
        // Function, module and buffer are dropped here.
    };
    let active = || device.memory_statistics().allocated;
    assert_eq!(active(), LEN * 4);
    // What is new does not get the graph's memory.
    let others: Vec<_> = (0..10).map(|_| stream.upload(&[1.0_f32; LEN]).unwrap()).collect();
    let exec = graph.instantiate().unwrap();
    drop(graph);
    exec.launch(&stream).unwrap();
    assert_eq!(result.to_vec().unwrap(), [2.5; LEN]);
    for other in others {
        assert_eq!(stream.download(&other).unwrap(), [1.0; LEN]);
    }
    calls();
    drop(exec);
    let made = calls();
    assert!(made.contains(&"hipModuleUnload") && made.contains(&"hipGraphDestroy"), "{made:?}");
    assert_eq!(active(), 0);
}

/// A wrapper whose graph does not keep its buffers: the raw graph contains raw addresses.
#[test]
fn naive_graph_of_raw_handles() {
    if !is_child() {
        return;
    }
    let stream = under_test::stream();
    let hip = stream.device().platform().hip();
    let ok = |code: hipError_t| assert_eq!(code.0, 0);
    let (mut buffer, mut graph, mut exec) = (null_mut(), null_mut(), null_mut());
    let relaxed = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
    // SAFETY: S1: live handles and out-pointers; the launch after the free is what the test is about.
    let answer = unsafe {
        ok((hip.hipMalloc)(&mut buffer, LEN));
        ok((hip.hipStreamBeginCapture)(stream.raw(), relaxed));
        ok((hip.hipMemsetAsync)(buffer, 1, LEN, stream.raw()));
        ok((hip.hipStreamEndCapture)(stream.raw(), &mut graph));
        ok((hip.hipGraphInstantiateWithFlags)(&mut exec, graph, 0));
        ok((hip.hipFree)(buffer));
        ok((hip.hipGraphLaunch)(exec, stream.raw()));
        (hip.hipStreamSynchronize)(stream.raw())
    };
    println!("\nchild: {}", answer.0);
}

#[test]
fn a_naive_graph_uses_memory_after_it_was_freed() {
    if !is_host() {
        return;
    }
    let output = again("graph::memory::naive_graph_of_raw_handles", &[("HIPSTACK_HOST_CHECK", "1")]);
    let (output_text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output_text.contains("child: 700"), "{output_text}{errors}");
    assert!(errors.contains("hip-host: use after free") && errors.contains("graph of 1 nodes"), "{errors}");
}

#[test]
fn memory_of_a_capture_is_used_again_within_it_and_kept_by_the_graph() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let source = stream.upload(&[7_u8; LEN]).unwrap();
    let before = device.memory_statistics().allocated;
    let (mut kept, mut addresses) = (None, Vec::new());
    let graph = stream.capture(|stream| {
        for _ in 0..3 {
            let temporary = stream.clone_of(&source)?;
            addresses.push(temporary.device_ptr().addr());
        }
        let first = stream.clone_of(&source)?;
        let second = stream.clone_of(&first)?;
        addresses.extend([first.device_ptr().addr(), second.device_ptr().addr()]);
        // Large ones have segments of their own.
        let large = stream.alloc_zeros::<u8>(3 << 20)?;
        let address = large.device_ptr();
        drop(large);
        assert_eq!(stream.alloc_zeros::<u8>(3 << 20)?.device_ptr(), address);
        kept = Some(second);
        Ok(())
    });
    if !device.platform().ext().own_pages {
        assert!(addresses[..4].iter().all(|address| *address == addresses[0]), "{addresses:?}");
    }
    assert_ne!(addresses[3], addresses[4], "two at a time");
    let (graph, kept) = (graph.unwrap(), kept.unwrap());
    let of_graph = device.memory_statistics().allocated - before;
    assert!(of_graph >= 3 << 20, "{of_graph}");
    // The device's pool does not hand it out.
    let others: Vec<_> = (0..20).map(|_| stream.upload(&[1_u8; LEN]).unwrap()).collect();
    assert!(others.iter().all(|other| !addresses.contains(&other.device_ptr().addr())));
    assert_eq!(stream.download(&kept).unwrap(), [0; LEN], "nobody has written it yet");
    let exec = graph.instantiate().unwrap();
    drop((graph, source));
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&kept).unwrap(), [7; LEN]);
    assert!(others.iter().all(|other| stream.download(other).unwrap() == [1; LEN]));
    drop((exec, others));
    // The buffer that outlived the capture keeps its memory.
    assert_eq!(stream.download(&kept).unwrap(), [7; LEN]);
    assert!(device.memory_statistics().allocated > 0);
    drop(kept);
    assert_eq!(device.memory_statistics().allocated, 0);
    device.trim_memory(0).unwrap();
    assert_eq!(device.memory_statistics().reserved, 0);
}

#[test]
fn memory_of_a_capture_stays_inside_until_there_is_a_graph() {
    let device = device();
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let mut kept: Option<DeviceBuffer<u8>> = None;
    let graph = stream.capture(|stream| {
        let buffer = stream.alloc_zeros::<u8>(LEN)?;
        let error = other.download(&buffer).unwrap_err();
        assert!(matches!(error, Error::Capturing { .. }), "{error:?}");
        kept = Some(buffer);
        Err(Error::NotReady)
    });
    assert!(matches!(graph.unwrap_err(), Error::NotReady));
    // Without the graph it is a buffer as any other.
    let mut kept = kept.unwrap();
    assert_eq!(other.download(&kept).unwrap(), [0; LEN]);
    stream.memset(&mut kept, 3).unwrap();
    assert_eq!(other.download(&kept).unwrap(), [3; LEN]);
    drop(kept);
    assert_eq!(device.memory_statistics().allocated, 0);
}

#[test]
fn there_is_no_slice_of_pinned_memory_that_a_graph_may_use_meanwhile() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut input = PinnedBuffer::from_slice(&device, &[1_u8; LEN]).unwrap();
    let mut output = PinnedBuffer::<u8>::zeroed(&device, LEN).unwrap();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    let graph = stream.capture(|stream| {
        stream.copy_from_pinned(&input, &mut buffer)?;
        stream.copy_to_pinned(&buffer, &mut output)
    });
    let exec = graph.unwrap().instantiate().unwrap();
    assert!(matches!(output.as_slice().unwrap_err(), Error::PinnedInGraph { writes: true }));
    assert!(matches!(output.as_mut_slice().unwrap_err(), Error::PinnedInGraph { writes: true }));
    assert!(matches!(input.as_mut_slice().unwrap_err(), Error::PinnedInGraph { writes: false }));
    assert_eq!(input.as_slice().unwrap(), [1; LEN], "the graph only reads it");
    exec.launch(&stream).unwrap();
    assert_eq!(output.to_vec().unwrap(), [1; LEN]);
    input.copy_from_slice(&[2; LEN]).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(output.to_vec().unwrap(), [2; LEN]);
    assert!(matches!(input.copy_from_slice(&[1]).unwrap_err(), Error::LengthMismatch { .. }));
    drop(exec);
    input.as_mut_slice().unwrap()[0] = 9;
    output.as_mut_slice().unwrap().copy_from_slice(input.as_slice().unwrap());
    assert_eq!(output.as_slice().unwrap()[..2], [9, 2]);
    output.close().unwrap();
}

/// A graph that sets a temporary to 0xff, and a buffer of the same memory that its capture allocated last and did not use.
fn unused_in_its_capture(stream: &Stream) -> (Graph, DeviceBuffer<u8>) {
    let mut kept = None;
    let graph = stream.capture(|stream| {
        let mut temporary = stream.alloc_zeros::<u8>(LEN)?;
        stream.memset(&mut temporary, 0xff)?;
        let address = temporary.device_ptr();
        drop(temporary);
        // SAFETY: S15: the end of the capture zeroes it.
        let buffer = unsafe { stream.alloc_uninit(LEN) }?;
        assert!(stream.device().platform().ext().own_pages || buffer.device_ptr() == address);
        kept = Some(buffer);
        Ok(())
    });
    (graph.unwrap(), kept.unwrap())
}

#[test]
fn launches_are_ordered_with_what_a_capture_allocated_and_did_not_use() {
    let device = device();
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let (graph, mut kept) = unused_in_its_capture(&stream);
    assert_eq!(other.download(&kept).unwrap(), [0; LEN], "nobody has written it yet");
    let exec = graph.instantiate().unwrap();
    other.memset(&mut kept, 7).unwrap();
    calls();
    exec.launch(&stream).unwrap();
    assert_eq!(
        work_calls(),
        ["hipEventCreateWithFlags", "hipEventRecord", "hipStreamWaitEvent", "hipGraphLaunch"],
        "the launch writes it after the other stream"
    );
    assert_eq!(other.download(&kept).unwrap(), [0xff; LEN]);
    // The graph keeps it.
    drop((graph, kept));
    exec.launch(&other).unwrap();
    other.synchronize().unwrap();
    drop(exec);
    assert_eq!(device.memory_statistics().allocated, 0);
}

/// The same under the checker.
#[test]
fn no_launch_races_with_what_a_capture_allocated_and_did_not_use() {
    if !is_child() {
        if is_host() {
            let test = "graph::memory::no_launch_races_with_what_a_capture_allocated_and_did_not_use";
            let output = again(test, &[("HIPSTACK_HOST_CHECK", "1")]);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}{errors}", String::from_utf8_lossy(&output.stdout));
        }
        return;
    }
    let device = Device::new(&hip_host::platform(), 0).unwrap();
    let (stream, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let (graph, mut kept) = unused_in_its_capture(&stream);
    let exec = graph.instantiate().unwrap();
    for value in 0..3 {
        other.memset(&mut kept, value).unwrap();
        exec.launch(&stream).unwrap();
    }
    other.download(&kept).unwrap();
    device.synchronize().unwrap();
    let conflicts: Vec<_> = take_reports().into_iter().map(|report| report.conflict).collect();
    assert_eq!(conflicts, []);
}

/// They may not know of the capture: it may end between their allocation and their first use of it.
#[test]
fn allocations_of_other_threads_do_not_belong_to_the_graph() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut others = None;
    let graph = stream.capture(|stream| {
        let mut temporary = stream.alloc_zeros::<u8>(LEN)?;
        stream.memset(&mut temporary, 0xff)?;
        // SAFETY: S15: it is set before it is read.
        let allocate = || unsafe { stream.alloc_uninit::<u8>(LEN) };
        others = Some(std::thread::scope(|scope| scope.spawn(allocate).join().unwrap())?);
        Ok(())
    });
    let (exec, mut others) = (graph.unwrap().instantiate().unwrap(), others.unwrap());
    assert!(!others.is_used_by_graphs());
    stream.memset(&mut others, 7).unwrap();
    exec.launch(&stream).unwrap();
    assert_eq!(stream.download(&others).unwrap(), [7; LEN]);
    drop((exec, others));
    assert_eq!(device.memory_statistics().allocated, 0);
}

/// Copy-on-write code checks this, because a graph does not count as an owner.
#[test]
fn memory_counts_the_graphs_that_use_it() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let [mut written, mut read] = [1, 2].map(|value| stream.upload(&[value; LEN]).unwrap());
    let mut made = None;
    let (writes, uses) = (DeviceBuffer::<u8>::is_written_by_graphs, DeviceBuffer::<u8>::is_used_by_graphs);
    let graph = stream.capture(|stream| {
        assert!(!uses(&written) && !uses(&read));
        let mut fresh = stream.clone_of(&read)?;
        stream.copy(&fresh, &mut written)?;
        stream.memset(&mut fresh, 3)?;
        // The thread that captures knows the order; the others do not.
        assert!(!writes(&written) && !writes(&fresh) && !writes(&read) && uses(&written) && uses(&read));
        std::thread::scope(|scope| assert!(scope.spawn(|| writes(&written)).join().unwrap()));
        made = Some(fresh);
        Ok(())
    });
    let (graph, mut made) = (graph.unwrap(), made.unwrap());
    assert!(writes(&written) && writes(&made) && uses(&read) && !writes(&read));
    let exec = graph.instantiate().unwrap();
    drop(graph);
    assert!(writes(&written) && writes(&made));
    // Two graphs that write it are counted separately.
    let other = stream.capture(|stream| {
        stream.memset(&mut written, 4)?;
        stream.memset(&mut read, 5)?;
        assert!(writes(&written) && !writes(&read));
        Ok(())
    });
    exec.launch(&stream).unwrap();
    drop(exec);
    assert!(writes(&written) && writes(&read) && !uses(&made));
    drop(other);
    assert!(!uses(&written) && !uses(&read));
    stream.memset(&mut made, 6).unwrap();
    assert_eq!(stream.download(&written).unwrap(), [2; LEN]);
}

#[test]
fn work_prepared_in_a_capture_whose_memory_could_not_be_zeroed_is_refused() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let kept = OnceCell::<DeviceBuffer<u8>>::new();
    let mut prepared = stream.submission();
    let graph = stream.capture(|stream| {
        prepared.read(kept.get_or_init(|| stream.alloc_zeros(LEN).unwrap()));
        fail_next("hipMemsetAsync", 1999);
        Ok(())
    });
    assert_eq!(graph.unwrap_err().hip_code(), Some(1999));
    // SAFETY: S5: the call does nothing.
    let answer = unsafe { prepared.submit::<()>("reading it", |_| panic!("it is not called")) };
    assert!(matches!(answer.unwrap_err(), Error::Capturing { .. }));
    assert!(matches!(stream.download(kept.get().unwrap()).unwrap_err(), Error::Capturing { .. }));
}

/// What the driver says of a node that allocates.
unsafe extern "C" fn a_node_that_allocates(
    _node: hipGraphNode_t,
    answer: *mut hipGraphNodeType,
) -> hipError_t {
    // SAFETY: S11: the caller's output pointer for the result.
    unsafe { answer.write(hipGraphNodeType::hipGraphNodeTypeMemAlloc) };
    hipError_t::hipSuccess
}

#[test]
fn a_graph_that_allocates_by_itself_is_refused() {
    let platform = changed_platform(|table| table.hipGraphNodeGetType = a_node_that_allocates);
    let device = Device::new(&Arc::new(platform), 0).unwrap();
    let stream = device.new_stream().unwrap();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    calls();
    let error = stream.capture(|stream| stream.memset(&mut buffer, 1)).unwrap_err();
    assert!(matches!(error, Error::GraphMemory { nodes: 1 }), "{error:?}");
    assert!(error.to_string().contains("allocate through the stream"), "{error}");
    assert!(calls().contains(&"hipGraphDestroy"));
    assert_eq!(stream.download(&buffer).unwrap(), [0; LEN]);
}

#[test]
fn an_allocation_by_the_raw_handle_gives_no_graph() {
    let stream = under_test::stream();
    let hip = stream.device().platform().hip();
    let mut answer = None;
    let error = stream.capture(|stream| {
        let mut pointer = null_mut();
        // SAFETY: S1: a live variable and a live stream.
        answer = Some(unsafe { (hip.hipMallocAsync)(&mut pointer, LEN, stream.raw()) });
        Ok(())
    });
    let error = error.unwrap_err();
    match answer.map(|code| code.0) {
        // hip-host does not capture it, and the capture is spoilt.
        Some(900) => assert_eq!(error.hip_code(), Some(901), "{error}"),
        Some(0) => assert!(matches!(error, Error::GraphMemory { nodes: 1 }), "{error:?}"),
        other => panic!("{other:?}: {error}"),
    }
    assert_eq!(stream.download(&stream.upload(&[1_u8]).unwrap()).unwrap(), [1], "the stream goes on");
}
