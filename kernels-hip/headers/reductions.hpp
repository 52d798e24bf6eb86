//! The operations of reductions: accumulator, identity element, and how two accumulators are combined.
//
// Included after portable.hpp.
namespace hipstack {

// Accumulators: the compute type for floats, the unsigned wrapping type for integers.
template <class U, bool FLOAT> struct AccumulatorOf { typedef typename Dtype<U>::Compute Type; };
template <class U> struct AccumulatorOf<U, false> { typedef typename Dtype<U>::Wrap Type; };
typedef AccumulatorOf<T, Dtype<T>::FLOAT>::Type Accumulator;

DEVICE Accumulator term_of(T v) { return (Accumulator)widen(v); }

// Members of an operation:
//   SUMS                     rounding errors accumulate
//   ORDERS                   searches for the greatest rank; then INDEXED: for its index, DOWN: for the least value
//   Sum, Out                 types of the accumulator and the output
//   identity()               the identity element
//   of(element, position)    the accumulator of a single element
//   join, shuffle, result    combine two, exchange between lanes, convert to the output
struct sum_op {
    static constexpr bool SUMS = Dtype<T>::FLOAT, ORDERS = false;
    typedef Accumulator Sum;
    typedef T Out;
    static METHOD Sum identity() { return Sum(0); }
    static METHOD Sum of(T v, u64) { return term_of(v); }
    static METHOD Sum join(Sum a, Sum b) { return a + b; }
    static METHOD Sum shuffle(Sum v, u32 mask) { return shuffle_xor(v, mask); }
    static METHOD T result(Sum v) { return narrow<T>((C)v); }
};
struct prod_op : sum_op {
    static METHOD Sum identity() { return Sum(1); }
    static METHOD Sum join(Sum a, Sum b) { return a * b; }
};
typedef Dtype<T>::Rank Rank;
// 16-bit floats are ranked by their bits in memory, others by rank_of. INFINITE: the bits of infinity; NaNs have greater bits.
static constexpr bool HALF = Dtype<T>::FLOAT && sizeof(T) == 2;
#if defined(DTYPE_bf16)
static constexpr u32 INFINITE = 0x7f80u;
#else
static constexpr u32 INFINITE = 0x7c00u;
#endif
template <bool LEAST, class U> DEVICE Rank rank_in(U v) {
    if constexpr (HALF) {
        const i32 b = (i16)v.bits, rank = b ^ (b >> 15 & 0x7fff);
        return (u32)(b & 0x7fff) > INFINITE ? greatest<Rank>() : LEAST ? ~rank : rank;
    } else {
        return rank_of<LEAST>(v);
    }
}
template <bool LEAST, class U> DEVICE U value_in(Rank rank) {
    if constexpr (HALF) {
        const i32 r = LEAST ? ~rank : rank;
        return U{(u16)(rank == greatest<Rank>() ? 0x7fff : r ^ (r >> 15 & 0x7fff))};
    } else {
        return value_of<LEAST, U>(rank);
    }
}
template <bool LEAST> struct extreme_op {
    static constexpr bool SUMS = false, ORDERS = true, INDEXED = false, DOWN = LEAST;
    typedef Rank Sum;
    typedef T Out;
    static METHOD Sum identity() { return least<Rank>(); }
    static METHOD Sum of(T v, u64) { return rank_in<LEAST>(v); }
    static METHOD Sum join(Sum a, Sum b) { return a > b ? a : b; }
    static METHOD Sum shuffle(Sum v, u32 mask) { return shuffle_xor(v, mask); }
    static METHOD T result(Sum v) { return value_in<LEAST, T>(v); }
};
struct RankIndex {
    Rank rank;
    u32 index;
};
template <bool LEAST> struct arg_op {
    static constexpr bool SUMS = false, ORDERS = true, INDEXED = true, DOWN = LEAST;
    typedef RankIndex Sum;
    typedef u32 Out;
    static METHOD Sum identity() { return RankIndex{least<Rank>(), ~0u}; }
    static METHOD Sum of(T v, u64 i) { return RankIndex{rank_in<LEAST>(v), (u32)i}; }
    // The greater rank; the lower index breaks ties.
    static METHOD Sum join(Sum a, Sum b) {
        const bool second = b.rank > a.rank || (b.rank == a.rank && b.index < a.index);
        return RankIndex{second ? b.rank : a.rank, second ? b.index : a.index};
    }
    static METHOD Sum shuffle(Sum v, u32 mask) { return RankIndex{shuffle_xor(v.rank, mask), shuffle_xor(v.index, mask)}; }
    static METHOD u32 result(Sum v) { return v.index; }
};
typedef extreme_op<true> min_op;
typedef extreme_op<false> max_op;
typedef arg_op<true> argmin_op;
typedef arg_op<false> argmax_op;

} // namespace hipstack
