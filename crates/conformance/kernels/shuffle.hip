// Shuffles: four forms, narrow widths, every type, inactive lanes.

// The four shuffles of (value = 100 + thread), one after the other in out.
extern "C" __global__ void four_forms(int* out, int argument, int width) {
    int t = threadIdx.x, n = blockDim.x, value = 100 + t;
    out[t] = __shfl(value, argument, width);
    out[n + t] = __shfl_up(value, argument, width);
    out[2 * n + t] = __shfl_down(value, argument, width);
    out[3 * n + t] = __shfl_xor(value, argument, width);
}

// The source lane is computed from data: a rotation by `distance` within each group of `width`.
extern "C" __global__ void rotate_group(int* out, int distance, int width) {
    int t = threadIdx.x;
    out[t] = __shfl(1000 + t, (t + distance) % width, width);
}

extern "C" __global__ void four_bytes(int* ints, unsigned* words, float* floats) {
    int t = threadIdx.x;
    ints[t] = __shfl_xor(-t, 1);
    words[t] = __shfl_xor(0xf0000000u + t, 2);
    floats[t] = __shfl_xor(t + 0.25f, 3);
}

extern "C" __global__ void eight_bytes(long long* longs, unsigned long long* words, double* doubles) {
    int t = threadIdx.x;
    longs[t] = __shfl_down(-((long long)t << 33), 1, 4);
    words[t] = __shfl_up(0xf000000000000000ull + t, 1, 4);
    doubles[t] = __shfl(t * 1.0e10 + 0.5, 2, 8);
}

// Odd lanes exchange values; even lanes are inactive.
extern "C" __global__ void odd_lanes(int* out) {
    int t = threadIdx.x, value = t;
    if (t % 2) value = 1000 + __shfl_xor(t, 2);
    __syncthreads();
    out[t] = value;
}

// A tree of shuffles in each group of `width` lanes; lane 0 of a group has the sum.
extern "C" __global__ void group_sum(const int* in, int* out, int width) {
    int t = threadIdx.x, value = in[t];
    for (int d = width / 2; d > 0; d /= 2) value += __shfl_down(value, d, width);
    if (t % width == 0) out[t / width] = value;
}

// All lanes of a group get the maximum.
extern "C" __global__ void group_max(const int* in, int* out, int width) {
    int t = threadIdx.x, value = in[t];
    for (int d = 1; d < width; d *= 2) {
        int other = __shfl_xor(value, d, width);
        value = value < other ? other : value;
    }
    out[t] = value;
}

// Inclusive prefix sums in each group of `width` lanes.
extern "C" __global__ void group_scan(const int* in, int* out, int width) {
    int t = threadIdx.x, value = in[t];
    for (int d = 1; d < width; d *= 2) {
        int before = __shfl_up(value, d, width);
        if (t % width >= d) value += before;
    }
    out[t] = value;
}

// Lanes leave in successive rounds, the highest first; the remaining lanes keep exchanging.
extern "C" __global__ void lanes_leave(unsigned* out) {
    int lane = threadIdx.x % warpSize;
    unsigned value = lane + 1;
    for (int round = 1; round < warpSize; round++) {
        if (lane > warpSize - round) break;
        value += __shfl(value, 0);
    }
    out[threadIdx.x] = value;
}

// Transposes a 4 by 4 matrix in each group of four lanes, with a row in each lane.
extern "C" __global__ void transpose_in_registers(int* out) {
    int t = threadIdx.x, row = t % 4;
    int mine[4], turned[4];
    for (int i = 0; i < 4; i++) mine[i] = 10 * t + i;
    for (int step = 0; step < 4; step++) {
        int other = row ^ step;
        turned[other] = __shfl_xor(mine[other], step, 4);
    }
    for (int i = 0; i < 4; i++) out[4 * t + i] = turned[i];
}
