// Wrapping counters: atomicInc and atomicDec, and a reduction that counts its blocks with one.

// Counts 0, 1, ... 9, 0, ... and 9, 8, ... 0, 9, ...; `seen` counts how often each old value occurred.
extern "C" __global__ void wrapping(unsigned* v, unsigned* seen) {
    unsigned up = atomicInc(&v[0], 9u), down = atomicDec(&v[1], 9u);
    atomicAdd(&seen[up], 1u);
    atomicAdd(&seen[10 + down], 1u);
}

// A value beyond the limit wraps at once.
extern "C" __global__ void beyond_the_limit(unsigned* v, unsigned* old) {
    old[0] = atomicInc(&v[0], 9u);
    old[1] = atomicDec(&v[1], 9u);
    old[2] = atomicInc(&v[2], 0u);
    old[3] = atomicDec(&v[3], 0u);
}

// The same in shared memory.
extern "C" __global__ void wrapping_in_a_block(unsigned* out) {
    __shared__ unsigned up, down;
    if (threadIdx.x == 0) up = 0, down = 0;
    __syncthreads();
    atomicInc(&up, 6u);
    atomicDec(&down, 6u);
    __syncthreads();
    if (threadIdx.x == 0) out[2 * blockIdx.x] = up, out[2 * blockIdx.x + 1] = down;
}

// The block that finishes last adds up the results of the others.
extern "C" __global__ void last_block(const int* in, volatile int* parts, unsigned* done, int* out, int count) {
    __shared__ int sums[256];
    __shared__ bool last;
    int t = threadIdx.x, sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < count; i += gridDim.x * blockDim.x) sum += in[i];
    sums[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) {
        parts[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += parts[b];
        *out += sum;
    }
}
