//! Products of matrices in ggml's quantized formats with many rows of f16 or bf16, by matrix units.
//
// quant_mma_<format>: out[r][n] = the product of row n of the matrix with row r of x. Launch: one-dimensional, block exactly 256; blocks stride
//                     over the tiles, so any grid is right. x is 16 bytes aligned.
// quant_mma_join:     out[r][n] = the sum of the parts that quant_mma wrote of it. Launch: one-dimensional, any block up to 256.
//
// A block computes the products of ROWS rows of the matrix with COUNT rows of x, a step of PIECES pieces of each row at a time. Pieces are
// taken apart to numbers of x's type in shared memory, each rounded once, as quant_unpack does. The loads of the next steps are in flight
// while the units multiply. The numbers of a step have the order that they have in their pieces; those of x are copied in the same order.
//
// Sums are f32 and are rounded once. If there are few tiles, `split` blocks share one: each sums a part of the steps.
#include "portable.hpp"
#include "mma.hpp"
#include "quant_formats.hpp"

namespace hipstack {

// The matrix has `rows` rows of `width` elements, which are whole blocks. Part p of all blocks begins at byte begin[p]. x has `count` rows; its
// rows, and those of the output, are tight. The output has fewer than 2^44 elements.
struct QuantMmaArgs {
    u64 begin[4];
    u32 rows, width, count, split;
};
SIZE(QuantMmaArgs, 48) OFFSET(QuantMmaArgs, rows, 32) OFFSET(QuantMmaArgs, split, 44)

static constexpr u32 BLOCK = 256, GROUPS = BLOCK / GROUP;
static constexpr u32 ROWS = 128, COUNT = 64, PIECES = 2, DEPTH = PIECES * 32;
static constexpr u32 CHUNK = 8, CHUNKS = DEPTH / CHUNK; // CHUNK: elements of 16 bytes
// Groups beside each other along the rows of the matrix; what a group multiplies, in fragments.
static constexpr u32 BESIDE = 4, DOWN = ROWS / BESIDE / 16, ACROSS = COUNT / (GROUPS / BESIDE) / 16;
// Steps whose pieces are loaded ahead: fewer of a format that takes many registers, which nvcc would spill.
template <class Format> static constexpr u32 AHEAD = sizeof(typename Format::Raw) > 64 ? 1 : 2;
static_assert(BLOCK == ROWS * PIECES, "a thread takes one piece apart");

// The index of 16-byte chunk `chunk` of a row. Chunks are swizzled, so that the same chunk of eight rows is in different banks.
DEVICE u32 swizzled(u32 row, u32 chunk) { return row * DEPTH + (chunk ^ (row & 7u)) * CHUNK; }
DEVICE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

// Signed byte k of a word whose sign bits are flipped. The byte becomes the last of a number from 2^23 on, whose ulp is 1: a conversion
// instruction takes four times as long on NVIDIA.
DEVICE f32 byte_of(u32 flipped, u32 k) { return from_bits(pick_bytes(flipped, 0x4b000000u, 0x07040400u | k)) - 8388736.0f; }

// Stores a piece as numbers. They are those of quant_unpack.
template <class Format> DEVICE void store_piece(T* weights, u32 row, u32 which, const Piece& piece) {
    UNROLL
    for (u32 c = 0; c < 4; c++) {
        const f32 scale = piece.scale[c / 2], base = piece.base[c / 2];
        Pack<u32, 4> words;
        UNROLL
        for (u32 i = 0; i < 4; i++) {
            const u32 flipped = piece.q[2 * c + i / 2] ^ 0x80808080u;
            const f32 low = scale * byte_of(flipped, i % 2 * 2), high = scale * byte_of(flipped, i % 2 * 2 + 1);
            words.at[i] = Format::BASED ? narrow_halves<T>(low + base, high + base) : narrow_halves<T>(low, high);
        }
        // nvcc would split the store of a pack of T.
        T* const to = weights + swizzled(row, which * 4 + c);
        if constexpr (ON_NVIDIA) {
            store_pack<4>(reinterpret_cast<u32*>(to), words);
        } else {
            Pack<T, CHUNK> pack;
            memcpy(&pack, &words, sizeof(words));
            store_pack<CHUNK>(to, pack);
        }
    }
}

// Starts copying the numbers of x that belong to a step to shared memory, with zeros beyond the rows and the pieces. from: the tile's first row.
template <class Format> DEVICE void begin_copy(T* to, const T* from, u32 rows, u32 step, const QuantMmaArgs& m) {
    constexpr u32 each = Format::BLOCK / 32, high = BLOCK / CHUNKS;
    const u32 chunk = threadIdx.x % CHUNKS, first = threadIdx.x / CHUNKS, piece = step * PIECES + chunk / 4;
    const bool there = piece < m.width / 32;
    const T* p = from + (u64)first * m.width + piece / each * Format::BLOCK + Format::first(piece % each, chunk / 2 % 2) + chunk % 2 * CHUNK;
    UNROLL
    for (u32 i = 0; i < COUNT; i += high) {
        copy_16(to + swizzled(first + i, chunk), p, there && first + i < rows);
        p += high * (u64)m.width;
    }
}

// Multiplies the rows of the group with LIVE fragments of x.
template <u32 LIVE> DEVICE void multiply_step(const T* weights, const T* numbers, Sums (&sums)[DOWN][ACROSS][1]) {
    const u32 lane = opaque(lane_of_group());
    UNROLL
    for (u32 p = 0; p < DEPTH / 16; p++) {
        Fragment a[LIVE][1];
        UNROLL
        for (u32 i = 0; i < LIVE; i++)
            load_rows(a[i][0], lane, [&](u32 row, u32 chunk) { return numbers + swizzled(i * 16 + row, p * 2 + chunk); });
        UNROLL
        for (u32 n = 0; n < DOWN; n++) {
            Fragment b;
            load_keys(b, lane, [&](u32 row, u32 chunk) { return weights + swizzled(n * 16 + row, p * 2 + chunk); });
            UNROLL
            for (u32 i = 0; i < LIVE; i++) multiply(sums[n][i], a[i], b);
        }
    }
}

template <class Format> DEVICE void products(const u8* matrix, const T* x, T* out, f32* parts, const QuantMmaArgs& m) {
    constexpr u32 each = Format::BLOCK / 32, ahead = AHEAD<Format>;
    struct alignas(16) Staged { T at[2 * (ROWS + COUNT) * DEPTH]; };
    SHARED_ARRAY(0, Staged, staged, 1);
    const QuantParts at = {{matrix, matrix + m.begin[1], matrix + m.begin[2], matrix + m.begin[3]}};
    const u32 pieces = m.width / 32, steps = (pieces + PIECES - 1) / PIECES, group = threadIdx.x / GROUP;
    const u32 which = threadIdx.x % PIECES, row = threadIdx.x / PIECES;
    // The group's first row of the matrix and of x, in the tile.
    const u32 my_row = group % BESIDE * (DOWN * 16), my_count = group / BESIDE * (ACROSS * 16);
    const u32 across = (m.count + COUNT - 1) / COUNT, down = (m.rows - 1) / ROWS + 1;
    u32 half = 0;
    // Tiles of the same rows of the matrix follow each other.
    for (u32 item = blockIdx.x; item < down * across * m.split; item += gridDim.x) {
        const u32 rest = item / across, part = rest % m.split, first_count = item % across * COUNT, first_row = rest / m.split * ROWS;
        const u32 begin = (u32)((u64)steps * part / m.split), end = (u32)((u64)steps * (part + 1) / m.split);
        const u32 count = smaller(m.count - first_count, COUNT), live = count > my_count ? (count - my_count + 15) / 16 : 0;
        const u32 block = smaller(first_row + row, m.rows - 1) * (m.width / Format::BLOCK);
        const T* const from = x + (u64)first_count * m.width;
        const auto load = [&](u32 step) {
            const u32 p = smaller(step * PIECES + which, pieces - 1);
            return Format::load(at, block + p / each, p % each);
        };
        T* const numbers = staged->at + 2 * ROWS * DEPTH;
        Sums sums[DOWN][ACROSS][1] = {};
        const auto take = [&](typename Format::Raw& raw, u32 step) {
            const u32 p = step * PIECES + which;
            Piece piece = whole_piece<Format>(raw, p % each);
            if (p >= pieces) one_scale(piece, 0.0f, 0.0f);
            T* const weights = staged->at + half * (ROWS * DEPTH);
            store_piece<Format>(weights, row, which, piece);
            copies_arrive();
            // The step's numbers have arrived; those of the step before have been read.
            __syncthreads();
            raw = load(step + ahead);
            if (step + 1 < end) begin_copy<Format>(numbers + (half ^ 1u) * (COUNT * DEPTH), from, count, step + 1, m);
            const T* const my_numbers = numbers + half * (COUNT * DEPTH) + my_count * DEPTH;
            if (live > 1) multiply_step<ACROSS>(weights + my_row * DEPTH, my_numbers, sums);
            else if (live == 1) multiply_step<1>(weights + my_row * DEPTH, my_numbers, sums);
            half ^= 1u;
        };
        typename Format::Raw raw[ahead];
        UNROLL
        for (u32 i = 0; i < ahead; i++) raw[i] = load(begin + i);
        begin_copy<Format>(numbers + half * (COUNT * DEPTH), from, count, begin, m);
        for (u32 step = begin; step < end; step += ahead) {
            UNROLL
            for (u32 i = 0; i < ahead; i++) {
                if (i == 0 || step + i < end) take(raw[i], step + i);
            }
        }
        UNROLL
        for (u32 i = 0; i < ACROSS; i++) {
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                const u32 r = first_count + my_count + i * 16 + held_row(h);
                if (r >= m.count) continue;
                UNROLL
                for (u32 n = 0; n < DOWN; n++) {
                    UNROLL
                    for (u32 e = 0; e < EACH; e++) {
                        const u32 column = first_row + my_row + n * 16 + held_column(e);
                        if (column >= m.rows) continue;
                        const f32 sum = sums[n][i][0][h][e];
                        if (m.split == 1) out[(u64)r * m.rows + column] = narrow<T>(sum);
                        else parts[((u64)part * m.count + r) * m.rows + column] = sum;
                    }
                }
            }
        }
    }
}

DEVICE void join(const f32* parts, T* out, const QuantMmaArgs& m) {
    const u64 all = (u64)m.rows * m.count;
    for (u64 i = thread_number(); i < all; i += thread_count()) {
        f32 sum = parts[i];
        for (u32 part = 1; part < m.split; part++) sum += parts[part * all + i];
        out[i] = narrow<T>(sum);
    }
}

#define FOR_FORMATS(X) \
    X(q4_0, Q4_0) X(q4_1, Q4_1) X(q5_0, Q5_0) X(q5_1, Q5_1) X(q8_0, Q8_0) X(q2_k, Q2_K) X(q3_k, Q3_K) X(q4_k, Q4_K) X(q5_k, Q5_K) \
    X(q6_k, Q6_K) X(iq4_nl, IQ4_NL) X(iq4_xs, IQ4_XS) X(mxfp4, MXFP4)
#define PRODUCTS(format, Format)                                                                                                  \
    KERNEL_OF(256, 2, PASTE4(quant_mma_, format, _, DTYPE), const u8* matrix, const T* x, T* out, f32* parts, QuantMmaArgs m) { \
        products<Format>(matrix, x, out, parts, m);                                                                           \
    }
FOR_FORMATS(PRODUCTS)
KERNEL(PASTE4(quant_mma_, join, _, DTYPE), const f32* parts, T* out, QuantMmaArgs m) { join(parts, out, m); }

} // namespace hipstack
