//! How fast kernels run here: `cargo run --release -p hip-host --example measure`.
//!
//! Prints nanoseconds of processor time per barrier and per shuffle for each thread, microseconds for an empty launch and the wait for it,
//! and a vector addition against a plain Rust loop on as many threads.

use hip_host::abi::{Module, Runtime};
use hip_sys::HipTable;
use hip_sys::hip::{hipError_t, hipFunction_t};
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::time::Instant;

unsafe extern "C" {
    fn hiphost_module_test_plain_any(runtime: *const Runtime) -> *const Module;
    fn hiphost_module_test_threads_w32(runtime: *const Runtime) -> *const Module;
}

struct Hip(HipTable);

impl Hip {
    fn alloc(&self, bytes: usize) -> *mut c_void {
        let mut pointer = null_mut();
        // SAFETY: S1: a live place for the result.
        check(unsafe { (self.0.hipMalloc)(&mut pointer, bytes) });
        // SAFETY: S2: just allocated with that size.
        check(unsafe { (self.0.hipMemset)(pointer, 0, bytes) });
        pointer
    }

    fn function(&self, module: &str, name: &str) -> hipFunction_t {
        let (mut loaded, mut function) = (null_mut(), null_mut());
        let (image, name) = (hip_host::image(module), CString::new(name).expect("no zero byte"));
        // SAFETY: S1: an image, a C string, live places for the results.
        unsafe {
            check((self.0.hipModuleLoadData)(&mut loaded, image.as_ptr().cast()));
            check((self.0.hipModuleGetFunction)(&mut function, loaded, name.as_ptr()));
        }
        function
    }

    fn run(&self, function: hipFunction_t, grid: u32, block: u32, arguments: &mut [*mut c_void]) {
        let list = arguments.as_mut_ptr();
        // SAFETY: S9: callers pass what the kernel declares.
        unsafe {
            check((self.0.hipModuleLaunchKernel)(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                null_mut(),
                list,
                null_mut(),
            ));
            check((self.0.hipStreamSynchronize)(null_mut()));
        }
    }
}

fn check(status: hipError_t) {
    assert_eq!(status, hipError_t::hipSuccess);
}

/// Seconds of the fastest of several runs.
fn best(runs: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..runs).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

/// Seconds of processor time that the process has used.
fn processor_time() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: S1: a live place for the result.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// Least processor time of several runs, in seconds.
fn least_work(runs: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = processor_time();
        work();
        processor_time() - start
    };
    (0..runs).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn median(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[runs / 2]
}

fn address<T>(value: &mut T) -> *mut c_void {
    std::ptr::from_mut(value).cast()
}

fn main() {
    // SAFETY: S11: defined by HIPHOST_MODULE and linked into this program.
    unsafe {
        hip_host::register_module(hiphost_module_test_plain_any).expect("a good module");
        hip_host::register_module(hiphost_module_test_threads_w32).expect("a good module");
    }
    let hip = Hip(hip_host::platform().hip().clone());
    let threads = std::thread::available_parallelism().map_or(2, usize::from).max(2);
    println!("{threads} threads");

    let nothing = [hip.function("test_plain", "nothing"), hip.function("test_threads", "nothing")];
    for (function, kind) in nothing.into_iter().zip(["plain", "fibers"]) {
        let time = || hip.run(function, 1, 64, &mut []);
        println!("empty launch and wait, {kind}: {:.1} us (median)", 1e6 * median(2000, time));
    }

    let total = 1 << 16;
    let mut out = hip.alloc(4 * total);
    for (name, label) in [("barriers", "barrier"), ("shuffles_in_a_row", "shuffle")] {
        let function = hip.function("test_threads", name);
        for block in [32, 64, 128, 256, 512, 1024] {
            let mut time = |mut count: i32| {
                let grid = (total / block) as u32;
                least_work(5, || {
                    hip.run(function, grid, block as u32, &mut [address(&mut out), address(&mut count)])
                })
            };
            let each = (time(64) - time(0)) / 64.0 / total as f64;
            println!("{label}, block {block}: {:.1} ns a thread", 1e9 * each);
        }
    }

    for count in [1_usize << 20, 1 << 24] {
        let buffers = [(); 3].map(|()| hip.alloc(4 * count));
        let [mut a, mut b, mut c] = buffers;
        let mut n = count as u64;
        let plain = rust_loop(threads, count);
        println!("vector add of {count}: plain Rust loop {:.2} ms", 1e3 * plain);
        for (module, name) in
            [("test_plain", "vector_add_each"), ("test_plain", "vector_add"), ("test_threads", "vector_add")]
        {
            let function = hip.function(module, name);
            let grid = (count / 256) as u32;
            let mut run = || {
                let list = &mut [address(&mut a), address(&mut b), address(&mut c), address(&mut n)];
                hip.run(function, grid, 256, list);
            };
            run();
            let time = best(9, run);
            println!("  {module} {name}: {:.2} ms, {:.2} times that", 1e3 * time, time / plain);
        }
    }
}

/// The same addition in Rust: threads that exist already would only help it, so it is timed inside them.
fn rust_loop(threads: usize, count: usize) -> f64 {
    // Not zeros: those would be one page of memory, read again and again.
    let (a, b) = (vec![1.0_f32; count], vec![2.0_f32; count]);
    let mut c = vec![1.0_f32; count];
    let each = count.div_ceil(threads);
    let barrier = std::sync::Barrier::new(threads + 1);
    std::thread::scope(|scope| {
        let parts = c.chunks_mut(each).zip(a.chunks(each)).zip(b.chunks(each));
        for ((c, a), b) in parts {
            let barrier = &barrier;
            scope.spawn(move || {
                for _ in 0..10 {
                    barrier.wait();
                    for ((c, a), b) in c.iter_mut().zip(a).zip(b) {
                        *c = *a + *b;
                    }
                    barrier.wait();
                }
            });
        }
        best(10, || {
            barrier.wait();
            barrier.wait();
        })
    })
}
