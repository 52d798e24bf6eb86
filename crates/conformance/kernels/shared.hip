// Shared memory: static and dynamic, of several types, up to 64 KiB.

extern "C" __global__ void static_types(double* out) {
    __shared__ char bytes[100];
    __shared__ short shorts[100];
    __shared__ double doubles[100];
    __shared__ struct {
        float x, y;
    } pairs[100];
    int t = threadIdx.x, other = blockDim.x - 1 - t;
    bytes[t] = (char)t, shorts[t] = (short)(200 * t), doubles[t] = 3.0 * t;
    pairs[t].x = 4.0f * t, pairs[t].y = 5.0f * t;
    __syncthreads();
    out[t] = bytes[other] + shorts[other] + doubles[other] + pairs[other].x + pairs[other].y;
}

extern "C" __global__ void dynamic_ints(int* out) {
    extern __shared__ int ints[];
    ints[threadIdx.x] = 11 * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = ints[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void dynamic_bytes(int* out) {
    extern __shared__ unsigned char octets[];
    octets[threadIdx.x] = (unsigned char)(3 * threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = octets[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void dynamic_shorts(int* out) {
    extern __shared__ short halves[];
    halves[threadIdx.x] = (short)(-7 * (int)threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = halves[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void dynamic_doubles(int* out) {
    extern __shared__ double numbers[];
    numbers[threadIdx.x] = 0.5 * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = (int)(2.0 * numbers[blockDim.x - 1 - threadIdx.x]);
}

struct Particle {
    double mass;
    float position[3];
    char kind;
};

extern "C" __global__ void dynamic_structs(int* out) {
    extern __shared__ Particle particles[];
    Particle& mine = particles[threadIdx.x];
    mine.mass = 2.0 * threadIdx.x, mine.position[2] = 10.0f * threadIdx.x, mine.kind = (char)(threadIdx.x % 7);
    __syncthreads();
    const Particle& other = particles[blockDim.x - 1 - threadIdx.x];
    out[threadIdx.x] = (int)other.mass + (int)other.position[2] + 1000 * other.kind;
}

// Three consecutive arrays, the strictest alignment first.
extern "C" __global__ void dynamic_parts(int* out) {
    extern __shared__ double head[];
    int n = blockDim.x, t = threadIdx.x;
    double* numbers = head;
    int* ints = (int*)(numbers + n);
    unsigned char* octets = (unsigned char*)(ints + n);
    numbers[t] = 1.5 * t, ints[t] = 100 * t, octets[t] = (unsigned char)t;
    __syncthreads();
    int other = n - 1 - t;
    out[t] = (int)(2.0 * numbers[other]) + ints[other] + octets[other];
}

// The alignment of the addresses: each variable has its type's alignment.
extern "C" __global__ void alignments(int* out) {
    extern __shared__ float4 strict[];
    __shared__ double number;
    __shared__ char byte;
    __shared__ long long wide;
    if (threadIdx.x == 0) byte = 1, number = 2.0, wide = 3;
    strict[threadIdx.x] = make_float4(4.0f, 0.0f, 0.0f, 5.0f);
    __syncthreads();
    float4 mine = strict[blockDim.x - 1 - threadIdx.x];
    out[threadIdx.x] = (int)((unsigned long long)&number % 8) + (int)((unsigned long long)&wide % 8) +
                       (int)((unsigned long long)strict % 16) + byte + (int)number + (int)wide + (int)(mine.x * mine.w);
}

// The whole 64 KiB: written from one end, read from the other.
extern "C" __global__ void dynamic_64k(unsigned* out) {
    extern __shared__ unsigned words[];
    const unsigned count = 16384;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) words[i] = i * 2654435761u;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sum ^= words[count - 1 - i] + i;
    atomicXor(&out[blockIdx.x], sum);
}

// A block does not see another block's memory.
extern "C" __global__ void private_to_a_block(int* out) {
    __shared__ int cell;
    if (threadIdx.x == 0) cell = 0;
    __syncthreads();
    atomicAdd(&cell, (int)blockIdx.x + 1);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = cell;
}

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, unsigned count) {
    __shared__ unsigned mine[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], mine[i]);
}

extern "C" __global__ void transpose(const float* in, float* out, int width, int height) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

// c = a b for a of n rows and k columns, and b of k rows and m columns.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int n, int k, int m) {
    __shared__ float left[8][8], right[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < k; start += 8) {
        int across = start + threadIdx.x, down = start + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < n && across < k ? a[row * k + across] : 0.0f;
        right[threadIdx.y][threadIdx.x] = down < k && column < m ? b[down * m + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 8; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < m) c[row * m + column] = sum;
}

// Each element with its three neighbours on either side; beyond the ends there are zeros.
extern "C" __global__ void stencil(const int* in, int* out, int count) {
    __shared__ int cells[64 + 6];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 3;
    cells[t] = i < count ? in[i] : 0;
    if (threadIdx.x < 3) {
        cells[t - 3] = i >= 3 ? in[i - 3] : 0;
        cells[t + 64] = i + 64 < count ? in[i + 64] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int d = -3; d <= 3; d++) sum += cells[t + d];
    if (i < count) out[i] = sum;
}
