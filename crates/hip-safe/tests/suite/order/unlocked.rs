//! No lock is held during a wait for the device, or while code of the program runs, because what is waited for may need the lock.

use crate::alone;
use crate::under_test::{is_host, stream, two_devices};
use crate::waiting::in_time;
use crate::watched::{self, changed_platform, device, during, fail_after, no_fault};
use hip_safe::{Device, DeviceBuffer, Error, GraphExec, MemoryReport, PinnedBuffer, Stream};
use hip_sys::Optional;
use hip_sys::hip::{hipDeviceProp_tR0600, hipError_t, hipHostFn_t, hipStream_t};
use std::ffi::{c_int, c_void};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const LEN: usize = 1000;

/// Keeps a stream's later work waiting until something is sent, or the sender is gone.
fn gate(stream: &Stream) -> Sender<()> {
    let (open, gate) = channel::<()>();
    stream.launch_host(move || gate.recv().unwrap_or_default()).unwrap();
    open
}

/// Gives a thread time to reach its wait. If it is late, the test covers less.
fn a_moment() {
    thread::sleep(Duration::from_millis(100));
}

#[test]
fn a_function_that_asks_for_memory_of_a_waiting_launch_gets_an_error() {
    in_time(|| {
        let device = device();
        let (s, s2) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let p = Arc::new(PinnedBuffer::from_slice(&device, &[1_u8; LEN]).unwrap());
        let mut x = s2.alloc_zeros::<u8>(LEN).unwrap();
        let exec = s2.capture(|s2| s2.copy_from_pinned(&p, &mut x)).unwrap().instantiate().unwrap();
        let q = Arc::clone(&p);
        let (sender, receiver) = channel();
        s.launch_host(move || {
            thread::sleep(Duration::from_millis(300));
            sender.send(q.as_slice().map(drop)).unwrap();
        })
        .unwrap();
        let reader = thread::spawn(move || (s.download(&x).unwrap(), x));
        a_moment();
        exec.launch(&s2).unwrap();
        assert!(matches!(receiver.recv().unwrap(), Err(Error::InHostFunction)));
        let (before, x) = reader.join().unwrap();
        assert_eq!(before, [0; LEN]);
        assert_eq!(s2.download(&x).unwrap(), [1; LEN]);
    });
}

/// Memory is locked in the order of addresses: some of these come before the one in the middle, if only few land elsewhere.
fn around(stream: &Stream) -> (Vec<DeviceBuffer<u8>>, DeviceBuffer<u8>) {
    let fresh = || stream.upload(&[7_u8; LEN]).unwrap();
    let mut others: Vec<_> = (0..8).map(|_| fresh()).collect();
    let middle = stream.alloc_zeros::<u8>(LEN).unwrap();
    others.extend((0..8).map(|_| fresh()));
    stream.synchronize().unwrap();
    (others, middle)
}

/// A graph that copies the first one into the one in the middle and uses all others.
fn of_all(stream: &Stream, others: &mut [DeviceBuffer<u8>], middle: &mut DeviceBuffer<u8>) -> GraphExec {
    let graph = stream.capture(|stream| {
        stream.copy(&others[0], middle)?;
        others.iter_mut().try_for_each(|other| stream.memset(other, 7))
    });
    graph.unwrap().instantiate().unwrap()
}

/// Another stream reads each of them at once. The copy on the host is pinned, because CUDA lets one thread at a time wait for a copy
/// to memory that is not.
fn read_each(stream: &Stream, others: &[DeviceBuffer<u8>], pinned: &mut PinnedBuffer<u8>) {
    for other in others {
        let copy = stream.clone_of(other).unwrap();
        stream.copy_to_pinned(&copy, pinned).unwrap();
        assert_eq!(pinned.to_vec().unwrap(), [7; LEN]);
    }
}

#[test]
fn a_thread_that_waits_for_a_read_holds_no_other_lock() {
    in_time(|| {
        let device = device();
        let [reader, launcher, third] = [(); 3].map(|()| device.new_stream().unwrap());
        let (mut others, mut middle) = around(&launcher);
        let mut pinned = PinnedBuffer::zeroed(&device, LEN).unwrap();
        let exec = of_all(&launcher, &mut others, &mut middle);
        let (open, middle) = (gate(&reader), Arc::new(middle));
        let mine = Arc::clone(&middle);
        let reading = thread::spawn(move || reader.download(&*mine).unwrap());
        a_moment();
        let launching = thread::spawn(move || exec.launch(&launcher).map(|()| launcher).unwrap());
        a_moment();
        read_each(&third, &others, &mut pinned);
        assert!(!reading.is_finished() && !launching.is_finished());
        open.send(()).unwrap();
        assert_eq!(reading.join().unwrap(), [0; LEN]);
        let launcher = launching.join().unwrap();
        assert_eq!(launcher.download(&*middle).unwrap(), [7; LEN], "the launch came after the read");
    });
}

#[test]
fn a_copy_of_pinned_memory_that_waits_keeps_no_reader_away() {
    in_time(|| {
        let device = device();
        let (writer, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let ones = writer.upload(&[1_u8; LEN]).unwrap();
        let mut pinned = PinnedBuffer::<u8>::zeroed(&device, LEN).unwrap();
        let exec = writer.capture(|writer| writer.copy_to_pinned(&ones, &mut pinned)).unwrap().instantiate();
        let (exec, pinned) = (exec.unwrap(), Arc::new(pinned));
        // The copy waits for what is there, and then for what came meanwhile.
        let first = gate(&writer);
        exec.launch(&writer).unwrap();
        let mine = Arc::clone(&pinned);
        let copying = thread::spawn(move || mine.to_vec().unwrap());
        a_moment();
        let second = gate(&writer);
        exec.launch(&writer).unwrap();
        first.send(()).unwrap();
        a_moment();
        assert!(!copying.is_finished());
        let mut target = other.alloc_zeros::<u8>(LEN).unwrap();
        other.copy_from_pinned(&pinned, &mut target).unwrap();
        second.send(()).unwrap();
        assert_eq!(copying.join().unwrap(), [1; LEN]);
        assert_eq!(other.download(&target).unwrap(), [1; LEN]);
    });
}

#[test]
fn writes_of_pinned_memory_by_the_host_and_by_graphs_are_ordered() {
    let device = device();
    let stream = device.new_stream().unwrap();
    let mut pinned = PinnedBuffer::<u8>::zeroed(&device, 1 << 20).unwrap();
    let mut target = stream.alloc_zeros::<u8>(1 << 20).unwrap();
    let graph = stream.capture(|stream| stream.copy_from_pinned(&pinned, &mut target)).unwrap();
    let exec = graph.instantiate().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..50 {
                exec.launch(&stream).unwrap();
                let seen = stream.download(&target).unwrap();
                assert!(seen.iter().all(|byte| *byte == seen[0]), "a launch in the middle of a write");
            }
        });
        for byte in 0..50 {
            pinned.copy_from_slice(&vec![byte; 1 << 20]).unwrap();
        }
    });
}

#[test]
fn a_copy_from_the_host_that_waits_keeps_only_its_own_memory() {
    in_time(|| {
        let device = device();
        let [writer, launcher, third] = [(); 3].map(|()| device.new_stream().unwrap());
        let (mut others, mut middle) = around(&launcher);
        let mut pinned = PinnedBuffer::zeroed(&device, LEN).unwrap();
        // A graph has a reference too, so it takes the lock.
        let exec = of_all(&launcher, &mut others, &mut middle);
        let open = gate(&writer);
        let writing = thread::spawn(move || {
            writer.copy_from_host(&[5; LEN], &mut middle).unwrap();
            middle
        });
        a_moment();
        let launching = thread::spawn(move || exec.launch(&launcher).map(|()| launcher).unwrap());
        a_moment();
        read_each(&third, &others, &mut pinned);
        open.send(()).unwrap();
        let (middle, launcher) = (writing.join().unwrap(), launching.join().unwrap());
        assert_eq!(launcher.download(&middle).unwrap(), [7; LEN], "the launch came after the copy");
    });
}

/// A result on the host, or a search among algorithms: the library's call returns when the device has done it.
#[test]
fn a_library_s_call_that_waits_locks_no_memory() {
    in_time(|| {
        let device = device();
        let [caller, launcher, third] = [(); 3].map(|()| device.new_stream().unwrap());
        let (mut others, mut middle) = around(&launcher);
        // Graphs have references to all of it, so every use takes the lock.
        let exec = of_all(&launcher, &mut others, &mut middle);
        let reads =
            third.capture(|third| others.iter().try_for_each(|other| third.clone_of(other).map(drop)));
        let reads = reads.unwrap().instantiate().unwrap();
        let (open, gate) = channel::<()>();
        let (called, inside) = channel();
        let calling = thread::spawn(move || {
            let mut submission = caller.submission();
            for other in &others {
                submission.read(other);
            }
            submission.write(&mut middle).not_captured("a call that waits", "make it before the capture");
            // SAFETY: S5: it submits nothing.
            let waited = unsafe {
                submission.submit("a call that waits", |_| {
                    called.send(()).unwrap();
                    gate.recv()
                })
            };
            drop(submission);
            waited.unwrap().unwrap();
            (middle, others)
        });
        inside.recv().unwrap();
        // They read what it reads.
        reads.launch(&third).unwrap();
        third.synchronize().unwrap();
        // It writes both what is read and what is written.
        let launching = thread::spawn(move || exec.launch(&launcher).map(|()| launcher).unwrap());
        a_moment();
        reads.launch(&third).unwrap();
        assert!(!launching.is_finished() && !calling.is_finished());
        open.send(()).unwrap();
        let ((middle, others), launcher) = (calling.join().unwrap(), launching.join().unwrap());
        assert_eq!(launcher.download(&middle).unwrap(), [7; LEN]);
        assert_eq!(launcher.download(&others[0]).unwrap(), [7; LEN]);
    });
}

#[test]
fn work_comes_after_that_of_a_stream_which_is_ending_without_a_wait_of_the_host() {
    in_time(|| {
        let device = device();
        let (ending, other) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let mut buffer = other.alloc_zeros::<u8>(LEN).unwrap();
        let open = gate(&ending);
        ending.memset(&mut buffer, 9).unwrap();
        let ended = thread::spawn(move || drop(ending));
        a_moment();
        let copy = other.clone_of(&buffer).unwrap();
        assert!(!ended.is_finished());
        open.send(()).unwrap();
        ended.join().unwrap();
        assert_eq!(other.download(&copy).unwrap(), [9; LEN]);
        // Once it is gone there is nothing to wait for.
        assert_eq!(other.download(&other.clone_of(&buffer).unwrap()).unwrap(), [9; LEN]);
    });
}

#[test]
fn a_buffer_of_a_capture_that_a_function_drops_goes_back_to_its_graph() {
    in_time(|| {
        let stream = device().new_stream().unwrap();
        let mut kept = None;
        let graph = stream.capture(|stream| {
            kept = Some(stream.alloc_zeros::<u8>(LEN)?);
            Ok(())
        });
        let (graph, kept, device) = (graph.unwrap(), kept.unwrap(), stream.device().clone());
        stream.launch_host(move || drop(kept)).unwrap();
        stream.synchronize().unwrap();
        drop(graph);
        while device.memory_statistics().active > 0 {
            thread::yield_now();
        }
    });
}

unsafe extern "C" fn never_calls(_: hipStream_t, _: hipHostFn_t, _: *mut c_void) -> hipError_t {
    hipError_t(0)
}

/// Uses a buffer when it is dropped.
struct Uses {
    buffer: Arc<DeviceBuffer<u8>>,
    stream: Stream,
    sent: Sender<Vec<u8>>,
}

impl Drop for Uses {
    fn drop(&mut self) {
        let copy = self.stream.clone_of(&*self.buffer).unwrap();
        self.sent.send(self.stream.download(&copy).unwrap()).unwrap();
    }
}

/// The last reference to a stream goes in the middle of a submission that comes after its work: with the stream a function goes that it never
/// called, and what that has uses the memory that the submission has locked.
#[test]
fn a_stream_dropped_while_memory_is_locked_ends_afterwards() {
    let sent: Receiver<Vec<u8>> = in_time(|| {
        let platform = changed_platform(|table| {
            table.hipLaunchHostFunc = Optional::present(never_calls, "hipLaunchHostFunc", "5.3");
        });
        let device = Device::new(&Arc::new(platform), 0).unwrap();
        let [producer, consumer, third] = [(); 3].map(|()| device.new_stream().unwrap());
        let mut buffer = consumer.alloc_zeros::<u8>(LEN).unwrap();
        producer.memset(&mut buffer, 3).unwrap();
        let buffer = Arc::new(buffer);
        let (sender, sent) = channel();
        let uses = Uses { buffer: Arc::clone(&buffer), stream: third, sent: sender };
        producer.launch_host(move || drop(uses)).unwrap();
        during("hipStreamWaitEvent", move || drop(producer));
        let copy = consumer.clone_of(&*buffer).unwrap();
        assert_eq!(consumer.download(&copy).unwrap(), [3; LEN]);
        sent
    });
    assert_eq!(sent.recv().unwrap(), [3; LEN]);
}

unsafe extern "C" fn ask_for_a_report(out: *mut hipDeviceProp_tR0600, ordinal: c_int) -> hipError_t {
    drop(MemoryReport::now());
    let platform = hip_host::platform();
    let ask = platform.hip().hipGetDevicePropertiesR0600.get().unwrap();
    // SAFETY: S1: the caller's own arguments.
    unsafe { ask(out, ordinal) }
}

#[test]
fn the_list_of_devices_is_free_while_one_is_opened() {
    if !is_host() {
        return;
    }
    in_time(|| {
        let platform = changed_platform(|table| {
            let name = "hipGetDevicePropertiesR0600";
            table.hipGetDevicePropertiesR0600 = Optional::present(ask_for_a_report, name, "6.0");
        });
        let platform = Arc::new(platform);
        let device = Device::new(&platform, 0).unwrap();
        assert_eq!(Device::new(&platform, 0).unwrap(), device);
    });
}

/// Several open one device at once, and it is one; others come and go, whose ends are told.
#[test]
fn devices_are_opened_while_others_go() {
    const TEST: &str = "order::unlocked::devices_are_opened_while_others_go";
    if two_devices().is_none() || !alone(TEST) {
        return;
    }
    in_time(|| {
        let platform = watched::platform();
        let use_it = |ordinal| {
            let device = Device::new(&platform, ordinal).unwrap();
            drop(device.new_stream().unwrap().upload(&[1_u8; LEN]).unwrap());
            let again = Device::new(&platform, ordinal).unwrap();
            assert_eq!(device.id(), again.id());
        };
        crate::memory::traced::listened_everywhere(|| drop(MemoryReport::now()));
        thread::scope(|scope| {
            for ordinal in [0, 1, 0, 1] {
                let use_it = &use_it;
                scope.spawn(move || (0..200).for_each(|_| use_it(ordinal)));
            }
        });
    });
}

/// The hook is told after the capture has begun or ended: it may give its stream work.
#[test]
fn the_hook_may_use_the_stream_that_captures() {
    static STREAM: Mutex<Option<(Stream, DeviceBuffer<u8>)>> = Mutex::new(None);
    if two_devices().is_none() || !alone("order::unlocked::the_hook_may_use_the_stream_that_captures") {
        return;
    }
    in_time(|| {
        let platform = watched::platform();
        let [zero, one] = [0, 1].map(|ordinal| Device::new(&platform, ordinal).unwrap());
        let stream = zero.new_stream().unwrap();
        hip_safe::on_drop_error(|_| {
            let (stream, mut buffer) = STREAM.lock().unwrap().take().expect("it is told once");
            stream.memset(&mut buffer, 1).unwrap();
        });
        let _current = one.make_current().unwrap();
        for at_the_end in [false, true] {
            *STREAM.lock().unwrap() =
                Some((stream.clone(), zero.new_stream().unwrap().alloc_zeros(LEN).unwrap()));
            // The device is asked for, set, the capture begins or ends, and the former device cannot be set again.
            let captured = if at_the_end {
                stream.capture(|_| {
                    fail_after(3, 1999);
                    Ok(())
                })
            } else {
                fail_after(3, 1999);
                stream.capture(|_| Ok(()))
            };
            assert!(!no_fault() && STREAM.lock().unwrap().is_none(), "at the end: {at_the_end}");
            drop(captured);
            // SAFETY: S3: what a failed restoration has left is made right.
            let status = unsafe { (platform.hip().hipSetDevice)(one.raw_ordinal()) };
            assert_eq!(status.0, 0);
        }
    });
}

#[test]
fn a_payload_that_panics_in_drop_does_not_end_the_process() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("the payload of a panic");
        }
    }
    if !alone("order::unlocked::a_payload_that_panics_in_drop_does_not_end_the_process") {
        return;
    }
    let stream = stream();
    hip_safe::on_drop_error(|_| std::panic::panic_any(Payload));
    let before = hip_safe::drop_errors();
    stream.launch_host(|| std::panic::panic_any(Payload)).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(hip_safe::drop_errors(), before + 1);
    hip_safe::report_drop_error(&Error::NotReady);
    let buffer = stream.upload(&[1_u8, 2]).unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [1, 2], "the stream goes on");

    // A function that is never called has something whose drop panics.
    let captured = Payload;
    let platform = changed_platform(|table| {
        table.hipLaunchHostFunc = Optional::present(never_calls, "hipLaunchHostFunc", "5.3");
    });
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    let (sender, sent) = channel();
    hip_safe::on_drop_error(move |error| sender.send(error.to_string()).unwrap());
    stream.launch_host(move || drop(captured)).unwrap();
    drop(stream);
    assert!(sent.recv().unwrap().ends_with("panicked: the payload of a panic"));
}
