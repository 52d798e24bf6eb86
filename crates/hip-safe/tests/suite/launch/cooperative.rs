//! Cooperative launches: the blocks of a grid may wait for each other.

use crate::under_test::{is_host, module, stream};
use crate::watched::{calls, changed_platform, device, work_calls};
use hip_safe::{Device, Error, LaunchConfig, Result, Source, Stream};
use hip_sys::Optional;
use hip_sys::hip::{hipDeviceProp_tR0600, hipError_t};
use std::ffi::c_int;
use std::sync::Arc;

/// Blocks that wait until all of them are there, and then write how many came.
const MEET: &str = r#"
extern "C" __global__ void meet(unsigned* arrived, unsigned* seen) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) {}
        seen[blockIdx.x] = atomicAdd(arrived, 0u);
    }
}
"#;

#[test]
fn blocks_wait_for_each_other() {
    let stream = stream();
    if !stream.device().properties().cooperative_launch {
        println!("skipped: the device has no cooperative launches");
        return;
    }
    let module = Source::new(MEET).compile_for(stream.device()).unwrap().load(stream.device()).unwrap();
    let meet = module.function("meet").unwrap();
    let blocks = stream.device().properties().multiprocessors.clamp(2, 32);
    let mut arrived = stream.alloc_zeros::<u32>(1).unwrap();
    let mut seen = stream.alloc_zeros::<u32>(blocks as usize).unwrap();
    let config = LaunchConfig { grid: [blocks, 1, 1], block: [64, 1, 1], shared_bytes: 0 };
    let mut launch = stream.launch(&meet, config);
    launch.arg_mut(&mut arrived).arg_mut(&mut seen).cooperative();
    // SAFETY: S9: the kernel counts in one element and writes one for each block; its blocks all run at once.
    unsafe { launch.submit() }.unwrap();
    assert_eq!(stream.download(&seen).unwrap(), vec![blocks; blocks as usize]);
}

/// A fill with that many blocks.
fn fill(stream: &Stream, blocks: u32) -> Result<()> {
    let module = module(stream.device());
    let fill = module.function("elementwise_fill_f32")?;
    let mut buffer = stream.alloc_zeros::<f32>(100)?;
    let config = LaunchConfig { grid: [blocks, 1, 1], block: [64, 1, 1], shared_bytes: 0 };
    calls();
    let mut launch = stream.launch(&fill, config);
    launch.arg_mut(&mut buffer).value(&100_u64).value(&1.5_f32).cooperative();
    // SAFETY: S9: the kernel fills a hundred elements with a grid of any size.
    unsafe { launch.submit() }
}

#[test]
fn a_grid_that_does_not_run_at_once_is_refused() {
    let stream = device().new_stream().unwrap();
    if !stream.device().properties().cooperative_launch {
        println!("skipped: the device has no cooperative launches");
        return;
    }
    fill(&stream, 2).unwrap();
    let asked = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor";
    assert_eq!(work_calls()[..2], [asked, "hipModuleLaunchCooperativeKernel"]);
    let properties = stream.device().properties();
    let most = properties.multiprocessors * properties.max_threads_per_multiprocessor / 64;
    match fill(&stream, most + 1).unwrap_err() {
        Error::LaunchLimit { what, requested, .. } => {
            assert_eq!(
                (what, requested),
                ("the number of blocks of a cooperative grid", u64::from(most) + 1)
            );
        }
        other => panic!("{other}"),
    }
    assert!(!work_calls().contains(&"hipModuleLaunchCooperativeKernel"));
}

unsafe extern "C" fn without_cooperation(out: *mut hipDeviceProp_tR0600, ordinal: c_int) -> hipError_t {
    let platform = hip_host::platform();
    let ask = platform.hip().hipGetDevicePropertiesR0600.get().unwrap();
    // SAFETY: S1: the caller's own arguments; `out` was filled by the call.
    unsafe {
        let code = ask(out, ordinal);
        (*out).cooperativeLaunch = 0;
        code
    }
}

#[test]
fn a_device_that_cannot_says_so() {
    if !is_host() {
        return;
    }
    let refused = |change: &dyn Fn(&mut hip_sys::HipTable)| {
        let platform = Arc::new(changed_platform(|table| change(table)));
        let stream = Device::new(&platform, 0).unwrap().new_stream().unwrap();
        let error = fill(&stream, 2).unwrap_err();
        assert!(!work_calls().contains(&"hipModuleLaunchCooperativeKernel"));
        error
    };
    let cannot = refused(&|table| {
        let name = "hipGetDevicePropertiesR0600";
        table.hipGetDevicePropertiesR0600 = Optional::present(without_cooperation, name, "6.0");
    });
    assert!(matches!(cannot, Error::NotOffered { what: "cooperative launches", .. }), "{cannot}");
    let too_old = refused(&|table| {
        let name = "hipModuleLaunchCooperativeKernel";
        table.hipModuleLaunchCooperativeKernel = Optional::absent(name, "5.5");
    });
    assert!(matches!(too_old, Error::Unsupported(_)), "{too_old}");
}
