// Test kernels in which some lanes of a warp wait at a warp operation while others wait at the block barrier.
#include <hiphost/device.hpp>

HIPHOST_MODULE(test_warp_faults)

// Legal: the lanes at the barrier are inactive in the others' shuffles, and all lanes meet in the end.
HIPHOST_KERNEL(shuffle_before_barrier, int* out) {
    int value = (int)threadIdx.x;
    if (threadIdx.x % 32 < 16) {
        for (int i = 0; i < 3; i++) value = __shfl_xor(value, 1);
    }
    __syncthreads();
    out[threadIdx.x] = value;
}

// Illegal: after their shuffles those lanes reach a different barrier.
HIPHOST_KERNEL(shuffle_and_another_barrier, int* out) {
    int value = (int)threadIdx.x;
    if (threadIdx.x % 32 < 6) {
        for (int i = 0; i < 3; i++) value = __shfl_xor(value, 1);
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = value;
}

// A lane faults while the other lanes of its warp wait for it.
HIPHOST_KERNEL(fault_before_shuffle, int* out, const int* nothing) {
    int value = 0;
    if (threadIdx.x == 13) value = *(const volatile int*)nothing;
    out[threadIdx.x] = __shfl(value, 13);
}
