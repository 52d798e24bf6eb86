//! Launches of buffers and one value: the same results as by the builder, on the fast path and off it.

use crate::under_test::{device, module, ordinals, two_devices};
use crate::waiting::{RECORD_AND_WAIT, streams, waits};
use crate::watched::{self, calls, fail_next, work_calls};
use hip_safe::{BufferArgument, DeviceSlice, DeviceSliceMut, Error, Function, LaunchConfig, Result, Stream};
use kernels_hip::args::{Map1, Map2};
use std::thread;

/// `out = a + b`, of as many elements as `a` has.
fn add<A, B, O>(stream: &Stream, kernel: &Function, a: &A, b: &B, out: &mut O) -> Result<()>
where
    A: DeviceSlice<Item = f32>,
    B: DeviceSlice<Item = f32>,
    O: DeviceSliceMut<Item = f32>,
{
    let count = a.as_view().len() as u64;
    let map = Map2::flat(count, Map2::A_TIGHT | Map2::B_TIGHT);
    let buffers = [BufferArgument::read(a), BufferArgument::read(b), BufferArgument::write(out)];
    // SAFETY: S9: the kernel reads and writes as many elements as the buffers of each test have.
    unsafe { stream.launch_buffers(kernel, LaunchConfig::linear(count, 64), buffers, &map) }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

#[test]
fn kernels_of_one_and_of_two_inputs_compute_what_they_should() {
    for ordinal in ordinals() {
        let stream = device(ordinal).new_stream().unwrap();
        let module = module(stream.device());
        let (sum, neg) = (
            module.function("elementwise_add_f32").unwrap(),
            module.function("elementwise_neg_f32").unwrap(),
        );
        for count in [1, 63, 64, 1000] {
            let a = stream.upload(&numbers(count)).unwrap();
            let b = stream.upload(&vec![0.5_f32; count]).unwrap();
            let (mut sums, mut negated) =
                (stream.alloc_zeros(count).unwrap(), stream.alloc_zeros::<f32>(count).unwrap());
            add(&stream, &sum, &a, &b, &mut sums).unwrap();
            let buffers = [BufferArgument::read(&sums), BufferArgument::write(&mut negated)];
            let (config, map) = (LaunchConfig::linear(count as u64, 64), Map1::tight(count as u64));
            // SAFETY: S9: both have `count` elements.
            unsafe { stream.launch_buffers(&neg, config, buffers, &map) }.unwrap();
            let expected: Vec<f32> = (0..count).map(|i| -(i as f32 + 0.5)).collect();
            assert_eq!(stream.download(&negated).unwrap(), expected, "{count} elements on device {ordinal}");
        }
    }
}

#[test]
fn memory_may_be_read_twice_while_other_memory_is_written() {
    let stream = device(0).new_stream().unwrap();
    let kernel = module(stream.device()).function("elementwise_add_f32").unwrap();
    let mut buffer = stream.upload(&numbers(8)).unwrap();
    let mut out = stream.alloc_zeros(8).unwrap();
    add(&stream, &kernel, &buffer, &buffer, &mut out).unwrap();
    assert_eq!(stream.download(&out).unwrap(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]);
    let (left, mut right) = buffer.split_at_mut(4).unwrap();
    add(&stream, &kernel, &left, &left, &mut right).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [0.0, 1.0, 2.0, 3.0, 0.0, 2.0, 4.0, 6.0]);
    // The memory is unlocked again, and both uses are recorded.
    let other = stream.device().new_stream().unwrap();
    other.memset(&mut buffer, 0).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [0.0; 8]);
}

#[test]
fn other_streams_are_waited_for_and_wait() {
    let device = watched::device();
    let [first, second] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let [a, b] = [(); 2].map(|()| first.upload(&numbers(100)).unwrap());
    let (mut here, mut there) = (first.alloc_zeros(100).unwrap(), second.alloc_zeros(100).unwrap());
    calls();
    for _ in 0..3 {
        add(&first, &kernel, &a, &b, &mut here).unwrap();
    }
    assert_eq!(work_calls(), ["hipModuleLaunchKernel"; 3]);
    add(&second, &kernel, &a, &here, &mut there).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the first stream wrote it");
    add(&second, &kernel, &a, &here, &mut there).unwrap();
    assert_eq!(waits(), [""; 0]);
    add(&first, &kernel, &a, &b, &mut here).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the second stream reads it");
    add(&first, &kernel, &there, &b, &mut here).unwrap();
    assert_eq!(waits(), [""; 0], "the event covers what the second stream wrote");
    let expected: Vec<f32> = (0..100).map(|i| (4 * i) as f32).collect();
    assert_eq!(first.download(&here).unwrap(), expected);
}

#[test]
fn a_graph_launches_it_again() {
    let stream = device(0).new_stream().unwrap();
    let kernel = module(stream.device()).function("elementwise_add_f32").unwrap();
    let [a, mut b, mut out] = [1.0_f32, 2.0, 0.0].map(|value| stream.upload(&[value; 10]).unwrap());
    let graph = stream.capture(|stream| add(stream, &kernel, &a, &b, &mut out)).unwrap();
    assert_eq!((graph.node_count(), stream.download(&out).unwrap()), (1, vec![0.0; 10]));
    let exec = graph.instantiate().unwrap();
    for value in [2.0, 5.0] {
        stream.copy_from_host(&[value; 10], &mut b).unwrap();
        exec.launch(&stream).unwrap();
        assert_eq!(stream.download(&out).unwrap(), [1.0 + value; 10]);
    }
}

#[test]
fn errors_are_those_of_other_launches() {
    let stream = device(0).new_stream().unwrap();
    let kernel = module(stream.device()).function("elementwise_add_f32").unwrap();
    let a = stream.upload(&[1.0_f32; 4]).unwrap();
    let mut out = stream.alloc_zeros(4).unwrap();
    let (config, map) = (LaunchConfig::linear(4, 64), Map2::flat(4, Map2::A_TIGHT | Map2::B_TIGHT));
    let buffers = [BufferArgument::read(&a), BufferArgument::write(&mut out)];
    // SAFETY: S9: nothing is launched.
    let few = unsafe { stream.launch_buffers(&kernel, config, buffers, &map) }.unwrap_err();
    // SAFETY: S9: nothing is launched.
    let collected =
        unsafe { stream.launch(&kernel, config).arg(&a).arg_mut(&mut out).value(&map).submit() }.unwrap_err();
    assert!(matches!(few, Error::LaunchMismatch { .. }), "{few:?}");
    assert_eq!(few.to_string(), collected.to_string());
    let buffers = [BufferArgument::read(&a)];
    // SAFETY: S9: nothing is launched.
    let one = unsafe { stream.launch_buffers(&kernel, config, buffers, &map) }.unwrap_err();
    assert!(matches!(one, Error::LaunchMismatch { .. }), "{one:?}");

    let buffers = [BufferArgument::read(&a), BufferArgument::read(&a), BufferArgument::write(&mut out)];
    // SAFETY: S9: nothing is launched.
    let small = unsafe { stream.launch_buffers(&kernel, config, buffers, &4_u32) }.unwrap_err();
    let buffers = [BufferArgument::read(&a), BufferArgument::read(&a), BufferArgument::write(&mut out)];
    assert!(matches!(small, Error::LaunchMismatch { .. }), "{small:?}");
    let large = LaunchConfig { grid: [0, 1, 1], ..config };
    // SAFETY: S9: nothing is launched.
    let none = unsafe { stream.launch_buffers(&kernel, large, buffers, &map) }.unwrap_err();
    assert!(matches!(none, Error::LaunchLimit { what: "the grid along x", .. }), "{none:?}");
    assert_eq!(stream.download(&out).unwrap(), [0.0; 4], "nothing ran");

    let Some((_, second)) = two_devices() else { return };
    let elsewhere = second.new_stream().unwrap();
    let theirs = elsewhere.upload(&[0.0_f32; 4]).unwrap();
    let buffer = add(&stream, &kernel, &a, &theirs, &mut out).unwrap_err();
    assert!(matches!(buffer, Error::WrongDevice { what: "the buffer", .. }), "{buffer:?}");
    let function = add(&elsewhere, &kernel, &a, &a, &mut out).unwrap_err();
    assert!(matches!(function, Error::WrongDevice { what: "the kernel", .. }), "{function:?}");
}

#[test]
fn a_launch_that_fails_leaves_the_memory_usable() {
    let device = watched::device();
    let [first, second] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let a = first.upload(&[1.0_f32; 10]).unwrap();
    let mut out = first.alloc_zeros(10).unwrap();
    fail_next("hipModuleLaunchKernel", 1999);
    let error = add(&first, &kernel, &a, &a, &mut out).unwrap_err();
    assert_eq!(error.hip_code(), Some(1999));
    assert!(error.to_string().contains("launching elementwise_add_f32 on"), "{error}");
    calls();
    // It may have been submitted in part.
    add(&second, &kernel, &a, &a, &mut out).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
    assert_eq!(second.download(&out).unwrap(), [2.0; 10]);
}

#[test]
fn threads_read_the_same_memory_on_streams_of_their_own() {
    let stream = device(0).new_stream().unwrap();
    let kernel = &module(stream.device()).function("elementwise_add_f32").unwrap();
    let mut a = stream.upload(&[0.0_f32; 64]).unwrap();
    let b = &stream.upload(&[1.0_f32; 64]).unwrap();
    for round in 0..20_u16 {
        stream.copy_from_host(&[f32::from(round); 64], &mut a).unwrap();
        let shared = &a;
        thread::scope(|scope| {
            for _ in 0..4 {
                let own = stream.device().new_stream().unwrap();
                scope.spawn(move || {
                    let mut out = own.alloc_zeros(64).unwrap();
                    for _ in 0..10 {
                        add(&own, kernel, shared, b, &mut out).unwrap();
                    }
                    assert_eq!(own.download(&out).unwrap(), [f32::from(round) + 1.0; 64]);
                });
            }
        });
        // It comes after all that read it.
        add(&stream, kernel, b, b, &mut a).unwrap();
        assert_eq!(stream.download(&a).unwrap(), [2.0; 64]);
    }
}

#[test]
fn another_stream_waits_for_the_owner_stream_s_work() {
    let device = watched::device();
    let [home, other] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let [mut a, mut out] = [1.0_f32, 0.0].map(|value| home.upload(&[value; 10]).unwrap());
    for _ in 0..3 {
        add(&home, &kernel, &a, &a, &mut out).unwrap();
    }
    calls();
    // The last recorded use was a read, with no write since.
    other.memset(&mut a, 0).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT);
    add(&home, &kernel, &a, &a, &mut out).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "other streams used it meanwhile");
    assert_eq!(other.download(&out).unwrap(), [0.0; 10]);
}

#[test]
fn former_uses_of_memory_are_waited_for() {
    let device = watched::device();
    let [home, other] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let a = home.upload(&[1.0_f32; 1 << 16]).unwrap();
    // SAFETY: S15: each is written before it is read.
    let make = || unsafe { home.alloc_uninit::<f32>(1 << 16) }.unwrap();
    for (stream, expected) in [(&home, &[][..]), (&other, &RECORD_AND_WAIT[..])] {
        let mut former = make();
        let address = former.device_ptr();
        stream.memset(&mut former, 0).unwrap();
        drop(former);
        let mut out = make();
        assert_eq!(out.device_ptr(), address);
        calls();
        add(&home, &kernel, &a, &a, &mut out).unwrap();
        assert_eq!(waits(), expected);
        // What it wrote first is known, too.
        let mut read = other.alloc_zeros(1 << 16).unwrap();
        calls();
        add(&other, &kernel, &out, &out, &mut read).unwrap();
        assert_eq!(waits(), RECORD_AND_WAIT);
        assert_eq!(other.download(&read).unwrap(), [4.0; 1 << 16]);
    }
}

#[test]
fn results_that_are_complete_are_not_waited_for() {
    let device = watched::device();
    let [home, other] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let a = home.upload(&[1.0_f32; 10]).unwrap();
    // SAFETY: S15: the launch writes all of it.
    let mut out = unsafe { home.alloc_uninit(10) }.unwrap();
    let mut sums = other.alloc_zeros(10).unwrap();
    add(&home, &kernel, &a, &a, &mut out).unwrap();
    home.synchronize().unwrap();
    // Work that ends only after what the other stream does.
    let (sender, receiver) = std::sync::mpsc::channel();
    home.launch_host(move || receiver.recv().unwrap()).unwrap();
    calls();
    add(&other, &kernel, &out, &out, &mut sums).unwrap();
    assert_eq!(waits(), [""; 0]);
    assert_eq!(other.download(&sums).unwrap(), [4.0; 10]);
    sender.send(()).unwrap();
}

#[test]
fn memory_that_others_read_may_be_read_twice() {
    let device = watched::device();
    let [home, other, third] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let (mut a, mut out) = (home.upload(&[1.0_f32; 10]).unwrap(), home.alloc_zeros(10).unwrap());
    device.synchronize().unwrap();
    // From now on its uses take the lock.
    drop(other.clone_of(&a).unwrap());
    calls();
    add(&home, &kernel, &a, &a, &mut out).unwrap();
    assert_eq!(work_calls(), ["hipModuleLaunchKernel"], "a read waits for no other");
    let copy = third.clone_of(&out).unwrap();
    assert_eq!(waits(), RECORD_AND_WAIT, "the launch writes it");
    other.memset(&mut a, 0).unwrap();
    assert_eq!(waits(), ["hipStreamWaitEvent"], "the launch reads it, which that event covers");
    assert_eq!(third.download(&copy).unwrap(), [2.0; 10]);
}

#[test]
fn halves_of_a_buffer_are_written_on_two_streams_at_once() {
    let device = device(0);
    let [home, other, third] = [(); 3].map(|()| device.new_stream().unwrap());
    let kernel = &module(&device).function("elementwise_add_f32").unwrap();
    let ones = &home.upload(&[1.0_f32; 512]).unwrap();
    let twos = &other.upload(&[2.0_f32; 512]).unwrap();
    let mut buffer = home.alloc_zeros::<f32>(1024).unwrap();
    for _ in 0..50 {
        home.memset(&mut buffer, 0).unwrap();
        let (mut left, mut right) = buffer.split_at_mut(512).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| add(&home, kernel, ones, ones, &mut left).unwrap());
            scope.spawn(|| add(&other, kernel, twos, twos, &mut right).unwrap());
        });
        let read = third.download(&buffer).unwrap();
        assert_eq!((&read[..512], &read[512..]), (&[2.0; 512][..], &[4.0; 512][..]));
    }
}

#[test]
fn launches_of_a_graph_and_what_the_memory_s_own_stream_does_take_turns() {
    let device = watched::device();
    let [home, other] = streams(&device);
    let kernel = module(&device).function("elementwise_add_f32").unwrap();
    let ones = home.upload(&[1.0_f32; 10]).unwrap();
    let (mut sum, mut copy) = (home.alloc_zeros::<f32>(10).unwrap(), other.alloc_zeros::<f32>(10).unwrap());
    add(&home, &kernel, &ones, &ones, &mut sum).unwrap();
    let exec = other.capture(|stream| stream.copy(&sum, &mut copy)).unwrap().instantiate().unwrap();
    for _ in 0..3 {
        calls();
        exec.launch(&other).unwrap();
        assert_eq!(waits(), RECORD_AND_WAIT, "the own stream wrote it");
        add(&home, &kernel, &ones, &ones, &mut sum).unwrap();
        assert_eq!(waits(), RECORD_AND_WAIT, "the graph reads it");
    }
    assert_eq!(other.download(&copy).unwrap(), [2.0; 10]);
}
