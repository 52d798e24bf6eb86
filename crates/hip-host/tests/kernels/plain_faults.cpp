// Test kernels that fail in a plain loop.
#include <hiphost/device.hpp>

HIPHOST_MODULE(test_plain_faults)

HIPHOST_KERNEL(plain_fine, int* out) { out[threadIdx.x] = 2; }
HIPHOST_KERNEL(plain_write_at, int* out, long long at) {
    if (blockIdx.x == 3 && threadIdx.x == 5) ((volatile int*)out)[at] = 7;
}
HIPHOST_KERNEL(plain_wait_for_write, int* out) {
    while (*(volatile int*)out == 0) {
    }
    out[1] = 1;
}
