//! Options that the kernels must be compiled with, whoever compiles them. Targets and macros come on top.
//!
//! Contraction is off everywhere: a product and a sum are rounded one by one, unless the text says `fma`.

/// For hiprtc and hipcc. Division and square root of `f32` are correctly rounded by default.
pub const AMD: &[&str] = &["-std=c++17", "-O3", "-ffp-contract=off"];

/// For NVRTC and nvcc. Division and square root of `f32` are correctly rounded and subnormals are kept by default.
pub const NVIDIA: &[&str] = &["-std=c++17", "-fmad=false"];

/// For hip-host and C++ compilers, on top of what hip-host compiles every kernel with. Vectors at -O2, where GCC's cost model would give
/// up on loops whose length it does not know. Nothing may allow what IEEE 754 does not.
pub const HOST: &[&str] = &["-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic"];

/// Instructions that this program was built for are the kernels' too: they change how fast they are and no result.
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

/// Those for the compiler of the platform of that name, `amd`, `nvidia` or `host`.
pub fn of(platform: &str) -> Option<&'static [&'static str]> {
    match platform {
        "amd" => Some(AMD),
        "nvidia" => Some(NVIDIA),
        "host" => Some(HOST),
        _ => None,
    }
}
