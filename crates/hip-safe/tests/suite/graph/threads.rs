//! Graphs and several threads.

use crate::under_test;
use crate::waiting::in_time;
use crate::watched::changed_platform;
use hip_safe::{Device, DeviceBuffer, Error, Result};
use hip_sys::hip::*;
use std::ffi::c_ulonglong;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LEN: usize = 1000;

#[test]
fn work_of_other_threads_is_done_or_refused_and_never_captured() {
    const COUNT: usize = 200;
    let stream = under_test::stream();
    let sevens = stream.upload(&[7_u8; LEN]).unwrap();
    let (refused, captures) = (AtomicUsize::new(0), AtomicBool::new(false));
    let value = |at: usize| at as u8 | 1;
    /// What `work` gives once it is not refused.
    fn at_last<T>(refused: &AtomicUsize, mut work: impl FnMut() -> Result<T>) -> T {
        loop {
            match work() {
                Err(error @ Error::Capturing { .. }) => {
                    assert!(error.to_string().contains("another thread"), "{error}");
                    refused.fetch_add(1, Ordering::SeqCst);
                    std::thread::yield_now();
                }
                result => return result.unwrap(),
            }
        }
    }
    let submit = |mut bytes: DeviceBuffer<u8>| {
        let step = |at: usize| {
            at_last(&refused, || stream.memset(&mut bytes.slice_mut(at..=at).unwrap(), value(at)));
            // What it allocates for a copy that is refused is not the graph's.
            at_last(&refused, || stream.clone_of(&sevens))
        };
        while !captures.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        let copies: Vec<_> = (0..COUNT).map(step).collect();
        (bytes, copies)
    };
    let buffers = [(); 2].map(|()| stream.alloc_zeros::<u8>(COUNT).unwrap());
    let mut graphs = Vec::new();
    let done = std::thread::scope(|scope| {
        let submit = &submit;
        let threads = buffers.map(|bytes| scope.spawn(move || submit(bytes)));
        let go_on = || threads.iter().any(|thread| !thread.is_finished());
        while go_on() {
            let graph = stream.capture(|stream| {
                let mut temporary = stream.alloc_zeros::<u8>(LEN)?;
                stream.memset(&mut temporary, 0xff)?;
                captures.store(true, Ordering::SeqCst);
                let enough = refused.load(Ordering::SeqCst) + 2;
                while go_on() && refused.load(Ordering::SeqCst) < enough {
                    std::thread::yield_now();
                }
                Ok(())
            });
            let graph = graph.unwrap();
            assert_eq!(graph.node_count(), 2, "the work of others");
            graphs.push(graph.instantiate().unwrap());
            graphs.last().unwrap().launch(&stream).unwrap();
            // Lets the other threads run.
            std::thread::sleep(Duration::from_micros(100));
        }
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(refused.load(Ordering::SeqCst) > 0);
    let expected: Vec<_> = (0..COUNT).map(value).collect();
    for _ in 0..2 {
        for (bytes, copies) in &done {
            assert_eq!(stream.download(bytes).unwrap(), expected);
            assert!(copies.iter().all(|copy| stream.download(copy).unwrap() == [7; LEN]));
        }
        graphs.iter().for_each(|graph| graph.launch(&stream).unwrap());
    }
}

/// Whether two calls of the driver had one graph at the same time.
static SHARED: AtomicBool = AtomicBool::new(false);

fn with_a_graph(graph: hipGraph_t, call: impl FnOnce() -> hipError_t) -> hipError_t {
    static USED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let graph = graph.addr();
    if USED.lock().unwrap().contains(&graph) {
        SHARED.store(true, Ordering::SeqCst);
    }
    USED.lock().unwrap().push(graph);
    std::thread::sleep(Duration::from_millis(20));
    let answer = call();
    let mut used = USED.lock().unwrap();
    let at = used.iter().position(|known| *known == graph).expect("it was added");
    used.swap_remove(at);
    answer
}

unsafe extern "C" fn slow_instantiate(
    exec: *mut hipGraphExec_t,
    graph: hipGraph_t,
    flags: c_ulonglong,
) -> hipError_t {
    // SAFETY: S1: the arguments are the caller's own.
    with_a_graph(graph, || unsafe {
        (under_test::platform().hip().hipGraphInstantiateWithFlags)(exec, graph, flags)
    })
}

unsafe extern "C" fn slow_update(
    exec: hipGraphExec_t,
    graph: hipGraph_t,
    node: *mut hipGraphNode_t,
    result: *mut hipGraphExecUpdateResult,
) -> hipError_t {
    // SAFETY: S1: the arguments are the caller's own.
    with_a_graph(graph, || unsafe {
        (under_test::platform().hip().hipGraphExecUpdate)(exec, graph, node, result)
    })
}

#[test]
fn one_thread_at_a_time_has_a_graph() {
    let platform = changed_platform(|table| {
        table.hipGraphInstantiateWithFlags = slow_instantiate;
        table.hipGraphExecUpdate = slow_update;
    });
    let stream = Device::new(&Arc::new(platform), 0).unwrap().new_stream().unwrap();
    let mut buffer = stream.alloc_zeros::<u8>(LEN).unwrap();
    let graph = stream.capture(|stream| stream.memset(&mut buffer, 1)).unwrap();
    let longer = stream.capture(|stream| {
        stream.memset(&mut buffer, 2)?;
        stream.memset(&mut buffer, 3)
    });
    let longer = longer.unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut exec = graph.clone().instantiate().unwrap();
                exec.update(&graph).unwrap();
                // Its own graph is instantiated once more.
                assert!(matches!(exec.update(&longer).unwrap_err(), Error::GraphUpdate { .. }));
                exec.launch(&stream).unwrap();
            });
        }
    });
    assert_eq!(stream.download(&buffer).unwrap(), [1; LEN]);
    assert!(!SHARED.load(Ordering::SeqCst));
}

#[test]
fn a_capture_in_a_call_made_alone_is_refused() {
    in_time(|| {
        let stream = under_test::stream();
        let device = stream.device().clone();
        let inner = || device.call_alone(|| stream.capture(|_| Ok(())));
        let refused = device.call_alone(|| inner().unwrap().unwrap_err()).unwrap();
        assert!(
            matches!(refused, Error::Capturing { what: "a call by Device::call_alone", .. }),
            "{refused}"
        );
        assert!(!stream.is_capturing());
        let graph = stream.capture(|_| {
            let refused = device.call_alone(|| ()).unwrap_err();
            assert!(matches!(refused, Error::Capturing { .. }), "{refused}");
            Ok(())
        });
        graph.unwrap();
        device.call_alone(|| ()).unwrap();
    });
}

#[test]
fn a_buffer_is_written_after_a_graph_that_another_thread_drops() {
    const ROUNDS: u8 = 50;
    let [ours, theirs] = [(); 2].map(|()| under_test::stream());
    for round in 0..ROUNDS {
        let mut bytes = ours.alloc_zeros::<u8>(LEN).unwrap();
        let graph = theirs.capture(|stream| stream.memset(&mut bytes, 0xff)).unwrap().instantiate().unwrap();
        // The graph keeps the buffer until it is dropped. The owner may become the only one at any time.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                graph.launch(&theirs).unwrap();
                drop(graph);
            });
            for value in 0..20 {
                ours.memset(&mut bytes, value).unwrap();
                let seen = ours.download(&bytes).unwrap();
                assert!([value, 0xff].contains(&seen[0]), "round {round}: {}", seen[0]);
                assert!(seen.iter().all(|&byte| byte == seen[0]), "round {round}: two writes at once");
            }
        });
        // There is no other owner left.
        ours.memset(&mut bytes, round).unwrap();
        assert_eq!(ours.download(&bytes).unwrap(), [round; LEN]);
    }
}
