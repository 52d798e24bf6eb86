// Cooperative groups: tiles of a warp, coalesced lanes, the whole grid.
#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void block_group(int* out) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ int cells[512];
    cells[block.thread_rank()] = block.thread_rank();
    block.sync();
    out[block.thread_rank()] = cells[block.size() - 1 - block.thread_rank()] + 1000 * (int)block.thread_index().y;
}

template <unsigned Size>
__device__ int tile_sum(int value) {
    cg::thread_block_tile<Size> tile = cg::tiled_partition<Size>(cg::this_thread_block());
    for (unsigned d = tile.size() / 2; d > 0; d /= 2) value += tile.shfl_down(value, d);
    return tile.shfl(value, 0) + 100000 * (int)tile.thread_rank();
}

extern "C" __global__ void tiles(int* out) {
    int t = threadIdx.x, n = blockDim.x;
    out[t] = tile_sum<4>(t);
    out[n + t] = tile_sum<16>(t);
    out[2 * n + t] = tile_sum<32>(t);
}

// Each tile loops a different number of times.
extern "C" __global__ void tiles_apart(int* out) {
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, value = t, rounds = t / 8 % 4;
    for (int i = 0; i < rounds; i++) value += tile.shfl_xor(value, 1u << (i % 3));
    tile.sync();
    out[t] = value;
}

extern "C" __global__ void those_that_are_here(int* out) {
    int t = threadIdx.x, lane = t % warpSize;
    out[t] = -1;
    if (lane % 3 == 1) {
        cg::coalesced_group here = cg::coalesced_threads();
        out[t] = 100 * (int)here.size() + (int)here.thread_rank() + 10000 * here.shfl(lane, 0);
    }
}

// In each round every thread reads what the next thread of the grid wrote in the previous round.
extern "C" __global__ void grid_rotate(int* ring, int rounds) {
    cg::grid_group grid = cg::this_grid();
    int n = gridDim.x * blockDim.x, t = grid.thread_rank();
    ring[t] = t;
    grid.sync();
    for (int r = 0; r < rounds; r++) {
        ring[(r + 1) % 2 * n + t] = ring[r % 2 * n + (t + 1) % n];
        grid.sync();
    }
}

// A sum over the grid in one launch: sums of blocks, then their sum.
extern "C" __global__ void grid_sum(const int* in, int* parts, int* out, int count) {
    __shared__ int sums[128];
    int t = threadIdx.x, sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < count; i += gridDim.x * blockDim.x) sum += in[i];
    sums[t] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half /= 2) {
        if (t < half) sums[t] += sums[t + half];
        __syncthreads();
    }
    if (t == 0) parts[blockIdx.x] = sums[0];
    cg::this_grid().sync();
    if (blockIdx.x == 0 && t == 0) {
        sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += parts[b];
        *out = sum;
    }
}
