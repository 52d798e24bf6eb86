// The built-in variables of a thread: threadIdx, blockIdx, blockDim, gridDim, dynamic shared memory, assert.
#pragma once

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

namespace hiphost {
static Own<const hiphost_runtime*> runtime;

// Scalars, not structs: a compiler keeps a scalar in a register in a loop.
static thread_local Own<const hiphost_block*> current;
static thread_local Own<unsigned> thread_x, thread_y, thread_z;
static thread_local Own<unsigned> block_x, block_y, block_z;
static thread_local Own<unsigned> block_dim_x, block_dim_y, block_dim_z;
static thread_local Own<unsigned> grid_dim_x, grid_dim_y, grid_dim_z;

static __forceinline__ void enter(const hiphost_block* b) {
    current = b;
    block_x = b->index[0], block_y = b->index[1], block_z = b->index[2];
    block_dim_x = b->block[0], block_dim_y = b->block[1], block_dim_z = b->block[2];
    grid_dim_x = b->grid[0], grid_dim_y = b->grid[1], grid_dim_z = b->grid[2];
}
static __forceinline__ uint3 thread_index() { return uint3{thread_x, thread_y, thread_z}; }
static __forceinline__ uint3 block_index() { return uint3{block_x, block_y, block_z}; }
static __forceinline__ dim3 block_dim() { return dim3{block_dim_x, block_dim_y, block_dim_z}; }
static __forceinline__ dim3 grid_dim() { return dim3{grid_dim_x, grid_dim_y, grid_dim_z}; }

// Restores the thread's index after a call that may park the fiber: other threads of the block run meanwhile
// and overwrite it.
struct Parked {
    unsigned x = thread_x, y = thread_y, z = thread_z;
    __forceinline__ ~Parked() {
        __asm__ volatile("" ::: "memory");
        thread_x = x, thread_y = y, thread_z = z;
    }
};

static inline void* dynamic_shared() { return current->shared; }
static inline unsigned dynamic_shared_bytes() { return current->shared_bytes; }

// Set when one thread did the work of its whole block, so that a plain loop can skip the other threads.
static thread_local Own<bool> block_done;

// A subrange of 0..count.
struct Share {
    uint64_t first, last;
};
// The part of 0..count that falls to this thread. On a CPU the first thread of a block takes the block's
// whole part as one range.
static __forceinline__ Share share(uint64_t count) {
    block_done = true;
    if ((thread_x | thread_y | thread_z) != 0) return Share{0, 0};
    const uint64_t blocks = (uint64_t)grid_dim_x * grid_dim_y * grid_dim_z;
    const uint64_t block = block_x + (uint64_t)grid_dim_x * (block_y + (uint64_t)grid_dim_y * block_z);
    const uint64_t each = count / blocks, left = count % blocks;
    const uint64_t first = block * each + (block < left ? block : left);
    return Share{first, first + each + (block < left ? 1 : 0)};
}

[[noreturn]] static inline void fail(unsigned code, const char* what, const char* file, unsigned line) {
    const uint32_t thread[3] = {thread_x, thread_y, thread_z};
    runtime->fail(current, thread, code, what, file, line);
    __builtin_unreachable();
}
[[noreturn]] static inline void assertion_failed(const char* condition, const char* file, unsigned line) {
    fail(710, condition, file, line);
}
}  // namespace hiphost

#define threadIdx (::hiphost::thread_index())
#define blockIdx (::hiphost::block_index())
#define blockDim (::hiphost::block_dim())
#define gridDim (::hiphost::grid_dim())
#define hipThreadIdx_x (::hiphost::thread_x)
#define hipThreadIdx_y (::hiphost::thread_y)
#define hipThreadIdx_z (::hiphost::thread_z)
#define hipBlockIdx_x (::hiphost::block_x)
#define hipBlockIdx_y (::hiphost::block_y)
#define hipBlockIdx_z (::hiphost::block_z)
#define hipBlockDim_x (::hiphost::block_dim_x)
#define hipBlockDim_y (::hiphost::block_dim_y)
#define hipBlockDim_z (::hiphost::block_dim_z)
#define hipGridDim_x (::hiphost::grid_dim_x)
#define hipGridDim_y (::hiphost::grid_dim_y)
#define hipGridDim_z (::hiphost::grid_dim_z)
// Declares the launch's dynamic shared memory.
#define HIP_DYNAMIC_SHARED(type, name) type* const name = (type*)::hiphost::dynamic_shared();

// A kernel that includes <cassert> itself gets the C library's assert macro, which calls this function.
#define __assert_fail(condition, file, line, function) ::hiphost::assertion_failed(condition, file, line)
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : ::hiphost::assertion_failed(#condition, __FILE__, __LINE__))
#endif
#define __trap() ::hiphost::fail(719, "trap", __FILE__, __LINE__)
#define abort() ::hiphost::fail(719, "abort", __FILE__, __LINE__)

// HIPHOST_FOR_EACH(i, count) { ... } runs its body once for each i in 0..count over the whole grid, for any
// launch shape; i is a uint64_t. The bodies for different i must not depend on each other. Outside of it the
// kernel must not depend on threadIdx.
#if defined(__clang__)
#define HIPHOST_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define HIPHOST_IVDEP _Pragma("GCC ivdep")
#endif
#define HIPHOST_FOR_EACH(i, count)                                                        \
    const ::hiphost::Share hiphost_share_##i = ::hiphost::share(count);                   \
    HIPHOST_IVDEP for (uint64_t i = hiphost_share_##i.first; i < hiphost_share_##i.last; i++)
