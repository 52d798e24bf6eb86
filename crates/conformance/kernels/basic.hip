// Small kernels for the cases about the host side: launches, streams, modules.

extern "C" __global__ void nothing() {}

// Writes one word.
extern "C" __global__ void write_one(int* out, int value) {
    *out = value;
}

// c = a + b.
extern "C" __global__ void add(const int* a, const int* b, int* c, unsigned count) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

// Adds one for each thread.
extern "C" __global__ void count(unsigned* counter) {
    atomicAdd(counter, 1u);
}

// Each thread's index as a number: x + 10 y + 100 z, plus a thousand times that of the block.
extern "C" __global__ void indices(unsigned* out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z +
                                    1000 * (blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z);
}

struct Mixed {
    double d[3];
    char c;
};

// Arguments of every size, with padding between them.
extern "C" __global__ void mixed(signed char a, double b, short c, Mixed d, float e, double* out, unsigned char f) {
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d.d[0];
    out[4] = d.d[2];
    out[5] = d.c;
    out[6] = e;
    out[7] = f;
}

// Reverses a block's words through dynamic shared memory.
extern "C" __global__ void reverse(int* data) {
    extern __shared__ int words[];
    unsigned t = threadIdx.x, base = blockIdx.x * blockDim.x;
    words[t] = data[base + t];
    __syncthreads();
    data[base + t] = words[blockDim.x - 1 - t];
}

// Writes and reads back the first and last word of `bytes` bytes of dynamic shared memory.
extern "C" __global__ void ends(int* out, unsigned bytes) {
    extern __shared__ int ends_words[];
    unsigned last = bytes / 4 - 1;
    if (threadIdx.x == 0) {
        ends_words[0] = 11;
        ends_words[last] = 22;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
        out[0] = ends_words[0];
        out[1] = ends_words[last];
    }
}

// 1 KiB of static shared memory.
extern "C" __global__ void static_shared(int* data) {
    __shared__ int words[256];
    words[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = words[255 - threadIdx.x];
}

__device__ int scale = 3;
__device__ int plain[8];
__constant__ double table[4] = {1, 2, 4, 8};

extern "C" __global__ void scaled(int* out) {
    out[threadIdx.x] = scale * (int)threadIdx.x;
}

extern "C" __global__ void from_table(double* out) {
    out[threadIdx.x] = table[threadIdx.x];
}

extern "C" __global__ void to_plain() {
    plain[threadIdx.x] = 100 + (int)threadIdx.x;
}
