// Test kernels with barriers and warp operations: they run on fibers, built for each wave size.
#include <hiphost/device.hpp>

HIPHOST_MODULE(test_threads)

#include "vector_add.hpp"

HIPHOST_KERNEL(nothing) {}

HIPHOST_KERNEL(block_reduce, const int* in, int* out, unsigned count) {
    __shared__ int sums[1024];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    sums[t] = i < count ? in[i] : 0;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

HIPHOST_KERNEL(dynamic_reduce, const int* in, int* out, unsigned* bytes) {
    int* sums = (int*)hiphost::dynamic_shared();
    unsigned t = threadIdx.x;
    sums[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0], *bytes = hiphost::dynamic_shared_bytes();
}

// Threads 0 and those from `count` on return before the barrier.
HIPHOST_KERNEL(early_exit, int* out, int count) {
    __shared__ int met;
    if (threadIdx.x == 1) met = 0;
    if (threadIdx.x == 0 || (int)threadIdx.x >= count) return;
    __syncthreads();
    atomicAdd(&met, 1);
    __syncthreads();
    out[threadIdx.x] = met;
}

// The number of rounds of a block depends on the data: it counts down the largest value.
HIPHOST_KERNEL(data_dependent, const int* in, int* rounds) {
    __shared__ int running;
    int left = in[blockIdx.x * blockDim.x + threadIdx.x], count = 0;
    for (;;) {
        if (threadIdx.x == 0) running = 0;
        __syncthreads();
        if (left > 0) atomicAdd(&running, 1), left--;
        __syncthreads();
        if (running == 0) break;
        count++;
        __syncthreads();
    }
    rounds[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

// Values travel: thread t reads what t+1 wrote in the previous round.
HIPHOST_KERNEL(rotate, int* out, int rounds) {
    __shared__ int ring[2][1024];
    int t = threadIdx.x, n = blockDim.x;
    ring[0][t] = t;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        ring[(r + 1) % 2][t] = ring[r % 2][(t + 1) % n];
        __syncthreads();
    }
    out[t] = ring[rounds % 2][t];
}

// Reads what the thread mirrored in all three dimensions wrote.
HIPHOST_KERNEL(mirror_3d, unsigned* out) {
    __shared__ unsigned seen[8][8][16];
    seen[threadIdx.z][threadIdx.y][threadIdx.x] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
    __syncthreads();
    unsigned z = blockDim.z - 1 - threadIdx.z, y = blockDim.y - 1 - threadIdx.y, x = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)] = seen[z][y][x];
}

HIPHOST_KERNEL(counted_barriers, int* out) {
    int t = threadIdx.x;
    int third = __syncthreads_count(t % 3 == 0);
    int some = __syncthreads_or(t == 7), none = __syncthreads_or(t < 0);
    int all = __syncthreads_and(t >= 0), most = __syncthreads_and(t != 7);
    out[t] = third * 10000 + some * 1000 + none * 100 + all * 10 + most;
}

// The four shuffles of (value = 100 + thread), one after the other in out.
HIPHOST_KERNEL(shuffles, int* out, int argument, int width) {
    int t = threadIdx.x, n = blockDim.x, value = 100 + t;
    out[t] = __shfl(value, argument, width);
    out[n + t] = __shfl_up(value, argument, width);
    out[2 * n + t] = __shfl_down(value, argument, width);
    out[3 * n + t] = __shfl_xor(value, argument, width);
}

struct Pair {
    double a;
    float b;
};
HIPHOST_KERNEL(shuffle_types, double* out) {
    int t = threadIdx.x;
    Pair pair = __shfl_down(Pair{t + 0.5, (float)t}, 1);
    unsigned char small = __shfl_xor((unsigned char)t, 1);
    unsigned long long wide = __shfl((unsigned long long)t << 40, 3);
    out[t] = pair.a + 1000 * pair.b + 1000000.0 * small + (double)(wide >> 40) * 1e9;
}

// Odd lanes shuffle; even lanes are inactive, then meet the others at a barrier.
HIPHOST_KERNEL(odd_lanes, int* out) {
    int t = threadIdx.x, value = t;
    if (t % 2) value = __shfl_xor(t, 2) + 1000 * __popcll(__ballot(1));
    __syncthreads();
    out[t] = value;
}

// Both sides of a branch vote, each among its own lanes.
HIPHOST_KERNEL(two_sides, unsigned long long* out) {
    int lane = threadIdx.x % warpSize;
    unsigned long long mask;
    if (lane < 5) {
        mask = __ballot(lane != 2);
    } else {
        mask = __ballot(lane % 2);
    }
    out[threadIdx.x] = mask;
}

// Lane n loops n times; lanes that are done wait for the others at the last line.
HIPHOST_KERNEL(uneven_rounds, int* out) {
    int lane = threadIdx.x % warpSize, active = 0;
    for (int i = 0; i < lane; i++) active += __popcll(__ballot(1));
    out[threadIdx.x] = active * 1000 + __popcll(__ballot(1));
}

HIPHOST_KERNEL(votes, unsigned long long* out, int limit) {
    int t = threadIdx.x, lane = t % warpSize;
    unsigned long long mask = __ballot(lane >= limit);
    int any = __any(lane == limit), all = __all(lane >= limit), every = __all(1);
    if (lane == 0) {
        unsigned long long* mine = out + 2 * (t / warpSize);
        mine[0] = mask;
        mine[1] = (unsigned)(any + 10 * all + 100 * every) + 1000 * (unsigned)warpSize;
    }
}

HIPHOST_KERNEL(warp_reduce, const int* in, int* out) {
    __shared__ int part[32];
    int t = threadIdx.x, lane = t % warpSize, warp = t / warpSize;
    int v = in[blockIdx.x * blockDim.x + t];
    for (int d = warpSize / 2; d; d /= 2) v += __shfl_down(v, d);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (int)(blockDim.x / warpSize) ? part[lane] : 0;
        for (int d = warpSize / 2; d; d /= 2) v += __shfl_down(v, d);
        if (lane == 0) out[blockIdx.x] = v;
    }
}

HIPHOST_KERNEL(shared_types, double* out) {
    __shared__ char bytes[100];
    __shared__ short shorts[100];
    __shared__ double doubles[100];
    __shared__ struct { float x, y; } pairs[100];
    int t = threadIdx.x, n = blockDim.x, other = n - 1 - t;
    bytes[t] = (char)t, shorts[t] = (short)(2 * t), doubles[t] = 3.0 * t, pairs[t] = {4.0f * t, 5.0f * t};
    __syncthreads();
    out[t] = bytes[other] + shorts[other] + doubles[other] + pairs[other].x + pairs[other].y;
}

HIPHOST_KERNEL(shared_histogram, const unsigned char* in, unsigned* histogram, unsigned count) {
    __shared__ unsigned bins[256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&histogram[i], bins[i]);
}
