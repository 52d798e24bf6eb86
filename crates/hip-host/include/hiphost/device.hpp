// Device-side HIP for host compilers: compiles a HIP kernel source for the threads of this CPU.
//
// How a translation unit uses it
// ------------------------------
//   #include <hiphost/device.hpp>
//
//   HIPHOST_MODULE(elementwise_f32)                        // once, anywhere at file scope
//
//   HIPHOST_KERNEL(elementwise_neg_f32, const float* in, float* out, uint64_t count) {
//       uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
//       if (i < count) out[i] = -in[i];
//   }
//
// HIPHOST_KERNEL(name, parameters...) defines and registers a kernel. Both arguments are expanded, so the name may be
// a macro that pastes a suffix. Parameters are trivially copyable and are passed by value. Kernels that are made
// elsewhere (template instances, functions declared __global__) are registered with HIPHOST_REGISTER(name) or
// HIPHOST_REGISTER_AS("name", function<int>), after their definition or declaration.
// HIPHOST_GLOBAL(variable) registers a __device__ or __constant__ variable for hipModuleGetGlobal.
// HIPHOST_MODULE(name) defines
//   extern "C" const hiphost_module* hiphost_module_<name>_<any|w32|w64>(const hiphost_runtime*)
// which the program hands to hip_host::register_module.
//
// Macros that the build sets
// --------------------------
//   HIPHOST_WAVE_SIZE   32 or 64; the entry's suffix is _w32 or _w64. Not set or 0: the module serves both wave sizes,
//                       the suffix is _any, and warpSize and the warp operations are not declared.
//   HIPHOST_NO_BARRIERS the kernels here use neither barriers nor warp operations: those are not declared, and the
//                       kernels run as plain loops that vectorise. Without it kernels run on fibers.
// Compile with -O3 -fPIC and the flags in DEP_HIPHOST_FLAGS, which build scripts of dependents find set (src/flags.rs).
//
// Four things to know
// -------------------
// 1. Everything here has internal linkage, because one program holds many units: threadIdx is a variable of its unit.
//    Functions of a unit must have internal linkage too (`static`, or an anonymous namespace), or the linker
//    keeps one unit's copy of an inline function and runs it for all.
// 2. __shared__ is static thread-local storage: one block at a time runs on an OS thread. The arrays of all kernels
//    of a program add up in every thread, so share one array between the kernels of a unit where that is easy.
//    For dynamic shared memory take hiphost::dynamic_shared(), aligned to 256 bytes.
// 3. A barrier is known by its line: two threads of a block that meet at barriers on different lines are an error.
// 4. `if (i < count)` around a kernel's body keeps compilers from vectorising the plain loop (they would need masked
//    stores). HIPHOST_FOR_EACH(i, count) { ... } is the form that vectorises.
#ifndef HIPHOST_DEVICE_HPP
#define HIPHOST_DEVICE_HPP

#include <math.h>
#include <stdlib.h>

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "abi.h"

#ifndef HIPHOST_WAVE_SIZE
#define HIPHOST_WAVE_SIZE 0
#endif
#if HIPHOST_WAVE_SIZE != 0 && HIPHOST_WAVE_SIZE != 32 && HIPHOST_WAVE_SIZE != 64
#error "HIPHOST_WAVE_SIZE is 32, 64 or 0"
#endif

static_assert((char)-1 < 0, "char is signed on GPUs: compile kernels with -fsigned-char");

#if defined(__clang__)
// Clang warns about every block's loop that it cannot vectorise, since HIPHOST_IVDEP says that it may.
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

// HIP's keywords. Kernels are inlined into the loop that runs them. In run-time compilation the keywords stay
// in the preprocessed source, where src/rtc/rewrite.rs replaces them in the same way.
#ifndef HIPHOST_RTC
#define __global__ inline __attribute__((always_inline))
#define __device__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline))
#define __shared__ HIPHOST_SHARED
#endif
#define __host__
#define __align__(n) __attribute__((aligned(n)))

#include "detail/sanitizers.hpp"
#include "detail/vectors.hpp"
#include "detail/index.hpp"
#include "detail/print.hpp"
#include "detail/clock.hpp"
#include "detail/atomics.hpp"
#include "detail/intrinsics.hpp"
#include "detail/math.hpp"
#ifndef HIPHOST_NO_BARRIERS
#include "detail/barriers.hpp"
#if HIPHOST_WAVE_SIZE != 0
#include "detail/warps.hpp"
#endif
#endif
#include "detail/registration.hpp"

#endif
