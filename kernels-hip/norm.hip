//! Normalisation: of rows by their mean and variance or by their mean square, and of channels by given numbers.
//
// norm_layer, norm_rms, norm_group:                   one block for one row. Launch: one-dimensional, block a multiple of 64, at most 256.
// norm_layer_short, norm_rms_short, norm_group_short: some lanes of a wave for one row, several rows a block. Launch: as above.
// norm_batch:                                         a thread for 16 bytes. Launch: one-dimensional, any block up to 256.
// Blocks stride over the work, so any grid is right, and any row kernel gives what the other may give: src/launch/norm.rs.
//
// y = (x - mean) / sqrt(variance + eps) * weight + bias; rms has no mean and no bias. The variance is the mean of the squares of
// x - mean, summed after the mean is known: nothing cancels. Computed in f32, f64 for f64, and rounded once.
// Outputs are tight. A row whose elements fit the threads' registers is read once, a longer one each time that it is needed.
#include "portable.hpp"

namespace hipstack {

// Row r begins at the offset of r in the dims; its elements lie side by side. Its element i belongs to channel
// r % groups * (length / inner) + i / inner of weight and bias, which are tight.
struct NormMap {
    u64 rows, length, groups, inner;
    f64 eps;
    u32 flags, rank;
    u64 dims[MAX_RANK], strides[MAX_RANK];
};
SIZE(NormMap, 176) OFFSET(NormMap, eps, 32) OFFSET(NormMap, rank, 44) OFFSET(NormMap, dims, 48) OFFSET(NormMap, strides, 112)
static constexpr u32 HAS_WEIGHT = 1, HAS_BIAS = 2;

// All tight: element i belongs to channel i / inner % channels.
struct BatchMap {
    u64 count, channels, inner;
    f64 eps;
    u64 flags;
};
SIZE(BatchMap, 40) OFFSET(BatchMap, eps, 24) OFFSET(BatchMap, flags, 32)

// Elements of one 16-byte access, elements that a thread keeps in registers, and accesses that bring them.
static constexpr u32 SPAN = 16 / sizeof(T);
static constexpr u32 HELD = sizeof(T) == 8 ? 16 : 32;
static constexpr u32 PACKS = HELD / SPAN;
// Lanes that exchange values.
static constexpr u32 LANES = 32;
// ---- threads that share a row, as in softmax.hip ------------------------------------------------------------------------
struct Add { static METHOD C join(C a, C b) { return a + b; } };

// `width` lanes, a power of two up to LANES. All lanes of the wave call `all`.
struct Lanes {
    u32 lane, width;
    template <class Op> METHOD C all(C v) {
        for (u32 mask = width >> 1; mask > 0; mask >>= 1) v = Op::join(v, shuffle_xor(v, mask));
        return v;
    }
};
DEVICE C* block_values() {
    __shared__ C values[2 * MAX_BLOCK / LANES];
    return values;
}
// All threads of the block. The order of joining does not depend on the wave size; two sets of values make one barrier enough.
struct Block {
    u32 lane, width, turn;
    template <class Op> METHOD C all(C v) {
        C* const values = block_values() + (turn++ & 1u) * (MAX_BLOCK / LANES);
        for (u32 mask = LANES / 2; mask > 0; mask >>= 1) v = Op::join(v, shuffle_xor(v, mask));
        if ((lane & (LANES - 1)) == 0) values[lane / LANES] = v;
        __syncthreads();
        v = values[0];
        for (u32 other = 1; other * LANES < width; other++) v = Op::join(v, values[other]);
        return v;
    }
};

// The next `count` elements of a row, dealt out to `width` threads: 16 bytes each in turn, or one element each.
struct Stretch {
    u32 count, lane, width;
    bool packed;
    METHOD bool used(u32 pack) const { return pack * width * SPAN < count; }
    METHOD u32 at(u32 pack, u32 i) const {
        return packed ? (pack * width + lane) * SPAN + i : (pack * SPAN + i) * width + lane;
    }
};
// The same in a register of its own: compilers otherwise compute the places of all elements once and keep them, for which there are not
// enough registers.
DEVICE Stretch anew(Stretch s) {
#if ON_AMD
    asm volatile("" : "+v"(s.lane));
#elif ON_NVIDIA
    asm volatile("" : "+r"(s.lane));
#endif
    return s;
}
DEVICE Stretch stretch(u64 first, u64 length, u32 lane, u32 width, bool packed) {
    const u64 left = length > first ? length - first : 0;
    return Stretch{left < (u64)HELD * width ? (u32)left : HELD * width, lane, width, packed};
}
// What is not there becomes 0.
DEVICE void load(C (&x)[HELD], const T* row, const Stretch& all) {
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        const Stretch s = anew(all);
        if (s.packed && s.at(p, 0) < s.count) {
            const Pack<T, SPAN> pack = load_pack<SPAN>(row + s.at(p, 0));
            UNROLL
            for (u32 i = 0; i < SPAN; i++) x[p * SPAN + i] = widen(pack.at[i]);
        } else {
            UNROLL
            for (u32 i = 0; i < SPAN; i++) {
                const bool there = !s.packed && s.at(p, i) < s.count;
                x[p * SPAN + i] = there ? widen(row[there ? s.at(p, i) : 0]) : C(0);
            }
        }
    }
}
DEVICE void store(T* row, const C (&y)[HELD], const Stretch& all) {
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        const Stretch s = anew(all);
        if (s.packed) {
            if (s.at(p, 0) >= s.count) continue;
            Pack<T, SPAN> pack;
            UNROLL
            for (u32 i = 0; i < SPAN; i++) pack.at[i] = narrow<T>(y[p * SPAN + i]);
            store_pack(row + s.at(p, 0), pack);
        } else {
            UNROLL
            for (u32 i = 0; i < SPAN; i++)
                if (s.at(p, i) < s.count) row[s.at(p, i)] = narrow<T>(y[p * SPAN + i]);
        }
    }
}

// ---- weights ----------------------------------------------------------------------------------------------------------
// A quotient; 64 bits cost several times more than 32.
DEVICE u64 quotient(u64 a, u64 b) { return (a | b) >> 32 == 0 ? (u32)a / (u32)b : a / b; }

// How channels are found: by row and element, or simply by element.
template <bool GROUPS> struct Channels {
    u64 first, inner;
    METHOD u64 of(u64 i) const { return GROUPS ? first + quotient(i, inner) : i; }
};

// The channels' numbers for elements `first + at(p, 0)` and so on, or `otherwise` if there are none.
template <bool GROUPS>
DEVICE void parameters(C (&w)[SPAN], const T* from, bool given, C otherwise, const Channels<GROUPS>& channels, u64 first,
                       const Stretch& s, u32 p) {
    const bool whole = given && s.packed && s.at(p, 0) < s.count;
    if (!GROUPS && whole && is_aligned<T, SPAN>(from)) {
        const Pack<T, SPAN> pack = load_pack<SPAN>(from + first + s.at(p, 0));
        UNROLL
        for (u32 i = 0; i < SPAN; i++) w[i] = widen(pack.at[i]);
    } else if (GROUPS && whole && channels.inner % SPAN == 0) {
        const C one = widen(from[channels.of(first + s.at(p, 0))]);
        UNROLL
        for (u32 i = 0; i < SPAN; i++) w[i] = one;
    } else {
        UNROLL
        for (u32 i = 0; i < SPAN; i++)
            w[i] = given && s.at(p, i) < s.count ? widen(from[channels.of(first + s.at(p, i))]) : otherwise;
    }
}

// ---- rows -------------------------------------------------------------------------------------------------------------
// `length` is 0 for lanes without a row; they take part in what the wave does together.
template <bool CENTRED, bool GROUPS, class Team>
DEVICE void row(const T* in, const T* weight, const T* bias, T* out, u64 r, u64 length, const NormMap& m, Team& team) {
    const u64 chunk = (u64)HELD * team.width;
    const bool packed = m.length % SPAN == 0 && is_aligned<T, SPAN>(in) && is_aligned<T, SPAN>(out);
    const bool held = m.length <= chunk;
    C x[HELD];
    C mean = 0;
    if (CENTRED) {
        C sum = 0;
        for (u64 first = 0; first < m.length; first += chunk) {
            const Stretch s = stretch(first, length, team.lane, team.width, packed);
            load(x, in + (first < length ? first : 0), s);
            C total = 0;
            UNROLL
            for (u32 p = 0; p < PACKS; p++) {
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
        const Stretch s = stretch(first, length, team.lane, team.width, packed);
        if (!CENTRED || !held) load(x, in + (first < length ? first : 0), s);
        C total = 0;
        UNROLL
        for (u32 p = 0; p < PACKS; p++) {
            if (!s.used(p)) continue;
            const Stretch own = anew(s);
            C part = 0;
            UNROLL
            for (u32 i = 0; i < SPAN; i++) {
                const C d = x[p * SPAN + i] - mean;
                part += own.at(p, i) < own.count ? d * d : C(0);
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
        const Stretch s = stretch(first, length, team.lane, team.width, packed);
        if (!held) load(x, in + first, s);
        UNROLL
        for (u32 p = 0; p < PACKS; p++) {
            if (!s.used(p)) continue;
            const Stretch own = anew(s);
            C w[SPAN], b[SPAN];
            parameters<GROUPS>(w, weight, weighted, C(1), channels, first, own, p);
            if (CENTRED) parameters<GROUPS>(b, bias, biased, C(0), channels, first, own, p);
            UNROLL
            for (u32 i = 0; i < SPAN; i++) {
                const C z = (x[p * SPAN + i] - mean) * factor * w[i];
                x[p * SPAN + i] = CENTRED ? z + b[i] : z;
            }
        }
        store(out + first, x, s);
    }
}
DEVICE u64 row_offset(const NormMap& m, u64 r) { return offsets(r, m.rows, m.rank, m.dims, m.strides, m.strides).a; }

template <bool CENTRED, bool GROUPS>
DEVICE void long_rows(const T* in, const T* weight, const T* bias, T* out, const NormMap& m) {
    Block team = {threadIdx.x, blockDim.x, 0};
    for (u64 r = blockIdx.x; r < m.rows; r += gridDim.x)
        row<CENTRED, GROUPS>(in + row_offset(m, r), weight, bias, out + r * m.length, r, m.length, m, team);
}
template <bool CENTRED, bool GROUPS>
DEVICE void short_rows(const T* in, const T* weight, const T* bias, T* out, const NormMap& m) {
    u32 width = 1;
    while (width < LANES && (u64)width * SPAN < m.length) width *= 2;
    Lanes team = {threadIdx.x & (width - 1), width};
    const u32 teams = blockDim.x / width;
    for (u64 first = (u64)blockIdx.x * teams; first < m.rows; first += (u64)gridDim.x * teams) {
        const bool there = first + threadIdx.x / width < m.rows;
        const u64 r = there ? first + threadIdx.x / width : 0;
        row<CENTRED, GROUPS>(in + row_offset(m, r), weight, bias, out + r * m.length, r, there ? m.length : 0, m, team);
    }
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
            store_pack(out + i, pack);
        } else {
            for (u64 j = i; j < m.count && j < i + SPAN; j++) out[j] = batch_one(in[j], channel_of(arrays, j, m));
        }
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define NORM(op, CENTRED, GROUPS)                                                                                          \
    KERNEL(PASTE4(norm_, op, _, DTYPE), const T* in, const T* weight, const T* bias, T* out, NormMap map) {                \
        long_rows<CENTRED, GROUPS>(in, weight, bias, out, map);                                                            \
    }                                                                                                                      \
    KERNEL(PASTE4(norm_, op, _short_, DTYPE), const T* in, const T* weight, const T* bias, T* out, NormMap map) {          \
        short_rows<CENTRED, GROUPS>(in, weight, bias, out, map);                                                           \
    }
NORM(layer, true, false)
NORM(rms, false, false)
NORM(group, true, true)
KERNEL(PASTE4(norm_, batch, _, DTYPE), const T* in, const T* mean, const T* variance, const T* weight, const T* bias, T* out,
       BatchMap map) {
    batch(in, ChannelArrays{mean, variance, weight, bias}, out, map);
}

} // namespace hipstack
