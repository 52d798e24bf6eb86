// Kernels with one bug each, for `cargo xtask sanitize --planted`, which expects a report to name the marked
// lines. A mark is `// planted <sanitizer>: <kernel>` at the end of a line; a race has two of them, or one if
// the line races with itself. examples/planted.rs runs each kernel with sizes that trigger the bug.
#include <hiphost/device.hpp>

HIPHOST_MODULE(rtc)

__device__ static int table[7];
HIPHOST_GLOBAL(table)

// ---- AddressSanitizer -------------------------------------------------------------------------------------------------
// `count` elements are allocated.
HIPHOST_KERNEL(global_write, int* out, int count) {
    if ((int)threadIdx.x <= count) {
        out[threadIdx.x] = 1;  // planted address: global_write
    }
}
HIPHOST_KERNEL(global_read, const float* in, float* out, int count) {
    float sum = 0;
    for (int i = 0; i <= count; i++) {
        sum += in[i];  // planted address: global_read
    }
    if (threadIdx.x == 0) *out = sum;
}
HIPHOST_KERNEL(global_before, int* out, int count) {
    int i = (int)threadIdx.x;
    if (i < count) {
        out[i - 1] = i;  // planted address: global_before
    }
}
// One byte past an odd size, which is not the end of any hardware granule.
HIPHOST_KERNEL(global_byte, unsigned char* out, int count) {
    if ((int)threadIdx.x <= count) {
        out[threadIdx.x] = 1;  // planted address: global_byte
    }
}
HIPHOST_KERNEL(use_after_free, int* out) {
    out[threadIdx.x] = 1;  // planted address: use_after_free
}
// The launch has dynamic shared memory for `count` elements.
HIPHOST_KERNEL(dynamic_shared_write, int* out, int count) {
    int* values = (int*)hiphost::dynamic_shared();
    values[threadIdx.x] = 1;
    __syncthreads();
    if ((int)threadIdx.x == count - 1) {
        values[count] = 2;  // planted address: dynamic_shared_write
    }
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x];
}
HIPHOST_KERNEL(dynamic_shared_read, int* out, int count) {
    int* values = (int*)hiphost::dynamic_shared();
    int t = (int)threadIdx.x;
    values[t] = t;
    __syncthreads();
    out[t] = t < count ? values[t + 1] : 0;  // planted address: dynamic_shared_read
}
HIPHOST_KERNEL(static_shared_write, int* out, int count) {
    __shared__ int values[33];
    values[threadIdx.x % 33] = 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        values[count] = 2;  // planted address: static_shared_write
    }
    __syncthreads();
    out[threadIdx.x] = values[0];
}
HIPHOST_KERNEL(static_shared_read, float* out, int count) {
    __shared__ float values[33];
    __shared__ float other[33];
    values[threadIdx.x % 33] = 1, other[threadIdx.x % 33] = 2;
    __syncthreads();
    out[threadIdx.x] = other[0] + values[threadIdx.x == 0 ? count : 0];  // planted address: static_shared_read
}
HIPHOST_KERNEL(local_array, int* out, int count) {
    int values[4];
    for (int i = 0; i < 4; i++) values[i] = i;
    __syncthreads();
    out[threadIdx.x] = values[count];  // planted address: local_array
}
HIPHOST_KERNEL(device_variable, int* out, int count) {
    out[threadIdx.x] = table[count];  // planted address: device_variable
}

// ---- ThreadSanitizer --------------------------------------------------------------------------------------------------
HIPHOST_KERNEL(missing_barrier, int* out) {
    __shared__ int values[256];
    int t = (int)threadIdx.x, n = (int)blockDim.x;
    values[t] = t;                   // planted thread: missing_barrier
    out[t] = values[(t + 1) % n];    // planted thread: missing_barrier
}
// The neighbour's value is overwritten before it is read: the loop lacks a second barrier.
HIPHOST_KERNEL(missing_second_barrier, int* out, int rounds) {
    __shared__ int values[256];
    int t = (int)threadIdx.x, n = (int)blockDim.x, sum = t;
    for (int i = 0; i < rounds; i++) {
        values[t] = sum;                // planted thread: missing_second_barrier
        __syncthreads();
        sum += values[(t + 1) % n];     // planted thread: missing_second_barrier
    }
    out[t] = sum;
}
HIPHOST_KERNEL(missing_syncwarp, int* out) {
    __shared__ int values[256];
    int t = (int)threadIdx.x, lane = t % warpSize;
    values[t] = __shfl_xor(t, 1);                        // planted thread: missing_syncwarp
    if (lane < warpSize / 2) {
        out[t] = values[t + warpSize / 2];               // planted thread: missing_syncwarp
    }
}
// A warp barrier does not synchronise the block.
HIPHOST_KERNEL(syncwarp_for_block, int* out) {
    __shared__ int values[256];
    int t = (int)threadIdx.x, n = (int)blockDim.x;
    values[t] = t;                      // planted thread: syncwarp_for_block
    __syncwarp();
    out[t] = values[n - 1 - t];         // planted thread: syncwarp_for_block
}
HIPHOST_KERNEL(dynamic_shared_race, int* out) {
    int* values = (int*)hiphost::dynamic_shared();
    int t = (int)threadIdx.x;
    if (t == 0) {
        values[0] = 7;                  // planted thread: dynamic_shared_race
    }
    out[t] = values[0];                 // planted thread: dynamic_shared_race
}
HIPHOST_KERNEL(global_race, int* out) {
    if (threadIdx.x == 3) {
        out[0] = 1;                     // planted thread: global_race
    }
    if (threadIdx.x == 5) {
        out[1] = out[0];                // planted thread: global_race
    }
}
HIPHOST_KERNEL(lost_update, int* out) {
    *out = *out + 1;  // planted thread: lost_update
}
HIPHOST_KERNEL(half_atomic, int* out) {
    atomicAdd(&out[0], 1);              // planted thread: half_atomic
    if (threadIdx.x == 1) {
        out[1] = out[0];                // planted thread: half_atomic
    }
}
// Blocks 0 and 1 write to one location. Block 0 waits until block 1 has begun, so they run on two OS threads.
HIPHOST_KERNEL(blocks_race, int* out, int* begun) {
    if (blockIdx.x == 1) atomicAdd(begun, 1);
    while (blockIdx.x == 0 && atomicAdd(begun, 0) == 0) {
    }
    out[blockIdx.x / 2] = (int)blockIdx.x;  // planted thread: blocks_race
}

// ---- nothing wrong ----------------------------------------------------------------------------------------------------
// The same patterns without bugs, on every thread: neither sanitizer may report anything.
HIPHOST_KERNEL(all_right, int* out, int* total, int count) {
    __shared__ int values[256];
    int* shared = (int*)hiphost::dynamic_shared();
    int t = (int)threadIdx.x, n = (int)blockDim.x, sum = t;
    for (int i = 0; i < 4; i++) {
        values[t] = sum, shared[t] = sum;
        __syncthreads();
        sum += values[(t + 1) % n] - shared[(t + 2) % n];
        __syncthreads();
    }
    values[t] = sum;
    __syncwarp();
    sum += values[t ^ 1];
    __syncwarp();
    values[t ^ 1] = sum;
    for (int d = warpSize / 2; d; d /= 2) sum += __shfl_xor(sum, d);
    if (t % warpSize == 0) atomicAdd(total, sum);
    if (t == 1) return;
    __syncthreads();
    if (t < count) out[blockIdx.x * n + t] = values[n - 1 - t];
}
