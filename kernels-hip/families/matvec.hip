//! Products of up to three matrices with one vector: out_i[n] = the sum of w_i[n][k] x[k]. For a single row of activations, as in decoding.
//
// A team of 32 lanes takes a row of a matrix, a lane every 32nd pack of 16 bytes of it, of which several are under way. Rows begin at
// multiples of a pack. Products are summed in f32, and the sum is rounded once. Launch: one-dimensional, block a multiple of 32, at most 256;
// teams stride over the rows of all matrices, so any grid is right. No shared memory, no barriers.
#include "portable.hpp"

namespace hipstack {

// Of a matrix that is not there rows is 0, and its pointers are not used. Strides are multiples of a pack.
struct MatvecArgs {
    u64 rows[3], stride[3], width;
};
SIZE(MatvecArgs, 56) OFFSET(MatvecArgs, stride, 24) OFFSET(MatvecArgs, width, 48)

static constexpr u32 PACK = ACCESS / sizeof(T);
// A thread of the host takes whole rows.
static constexpr u32 TEAM = ON_HOST ? 1 : 32;
// Packs of a lane under way: with eight, f16 spills on gfx1100.
static constexpr u32 AHEAD = ON_AMD ? 4 : 8;

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

DEVICE void product(const T* from, const T* x, T* out, u32 width, u32 lane) {
    const u32 packs = width / PACK;
    C sums[PACK] = {};
    u32 p = lane;
    for (; p + (AHEAD - 1) * TEAM < packs; p += AHEAD * TEAM) add_packs<AHEAD>(from + p * PACK, x + p * PACK, sums);
    for (; p + TEAM < packs; p += 2 * TEAM) add_packs<2>(from + p * PACK, x + p * PACK, sums);
    if (p < packs) add_packs<1>(from + p * PACK, x + p * PACK, sums);
    C sum = C(0);
    UNROLL
    for (u32 j = 0; j < PACK; j++) sum += sums[j];
    for (u32 k = packs * PACK + lane; k < width; k += TEAM) sum = multiply_add(widen(from[k]), widen(x[k]), sum);
    if constexpr (TEAM > 1) {
        UNROLL
        for (u32 mask = TEAM / 2; mask > 0; mask >>= 1) sum += shuffle_xor(sum, mask);
    }
    if (lane == 0) *out = narrow<T>(sum);
}

KERNEL(PASTE4(matvec, _, DTYPE, ), const T* w0, const T* w1, const T* w2, const T* x, T* out0, T* out1, T* out2, MatvecArgs m) {
    const u32 each = blockDim.x / TEAM;
    const u64 second = m.rows[0], third = second + m.rows[1], all = third + m.rows[2];
    // All lanes of a team have the same row.
    for (u64 row = (u64)blockIdx.x * each + threadIdx.x / TEAM; row < all; row += (u64)gridDim.x * each) {
        const u64 own = row < second ? row : row < third ? row - second : row - third;
        const T* const w = row < second ? w0 : row < third ? w1 : w2;
        T* const out = row < second ? out0 : row < third ? out1 : out2;
        const u64 stride = row < second ? m.stride[0] : row < third ? m.stride[1] : m.stride[2];
        product(w + own * stride, x, out + own, (u32)m.width, threadIdx.x % TEAM);
    }
}

} // namespace hipstack
