// Test kernels that fail.
#include <hiphost/device.hpp>

HIPHOST_MODULE(test_faults)

HIPHOST_KERNEL(split_barrier, int* out) {
    if (threadIdx.x < 5) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(failed_assert, int* out) {
    int answer = (int)threadIdx.x;
    assert(answer < 3);
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(trapped, int* out) {
    if (threadIdx.x == 2) __trap();
    out[threadIdx.x] = 1;
}

HIPHOST_KERNEL(fine, int* out) { out[threadIdx.x] = 2; }

// Three barriers on different lines; the last ten threads return before.
HIPHOST_KERNEL(three_barriers, int* out) {
    if (threadIdx.x >= 54) return;
    if (threadIdx.x < 4) {
        __syncthreads();
    } else if (threadIdx.x < 20) {
        __syncthreads();
    } else {
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

// Legal: some threads end, the others continue and meet at barriers.
HIPHOST_KERNEL(early_leavers, int* out) {
    if (threadIdx.x % 2 == 1) return;
    __syncthreads();
    out[threadIdx.x] = 32 * (threadIdx.x / 64 + 1);
    __syncthreads();
}

// Writes out[at] from one thread of one block.
HIPHOST_KERNEL(write_at, int* out, long long at) {
    if (blockIdx.x == 3 && threadIdx.x == 5) ((volatile int*)out)[at] = 7;
}
HIPHOST_KERNEL(read_at, int* out, const int* in, long long at) {
    if (threadIdx.x == 1) out[0] = ((const volatile int*)in)[at];
}

// After a barrier, so that the other threads are parked.
HIPHOST_KERNEL(write_late, int* out, long long at) {
    __syncthreads();
    if (threadIdx.x == 9) ((volatile int*)out)[at] = 7;
    __syncthreads();
}

static __device__ __attribute__((noinline)) int deeper(volatile int* out, int depth) {
    volatile int here[16];
    here[depth % 16] = depth;
    if (*out == -1) return here[0];
    return deeper(out, depth + 1) + here[depth % 16];
}
HIPHOST_KERNEL(endless_recursion, int* out) { out[0] = deeper(out, 0); }

// A frame larger than a thread's stack.
static __device__ __attribute__((noinline)) int wide(volatile int* out, int at) {
    volatile int here[40000];
    here[at % 40000] = *out;
    return here[(at + 39999) % 40000];
}
HIPHOST_KERNEL(large_frame, int* out) { out[0] = wide(out, (int)threadIdx.x); }

HIPHOST_KERNEL(divide, int* out, int by) { out[threadIdx.x] = (int)threadIdx.x / *(volatile int*)&by; }

HIPHOST_KERNEL(illegal_instruction, int* out) {
    if (threadIdx.x == 1) __builtin_trap();
    out[threadIdx.x] = 1;
}

// Waits for a write to out[0], which no thread of this launch makes.
HIPHOST_KERNEL(wait_for_write, int* out) {
    while (*(volatile int*)out == 0) {
    }
    out[1 + threadIdx.x] = 1;
}
HIPHOST_KERNEL(endless_barriers, int* out) {
    while (*(volatile int*)out == 0) __syncthreads();
}

// The argument of %s is not a valid string.
HIPHOST_KERNEL(print_nothing, int* out, const char* text) {
    char line[64];
    if (threadIdx.x == 3) out[0] = snprintf(line, sizeof line, "%s", text);
}
