// Thread indices in one to three dimensions, large grids and blocks, 64-bit arithmetic.

extern "C" __global__ void tail(int* out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 3 * i;
}

// All built-in indices as the digits of a number; threads are numbered x first, then y, then z.
extern "C" __global__ void digits(unsigned* out) {
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    out[block * threads + thread] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +
                                    10000 * blockIdx.y + 100000 * blockIdx.z;
}

extern "C" __global__ void dimensions(unsigned* out) {
    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z != 0) return;
    out[0] = gridDim.x, out[1] = gridDim.y, out[2] = gridDim.z;
    out[3] = blockDim.x, out[4] = blockDim.y, out[5] = blockDim.z;
    out[6] = warpSize;
}

// The number of the thread in lane 0 of each thread's warp.
extern "C" __global__ void first_of_warp(int* out) {
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[thread] = __shfl(thread, 0);
}

extern "C" __global__ void grid_stride(const int* in, int* out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) out[i] = in[i] + 1;
}

// Each block writes its number; `visits` counts all threads.
extern "C" __global__ void visit(unsigned* out, unsigned* visits) {
    if (threadIdx.x == 0) out[blockIdx.x] = 7 * blockIdx.x + 1;
    atomicAdd(visits, 1u);
}

extern "C" __global__ void rotated(int* out) {
    __shared__ int ring[1024];
    ring[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = ring[(threadIdx.x + 1) % blockDim.x];
}

// Splits an index far beyond 32 bits.
extern "C" __global__ void wide_index(unsigned long long* out, unsigned long long stride) {
    unsigned long long i = (unsigned long long)blockIdx.x * stride + threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
}

// `far` lies `distance` elements before the memory that is written.
extern "C" __global__ void far_pointer(unsigned long long far, unsigned long long distance) {
    int* base = (int*)far;
    unsigned long long i = distance + blockIdx.x * blockDim.x + threadIdx.x;
    base[i] = (int)(i - distance) * 5;
}

// Two-dimensional data with a pitch.
extern "C" __global__ void image(int* out, int width, int height, int pitch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * pitch + x] = 100 * y + x;
}
