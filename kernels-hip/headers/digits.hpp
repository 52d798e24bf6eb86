//! Stable distribution of elements by digits of their keys: shared by `buckets` and `radix`.
//
// Included after portable.hpp.
namespace hipstack {

// Groups of 32 threads, whatever the wave size.
static constexpr u32 LANES = 32, GROUPS = MAX_BLOCK / LANES;

// A mask of the group's threads that have this digit.
template <u32 BITS> DEVICE u32 match_digit(u32 digit) {
    u32 same = ~0u;
    UNROLL
    for (u32 bit = 0; bit < BITS; bit++) match_bit(same, digit, bit);
    return same;
}
// The exclusive prefix sum over the block's threads. Contains one barrier.
DEVICE u32 exclusive_sum(u32 mine) {
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
