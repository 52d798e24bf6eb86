//! Tiles of convolutions multiplied in f32: what `conv_wide` consists of, and `conv_split` where it cannot do without.
//
// A thread computes 8 by 8 of a tile's outputs (conv_tiles.hpp). Products are added one by one in the order of the taps.
//
// Included after portable.hpp.
#pragma once
#include "conv_tiles.hpp"

namespace hipstack {
namespace wide {

static constexpr u32 SLICE = 16, EACH = 8; // taps; channels and places of a thread
// Threads of 32 lie 4 by 8 over channels and places, which each of them has by fours.
static constexpr u32 DOWN = 4, ACROSS = 8, FOUR = 4;

template <u32 CHANNELS, u32 POSITIONS> struct Slices {
    f32 filters[2][SLICE][CHANNELS + 4]; // four more, so that fewer threads write to one bank
    f32 input[2][SLICE][POSITIONS];
    Taps<SLICE> taps;
};

template <u32 CHANNELS, u32 POSITIONS>
DEVICE void multiply(const Slices<CHANNELS, POSITIONS>& s, u32 half, u32 channel, u32 position, f32 (&sum)[EACH][EACH]) {
    // AMD's compilers begin with all loads of what is multiplied without a jump, which takes 322 vector registers on gfx942 (clang 22), and leaves
    // one wave instead of two.
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

// The filters of a slice, by each thread: four neighbouring taps of some channels, where taps lie side by side and aligned, else one of them.
template <u32 CHANNELS> struct Filters {
    static constexpr u32 LOADS = CHANNELS * SLICE / BLOCK, HIGH = BLOCK * FOUR / SLICE, ONE_HIGH = BLOCK / SLICE;
    T loaded[LOADS];
    const T* from;
    u64 stride;
    u32 k, r, left; // the thread's first tap and channel, and how many channels there are from that one on
    bool packed;
    METHOD Filters(const T* f, const Tile& tile, const ConvArgs& m) {
        const u64 width = m.w.taps, plane = m.h.taps * width;
        const bool tight = m.f_w == 1 && m.f_h == width && m.f_c == plane && m.h.up == 1 && m.w.up == 1;
        from = f + (tile.group * m.f_g + tile.top * m.f_o), stride = m.f_o;
        packed = tight && (tile.terms | m.f_o) % FOUR == 0 && (u64)from % (FOUR * sizeof(T)) == 0;
        // Two by sixteen threads of 32, so that they write to different banks.
        const u32 lane = threadIdx.x % 32, group = threadIdx.x / 32;
        k = packed ? (lane % 2 + group % 2 * 2) * FOUR : threadIdx.x % SLICE;
        r = packed ? lane / 2 + group / 2 * 16 : threadIdx.x / SLICE;
        const u32 channels = (u32)(m.out_channels - tile.top < CHANNELS ? m.out_channels - tile.top : CHANNELS);
        left = channels > r ? channels - r : 0;
        from += r * stride;
    }
    // place: of the thread's tap.
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
    // Where the number i of those that are loaded belongs: tap and channel.
    METHOD u32 tap(u32 i) const { return packed ? k + i % FOUR : k; }
    METHOD u32 channel(u32 i) const { return packed ? r + i / FOUR * HIGH : r + i * ONE_HIGH; }
};

// The sums of a tile.
template <u32 CHANNELS, u32 POSITIONS>
DEVICE void add_up(Slices<CHANNELS, POSITIONS>& s, const T* x, const T* f, const Tile& tile, const Position& position, u32 channel,
                   u32 first, const ConvArgs& m, f32 (&sum)[EACH][EACH]) {
    // A thread loads one place at every LOADERS-th tap.
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

// Computes and writes a tile's outputs.
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
