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
// Products of bytes are summed exactly, 16 or 32 at a time; these sums times their scales are summed in f32.
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
        if (known) piece = whole_piece<Format>(Format::load(parts, block, number), number);
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
static constexpr u32 TEAM = ON_HOST ? 1 : 32, TEAM_BITS = ON_HOST ? 0 : 5;
// Rows of the matrix that a team takes at once: they share what is read of the activations. Blocks of 256 take more registers to take apart: with
// four rows of them some kernels of sm_90 spill.
template <class Format, u32 ROWS> static constexpr u32 AT_ONCE = ROWS == 1 ? 1 : ROWS == 4 || Format::BLOCK == 256 ? 2 : 4;
// Pieces of each that are under way at once: fewer of a format that takes many registers.
template <class Format, u32 ROWS> static constexpr u32 AHEAD = ROWS == 1 ? sizeof(typename Format::Raw) > 40 ? 2 : 4 : ROWS == 4 ? 2 : 1;

// Adds the product of a piece and the activations from element `behind` on.
template <class Format>
DEVICE f32 add_product(f32 sum, const Piece& piece, u32 number, const u8* bytes, const f32* scales, const f32* sums, u32 behind) {
    const u32 first[2] = {Format::first(number, 0), Format::first(number, 1)};
    i32 whole[2] = {0, 0};
    UNROLL
    for (u32 h = 0; h < 2; h++) {
        const Pack<u32, 4> x = sixteen(bytes + first[h] + behind);
        UNROLL
        for (u32 w = 0; w < 4; w++) whole[h] = dot_bytes(piece.q[4 * h + w], x.at[w], whole[h]);
    }
    // What is added for the sum of 16 activations: the base, or ZERO_POINT times the scale.
    constexpr bool summed = Format::BASED || Format::ZERO_POINT != 0;
    f32 base[2];
    UNROLL
    for (u32 h = 0; h < 2; h++) base[h] = Format::BASED ? piece.base[h] : -(f32)Format::ZERO_POINT * piece.scale[h];
    const f32* const scale = scales + behind / 32;
    const f32* const sum_of = sums + behind / 16;
    if constexpr (Format::IN_A_ROW) {
        f32 product;
        if constexpr (Format::ONE_SCALE) product = piece.scale[0] * (f32)(whole[0] + whole[1]);
        else product = multiply_add(piece.scale[1], (f32)whole[1], piece.scale[0] * (f32)whole[0]);
        sum = multiply_add(product, scale[first[0] / 32], sum);
        if constexpr (summed) {
            const Pack<f32, 2> both = load_pack<2>(sum_of + first[0] / 16);
            if constexpr (Format::ONE_SCALE) sum = multiply_add(base[0], both.at[0] + both.at[1], sum);
            else sum = multiply_add(base[1], both.at[1], multiply_add(base[0], both.at[0], sum));
        }
    } else {
        UNROLL
        for (u32 h = 0; h < 2; h++) {
            sum = multiply_add(piece.scale[h] * (f32)whole[h], scale[first[h] / 32], sum);
            if constexpr (summed) sum = multiply_add(base[h], sum_of[first[h] / 16], sum);
        }
    }
    return sum;
}

// A power of two and its exponent. QuantMap's split is one, and so are blocks.
struct Power {
    u32 value, bits;
    METHOD u32 div_ceil(u32 n) const { return (n + value - 1) >> bits; }
};
DEVICE Power power(u32 value) { return Power{value, 31 - (u32)__clz((int)value)}; }

// The lanes that share a row of the matrix: `split` teams, of which this is number `part`. Teams of a block take `step` rows, this team row `own`. All
// of these are powers of two: a division would take as long as two pieces.
struct Teams {
    u32 lane, team, part, own;
    Power split, step;
};
DEVICE Teams teams_of(const QuantMap& m) {
    const u32 thread = opaque(threadIdx.x), team = thread / TEAM;
    const Power split = power(ON_HOST ? 1 : m.split);
    return Teams{thread % TEAM, team, team & split.value - 1, team >> split.bits, split, power((blockDim.x / TEAM) >> split.bits)};
}
// Activations from row `from` on, `count` rows.
struct ActivationRows {
    const u8* bytes;
    const f32 *scales, *sums;
    u64 from, count;
};
DEVICE ActivationRows rows_of(const u8* activations, const QuantMap& m) {
    return ActivationRows{activations, (const f32*)(activations + m.scales), (const f32*)(activations + m.sums), 0, m.count};
}

// Adds the products of N pieces of a lane: p, p + TEAM, p + 2 * TEAM ... On GPUs TEAM pieces are whole blocks, so these have the same number in their
// block and lie at constant distances: no index is computed for each.
template <class Format, u32 N, u32 ROWS, u32 AT>
DEVICE void add_pieces(f32 (&all)[AT][ROWS], const QuantParts& matrix, const u32 (&rows)[AT], u32 p, u32 width, const ActivationRows& x) {
    constexpr u32 each = Format::BLOCK / 32;
    constexpr bool whole = TEAM % each == 0;
    const u32 block = p / each;
    QuantParts parts[AT];
    UNROLL
    for (u32 k = 0; k < AT; k++) {
        UNROLL
        for (u32 i = 0; i < 4; i++) parts[k].part[i] = matrix.part[i] + (u64)(rows[k] + block) * Format::part_bytes(i);
    }
    u32 behind[N], number[N];
    typename Format::Raw raw[N][AT];
    UNROLL
    for (u32 a = 0; a < N; a++) {
        behind[a] = whole ? TEAM / each * a : (p + TEAM * a) / each - block;
        number[a] = whole ? p % each : (p + TEAM * a) % each;
        UNROLL
        for (u32 k = 0; k < AT; k++) raw[a][k] = Format::load(parts[k], behind[a], number[a]);
    }
    UNROLL
    for (u32 a = 0; a < N; a++) {
        Piece piece[AT];
        UNROLL
        for (u32 k = 0; k < AT; k++) piece[k] = Format::piece(raw[a][k], number[a]);
        UNROLL
        for (u32 r = 0; r < ROWS; r++) {
            if (r > 0 && r >= x.count) break;
            const u64 from = (x.from + r) * (u64)width + block * Format::BLOCK;
            UNROLL
            for (u32 k = 0; k < AT; k++)
                all[k][r] = add_product<Format>(all[k][r], piece[k], number[a], x.bytes + from, x.scales + from / 32, x.sums + from / 16,
                                                behind[a] * Format::BLOCK);
        }
    }
}
// The pieces of a team up to `end`, N of each lane at once while there are as many, then fewer.
template <class Format, u32 N, u32 ROWS, u32 AT>
DEVICE void add_team(f32 (&all)[AT][ROWS], const QuantParts& matrix, const u32 (&rows)[AT], u32 begin, u32 end, u32 width,
                     const ActivationRows& x, u32 lane) {
    for (; begin + TEAM * N <= end; begin += TEAM * N) add_pieces<Format, N>(all, matrix, rows, begin + lane, width, x);
    if constexpr (N > 1) add_team<Format, N / 2>(all, matrix, rows, begin, end, width, x, lane);
    else if (begin + lane < end) add_pieces<Format, 1>(all, matrix, rows, begin + lane, width, x);
}
// What a lane has of the products of rows that begin at blocks `rows` of the matrix, with `pieces` pieces of 32 elements, with up to ROWS rows of
// activations.
template <class Format, u32 ROWS, u32 AT>
DEVICE void lane_sums(f32 (&all)[AT][ROWS], const QuantParts& matrix, const u32 (&rows)[AT], u32 pieces, u32 width, const ActivationRows& x,
                      const Teams& t) {
    // A team's part of a row is whole steps of it.
    const u32 share = Power{TEAM * t.split.value, TEAM_BITS + t.split.bits}.div_ceil(pieces) * TEAM;
    const u32 begin = t.part * share, end = begin + share < pieces ? begin + share : pieces;
    add_team<Format, AHEAD<Format, ROWS>>(all, matrix, rows, begin, end, width, x, t.lane);
}
// Adds them across lanes; those of other teams go to `slots`. All threads of a block are here.
template <u32 ROWS, u32 AT> DEVICE void share_sums(f32 (&all)[AT][ROWS], f32 (*slots)[AT][ROWS], const Teams& t) {
    UNROLL
    for (u32 k = 0; k < AT; k++) {
        UNROLL
        for (u32 r = 0; r < ROWS; r++) {
            UNROLL
            for (u32 mask = TEAM / 2; mask > 0; mask >>= 1) all[k][r] += shuffle_xor(all[k][r], mask);
            if (t.split.value > 1 && t.lane == 0) slots[t.team][k][r] = all[k][r];
        }
    }
    if (t.split.value > 1) __syncthreads();
}
// All of a sum, by the first team.
template <u32 ROWS, u32 AT> DEVICE f32 whole_sum(const f32 (&all)[AT][ROWS], const f32 (*slots)[AT][ROWS], u32 k, u32 r, const Teams& t) {
    f32 sum = all[k][r];
    for (u32 other = 1; other < t.split.value; other++) sum += slots[t.team + other][k][r];
    return sum;
}

// Products of each row of a matrix with up to ROWS rows of activations; or of the rows of the matrix of one id, with one.
template <class Format, u32 ROWS, bool BY_ID>
DEVICE void dot(const u8* matrix, const u8* activations, const u8* ids, T* out, IndexFault* fault, const QuantMap& m) {
    constexpr u32 at_once = AT_ONCE<Format, ROWS>;
    static_assert(!BY_ID || (ROWS == 1 && at_once == 1), "a turn is one row of one matrix");
    const Teams t = teams_of(m);
    const u32 width = (u32)m.width;
    const QuantParts parts = parts_of(matrix, m.begin);
    __shared__ f32 slots[2][MAX_BLOCK / 32][at_once][ROWS];
    const u64 turns = BY_ID ? m.rows * m.count : (m.rows + at_once - 1) / at_once;
    // All threads of a block take as many turns; two sets of slots make one barrier enough.
    u32 set = 0;
    for (u64 begin = (u64)blockIdx.x * t.step.value; begin < turns; begin += (u64)gridDim.x * t.step.value, set ^= 1u) {
        const u64 turn = begin + t.own < turns ? begin + t.own : turns - 1;
        // Where in the matrices the rows are, and which row of activations is the first.
        u64 row = turn * at_once;
        ActivationRows x = rows_of(activations, m);
        bool known = true;
        if constexpr (BY_ID) {
            const u64 pair = turn / m.rows, id = id_at(ids, m.id_type, pair);
            known = id < m.length;
            if (!known && turn == pair * m.rows && t.lane == 0 && t.part == 0) report(fault, m, (i64)id);
            row = turn - pair * m.rows + (known ? id * m.rows : 0);
            x.from = pair / m.each;
        }
        u32 rows[at_once];
        f32 all[at_once][ROWS];
        UNROLL
        for (u32 k = 0; k < at_once; k++) {
            const u64 mine = BY_ID || row + k < m.rows ? row + k : m.rows - 1;
            rows[k] = (u32)mine * (width / Format::BLOCK);
            UNROLL
            for (u32 r = 0; r < ROWS; r++) all[k][r] = 0.0f;
        }
        // Without a matrix nothing is read: there may be none at all.
        lane_sums<Format, ROWS>(all, parts, rows, known ? width / 32 : 0, width, x, t);
        share_sums(all, slots[set], t);
        if (t.part != 0 || t.lane != 0 || begin + t.own >= turns) continue;
        UNROLL
        for (u32 k = 0; k < at_once; k++) {
            const u64 n = turn * at_once + k;
            UNROLL
            for (u32 r = 0; r < ROWS; r++) {
                const f32 sum = whole_sum(all, slots[set], k, r, t);
                // By id a turn has one result, at its own index.
                if (BY_ID || (r < m.count && n < m.rows)) out[r * m.rows + n] = narrow<T>(known ? sum : 0.0f);
            }
        }
    }
}

// The matrix whose rows a block takes in a turn, and the first of them. Past the last turn `first` is at least `rows`.
struct MatrixRows {
    QuantParts parts;
    T* out;
    u32 rows, first;
};
// No turn has rows of two matrices: which one it is of is then the same for a whole block, and takes no registers of its lanes. 32 bits count the
// blocks of a matrix, and so its rows.
struct Matrices {
    const u8 *first, *second, *third;
    T *out, *second_out, *third_out;
    METHOD MatrixRows of(u32 turn, const Power& step, const QuantMap& m, const MoreMatrices& more) const {
        const u32 turns = step.div_ceil((u32)m.rows), more_turns = step.div_ceil((u32)more.rows[0]);
        if (turn < turns) return MatrixRows{parts_of(first, m.begin), out, (u32)m.rows, turn * step.value};
        turn -= turns;
        if (turn < more_turns) return MatrixRows{parts_of(second, more.begin[0]), second_out, (u32)more.rows[0], turn * step.value};
        turn -= more_turns;
        return MatrixRows{parts_of(third, more.begin[1]), third_out, (u32)more.rows[1], turn * step.value};
    }
};
// The products of the rows of up to three matrices with one row of activations.
template <class Format> DEVICE void dot_row(const Matrices& matrices, const u8* activations, const QuantMap& m, const MoreMatrices& more) {
    const u32 width = (u32)m.width;
    __shared__ f32 slots[2][MAX_BLOCK / 32][1][1];
    // As in dot.
    u32 set = 0;
    for (u32 turn = blockIdx.x;; turn += gridDim.x, set ^= 1u) {
        const Teams before = teams_of(m);
        const MatrixRows at = matrices.of(turn, before.step, m, more);
        if (at.first >= at.rows) break;
        const u32 mine = at.first + before.own;
        const u32 rows[1] = {(mine < at.rows ? mine : at.rows - 1) * (width / Format::BLOCK)};
        f32 all[1][1] = {};
        lane_sums<Format, 1>(all, at.parts, rows, width / 32, width, rows_of(activations, m), before);
        // Computed again, so that it holds no registers while pieces are loaded.
        const Teams t = teams_of(m);
        const u32 n = at.first + t.own;
        share_sums(all, slots[set], t);
        if (t.part == 0 && t.lane == 0 && n < at.rows) at.out[n] = narrow<T>(whole_sum(all, slots[set], 0, 0, t));
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define FOR_FORMATS(X) \
    X(q4_0, Q4_0) X(q4_1, Q4_1) X(q5_0, Q5_0) X(q5_1, Q5_1) X(q8_0, Q8_0) X(q2_k, Q2_K) X(q3_k, Q3_K) X(q4_k, Q4_K) X(q5_k, Q5_K) \
    X(q6_k, Q6_K) X(iq4_nl, IQ4_NL) X(iq4_xs, IQ4_XS) X(mxfp4, MXFP4)
// With these numbers of blocks no kernel spills (nvcc 13.0, sm_90). A limit of 64 registers, for four blocks, lets nvcc issue all loads of quant_dot1
// before it uses the first. Without a limit it uses fewer registers and waits for each load.
#define DOT(most, format, Format)                                                                                             \
    KERNEL_OF(256, 2, PASTE4(quant_dot##most##_, format, _, DTYPE), const u8* matrix, const u8* activations, T* out,          \
              QuantMap map) {                                                                                                 \
        dot<Format, most, false>(matrix, activations, nullptr, out, nullptr, map);                                            \
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
    KERNEL_OF(256, 3, PASTE4(quant_experts_, format, _, DTYPE), const u8* matrix, const u8* activations, const u8* ids,       \
              T* out, IndexFault* fault, QuantMap map) {                                                                      \
        dot<Format, 1, true>(matrix, activations, ids, out, fault, map);                                                      \
    }                                                                                                                         \
    KERNEL_OF(256, 4, PASTE4(quant_dot1_, format, _, DTYPE), const u8* first, const u8* second, const u8* third,              \
              const u8* activations, T* out, T* second_out, T* third_out, QuantMap map, MoreMatrices more) {                  \
        dot_row<Format>(Matrices{first, second, third, out, second_out, third_out}, activations, map, more);                  \
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
