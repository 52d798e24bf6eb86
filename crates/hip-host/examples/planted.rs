//! Runs one of the kernels of tests/kernels/planted.cpp, each of which has a bug, on device 0: `planted KERNEL IMAGE`, with
//! the image that the example `compile` made. `cargo xtask sanitize --planted` does so with a sanitizer, and reads
//! its report.
//!
//! Without a sanitizer the bugs may crash the program.

use hip_sys::hip::{hipFunction_t, hipModule_t};
use hip_sys::{HipTable, hip};
use std::ffi::{CString, c_void};
use std::process::ExitCode;
use std::ptr::null_mut;

/// How a kernel is launched: grid, block, dynamic shared memory, the sizes of its buffers, and the last
/// argument if it is a number.
struct Launch {
    kernel: &'static str,
    grid: u32,
    block: u32,
    shared: u32,
    buffers: &'static [(usize, usize)],
    number: Option<i32>,
}

const fn launch(kernel: &'static str, block: u32, buffers: &'static [(usize, usize)]) -> Launch {
    Launch { kernel, grid: 1, block, shared: 0, buffers, number: None }
}

/// Buffers are given as number of elements and bytes per element.
const LAUNCHES: &[Launch] = &[
    Launch { number: Some(5), ..launch("global_write", 32, &[(5, 4)]) },
    Launch { number: Some(1000), ..launch("global_read", 1, &[(1000, 4), (1, 4)]) },
    Launch { number: Some(32), ..launch("global_before", 32, &[(32, 4)]) },
    Launch { number: Some(13), ..launch("global_byte", 32, &[(13, 1)]) },
    launch("use_after_free", 32, &[(32, 4)]),
    Launch { shared: 400, number: Some(100), ..launch("dynamic_shared_write", 100, &[(100, 4)]) },
    Launch { shared: 404, number: Some(101), ..launch("dynamic_shared_read", 101, &[(101, 4)]) },
    Launch { number: Some(33), ..launch("static_shared_write", 64, &[(64, 4)]) },
    Launch { number: Some(33), ..launch("static_shared_read", 64, &[(64, 4)]) },
    Launch { number: Some(4), ..launch("local_array", 32, &[(32, 4)]) },
    Launch { number: Some(7), ..launch("device_variable", 32, &[(32, 4)]) },
    launch("missing_barrier", 128, &[(128, 4)]),
    Launch { number: Some(3), ..launch("missing_second_barrier", 128, &[(128, 4)]) },
    launch("missing_syncwarp", 32, &[(32, 4)]),
    launch("syncwarp_for_block", 128, &[(128, 4)]),
    Launch { shared: 64, ..launch("dynamic_shared_race", 64, &[(64, 4)]) },
    launch("global_race", 32, &[(2, 4)]),
    launch("lost_update", 64, &[(1, 4)]),
    launch("half_atomic", 32, &[(2, 4)]),
    Launch { grid: 2, ..launch("blocks_race", 1, &[(1, 4), (1, 4)]) },
    Launch {
        grid: 40,
        shared: 1024,
        number: Some(256),
        ..launch("all_right", 256, &[(40 * 256, 4), (1, 4)])
    },
];

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let names = || LAUNCHES.iter().map(|launch| launch.kernel).collect::<Vec<_>>().join(" ");
    let [name, file] = wanted.as_slice() else {
        eprintln!("name the image and one of its kernels: {}", names());
        return ExitCode::from(2);
    };
    let Some(launch) = LAUNCHES.iter().find(|launch| launch.kernel == name) else {
        eprintln!("no kernel is called {name}: there are {}", names());
        return ExitCode::from(2);
    };
    let image = std::fs::read(file).expect("the image that the example `compile` wrote");
    run(launch, &image);
    println!("{name} ran");
    ExitCode::SUCCESS
}

fn run(launch: &Launch, image: &[u8]) {
    let platform = hip_host::platform();
    let table: &HipTable = platform.hip();
    let function = function(table, image, launch.kernel);
    let mut buffers: Vec<*mut c_void> =
        launch.buffers.iter().map(|(count, bytes)| allocate(table, count * bytes)).collect();
    if launch.kernel == "use_after_free" {
        free(table, buffers[0]);
    }
    let mut number = launch.number.unwrap_or_default();
    let mut arguments: Vec<*mut c_void> = buffers.iter_mut().map(|p| (&raw mut *p).cast()).collect();
    if launch.number.is_some() {
        arguments.push((&raw mut number).cast());
    }
    let (grid, block, shared) = (launch.grid, launch.block, launch.shared);
    let (list, none) = (arguments.as_mut_ptr(), null_mut());
    // SAFETY: S1, S9: the arguments are those that the kernel declares; the sanitizer detects what it does
    // wrong with them.
    unsafe {
        let started =
            (table.hipModuleLaunchKernel)(function, grid, 1, 1, block, 1, 1, shared, null_mut(), list, none);
        assert_eq!(started.0, 0, "launch");
        assert_eq!((table.hipDeviceSynchronize)().0, 0, "the kernel ends");
    }
    let freed = usize::from(launch.kernel == "use_after_free");
    buffers.drain(freed..).for_each(|buffer| free(table, buffer));
}

fn function(table: &HipTable, image: &[u8], kernel: &str) -> hipFunction_t {
    let (mut module, mut function): (hipModule_t, hipFunction_t) = (null_mut(), null_mut());
    let name = CString::new(kernel).expect("no zero byte");
    // SAFETY: S1: a whole image; the output pointers are live.
    unsafe {
        assert_eq!((table.hipModuleLoadData)(&mut module, image.as_ptr().cast()).0, 0, "the module loads");
        assert_eq!(
            (table.hipModuleGetFunction)(&mut function, module, name.as_ptr()).0,
            0,
            "it has {kernel}"
        );
    }
    function
}

/// Zeroed device memory.
fn allocate(table: &HipTable, bytes: usize) -> *mut c_void {
    let mut pointer = null_mut();
    // SAFETY: S1, S2: the output pointer is live, and the fill covers the allocated bytes.
    unsafe {
        assert_eq!((table.hipMalloc)(&mut pointer, bytes).0, hip::hipError_t::hipSuccess.0, "memory");
        assert_eq!((table.hipMemset)(pointer, 0, bytes).0, 0, "a fill");
    }
    pointer
}

fn free(table: &HipTable, pointer: *mut c_void) {
    // SAFETY: S1: allocated above, and freed once.
    unsafe { assert_eq!((table.hipFree)(pointer).0, 0, "a free") };
}
