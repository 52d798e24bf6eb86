//! Extremes of neighbouring columns of floats of 16 bits, by one 16-byte access a row.
//
// Included by reduce.hip.
namespace hipstack {

// HALF_COLUMNS neighbouring columns of floats of 16 bits, by one 16-byte access a row.
static constexpr u32 HALF_COLUMNS = 8;
// Rows of a part at most: their numbers fit 16 bits.
static constexpr u32 MOST_ROWS = 65536;
// The greatest ranks, and their first places, of the rows from begin to end, at most MOST_ROWS and at least one: as in half_spans.
template <class Op> DEVICE void half_rows(typename Op::Sum (&sum)[HALF_COLUMNS], const T* first, u64 begin, u64 end, u64 step) {
    typedef Pack<T, HALF_COLUMNS> P;
    // Rows that are read before the first is used.
    constexpr u32 HALF_ROWS = 8;
    i32 best[HALF_COLUMNS];
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) best[c] = least<i32>();
    u32 above = 0, number = 0xffffu;
#if HALVES
    u32 greatest_seen = 0; // NaN once one was there
#endif
    const auto take = [&](const P& x) {
        u32 words[HALF_COLUMNS / 2];
        memcpy(words, &x, sizeof(words));
        UNROLL
        for (u32 w = 0; w < HALF_COLUMNS / 2; w++) {
            const u32 word = words[w];
#if HALVES
            greatest_seen = extreme_halves<false, true>(greatest_seen, word);
#else
            above |= (word & 0x7fff7fffu) + (0x7fffu - INFINITE) * 0x10001u;
#endif
            const u32 ordered = word ^ (word >> 15 & 0x10001u) * 0x7fffu, ranks = Op::DOWN ? ~ordered : ordered;
            const i32 low = (i32)(ranks * 0x10000u + number), high = (i32)((ranks & 0xffff0000u) | number);
            best[2 * w] = low > best[2 * w] ? low : best[2 * w];
            best[2 * w + 1] = high > best[2 * w + 1] ? high : best[2 * w + 1];
        }
        number--;
    };
    const T* p = first + begin * step;
    u64 r = begin;
    NOT_UNROLLED
    for (; r + HALF_ROWS <= end; r += HALF_ROWS, p += HALF_ROWS * step) {
        P x[HALF_ROWS];
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) x[u] = load_pack<HALF_COLUMNS>(p + u * step);
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) take(x[u]);
    }
    NOT_UNROLLED
    for (; r < end; r++, p += step) take(load_pack<HALF_COLUMNS>(p));
#if HALVES
    above = (greatest_seen & 0x7fff7fffu) + (0x7fffu - INFINITE) * 0x10001u;
#endif
    if ((above & 0x80008000u) != 0) {
        UNROLL
        for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::none();
        NOT_UNROLLED
        for (r = begin; r < end; r++) {
            const P x = load_pack<HALF_COLUMNS>(first + r * step);
            UNROLL
            for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::join(sum[c], Op::of(x.at[c], r));
        }
        return;
    }
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) {
        if constexpr (Op::PLACES) {
            sum[c] = typename Op::Sum{best[c] >> 16, (u32)begin + (0xffffu - ((u32)best[c] & 0xffffu))};
        } else {
            sum[c] = best[c] >> 16;
        }
    }
}
#if HALVES
// The extremes alone: words of two elements are compared as they lie in memory.
template <class Op> DEVICE void half_rows_by_words(typename Op::Sum (&sum)[HALF_COLUMNS], const T* first, u64 begin, u64 end, u64 step) {
    constexpr u32 HALF_ROWS = 8, WORDS = HALF_COLUMNS / 2, ENDS = (INFINITE | (Op::DOWN ? 0u : 0x8000u)) * 0x10001u;
    typedef Pack<u32, WORDS> P;
    u32 best[WORDS];
    UNROLL
    for (u32 w = 0; w < WORDS; w++) best[w] = ENDS;
    const auto take = [&](const P& x) {
        UNROLL
        for (u32 w = 0; w < WORDS; w++) best[w] = extreme_halves<Op::DOWN, true>(best[w], x.at[w]);
    };
    const T* p = first + begin * step;
    u64 r = begin;
    NOT_UNROLLED
    for (; r + HALF_ROWS <= end; r += HALF_ROWS, p += HALF_ROWS * step) {
        P x[HALF_ROWS];
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) x[u] = load_pack<WORDS>((const u32*)(p + u * step));
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) take(x[u]);
    }
    NOT_UNROLLED
    for (; r < end; r++, p += step) take(load_pack<WORDS>((const u32*)p));
    T both[HALF_COLUMNS];
    memcpy(both, best, sizeof(both));
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::of(both[c], 0);
}
#endif

} // namespace hipstack
