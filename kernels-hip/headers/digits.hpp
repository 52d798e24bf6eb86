//! Dealing elements out by digits of their keys, in their order: what sums by buckets and sorts by digits do alike.
//
// Included after portable.hpp.
namespace hipstack {

// Groups of 32 threads, whatever the size of a wave.
static constexpr u32 LANES = 32, GROUPS = MAX_BLOCK / LANES;

// Which threads of the group say yes.
DEVICE u32 group_vote(bool yes) {
#if ON_NVIDIA
    return __ballot_sync(0xffffffffu, yes);
#else
    return (u32)(__ballot(yes) >> (threadIdx.x % WAVE_SIZE & ~31u));
#endif
}
// What a thread of the group wrote to shared memory before, the others read behind.
DEVICE void group_wait() {
#if ON_AMD
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
#else
    __syncwarp();
#endif
}
// Which threads of the group have this digit.
template <u32 BITS> DEVICE u32 alike(u32 digit) {
    u32 same = ~0u;
    UNROLL
    for (u32 bit = 0; bit < BITS; bit++) {
#if ON_NVIDIA
        // Three instructions a bit, of which nvcc would make seven.
        asm volatile("{.reg .pred p; .reg .b32 v; and.b32 v, %1, %2; setp.ne.u32 p, v, 0; vote.sync.ballot.b32 v, p, 0xffffffff;"
                     " @!p not.b32 v, v; and.b32 %0, %0, v;}" : "+r"(same) : "r"(digit), "r"(1u << bit));
#else
        const bool set = (digit >> bit & 1u) != 0;
        const u32 vote = group_vote(set);
        same &= set ? vote : ~vote;
#endif
    }
    return same;
}
// Sums over all threads before, and one barrier.
DEVICE u32 sum_before(u32 mine) {
    __shared__ u32 sums[GROUPS];
    u32 before = 0, all = mine;
    UNROLL
    for (u32 mask = 1; mask < LANES; mask *= 2) {
        const u32 other = shuffle_xor(all, mask);
        if ((threadIdx.x & mask) != 0) before += other;
        all += other;
    }
    if (threadIdx.x % LANES == 0) sums[threadIdx.x / LANES] = all;
    __syncthreads();
    for (u32 g = 0; g < threadIdx.x / LANES; g++) before += sums[g];
    return before;
}
} // namespace hipstack
