//! Convolution tiles multiplied in f32: all of `conv_wide`, and the fallback of `conv_split`.
//
// A thread computes 8 by 8 outputs of a tile (conv_tiles.hpp). Products are added one by one in the order of the taps.
//
// Included after portable.hpp.
#pragma once
#include "conv_tiles.hpp"

namespace hipstack {
namespace wide {

static constexpr u32 SLICE = 16, EACH = 8; // taps of a slice; channels and positions of a thread
// 32 threads are arranged 4 by 8 over channels and positions; a thread takes them in runs of four.
static constexpr u32 DOWN = 4, ACROSS = 8, FOUR = 4;

template <u32 CHANNELS, u32 POSITIONS> struct Slices {
    f32 filters[2][SLICE][CHANNELS + 4]; // padding by four, to reduce bank conflicts of the writes
    f32 input[2][SLICE][POSITIONS];
    Taps<SLICE> taps;
};

template <u32 CHANNELS, u32 POSITIONS>
DEVICE void multiply(const Slices<CHANNELS, POSITIONS>& s, u32 half, u32 channel, u32 position, f32 (&sum)[EACH][EACH]) {
    // If this loop is unrolled, AMD's compilers hoist all loads to its beginning. That takes 322 vector registers on gfx942 (clang 22), and
    // occupancy drops from two waves to one.
    ROLLED_ON_AMD
    for (u32 k = 0; k < SLICE; k++) {
        f32 f[EACH], x[EACH];
        UNROLL
        for (u32 i = 0; i < EACH; i += FOUR) {
            const Pack<f32, FOUR> fs = load_pack<FOUR>(&s.filters[half][k][channel + i * DOWN]);
            const Pack<f32, FOUR> xs = load_pack<FOUR>(&s.input[half][k][position + i * ACROSS]);
            UNROLL
            for (u32 j = 0; j < FOUR; j++) f[i + j] = fs.at[j], x[i + j] = xs.at[j];
        }
        UNROLL
        for (u32 i = 0; i < EACH; i++) {
            UNROLL
            for (u32 j = 0; j < EACH; j++) sum[i][j] = multiply_add(f[i], x[j], sum[i][j]);
        }
    }
}

// A thread's share of a slice of the filters: four neighbouring taps of some channels where taps are contiguous and aligned, else one tap
// of some channels.
template <u32 CHANNELS> struct Filters {
    static constexpr u32 LOADS = CHANNELS * SLICE / BLOCK, HIGH = BLOCK * FOUR / SLICE, ONE_HIGH = BLOCK / SLICE;
    T loaded[LOADS];
    const T* from;
    u64 stride;
    u32 k, r, left; // the thread's first tap and channel; remaining channels from there
    bool packed;
    METHOD Filters(const T* f, const Tile& tile, const ConvArgs& m) {
        const u64 width = m.w.taps, plane = m.h.taps * width;
        const bool tight = m.f_w == 1 && m.f_h == width && m.f_c == plane && m.h.up == 1 && m.w.up == 1;
        from = f + (tile.group * m.f_g + tile.top * m.f_o), stride = m.f_o;
        packed = tight && (tile.terms | m.f_o) % FOUR == 0 && (u64)from % (FOUR * sizeof(T)) == 0;
        // 32 threads are arranged 2 by 16, so that their writes hit different banks.
        const u32 lane = threadIdx.x % 32, group = threadIdx.x / 32;
        k = packed ? (lane % 2 + group % 2 * 2) * FOUR : threadIdx.x % SLICE;
        r = packed ? lane / 2 + group / 2 * 16 : threadIdx.x / SLICE;
        const u32 channels = (u32)(m.out_channels - tile.top < CHANNELS ? m.out_channels - tile.top : CHANNELS);
        left = channels > r ? channels - r : 0;
        from += r * stride;
    }
    // filter_offset: that of the thread's tap.
    METHOD void load(u32 begin, u64 filter_offset, u32 terms) {
        const bool is = begin + k < terms;
        if (packed) {
            UNROLL
            for (u32 i = 0; i < LOADS / FOUR; i++) {
                Pack<T, FOUR> pack = {};
                if (is && i * HIGH < left) pack = load_pack<FOUR>(from + (i * HIGH) * stride + (begin + k));
                UNROLL
                for (u32 j = 0; j < FOUR; j++) loaded[i * FOUR + j] = pack.at[j];
            }
        } else {
            UNROLL
            for (u32 i = 0; i < LOADS; i++) {
                loaded[i] = T{};
                if (is && i * ONE_HIGH < left) loaded[i] = from[(i * ONE_HIGH) * stride + filter_offset];
            }
        }
    }
    // The tap and the channel of loaded value i.
    METHOD u32 tap(u32 i) const { return packed ? k + i % FOUR : k; }
    METHOD u32 channel(u32 i) const { return packed ? r + i / FOUR * HIGH : r + i * ONE_HIGH; }
};

// Accumulates the sums of a tile.
template <u32 CHANNELS, u32 POSITIONS>
DEVICE void add_up(Slices<CHANNELS, POSITIONS>& s, const T* x, const T* f, const Tile& tile, const Position& position, u32 channel,
                   u32 first, const ConvArgs& m, f32 (&sum)[EACH][EACH]) {
    // A thread loads the input of one position at every LOADERS-th tap.
    constexpr u32 LOADERS = BLOCK / POSITIONS, LOADS = SLICE / LOADERS;
    const u32 at = threadIdx.x % POSITIONS, from = threadIdx.x / POSITIONS;
    const T* const inputs = x + position.from;
    Filters<CHANNELS> filters(f, tile, m);
    T loaded[LOADS];
    over_slices(
        s.taps, tile, m,
        [&](u32 begin, u32 half) {
            UNROLL
            for (u32 i = 0; i < LOADS; i++) {
                const Tap tap = s.taps.taps[half][from + i * LOADERS];
                loaded[i] = T{};
                if ((position.seen & tap.bit) != 0) loaded[i] = inputs[tap.x];
            }
            filters.load(begin, s.taps.filter_offsets[half][filters.k], tile.terms);
        },
        [&](u32 half) { multiply(s, half, channel, first, sum); },
        [&](u32 half) {
            UNROLL
            for (u32 i = 0; i < LOADS; i++) s.input[half][from + i * LOADERS][at] = widen(loaded[i]);
            UNROLL
            for (u32 i = 0; i < Filters<CHANNELS>::LOADS; i++) s.filters[half][filters.tap(i)][filters.channel(i)] = widen(filters.loaded[i]);
        });
}

template <u32 CHANNELS, u32 POSITIONS>
DEVICE void convolve_tile(Slices<CHANNELS, POSITIONS>& s, const Tiles<CHANNELS, POSITIONS>& tiles, const T* x, const T* f, const T* bias, T* out,
                          const ConvArgs& m) {
    constexpr u32 GROUPS_DOWN = CHANNELS / (DOWN * EACH);
    const u32 lane = threadIdx.x % 32, group = threadIdx.x / 32;
    const u32 channel = group % GROUPS_DOWN * (DOWN * EACH) + lane / ACROSS * FOUR;
    const u32 first = group / GROUPS_DOWN * (ACROSS * EACH) + lane % ACROSS * FOUR;
    const Tile& tile = tiles.tile;
    const Position position = position_of(tile.left + threadIdx.x % POSITIONS, tiles, m);
    f32 sum[EACH][EACH] = {};
    add_up<CHANNELS, POSITIONS>(s, x, f, tile, position, channel, first, m, sum);
    UNROLL
    for (u32 j = 0; j < EACH; j += FOUR) {
        const Run<FOUR> run(tile.left + first + j * ACROSS, tiles, m);
        UNROLL
        for (u32 i = 0; i < EACH; i++) {
            const u64 o = tile.top + channel + i / FOUR * (DOWN * FOUR) + i % FOUR;
            if (o >= m.out_channels) continue;
            const f32 add = m.has_bias != 0 ? widen(bias[(tile.group * m.out_channels + o) * m.bias_step]) : 0.0f;
            run.write(out, o * (m.h.out * m.w.out),
                      [&](u32 n) { return narrow<T>(m.has_bias != 0 ? sum[i][j + n] + add : sum[i][j + n]); });
        }
    }
}

} // namespace wide
} // namespace hipstack
