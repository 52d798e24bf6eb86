// Reductions and scans: over blocks through shared memory and through shuffles, and over the grid.

extern "C" __global__ void block_shared(const int* in, int* out, unsigned count) {
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

__device__ int warp_sum(int value) {
    for (int d = warpSize / 2; d; d /= 2) value += __shfl_down(value, d);
    return value;
}

extern "C" __global__ void block_shuffles(const int* in, int* out) {
    __shared__ int part[32];
    int t = threadIdx.x, lane = t % warpSize, warp = t / warpSize;
    int value = warp_sum(in[blockIdx.x * blockDim.x + t]);
    if (lane == 0) part[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < (int)(blockDim.x / warpSize) ? part[lane] : 0;
        value = warp_sum(value);
        if (lane == 0) out[blockIdx.x] = value;
    }
}

struct Best {
    float value;
    int index;
};

// The largest value and its first index.
extern "C" __global__ void arg_max(const float* in, Best* out, int count) {
    __shared__ Best best[256];
    int t = threadIdx.x;
    Best mine = {-1.0e30f, -1};
    for (int i = t; i < count; i += blockDim.x) {
        if (in[i] > mine.value) mine.value = in[i], mine.index = i;
    }
    best[t] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (t < half) {
            Best other = best[t + half];
            bool better = other.value > best[t].value;
            bool earlier = other.value == best[t].value && other.index < best[t].index;
            if (other.index >= 0 && (better || earlier)) best[t] = other;
        }
        __syncthreads();
    }
    if (t == 0) *out = best[0];
}

extern "C" __global__ void grid_atomic(const int* in, int* out, int count) {
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += in[i];
    atomicAdd(out, sum);
}

// Sums of doubles that are integers, so that every order gives the same result.
extern "C" __global__ void dot_product(const double* a, const double* b, double* out, int count) {
    __shared__ double sums[128];
    double sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += a[i] * b[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// Inclusive prefix sums, each step reaching twice as far back.
extern "C" __global__ void scan_doubling(const int* in, int* out) {
    __shared__ int cells[2][1024];
    int t = threadIdx.x, side = 0;
    cells[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < (int)blockDim.x; d *= 2) {
        cells[1 - side][t] = cells[side][t] + (t >= d ? cells[side][t - d] : 0);
        side = 1 - side;
        __syncthreads();
    }
    out[t] = cells[side][t];
}

// Exclusive prefix sums of two values per thread: up a tree and down again.
extern "C" __global__ void scan_tree(const int* in, int* out) {
    __shared__ int cells[1024];
    int t = threadIdx.x, n = 2 * blockDim.x, offset = 1;
    cells[2 * t] = in[2 * t], cells[2 * t + 1] = in[2 * t + 1];
    for (int d = n / 2; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) cells[offset * (2 * t + 2) - 1] += cells[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) cells[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, old = cells[left];
            cells[left] = cells[right];
            cells[right] += old;
        }
    }
    __syncthreads();
    out[2 * t] = cells[2 * t], out[2 * t + 1] = cells[2 * t + 1];
}

// Inclusive prefix sums of a block: in each warp by shuffles, then over the warps.
extern "C" __global__ void scan_warps(const int* in, int* out) {
    __shared__ int totals[32];
    int t = threadIdx.x, lane = t % warpSize, warp = t / warpSize, value = in[t];
    for (int d = 1; d < warpSize; d *= 2) {
        int before = __shfl_up(value, d);
        if (lane >= d) value += before;
    }
    if (lane == warpSize - 1) totals[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int total = lane < (int)blockDim.x / warpSize ? totals[lane] : 0;
        for (int d = 1; d < warpSize; d *= 2) {
            int before = __shfl_up(total, d);
            if (lane >= d) total += before;
        }
        if (lane < (int)blockDim.x / warpSize) totals[lane] = total;
    }
    __syncthreads();
    out[t] = value + (warp > 0 ? totals[warp - 1] : 0);
}
