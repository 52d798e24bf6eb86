//! The one list of compiler flags for kernels, and what to do without a compiler. The build script has this file too.

/// What every kernel is compiled with, ahead of time or while the program runs; optimisation, targets and macros come on top. The
/// language; what decides about results; large frames that reach a fiber stack's guard zone instead of what lies behind
/// it; and names that stay inside, since many kernels' files share them.
///
/// Build scripts of dependents find it in `DEP_HIPHOST_FLAGS`.
pub const KERNEL_FLAGS: [&str; 9] = [
    "-std=c++17",
    // As on GPUs; on aarch64 it would be unsigned.
    "-fsigned-char",
    // A product and a sum are rounded one by one.
    "-ffp-contract=off",
    // Functions set no errno and operations raise no signal, so loops can become vectors.
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fstack-clash-protection",
    "-fno-exceptions",
    "-fvisibility=hidden",
    "-fno-semantic-interposition",
];

/// What comes behind [`KERNEL_FLAGS`] for texts written against `hiphost/device.hpp`, which ask for no types at run time.
pub const HOST_SOURCE_FLAGS: [&str; 3] = ["-pipe", "-fPIC", "-fno-rtti"];

/// How objects become shared ones. The last is left out with a sanitizer.
pub const LINK_FLAGS: [&str; 4] = ["-shared", "-static-libgcc", "-Wl,--as-needed", "-Wl,-z,defs"];

/// What to do where there is no C++ compiler. Build scripts of dependents find it in `DEP_HIPHOST_NO_COMPILER`.
pub(crate) const NO_COMPILER: &str = "install one with `apt-get install g++` or `dnf install gcc-c++`, or set CXX to one; \
     a program whose tensor-core has no feature `host` needs none, and of this workspace only hip-host's tests and the benchmarks need one to be built";
