//! The platforms: what a compiler calls functions, kernels, loops and shared memory.
//
// ON_AMD, ON_NVIDIA and ON_HOST are 0 or 1. Included by portable.hpp.
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
// Before a loop. INDEPENDENT: the host may run its iterations at once, since an output may be the very input, never a shifted one. UNROLL, FOUR_AT_ONCE
// and ROLLED: how far GPUs unroll it. ROLLED_ON_AMD: as ROLLED by AMD's compilers, as UNROLL by NVIDIA's.
#if ON_HOST
#define SHARED_CODE static __attribute__((noinline))
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLL
#define FOUR_AT_ONCE
#define ROLLED
#else
#define SHARED_CODE DEVICE
#define INDEPENDENT
#define UNROLL _Pragma("unroll")
#define FOUR_AT_ONCE _Pragma("unroll 4")
#define ROLLED _Pragma("unroll 1")
#endif
#if ON_AMD
#define ROLLED_ON_AMD ROLLED
#else
#define ROLLED_ON_AMD UNROLL
#endif

// KERNEL(name, parameters...) { body } defines a kernel; blocks have at most 256 threads in one dimension.
// KERNEL_OF(threads, blocks, name, parameters...): blocks have at most so many threads, and so many of them should fit a multiprocessor of
// NVIDIA's: without that number nvcc keeps to fewer registers than it takes for the sake of one block.
#if ON_HOST
#define KERNEL(...) HIPHOST_KERNEL(__VA_ARGS__)
#define KERNEL_OF(threads, blocks, ...) KERNEL(__VA_ARGS__)
#else
#define KERNEL(...) BOUNDED_KERNEL(__launch_bounds__(256), __VA_ARGS__)
#define BOUNDED_KERNEL(bounds, ...) BOUNDED_KERNEL_(bounds, __VA_ARGS__)
#define BOUNDED_KERNEL_(bounds, name, ...) extern "C" __global__ bounds void name(__VA_ARGS__)
#if ON_NVIDIA
#define KERNEL_OF(threads, blocks, ...) BOUNDED_KERNEL(__launch_bounds__(threads, blocks), __VA_ARGS__)
#else
#define KERNEL_OF(threads, blocks, ...) BOUNDED_KERNEL(__launch_bounds__(threads), __VA_ARGS__)
#endif
#endif

// DYNAMIC_SHARED(T, name); declares a pointer to the launch's dynamic shared memory.
// SHARED_ARRAY(slot, T, name, count); declares an array of the block. What a block shares is a variable of the system's thread on the host, and
// those take from every thread's stack: large arrays of all kernels lie in the same places there, whose sizes are powers of two, since a thread
// runs one block at a time. `slot` tells the arrays of one kernel apart.
#if ON_HOST
#define DYNAMIC_SHARED(T, name) T* const name = (T*)hiphost::dynamic_shared()
#else
#define DYNAMIC_SHARED(T, name)                             \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[]; \
    T* const name = reinterpret_cast<T*>(dynamic_shared_bytes)
#endif
#if ON_HOST && !defined(__SANITIZE_ADDRESS__)
namespace hipstack {
template <int SLOT, unsigned long BYTES> alignas(16) inline thread_local unsigned char shared_storage[BYTES];
constexpr unsigned long storage_bytes(unsigned long bytes) { return bytes <= 16 ? 16 : 2 * storage_bytes((bytes + 1) / 2); }
}
#define SHARED_ARRAY(slot, T, name, count) T* const name = reinterpret_cast<T*>(hipstack::shared_storage<slot, hipstack::storage_bytes(sizeof(T) * (count))>)
#else
#define SHARED_ARRAY(slot, T, name, count) __shared__ T name[count]
#endif

// ARGUMENTS(Args, name, given); declares a kernel's arguments, of type `Args`, as `name`. AMD's compilers read all of them when a kernel begins,
// more than there are scalar registers; there they are put into shared memory, from which they are read where they are needed: else conv_tile_f32
// takes 257 vector registers on gfx942 (clang 22), one more than leave room for a second wave.
#if ON_AMD
#define ARGUMENTS(Args, name, given)           \
    __shared__ Args name;                      \
    if (threadIdx.x == 0) name = given;        \
    __syncthreads()
#else
#define ARGUMENTS(Args, name, given) const Args& name = given
#endif

// Asserts a struct's layout, which src/args.rs mirrors. NVRTC knows no offsetof; the host's assertion speaks for all.
#if ON_HOST
#define OFFSET(type, field, offset) static_assert(__builtin_offsetof(type, field) == offset, "another layout in args.rs");
#else
#define OFFSET(type, field, offset)
#endif
#define SIZE(type, size) static_assert(sizeof(type) == size, "another size in args.rs");

#define PASTE4_(a, b, c, d) a##b##c##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)
