// Votes: ballot, any, all, and counting with them.

extern "C" __global__ void ballot(unsigned long long* out, int modulus) {
    int lane = threadIdx.x % warpSize;
    out[threadIdx.x] = __ballot(lane % modulus == 0);
}

extern "C" __global__ void any_and_all(int* out, int limit) {
    int lane = threadIdx.x % warpSize;
    int any = __any(lane == limit) != 0;
    int all = __all(lane >= limit) != 0;
    int every = __all(1) != 0;
    int none = __any(0) != 0;
    out[threadIdx.x] = any + 10 * all + 100 * every + 1000 * none;
}

// Each side of a branch votes separately.
extern "C" __global__ void two_sides(unsigned long long* out) {
    int lane = threadIdx.x % warpSize;
    unsigned long long mask;
    if (lane < 5) {
        mask = __ballot(lane != 2);
    } else {
        mask = __ballot(lane % 2);
    }
    out[threadIdx.x] = mask;
}

// Both sides call one function that votes. Their arguments differ, so that no compiler merges the two calls.
__device__ unsigned long long even_ones(int number) {
    return __ballot(number % 2 == 0);
}

extern "C" __global__ void two_calls(unsigned long long* out) {
    int lane = threadIdx.x % warpSize;
    unsigned long long mask;
    if (lane < 5) {
        mask = even_ones(lane);
    } else {
        mask = even_ones(lane + 1);
    }
    out[threadIdx.x] = mask;
}

// Lane n loops n times; in each round the active lanes are counted.
extern "C" __global__ void uneven_rounds(int* out) {
    int lane = threadIdx.x % warpSize, seen = 0;
    for (int i = 0; i < lane; i++) seen += __popcll(__ballot(1));
    out[threadIdx.x] = seen * 1000 + __popcll(__ballot(1));
}

// Keeps the multiples of three of each warp, compacted and in order.
extern "C" __global__ void compact(const int* in, int* out, int* counts) {
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize, value = in[threadIdx.x];
    unsigned long long keep = __ballot(value % 3 == 0);
    int before = __popcll(keep & ((1ull << lane) - 1));
    if (value % 3 == 0) out[warp * warpSize + before] = value;
    if (lane == 0) counts[warp] = __popcll(keep);
}

// Lanes of a warp that hold the same key find each other, one key after the other.
extern "C" __global__ void same_key(const int* keys, unsigned long long* out) {
    int key = keys[threadIdx.x];
    unsigned long long mine = 0, left = __ballot(1);
    while (left) {
        int leader = __ffsll(left) - 1;
        unsigned long long equal = __ballot(key == __shfl(key, leader));
        if (equal >> (threadIdx.x % warpSize) & 1) mine = equal;
        left &= ~equal;
    }
    out[threadIdx.x] = mine;
}

// A warp leaves its loop when all its lanes are done.
extern "C" __global__ void until_all(const int* steps, int* rounds) {
    int left = steps[threadIdx.x], count = 0;
    while (__any(left > 0)) {
        left--;
        count++;
    }
    rounds[threadIdx.x] = count;
}

// Three nested branches.
extern "C" __global__ void nested(int* out) {
    int lane = threadIdx.x % warpSize, value = 0;
    if (lane < 24) {
        value = __popcll(__ballot(1));
        if (lane % 2 == 0) {
            value += 100 * __popcll(__ballot(1));
            if (lane % 4 == 0) value += 10000 * __popcll(__ballot(1));
        }
        value += 1000000 * __popcll(__ballot(1));
    }
    out[threadIdx.x] = value;
}
