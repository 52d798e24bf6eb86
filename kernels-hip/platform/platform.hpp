//! Differences between compilers: keywords of functions and kernels, loop pragmas, shared memory.
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

// DEVICE: a file-local function. METHOD: a member function. SHARED_CODE: a function that the host does not inline.
#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__
// Loop annotations. INDEPENDENT: the host may vectorise the loop; an output may be the same array as an input, but never a shifted one.
// UNROLL, FOUR_AT_ONCE and ROLLED set the unroll count on GPUs. ROLLED_ON_AMD is ROLLED on AMD and UNROLL on NVIDIA.
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

// KERNEL(name, parameters...) { body } defines a kernel. Blocks are one-dimensional and have at most 256 threads.
// KERNEL_OF(threads, blocks, name, parameters...) sets the greatest block size, and on NVIDIA how many blocks should fit a multiprocessor.
// Without the second number nvcc uses fewer registers than it should.
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
// SHARED_ARRAY(slot, T, name, count); declares a shared array of the block. On the host, shared variables are thread-local variables of an
// OS thread and take space from every thread's stack. A thread runs one block at a time, so the large arrays of all kernels share storage
// there; its sizes are powers of two. `slot` distinguishes the arrays of one kernel.
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

// ARGUMENTS(Args, name, given); makes a kernel's argument struct of type `Args` available as `name`. AMD's compilers load all of its fields
// at kernel entry, which exceeds the scalar registers. On AMD the struct is copied to shared memory and read where needed. Without this
// conv_tile_f32 takes 257 vector registers on gfx942 (clang 22), one too many for a second wave.
#if ON_AMD
#define ARGUMENTS(Args, name, given)           \
    __shared__ Args name;                      \
    if (threadIdx.x == 0) name = given;        \
    __syncthreads()
#else
#define ARGUMENTS(Args, name, given) const Args& name = given
#endif

// Asserts the layout of a struct that src/args.rs mirrors. NVRTC has no offsetof; the host's assertion covers all targets.
#if ON_HOST
#define OFFSET(type, field, offset) static_assert(__builtin_offsetof(type, field) == offset, "another layout in args.rs");
#else
#define OFFSET(type, field, offset)
#endif
#define SIZE(type, size) static_assert(sizeof(type) == size, "another size in args.rs");

#define PASTE4_(a, b, c, d) a##b##c##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)
