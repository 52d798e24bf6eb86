//! A program on a platform that delays and reorders work as far as allowed: every result is right, and the checker reports nothing.
//!
//! The platform reads its settings once, so the program runs in processes of their own.

use crate::under_test::{device, is_host, module, stream};
use crate::{again, is_child};
use hip_safe::{Device, DeviceBuffer, Event, LaunchConfig, PinnedBuffer, SharedBuffer, Stream};
use kernels_hip::args::Map2;

const LEN: usize = 1000;

/// Runs the program if this process was started for it.
#[test]
fn program() {
    if !is_child() {
        return;
    }
    for ordinal in 0..2 {
        whole_program(&device(ordinal));
    }
    assert_eq!(hip_host::checker::reports(), []);
    println!("\nchild: unchecked {}", hip_host::checker::unchecked());
}

/// Uploads, kernels, copies, sharing, pinned memory, events and two streams, and threads that hand a buffer over.
fn whole_program(device: &Device) {
    let module = module(device);
    let add = module.function("elementwise_add_f32").unwrap();
    let (first, second) = (device.new_stream().unwrap(), device.new_stream().unwrap());
    let sum = |stream: &Stream, a: &SharedBuffer<f32>, b: &SharedBuffer<f32>| {
        let mut sum = stream.alloc_zeros::<f32>(LEN).unwrap();
        let (count, flags) = (LEN as u64, Map2::A_TIGHT | Map2::B_TIGHT);
        let map = Map2 { count, rank: 1, flags, dims: [count; 8], a: [1; 8], b: [1; 8] };
        let mut launch = stream.launch(&add, LaunchConfig::linear(count, 64));
        launch.arg(a).arg(b).arg_mut(&mut sum).value(&map);
        // SAFETY: S9: the kernel reads LEN elements of a and b and writes LEN of the sum.
        unsafe { launch.submit() }.unwrap();
        sum
    };
    let ones = SharedBuffer::new(first.upload(&[1.0_f32; LEN]).unwrap());
    let mut total = SharedBuffer::new(first.alloc_zeros::<f32>(LEN).unwrap());
    let mut kept = Vec::new();
    for _ in 0..10 {
        total = SharedBuffer::new(sum(&first, &total, &ones));
        kept.push(total.clone());
    }
    // Written while shared: a copy.
    first.memset(total.make_mut(&first).unwrap(), 0).unwrap();
    let tens = kept.pop().unwrap();
    assert_eq!(tens.download().unwrap(), [10.0; LEN]);
    assert_eq!(total.download().unwrap(), [0.0; LEN]);

    // To another stream and another thread, through pinned memory and back.
    let mut moved = tens.try_unwrap().unwrap();
    let done = Event::new(device).unwrap();
    first.record_event(&done).unwrap();
    second.wait_event(&done).unwrap();
    moved.rebind(&second).unwrap();
    let mut pinned = PinnedBuffer::zeroed(device, LEN).unwrap();
    second.copy_to_pinned(&moved, &mut pinned).unwrap();
    pinned.as_mut_slice().unwrap()[0] = 5.0;
    second.copy_from_pinned(&pinned, &mut moved).unwrap();
    drop(pinned);
    let other = second.clone();
    let moved = std::thread::spawn(move || {
        let halves = moved.split_at(LEN / 2).unwrap();
        assert_eq!(other.download(&halves.0).unwrap()[..2], [5.0, 10.0]);
        moved
    });
    let moved = moved.join().unwrap();
    assert_eq!(second.download(&moved.slice(1..).unwrap()).unwrap(), [10.0; LEN - 1]);
    moved.close().unwrap();
}

/// Runs the program with graphs if this process was started for it.
#[test]
fn program_with_graphs() {
    if !is_child() {
        return;
    }
    for ordinal in 0..2 {
        launches_of_graphs(&device(ordinal));
    }
    assert_eq!(hip_host::checker::reports(), []);
    println!("\nchild: unchecked {}", hip_host::checker::unchecked());
}

/// One graph launched on two streams, between other work on its buffers on both, then updated; another thread has a third stream.
fn launches_of_graphs(device: &Device) {
    let module = module(device);
    let add = module.function("elementwise_add_f32").unwrap();
    let streams = [(); 3].map(|()| device.new_stream().unwrap());
    let [first, second, third] = &streams;
    let mut input = PinnedBuffer::from_slice(device, &[1.0_f32; LEN]).unwrap();
    let mut output = PinnedBuffer::<f32>::zeroed(device, LEN).unwrap();
    let mut step = first.alloc_zeros::<f32>(LEN).unwrap();
    let mut total = second.alloc_zeros::<f32>(LEN).unwrap();
    let mut capture = |on: &Stream, kept: &mut Option<DeviceBuffer<f32>>| {
        let graph = on.capture(|stream| {
            stream.copy_from_pinned(&input, &mut step)?;
            // Temporaries that use the same memory one after the other.
            let former = stream.clone_of(&total)?;
            let (count, flags) = (LEN as u64, Map2::A_TIGHT | Map2::B_TIGHT);
            let map = Map2 { count, rank: 1, flags, dims: [count; 8], a: [1; 8], b: [1; 8] };
            let mut launch = stream.launch(&add, LaunchConfig::linear(count, 64));
            launch.arg(&former).arg(&step).arg_mut(&mut total).value(&map);
            // SAFETY: S9: the kernel reads LEN elements of both inputs and writes LEN of the total.
            unsafe { launch.submit() }?;
            drop(former);
            let copy = stream.clone_of(&total)?;
            stream.copy_to_pinned(&copy, &mut output)?;
            *kept = Some(copy);
            Ok(())
        });
        graph.unwrap()
    };
    let mut kept = [None, None];
    let graph = capture(first, &mut kept[0]);
    let other = capture(third, &mut kept[1]);
    let mut exec = graph.instantiate().unwrap();
    let twin = graph.instantiate().unwrap();
    drop(graph);
    for round in 0..6 {
        exec.launch(&streams[round % 2]).unwrap();
        twin.launch(&streams[(round + 1) % 3]).unwrap();
        // The last one was the 2 * round + 2nd launch.
        let expected = [2.0 * round as f32 + 2.0; LEN];
        assert_eq!(streams[round % 3].download(&total).unwrap(), expected);
        assert_eq!(streams[(round + 2) % 3].download(kept[0].as_ref().unwrap()).unwrap(), expected);
        assert_eq!(output.to_vec().unwrap(), expected);
    }
    exec.update(&other).unwrap();
    drop(other);
    input.copy_from_slice(&[2.0; LEN]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| (0..5).for_each(|_| exec.launch(first).unwrap()));
        scope.spawn(|| (0..5).for_each(|_| twin.launch(second).unwrap()));
        third.memset(&mut step, 0).unwrap();
    });
    // Buffers and graphs are dropped during launches, and their memory is reused.
    drop(kept);
    drop((exec, twin, step));
    let others: Vec<_> = streams.iter().map(|stream| stream.alloc_zeros::<f32>(LEN).unwrap()).collect();
    assert_eq!(output.as_slice().unwrap(), [32.0; LEN]);
    assert_eq!(third.download(&total).unwrap(), [32.0; LEN]);
    for (stream, other) in streams.iter().zip(&others) {
        assert_eq!(stream.download(other).unwrap(), [0.0; LEN]);
    }
}

#[test]
fn a_whole_program_is_right_and_silent_under_every_seed() {
    is_right_and_silent("order::adversary::program", 8);
}

#[test]
fn a_program_with_graphs_is_right_and_silent_under_every_seed() {
    is_right_and_silent("order::adversary::program_with_graphs", 8);
}

fn is_right_and_silent(program: &str, seeds: u32) {
    if !is_host() {
        return;
    }
    for seed in 0..seeds {
        let seed = seed.to_string();
        let variables = [("HIPSTACK_HOST_ADVERSARY", seed.as_str()), ("HIPSTACK_HOST_CHECK", "abort")];
        let output = again(program, &variables);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
        // Every launch was announced.
        assert!(text.contains("child: unchecked 0"), "seed {seed}: {text}");
    }
}

#[test]
fn nothing_is_announced_to_a_platform_that_does_not_check() {
    if !is_host() {
        return;
    }
    // Unless somebody runs all tests with the checker on.
    let asked =
        ["HIPSTACK_HOST_ADVERSARY", "HIPSTACK_HOST_CHECK"].iter().any(|n| std::env::var_os(n).is_some());
    let stream = stream();
    assert_eq!(stream.device().platform().ext().announce.is_some(), asked);
}
