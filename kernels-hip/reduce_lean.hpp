//! The greatest elements of packs on gfx9, with few registers, and on gfx11 and gfx12, with few instructions.
//
// Included by reduce.hip. A thread looks at elements in their order, so a later one leads only where it is greater, and what leads is one
// number: the place beside its rank is a small constant until all packs of a turn are done.
namespace hipstack {

// Whether an operation looks for a place.
template <class Op> DEVICE constexpr bool leads() {
    if constexpr (Op::ORDERS) return Op::PLACES;
    else return false;
}

// An element of a small float is widened when the one before has been used.
template <class E> DEVICE void bits_in_turn(E& x) {
    if constexpr (Dtype<E>::FLOAT && sizeof(E) < 4) {
        u32 bits = x.bits;
        IN_TURN(bits)
        x.bits = (decltype(x.bits))bits;
    }
}

// Nothing yet, of elements from place `first` on. That place, since an element of the least rank does not lead: if none is greater, it is the
// first that counts.
template <class Op> DEVICE typename Op::Sum none_at(u32 first) {
    typename Op::Sum none = Op::none();
    if constexpr (leads<Op>()) none.index = first;
    return none;
}

// The leading one of a and of b, which stands behind a.
template <class Op> DEVICE typename Op::Sum follow(typename Op::Sum a, typename Op::Sum b) {
    if constexpr (leads<Op>()) {
        const bool second = b.rank > a.rank;
        return typename Op::Sum{second ? b.rank : a.rank, second ? b.index : a.index};
    } else {
        return Op::join(a, b);
    }
}
#if defined(DTYPE_f16)
// Joins the elements of a pack to as many sums, or begins those with them. Words and packs are taken in turn: their elements side by side would
// fill more registers than eight waves leave.
template <class Op> DEVICE void join_words(typename Op::Sum (&lane)[LANES], const Pack<T, SPAN>& pack, bool begins) {
    u32 words[SPAN / 2];
    memcpy(words, &pack, sizeof(words));
    UNROLL
    for (u32 w = 0; w < SPAN / 2; w++) {
        IN_TURN(words[w])
        const typename Op::Sum low = term_above(words[w] << 16), high = term_above(words[w]);
        lane[2 * w] = begins ? low : Op::join(lane[2 * w], low);
        lane[2 * w + 1] = begins ? high : Op::join(lane[2 * w + 1], high);
    }
    IN_TURN(lane)
}
#endif
// Joins `rows` rows of W columns from p on to a sum of each, and moves p behind them.
template <class Op, u32 W, u32 ROWS>
DEVICE void rows_in_turn(typename Op::Sum (&sum)[W], const T*& p, u32 rows, u32 place, u64 step) {
    // bf16 is widened by a shift, which takes no registers of its own.
    constexpr bool WORDS_IN_TURN = HALF && Op::ORDERS, SUMS_IN_TURN = sizeof(T) < 8 && !(Op::SUMS && HALF && INFINITE == 0x7f80u);
    NOT_UNROLLED
    for (; rows >= ROWS; rows -= ROWS, place += ROWS) {
        Pack<T, W> x[ROWS];
        UNROLL
        for (u32 u = 0; u < ROWS; u++, p += step) x[u] = load_pack<W>(p);
        UNROLL
        for (u32 u = 0; u < ROWS; u++) {
            if constexpr (sizeof(T) * W >= 4 && sizeof(T) < 8) { IN_TURN(x[u]) }
            UNROLL
            for (u32 c = 0; c < W; c++) {
                if constexpr (WORDS_IN_TURN) { GROUP_BEGINS(x[u], c) }
                sum[c] = follow<Op>(sum[c], Op::of(x[u].at[c], place + u));
                if constexpr (WORDS_IN_TURN) { IN_TURN(sum[c]) }
            }
            if constexpr (SUMS_IN_TURN) { IN_TURN(sum) }
        }
    }
    NOT_UNROLLED
    for (; rows > 0; rows--, place++, p += step) {
        const Pack<T, W> x = load_pack<W>(p);
        UNROLL
        for (u32 c = 0; c < W; c++) sum[c] = follow<Op>(sum[c], Op::of(x.at[c], place));
    }
}

// Of n elements that lie side by side.
template <class Op> DEVICE typename Op::Sum leader_of_few(const T* p, u32 first, u32 n) {
    constexpr u32 EACH = 4;
    typename Op::Sum best = Op::none();
    u32 i = 0;
    NOT_UNROLLED
    for (; i + EACH <= n; i += EACH) {
        T x[EACH];
        UNROLL
        for (u32 k = 0; k < EACH; k++) x[k] = p[i + k];
        UNROLL
        for (u32 k = 0; k < EACH; k++) best = Op::join(best, Op::of(x[k], first + i + k));
    }
    NOT_UNROLLED
    for (; i < n; i++) best = Op::join(best, Op::of(p[i], first + i));
    return best;
}

template <class Op, u32 U> DEVICE typename Op::Sum leader(Pack<T, SPAN> (&pack)[U], u64 first, u64 step) {
    Rank best = least<Rank>();
    u32 place = 0;
    UNROLL
    for (u32 u = 0; u < U; u++) {
        UNROLL
        for (u32 l = 0; l < SPAN; l++) {
            const Rank rank = rank_in<Op::DOWN>(pack[u].at[l]);
            const bool leads = (u == 0 && l == 0) || rank > best;
            best = leads ? rank : best;
            place = leads ? u * SPAN + l : place;
            GROUP_ENDS(pack[u], l)
        }
    }
    return typename Op::Sum{best, (u32)first + place / SPAN * (u32)step + place % SPAN};
}

// ---- elements of 1 and 2 bytes, taken as words ------------------------------------------------------------------------
static constexpr bool SMALL = sizeof(T) < 4;
static constexpr u32 ELEMENT_BITS = SMALL ? 8 * sizeof(T) : 16, IN_WORD = SMALL ? 4 / sizeof(T) : 1;
// The lowest bits of a word's elements, and all bits of an element but its highest.
static constexpr u32 ONES = sizeof(T) == 1 ? 0x01010101u : 0x10001u, LOWER = sizeof(T) == 1 ? 0x7fu : 0x7fffu;
// What rank_in has above the ranks here.
static constexpr i32 RANK_OFFSET = Dtype<T>::SIGNED ? 0 : 128;

// The ranks of a word's elements, each a signed number in its place. Of floats without NaN.
template <class Op> DEVICE u32 word_ranks(u32 word) {
    u32 ordered = word;
    if constexpr (Dtype<T>::FLOAT) {
        const u32 signs = word >> (ELEMENT_BITS - 1) & ONES;
        ordered ^= (signs << (ELEMENT_BITS - 1)) - signs;
    } else if constexpr (!Dtype<T>::SIGNED) {
        ordered ^= ONES << (ELEMENT_BITS - 1);
    }
    return Op::DOWN ? ~ordered : ordered;
}
// The highest bits of elements are set where one of several words has a NaN.
DEVICE u32 with_nans(u32 nans, u32 word) {
    if constexpr (Dtype<T>::FLOAT) return nans | ((word & LOWER * ONES) + (LOWER - INFINITE) * ONES);
    else return 0;
}
DEVICE bool has_nan(u32 nans) { return (nans & ONES << (ELEMENT_BITS - 1)) != 0; }
// Rank j of a word above a number of less bits than there are below.
DEVICE i32 numbered(u32 ranks, u32 j, u32 number) {
    constexpr u32 HIGH = ~0u << (32 - ELEMENT_BITS);
    return (i32)((ranks << (32 - ELEMENT_BITS * (j + 1)) & HIGH) | number);
}
template <class Op> DEVICE Rank rank_of_numbered(i32 best) {
    return (Rank)((best >> (32 - ELEMENT_BITS)) + (Op::DOWN ? -RANK_OFFSET : RANK_OFFSET));
}
DEVICE u32 number_of(i32 best) { return (u32)best & ~(~0u << (32 - ELEMENT_BITS)); }

// The first greatest rank of U spans.
template <class Op, u32 U, class P> DEVICE typename Op::Sum small_spans(const P (&pack)[U], const T* p, u64 first, u64 step) {
    constexpr u32 LAST = U * SPAN - 1, WORDS = SPAN / IN_WORD;
    i32 best = least<i32>();
    u32 nans = 0;
    UNROLL
    for (u32 u = 0; u < U; u++) {
        u32 words[WORDS];
        memcpy(words, &pack[u], sizeof(words));
        UNROLL
        for (u32 w = 0; w < WORDS; w++) {
            IN_TURN(words[w])
            nans = with_nans(nans, words[w]);
            const u32 ranks = word_ranks<Op>(words[w]);
            UNROLL
            for (u32 j = 0; j < IN_WORD; j++) {
                const i32 next = numbered(ranks, j, LAST - (u * SPAN + w * IN_WORD + j));
                best = next > best ? next : best;
            }
            IN_TURN(best)
        }
    }
    if (has_nan(nans)) {
        typename Op::Sum sum = Op::none();
        NOT_UNROLLED
        for (u32 k = 0; k < U * SPAN; k++) {
            const u64 at = k / SPAN * step + k % SPAN;
            sum = Op::join(sum, Op::of(p[at], first + at));
        }
        return sum;
    }
    const Rank rank = rank_of_numbered<Op>(best);
    if constexpr (Op::PLACES) {
        const u32 k = LAST - number_of(best);
        return typename Op::Sum{rank, (u32)first + k / SPAN * (u32)step + k % SPAN};
    } else {
        return rank;
    }
}

// The same of W neighbouring columns: rows begin to end, at most 65536 and at least one.
template <class Op, u32 W, u32 ROWS>
DEVICE void small_rows(typename Op::Sum (&sum)[W], const T*& p, u32 rows, u32 place, u64 step) {
    constexpr u32 WORDS = W / IN_WORD;
    typedef Pack<u32, WORDS> P;
    i32 best[W];
    UNROLL
    for (u32 c = 0; c < W; c++) best[c] = least<i32>();
    u32 nans = 0;
    const auto take = [&](P x, u32 number) {
        UNROLL
        for (u32 w = 0; w < WORDS; w++) {
            nans = with_nans(nans, x.at[w]);
            const u32 ranks = word_ranks<Op>(x.at[w]);
            UNROLL
            for (u32 j = 0; j < IN_WORD; j++) {
                const i32 next = numbered(ranks, j, number);
                i32& leads = best[w * IN_WORD + j];
                leads = next > leads ? next : leads;
            }
        }
    };
    u32 left = rows;
    NOT_UNROLLED
    for (; left >= ROWS; left -= ROWS) {
        P x[ROWS];
        u32 number = left;
        UNROLL
        for (u32 u = 0; u < ROWS; u++, p += step) x[u] = load_pack<WORDS>((const u32*)p);
        UNROLL
        for (u32 u = 0; u < ROWS; u++) {
            IN_TURN(x[u])
            take(x[u], --number);
            IN_TURN(best)
            IN_TURN(number)
        }
    }
    NOT_UNROLLED
    for (; left > 0; left--, p += step) take(load_pack<WORDS>((const u32*)p), left - 1);
    if (has_nan(nans)) {
        // Ranks of small floats are all above the least of 32 bits.
        UNROLL
        for (u32 c = 0; c < W; c++) sum[c] = Op::none();
        p -= rows * step;
        rows_in_turn<Op, W, 1>(sum, p, rows, place, step);
        return;
    }
    UNROLL
    for (u32 c = 0; c < W; c++) {
        const Rank rank = rank_of_numbered<Op>(best[c]);
        if constexpr (Op::PLACES) sum[c] = typename Op::Sum{rank, place + (rows - 1 - number_of(best[c]))};
        else sum[c] = rank;
    }
}

} // namespace hipstack
