//! Normalisation of rows that the threads' registers hold, on gfx9.
//
// Included by norm.hip.
namespace hipstack {

// Packs whose weights and biases are read before the first is used.
template <bool GROUPS> DEVICE constexpr u32 together() { return GROUPS || sizeof(T) == 1 ? 1 : 2; }

// The channels' numbers for the pack of a row at `at` bytes.
template <bool GROUPS> DEVICE Pack<T, SPAN> held_parameters(const T* from, const Channels<GROUPS>& channels, u32 at) {
    if constexpr (!GROUPS) return load_pack<SPAN>((const T*)((const char*)from + at));
    const u32 first = at / (u32)sizeof(T), inner = shared_anew((u32)channels.inner);
    Pack<T, SPAN> raw;
    if (inner % SPAN == 0) {
        const T one = from[channels.first + first / inner];
        UNROLL
        for (u32 i = 0; i < SPAN; i++) raw.at[i] = one;
    } else {
        UNROLL
        for (u32 i = 0; i < SPAN; i++) raw.at[i] = from[channels.first + (first + i) / inner];
    }
    return raw;
}
template <class Op, bool GROUPS>
DEVICE void join_parameters(C* x, const T* from, const Channels<GROUPS>& channels, const HeldRow& row, u32 packs, u32 begin) {
    constexpr u32 TOGETHER = together<GROUPS>();
    Pack<T, SPAN> raw[TOGETHER];
    UNROLL
    for (u32 p = 0; p < TOGETHER; p++) {
        forget(raw[p]);
        if (begin + p >= packs) continue;
        const u32 at = row.at(begin + p);
        if (row.there(at)) raw[p] = held_parameters(from, channels, at);
    }
    UNROLL
    for (u32 p = 0; p < TOGETHER; p++) {
        UNROLL
        for (u32 i = 0; i < SPAN; i++) {
            C& v = x[(begin + p) * SPAN + i];
            v = Op::join(v, widen(raw[p].at[i]));
        }
    }
}

template <bool CENTRED, bool GROUPS, class Team>
DEVICE void held_row(const T* in, const T* weight, const T* bias, T* out, u64 r, bool there, const NormMap& m, Team& team) {
    Channels<GROUPS> channels = {0, m.inner};
    if (GROUPS) channels.first = (r - quotient(r, m.groups) * m.groups) * quotient(m.length, m.inner);
    const HeldRow row(m.length, there, team);
    Pack<T, SPAN> raw[PACKS];
    read_row(raw, in, row, C(0));
    C x[HELD], sum = 0;
    u32 packs = shared_anew(row.packs);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        widen_held(x + p * SPAN, raw[p], p < packs);
        if (p >= packs) continue;
        C part = 0;
        UNROLL
        for (u32 i = 0; i < SPAN; i++) part += x[p * SPAN + i];
        sum += part;
    }
    const C mean = CENTRED ? team.template all<Add>(sum) / (C)m.length : C(0);
    C squares = 0;
    packs = shared_anew(row.packs);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        if (p >= packs) continue;
        C part = 0;
        UNROLL
        for (u32 i = 0; i < SPAN; i++) {
            C& d = x[p * SPAN + i];
            d -= mean;
            part += d * d;
        }
        squares += !CENTRED || row.there(row.at(p)) ? part : C(0);
    }
    const C variance = team.template all<Add>(squares) / (C)m.length;
    const C factor = C(1) / m_sqrt(variance + (C)m.eps);
    constexpr u32 TOGETHER = together<GROUPS>();
    const u32 flags = m.flags;
    packs = shared_anew(row.packs);
    UNROLL
    for (u32 begin = 0; begin < PACKS; begin += TOGETHER) {
        if (begin >= packs) continue;
        UNROLL
        for (u32 i = begin * SPAN; i < (begin + TOGETHER) * SPAN; i++) x[i] *= factor;
        if ((shared_anew(flags) & HAS_WEIGHT) != 0) join_parameters<Multiply>(x, weight, channels, row, packs, begin);
        if (CENTRED && (shared_anew(flags) & HAS_BIAS) != 0) join_parameters<Add>(x, bias, channels, row, packs, begin);
        UNROLL
        for (u32 p = begin; p < begin + TOGETHER; p++) {
            if (p < packs) write_held(out, x + p * SPAN, row, p);
        }
    }
}

} // namespace hipstack
