// The declarations of HIP's <hip/hip_runtime.h> beyond CUDA's, for kernels that NVRTC compiles.
#pragma once
#define __HIP_PLATFORM_NVIDIA__ 1
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

// The forms without a mask act on the active lanes, as on AMD's cards. CUDA guarantees less about which lanes
// are active after a branch: a kernel that depends on it calls __syncwarp() first.
template <class T>
static __device__ inline T __shfl(T value, int source, int width = 32) {
    return __shfl_sync(__activemask(), value, source, width);
}
template <class T>
static __device__ inline T __shfl_up(T value, unsigned delta, int width = 32) {
    return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T>
static __device__ inline T __shfl_down(T value, unsigned delta, int width = 32) {
    return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T>
static __device__ inline T __shfl_xor(T value, int mask, int width = 32) {
    return __shfl_xor_sync(__activemask(), value, mask, width);
}
// CUDA still declares a __ballot of 32 bits.
#define __ballot(predicate) ((unsigned long long)__ballot_sync(__activemask(), (predicate)))
static __device__ inline int __any(int predicate) { return __any_sync(__activemask(), predicate); }
static __device__ inline int __all(int predicate) { return __all_sync(__activemask(), predicate); }

static __device__ inline long long wall_clock64() {
    long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
template <class T>
static __device__ inline T unsafeAtomicAdd(T* address, T value) {
    return atomicAdd(address, value);
}
static __device__ inline void abort() { __trap(); }
