/* The C interface between host-compiled kernels and the hip-host runtime. src/abi.rs mirrors it; both carry the
 * same version number, and a module with another number is refused. */
#ifndef HIPHOST_ABI_H
#define HIPHOST_ABI_H
#include <stdint.h>

#define HIPHOST_ABI 2u

/* A block and its launch, as a kernel sees them. One exists per OS thread that runs blocks; it outlives the block. */
typedef struct hiphost_block {
    uint32_t grid[3];      /* blocks in the grid: x, y, z */
    uint32_t block[3];     /* threads in the block */
    uint32_t index[3];     /* this block's index in the grid */
    uint32_t shared_bytes; /* size of the dynamic shared memory */
    void* shared;          /* dynamic shared memory, aligned to 256 bytes */
    void* runner;          /* the runtime's own; kernels do not use it */
    uint32_t cooperative;  /* 1: all blocks of the grid run at once, and grid_sync works */
    uint32_t reserved;
} hiphost_block;

/* One thread of a block. `linear` counts x fastest, then y, then z. */
typedef struct hiphost_thread {
    uint32_t x, y, z, linear;
} hiphost_thread;

/* What a lane sees after a warp operation: one 16-byte slot for each lane that took part. Valid until the lane
 * calls the runtime again. */
typedef struct hiphost_warp_view {
    const unsigned char* slots;
    uint64_t mask;       /* lanes that took part */
    uint64_t predicates; /* participating lanes whose predicate was true */
    uint32_t lane;       /* the caller's own number */
    uint32_t reserved;
} hiphost_warp_view;

typedef struct hiphost_runtime {
    uint32_t abi;
    uint32_t reserved;
    /* Ends the thread in *thread (unless linear is UINT32_MAX) and begins the next; returns 0 when none is left. */
    int (*next_thread)(const hiphost_block*, hiphost_thread*);
    /* Returns when every live thread of the block has called it. The low half counts the true predicates, the
     * high half the threads. */
    uint64_t (*barrier)(const hiphost_block*, uint32_t line, uint32_t predicate);
    /* Returns when the other active lanes of the warp have called it from the same line. size is at most 16. */
    void (*warp_sync)(const hiphost_block*, uint32_t line, const void* value, uint32_t size, uint32_t predicate,
                      hiphost_warp_view* view);
    /* Fails the launch with this hipError_t code and does not return. thread is threadIdx: x, y, z. */
    void (*fail)(const hiphost_block*, const uint32_t* thread, uint32_t code, const char* what, const char* file,
                 uint32_t line);
    /* Writes text to standard output in one piece. */
    void (*print)(const hiphost_block*, const char* text, uint32_t length);
    /* Returns when every live thread of every block of the grid has called it; returns 0 at once if the launch is
     * not cooperative. */
    uint32_t (*grid_sync)(const hiphost_block*, uint32_t line);
    /* Nanoseconds of a monotonic clock that all threads share. */
    uint64_t (*clock)(void);
} hiphost_runtime;

#define HIPHOST_KERNEL_BARRIERS 1u /* hiphost_kernel.flags: run it through `threads` */

typedef struct hiphost_kernel {
    const char* name;
    uint32_t nargs;
    uint32_t flags;
    const uint32_t* arg_size;
    const uint32_t* arg_offset; /* in the kernel argument buffer, as the C layout of a struct of the arguments */
    uint32_t kernarg_size;
    uint32_t max_threads; /* most threads a block may have; 0: the device's limit */
    /* Exactly one of the two is set. plain: a loop over the threads of the block, for kernels without barriers.
     * threads: runs threads that next_thread hands out, on a fiber. */
    void (*plain)(const hiphost_block*, void* const* args);
    void (*threads)(const hiphost_block*, void* const* args);
    const struct hiphost_kernel* next; /* the module's kernels are a list */
} hiphost_kernel;

/* A __device__ or __constant__ variable that the host can find by name. */
typedef struct hiphost_global {
    const char* name;
    void* address;
    uint64_t size;
    const struct hiphost_global* next;
} hiphost_global;

typedef struct hiphost_module {
    uint32_t abi;
    uint32_t wave_size; /* 32, 64, or 0: serves both */
    const char* name;
    const hiphost_kernel* kernels; /* first of the list */
    const hiphost_global* globals;
} hiphost_module;

#ifdef __cplusplus
static_assert(sizeof(hiphost_block) == 64 && sizeof(hiphost_warp_view) == 32 && sizeof(hiphost_runtime) == 64 &&
                  sizeof(hiphost_kernel) == 64 && sizeof(hiphost_global) == 32 && sizeof(hiphost_module) == 32,
              "src/abi.rs has these sizes");
#endif

typedef const hiphost_module* (*hiphost_module_entry)(const hiphost_runtime*);

#endif
