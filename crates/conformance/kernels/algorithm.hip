// Complete algorithms, as written for GPUs.

// The number of rounds that a point of the plane stays near zero, in fixed-point numbers with 12 fractional
// bits.
extern "C" __global__ void mandelbrot(int* out, int width, int height, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    int cx = px * 3 * 4096 / width - 2 * 4096, cy = py * 2 * 4096 / height - 4096, x = 0, y = 0, round = 0;
    while (round < limit && x * x / 4096 + y * y / 4096 <= 4 * 4096) {
        int next = x * x / 4096 - y * y / 4096 + cx;
        y = 2 * x * y / 4096 + cy;
        x = next;
        round++;
    }
    out[py * width + px] = round;
}

extern "C" __global__ void bitonic_sort(unsigned* data) {
    extern __shared__ unsigned cells[];
    unsigned t = threadIdx.x, n = blockDim.x;
    cells[t] = data[blockIdx.x * n + t];
    __syncthreads();
    for (unsigned k = 2; k <= n; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                unsigned a = cells[t], b = cells[other];
                if ((a > b) == up) cells[t] = b, cells[other] = a;
            }
            __syncthreads();
        }
    }
    data[blockIdx.x * n + t] = cells[t];
}

// The steps until Collatz's sequence of each number reaches one.
extern "C" __global__ void collatz(int* out) {
    unsigned long long n = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int steps = 0;
    for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
    out[blockIdx.x * blockDim.x + threadIdx.x] = steps;
}

// Crosses out multiples of the numbers from two on; each block has a part of the range.
extern "C" __global__ void sieve(unsigned char* composite, int limit) {
    int first = blockIdx.x * blockDim.x, last = min(first + (int)blockDim.x, limit);
    for (int factor = 2; factor * factor < limit; factor++) {
        int start = max(factor * factor, (first + factor - 1) / factor * factor);
        for (int i = start + (int)threadIdx.x * factor; i < last; i += (int)blockDim.x * factor) composite[i] = 1;
    }
}

// One generation of Conway's game on a torus.
extern "C" __global__ void life(const unsigned char* in, unsigned char* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx != 0 || dy != 0) alive += in[(y + dy + height) % height * width + (x + dx + width) % width];
    out[y * width + x] = alive == 3 || (alive == 2 && in[y * width + x]);
}

// The checksum of Ethernet and zip files (CRC-32), for one line per thread.
extern "C" __global__ void crc32(const unsigned char* text, int length, unsigned* out) {
    unsigned crc = 0xffffffffu;
    const unsigned char* line = text + threadIdx.x * length;
    for (int i = 0; i < length; i++) {
        crc ^= line[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    out[threadIdx.x] = ~crc;
}

// Odd-even sort: neighbours are swapped until none is out of order.
extern "C" __global__ void odd_even_sort(int* data, int* rounds) {
    __shared__ int cells[256];
    int t = threadIdx.x, n = blockDim.x, count = 0;
    cells[t] = data[t];
    __syncthreads();
    int busy = 1;
    while (busy) {
        int changed = 0;
        for (int phase = 0; phase < 2; phase++) {
            if (t % 2 == phase && t + 1 < n && cells[t] > cells[t + 1]) {
                int a = cells[t];
                cells[t] = cells[t + 1], cells[t + 1] = a;
                changed = 1;
            }
            __syncthreads();
        }
        busy = __syncthreads_or(changed);
        count++;
    }
    data[t] = cells[t];
    if (t == 0) *rounds = count;
}

// Distances from node 0 of a graph, breadth first: a round for each distance.
extern "C" __global__ void breadth_first(const int* starts, const int* edges, int* distance, int nodes) {
    __shared__ int grew;
    for (int i = threadIdx.x; i < nodes; i += blockDim.x) distance[i] = i == 0 ? 0 : -1;
    __syncthreads();
    for (int round = 0;; round++) {
        if (threadIdx.x == 0) grew = 0;
        __syncthreads();
        for (int i = threadIdx.x; i < nodes; i += blockDim.x) {
            if (distance[i] != round) continue;
            for (int e = starts[i]; e < starts[i + 1]; e++)
                if (atomicCAS(&distance[edges[e]], -1, round + 1) == -1) grew = 1;
        }
        __syncthreads();
        if (!grew) break;
        __syncthreads();
    }
}
