// Test kernels without barriers: they run as plain loops.
#include <hiphost/device.hpp>

HIPHOST_MODULE(test_plain)

#include "vector_add.hpp"

HIPHOST_KERNEL(nothing) {}

struct Mixed {
    double weights[3];
    char tag;
};

// Stores its arguments in out[0..7].
HIPHOST_KERNEL(mixed_arguments, char a, double b, short c, Mixed d, float e, double* out, unsigned char f) {
    if (threadIdx.x != 0) return;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d.weights[2], out[4] = d.tag, out[5] = e, out[6] = f;
}

// Each thread writes its own number, computed from all built-in index variables.
HIPHOST_KERNEL(indices, unsigned* out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +
                                    10000 * blockIdx.y + 100000 * blockIdx.z;
}

// Records the order in which blocks begin.
HIPHOST_KERNEL(block_order, unsigned* counter, unsigned* order) {
    if (threadIdx.x == 0) order[atomicAdd(counter, 1)] = blockIdx.x;
}

HIPHOST_KERNEL(write_one, int* out, int value) { *out = value; }

// Writes the wave size that it was built for. This module serves both, so it has none.
static __device__ int scale = 3;
static __constant__ double table[4] = {1, 2, 4, 8};
HIPHOST_GLOBAL(scale)
HIPHOST_GLOBAL(table)

HIPHOST_KERNEL(scaled, int* out) { out[threadIdx.x] = scale * (int)threadIdx.x + (int)table[threadIdx.x % 4]; }

template <class T>
static __global__ void atomics(T* v) {
    T i = (T)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&v[0], (T)1);
    atomicSub(&v[1], (T)1);
    atomicMin(&v[2], i);
    atomicMax(&v[3], i);
    if (atomicExch(&v[4], i) == (T)77) atomicAdd(&v[5], (T)1);
    if (atomicCAS(&v[6], (T)0, (T)(i + 1)) == (T)0) atomicAdd(&v[7], (T)1);
}
HIPHOST_REGISTER_AS("atomics_i32", atomics<int>)
HIPHOST_REGISTER_AS("atomics_u32", atomics<unsigned>)
HIPHOST_REGISTER_AS("atomics_i64", atomics<long long>)
HIPHOST_REGISTER_AS("atomics_u64", atomics<unsigned long long>)
HIPHOST_REGISTER_AS("atomics_f32", atomics<float>)
HIPHOST_REGISTER_AS("atomics_f64", atomics<double>)

template <class T>
static __global__ void bit_atomics(T* v) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicOr(&v[0], (T)1 << (i % 30));
    atomicAnd(&v[1], ~((T)1 << (i % 30)));
    atomicXor(&v[2], (T)1 << (i % 3));
    atomicInc(&v[3], (T)9);
    atomicDec(&v[4], (T)9);
}
HIPHOST_REGISTER_AS("bit_atomics_u32", bit_atomics<unsigned>)
HIPHOST_REGISTER_AS("bit_atomics_u64", bit_atomics<unsigned long long>)
