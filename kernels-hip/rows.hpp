//! Threads that share a row, and the elements of it that each keeps in registers.
//
// Included after portable.hpp. A row's elements lie side by side. Where all rows begin at multiples of 16 bytes and are as long
// (PACKED), a thread takes 16 bytes at a time, else one element.
namespace hipstack {

// Elements of one 16-byte access, elements that a thread keeps in registers, and accesses that bring them.
static constexpr u32 SPAN = 16 / sizeof(T);
static constexpr u32 HELD = sizeof(T) == 8 ? 16 : 32;
static constexpr u32 PACKS = HELD / SPAN;
// Lanes that exchange values.
static constexpr u32 LANES = 32;

// Whether rows of `length` elements at the offsets of such dims are PACKED, all of them: threads of a wave may have different rows.
template <class Map> DEVICE bool rows_are_packed(const T* in, const T* out, const Map& m) {
    bool packed = m.length != 0 && m.length % SPAN == 0 && is_aligned<T, SPAN>(in) && is_aligned<T, SPAN>(out);
    for (u32 d = 0; d < m.rank; d++) packed = packed && (m.dims[d] == 1 || m.strides[d] % SPAN == 0);
    return packed;
}

// ---- teams ------------------------------------------------------------------------------------------------------------
struct Add { static METHOD C join(C a, C b) { return a + b; } };

// `width` lanes, a power of two up to LANES. All lanes of the wave call `all`.
struct Lanes {
    u32 lane, width;
    template <class Op> METHOD C all(C v) {
        for (u32 mask = width >> 1; mask > 0; mask >>= 1) v = Op::join(v, shuffle_xor(v, mask));
        return v;
    }
};
// A block's threads as teams of lanes, one for each row of `length` elements: packs of it for every lane, if they are as many. By shifts:
// compilers make floating point of a division of small integers.
struct Teams {
    u32 shift;
    METHOD explicit Teams(u64 length) : shift(0) {
        while ((1u << shift) < LANES && ((u64)SPAN << shift) < length) shift++;
    }
    METHOD u32 count() const { return blockDim.x >> shift; }
    METHOD u32 number() const { return threadIdx.x >> shift; }
    METHOD Lanes lanes() const { return Lanes{threadIdx.x & ((1u << shift) - 1), 1u << shift}; }
};
DEVICE C* block_values() {
    __shared__ C values[2 * MAX_BLOCK / LANES];
    return values;
}
// All threads of the block. The order of joining does not depend on the wave size; two sets of values make one barrier enough.
struct Block {
    u32 lane, width, turn;
    template <class Op> METHOD C all(C v) {
        C* const values = block_values() + (turn++ & 1u) * (MAX_BLOCK / LANES);
        for (u32 mask = LANES / 2; mask > 0; mask >>= 1) v = Op::join(v, shuffle_xor(v, mask));
        if ((lane & (LANES - 1)) == 0) values[lane / LANES] = v;
        __syncthreads();
        v = values[0];
        for (u32 other = 1; other * LANES < width; other++) v = Op::join(v, values[other]);
        return v;
    }
};

// ---- elements ---------------------------------------------------------------------------------------------------------
// The next `count` elements of a row, dealt out to `width` threads in turn.
template <bool PACKED> struct Stretch {
    u32 count, lane, width;
    METHOD bool used(u32 pack) const { return pack * width * SPAN < count; }
    METHOD u32 at(u32 pack, u32 i) const {
        return PACKED ? (pack * width + lane) * SPAN + i : (pack * SPAN + i) * width + lane;
    }
    METHOD bool there(u32 pack, u32 i) const { return at(pack, PACKED ? 0 : i) < count; }
};
// The same in a register of its own: compilers otherwise compute the places of all elements once and keep them, for which there are not
// enough registers.
template <bool PACKED> DEVICE Stretch<PACKED> anew(Stretch<PACKED> s) {
#if ON_AMD
    asm volatile("" : "+v"(s.lane));
#elif ON_NVIDIA
    asm volatile("" : "+r"(s.lane));
#endif
    return s;
}
template <bool PACKED, class Team> DEVICE Stretch<PACKED> stretch(u64 first, u64 length, const Team& team) {
    const u64 left = length > first ? length - first : 0, most = (u64)HELD * team.width;
    return Stretch<PACKED>{(u32)(left < most ? left : most), team.lane, team.width};
}

// A pack of a stretch as it lies in memory; what is not there is 0.
template <bool PACKED> DEVICE Pack<T, SPAN> raw_pack(const T* row, const Stretch<PACKED>& s, u32 p) {
    Pack<T, SPAN> raw = {};
    if constexpr (PACKED) {
        if (s.there(p, 0)) raw = load_pack<SPAN>(row + s.at(p, 0));
    } else {
        UNROLL
        for (u32 i = 0; i < SPAN; i++)
            if (s.there(p, i)) raw.at[i] = row[s.at(p, i)];
    }
    return raw;
}
// What is not there becomes `none`. All packs are read before the first is widened, so that one wait is for all of them.
template <bool PACKED> DEVICE void load(C (&x)[HELD], const T* row, const Stretch<PACKED>& all, C none) {
    Pack<T, SPAN> raw[PACKS];
    UNROLL
    for (u32 p = 0; p < PACKS; p++) raw[p] = raw_pack(row, anew(all), p);
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        const Stretch<PACKED> s = anew(all);
        UNROLL
        for (u32 i = 0; i < SPAN; i++) x[p * SPAN + i] = s.there(p, i) ? widen(raw[p].at[i]) : none;
    }
}
template <bool PACKED> DEVICE void store(T* row, const C (&y)[HELD], const Stretch<PACKED>& all) {
    UNROLL
    for (u32 p = 0; p < PACKS; p++) {
        const Stretch<PACKED> s = anew(all);
        if constexpr (PACKED) {
            if (!s.there(p, 0)) continue;
            Pack<T, SPAN> pack;
            UNROLL
            for (u32 i = 0; i < SPAN; i++) pack.at[i] = narrow<T>(y[p * SPAN + i]);
            write_pack(row + s.at(p, 0), pack);
        } else {
            UNROLL
            for (u32 i = 0; i < SPAN; i++)
                if (s.there(p, i)) row[s.at(p, i)] = narrow<T>(y[p * SPAN + i]);
        }
    }
}

} // namespace hipstack
