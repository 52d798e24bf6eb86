//! Reduction over the threads of a block.
//
// Included after portable.hpp.
namespace hipstack {

// One array for all kernels of a unit that reduce values of this type.
template <class Sum> DEVICE Sum* block_slots() {
    __shared__ Sum slots[2 * MAX_BLOCK];
    return slots;
}

// Reduces the values of all threads of the block. The order does not depend on the wave size: first threads equal modulo 32, then a tree of
// 32. The result is valid in the first wave. blockDim.x is a multiple of WAVE_SIZE, at most MAX_BLOCK, and every thread must call it.
// `turn` counts the calls and alternates between two sets of slots, so that one barrier suffices.
template <class Op> DEVICE typename Op::Sum block_join(typename Op::Sum mine, u32 turn) {
    typedef typename Op::Sum Sum;
    Sum* const slot = block_slots<Sum>() + (turn & 1u) * MAX_BLOCK;
    slot[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x >= WAVE_SIZE) return mine;
    const u32 lane = threadIdx.x & 31u;
    Sum all = slot[lane];
    for (u32 other = lane + 32u; other < blockDim.x; other += 32u) all = Op::join(all, slot[other]);
    for (u32 mask = 16u; mask > 0u; mask >>= 1) all = Op::join(all, Op::shuffle(all, mask));
    return all;
}

} // namespace hipstack
