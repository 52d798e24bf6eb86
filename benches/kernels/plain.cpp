// Kernels without barriers: they run as plain loops.
#define HIPHOST_NO_BARRIERS
#include <hiphost/device.hpp>

HIPHOST_MODULE(bench_plain)

HIPHOST_KERNEL(nothing) {}

// As it is written for a GPU: one element for each thread.
HIPHOST_KERNEL(vector_add, const float* a, const float* b, float* c, uint64_t count) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

// In the form that a compiler vectorises.
HIPHOST_KERNEL(vector_add_each, const float* a, const float* b, float* c, uint64_t count) {
    HIPHOST_FOR_EACH(i, count) c[i] = a[i] + b[i];
}
