//! Spans of small elements on gfx11 and gfx12: read, and bytes reduced, as the words in which they lie.
//
// Included by reduce.hip.
namespace hipstack {

// Whether an operation takes spans so. Sums of floats widen each element; extremes of 16 bits take fewer instructions one by one.
template <class Op> DEVICE constexpr bool by_words() {
    return SMALL && (leads<Op>() || (sizeof(T) == 1 && (Op::ORDERS || !Dtype<T>::FLOAT)));
}

#if defined(DTYPE_u8)
// A word as two numbers of 16 bits.
typedef u16 Halves __attribute__((ext_vector_type(2)));
DEVICE Halves halves_of(u32 word) { return __builtin_bit_cast(Halves, word); }

// Words joined to one sum, product or rank.
template <u32 N> DEVICE u32 bytes_total(sum_op, const u32 (&words)[N]) {
    u32 sum = 0;
    UNROLL
    for (u32 w = 0; w < N; w++) sum = __builtin_amdgcn_sad_u8(words[w], 0, sum); // differences from 0, added up
    return sum;
}
// A product's lowest 8 bits, the only ones that count, come from the lowest 8 of its factors: what lies above may be anything.
template <u32 N> DEVICE u32 bytes_total(prod_op, const u32 (&words)[N]) {
    Halves even = halves_of(words[0]), odd = halves_of(words[0] >> 8);
    UNROLL
    for (u32 w = 1; w < N; w++) {
        even *= halves_of(words[w]);
        odd *= halves_of(words[w] >> 8);
    }
    even *= odd;
    return (u32)even.x * even.y;
}
// The upper byte of a number decides which is greater: the odd bytes lead as they lie, the even ones when they have been moved up.
template <bool LEAST> DEVICE Halves leading(Halves a, Halves b) {
    return LEAST ? __builtin_elementwise_min(a, b) : __builtin_elementwise_max(a, b);
}
template <bool LEAST, u32 N> DEVICE u32 bytes_total(extreme_op<LEAST>, const u32 (&words)[N]) {
    Halves leads = leading<LEAST>(halves_of(words[0]), halves_of(words[0]) << 8);
    UNROLL
    for (u32 w = 1; w < N; w++) leads = leading<LEAST>(leading<LEAST>(leads, halves_of(words[w])), halves_of(words[w]) << 8);
    const u16 first = leads.x, second = leads.y;
    return rank_in<LEAST>((u8)(((first < second) == LEAST ? first : second) >> 8));
}
#endif

// U whole spans as in pack_spans, read as words: compilers put words together from their bytes where those have been read.
template <class Op, u32 U> DEVICE typename Op::Sum word_spans(const T* p, u64 first, u64 step) {
    Pack<u32, 4> pack[U];
    UNROLL
    for (u32 u = 0; u < U; u++) pack[u] = load_pack<4>((const u32*)(p + u * step));
#if defined(DTYPE_u8)
    if constexpr (!leads<Op>()) {
        u32 words[4 * U];
        UNROLL
        for (u32 w = 0; w < 4 * U; w++) words[w] = pack[w / 4].at[w % 4];
        return bytes_total(Op(), words);
    } else
#endif
    return small_spans<Op, U>(pack, p, first, step);
}

} // namespace hipstack
