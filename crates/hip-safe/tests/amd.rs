//! Modules and launches on AMD's runtime, where it has a device and a compiler builds for it; skipped with a word otherwise.

#[path = "../../code-object/tests/common/tool.rs"]
mod tool;

use hip_safe::{Device, Error, LaunchConfig, Module, Platform};
use std::process::Command;
use std::sync::Arc;

const SOURCE: &str = r#"
#include <hip/hip_runtime.h>
struct Span { unsigned long count; unsigned step; };
extern "C" __global__ void __launch_bounds__(128)
scale_add(const float* a, const float* b, float* out, Span span, float factor) {
    for (unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x; i < span.count; i += span.step)
        out[i] = a[i] * factor + b[i];
}
extern "C" __global__ void scale_all(float* out, float factor) { out[threadIdx.x] *= factor; }
"#;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::NoUninit)]
struct Span {
    count: u64,
    step: u32,
    unused: u32,
}

/// The device, or why there is none.
fn device() -> Result<Device, String> {
    let platform = Arc::new(Platform::load_amd().map_err(|e| e.to_string())?);
    Device::new(&platform, 0).map_err(|e| e.to_string())
}

fn compile(arch: &str, bundle: bool) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (source, target) = (folder.path().join("scale.hip"), folder.path().join("scale.co"));
    std::fs::write(&source, SOURCE).map_err(|e| e.to_string())?;
    let mut command = Command::new(tool::hipcc());
    command
        .args(["--genco", "-O2"])
        .arg(format!("--offload-arch={arch}"))
        .arg(&source)
        .arg("-o")
        .arg(&target);
    if !bundle {
        command.arg("--no-gpu-bundle-output");
    }
    let output = command.output().map_err(|e| format!("no hipcc: {e}"))?;
    if !output.status.success() {
        return Err(format!("hipcc does not build for {arch}"));
    }
    std::fs::read(&target).map_err(|e| e.to_string())
}

fn base(device: &Device) -> String {
    device.properties().arch.split(':').next().unwrap_or_default().to_string()
}

#[test]
fn a_code_object_runs_and_its_launches_are_checked() {
    let device = match device() {
        Ok(device) => device,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let arch = base(&device);
    for bundle in [false, true] {
        let image = match compile(&arch, bundle) {
            Ok(image) => image,
            Err(reason) => return println!("skipped: {reason}"),
        };
        let stream = device.new_stream().unwrap();
        let module = Module::load(&device, &image).unwrap();
        let kernel = module.function("scale_add").unwrap();
        let sizes: Vec<_> =
            kernel.params().expect("the note tells").iter().map(|p| (p.offset, p.size)).collect();
        assert_eq!(sizes, [(0, 8), (8, 8), (16, 8), (24, 16), (40, 4)]);
        assert_eq!(kernel.max_threads_per_block(), Some(128));

        let count = 1000_u32;
        let a = stream.upload(&(0..count).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        let b = stream.upload(&vec![0.25_f32; count as usize]).unwrap();
        let mut out = stream.alloc_zeros::<f32>(count as usize).unwrap();
        let config = LaunchConfig::linear(u64::from(count), 128);
        let span = Span { count: count.into(), step: config.grid[0] * 128, unused: 0 };
        let mut launch = stream.launch(&kernel, config);
        launch.arg(&a).arg(&b).arg_mut(&mut out).value(&span).value(&2.0_f32);
        // SAFETY: S9: the three buffers have `count` elements.
        unsafe { launch.submit() }.unwrap();
        // What the launch reads goes before anybody has waited for it.
        drop((a, b, kernel, module));
        let expected: Vec<f32> = (0..count).map(|i| i as f32 * 2.0 + 0.25).collect();
        assert_eq!(stream.download(&out).unwrap(), expected);
    }
}

#[test]
fn mismatched_arguments_are_refused() {
    let (device, image) = match device().and_then(|d| compile(&base(&d), false).map(|image| (d, image))) {
        Ok(found) => found,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let stream = device.new_stream().unwrap();
    let module = Module::load(&device, &image).unwrap();
    match module.function("scale_ad").unwrap_err() {
        Error::KernelNotFound { near, .. } => assert_eq!(near, ["scale_add", "scale_all"]),
        other => panic!("{other:?}"),
    }
    let kernel = module.function("scale_all").unwrap();
    let mut out = stream.alloc_zeros::<f32>(64).unwrap();
    let config = LaunchConfig { grid: [1; 3], block: [64, 1, 1], shared_bytes: 0 };
    // SAFETY: S9: nothing is launched.
    let few = unsafe { stream.launch(&kernel, config).arg_mut(&mut out).submit() }.unwrap_err();
    assert_eq!(
        few.to_string(),
        "kernel scale_all takes 2 arguments of 8, 4 bytes and was given 1 argument of 8 bytes"
    );
    let mut launch = stream.launch(&kernel, config);
    launch.arg_mut(&mut out).value(&2.0_f64);
    // SAFETY: S9: nothing is launched.
    assert!(matches!(unsafe { launch.submit() }, Err(Error::LaunchMismatch { .. })));

    let other = if base(&device) == "gfx90a" { "gfx1030" } else { "gfx90a" };
    let Ok(foreign) = compile(other, true) else { return println!("skipped in part: no code for {other}") };
    match Module::load(&device, &foreign).unwrap_err() {
        Error::InvalidImage { reason, .. } => assert!(reason.contains(other), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// HIP has no word for a kernel that takes one size of block; OpenCL has, and makes the same code objects.
const FIXED: &str = "__attribute__((reqd_work_group_size(8, 4, 1))) kernel void fixed(global float* out) {
    uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    out[y * 8 + x] = y * 8 + x;
}";

fn compile_opencl(arch: &str, options: &[&str]) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (source, target) = (folder.path().join("fixed.cl"), folder.path().join("fixed.co"));
    std::fs::write(&source, FIXED).map_err(|e| e.to_string())?;
    let mut command = Command::new(tool::tool("clang"));
    command.args(["-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-O2", "-target", "amdgcn-amd-amdhsa"]);
    command.arg(format!("-mcpu={arch}")).args(options).arg(&source).arg("-o").arg(&target);
    let output = command.output().map_err(|e| format!("no clang: {e}"))?;
    if !output.status.success() {
        return Err(format!("clang does not build for {arch} with {options:?}"));
    }
    std::fs::read(&target).map_err(|e| e.to_string())
}

#[test]
fn a_kernel_that_requires_a_block_gets_no_other() {
    let found = device().and_then(|device| compile_opencl(&base(&device), &[]).map(|image| (device, image)));
    let (device, image) = match found {
        Ok(found) => found,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let stream = device.new_stream().unwrap();
    let fixed = Module::load(&device, &image).unwrap().function("fixed").unwrap();
    assert_eq!(fixed.required_block(), Some([8, 4, 1]));
    let mut out = stream.alloc_zeros::<f32>(32).unwrap();
    let mut launch = |block| {
        let config = LaunchConfig { grid: [1; 3], block, shared_bytes: 0 };
        // SAFETY: S9: the one block that is launched writes the 32 elements that there are.
        unsafe { stream.launch(&fixed, config).arg_mut(&mut out).submit() }
    };
    let refused = |error: Error| match error {
        Error::LaunchLimit { what, requested, limit, .. } => (what, requested, limit),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(launch([32, 1, 1]).unwrap_err()), ("the block along x", 32, "only 8".into()));
    assert_eq!(refused(launch([8, 2, 1]).unwrap_err()), ("the block along y", 2, "only 4".into()));
    launch([8, 4, 1]).unwrap();
    assert_eq!(stream.download(&out).unwrap(), (0..32).map(|i| i as f32).collect::<Vec<_>>());
}

/// Another kernel's wave size is no reason to refuse a module: only the kernel itself is refused.
#[test]
fn a_kernel_for_other_waves_is_refused() {
    let found = device().and_then(|device| {
        compile_opencl(&base(&device), &["-mwavefrontsize64"]).map(|image| (device, image))
    });
    let (device, image) = match found {
        Ok(found) => found,
        Err(reason) => return println!("skipped: {reason}"),
    };
    if device.properties().wave_size == 64 {
        return println!("skipped: the device has waves of 64");
    }
    let module = Module::load(&device, &image).unwrap();
    assert!(matches!(module.function("other"), Err(Error::KernelNotFound { .. })));
    match module.function("fixed").unwrap_err() {
        Error::InvalidImage { reason, .. } => {
            let both = "its kernel fixed was built for waves of 64 threads and the device has waves of 32";
            assert!(reason.contains(both), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}
