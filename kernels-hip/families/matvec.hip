//! The product of a matrix with a vector: out[n] = the sum of w[n][k] x[k]. For a single row of activations, as in decoding.
//
// A team of 32 lanes takes a row of the matrix, a lane every 32nd pack of 16 bytes of it, of which several are under way. Rows begin at
// multiples of a pack. Products are summed in f32, and the sum is rounded once. Launch: one-dimensional, block a multiple of 32, at most 256;
// teams stride over the rows, so any grid is right. No shared memory, no barriers.
#include "portable.hpp"

namespace hipstack {

struct MatvecArgs {
    u64 rows, width, stride; // of the matrix; stride is a multiple of a pack
};
SIZE(MatvecArgs, 24) OFFSET(MatvecArgs, stride, 16)

static constexpr u32 PACK = ACCESS / sizeof(T);
// A thread of the host takes whole rows.
static constexpr u32 TEAM = ON_HOST ? 1 : 32;
static constexpr u32 AHEAD = 4; // packs of a lane under way

// Adds the products of some packs, TEAM apart.
template <u32 COUNT> DEVICE void add_packs(const T* w, const T* x, C (&sums)[PACK]) {
    Pack<T, PACK> left[COUNT], right[COUNT];
    UNROLL
    for (u32 i = 0; i < COUNT; i++) left[i] = load_pack<PACK>(w + i * TEAM * PACK);
    UNROLL
    for (u32 i = 0; i < COUNT; i++) right[i] = load_pack<PACK>(x + i * TEAM * PACK);
    UNROLL
    for (u32 i = 0; i < COUNT; i++) {
        UNROLL
        for (u32 j = 0; j < PACK; j++) sums[j] = multiply_add(widen(left[i].at[j]), widen(right[i].at[j]), sums[j]);
    }
}

KERNEL(PASTE4(matvec, _, DTYPE, ), const T* w, const T* x, T* out, MatvecArgs m) {
    const u32 lane = threadIdx.x % TEAM, each = blockDim.x / TEAM;
    const u64 packs = m.width / PACK;
    // All lanes of a team have the same row.
    for (u64 row = (u64)blockIdx.x * each + threadIdx.x / TEAM; row < m.rows; row += (u64)gridDim.x * each) {
        const T* const from = w + row * m.stride;
        C sums[PACK] = {};
        u64 p = lane;
        for (; p + (AHEAD - 1) * TEAM < packs; p += AHEAD * TEAM) add_packs<AHEAD>(from + p * PACK, x + p * PACK, sums);
        for (; p < packs; p += TEAM) add_packs<1>(from + p * PACK, x + p * PACK, sums);
        C sum = C(0);
        UNROLL
        for (u32 j = 0; j < PACK; j++) sum += sums[j];
        for (u64 k = packs * PACK + lane; k < m.width; k += TEAM) sum = multiply_add(widen(from[k]), widen(x[k]), sum);
        if constexpr (TEAM > 1) {
            UNROLL
            for (u32 mask = TEAM / 2; mask > 0; mask >>= 1) sum += shuffle_xor(sum, mask);
        }
        if (lane == 0) out[row] = narrow<T>(sum);
    }
}

} // namespace hipstack
