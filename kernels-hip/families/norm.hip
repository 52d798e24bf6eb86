//! Normalisation: layer, RMS and group norm over rows, and batch norm over channels with given statistics.
//
// norm_layer, norm_rms, norm_group:                   a block for each row. Launch: one-dimensional, block a multiple of 64, at most 256.
// norm_layer_short, norm_rms_short, norm_group_short: some lanes of a wave for each row, several rows a block. Launch: as above.
// norm_add_rms, norm_add_rms_short:                   as norm_rms, after another array is added to the input in memory.
// norm_add_rms_rounded:                               as norm_add_rms, and the output rounded to signed bytes too: see round_groups.hpp. Everything
//                                                     is aligned to 16 bytes, and rows are multiples of 32 elements.
// norm_batch:                                         16 bytes a thread. Launch: one-dimensional, any block up to 256.
// Blocks stride over the work, so any grid is right. Short and block kernels give interchangeable results; src/launch/norm.rs chooses.
//
// y = (x - mean) / sqrt(variance + eps) * weight + bias; rms has no mean and no bias. The variance is the mean of (x - mean)², computed in
// a second pass after the mean, which avoids cancellation. Computed in f32, f64 for f64, and rounded once. Outputs are tight. A row whose
// elements fit the registers of its threads is read once, a longer one in each pass.
#include "portable.hpp"
#include "rows.hpp"
#include "round_groups.hpp"

namespace hipstack {

// Row r begins at the offset of r in the dims; its elements are contiguous. Element i belongs to channel r % groups * (length / inner) + i
// / inner of weight and bias, which are tight.
struct NormMap {
    u64 rows, length, groups, inner;
    f64 eps;
    u32 flags, rank;
    u64 dims[MAX_RANK], strides[MAX_RANK];
};
SIZE(NormMap, 176) OFFSET(NormMap, eps, 32) OFFSET(NormMap, rank, 44) OFFSET(NormMap, dims, 48) OFFSET(NormMap, strides, 112)
static constexpr u32 HAS_WEIGHT = 1, HAS_BIAS = 2;

// Everything is tight. Element i belongs to channel i / inner % channels.
struct BatchMap {
    u64 count, channels, inner;
    f64 eps;
    u64 flags;
};
SIZE(BatchMap, 40) OFFSET(BatchMap, eps, 24) OFFSET(BatchMap, flags, 32)

// Packs of weights in flight. Widening four of f16 at once takes up to 192 vector registers on gfx942 (clang 22), two take 95.
static constexpr u32 AT_ONCE = ON_AMD && sizeof(T) == 2 ? 2 : PACKS < 4 ? PACKS : 4;

// ---- weights ---------------------------------------------------------------------------------------------------------
// The channel of an element: by row and element with GROUPS, else by element.
template <bool GROUPS> struct Channels {
    u64 first, inner;
    METHOD u64 of(u64 i) const { return GROUPS ? first + quotient(i, inner) : i; }
};

// The parameters of the channels of pack p of a stretch that begins at element `first` of the row.
template <bool PACKED, bool GROUPS>
DEVICE Pack<T, SPAN> parameters(const T* from, const Channels<GROUPS>& channels, u64 first, const Stretch<PACKED>& s, u32 p) {
    if constexpr (!GROUPS) return raw_pack(from + first, s, p);
    Pack<T, SPAN> raw = {};
    if (PACKED && channels.inner % SPAN == 0) {
        const T one = s.there(p, 0) ? from[channels.of(first + s.at(p, 0))] : raw.at[0];
        UNROLL
        for (u32 i = 0; i < SPAN; i++) raw.at[i] = one;
    } else {
        UNROLL
        for (u32 i = 0; i < SPAN; i++)
            if (s.there(p, i)) raw.at[i] = from[channels.of(first + s.at(p, i))];
    }
    return raw;
}
struct Multiply { static METHOD C join(C a, C b) { return a * b; } };

// Combines each element of a stretch with its channel's parameter.
template <class Op, bool PACKED, bool GROUPS, u32 N>
DEVICE void with_parameters(C (&x)[N], const T* from, const Channels<GROUPS>& channels, u64 first, const Stretch<PACKED>& all) {
    constexpr u32 together = AT_ONCE < N / SPAN ? AT_ONCE : N / SPAN;
    UNROLL
    for (u32 begin = 0; begin < N / SPAN; begin += together) {
        if (!all.used(begin)) continue;
        Pack<T, SPAN> raw[together];
        UNROLL
        for (u32 p = 0; p < together; p++) raw[p] = parameters(from, channels, first, opaque(all), begin + p);
        UNROLL
        for (u32 p = 0; p < together; p++) {
            UNROLL
            for (u32 i = 0; i < SPAN; i++) {
                C& v = x[(begin + p) * SPAN + i];
                v = Op::join(v, widen(raw[p].at[i]));
            }
        }
    }
}

// ---- inputs ----------------------------------------------------------------------------------------------------------
// `read` loads a stretch that begins at element `first`, `again` loads one that was read. Missing elements are 0.
// Elements as they are in memory.
struct Plain {
    const T* in;
    METHOD Plain from(u64 offset) const { return Plain{in + offset}; }
    template <bool PACKED, u32 N> METHOD void read(C (&x)[N], u64 first, const Stretch<PACKED>& s) const { load(x, in + first, s, C(0)); }
    template <bool PACKED, u32 N> METHOD void again(C (&x)[N], u64 first, const Stretch<PACKED>& s) const { read(x, first, s); }
};
// Elements to which those of another array are added. The rounded sums replace them in memory.
struct Sums {
    T* in;
    const T* other;
    METHOD Sums from(u64 offset) const { return Sums{in + offset, other + offset}; }
    template <bool PACKED, u32 N> METHOD void read(C (&x)[N], u64 first, const Stretch<PACKED>& all) const {
        Pack<T, SPAN> own[N / SPAN], more[N / SPAN];
        UNROLL
        for (u32 p = 0; p < N / SPAN; p++) {
            own[p] = raw_pack(in + first, opaque(all), p);
            more[p] = raw_pack(other + first, opaque(all), p);
        }
        UNROLL
        for (u32 p = 0; p < N / SPAN; p++) {
            const Stretch<PACKED> s = opaque(all);
            C sum[SPAN], summand[SPAN];
            widen_pack(sum, own[p]);
            widen_pack(summand, more[p]);
            UNROLL
            for (u32 i = 0; i < SPAN; i++) sum[i] += summand[i];
            const Pack<T, SPAN> rounded = narrow_pack(sum);
            widen_pack(x + p * SPAN, rounded);
            if constexpr (PACKED) {
                if (s.there(p, 0)) write_pack(in + first + s.at(p, 0), rounded);
            } else {
                UNROLL
                for (u32 i = 0; i < SPAN; i++)
                    if (s.there(p, i)) in[first + s.at(p, i)] = rounded.at[i];
            }
        }
    }
    // A thread reads what it has written itself.
    template <bool PACKED, u32 N> METHOD void again(C (&x)[N], u64 first, const Stretch<PACKED>& s) const { load(x, in + first, s, C(0)); }
};

// ---- more outputs ----------------------------------------------------------------------------------------------------
// What else is made of a stretch of the output that begins at element `first` of all.
struct NothingElse {
    template <bool PACKED, u32 N> METHOD void make(const C (&)[N], u64, const Stretch<PACKED>&) const {}
};
// All lanes of the block have the same row.
struct AlsoRounded {
    static constexpr u32 LANES = 32 / SPAN;
    RoundedRows to;
    template <u32 N> METHOD void make(const C (&x)[N], u64 first, const Stretch<true>& all) const {
        UNROLL
        for (u32 p = 0; p < N / SPAN; p++) {
            if (!all.used(p)) break;
            const Stretch<true> s = opaque(all);
            f32 own[SPAN];
            UNROLL
            for (u32 i = 0; i < SPAN; i++) own[i] = x[p * SPAN + i];
            round_group<LANES>(own, (first + s.at(p, 0)) / 32, s.lane % LANES, s.there(p, 0), to);
        }
    }
};

// ---- rows ------------------------------------------------------------------------------------------------------------
// `length` is 0 for lanes without a row; they only take part in the shuffles.
template <bool CENTRED, bool GROUPS, bool PACKED, class In, class Team, class Else = NothingElse>
DEVICE void row(const In& in, const T* weight, const T* bias, T* out, u64 r, u64 length, const NormMap& m, Team& team,
                const Else& also = Else{}) {
    constexpr u32 N = elements_per_thread<PACKED>(), OWN = N / SPAN;
    const u64 chunk = (u64)N * team.width;
    const bool held = m.length <= chunk;
    C x[N];
    C mean = 0;
    if (CENTRED) {
        C sum = 0;
        for (u64 first = 0; first < m.length; first += chunk) {
            const Stretch<PACKED> s = stretch<PACKED, N>(first, length, team);
            in.read(x, first < length ? first : 0, s);
            C total = 0;
            UNROLL
            for (u32 p = 0; p < OWN; p++) {
                if (!s.used(p)) continue;
                C part = 0;
                UNROLL
                for (u32 i = p * SPAN; i < (p + 1) * SPAN; i++) part += x[i];
                total += part;
            }
            sum += total;
        }
        mean = team.template all<Add>(sum) / (C)m.length;
    }
    C squares = 0;
    for (u64 first = 0; first < m.length; first += chunk) {
        const Stretch<PACKED> s = stretch<PACKED, N>(first, length, team);
        if (!CENTRED) in.read(x, first < length ? first : 0, s);
        else if (!held) in.again(x, first < length ? first : 0, s);
        C total = 0;
        UNROLL
        for (u32 p = 0; p < OWN; p++) {
            if (!s.used(p)) continue;
            const Stretch<PACKED> own = opaque(s);
            C part = 0;
            UNROLL
            for (u32 i = 0; i < SPAN; i++) {
                const C d = x[p * SPAN + i] - mean;
                part += own.there(p, i) ? d * d : C(0);
            }
            total += part;
        }
        squares += total;
    }
    const C variance = team.template all<Add>(squares) / (C)m.length;
    const C factor = C(1) / m_sqrt(variance + (C)m.eps);
    const Channels<GROUPS> channels = {GROUPS ? r % m.groups * (m.length / m.inner) : 0, m.inner};
    const bool weighted = (m.flags & HAS_WEIGHT) != 0, biased = (m.flags & HAS_BIAS) != 0;
    for (u64 first = 0; first < length; first += chunk) {
        const Stretch<PACKED> s = stretch<PACKED, N>(first, length, team);
        if (!held) in.again(x, first, s);
        UNROLL
        for (u32 p = 0; p < OWN; p++) {
            if (!s.used(p)) continue;
            UNROLL
            for (u32 i = p * SPAN; i < (p + 1) * SPAN; i++) x[i] = (x[i] - mean) * factor;
        }
        if (weighted) with_parameters<Multiply>(x, weight, channels, first, s);
        if (CENTRED && biased) with_parameters<Add>(x, bias, channels, first, s);
        store(out + first, x, s);
        also.make(x, r * m.length + first, s);
    }
}
// With HALVES: rows of 16-bit elements that fit the registers of their threads. Weights and biases are loaded once for all rows of a block
// and kept as words. Weights alone stay in registers. Weights and biases together exceed the registers beside a row, so each thread then
// keeps its own in shared memory. Missing ones are replaced by 1 and -0, which change nothing.
#if defined(DTYPE_f16)
static constexpr u32 ONES = 0x3c003c00u, MINUS_ZEROS = 0x80008000u;
#else
static constexpr u32 ONES = 0x3f803f80u, MINUS_ZEROS = 0x80008000u;
#endif
struct Kept { Words weight[PACKS]; };
DEVICE Words* kept_slots() {
    __shared__ Words slots[2 * PACKS * MAX_BLOCK];
    return slots + threadIdx.x;
}
DEVICE Words kept_words(const T* from, bool given, u32 otherwise, const Stretch<true>& s, u32 p) {
    if (given) return words_of(raw_pack(from, opaque(s), p));
    Words out;
    UNROLL
    for (u32 w = 0; w < WORDS; w++) out.at[w] = otherwise;
    return out;
}
template <bool CENTRED> DEVICE void keep(Kept& kept, const T* weight, const T* bias, const NormMap& m, const Stretch<true>& s) {
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        kept.weight[p] = kept_words(weight, (m.flags & HAS_WEIGHT) != 0, ONES, s, p);
        if (CENTRED) {
            kept_slots()[p * MAX_BLOCK] = kept.weight[p];
            kept_slots()[(PACKS + p) * MAX_BLOCK] = kept_words(bias, (m.flags & HAS_BIAS) != 0, MINUS_ZEROS, s, p);
        }
    }
}
// `inverse` is 1 / length. `length` is 0 for lanes without a row.
template <bool CENTRED, class In, class Team>
DEVICE void kept_row(const In& in, const Kept& kept, T* out, u64 length, C inverse, C eps, Team& team) {
    const Stretch<true> s = stretch<true>(0, length, team);
    C x[HELD];
    in.read(x, 0, s);
    C mean = 0;
    if (CENTRED) {
        C sum = 0;
        UNROLL
        for (u32 p = 0; p < PACKS; p++) {
            if (Team::SHORT && !s.used(p)) break;
            C part = 0;
            UNROLL
            for (u32 i = 0; i < SPAN; i++) part += x[p * SPAN + i];
            sum += part;
        }
        mean = team.template all<Add>(sum) * inverse;
    }
    C squares = 0;
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        if (Team::SHORT && !s.used(p)) break;
        C part = 0;
        UNROLL
        for (u32 i = 0; i < SPAN; i++) {
            C& v = x[p * SPAN + i];
            v -= mean;
            part = multiply_add(v, v, part);
        }
        squares += opaque(s).there(p, 0) ? part : C(0);
    }
    const C factor = rsqrtf(multiply_add(team.template all<Add>(squares), inverse, eps));
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        const Stretch<true> own = opaque(s);
        if (!own.there(p, 0)) break;
        Words out_words, weights = kept.weight[p], biases = {};
        if (CENTRED) weights = kept_slots()[p * MAX_BLOCK], biases = kept_slots()[(PACKS + p) * MAX_BLOCK];
        UNROLL
        for (u32 w = 0; w < WORDS; w++) {
            C low, high, low_bias, high_bias;
            const C v = x[p * SPAN + 2 * w] * factor, next = x[p * SPAN + 2 * w + 1] * factor;
            widen_halves<T>(opaque_after(weights.at[w], factor), low, high);
            if (CENTRED) {
                widen_halves<T>(biases.at[w], low_bias, high_bias);
                out_words.at[w] = narrow_halves<T>(multiply_add(v, low, low_bias), multiply_add(next, high, high_bias));
            } else {
                out_words.at[w] = narrow_halves<T>(v * low, next * high);
            }
        }
        write_pack((u32*)(out + own.at(p, 0)), out_words);
    }
}

template <bool CENTRED, bool GROUPS, bool PACKED, class In, class Else = NothingElse>
DEVICE void long_rows(const In& in, const T* weight, const T* bias, T* out, const NormMap& m, const Else& also = Else{}) {
    Block team = {threadIdx.x, blockDim.x, 0};
    if constexpr (HALVES && PACKED && !GROUPS) {
        if (m.length <= (u64)HELD * team.width) {
            Kept kept;
            keep<CENTRED>(kept, weight, bias, m, stretch<true>(0, m.length, team));
            const C inverse = C(1) / (C)m.length, eps = (C)m.eps;
            for (u64 r = blockIdx.x; r < m.rows; r += gridDim.x)
                kept_row<CENTRED>(in.from(row_offset(m, r)), kept, out + r * m.length, m.length, inverse, eps, team);
            return;
        }
    }
    for (u64 r = blockIdx.x; r < m.rows; r += gridDim.x)
        row<CENTRED, GROUPS, PACKED>(in.from(row_offset(m, r)), weight, bias, out + r * m.length, r, m.length, m, team, also);
}
template <bool CENTRED, bool GROUPS, bool PACKED, class In>
DEVICE void short_rows(const In& in, const T* weight, const T* bias, T* out, const NormMap& m) {
    const Teams teams(m.length);
    Lanes team = teams.lanes();
    if constexpr (HALVES && PACKED && !GROUPS) {
        if (m.length <= (u64)HELD * team.width) {
            Kept kept;
            keep<CENTRED>(kept, weight, bias, m, stretch<true>(0, m.length, team));
            const C inverse = C(1) / (C)m.length, eps = (C)m.eps;
            for (u64 first = (u64)blockIdx.x * teams.count(); first < m.rows; first += (u64)gridDim.x * teams.count()) {
                const bool there = first + teams.number() < m.rows;
                const u64 r = there ? first + teams.number() : 0;
                kept_row<CENTRED>(in.from(row_offset(m, r)), kept, out + r * m.length, there ? m.length : 0, inverse, eps, team);
            }
            return;
        }
    }
    for (u64 first = (u64)blockIdx.x * teams.count(); first < m.rows; first += (u64)gridDim.x * teams.count()) {
        const bool there = first + teams.number() < m.rows;
        const u64 r = there ? first + teams.number() : 0;
        row<CENTRED, GROUPS, PACKED>(in.from(row_offset(m, r)), weight, bias, out + r * m.length, r, there ? m.length : 0, m, team);
    }
}

template <bool GROUPS>
DEVICE bool is_packed(const T* in, const T* weight, const T* bias, const T* out, const NormMap& m) {
    const bool parameters = GROUPS || (is_aligned<T, SPAN>(weight) && is_aligned<T, SPAN>(bias));
    return parameters && rows_are_packed(in, out, m);
}

// ---- channels ---------------------------------------------------------------------------------------------------------
struct Channel { C mean, factor, weight, bias; };
struct ChannelArrays { const T *mean, *variance, *weight, *bias; };
DEVICE Channel channel_of(const ChannelArrays& a, u64 i, const BatchMap& m) {
    const u64 outer = quotient(i, m.inner), c = outer - quotient(outer, m.channels) * m.channels;
    const bool weighted = (m.flags & HAS_WEIGHT) != 0, biased = (m.flags & HAS_BIAS) != 0;
    const C factor = C(1) / m_sqrt(widen(a.variance[c]) + (C)m.eps);
    return Channel{widen(a.mean[c]), factor, weighted ? widen(a.weight[c]) : C(1), biased ? widen(a.bias[c]) : C(0)};
}
DEVICE T batch_one(T x, const Channel& c) { return narrow<T>((widen(x) - c.mean) * c.factor * c.weight + c.bias); }
DEVICE void batch(const T* in, const ChannelArrays& arrays, T* out, const BatchMap& m) {
    const bool packed = is_aligned<T, SPAN>(in) && is_aligned<T, SPAN>(out);
    const bool together = m.inner % SPAN == 0;
    for (u64 i = thread_number() * SPAN; i < m.count; i += thread_count() * SPAN) {
        if (packed && together) {
            const Channel c = channel_of(arrays, i, m);
            Pack<T, SPAN> pack = load_pack<SPAN>(in + i);
            UNROLL
            for (u32 j = 0; j < SPAN; j++) pack.at[j] = batch_one(pack.at[j], c);
            write_pack(out + i, pack);
        } else {
            for (u64 j = i; j < m.count && j < i + SPAN; j++) out[j] = batch_one(in[j], channel_of(arrays, j, m));
        }
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define NORM(op, CENTRED, GROUPS, BLOCKS, SHORT_BLOCKS)                                                                                  \
    ROWS_KERNEL(BLOCKS, PASTE4(norm_, op, _, DTYPE), const T* in, const T* weight, const T* bias, T* out, NormMap map) {     \
        if (is_packed<GROUPS>(in, weight, bias, out, map)) long_rows<CENTRED, GROUPS, true>(Plain{in}, weight, bias, out, map);   \
        else long_rows<CENTRED, GROUPS, false>(Plain{in}, weight, bias, out, map);                                                \
    }                                                                                                                      \
    ROWS_KERNEL(SHORT_BLOCKS, PASTE4(norm_, op, _short_, DTYPE), const T* in, const T* weight, const T* bias, T* out, NormMap map) { \
        if (is_packed<GROUPS>(in, weight, bias, out, map)) short_rows<CENTRED, GROUPS, true>(Plain{in}, weight, bias, out, map);  \
        else short_rows<CENTRED, GROUPS, false>(Plain{in}, weight, bias, out, map);                                               \
    }
NORM(layer, true, false, 4, 3)
NORM(rms, false, false, 3, 3)
NORM(group, true, true, 2, 2)
// x becomes x + other, and out the norm of that. x and other are tight.
ROWS_KERNEL(2, PASTE4(norm_, add_rms, _, DTYPE), T* x, const T* other, const T* weight, T* out, NormMap map) {
    const bool packed = is_packed<false>(x, weight, other, out, map);
    if (packed) long_rows<false, false, true>(Sums{x, other}, weight, weight, out, map);
    else long_rows<false, false, false>(Sums{x, other}, weight, weight, out, map);
}
ROWS_KERNEL(3, PASTE4(norm_, add_rms, _short_, DTYPE), T* x, const T* other, const T* weight, T* out, NormMap map) {
    const bool packed = is_packed<false>(x, weight, other, out, map);
    if (packed) short_rows<false, false, true>(Sums{x, other}, weight, weight, out, map);
    else short_rows<false, false, false>(Sums{x, other}, weight, weight, out, map);
}
#if defined(DTYPE_f32)
KERNEL(PASTE4(norm_, add_rms_rounded, _, DTYPE), T* x, const T* other, const T* weight, T* out, u8* rounded, NormMap map, u64 scales,
       u64 sums) {
    long_rows<false, false, true>(Sums{x, other}, weight, weight, out, map, AlsoRounded{{rounded, scales, sums}});
}
#endif
KERNEL(PASTE4(norm_, batch, _, DTYPE), const T* in, const T* mean, const T* variance, const T* weight, const T* bias, T* out,
       BatchMap map) {
    batch(in, ChannelArrays{mean, variance, weight, bias}, out, map);
}

} // namespace hipstack
