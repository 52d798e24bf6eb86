//! Convolutions of f16 and bf16 with many output channels by matrix units: forward and transposed, with groups and bias.
//
// conv_mma_64: a block computes 64 output channels at 128 positions (conv_tiles.hpp). A slice of taps of both factors is in shared memory.
// The loads of the next slice are in flight while the units multiply. A group of lanes (mma.hpp) computes all channels of some of the
// positions.
// Launch: one-dimensional, block exactly 128; blocks stride over the tiles, so any grid is right.
//
// Sums are f32; the units accumulate 16 taps of a slice at a time. The bias is added to the sum, which is rounded once. Positions outside
// the input count as zeros. The output is tight, 16 bytes aligned, and overlaps no input; inputs may have any strides.
#include "portable.hpp"
#include "conv_tiles.hpp"
#include "mma.hpp"

namespace hipstack {

static constexpr u32 CHANNELS = 64, POSITIONS = BLOCK, SLICE = 32, CHUNK = 8; // CHUNK: elements of 16 bytes
static constexpr u32 MINE = POSITIONS / (BLOCK / GROUP); // positions of a group
static constexpr u32 DOWN = CHANNELS / 16, ACROSS = MINE / 16;
static constexpr u32 LINE = POSITIONS + CHUNK; // pitch of the outputs in shared memory

// The index of 16-byte chunk `chunk` of a row of a slice. Chunks are swizzled, so that the same chunk of eight rows is in different banks.
DEVICE u32 swizzled(u32 row, u32 chunk) { return row * SLICE + (chunk ^ (row / 2 & 3u)) * CHUNK; }

DEVICE void multiply_slice(const T* filters, const T* input, Sums (&sums)[ACROSS][DOWN]) {
    const u32 lane = lane_of_group(), first = threadIdx.x / GROUP * MINE;
    UNROLL
    for (u32 p = 0; p < SLICE / 16; p++) {
        Fragment a[DOWN];
        UNROLL
        for (u32 i = 0; i < DOWN; i++)
            load_rows(a[i], lane, [&](u32 row, u32 chunk) { return filters + swizzled(i * 16 + row, p * 2 + chunk); });
        UNROLL
        for (u32 n = 0; n < ACROSS; n++) {
            Fragment b;
            load_keys(b, lane, [&](u32 row, u32 chunk) { return input + swizzled(first + n * 16 + row, p * 2 + chunk); });
            multiply(sums[n], a, b);
        }
    }
}

// Accumulates the sums of a tile.
DEVICE void add_up(Taps<SLICE>& s, T* filters, T* input, const T* x, const T* f, const Tile& tile, const Position& position, const ConvArgs& m,
                   Sums (&sums)[ACROSS][DOWN]) {
    // A thread loads its position's input at every tap, and one tap of every FILTERS-th channel.
    constexpr u32 FILTERS = BLOCK / SLICE, LOADS = CHANNELS / FILTERS;
    const u32 k = threadIdx.x % SLICE, r = threadIdx.x / SLICE;
    const T* const inputs = x + position.from;
    const T* const first = f + (tile.group * m.f_g + (tile.top + r) * m.f_o);
    const u32 left = (u32)(m.out_channels - tile.top), channels = left > r ? (left - r + FILTERS - 1) / FILTERS : 0;
    T filter[LOADS];
    Pack<T, CHUNK> loaded[SLICE / CHUNK];
    over_slices(
        s, tile, m,
        [&](u32 begin, u32 half) {
            UNROLL
            for (u32 i = 0; i < SLICE; i++) {
                const Tap tap = s.taps[half][i];
                T& to = loaded[i / CHUNK].at[i % CHUNK];
                to = T{};
                if ((position.seen & tap.bit) != 0) to = inputs[tap.x];
            }
            const T* tap = first + s.filter_offsets[half][k];
            UNROLL
            for (u32 i = 0; i < LOADS; i++, tap += FILTERS * m.f_o) {
                filter[i] = T{};
                if (i < channels && begin + k < tile.terms) filter[i] = *tap;
            }
        },
        [&](u32 half) { multiply_slice(filters + half * (CHANNELS * SLICE), input + half * (POSITIONS * SLICE), sums); },
        [&](u32 half) {
            T* const to = input + half * (POSITIONS * SLICE);
            UNROLL
            for (u32 c = 0; c < SLICE / CHUNK; c++) store_pack<CHUNK>(to + swizzled(threadIdx.x, c), loaded[c]);
            T* const to_filters = filters + half * (CHANNELS * SLICE) + k % CHUNK;
            UNROLL
            for (u32 i = 0; i < LOADS; i++) to_filters[swizzled(r + i * FILTERS, k / CHUNK)] = filter[i];
        });
}

DEVICE void convolve(const T* x, const T* f, const T* bias, T* out, const ConvArgs& given) {
    struct alignas(16) Staged { T at[2 * (CHANNELS + POSITIONS) * SLICE]; };
    static_assert(sizeof(Staged) >= CHANNELS * LINE * sizeof(T), "the outputs lie where the slices lay");
    SHARED_ARRAY(0, Staged, staged, 1);
    typedef Tiles<CHANNELS, POSITIONS> AllTiles;
    SHARED_ARRAY(1, Taps<SLICE>, taps, 1);
    SHARED_ARRAY(3, AllTiles, tiles, 1);
    ARGUMENTS(ConvArgs, m, given);
    T* const filters = staged->at;
    T* const input = filters + 2 * CHANNELS * SLICE;
    const Tile& tile = tiles->tile;
    each_tile(*tiles, m, [&] {
        const Position position = position_of(tile.left + threadIdx.x, *tiles, m);
        Sums sums[ACROSS][DOWN] = {};
        add_up(*taps, filters, input, x, f, tile, position, m, sums);
        UNROLL
        for (u32 i = 0; i < DOWN; i++) {
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                const u32 row = i * 16 + held_row(h);
                const u64 o = tile.top + row, channel = tile.group * m.out_channels + o;
                const bool biased = m.has_bias != 0 && o < m.out_channels;
                const f32 add = biased ? widen(bias[channel * m.bias_step]) : 0.0f;
                UNROLL
                for (u32 n = 0; n < ACROSS; n++) {
                    UNROLL
                    for (u32 e = 0; e < EACH; e++) {
                        const f32 sum = sums[n][i][h][e];
                        filters[row * LINE + threadIdx.x / GROUP * MINE + n * 16 + held_column(e)] = narrow<T>(biased ? sum + add : sum);
                    }
                }
            }
        }
        __syncthreads();
        const u32 run_at = threadIdx.x % (POSITIONS / CHUNK) * CHUNK;
        const Run<CHUNK> run(tile.left + run_at, *tiles, m);
        for (u32 row = threadIdx.x / (POSITIONS / CHUNK); row < CHANNELS; row += BLOCK * CHUNK / POSITIONS) {
            const u64 o = tile.top + row;
            if (o >= m.out_channels) break;
            const Pack<T, CHUNK> pack = load_pack<CHUNK>(filters + row * LINE + run_at);
            run.write(out, o * (m.h.out * m.w.out), [&](u32 j) { return pack.at[j]; });
        }
    });
}

TILE_KERNEL(PASTE4(conv_mma_, 64, _, DTYPE), const T* x, const T* f, const T* bias, T* out, ConvArgs m) {
    convolve(x, f, bias, out, m);
}

} // namespace hipstack
