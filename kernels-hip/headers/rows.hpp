//! Rows that several threads share, with the elements in registers.
//
// Included after portable.hpp. The elements of a row are contiguous. If every row starts at a multiple of 16 bytes and has a multiple of 16
// bytes (PACKED), a thread accesses 16 bytes at a time, else one element.
namespace hipstack {

// Quotient. A 64-bit division costs several times more than a 32-bit one.
DEVICE u64 quotient(u64 a, u64 b) { return (a | b) >> 32 == 0 ? (u32)a / (u32)b : a / b; }

// Elements of a 16-byte access; elements that a thread holds in registers; accesses that load those.
static constexpr u32 SPAN = ACCESS / sizeof(T);
static constexpr u32 HELD = sizeof(T) == 8 ? 16 : 32;
static constexpr u32 PACKS = HELD / SPAN;
// Lanes that shuffle.
static constexpr u32 LANES = 32;

// Whether all rows of `length` elements at the offsets of the map's dims are PACKED. It must hold for all rows, because the threads of a
// wave may have different ones.
template <class Map> DEVICE bool rows_are_packed(const T* in, const T* out, const Map& m) {
    bool packed = m.length != 0 && m.length % SPAN == 0 && is_aligned<T, SPAN>(in) && is_aligned<T, SPAN>(out);
    for (u32 d = 0; d < m.rank; d++) packed = packed && (m.dims[d] == 1 || m.strides[d] % SPAN == 0);
    return packed;
}

// The offset of row r.
template <class Map> DEVICE u64 row_offset(const Map& m, u64 r) {
    return offsets(r, m.rows, m.rank, m.dims, m.strides, m.strides).a;
}

// ---- teams ------------------------------------------------------------------------------------------------------------
struct Add { static METHOD C join(C a, C b) { return a + b; } };
// A team of `width` lanes, a power of two up to LANES. All lanes of the wave must call `all`.
struct Lanes {
    static constexpr bool SHORT = true;
    u32 lane, width;
    template <class Op> METHOD C all(C v) {
        if constexpr (ON_NVIDIA) {
            UNROLL
            for (u32 mask = LANES / 2; mask > 0; mask >>= 1)
                if (mask < width) v = Op::join(v, shuffle_xor(v, mask));
        } else {
            for (u32 mask = width >> 1; mask > 0; mask >>= 1) v = Op::join(v, shuffle_xor(v, mask));
        }
        return v;
    }
};
// Splits a block's threads into teams of lanes, one team for each row of `length` elements. A lane gets up to TEAM_PACKS packs if there are
// more than FEW_LANES lanes. Uses shifts, because compilers implement the division of small integers in floating point.
static constexpr u32 TEAM_PACKS = PACKS < 4 ? PACKS : 4, FEW_LANES = 8;
struct Teams {
    u32 shift;
    METHOD explicit Teams(u64 length) : shift(0) {
        while ((1u << shift) < LANES && ((u64)(1u << shift < FEW_LANES ? SPAN : SPAN * TEAM_PACKS) << shift) < length) shift++;
    }
    METHOD u32 count() const { return blockDim.x >> shift; }
    METHOD u32 number() const { return threadIdx.x >> shift; }
    METHOD Lanes lanes() const { return Lanes{threadIdx.x & ((1u << shift) - 1), 1u << shift}; }
};
DEVICE C* block_values() {
    __shared__ C values[2 * MAX_BLOCK / LANES];
    return values;
}
// The whole block as a team. The order of the reduction does not depend on the wave size. Two alternating sets of values make one barrier
// sufficient.
struct Block {
    static constexpr bool SHORT = false;
    u32 lane, width, turn;
    template <class Op> METHOD C all(C v) {
        C* const values = block_values() + (turn++ & 1u) * (MAX_BLOCK / LANES);
        for (u32 mask = LANES / 2; mask > 0; mask >>= 1) v = Op::join(v, shuffle_xor(v, mask));
        if ((lane & (LANES - 1)) == 0) values[lane / LANES] = v;
        __syncthreads();
        v = values[0];
        if constexpr (ON_NVIDIA) {
            // All values are read before the first is joined.
            UNROLL
            for (u32 other = 1; other < MAX_BLOCK / LANES; other++) {
                const C next = values[other];
                if (other * LANES < width) v = Op::join(v, next);
            }
        } else {
            for (u32 other = 1; other * LANES < width; other++) v = Op::join(v, values[other]);
        }
        return v;
    }
};

// ---- elements --------------------------------------------------------------------------------------------------------
// The next `count` elements of a row, distributed round-robin over `width` threads.
template <bool PACKED> struct Stretch {
    u32 count, lane, width;
    METHOD bool used(u32 pack) const { return pack * width * SPAN < count; }
    METHOD u32 at(u32 pack, u32 i) const {
        return PACKED ? (pack * width + lane) * SPAN + i : (pack * SPAN + i) * width + lane;
    }
    METHOD bool there(u32 pack, u32 i) const { return at(pack, PACKED ? 0 : i) < count; }
};
// Hides the lane number, so that the compiler recomputes element indices. Otherwise it computes the indices of all elements once and keeps
// them, which exceeds the registers: clang 22 takes 512 vector registers and scratch for norm_layer_f32 on gfx942, with this 70.
template <bool PACKED> DEVICE Stretch<PACKED> opaque(Stretch<PACKED> s) {
    s.lane = opaque(s.lane);
    return s;
}
// Elements of a row that a thread holds in registers. Half as many if words are unpacked but elements are loaded one by one, because then
// each of them occupies a register.
template <bool PACKED> DEVICE constexpr u32 elements_per_thread() { return PACKED || HALVES == 0 ? HELD : HELD / 2; }
template <bool PACKED, u32 N = HELD, class Team> DEVICE Stretch<PACKED> stretch(u64 first, u64 length, const Team& team) {
    const u64 left = length > first ? length - first : 0, most = (u64)N * team.width;
    return Stretch<PACKED>{(u32)(left < most ? left : most), team.lane, team.width};
}

// A pack of a stretch as it is in memory; missing elements are 0.
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
// A pack as words, which have two elements each with HALVES.
static constexpr u32 WORDS = ACCESS / sizeof(u32);
typedef Pack<u32, WORDS> Words;
DEVICE Words words_of(const Pack<T, SPAN>& pack) {
    Words out;
    memcpy(&out, &pack, sizeof(out));
    return out;
}
// With HALVES, where rows stay in registers as words, KERNEL_OF for 256 threads. All other kernels leave the register count to nvcc.
#if HALVES
#define ROWS_KERNEL(blocks, ...) KERNEL_OF(256, blocks, __VA_ARGS__)
#else
#define ROWS_KERNEL(blocks, ...) KERNEL(__VA_ARGS__)
#endif

// Conversions of whole packs.
DEVICE void widen_pack(C* x, const Pack<T, SPAN>& raw) {
    if constexpr (HALVES) {
        u32 words[WORDS];
        memcpy(words, &raw, sizeof(words));
        UNROLL
        for (u32 w = 0; w < WORDS; w++) widen_halves<T>(words[w], x[2 * w], x[2 * w + 1]);
    } else {
        UNROLL
        for (u32 i = 0; i < SPAN; i++) x[i] = widen(raw.at[i]);
    }
}
DEVICE Pack<T, SPAN> narrow_pack(const C* y) {
    Pack<T, SPAN> pack;
    if constexpr (HALVES) {
        u32 words[WORDS];
        UNROLL
        for (u32 w = 0; w < WORDS; w++) words[w] = narrow_halves<T>(y[2 * w], y[2 * w + 1]);
        memcpy(&pack, words, sizeof(words));
    } else {
        UNROLL
        for (u32 i = 0; i < SPAN; i++) pack.at[i] = narrow<T>(y[i]);
    }
    return pack;
}

// Missing elements become `fill`. All packs are loaded before the first is widened, so that there is one wait for all of them.
template <bool PACKED, u32 N> DEVICE void load(C (&x)[N], const T* row, const Stretch<PACKED>& all, C fill) {
    Pack<T, SPAN> raw[N / SPAN];
    if constexpr (PACKED || !HALVES) {
        UNROLL
        for (u32 p = 0; p < N / SPAN; p++) raw[p] = raw_pack(row, opaque(all), p);
    }
    UNROLL
    for (u32 p = 0; p < N / SPAN; p++) {
        const Stretch<PACKED> s = opaque(all);
        // Loaded here, because single 16-bit elements occupy a register each.
        if constexpr (!PACKED && HALVES) raw[p] = raw_pack(row, s, p);
        if constexpr (HALVES && PACKED) {
            widen_pack(x + p * SPAN, raw[p]);
            // Missing elements were read as 0.
            if (!s.there(p, 0) && fill != C(0)) {
                UNROLL
                for (u32 i = 0; i < SPAN; i++) x[p * SPAN + i] = fill;
            }
        } else {
            UNROLL
            for (u32 i = 0; i < SPAN; i++) x[p * SPAN + i] = s.there(p, i) ? widen(raw[p].at[i]) : fill;
        }
    }
}
template <bool PACKED, u32 N> DEVICE void store(T* row, const C (&y)[N], const Stretch<PACKED>& all) {
    UNROLL
    for (u32 p = 0; p < N / SPAN; p++) {
        const Stretch<PACKED> s = opaque(all);
        if constexpr (PACKED) {
            if (!s.there(p, 0)) continue;
            write_pack(row + s.at(p, 0), narrow_pack(y + p * SPAN));
        } else {
            UNROLL
            for (u32 i = 0; i < SPAN; i++)
                if (s.there(p, i)) row[s.at(p, i)] = narrow<T>(y[p * SPAN + i]);
        }
    }
}

} // namespace hipstack
