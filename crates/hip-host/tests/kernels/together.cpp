// Test kernels of cooperative launches, and of printing.
#include <hip/hip_cooperative_groups.h>

HIPHOST_MODULE(test_together)

// In each round every thread reads what the next thread, maybe of another block, wrote one round before.
HIPHOST_KERNEL(grid_rotate, int* ring, int rounds) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int t = (int)grid.thread_rank(), n = (int)grid.size();
    ring[t] = t;
    grid.sync();
    for (int r = 0; r < rounds; r++) {
        ring[(r + 1) % 2 * n + t] = ring[r % 2 * n + (t + 1) % n];
        grid.sync();
    }
}

// Half of the threads return first; the return of the last of them opens the sync.
HIPHOST_KERNEL(grid_early_exit, int* out) {
    __shared__ int before;
    if (threadIdx.x == 0) before = 0;
    __syncthreads();
    atomicAdd(&before, 1);
    if (threadIdx.x % 2 == 1) return;
    cooperative_groups::this_grid().sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = before;
}

HIPHOST_KERNEL(grid_lost_block, int* out) {
    if (blockIdx.x == 1) return;
    cooperative_groups::this_grid().sync();
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(grid_failing_block, int* out) {
    assert(blockIdx.x != 1);
    cooperative_groups::this_grid().sync();
    out[threadIdx.x] = 1;
}

// One block waits for a word that no thread writes, the others for that block.
HIPHOST_KERNEL(grid_endless_block, int* out) {
    if (blockIdx.x == 1) {
        while (*(volatile int*)out == 0) {
        }
    }
    cooperative_groups::this_grid().sync();
    out[threadIdx.x] = 1;
}

// One block reads through an invalid pointer while the others wait for it.
HIPHOST_KERNEL(grid_faulting_block, int* out, const int* nothing) {
    if (blockIdx.x == 2 && threadIdx.x == 1) out[0] = *(const volatile int*)nothing;
    cooperative_groups::this_grid().sync();
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(is_cooperative, int* out) { *out = cooperative_groups::this_grid().is_valid(); }

HIPHOST_KERNEL(fine, int* out) { out[threadIdx.x] = 2; }

HIPHOST_KERNEL(print_lines, const char* word, double number) {
    printf("block %u thread %u: %s %.2f\n", blockIdx.x, threadIdx.x, word, number);
}

// A line longer than any likely buffer.
HIPHOST_KERNEL(print_long) { printf("%0*d|\n", 3000, 7); }
