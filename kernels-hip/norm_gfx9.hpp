//! Normalisation of rows that the threads' registers hold, on gfx9.
//
// Included by norm.hip.
namespace hipstack {

// Packs whose weights and biases are read before the first is used; of groups, one in turn.
template <bool GROUPS> DEVICE constexpr u32 together() { return GROUPS || sizeof(T) == 1 ? 1 : 2; }

// Joins packs of a row with the channels' numbers, an element each.
template <class Op> DEVICE void join_parameters(C* x, const T* from, const HeldRow& row, u32 packs, u32 begin) {
    constexpr u32 TOGETHER = together<false>();
    Pack<T, SPAN> raw[TOGETHER];
    UNROLL
    for (u32 p = 0; p < TOGETHER; p++) {
        forget(raw[p]);
        if (begin + p >= packs) continue;
        const u32 at = row.at(begin + p);
        if (row.there(at)) raw[p] = load_pack<SPAN>((const T*)((const char*)from + at));
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

// Rows of no more groups are held: the numbers of their channels take less than 2^32 bytes, since a row that is held takes 2^15 at most.
static constexpr u64 FEW_GROUPS = 1ull << 16;
// Where the number of a pack's first channel lies, in bytes, and how many elements that channel has from there on.
struct OwnChannels { u32 at, left, inner; };
DEVICE T at_bytes(const T* from, u32 at) { return *(const T*)((const char*)from + at); }
// Joins a pack with the numbers of its channels, AT_A_TIME read before the first is used. ONE: they are one channel.
static constexpr u32 AT_A_TIME = OLD_HIPCC || SPAN < 4 ? 2 : 4;
template <class Op, bool ONE> DEVICE void join_channels(C* x, const T* from, const OwnChannels& own) {
    if constexpr (ONE) {
        const C one = widen(at_bytes(from, own.at));
        UNROLL
        for (u32 i = 0; i < SPAN; i++) x[i] = Op::join(x[i], one);
    } else {
        u32 at = own.at, left = own.left;
        UNROLL
        for (u32 begin = 0; begin < SPAN; begin += AT_A_TIME) {
            T raw[AT_A_TIME];
            UNROLL
            for (u32 i = 0; i < AT_A_TIME; i++) {
                at = own_anew(at);
                raw[i] = at_bytes(from, at);
                if (--left == 0) left = own.inner, at += (u32)sizeof(T);
            }
            UNROLL
            for (u32 i = begin; i < begin + AT_A_TIME; i++) {
                x[i] = Op::join(x[i], widen(raw[i - begin]));
                in_turn(x[i]);
            }
        }
    }
}
template <bool CENTRED, bool ONE>
DEVICE void join_group(C* x, const T* weight, const T* bias, const OwnChannels& own, u32 flags) {
    if ((shared_anew(flags) & HAS_WEIGHT) != 0) join_channels<Multiply, ONE>(x, weight, own);
    if (CENTRED && (shared_anew(flags) & HAS_BIAS) != 0) join_channels<Add, ONE>(x, bias, own);
}

template <bool CENTRED, bool GROUPS, class Team>
DEVICE void held_row(const T* in, const T* weight, const T* bias, T* out, u64 r, bool there, const NormMap& m, Team& team) {
    u32 channels = 0;
    if (GROUPS) {
        const u64 groups = shared_anew(m.groups); // what its division needs is not kept from row to row
        channels = own_anew((u32)(r - quotient(r, groups) * groups) * (u32)quotient(m.length, m.inner));
    }
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
    const C mean = CENTRED ? team.template all<Add>(sum) / (C)shared_anew((u32)m.length) : C(0);
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
    const C variance = team.template all<Add>(squares) / (C)shared_anew((u32)m.length);
    const C factor = C(1) / m_sqrt(variance + (C)(GROUPS ? from_bits(shared_anew(bits_of(m.eps))) : m.eps));
    constexpr u32 TOGETHER = together<GROUPS>();
    const u32 flags = m.flags;
    packs = shared_anew(row.packs);
    UNROLL
    for (u32 begin = 0; begin < PACKS; begin += TOGETHER) {
        if (begin >= packs) continue;
        UNROLL
        for (u32 i = begin * SPAN; i < (begin + TOGETHER) * SPAN; i++) x[i] *= factor;
        if constexpr (GROUPS) {
            // A pack that is not there has the channels of the first one.
            const u32 inner = shared_anew((u32)m.inner), at = row.at(begin);
            const u32 first = row.there(at) ? at / (u32)sizeof(T) : 0, channel = first / inner;
            const OwnChannels own = {(channels + channel) * (u32)sizeof(T), inner - (first - channel * inner), inner};
            if (inner % SPAN == 0) join_group<CENTRED, true>(x + begin * SPAN, weight, bias, own, flags);
            else join_group<CENTRED, false>(x + begin * SPAN, weight, bias, own, flags);
        } else {
            if ((shared_anew(flags) & HAS_WEIGHT) != 0) join_parameters<Multiply>(x, weight, row, packs, begin);
            if (CENTRED && (shared_anew(flags) & HAS_BIAS) != 0) join_parameters<Add>(x, bias, row, packs, begin);
        }
        UNROLL
        for (u32 p = begin; p < begin + TOGETHER; p++) {
            if (p < packs) write_held(out, x + p * SPAN, row, p);
        }
    }
}

} // namespace hipstack
