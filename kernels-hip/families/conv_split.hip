//! Convolutions of f32 with many output channels by 16-bit matrix units: forward and transposed, with groups and bias.
//
// conv_split_parts: splits each number of both factors into a sum of three bf16 numbers: the number rounded, the remainder rounded, and the
// exact rest. Sixteen channels of a pixel are contiguous, padded with zeros. Flags tell where numbers cannot be split so (is_plain). Block
// exactly 256.
// conv_split_64: the convolution of these parts; a block computes 64 output channels at 128 positions (conv_tiles.hpp). A step is sixteen
// channels at one row and column of the filter. The copies of the next step are in flight while a step is multiplied. Block exactly 128.
//
// Launch: one-dimensional; blocks stride over the work, so any grid is right.
//
// Of the nine products of the parts of two numbers, six are summed. The other three are below 2^-24 of the whole, and 0 for integers with a
// product below 2^24. The units sum up the products of a step, small ones first; steps are added in f32. A tile is computed from the
// original numbers as in `conv_wide` if one of its images or filters has a number that is not plain, or if one of its sums is not plain. A
// sum of 0 counts as plain, although the units may have flushed subnormal products. Positions and operands are as in `conv_wide`.
#include "portable.hpp"
#include "conv_wide.hpp"
#include "mma.hpp"

namespace hipstack {

// A factor, [outer, inner, channels, rows, columns], and its split form, whose elements are sixteen channels of a pixel. A line is the data
// of one pair of outer and inner indices.
struct SplitOperand {
    u64 lines, inner, channels, slices, plane, columns; // slices: of sixteen channels; plane: rows times columns
    u64 outer_step, inner_step, channel_step, row_step, column_step;
    u64 to_outer, to_inner, to_pixel, to_part; // strides of the parts; slices are 3 to_part apart
    u64 blocks;       // of a line
    u64 parts, flags; // byte offsets in the scratch memory
};
// plain: the convolution of the numbers; split: that of the parts, whose channels are slices.
struct ConvSplitArgs { ConvArgs plain, split; SplitOperand f, x; };
SIZE(SplitOperand, 144) SIZE(ConvSplitArgs, 784) OFFSET(SplitOperand, blocks, 120) OFFSET(ConvSplitArgs, f, 496)

static constexpr u32 CHANNELS = 64, POSITIONS = BLOCK, DEEP = 16, CHUNK = 8; // DEEP: channels of a slice; CHUNK: elements of 16 bytes
static constexpr u32 MINE = POSITIONS / (BLOCK / GROUP);                     // positions of a group
static constexpr u32 DOWN = CHANNELS / 16, ACROSS = MINE / 16;
static constexpr u32 PARTS = 3, PRODUCTS = 6;
static constexpr u32 SPLIT_BLOCK = 256;

// Whether x is 0, or finite and large enough that its parts are normal numbers.
DEVICE bool is_plain(f32 x) {
    constexpr u32 LEAST = (127 - 100) << 24, INFINITE = 0xffu << 24; // bits of 2^-100 and of infinity, shifted left by one
    const u32 magnitude = bits_of(x) * 2u;
    return magnitude == 0 || magnitude - LEAST < INFINITE - LEAST;
}

// ---- parts -----------------------------------------------------------------------------------------------------------
// A block's share of a factor. A thread splits eight channels of a pixel. Each 32 threads write one byte of flags.
DEVICE void split_block(const T* from, unsigned char* scratch, const SplitOperand& m, u64 block) {
    u64 at, outer, inner, pixel, row, column;
    const u64 line = divide(block, m.blocks, at), half = threadIdx.x % 2 * CHUNK;
    const u64 element = at * (SPLIT_BLOCK / 2) + threadIdx.x / 2;
    bool plain = true;
    if (element < m.slices * m.plane) {
        const u64 slice = divide(element, m.plane, pixel), channel = slice * DEEP + half;
        row = divide(pixel, m.columns, column), outer = divide(line, m.inner, inner);
        const T* const first = from + (outer * m.outer_step + inner * m.inner_step + channel * m.channel_step + row * m.row_step +
                                       column * m.column_step);
        f32 x[CHUNK];
        UNROLL
        for (u32 i = 0; i < CHUNK; i++) {
            x[i] = channel + i < m.channels ? first[i * m.channel_step] : 0.0f;
            plain &= is_plain(x[i]);
        }
        const u64 to = outer * m.to_outer + inner * m.to_inner + slice * PARTS * m.to_part + pixel * m.to_pixel;
        UNROLL
        for (u32 p = 0; p < PARTS; p++) {
            Pack<Unit, CHUNK> part;
            UNROLL
            for (u32 i = 0; i < CHUNK; i++) {
                part.at[i] = narrow<Unit>(x[i]);
                x[i] -= widen(part.at[i]);
            }
            store_pack<CHUNK>((Unit*)(scratch + m.parts) + ((to + p * m.to_part) * DEEP + half), part);
        }
    }
    const bool odd = any_lane(!plain);
    if (threadIdx.x % 32 == 0) (scratch + m.flags)[block * (SPLIT_BLOCK / 32) + threadIdx.x / 32] = odd;
}

DEVICE void split(const T* x, const T* f, unsigned char* scratch, const ConvSplitArgs& given) {
    ARGUMENTS(ConvSplitArgs, m, given);
    const u64 of_f = m.f.lines * m.f.blocks, all = of_f + m.x.lines * m.x.blocks;
    for (u64 block = blockIdx.x; block < all; block += gridDim.x) {
        if (block < of_f) split_block(f, scratch, m.f, block);
        else split_block(x, scratch, m.x, block - of_f);
    }
}

// ---- convolution -----------------------------------------------------------------------------------------------------
// The parts of both factors for two steps (double buffering).
struct alignas(16) Steps { Unit filters[2][PARTS][CHANNELS * DEEP], input[2][PARTS][POSITIONS * DEEP]; };
static constexpr u32 LOCATED = 32; // taps that are located at once
struct Located { Tap taps[LOCATED]; u64 filter_offsets[LOCATED]; }; // offsets in the filters
typedef wide::Slices<CHANNELS, POSITIONS> WideSlices;
typedef Tiles<CHANNELS, POSITIONS> AllTiles;

// The index of element k of a row of a step. Chunks are swizzled, so that the same chunk of eight rows is in different banks.
DEVICE u32 swizzled(u32 row, u32 k) { return row * DEEP + (k / CHUNK ^ (row / 4 & 1u)) * CHUNK + k % CHUNK; }

// sums += the products of a step.
DEVICE void multiply_step(const Steps& s, u32 half, Sums (&sums)[ACROSS][DOWN]) {
    // Small products first.
    constexpr u32 OF_A[PRODUCTS] = {2, 1, 0, 1, 0, 0}, OF_B[PRODUCTS] = {0, 1, 2, 0, 1, 0};
    const u32 lane = lane_of_group(), first = threadIdx.x / GROUP * MINE;
    Fragment b[PARTS][ACROSS];
    UNROLL
    for (u32 p = 0; p < PARTS; p++) {
        UNROLL
        for (u32 n = 0; n < ACROSS; n++)
            load_keys(b[p][n], lane, [&](u32 row, u32 chunk) { return s.input[half][p] + swizzled(first + n * 16 + row, chunk * CHUNK); });
    }
    UNROLL
    for (u32 i = 0; i < DOWN; i++) {
        Fragment a[PARTS][1];
        Sums products[ACROSS][1] = {};
        UNROLL
        for (u32 p = 0; p < PARTS; p++)
            load_rows(a[p][0], lane, [&](u32 row, u32 chunk) { return s.filters[half][p] + swizzled(i * 16 + row, chunk * CHUNK); });
        UNROLL
        for (u32 p = 0; p < PRODUCTS; p++) {
            UNROLL
            for (u32 n = 0; n < ACROSS; n++) multiply(products[n], a[OF_A[p]], b[OF_B[p]][n]);
        }
        UNROLL
        for (u32 n = 0; n < ACROSS; n++) {
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                UNROLL
                for (u32 e = 0; e < EACH; e++) sums[n][i][h][e] += products[n][0][h][e];
            }
        }
    }
}

// Accumulates the sums of a tile.
DEVICE void add_up(Located& taps, Steps& s, const unsigned char* scratch, const AllTiles& tiles, const ConvSplitArgs& m,
                   Sums (&sums)[ACROSS][DOWN]) {
    // A thread copies one half of a slice, for one channel and for every ROWS-th position.
    constexpr u32 ROWS = BLOCK / 2, LOADS = POSITIONS / ROWS;
    const Tile& tile = tiles.tile;
    const u32 row = threadIdx.x / 2, k = threadIdx.x % 2 * CHUNK, to = swizzled(row, k);
    const Unit* const x = (const Unit*)(scratch + m.x.parts) + k;
    const bool channel = tile.top + row < m.split.out_channels;
    const Unit* const f = (const Unit*)(scratch + m.f.parts) + ((tile.group * m.split.f_g + (tile.top + row) * m.split.f_o) * DEEP + k);
    const u64 x_part = m.x.to_part * DEEP, f_part = m.f.to_part * DEEP;
    Position position[LOADS];
    UNROLL
    for (u32 i = 0; i < LOADS; i++) position[i] = position_of(tile.left + i * ROWS + row, tiles, m.split);
    const u32 terms = tile.terms;
    for (u32 step = 0, half = 0; step <= terms; step++, half ^= 1u) {
        if (step % LOCATED == 0) {
            if (threadIdx.x < LOCATED) find_tap(step + threadIdx.x, taps.taps[threadIdx.x], taps.filter_offsets[threadIdx.x], tile, m.split);
            __syncthreads();
        }
        if (step < terms) {
            const Tap tap = taps.taps[step % LOCATED];
            const Unit* const filter = f + taps.filter_offsets[step % LOCATED] * DEEP;
            UNROLL
            for (u32 i = 0; i < LOADS; i++) {
                const Unit* const from = x + (position[i].from + (u64)tap.x) * DEEP;
                UNROLL
                for (u32 p = 0; p < PARTS; p++)
                    copy_16(s.input[half][p] + (to + i * ROWS * DEEP), from + p * x_part, (position[i].seen & tap.bit) != 0);
            }
            static_assert(CHANNELS == ROWS, "a thread has one channel");
            UNROLL
            for (u32 p = 0; p < PARTS; p++) copy_16(s.filters[half][p] + to, filter + p * f_part, channel);
        }
        if (step > 0) multiply_step(s, half ^ 1u, sums);
        copies_arrive();
        __syncthreads();
    }
}

// Whether one of these lines of a factor has a number that is not plain. Each thread checks a share of the flags; the caller combines the
// answers.
DEVICE bool has_odd(const unsigned char* scratch, const SplitOperand& m, u64 line, u64 lines) {
    static_assert(SPLIT_BLOCK / 32 == sizeof(u64), "the flags of a block are one number");
    const u64* const flags = (const u64*)(scratch + m.flags) + line * m.blocks;
    u64 odd = 0;
    for (u64 i = threadIdx.x; i < lines * m.blocks; i += BLOCK) odd |= flags[i];
    return odd != 0;
}
DEVICE bool meets_odd(const unsigned char* scratch, const AllTiles& tiles, const ConvSplitArgs& m) {
    const Tile& tile = tiles.tile;
    u64 row, column;
    const u64 end = tile.left + POSITIONS < tiles.positions ? tile.left + POSITIONS : tiles.positions;
    const u64 first = tiles.image(tile.left, row, column), last = tiles.image(end - 1, row, column);
    const u64 left = m.plain.out_channels - tile.top;
    bool odd = has_odd(scratch, m.f, tile.group * m.plain.out_channels + tile.top, left < CHANNELS ? left : CHANNELS);
    for (u64 image = first; image <= last; image++) odd |= has_odd(scratch, m.x, image * m.plain.groups + tile.group, 1);
    return odd;
}
DEVICE bool are_plain(const Sums (&sums)[ACROSS][DOWN]) {
    bool plain = true;
    UNROLL
    for (u32 n = 0; n < ACROSS; n++) {
        UNROLL
        for (u32 i = 0; i < DOWN; i++) {
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                UNROLL
                for (u32 e = 0; e < EACH; e++) plain &= is_plain(sums[n][i][h][e]);
            }
        }
    }
    return plain;
}

// Adds the bias to the sums and writes them in pairs.
DEVICE void write_sums(const Sums (&sums)[ACROSS][DOWN], const AllTiles& tiles, const T* bias, T* out, const ConvArgs& m) {
    const Tile& tile = tiles.tile;
    UNROLL
    for (u32 n = 0; n < ACROSS; n++) {
        UNROLL
        for (u32 e = 0; e < EACH; e += 2) {
            const Run<2> run(tile.left + threadIdx.x / GROUP * MINE + n * 16 + held_column(e), tiles, m);
            UNROLL
            for (u32 i = 0; i < DOWN; i++) {
                UNROLL
                for (u32 h = 0; h < HELD; h++) {
                    const u64 o = tile.top + i * 16 + held_row(h);
                    if (o >= m.out_channels) continue;
                    const f32 add = m.has_bias != 0 ? bias[(tile.group * m.out_channels + o) * m.bias_step] : 0.0f;
                    run.write(out, o * (m.h.out * m.w.out), [&](u32 j) {
                        const f32 sum = sums[n][i][h][e + j];
                        return m.has_bias != 0 ? sum + add : sum;
                    });
                }
            }
        }
    }
}

DEVICE void convolve(const unsigned char* scratch, const T* x, const T* f, const T* bias, T* out, const ConvSplitArgs& given) {
    union Shared { Steps steps; WideSlices wide; };
    SHARED_ARRAY(0, Shared, shared, 1);
    SHARED_ARRAY(1, Located, taps, 1);
    SHARED_ARRAY(3, AllTiles, tiles, 1);
    SHARED_ARRAY(4, u32, odd, 1);
    ARGUMENTS(ConvSplitArgs, m, given);
    each_tile(*tiles, m.split, [&] {
        if (threadIdx.x == 0) *odd = 0;
        __syncthreads();
        if (meets_odd(scratch, *tiles, m)) atomicOr(odd, 1u);
        __syncthreads();
        if (*odd == 0) {
            Sums sums[ACROSS][DOWN] = {};
            add_up(*taps, shared->steps, scratch, *tiles, m, sums);
            if (!are_plain(sums)) atomicOr(odd, 1u);
            __syncthreads();
            if (*odd == 0) return write_sums(sums, *tiles, bias, out, m.split);
        }
        if (threadIdx.x == 0) tiles->meet(m.plain.in_channels);
        __syncthreads();
        wide::convolve_tile(shared->wide, *tiles, x, f, bias, out, m.plain);
    });
}

KERNEL(PASTE4(conv_split_, parts, _, DTYPE), const T* x, const T* f, unsigned char* scratch, ConvSplitArgs m) { split(x, f, scratch, m); }

TILE_KERNEL(PASTE4(conv_split_, 64, _, DTYPE), const unsigned char* scratch, const T* x, const T* f, const T* bias, T* out, ConvSplitArgs m) {
    convolve(scratch, x, f, bias, out, m);
}

} // namespace hipstack
