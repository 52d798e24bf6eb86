// Block barriers: early returns, data-dependent barriers, values that travel from thread to thread.

// Threads 0 and those from `count` on return before the barrier.
extern "C" __global__ void early_return(int* out, int count) {
    __shared__ int met;
    if (threadIdx.x == 1) met = 0;
    if (threadIdx.x == 0 || (int)threadIdx.x >= count) return;
    __syncthreads();
    atomicAdd(&met, 1);
    __syncthreads();
    out[threadIdx.x] = met;
}

// Warp w returns after w rounds; each round counts the remaining threads.
extern "C" __global__ void warps_leave(int* out) {
    __shared__ int there[32];
    int warp = threadIdx.x / warpSize;
    if (threadIdx.x < 32) there[threadIdx.x] = 0;
    __syncthreads();
    for (int round = 0; round < 32; round++) {
        if (warp < round) break;
        atomicAdd(&there[round], 1);
        __syncthreads();
        out[round * blockDim.x + threadIdx.x] = there[round];
    }
}

// The number of rounds of a block depends on the data: it counts down the largest value.
extern "C" __global__ void data_dependent(const int* in, int* rounds) {
    __shared__ int running;
    int left = in[blockIdx.x * blockDim.x + threadIdx.x], count = 0;
    for (;;) {
        if (threadIdx.x == 0) running = 0;
        __syncthreads();
        if (left > 0) {
            atomicAdd(&running, 1);
            left--;
        }
        __syncthreads();
        if (running == 0) break;
        count++;
        __syncthreads();
    }
    rounds[blockIdx.x * blockDim.x + threadIdx.x] = count;
}

// Block b loops trips[b] times.
extern "C" __global__ void trips_by_block(const int* trips, int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int trip = 0; trip < trips[blockIdx.x]; trip++) {
        if ((int)threadIdx.x == trip % (int)blockDim.x) sum += trip;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Values travel: thread t reads what t + 1 wrote in the previous round.
extern "C" __global__ void rotate(int* out, int rounds) {
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
extern "C" __global__ void mirror(unsigned* out) {
    __shared__ unsigned seen[8][8][16];
    seen[threadIdx.z][threadIdx.y][threadIdx.x] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
    __syncthreads();
    unsigned z = blockDim.z - 1 - threadIdx.z, y = blockDim.y - 1 - threadIdx.y, x = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)] = seen[z][y][x];
}

extern "C" __global__ void count_or_and(int* out) {
    int t = threadIdx.x;
    int third = __syncthreads_count(t % 3 == 0);
    int some = __syncthreads_or(t == 7) != 0;
    int none = __syncthreads_or(t < 0) != 0;
    int all = __syncthreads_and(t >= 0) != 0;
    int most = __syncthreads_and(t != 7) != 0;
    out[t] = third * 10000 + some * 1000 + none * 100 + all * 10 + most;
}

// Both sides of a branch synchronise their own lanes, then the whole warp, then the whole block.
extern "C" __global__ void reconverge(int* out) {
    __shared__ int totals[2];
    int t = threadIdx.x, value;
    if (t < 2) totals[t] = 0;
    __syncthreads();
    if (t % 2 == 0) {
        value = __shfl_xor(t, 2);
    } else {
        value = __shfl_xor(t, 4);
    }
    value += __shfl_xor(value, 1);
    atomicAdd(&totals[t % 2], value);
    __syncthreads();
    out[t] = value + totals[t % 2];
}

__device__ int block_total(int* scratch, int value) {
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if ((int)threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
        __syncthreads();
    }
    int total = scratch[0];
    __syncthreads();
    return total;
}

// Barriers inside a function that is called twice, the second time with the result of the first.
extern "C" __global__ void in_a_function(int* out) {
    __shared__ int scratch[256];
    int first = block_total(scratch, threadIdx.x);
    int second = block_total(scratch, threadIdx.x % 2 == 0 ? first : 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = second;
}

// A whole block takes one branch or the other; each has its own barriers.
extern "C" __global__ void branch_of_a_block(int* out) {
    __shared__ int cell[64];
    int t = threadIdx.x;
    if (blockIdx.x % 2 == 0) {
        cell[t] = t;
        __syncthreads();
        out[blockIdx.x * blockDim.x + t] = cell[63 - t];
    } else {
        cell[t] = 2 * t;
        __syncthreads();
        int next = cell[(t + 1) % 64];
        __syncthreads();
        cell[t] = next + 1;
        __syncthreads();
        out[blockIdx.x * blockDim.x + t] = cell[(t + 1) % 64];
    }
}
