//! A whole program on a platform that delays and reorders what it may: every result is right, and nothing is reported.
//!
//! The platform reads its settings once, so the program runs in processes of their own.

use crate::under_test::{device, is_host, module, stream};
use crate::{again, is_child};
use hip_safe::{Device, Event, LaunchConfig, PinnedBuffer, SharedBuffer, Stream};
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

#[test]
fn a_whole_program_is_right_and_silent_under_every_seed() {
    if !is_host() {
        return;
    }
    for seed in 0..8 {
        let seed = seed.to_string();
        let variables = [("HIPSTACK_HOST_ADVERSARY", seed.as_str()), ("HIPSTACK_HOST_CHECK", "abort")];
        let output = again("adversary::program", &variables);
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
        // Every launch was announced.
        assert!(told.contains("child: unchecked 0"), "seed {seed}: {told}");
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
