//! Options that the kernels must be compiled with, whoever compiles them. Targets and macros come on top.
//!
//! Contraction is off everywhere: a product and a sum are rounded one by one, unless the text says `fma`.

/// For hiprtc and hipcc. Division and square root of `f32` are correctly rounded by default.
pub const AMD: &[&str] = &["-std=c++17", "-O3", "-ffp-contract=off"];

/// For NVRTC and nvcc. Division and square root of `f32` are correctly rounded and subnormals are kept by default.
pub const NVIDIA: &[&str] = &["-std=c++17", "-fmad=false"];

/// Those for the run-time compiler of the platform of that name, `amd` or `nvidia`; the host's kernels are compiled ahead.
pub fn of(platform: &str) -> Option<&'static [&'static str]> {
    match platform {
        "amd" => Some(AMD),
        "nvidia" => Some(NVIDIA),
        _ => None,
    }
}
