//! The platforms: what a compiler calls functions, kernels, loops and shared memory.
//
// ON_AMD, ON_NVIDIA and ON_HOST are 0 or 1. Kernels ask `if constexpr` or by a constant, not `#if`, where both sides compile. Included by
// portable.hpp.
#pragma once

#if defined(__HIPCC_RTC__) || defined(__HIP__)
#define ON_AMD 1
#define ON_NVIDIA 0
#define ON_HOST 0
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#pragma clang fp contract(off)
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define ON_AMD 0
#define ON_NVIDIA 1
#define ON_HOST 0
#else
#define ON_AMD 0
#define ON_NVIDIA 0
#define ON_HOST 1
#if defined(WAVE_SIZE) && !defined(HIPHOST_WAVE_SIZE)
#define HIPHOST_WAVE_SIZE WAVE_SIZE
#endif
#include <hiphost/device.hpp>
#endif

// DEVICE: a function of this file. METHOD: a member function. SHARED_CODE: a function that the host keeps as one copy.
#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__
#if ON_HOST
#define SHARED_CODE static __attribute__((noinline))
// The iterations of the loop that follows are independent: an output may be the very input, never a shifted one.
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLL
#define KERNEL(...) HIPHOST_KERNEL(__VA_ARGS__)
#define DYNAMIC_SHARED(T, name) T* const name = (T*)hiphost::dynamic_shared()
// What a block shares is a variable of the system's thread there, and those take from every thread's stack: large arrays of all kernels lie
// in the same places, whose sizes are powers of two, since a thread runs one block at a time. `slot` tells the arrays of one kernel apart.
#if defined(__SANITIZE_ADDRESS__)
#define SHARED_ARRAY(slot, T, name, count) __shared__ T name[count]
#else
namespace hipstack {
template <int SLOT, unsigned long BYTES> alignas(16) inline thread_local unsigned char shared_place[BYTES];
constexpr unsigned long place_bytes(unsigned long bytes) { return bytes <= 16 ? 16 : 2 * place_bytes((bytes + 1) / 2); }
}
#define SHARED_ARRAY(slot, T, name, count) T* const name = reinterpret_cast<T*>(hipstack::shared_place<slot, hipstack::place_bytes(sizeof(T) * (count))>)
#endif
#else
#define SHARED_ARRAY(slot, T, name, count) __shared__ T name[count]
#define SHARED_CODE DEVICE
#define INDEPENDENT
#define UNROLL _Pragma("unroll")
#define KERNEL(...) KERNEL_(__VA_ARGS__)
#define KERNEL_(name, ...) extern "C" __global__ __launch_bounds__(256) void name(__VA_ARGS__)
#define DYNAMIC_SHARED(T, name)                             \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[]; \
    T* const name = reinterpret_cast<T*>(dynamic_shared_bytes)
#endif
// Asserts a struct's layout, which src/args.rs mirrors. NVRTC knows no offsetof; the host's assertion speaks for all.
#if ON_HOST
#define OFFSET(type, field, offset) static_assert(__builtin_offsetof(type, field) == offset, "another layout in args.rs");
#else
#define OFFSET(type, field, offset)
#endif
#define SIZE(type, size) static_assert(sizeof(type) == size, "another size in args.rs");
// KERNEL(name, parameters...) { body } defines a kernel; blocks have at most 256 threads in one dimension.
// DYNAMIC_SHARED(T, name); declares a pointer to the launch's dynamic shared memory.

#define PASTE4_(a, b, c, d) a##b##c##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)
