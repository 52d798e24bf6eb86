// Test kernels that fail.
#include <hiphost/device.hpp>

HIPHOST_MODULE(test_faults)

HIPHOST_KERNEL(split_barrier, int* out) {
    if (threadIdx.x < 5) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(failed_assert, int* out) {
    int answer = (int)threadIdx.x;
    assert(answer < 3);
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(trapped, int* out) {
    if (threadIdx.x == 2) __trap();
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(fine, int* out) { out[threadIdx.x] = 2; }
