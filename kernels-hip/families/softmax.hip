//! Softmax and log-softmax along one axis: rows in registers, long rows, columns.
//
// softmax_rows, softmax_log_rows:   a block for each row. Launch: one-dimensional, block a multiple of 64 and at most 256.
// softmax_short, softmax_log_short: some lanes of a wave for each row, several rows a block. Launch: as above.
// softmax_cols, softmax_log_cols:   a block for 32 neighbouring columns, whose rows are divided among its groups of 32 threads. Launch: as
// above.
// Blocks stride over the work, so any grid is right. Short and block kernels give interchangeable results; src/launch/norm.rs chooses.
//
// y = e^(x - m) / s and y = (x - m) - ln s, where m is the maximum and s the sum of e^(x - m). Computed in f32, f64 for f64, and rounded
// once. If a row has a NaN, a +inf, or only -inf, s is NaN or the quotient 0/0, and the whole row becomes NaN; other rows are not affected.
// Outputs are tight. A row whose elements fit the registers of its threads is read once, a longer one twice.
#include "portable.hpp"
#include "rows.hpp"

namespace hipstack {

// Row r begins at the offset of r in the dims; its elements are contiguous.
struct RowMap {
    u64 rows, length;
    u32 rank, reserved;
    u64 dims[MAX_RANK], strides[MAX_RANK];
};
SIZE(RowMap, 152) OFFSET(RowMap, rank, 16) OFFSET(RowMap, dims, 24) OFFSET(RowMap, strides, 88)

// Column c begins at the offset of c in the dims; its elements are `step` apart. In the output they are `inner` apart, and `inner` columns
// are contiguous.
struct ColumnMap {
    u64 columns, length, inner, step;
    u32 rank, reserved;
    u64 dims[MAX_RANK], strides[MAX_RANK];
};
SIZE(ColumnMap, 168) OFFSET(ColumnMap, rank, 32) OFFSET(ColumnMap, dims, 40) OFFSET(ColumnMap, strides, 104)

// Elements of a column in flight in a thread. With eight of 8 bytes clang 22 takes 142 vector registers on gfx942, which limits occupancy
// to three waves.
static constexpr u32 BATCH = ON_AMD && sizeof(C) == 8 ? 4 : 8;

DEVICE C lowest() { return -from_bits(sizeof(C) == 8 ? (typename Dtype<C>::Wrap)0x7ff0000000000000ull : (typename Dtype<C>::Wrap)0x7f800000u); }

// The maximum. A NaN on the right is ignored, because the sum still propagates it; there is never one on the left.
struct Greater {
    static METHOD C join(C a, C b) {
        if constexpr (ON_NVIDIA && sizeof(C) == 4) return fmaxf(a, b);
        else return a < b ? b : a;
    }
};

// ---- sums of powers --------------------------------------------------------------------------------------------------
// The number that is subtracted. If all elements are -inf it is 0, so that the powers are 0 instead of NaN.
DEVICE C shift_of(C top) { return top == lowest() ? C(0) : top; }

// A thread's running sum of e^(x - base), and its maximum. The base is moved to the maximum only if that exceeds it by more than NEAR. The
// sum then shrinks so much that rounding errors do not accumulate, however often the base moves.
static constexpr u32 NEAR = 2;
struct Powers {
    C top, base, sum;
    template <u32 N> METHOD void add(const C (&x)[N]) {
        C most = lowest();
        UNROLL
        for (u32 i = 0; i < N; i++) most = Greater::join(most, x[i]);
        top = Greater::join(top, most);
        if (most > base + C(NEAR)) {
            sum *= m_exp(base - most);
            base = most;
        }
        const C shift = shift_of(base);
        C part = 0;
        UNROLL
        for (u32 i = 0; i < N; i++) part += m_exp(x[i] - shift);
        sum += part;
    }
    // The sum of e^(x - all), where `all` is the maximum over all threads.
    METHOD C relative_to(C all) const { return sum * m_exp(base - all); }
};
DEVICE Powers empty_powers() { return Powers{lowest(), lowest(), C(0)}; }

// e^(x - shift), scaled by a constant unless logarithms are taken of the sums. For results of 8 and 16 bits an approximation of exp2
// suffices (error 2^-18). The scale keeps precision where results become subnormal.
static constexpr f32 SCALE_LOG2 = 64.0f, SCALE = 18446744073709551616.0f;
template <bool LOG, class X> DEVICE X power_of(X x, X shift) {
    if constexpr (sizeof(T) < 4) return quick_exp2(multiply_add(x - shift, 1.4426950408889634f, LOG ? 0.0f : SCALE_LOG2));
    else return m_exp(x - shift);
}

// ---- rows ------------------------------------------------------------------------------------------------------------
// `length` is 0 for lanes without a row; they only take part in the shuffles.
template <bool LOG, bool PACKED, class Team>
DEVICE void row(const T* in, T* out, u64 length, const RowMap& m, Team& team) {
    constexpr u32 N = elements_per_thread<PACKED>(), OWN = N / SPAN;
    const u64 chunk = (u64)N * team.width;
    const bool held = m.length <= chunk;
    C x[N];
    C top, sum = 0;
    if (held) {
        const Stretch<PACKED> s = stretch<PACKED, N>(0, length, team);
        load(x, in, s, lowest());
        top = lowest();
        UNROLL
        for (u32 i = 0; i < N; i++) top = Greater::join(top, x[i]);
        top = team.template all<Greater>(top);
        const C shift = shift_of(top);
        UNROLL
        for (u32 p = 0; p < OWN; p++) {
            if (!s.used(p)) continue;
            C part = 0;
            UNROLL
            for (u32 i = p * SPAN; i < (p + 1) * SPAN; i++) {
                const C power = power_of<LOG>(x[i], shift);
                x[i] = LOG ? x[i] - shift : power;
                part += power;
            }
            sum += part;
        }
    } else {
        Powers powers = empty_powers();
        for (u64 first = 0; first < length; first += chunk) {
            load(x, in + first, stretch<PACKED, N>(first, length, team), lowest());
            powers.add(x);
        }
        top = team.template all<Greater>(powers.top);
        sum = powers.relative_to(top);
        if constexpr (!LOG && sizeof(T) < 4) sum *= SCALE;
    }
    sum = team.template all<Add>(sum);
    const C shift = shift_of(top), last = LOG ? m_log(sum) : C(1) / sum;
    for (u64 first = 0; first < length; first += chunk) {
        const Stretch<PACKED> s = stretch<PACKED, N>(first, length, team);
        if (!held) load(x, in + first, s, lowest());
        UNROLL
        for (u32 p = 0; p < OWN; p++) {
            if (!s.used(p)) continue;
            UNROLL
            for (u32 i = p * SPAN; i < (p + 1) * SPAN; i++) {
                const C v = held ? x[i] : LOG ? x[i] - shift : power_of<LOG>(x[i], shift);
                x[i] = LOG ? v - last : v * last;
            }
        }
        store(out + first, x, s);
    }
}
// With HALVES: a row of 16-bit elements that fits the registers of its threads.
#if defined(DTYPE_f16)
static constexpr u32 LOWEST_HALVES = 0xfc00fc00u;
#else
static constexpr u32 LOWEST_HALVES = 0xff80ff80u;
#endif
template <bool LOG, class Team> DEVICE void held_row(const T* in, T* out, u64 length, Team& team) {
    const Stretch<true> s = stretch<true>(0, length, team);
    Words raw[PACKS];
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        UNROLL
        for (u32 w = 0; w < WORDS; w++) raw[p].at[w] = LOWEST_HALVES;
        const Stretch<true> own = opaque(s);
        if (own.there(p, 0)) raw[p] = load_pack<WORDS>((const u32*)(in + own.at(p, 0)));
    }
    u32 most = LOWEST_HALVES;
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        UNROLL
        for (u32 w = 0; w < WORDS; w++) most = extreme_halves<T, false, false>(most, raw[p].at[w]);
    }
    Pack<T, SPAN> both = {};
    memcpy(&both, &most, sizeof(most));
    const C top = team.template all<Greater>(Greater::join(widen(both.at[0]), widen(both.at[1])));
    const C shift = shift_of(top);
    C x[HELD], sum = 0;
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        if (Team::SHORT && !s.used(p)) break;
        C part = 0;
        UNROLL
        for (u32 w = 0; w < WORDS; w++) {
            C* const two = x + p * SPAN + 2 * w;
            widen_halves<T>(opaque_after(raw[p].at[w], shift), two[0], two[1]);
            UNROLL
            for (u32 i = 0; i < 2; i++) {
                const C power = power_of<LOG>(two[i], shift);
                two[i] = LOG ? two[i] - shift : power;
                part += power;
            }
        }
        sum += part;
    }
    sum = team.template all<Add>(sum);
    const C last = LOG ? m_log(sum) : C(1) / sum;
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        const Stretch<true> own = opaque(s);
        if (!own.there(p, 0)) break;
        UNROLL
        for (u32 i = p * SPAN; i < (p + 1) * SPAN; i++) x[i] = LOG ? x[i] - last : x[i] * last;
        write_pack(out + own.at(p, 0), narrow_pack(x + p * SPAN));
    }
}

template <bool LOG, bool PACKED> DEVICE void long_rows(const T* in, T* out, const RowMap& m) {
    Block team = {threadIdx.x, blockDim.x, 0};
    if constexpr (HALVES && PACKED) {
        if (m.length <= (u64)HELD * team.width) {
            for (u64 r = blockIdx.x; r < m.rows; r += gridDim.x)
                held_row<LOG>(in + row_offset(m, r), out + r * m.length, m.length, team);
            return;
        }
    }
    for (u64 r = blockIdx.x; r < m.rows; r += gridDim.x)
        row<LOG, PACKED>(in + row_offset(m, r), out + r * m.length, m.length, m, team);
}
template <bool LOG, bool PACKED> DEVICE void short_rows(const T* in, T* out, const RowMap& m) {
    const Teams teams(m.length);
    Lanes team = teams.lanes();
    if constexpr (HALVES && PACKED) {
        if (m.length <= (u64)HELD * team.width) {
            for (u64 first = (u64)blockIdx.x * teams.count(); first < m.rows; first += (u64)gridDim.x * teams.count()) {
                const u64 r = first + teams.number();
                const bool there = r < m.rows;
                held_row<LOG>(in + row_offset(m, there ? r : 0), out + (there ? r : 0) * m.length, there ? m.length : 0, team);
            }
            return;
        }
    }
    for (u64 first = (u64)blockIdx.x * teams.count(); first < m.rows; first += (u64)gridDim.x * teams.count()) {
        const u64 r = first + teams.number();
        const bool there = r < m.rows;
        row<LOG, PACKED>(in + row_offset(m, there ? r : 0), out + (there ? r : 0) * m.length, there ? m.length : 0, m, team);
    }
}

// ---- columns ---------------------------------------------------------------------------------------------------------
// Two alternating sets of powers make one barrier for each tile sufficient.
DEVICE Powers* block_powers() {
    __shared__ Powers powers[2 * MAX_BLOCK];
    return powers;
}
template <bool LOG> DEVICE void columns(const T* in, T* out, const ColumnMap& m) {
    const u32 lane = threadIdx.x & (LANES - 1), slice = threadIdx.x / LANES, slices = blockDim.x / LANES;
    u32 turn = 0;
    for (u64 tile = blockIdx.x; tile * LANES < m.columns; tile += gridDim.x) {
        const u64 c = tile * LANES + lane;
        const bool there = c < m.columns;
        const u64 length = there ? m.length : 0;
        const T* const from = in + (there ? offsets(c, m.columns, m.rank, m.dims, m.strides, m.strides).a : 0);
        T* const to = out + (there ? c / m.inner * m.inner * m.length + c % m.inner : 0);
        Powers powers = empty_powers();
        for (u64 i = (u64)slice * BATCH; i < length; i += (u64)slices * BATCH) {
            C x[BATCH];
            UNROLL
            for (u32 k = 0; k < BATCH; k++) x[k] = i + k < length ? widen(from[(i + k) * m.step]) : lowest();
            powers.add(x);
        }
        Powers* const all = block_powers() + (turn++ & 1u) * MAX_BLOCK;
        all[threadIdx.x] = powers;
        __syncthreads();
        C top = all[lane].top, sum = 0;
        for (u32 k = 1; k < slices; k++) top = Greater::join(top, all[k * LANES + lane].top);
        for (u32 k = 0; k < slices; k++) sum += all[k * LANES + lane].relative_to(top);
        const C shift = shift_of(top), last = LOG ? m_log(sum) : C(1) / sum;
        for (u64 i = (u64)slice * BATCH; i < length; i += (u64)slices * BATCH) {
            UNROLL
            for (u32 k = 0; k < BATCH; k++) {
                if (i + k >= length) continue;
                const C d = widen(from[(i + k) * m.step]) - shift;
                to[(i + k) * m.inner] = narrow<T>(LOG ? d - last : m_exp(d) * last);
            }
        }
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define SOFTMAX(prefix, LOG)                                                                                         \
    ROWS_KERNEL(3, PASTE4(softmax_, prefix, rows_, DTYPE), const T* in, T* out, RowMap map) {     \
        rows_are_packed(in, out, map) ? long_rows<LOG, true>(in, out, map) : long_rows<LOG, false>(in, out, map);     \
    }                                                                                                                \
    ROWS_KERNEL(3, PASTE4(softmax_, prefix, short_, DTYPE), const T* in, T* out, RowMap map) {    \
        rows_are_packed(in, out, map) ? short_rows<LOG, true>(in, out, map) : short_rows<LOG, false>(in, out, map);   \
    }                                                                                                                \
    KERNEL(PASTE4(softmax_, prefix, cols_, DTYPE), const T* in, T* out, ColumnMap map) { columns<LOG>(in, out, map); }
SOFTMAX(, false)
SOFTMAX(log_, true)

} // namespace hipstack
