//! Compiler options that the kernels require. Target and macros are added to them.
//!
//! Contraction is off everywhere: a product and a sum are rounded separately, unless the source says `fma`.

/// For hiprtc and hipcc. Division and square root of `f32` are correctly rounded by default.
pub const AMD: &[&str] = &["-std=c++17", "-O3", "-ffp-contract=off"];

/// For NVRTC and nvcc. Division and square root of `f32` are correctly rounded and subnormals are kept by default.
pub const NVIDIA: &[&str] = &["-std=c++17", "-fmad=false"];

/// For hip-host and C++ compilers, added to hip-host's own options for all kernels. -O2 vectorises with these; GCC's default cost model at
/// -O2 rejects loops of unknown length. No option may permit deviations from IEEE 754.
pub const HOST: &[&str] = &["-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic"];

/// Instruction sets that this program was built for. They change the speed of kernels, not their results.
pub const HOST_INSTRUCTIONS: &[&str] = &[
    #[cfg(target_feature = "avx")]
    "-mavx",
    #[cfg(target_feature = "avx2")]
    "-mavx2",
    #[cfg(target_feature = "fma")]
    "-mfma",
    #[cfg(target_feature = "f16c")]
    "-mf16c",
    #[cfg(target_feature = "bmi2")]
    "-mbmi2",
];

/// The options for the platform `amd`, `nvidia` or `host`.
pub fn of(platform: &str) -> Option<&'static [&'static str]> {
    match platform {
        "amd" => Some(AMD),
        "nvidia" => Some(NVIDIA),
        "host" => Some(HOST),
        _ => None,
    }
}
