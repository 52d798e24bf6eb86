//! Neighbouring columns reduced by one thread on gfx9, gfx11 and gfx12. On gfx9 rows are taken in turn, so that few of their elements fill
//! registers at once.
//
// Included by reduce.hip.
namespace hipstack {

// Rows between two steps of the cascade; extremes need no cascade, and places of elements of 1 and 2 bytes have 16 bits.
template <class Op> DEVICE constexpr u32 column_span() { return Op::ORDERS ? 65536 : COLUMN_SPAN; }

// W columns side by side.
template <class Op, u32 W> DEVICE void columns(const T* first, typename Op::Out* out, const ReduceMap& m, Item item) {
    Cascade<Op, W> sum;
    if (m.reduced_rank == 1) {
        const u64 step = m.reduced_strides[0];
        // Least and greatest integers alone take fewer instructions one by one.
        constexpr bool BY_WORDS = W > 1 && SMALL && (leads<Op>() || Dtype<T>::FLOAT);
        // Ranks of f64 take as many registers as another row.
        constexpr u32 ROWS = sizeof(T) == 8 && Dtype<T>::FLOAT && leads<Op>() ? 3 : AT_ONCE;
        if constexpr (leads<Op>() && !BY_WORDS) {
            UNROLL
            for (u32 c = 0; c < W; c++) sum.level0[c] = none_at<Op>((u32)item.begin);
        }
        const T* p = first + item.begin * step;
        u32 place = (u32)item.begin;
        NOT_UNROLLED
        for (u64 left = item.end - item.begin; left > 0;) {
            const u32 rows = left < column_span<Op>() ? (u32)left : column_span<Op>();
            if constexpr (Op::ORDERS && !BY_WORDS) {
                rows_in_turn<Op, W, ROWS>(sum.level0, p, rows, place, step);
            } else {
                typename Op::Sum part[W];
                if constexpr (Op::ORDERS) {
                    small_rows<Op, W, HALF ? 4 : AT_ONCE>(part, p, rows, place, step);
                } else {
                    UNROLL
                    for (u32 c = 0; c < W; c++) part[c] = Op::none();
                    rows_in_turn<Op, W, ROWS>(part, p, rows, place, step);
                }
                sum.add(part);
            }
            left -= rows;
            place += rows;
        }
    } else {
        NOT_UNROLLED
        for (u64 i = item.begin; i < item.end;) {
            typename Op::Sum part[W];
            UNROLL
            for (u32 c = 0; c < W; c++) part[c] = none_at<Op>((u32)i);
            u32 rows = item.end - i < column_span<Op>() ? (u32)(item.end - i) : column_span<Op>();
            NOT_UNROLLED
            for (; rows > 0; rows--, i++) {
                const u32 rank = Op::SUMS ? m.reduced_rank : shared_anew(m.reduced_rank);
                const Pack<T, W> x = load_pack<W>(first + reduced_offset(m, i, rank));
                UNROLL
                for (u32 c = 0; c < W; c++) part[c] = follow<Op>(part[c], Op::of(x.at[c], i));
                if constexpr (sizeof(T) < 8) { IN_TURN(part) }
            }
            sum.add(part);
        }
    }
    UNROLL
    for (u32 c = 0; c < W; c++) write<Op>(out, m, Item{item.output + c, 0, 0, item.part}, sum.total(c));
}

} // namespace hipstack
