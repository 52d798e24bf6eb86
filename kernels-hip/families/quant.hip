//! Matrices in ggml's quantized formats: their elements, and their products with few rows.
//
// quant_unpack_<format>:    out[r][i] = element i of row r, rounded once. Launch: one-dimensional, any block up to 256.
// quant_rows_<format>:      the same of row ids[r], or zeros. Launch: as quant_unpack.
// quant_activations:        rows of numbers as signed bytes with a scale for each 32 of them. Launch: one-dimensional, block a multiple of 64, at
//                           most 256.
// quant_activations_<gate>: the same of gate(x) * y, which replaces x. Launch: as quant_activations.
// quant_dot<rows>_<format>: out[r][n] = the product of row n of the matrix with row r of such activations, for up to <rows> rows. Launch: as
//                           quant_activations. quant_dot1 takes up to three matrices, each with an output of its own.
// quant_experts_<format>:   out[r][n] = the product of row n of matrix ids[r] with row r / each of such activations, or zero. Launch: as
//                           quant_activations.
// Blocks stride over the work, so any grid is right: src/launch/quant.rs. Ids and their faults are those of ids.hpp.
//
// Products of bytes are summed exactly, 16 at a time; these sums times their scales are summed in f32.
#include "portable.hpp"
#include "ids.hpp"
#include "activations.hpp"
#include "gates.hpp"
#include "round_groups.hpp"
#include "quant_formats.hpp"

namespace hipstack {

// A matrix has `rows` rows of `width` elements, which are whole blocks; `length` matrices, or rows, have ids. Part p of all blocks begins at byte
// begin[p]. `count` rows are made. Rows of activations and of the output are tight. Activations are bytes, then at byte `scales` a scale for each 32 of
// them, then at byte `sums` what each 16 of them stand for, summed. On GPUs `split` teams of 32 lanes share a row of the matrix: a power of two, at
// most the teams of a block.
struct QuantMap {
    u64 rows, width, count, length, scales, sums;
    u64 begin[4];
    u32 split, each, id_type, operation, axis, reserved;
};
SIZE(QuantMap, 104) OFFSET(QuantMap, count, 16) OFFSET(QuantMap, begin, 48) OFFSET(QuantMap, split, 80)
// More matrices of the same width, for the same activations. Of one that is not there rows is 0, and its pointers are not used.
struct MoreMatrices {
    u64 rows[2];
    u64 begin[2][4];
};
SIZE(MoreMatrices, 80) OFFSET(MoreMatrices, begin, 16)

static constexpr u32 SPAN = ACCESS / sizeof(T);

DEVICE QuantParts parts_of(const u8* blocks, const u64 (&begin)[4]) {
    return QuantParts{{blocks, blocks + begin[1], blocks + begin[2], blocks + begin[3]}};
}
// A negative id becomes an unsigned number above any length.
DEVICE u64 id_at(const u8* ids, u32 type, u64 i) {
    if (type == ID_U8) return ids[i];
    if (type == ID_U32) return ((const u32*)ids)[i];
    if (type == ID_I32) return (u64)((const i32*)ids)[i];
    return (u64)((const i64*)ids)[i];
}

// ---- elements ---------------------------------------------------------------------------------------------------------
// Threads that write a piece, so that neighbouring threads write neighbouring packs. Each takes the whole piece apart, which is cheap on a GPU.
static constexpr u32 SLOTS = ON_HOST ? 1 : 32 / SPAN;
// Packs that a thread writes, and words of the piece behind each.
static constexpr u32 PACKS = 32 / SPAN / SLOTS, WORDS = SPAN / 4;

template <class Format, bool BY_ID> DEVICE void unpack(const u8* in, const u8* ids, T* out, IndexFault* fault, const QuantMap& m) {
    constexpr u32 each = Format::BLOCK / 32;
    const u32 pieces = (u32)(m.width / 32);
    const QuantParts parts = parts_of(in, m.begin);
    for (u64 i = thread_number(); i < m.count * pieces * SLOTS; i += thread_count()) {
        const u32 slot = (u32)(i % SLOTS);
        const u64 r = i / SLOTS / pieces;
        const u32 p = (u32)(i / SLOTS - r * pieces), number = p % each;
        u64 from = r;
        bool known = true;
        if constexpr (BY_ID) {
            from = id_at(ids, m.id_type, r);
            known = from < m.length;
            if (!known && p == 0 && slot == 0) report(fault, m, (i64)from);
            from = known ? from : 0;
        }
        const u32 block = (u32)(from * (pieces / each)) + p / each;
        // Without a row nothing is read: there may be none at all.
        Piece piece = Piece{};
        if (known) piece = Format::piece(Format::load(parts, block, number), number);
        T* const to = out + r * m.width + p / each * Format::BLOCK;
        UNROLL
        for (u32 k = 0; k < PACKS; k++) {
            // Chosen without an index that differs by thread: it would move the piece to memory.
            const u32 own = slot * PACKS + k;
            u32 words[WORDS];
            UNROLL
            for (u32 w = 0; w < WORDS; w++) words[w] = piece.q[(SLOTS == 1 ? k : 0) * WORDS + w];
            UNROLL
            for (u32 other = 1; other < SLOTS; other++) {
                UNROLL
                for (u32 w = 0; w < WORDS; w++) words[w] = slot == other ? piece.q[other * WORDS + w] : words[w];
            }
            const bool second = own >= 16 / SPAN;
            const f32 scale = second ? piece.scale[1] : piece.scale[0], base = second ? piece.base[1] : piece.base[0];
            Pack<T, SPAN> pack;
            UNROLL
            for (u32 j = 0; j < SPAN; j++) {
                const f32 scaled = scale * (f32)(i32)(i8)(words[j / 4] >> j % 4 * 8);
                pack.at[j] = narrow<T>(!known ? 0.0f : Format::BASED ? scaled + base : scaled);
            }
            write_pack(to + Format::first(number, second ? 1 : 0) + own % (16 / SPAN) * SPAN, pack);
        }
    }
}

// ---- activations ------------------------------------------------------------------------------------------------------
// Lanes that take 32 numbers together, and how many of them each takes. A thread of the host has no neighbours to exchange with at no cost.
static constexpr u32 LANES = ON_HOST ? 1 : 8, OWN = 32 / LANES;

// Four numbers from number i on, as they are in memory.
struct Stored {
    const T* in;
    METHOD void four(f32* x, u64 i) const {
        const Pack<T, 4> pack = load_pack<4>(in + i);
        UNROLL
        for (u32 j = 0; j < 4; j++) x[j] = widen(pack.at[j]);
    }
};
// gate(x) * y, which replaces x.
template <class Gate> struct Gated {
    T* in;
    const T* other;
    METHOD void four(f32* x, u64 i) const {
        const Pack<T, 4> left = load_pack<4>(in + i), right = load_pack<4>(other + i);
        Pack<T, 4> gated;
        UNROLL
        for (u32 j = 0; j < 4; j++) {
            gated.at[j] = narrow<T>(Gate()(widen(left.at[j])) * widen(right.at[j]));
            x[j] = widen(gated.at[j]);
        }
        write_pack(in + i, gated);
    }
};

template <class In> DEVICE void activations(const In& in, u8* out, const QuantMap& m) {
    const u64 groups = m.count * m.width / 32;
    const u32 own = threadIdx.x % LANES;
    // All lanes of a wave take as many turns.
    for (u64 first = (u64)blockIdx.x * (blockDim.x / LANES); first < groups; first += (u64)gridDim.x * (blockDim.x / LANES)) {
        const u64 group = first + threadIdx.x / LANES;
        f32 x[OWN] = {};
        if (group < groups) {
            UNROLL
            for (u32 i = 0; i < OWN; i += 4) in.four(x + i, group * 32 + own * OWN + i);
        }
        round_group<LANES>(x, group, own, group < groups, RoundedRows{out, m.scales, m.sums});
    }
}

// ---- products ---------------------------------------------------------------------------------------------------------
// Lanes that share a row of the matrix.
static constexpr u32 TEAM = ON_HOST ? 1 : 32;
// Rows of the matrix that a team takes at once: they share what is read of the activations. Blocks of 256 take more registers to take apart: with
// four rows of them some kernels of sm_90 spill.
template <class Format, u32 ROWS> static constexpr u32 AT_ONCE = ROWS == 1 ? 1 : ROWS == 4 || Format::BLOCK == 256 ? 2 : 4;
// Pieces of each that are under way at once.
template <u32 ROWS> static constexpr u32 AHEAD = ROWS == 1 ? 4 : ROWS == 4 ? 2 : 1;

// The product of a piece with a row of activations.
template <class Format> DEVICE f32 product(const Piece& piece, const u8* bytes, const f32* scales, const f32* sums, const u32 (&first)[2]) {
    i32 whole[2] = {0, 0};
    UNROLL
    for (u32 h = 0; h < 2; h++) {
        const Pack<u32, 4> x = sixteen(bytes + first[h]);
        UNROLL
        for (u32 w = 0; w < 4; w++) whole[h] = dot_bytes(piece.q[4 * h + w], x.at[w], whole[h]);
    }
    f32 out = piece.scale[0] * (f32)whole[0] * scales[first[0] / 32] + piece.scale[1] * (f32)whole[1] * scales[first[1] / 32];
    if constexpr (Format::BASED) out += piece.base[0] * sums[first[0] / 16] + piece.base[1] * sums[first[1] / 16];
    return out;
}

// The matrix that has a row of all matrices, and which of its rows that is.
struct MatrixRow {
    QuantParts parts;
    T* out;
    u64 rows, row;
};
struct OneMatrix {
    QuantParts parts;
    T* out;
    u64 count;
    METHOD u64 rows() const { return count; }
    METHOD MatrixRow of(u64 row) const { return MatrixRow{parts, out, count, row}; }
};
// One row at a time is asked for.
struct Matrices {
    const u8 *first, *second, *third;
    T *out, *second_out, *third_out;
    const QuantMap& m;
    const MoreMatrices& more;
    METHOD u64 rows() const { return m.rows + more.rows[0] + more.rows[1]; }
    METHOD MatrixRow of(u64 row) const {
        const u64 behind = m.rows + more.rows[0];
        const bool is_first = row < m.rows, is_second = row < behind;
        const u8* const blocks = is_first ? first : is_second ? second : third;
        MatrixRow p;
        UNROLL
        for (u32 i = 0; i < 4; i++)
            p.parts.part[i] = blocks + (is_first ? m.begin[i] : is_second ? more.begin[0][i] : more.begin[1][i]);
        p.out = is_first ? out : is_second ? second_out : third_out;
        p.rows = is_first ? m.rows : is_second ? more.rows[0] : more.rows[1];
        p.row = is_first ? row : is_second ? row - m.rows : row - behind;
        return p;
    }
};

// Products of each row of the matrices with up to ROWS rows of activations; or of the rows of the matrix of one id, with one.
template <class Format, u32 ROWS, bool BY_ID, class All>
DEVICE void dot(const All& matrices, const u8* activations, const u8* ids, IndexFault* fault, const QuantMap& m) {
    constexpr u32 at_once = AT_ONCE<Format, ROWS>, ahead = AHEAD<ROWS>, each = Format::BLOCK / 32;
    static_assert(!BY_ID || (ROWS == 1 && at_once == 1), "a turn is one row of one matrix");
    const u32 lane = threadIdx.x % TEAM, team = threadIdx.x / TEAM, teams = blockDim.x / TEAM, width = (u32)m.width;
    const f32* const scales = (const f32*)(activations + m.scales);
    const f32* const sums = (const f32*)(activations + m.sums);
    __shared__ f32 slots[2][MAX_BLOCK / 32][at_once][ROWS];
    const u32 split = ON_HOST ? 1 : m.split, part = team % split, own = team / split, step = teams / split;
    const u64 turns = BY_ID ? m.rows * m.count : (matrices.rows() + at_once - 1) / at_once;
    // All threads of a block take as many turns; two sets of slots make one barrier enough.
    u32 set = 0;
    for (u64 begin = (u64)blockIdx.x * step; begin < turns; begin += (u64)gridDim.x * step, set ^= 1u) {
        const u64 turn = begin + own < turns ? begin + own : turns - 1;
        // Where in the matrices the rows are, and which row of activations is the first.
        const MatrixRow at = matrices.of(turn * at_once);
        u64 row = at.row, from = 0;
        bool known = true;
        if constexpr (BY_ID) {
            const u64 pair = turn / m.rows, id = id_at(ids, m.id_type, pair);
            known = id < m.length;
            if (!known && turn == pair * m.rows && lane == 0 && part == 0) report(fault, m, (i64)id);
            row = turn - pair * m.rows + (known ? id * m.rows : 0);
            from = pair / m.each;
        }
        // Without a matrix nothing is read: there may be none at all.
        const u32 pieces = known ? width / 32 : 0;
        u32 block[at_once];
        f32 all[at_once][ROWS];
        UNROLL
        for (u32 k = 0; k < at_once; k++) {
            const u64 mine = BY_ID || row + k < at.rows ? row + k : at.rows - 1;
            block[k] = (u32)(mine * (width / Format::BLOCK));
            UNROLL
            for (u32 r = 0; r < ROWS; r++) all[k][r] = 0.0f;
        }
        for (u32 begin_piece = part * TEAM + lane; begin_piece < pieces; begin_piece += TEAM * split * ahead) {
            typename Format::Raw raw[ahead][at_once];
            UNROLL
            for (u32 a = 0; a < ahead; a++) {
                const u32 p = begin_piece + TEAM * split * a;
                if (a > 0 && p >= pieces) break;
                UNROLL
                for (u32 k = 0; k < at_once; k++) raw[a][k] = Format::load(at.parts, block[k] + p / each, p % each);
            }
            UNROLL
            for (u32 a = 0; a < ahead; a++) {
                const u32 p = begin_piece + TEAM * split * a;
                if (a > 0 && p >= pieces) break;
                const u32 start = p / each * Format::BLOCK;
                const u32 first[2] = {start + Format::first(p % each, 0), start + Format::first(p % each, 1)};
                Piece piece[at_once];
                UNROLL
                for (u32 k = 0; k < at_once; k++) piece[k] = Format::piece(raw[a][k], p % each);
                UNROLL
                for (u32 r = 0; r < ROWS; r++) {
                    if (r > 0 && r >= m.count) break;
                    const u64 skipped = (from + r) * width;
                    UNROLL
                    for (u32 k = 0; k < at_once; k++)
                        all[k][r] += product<Format>(piece[k], activations + skipped, scales + skipped / 32, sums + skipped / 16, first);
                }
            }
        }
        UNROLL
        for (u32 k = 0; k < at_once; k++) {
            UNROLL
            for (u32 r = 0; r < ROWS; r++) {
                UNROLL
                for (u32 mask = TEAM / 2; mask > 0; mask >>= 1) all[k][r] += shuffle_xor(all[k][r], mask);
                if (split > 1 && lane == 0) slots[set][team][k][r] = all[k][r];
            }
        }
        if (split > 1) __syncthreads();
        if (part != 0 || lane != 0 || begin + own >= turns) continue;
        UNROLL
        for (u32 k = 0; k < at_once; k++) {
            const u64 n = at.row + k;
            UNROLL
            for (u32 r = 0; r < ROWS; r++) {
                f32 sum = all[k][r];
                for (u32 other = 1; other < split; other++) sum += slots[set][team + other][k][r];
                // By id a turn has one result, at its own index.
                if (BY_ID || (r < m.count && n < at.rows)) at.out[r * at.rows + n] = narrow<T>(known ? sum : 0.0f);
            }
        }
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define FOR_FORMATS(X) \
    X(q4_0, Q4_0) X(q4_1, Q4_1) X(q5_0, Q5_0) X(q5_1, Q5_1) X(q8_0, Q8_0) X(q2_k, Q2_K) X(q3_k, Q3_K) X(q4_k, Q4_K) X(q5_k, Q5_K) \
    X(q6_k, Q6_K) X(iq4_nl, IQ4_NL) X(iq4_xs, IQ4_XS) X(mxfp4, MXFP4)
#define DOT(most, format, Format)                                                                                             \
    KERNEL(PASTE4(quant_dot##most##_, format, _, DTYPE), const u8* matrix, const u8* activations, T* out, QuantMap map) {     \
        dot<Format, most, false>(OneMatrix{parts_of(matrix, map.begin), out, map.rows}, activations, nullptr, nullptr, map);  \
    }
// Rows by ids are f32: tensor-core asks for no others.
#if defined(DTYPE_f32)
#define ROWS(format, Format)                                                                                                  \
    KERNEL(PASTE4(quant_rows_, format, _, DTYPE), const u8* in, const u8* ids, T* out, IndexFault* fault, QuantMap map) {     \
        unpack<Format, true>(in, ids, out, fault, map);                                                                       \
    }
FOR_FORMATS(ROWS)
#endif
#define KERNELS(format, Format)                                                                                               \
    KERNEL(PASTE4(quant_unpack_, format, _, DTYPE), const u8* in, T* out, QuantMap map) {                                     \
        unpack<Format, false>(in, nullptr, out, nullptr, map);                                                                \
    }                                                                                                                         \
    KERNEL(PASTE4(quant_experts_, format, _, DTYPE), const u8* matrix, const u8* activations, const u8* ids, T* out,          \
           IndexFault* fault, QuantMap map) {                                                                                 \
        dot<Format, 1, true>(OneMatrix{parts_of(matrix, map.begin), out, map.rows}, activations, ids, fault, map);            \
    }                                                                                                                         \
    KERNEL(PASTE4(quant_dot1_, format, _, DTYPE), const u8* first, const u8* second, const u8* third, const u8* activations,  \
           T* out, T* second_out, T* third_out, QuantMap map, MoreMatrices more) {                                            \
        dot<Format, 1, false>(Matrices{first, second, third, out, second_out, third_out, map, more}, activations, nullptr,    \
                              nullptr, map);                                                                                  \
    }                                                                                                                         \
    DOT(4, format, Format) DOT(8, format, Format)
FOR_FORMATS(KERNELS)
KERNEL(PASTE4(quant_, activations, _, DTYPE), const T* in, u8* out, QuantMap map) { activations(Stored{in}, out, map); }
// Gates are f32: tensor-core asks for no others.
#if defined(DTYPE_f32)
#define GATED(gate, op)                                                                                                       \
    KERNEL(PASTE4(quant_activations_, gate, _, DTYPE), T* in, const T* other, u8* out, QuantMap map) {                        \
        activations(Gated<op>{in, other}, out, map);                                                                          \
    }
GATED(silu, silu_op) GATED(gelu, gelu_op)
#endif

} // namespace hipstack
