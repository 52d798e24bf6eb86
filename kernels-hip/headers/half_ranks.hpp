//! Extremes of floats of 16 bits by integers: of spans of a row, and of neighbouring columns by one 16-byte access a row.
//
// A rank of 16 bits (reductions.hpp) above, and below it the number of its element, counted down, are one number of 32 bits: the greatest has
// the greatest rank, and of equals the first element. What joins so gives what Op::join gives, unless there is a NaN: then Op::join does it.
//
// Included by reduce.hip.
namespace hipstack {

// Of a word of two elements: bits 15 and 31 of nans_of say which are NaN, or of several words' joined by `or` whether any is.
static constexpr u32 NANS = 0x80008000u;
DEVICE u32 nans_of(u32 word) { return (word & 0x7fff7fffu) + (0x7fffu - INFINITE) * 0x10001u; }
// Their ranks.
template <class Op> DEVICE u32 ranks_of(u32 word) {
    const u32 ordered = word ^ (word >> 15 & 0x10001u) * 0x7fffu;
    return Op::DOWN ? ~ordered : ordered;
}
// What was found: place_of(number) is the place of that element.
template <class Op, class IndexOf> DEVICE typename Op::Sum unpack_best(i32 best, IndexOf index_of) {
    if constexpr (Op::INDEXED) return typename Op::Sum{best >> 16, index_of(0xffffu - ((u32)best & 0xffffu))};
    else return best >> 16;
}

// The greatest rank of U spans, and its first place. One word holds two elements, whose ranks are made together.
template <class Op, u32 U, u32 SPAN> DEVICE typename Op::Sum half_spans(const Pack<T, SPAN> (&pack)[U], const T* p, u64 first, u64 step) {
    i32 best = least<i32>();
    u32 nans = 0;
    UNROLL
    for (u32 u = 0; u < U; u++) {
        u32 words[SPAN / 2];
        memcpy(words, &pack[u], sizeof(words));
        UNROLL
        for (u32 w = 0; w < SPAN / 2; w++) {
            const u32 word = words[w], number = 0xffffu - (u * SPAN + 2 * w);
            nans |= nans_of(word);
            const u32 ranks = ranks_of<Op>(word);
            const i32 low = (i32)(Op::INDEXED ? ranks << 16 | number : ranks << 16);
            const i32 high = (i32)(Op::INDEXED ? (ranks & 0xffff0000u) | (number - 1) : ranks);
            best = low > best ? low : best;
            best = high > best ? high : best;
        }
    }
    if ((nans & NANS) != 0) {
        typename Op::Sum sum = Op::identity();
        ROLLED
        for (u32 k = 0; k < U * SPAN; k++) {
            const u64 at = k / SPAN * step + k % SPAN;
            sum = Op::join(sum, Op::of(p[at], first + at));
        }
        return sum;
    }
    return unpack_best<Op>(best, [&](u32 k) { return (u32)(first + k / SPAN * step + k % SPAN); });
}

// HALF_COLUMNS neighbouring columns of floats of 16 bits, by one 16-byte access a row.
static constexpr u32 HALF_COLUMNS = 8;
// Rows of a part at most: their numbers fit 16 bits.
static constexpr u32 MAX_ROWS = 65536;
// The greatest ranks, and their first places, of the rows from begin to end, at most MOST_ROWS and at least one: as in half_spans.
template <class Op> DEVICE void half_rows(typename Op::Sum (&sum)[HALF_COLUMNS], const T* first, u64 begin, u64 end, u64 step) {
    typedef Pack<T, HALF_COLUMNS> P;
    // Rows that are read before the first is used.
    constexpr u32 HALF_ROWS = 8;
    i32 best[HALF_COLUMNS];
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) best[c] = least<i32>();
    u32 nans = 0, number = 0xffffu;
    u32 greatest_seen = 0; // with HALVES in place of nans: NaN once one was there
    const auto take = [&](const P& x) {
        u32 words[HALF_COLUMNS / 2];
        memcpy(words, &x, sizeof(words));
        UNROLL
        for (u32 w = 0; w < HALF_COLUMNS / 2; w++) {
            const u32 word = words[w];
            if constexpr (HALVES) greatest_seen = extreme_halves<T, false, true>(greatest_seen, word);
            else nans |= nans_of(word);
            const u32 ranks = ranks_of<Op>(word);
            const i32 low = (i32)(ranks * 0x10000u + number), high = (i32)((ranks & 0xffff0000u) | number);
            best[2 * w] = low > best[2 * w] ? low : best[2 * w];
            best[2 * w + 1] = high > best[2 * w + 1] ? high : best[2 * w + 1];
        }
        number--;
    };
    const T* p = first + begin * step;
    u64 r = begin;
    ROLLED
    for (; r + HALF_ROWS <= end; r += HALF_ROWS, p += HALF_ROWS * step) {
        P x[HALF_ROWS];
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) x[u] = load_pack<HALF_COLUMNS>(p + u * step);
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) take(x[u]);
    }
    ROLLED
    for (; r < end; r++, p += step) take(load_pack<HALF_COLUMNS>(p));
    if constexpr (HALVES) nans = nans_of(greatest_seen);
    if ((nans & NANS) != 0) {
        UNROLL
        for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::identity();
        ROLLED
        for (r = begin; r < end; r++) {
            const P x = load_pack<HALF_COLUMNS>(first + r * step);
            UNROLL
            for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::join(sum[c], Op::of(x.at[c], r));
        }
        return;
    }
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = unpack_best<Op>(best[c], [&](u32 row) { return (u32)begin + row; });
}
// The extremes alone, with HALVES: words of two elements are compared as they lie in memory.
template <class Op> DEVICE void half_rows_by_words(typename Op::Sum (&sum)[HALF_COLUMNS], const T* first, u64 begin, u64 end, u64 step) {
    constexpr u32 HALF_ROWS = 8, WORDS = HALF_COLUMNS / 2, ENDS = (INFINITE | (Op::DOWN ? 0u : 0x8000u)) * 0x10001u;
    typedef Pack<u32, WORDS> P;
    u32 best[WORDS];
    UNROLL
    for (u32 w = 0; w < WORDS; w++) best[w] = ENDS;
    const auto take = [&](const P& x) {
        UNROLL
        for (u32 w = 0; w < WORDS; w++) best[w] = extreme_halves<T, Op::DOWN, true>(best[w], x.at[w]);
    };
    const T* p = first + begin * step;
    u64 r = begin;
    ROLLED
    for (; r + HALF_ROWS <= end; r += HALF_ROWS, p += HALF_ROWS * step) {
        P x[HALF_ROWS];
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) x[u] = load_pack<WORDS>((const u32*)(p + u * step));
        UNROLL
        for (u32 u = 0; u < HALF_ROWS; u++) take(x[u]);
    }
    ROLLED
    for (; r < end; r++, p += step) take(load_pack<WORDS>((const u32*)p));
    T both[HALF_COLUMNS];
    memcpy(both, best, sizeof(both));
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::of(both[c], 0);
}

} // namespace hipstack
