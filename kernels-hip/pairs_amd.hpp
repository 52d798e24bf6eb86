//! Arithmetic of f64 on AMD, element by element, two elements at a time.
//
// Included by elementwise.hip. A function of f64 has dozens of constants of 64 bits, and AMD's compilers load those of a loop into registers ahead
// of it: beside them there is room for little else. So what is computed stands once in each walk. A pack is two elements wherever they lie, also
// the last of a row and the first of the next one, and all walks share the loop over what is left.
namespace hipstack {

typedef Pack<T, 2> Pair;

// The number of a pair as a new one where this stands: what follows from it is computed there, rather than kept in registers of the whole loop.
DEVICE u64 pair_anew(u64 p) {
    asm volatile("" : "+v"(p));
    return p;
}

// Whether an operation has a function `all` for several elements at once.
template <class F> static constexpr bool TAKES_PAIRS = false;
template <class F> DEVICE Pair of_pair(F f, Pair x) {
    if constexpr (TAKES_PAIRS<F>) {
        f.f.all(x.at);
        return x;
    } else {
        return Pair{{f(x.at[0]), f(x.at[1])}};
    }
}

// Whether a strided walk goes by pairs: its divisions are then of 32 bits.
template <class Map> DEVICE bool has_pairs(const T* out, const Map& m) {
    return m.rank > 0 && m.dims[m.rank - 1] >= 2 && m.count < BY_PACKS && is_aligned<T, 2>(out);
}

// out[i] = f(a[i])
template <class F> DEVICE void unary_pairs(const T* a, T* out, const Map1& m, F f) {
    const u64 first = thread_number(), step = thread_count();
    u64 done = 0;
    if (m.contiguous != 0) {
        const u64 pairs = is_aligned<T, 2>(a) && is_aligned<T, 2>(out) ? m.count / 2 : 0;
        done = pairs * 2;
        for (u64 p = first; p < pairs; p += step) {
            const Pair x = load_pack<2>(a + p * 2), y = of_pair(f, x);
            p = pair_anew(p);
            write_pack<2>(out + p * 2, y);
        }
    } else if (has_pairs(out, m)) {
        const u64 pairs = m.count / 2;
        done = pairs * 2;
        for (u64 p = first; p < pairs; p += step) {
            p = pair_anew(p);
            const u32 i = (u32)p * 2, rank = shared_anew(m.rank);
            const Run run = run_of(i, rank, m.dims, m.a, m.a);
            Pair x, y;
            if (run.left >= 2) {
                x = load_steps<2>(a + run.at.a, m.a[rank - 1]);
            } else {
                x = Pair{{a[run.at.a], a[run_of(i + 1, rank, m.dims, m.a, m.a).at.a]}};
            }
            if constexpr (TAKES_PAIRS<F>) {
                y = of_pair(f, x);
            } else {
                UNROLL
                for (u32 j = 0; j < 2; j++) { GROUP_BEGINS(x, j) y.at[j] = f(x.at[j]); GROUP_ENDS(y, j) }
            }
            p = pair_anew(p);
            write_pack<2>(out + p * 2, y);
        }
    }
    if (done == m.count) return; // asked once for a wave, not by each lane
    for (u64 i = done + first; i < m.count; i += step) {
        const u64 at = m.contiguous != 0 ? i : offsets(i, m.count, m.rank, m.dims, m.a, m.a).a;
        out[i] = f(a[at]);
    }
}

// out[i] = f(a[i], b[i])
template <class F> DEVICE void binary_pairs(const T* a, const T* b, T* out, const Map2& m, F f) {
    const bool a_moves = (m.flags & A_SCALAR) == 0, b_moves = (m.flags & B_SCALAR) == 0;
    // Each input is tight or one element. The flag of the latter is two bits above that of the former.
    static_assert(A_TIGHT << 2 == A_SCALAR && B_TIGHT << 2 == B_SCALAR, "places of flags");
    const bool flat = ((m.flags | m.flags >> 2) & (A_TIGHT | B_TIGHT)) == (A_TIGHT | B_TIGHT);
    const u64 first = thread_number(), step = thread_count();
    u64 done = 0;
    if (flat) {
        const bool aligned = (!a_moves || is_aligned<T, 2>(a)) && (!b_moves || is_aligned<T, 2>(b)) && is_aligned<T, 2>(out);
        const u64 pairs = aligned ? m.count / 2 : 0;
        done = pairs * 2;
        for (u64 p = first; p < pairs; p += step) {
            const Pair x = load_or_repeat<2>(a, a_moves, p), y = load_or_repeat<2>(b, b_moves, p);
            const Pair z = {{f(x.at[0], y.at[0]), f(x.at[1], y.at[1])}};
            p = pair_anew(p);
            write_pack<2>(out + p * 2, z);
        }
    } else if (has_pairs(out, m)) {
        const u64 pairs = m.count / 2;
        done = pairs * 2;
        for (u64 p = first; p < pairs; p += step) {
            p = pair_anew(p);
            const u32 i = (u32)p * 2, rank = shared_anew(m.rank);
            const Run run = run_of(i, rank, m.dims, m.a, m.b);
            Pair x, y, z;
            if (run.left >= 2) {
                x = load_steps<2>(a + run.at.a, m.a[rank - 1]);
                y = load_steps<2>(b + run.at.b, m.b[rank - 1]);
            } else {
                const Offsets next = run_of(i + 1, rank, m.dims, m.a, m.b).at;
                x = Pair{{a[run.at.a], a[next.a]}};
                y = Pair{{b[run.at.b], b[next.b]}};
            }
            UNROLL
            for (u32 j = 0; j < 2; j++) { GROUP_BEGINS(x, j) GROUP_BEGINS(y, j) z.at[j] = f(x.at[j], y.at[j]); GROUP_ENDS(z, j) }
            p = pair_anew(p);
            write_pack<2>(out + p * 2, z);
        }
    }
    if (done == m.count) return; // asked once for a wave, not by each lane
    for (u64 i = done + first; i < m.count; i += step) {
        const Offsets at = flat ? Offsets{a_moves ? i : 0, b_moves ? i : 0} : offsets(i, m.count, m.rank, m.dims, m.a, m.b);
        out[i] = f(a[at.a], b[at.b]);
    }
}

} // namespace hipstack
