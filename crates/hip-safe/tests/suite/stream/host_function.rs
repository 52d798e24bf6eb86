//! Host functions: when and how often they run, and what happens to those that are never called.

use crate::under_test::{stream, two_devices};
use crate::waiting::in_time;
use crate::watched::{changed_platform, device, fail_next, no_fault, reported};
use hip_safe::{Device, Error, PinnedBuffer};
use hip_sys::Optional;
use hip_sys::hip::{hipError_t, hipHostFn_t, hipStream_t};
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const LEN: usize = 1 << 20;

#[test]
fn functions_run_once_and_in_order() {
    let stream = stream();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for number in 0..20 {
        let seen = Arc::clone(&seen);
        stream.launch_host(move || seen.lock().unwrap().push(number)).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!(*seen.lock().unwrap(), (0..20).collect::<Vec<_>>());
    assert_eq!(Arc::strong_count(&seen), 1, "captured values are dropped");
}

#[test]
fn a_function_reads_pinned_memory_after_the_copy_and_before_the_next_write() {
    let stream = stream();
    let buffer = stream.upload(&vec![5_u32; LEN]).unwrap();
    let mut pinned = PinnedBuffer::<u32>::zeroed(stream.device(), LEN).unwrap();
    let (sender, receiver) = mpsc::channel();
    let other = stream.device().new_stream().unwrap();
    stream.copy_to_pinned(&buffer, &mut pinned).unwrap();
    let sum = move |values: &[u32]| {
        std::thread::sleep(Duration::from_millis(50));
        sender.send(values.iter().map(|&value| u64::from(value)).sum::<u64>()).unwrap();
    };
    other.launch_host_with(&pinned, sum).unwrap();
    pinned.as_mut_slice().unwrap().fill(1);
    assert_eq!(receiver.try_recv().unwrap(), 5 * LEN as u64, "writing waited for the function");
}

#[test]
fn a_function_writes_pinned_memory_before_the_next_copy() {
    let stream = stream();
    let mut buffer = stream.alloc_zeros::<u32>(LEN).unwrap();
    let mut pinned = PinnedBuffer::<u32>::zeroed(stream.device(), LEN).unwrap();
    let fill = |values: &mut [u32]| {
        std::thread::sleep(Duration::from_millis(50));
        values.fill(3);
    };
    stream.launch_host_with_mut(&mut pinned, fill).unwrap();
    let other = stream.device().new_stream().unwrap();
    other.copy_from_pinned(&pinned, &mut buffer).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), vec![3; LEN]);
    assert_eq!(pinned.as_slice().unwrap()[0], 3);
    // Dropping it waits as well.
    stream.launch_host_with_mut(&mut pinned, fill).unwrap();
    drop(pinned);
    assert!(stream.is_done().unwrap());
}

#[test]
fn empty_pinned_memory_is_an_empty_slice() {
    let stream = stream();
    let (sender, receiver) = mpsc::channel();
    let empty = PinnedBuffer::<u64>::zeroed(stream.device(), 0).unwrap();
    stream.launch_host_with(&empty, move |values| sender.send(values.len()).unwrap()).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(receiver.recv().unwrap(), 0);
}

#[test]
fn a_panic_is_caught_and_reported() {
    let stream = device().new_stream().unwrap();
    let answer = hip_safe::drop_errors();
    stream.launch_host(|| panic!("number {}", 4711)).unwrap();
    stream.synchronize().unwrap();
    assert!(hip_safe::drop_errors() > answer);
    assert!(reported(&format!("a host function on {stream} panicked: number 4711")));
    let (sender, receiver) = mpsc::channel();
    stream.launch_host(move || sender.send(()).unwrap()).unwrap();
    stream.synchronize().unwrap();
    receiver.recv().expect("the stream goes on");
}

#[test]
fn a_function_makes_no_calls() {
    let stream = device().new_stream().unwrap();
    let (sender, receiver) = mpsc::channel();
    let (device, other) = (stream.device().clone(), stream.clone());
    stream.launch_host(move || sender.send([device.synchronize(), other.synchronize()]).unwrap()).unwrap();
    stream.synchronize().expect("elsewhere calls are made");
    for answer in receiver.recv().unwrap() {
        assert!(matches!(answer, Err(Error::InHostFunction)), "{answer:?}");
    }
}

#[test]
fn a_stream_dropped_in_its_own_host_function_ends_on_another_thread() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let (go, gate) = mpsc::channel();
    let (sender, receiver) = mpsc::channel();
    let last = stream.clone();
    let buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    stream
        .launch_host(move || {
            gate.recv().unwrap();
            drop((last, buffer));
            sender.send(()).unwrap();
        })
        .unwrap();
    drop(stream);
    go.send(()).unwrap();
    device.synchronize().unwrap();
    receiver.recv().expect("the function ends");
}

/// A value whose drop waits for the device and sends the result.
struct Waiting {
    device: Device,
    answer: mpsc::Sender<Result<(), Error>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.answer.send(self.device.synchronize()).unwrap();
    }
}

#[test]
fn values_whose_drop_waits_are_dropped_on_another_thread() {
    in_time(|| {
        let stream = device().new_stream().unwrap();
        let device = stream.device().clone();
        device.check_usable().unwrap();
        let (answer, answers) = mpsc::channel();
        let waiting = Waiting { device: device.clone(), answer: answer.clone() };
        let (sender, checked) = mpsc::channel();
        let own = device.clone();
        let function = move || {
            sender.send(own.check_usable()).unwrap();
            assert!(hip_safe::drop_elsewhere(waiting));
        };
        stream.launch_host(function).unwrap();
        answers.recv().unwrap().expect("it may wait there");
        assert!(matches!(checked.recv().unwrap(), Err(Error::InHostFunction)));
        let captured = stream.capture(|_| {
            assert!(hip_safe::drop_elsewhere(Waiting { device, answer }));
            Ok(())
        });
        captured.unwrap();
        answers.recv().unwrap().expect("it may wait there, afterwards");
    });
}

#[test]
fn a_function_whose_submission_fails_is_dropped() {
    let stream = device().new_stream().unwrap();
    let captured = Arc::new(AtomicU32::new(0));
    // Of an only device it is not asked whether it is current.
    let asked = two_devices().map(|_| "hipGetDevice");
    for call in ["hipLaunchHostFunc"].into_iter().chain(asked) {
        let counted = Arc::clone(&captured);
        fail_next(call, 1999);
        let error = stream
            .launch_host(move || {
                counted.fetch_add(1, Ordering::SeqCst);
            })
            .unwrap_err();
        assert_eq!(error.hip_code(), Some(1999));
        assert!(!no_fault());
        assert_eq!((Arc::strong_count(&captured), captured.load(Ordering::SeqCst)), (1, 0));
    }
}

unsafe extern "C" fn never_calls(_: hipStream_t, _: hipHostFn_t, _: *mut c_void) -> hipError_t {
    hipError_t(0)
}

/// A driver that accepts a function and never calls it stands for a lost device.
#[test]
fn a_function_that_is_never_called_is_dropped_with_the_stream() {
    let platform = changed_platform(|table| {
        table.hipLaunchHostFunc = Optional::present(never_calls, "hipLaunchHostFunc", "5.3");
    });
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    let captured = Arc::new(());
    let kept = Arc::clone(&captured);
    stream.launch_host(move || drop(kept)).unwrap();
    assert_eq!(Arc::strong_count(&captured), 2);
    drop(stream);
    assert_eq!(Arc::strong_count(&captured), 1);
}

#[test]
fn a_library_without_host_functions_is_an_error() {
    let platform = changed_platform(|table| {
        table.hipLaunchHostFunc = Optional::absent("hipLaunchHostFunc", "5.3");
    });
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    let error = stream.launch_host(|| unreachable!()).unwrap_err();
    assert!(
        matches!(&error, Error::Unsupported(missing) if missing.symbol == "hipLaunchHostFunc"),
        "{error}"
    );
}
