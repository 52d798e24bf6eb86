// Atomic operations on every type that has them, in global and in shared memory.

#define ADD(name, T)                                           \
    extern "C" __global__ void name(T* v) {                    \
        int i = blockIdx.x * blockDim.x + threadIdx.x;         \
        atomicAdd(&v[0], (T)1);                                \
        atomicAdd(&v[1], (T)(i % 4));                          \
    }
ADD(add_i32, int)
ADD(add_u32, unsigned)
ADD(add_u64, unsigned long long)
ADD(add_f32, float)
ADD(add_f64, double)

extern "C" __global__ void subtract(int* ints, unsigned* words) {
    atomicSub(ints, 3);
    atomicSub(words, 2u);
}

#define MIN_MAX(name, T, scale)                                           \
    extern "C" __global__ void name(T* v) {                               \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                    \
        T mine = (T)((T)((i * 37) % 1000) * (T)scale);                    \
        atomicMin(&v[0], mine);                                           \
        atomicMax(&v[1], mine);                                           \
    }
MIN_MAX(min_max_u32, unsigned, 4000000u)
MIN_MAX(min_max_u64, unsigned long long, 10000000000000000ull)

extern "C" __global__ void min_max_i32(int* v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(&v[0], (i * 37) % 1000 - 500);
    atomicMax(&v[1], (i * 37) % 1000 - 500);
}

#define BITS(name, T)                                                          \
    extern "C" __global__ void name(T* v) {                                    \
        int i = blockIdx.x * blockDim.x + threadIdx.x, bits = 8 * sizeof(T);   \
        atomicOr(&v[0], (T)1 << (2 * i % bits));                               \
        atomicAnd(&v[1], (T) ~((T)1 << (2 * i % bits)));                       \
        atomicXor(&v[2], (T)1 << (i % 3));                                     \
    }
BITS(bits_i32, int)
BITS(bits_u32, unsigned)
BITS(bits_u64, unsigned long long)

// Every value that is stored is returned again, except the last.
#define EXCHANGE(name, T)                                                               \
    extern "C" __global__ void name(T* cell, unsigned* came_out) {                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        T old = atomicExch(cell, (T)(i + 1));                                           \
        atomicAdd(&came_out[(int)old], 1u);                                             \
    }
EXCHANGE(exchange_i32, int)
EXCHANGE(exchange_u64, unsigned long long)
EXCHANGE(exchange_f32, float)

// One thread wins each cell; the others see which one.
#define COMPARE(name, T)                                                                \
    extern "C" __global__ void name(T* cells, unsigned* wins) {                         \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                  \
        T old = atomicCAS(&cells[i % 8], (T)0, (T)(i + 1));                             \
        if (old == (T)0) atomicAdd(&wins[i % 8], 1u);                                   \
        else if ((int)old % 8 != (i + 1) % 8) atomicAdd(&wins[8], 1u);                  \
    }
COMPARE(compare_i32, int)
COMPARE(compare_u64, unsigned long long)

// Minimum and maximum of floats by compare-and-swap, as on hardware that has neither.
extern "C" __global__ void float_min_max(const float* in, unsigned* low, unsigned* high) {
    float mine = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned seen = *(volatile unsigned*)low;
    while (mine < __uint_as_float(seen)) {
        unsigned before = seen;
        seen = atomicCAS(low, before, __float_as_uint(mine));
        if (seen == before) break;
    }
    seen = *(volatile unsigned*)high;
    while (mine > __uint_as_float(seen)) {
        unsigned before = seen;
        seen = atomicCAS(high, before, __float_as_uint(mine));
        if (seen == before) break;
    }
}

extern "C" __global__ void double_add_by_swap(unsigned long long* cell) {
    double mine = threadIdx.x % 2 ? 0.5 : 0.25;
    unsigned long long seen = *(volatile unsigned long long*)cell, before;
    do {
        before = seen;
        seen = atomicCAS(cell, before, (unsigned long long)__double_as_longlong(__longlong_as_double((long long)before) + mine));
    } while (seen != before);
}

// Tickets: every thread gets a different number.
extern "C" __global__ void tickets(unsigned* counter, unsigned* taken) {
    unsigned mine = atomicAdd(counter, 1u);
    atomicAdd(&taken[mine], 1u);
}

extern "C" __global__ void in_shared_memory(int* out) {
    __shared__ int ints[4];
    __shared__ unsigned words[4];
    __shared__ float sum;
    __shared__ unsigned long long wide;
    int t = threadIdx.x;
    if (t < 4) ints[t] = 0, words[t] = 0;
    if (t == 0) sum = 0.0f, wide = 0, ints[1] = 1 << 30;
    __syncthreads();
    atomicAdd(&ints[0], t);
    atomicMin(&ints[1], 5 - t);
    atomicMax(&ints[2], t);
    atomicXor(&ints[3], t);
    atomicAdd(&words[0], 2u);
    atomicOr(&words[1], 1u << (t % 8));
    atomicExch(&words[2], 9u);
    atomicCAS(&words[3], 0u, 77u);
    atomicAdd(&sum, 0.5f);
    atomicAdd(&wide, 1ull << 32);
    __syncthreads();
    if (t < 4) out[t] = ints[t], out[4 + t] = (int)words[t];
    if (t == 0) out[8] = (int)(2.0f * sum), out[9] = (int)(wide >> 32);
}

// One addition for all lanes of a warp that want an index.
extern "C" __global__ void warp_aggregated(const int* in, int* out, unsigned* counter) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % warpSize;
    if (in[i] % 5 == 0) {
        unsigned long long here = __ballot(1);
        int leader = __ffsll(here) - 1;
        unsigned index = 0;
        if (lane == leader) index = atomicAdd(counter, (unsigned)__popcll(here));
        index = __shfl(index, leader) + __popcll(here & ((1ull << lane) - 1));
        out[index] = in[i];
    }
}

extern "C" __global__ void system_scope(int* ints, unsigned* words) {
    atomicAdd_system(&ints[0], 2);
    atomicMax_system(&ints[1], (int)threadIdx.x);
    atomicExch_system(&words[0], 5u);
    atomicOr_system(&words[1], 1u << (threadIdx.x % 32));
}

// Lists of the numbers with the same remainder; each is pushed onto the head.
extern "C" __global__ void linked_lists(int* heads, int* next, int lists) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    next[i] = atomicExch(&heads[i % lists], i);
}
