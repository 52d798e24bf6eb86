//! Minima and maxima of 16-bit floats by integer comparison: along spans of a row, and over neighbouring columns with one 16-byte access a
//! row.
//
// The high half of a 32-bit key is the rank of an element (reductions.hpp), the low half its number, counted down. The greatest key then
// has the greatest rank and, among equal ranks, the first element. This gives the same result as Op::join unless there is a NaN. If there
// is one, the elements are reduced again with Op::join.
//
// Included by reduce.hip.
namespace hipstack {

// For a word of two elements, bits 15 and 31 of nans_of(word) are set where an element is NaN. The results of several words may be combined
// with `or`.
static constexpr u32 NANS = 0x80008000u;
DEVICE u32 nans_of(u32 word) { return (word & 0x7fff7fffu) + (0x7fffu - INFINITE) * 0x10001u; }
// The ranks of a word's two elements.
template <class Op> DEVICE u32 ranks_of(u32 word) {
    const u32 ordered = word ^ (word >> 15 & 0x10001u) * 0x7fffu;
    return Op::DOWN ? ~ordered : ordered;
}
// Converts the best key to a result. index_of(number) is the index of that element.
template <class Op, class IndexOf> DEVICE typename Op::Sum unpack_best(i32 best, IndexOf index_of) {
    if constexpr (Op::INDEXED) return typename Op::Sum{best >> 16, index_of(0xffffu - ((u32)best & 0xffffu))};
    else return best >> 16;
}

// The greatest rank in U spans, and its first index. The ranks of both elements of a word are computed together.
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

// Neighbouring columns of 16-bit floats, read with one 16-byte access a row.
static constexpr u32 HALF_COLUMNS = 8;
// Most rows of a part: row numbers must fit 16 bits.
static constexpr u32 MAX_ROWS = 65536;
// The greatest ranks of the rows begin to end, and their first indices. There are between 1 and MAX_ROWS rows. Works as half_spans.
template <class Op> DEVICE void half_rows(typename Op::Sum (&sum)[HALF_COLUMNS], const T* first, u64 begin, u64 end, u64 step) {
    typedef Pack<T, HALF_COLUMNS> P;
    // Rows in flight.
    constexpr u32 HALF_ROWS = 8;
    i32 best[HALF_COLUMNS];
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c++) best[c] = least<i32>();
    u32 nans = 0, number = 0xffffu;
    u32 greatest_seen = 0; // replaces `nans` with HALVES; NaN is sticky
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
// Extremes without indices, with HALVES: both elements of a word are compared by one instruction.
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
