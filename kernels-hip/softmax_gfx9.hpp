//! Softmax and its logarithm on gfx9: of rows that the threads' registers hold, and batches of columns.
//
// Included by softmax.hip.
namespace hipstack {

// Whether elements stay in memory's format until they are needed for the second time: where one instruction widens them.
#if defined(DTYPE_bf16)
static constexpr bool WIDENED_TWICE = true;
#else
static constexpr bool WIDENED_TWICE = false;
#endif

template <bool LOG, class Team> DEVICE void held_row(const T* in, T* out, u64 length, bool there, Team& team) {
    const HeldRow row(length, there, team);
    Pack<T, SPAN> raw[PACKS];
    read_row(raw, in, row, lowest());
    C x[HELD], top = lowest();
    u32 packs = shared_anew(row.packs);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        if constexpr (!WIDENED_TWICE && sizeof(T) < 4) forget(x + p * SPAN, SPAN);
        if constexpr (sizeof(T) >= 4) {
            UNROLL
            for (u32 i = 0; i < SPAN; i++) x[p * SPAN + i] = widen(raw[p].at[i]);
        }
        if (p >= packs) continue;
        UNROLL
        for (u32 i = 0; i < SPAN; i++) {
            const C v = widen(raw[p].at[i]);
            if constexpr (!WIDENED_TWICE && sizeof(T) < 4) x[p * SPAN + i] = v;
            top = Greater::join(top, v);
        }
    }
    top = team.template all<Greater>(top);
    const C shift = shift_of(top);
    const Exponential<C> exponential{};
    C sum = 0;
    packs = shared_anew(row.packs);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        if constexpr (WIDENED_TWICE) forget(x + p * SPAN, SPAN);
        if (p >= packs) continue;
        C part = 0;
        if constexpr (WIDENED_TWICE) { IN_TURN(raw[p]) }
        UNROLL
        for (u32 i = 0; i < SPAN; i++) {
            C& v = x[p * SPAN + i];
            if constexpr (WIDENED_TWICE) v = widen(raw[p].at[i]);
            const C power = power_of<LOG>(v, shift, exponential);
            v = LOG ? v - shift : power;
            part += power;
            IN_TURN(part)
        }
        // In 8 bits what is not there is the least number, not -inf.
        sum += sizeof(T) > 1 || row.there(row.at(p)) ? part : C(0);
    }
    sum = team.template all<Add>(sum);
    const C last = LOG ? log_of(sum) : C(1) / sum;
    packs = shared_anew(row.packs);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        if (p >= packs) continue;
        UNROLL
        for (u32 i = p * SPAN; i < (p + 1) * SPAN; i++) x[i] = LOG ? x[i] - last : x[i] * last;
        write_held(out, x + p * SPAN, row, p);
    }
}

// A batch of a column from place `at` on, of whose elements `left` are there; the others become `lowest`. Places are numbers of their own: else
// compilers keep one for each element of a batch, and each multiple of `step`.
DEVICE void read_batch(C (&x)[BATCH], const T* from, u64 at, u64 left, u64 step) {
    at = by_lanes(at);
    if (left >= BATCH) {
        UNROLL
        for (u32 k = 0; k < BATCH; k++, at = by_lanes(at + step)) x[k] = widen(from[at]);
    } else {
        UNROLL
        for (u32 k = 0; k < BATCH; k++, at = by_lanes(at + step)) x[k] = k < left ? widen(from[at]) : lowest();
    }
}
template <bool LOG> DEVICE T column_result(C x, C shift, C last, const Exponential<C>& exponential) {
    C d = x - shift;
    IN_TURN(d)
    C y = LOG ? d - last : exponential.of(d) * last;
    IN_TURN(y)
    return narrow<T>(y);
}
// The results of such a batch.
template <bool LOG>
DEVICE void write_batch(T* to, const C (&x)[BATCH], u64 at, u64 left, u64 step, C shift, C last, const Exponential<C>& exponential) {
    at = by_lanes(at);
    if (left >= BATCH) {
        UNROLL
        for (u32 k = 0; k < BATCH; k++, at = by_lanes(at + step)) to[at] = column_result<LOG>(x[k], shift, last, exponential);
    } else {
        UNROLL
        for (u32 k = 0; k < BATCH; k++, at = by_lanes(at + step)) {
            if (k < left) to[at] = column_result<LOG>(x[k], shift, last, exponential);
        }
    }
}

} // namespace hipstack
