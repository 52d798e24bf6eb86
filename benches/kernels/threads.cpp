// Kernels whose threads wait for each other: they run on fibers.
#include <hiphost/device.hpp>

HIPHOST_MODULE(bench_threads)

HIPHOST_KERNEL(nothing) {}

HIPHOST_KERNEL(barriers, float* out, int count) {
    float v = threadIdx.x;
    for (int i = 0; i < count; i++) {
        __syncthreads();
        v += 1.0f;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

HIPHOST_KERNEL(shuffles, float* out, int count) {
    float v = threadIdx.x;
    for (int i = 0; i < count; i++) v = __shfl_xor(v, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
