//! The single list of compiler flags for kernels, and the advice if there is no compiler. The build script
//! includes this file too.

/// The flags that every kernel is compiled with, ahead of time or at run time. Optimisation, targets and
/// macros are added to them. They set the language and the numeric semantics. They make large frames touch a
/// fiber stack's guard zone instead of the memory beyond it. They hide symbols, since the objects of many
/// kernels define the same names.
///
/// Build scripts of dependents read them from `DEP_HIPHOST_FLAGS`.
pub const KERNEL_FLAGS: [&str; 9] = [
    "-std=c++17",
    // As on GPUs. On aarch64 char would be unsigned.
    "-fsigned-char",
    // A product and a sum are rounded separately.
    "-ffp-contract=off",
    // Functions set no errno and operations raise no signal, so loops can be vectorised.
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fstack-clash-protection",
    "-fno-exceptions",
    "-fvisibility=hidden",
    "-fno-semantic-interposition",
];

/// Flags that follow [`KERNEL_FLAGS`] for sources written against `hiphost/device.hpp`, which use no RTTI.
pub const HOST_SOURCE_FLAGS: [&str; 3] = ["-pipe", "-fPIC", "-fno-rtti"];

/// Flags that link objects into shared objects. The last is omitted with a sanitizer.
pub const LINK_FLAGS: [&str; 4] = ["-shared", "-static-libgcc", "-Wl,--as-needed", "-Wl,-z,defs"];

/// The advice if there is no C++ compiler. Build scripts of dependents read it from
/// `DEP_HIPHOST_NO_COMPILER`.
pub(crate) const NO_COMPILER: &str = "install one with `apt-get install g++` or `dnf install gcc-c++`, or set CXX to one; \
     a program whose tensor-core has no feature `host` needs none, and of this workspace only hip-host's tests and the benchmarks need one to be built";
