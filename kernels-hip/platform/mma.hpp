//! Products of matrices of 16 by 16 numbers of 16 bits by the matrix units, for the lanes of a group together.
//
// rows: 16 rows of 16 numbers (of q, of weights), turned into columns for the product; the other operand is k, 16 rows too, or v,
// whose columns are its rows. Sums are f32. All layouts are those of the target:
//
//   GROUP          lanes that multiply together
//   HELD           rows of a fragment of which a lane holds sums
//   EACH           sums of each of these rows
//   held_row(h)    which row
//   held_column(e) which column
//   join_lanes     joins what the lanes that share a row found
//   weights_of     sums as an operand of the next product, without another lane's help
//
// NVIDIA, mma.sync m16n8k16, g = lane / 4, t = lane % 4; two numbers a register, the one with the lower index in the low half:
//   A, 16 by 16   at[0] row g, columns 2t and 2t+1; at[1] row g+8; at[2] columns 2t+8 and 2t+9; at[3] both
//   B, 16 by 8    at[0] rows 2t and 2t+1, column g; at[1] rows 2t+8 and 2t+9; a second B for the columns from 8 on
//   sums, 16 by 8 row g, columns 2t and 2t+1; row g+8
// The host does the same by shared memory, for groups of 32 in waves of either size: to check what is built on it.
//
// AMD, mfma 16x16x16 of gfx942, 64 lanes, l = lane % 16, h = lane / 16: the second operand of a product here is the first there, so
// that sums have one row in a lane, and are an operand at once:
//   operands      numbers 4h to 4h + 3 of row l
//   sums          columns 4h to 4h + 3 of row l
// HAS_MMA is 0 for other targets, and for NVIDIA's below compute capability 8.0.
#pragma once

#if ON_AMD
#if defined(__gfx942__) && WAVE_SIZE == 64
#define HAS_MMA 1
#else
#define HAS_MMA 0
#endif
#elif ON_NVIDIA && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define HAS_MMA 0
#else
#define HAS_MMA 1
#endif

#if HAS_MMA
namespace hipstack {

// What the units multiply: the numbers of 16 bits themselves, or what those of f32 are split into.
#ifdef DTYPE_f16
typedef f16 Unit;
static constexpr bool IS_BF16 = false;
#else
typedef bf16 Unit;
static constexpr bool IS_BF16 = true;
#endif

#if ON_AMD
static constexpr u32 GROUP = 64, HELD = 1, EACH = 4, NUMBERS = 4;
#else
static constexpr u32 GROUP = 32, HELD = 2, EACH = 4, NUMBERS = 8; // of a lane's operand
#endif

struct Fragment { u32 at[NUMBERS / 2]; };
typedef f32 Sums[HELD][EACH];

DEVICE u32 lane_of_group() { return threadIdx.x % GROUP; }
#if ON_AMD
DEVICE u32 held_row(u32) { return threadIdx.x % 16; }
DEVICE constexpr u32 column_step(u32 e) { return e; } // held_column(e) - held_column(0)
DEVICE u32 held_column(u32 e) { return lane_of_group() / 16 * EACH + e; }
#else
DEVICE u32 held_row(u32 h) { return lane_of_group() / 4 + 8 * h; }
DEVICE constexpr u32 column_step(u32 e) { return e / 2 * 8 + e % 2; } // held_column(e) - held_column(0)
DEVICE u32 held_column(u32 e) { return lane_of_group() % 4 * 2 + column_step(e); }
#endif

DEVICE u32 pair(u16 low, u16 high) { return (u32)low | (u32)high << 16; }
DEVICE Unit low_of(u32 pair) {
    Unit out;
    out.bits = (u16)pair;
    return out;
}
DEVICE Unit high_of(u32 pair) {
    Unit out;
    out.bits = (u16)(pair >> 16);
    return out;
}

// Two numbers rounded to the unit's type.
DEVICE u32 round_pair(f32 low, f32 high) {
#if ON_NVIDIA
    u32 out;
    if constexpr (IS_BF16) asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    else asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
#else
    return pair(narrow<Unit>(low).bits, narrow<Unit>(high).bits);
#endif
}
// The greatest of the unit's numbers that is no greater than x, of x at least 0; NaN stays NaN.
DEVICE u16 truncate_one(f32 x) {
    const u32 b = bits_of(x);
    if constexpr (IS_BF16) return (u16)(b >> 16);
    if (b > 0x7f800000u) return 0x7e00u;
    const u32 normal = (b >> 13) - (112u << 10), subnormal = (u32)(x * 16777216.0f);
    return (u16)(b < (113u << 23) ? subnormal : normal > 0x7bffu ? 0x7bffu : normal);
}
// Two numbers of at least 0, rounded down.
DEVICE u32 truncate_pair(f32 low, f32 high) {
#if ON_NVIDIA
    u32 out;
    if constexpr (IS_BF16) asm("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(out) : "r"(bits_of(low)), "r"(bits_of(high)));
    else asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
#elif ON_AMD
    if constexpr (IS_BF16) return pair(truncate_one(low), truncate_one(high));
    // Subnormal numbers may become 0: the second operand has the rest.
    const auto both = __builtin_amdgcn_cvt_pkrtz(low, high);
    u32 out;
    __builtin_memcpy(&out, &both, sizeof(out));
    return out;
#else
    return pair(truncate_one(low), truncate_one(high));
#endif
}

#if ON_NVIDIA
DEVICE u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
#endif

#if ON_AMD
// b first: see above.
template <class Out> DEVICE Out multiply_one(const Fragment& b, const Fragment& a, Out out) {
    typedef _Float16 Halves __attribute__((ext_vector_type(NUMBERS)));
    typedef short Brains __attribute__((ext_vector_type(NUMBERS)));
    Halves hb, ha;
    Brains bb, ba;
    __builtin_memcpy(&hb, b.at, sizeof(b)), __builtin_memcpy(&ha, a.at, sizeof(a));
    __builtin_memcpy(&bb, b.at, sizeof(b)), __builtin_memcpy(&ba, a.at, sizeof(a));
    if constexpr (IS_BF16) return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(bb, ba, out, 0, 0, 0);
    else return __builtin_amdgcn_mfma_f32_16x16x16f16(hb, ha, out, 0, 0, 0);
}
#endif

// sums[i] += a[i] b for all i. All lanes of the group call it.
template <u32 ROWS> DEVICE void multiply(Sums (&sums)[ROWS], const Fragment (&a)[ROWS], const Fragment& b) {
#if ON_NVIDIA
    UNROLL
    for (u32 j = 0; j < 2; j++) {
        UNROLL
        for (u32 i = 0; i < ROWS; i++) {
            f32 &w = sums[i][0][2 * j], &x = sums[i][0][2 * j + 1], &y = sums[i][1][2 * j], &z = sums[i][1][2 * j + 1];
#define MMA(type)                                                                                                          \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "        \
        "{%0, %1, %2, %3};"                                                                                                \
        : "+f"(w), "+f"(x), "+f"(y), "+f"(z)                                                                               \
        : "r"(a[i].at[0]), "r"(a[i].at[1]), "r"(a[i].at[2]), "r"(a[i].at[3]), "r"(b.at[2 * j]), "r"(b.at[2 * j + 1]))
            if constexpr (IS_BF16) MMA("bf16");
            else MMA("f16");
#undef MMA
        }
    }
#elif ON_AMD
    typedef f32 Out __attribute__((ext_vector_type(EACH)));
    UNROLL
    for (u32 i = 0; i < ROWS; i++) {
        Out out;
        UNROLL
        for (u32 e = 0; e < EACH; e++) out[e] = sums[i][0][e];
        out = multiply_one(b, a[i], out);
        UNROLL
        for (u32 e = 0; e < EACH; e++) sums[i][0][e] = out[e];
    }
#else
    struct Lane { f32 a[ROWS][8], b[8]; };
    SHARED_ARRAY(2, Lane, lanes, 128); // as many as a block has threads
    Lane& mine = lanes[threadIdx.x];
    const Lane* const all = lanes + threadIdx.x / GROUP * GROUP;
    const u32 g = lane_of_group() / 4, t = threadIdx.x % 4;
    for (u32 p = 0; p < 8; p++) {
        for (u32 i = 0; i < ROWS; i++) mine.a[i][p] = widen(p % 2 == 0 ? low_of(a[i].at[p / 2]) : high_of(a[i].at[p / 2]));
        mine.b[p] = widen(p % 2 == 0 ? low_of(b.at[p / 2]) : high_of(b.at[p / 2]));
    }
    __syncwarp();
    for (u32 i = 0; i < ROWS; i++) {
        for (u32 h = 0; h < 2; h++) {
            for (u32 e = 0; e < 4; e++) {
                const Lane* const holders = all + (2 * t + e % 2) * 4; // of the column of B
                f32 sum = 0.0f;
                for (u32 p = 0; p < 16; p++) // along the row of A and the column of B
                    sum = multiply_add(all[g * 4 + p % 8 / 2].a[i][p / 8 * 4 + h * 2 + p % 2],
                                       holders[p % 8 / 2].b[e / 2 * 4 + p / 8 * 2 + p % 2], sum);
                sums[i][h][e] += sum;
            }
        }
    }
    __syncwarp();
#endif
}

// What all lanes that share a row found, joined; every one gets it.
template <class Join> DEVICE f32 join_lanes(f32 mine, Join join) {
#if ON_AMD
    const f32 two = join(mine, shuffle_xor(mine, 16));
    return join(two, __shfl_xor(two, 32, 64));
#else
    const f32 two = join(mine, shuffle_xor(mine, 1));
    return join(two, shuffle_xor(two, 2));
#endif
}

// Numbers of at least 0 as the sum of two operands of the next product. The first is rounded down; the second is of the number
// times ABOVE_ONE, which makes it greater than 0 where the number is.
static constexpr f32 ABOVE_ONE = 1.000000238418579f; // 1 + 2^-22
DEVICE void split_pair(f32 x, f32 y, u32& high, u32& low) {
    high = truncate_pair(x, y);
    low = round_pair(m_fma(x, ABOVE_ONE, -widen(low_of(high))), m_fma(y, ABOVE_ONE, -widen(high_of(high))));
}
DEVICE void weights_of(const Sums& sums, Fragment& high, Fragment& low) {
#if ON_AMD
    UNROLL
    for (u32 i = 0; i < NUMBERS / 2; i++) split_pair(sums[0][2 * i], sums[0][2 * i + 1], high.at[i], low.at[i]);
#else
    UNROLL
    for (u32 i = 0; i < 4; i++) split_pair(sums[i % 2][i / 2 * 2], sums[i % 2][i / 2 * 2 + 1], high.at[i], low.at[i]);
#endif
}

#if !ON_AMD
// Four matrices of 8 by 8 from shared memory. row_of(lane) is where the row lane % 8 of matrix lane / 8 begins, 16 bytes
// aligned. at[i] of a lane are the elements 2t and 2t+1 of row g of matrix i; TURNED: of column g.
template <bool TURNED, class RowOf> DEVICE void load_matrices(u32 (&at)[4], u32 lane, RowOf row_of) {
#if ON_NVIDIA
    const u32 from = shared_address(row_of(lane));
    if constexpr (TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]), "=r"(at[3]) : "r"(from) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]), "=r"(at[3]) : "r"(from) : "memory");
#else
    const u32 g = lane / 4, t = lane % 4;
    for (u32 i = 0; i < 4; i++)
        at[i] = TURNED ? pair(row_of(8 * i + 2 * t)[g].bits, row_of(8 * i + 2 * t + 1)[g].bits)
                       : pair(row_of(8 * i + g)[2 * t].bits, row_of(8 * i + g)[2 * t + 1].bits);
#endif
}
#endif
// Operands of 16 by 16 numbers: at(row, chunk) is where the eight numbers `chunk` (0 or 1) of a row lie. As rows of the first
// operand; as those of the second; and v, by columns.
#if ON_AMD
template <class At> DEVICE void load_rows(Fragment& to, u32 lane, At at) {
    const u32 first = lane / 16 * NUMBERS;
    const Pack<Unit, NUMBERS> pack = load_pack<NUMBERS>(at(lane % 16, first / 8) + first % 8);
    UNROLL
    for (u32 i = 0; i < NUMBERS; i += 2) to.at[i / 2] = pair(pack.at[i].bits, pack.at[i + 1].bits);
}
template <class At> DEVICE void load_keys(Fragment& to, u32 lane, At at) { load_rows(to, lane, at); }
template <class At> DEVICE void load_values(Fragment& to, u32 lane, At at) {
    const u32 first = lane / 16 * NUMBERS, column = lane % 16;
    UNROLL
    for (u32 n = 0; n < NUMBERS; n += 2)
        to.at[n / 2] = pair(at(first + n, column / 8)[column % 8].bits, at(first + n + 1, column / 8)[column % 8].bits);
}
#else
template <class At> DEVICE void load_rows(Fragment& to, u32 lane, At at) {
    load_matrices<false>(to.at, lane, [&](u32 lane) { return at(lane % 16, lane / 16); });
}
template <class At> DEVICE void load_keys(Fragment& to, u32 lane, At at) {
    load_matrices<false>(to.at, lane, [&](u32 lane) { return at(lane / 16 * 8 + lane % 8, lane / 8 % 2); });
}
template <class At> DEVICE void load_values(Fragment& to, u32 lane, At at) {
    load_matrices<true>(to.at, lane, [&](u32 lane) { return at(lane % 16, lane / 16); });
}
#endif

// Copies 16 bytes to shared memory, or zeros without a look at `from` where `there` is false; both addresses are 16 bytes aligned. On NVIDIA the copy is
// under way until copies_arrive, after which a barrier shows it to the other threads.
DEVICE void copy_16(Unit* to, const Unit* from, bool there) {
#if ON_NVIDIA
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)),
                 "r"(there ? 16 : 0) : "memory");
#else
    Pack<Unit, 8> pack = {};
    if (there) pack = load_pack<8>(from);
    store_pack<8>(to, pack);
#endif
}
DEVICE void copies_arrive() {
#if ON_NVIDIA
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// 2 to the power of x, within two units in the last place; results below the normal numbers may be 0.
DEVICE f32 exp2_of(f32 x) {
#if ON_NVIDIA
    f32 out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
#else
    return exp2f(x);
#endif
}
// The greater of the two; of a number and NaN, the number.
DEVICE f32 greater(f32 a, f32 b) {
#if ON_NVIDIA
    return fmaxf(a, b);
#else
    return b > a || a != a ? b : a;
#endif
}
// Whether it is so in any lane of the wave. All lanes call it.
DEVICE bool any_lane(bool so) {
#if ON_NVIDIA
    return __any_sync(0xffffffffu, so);
#else
    return __any(so);
#endif
}
DEVICE void sync_wave() {
#if ON_AMD
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
    __syncwarp();
#endif
}

} // namespace hipstack
#else
namespace hipstack {
// What a kernel does instead.
DEVICE void never_launched() {
#if ON_AMD
    __builtin_trap();
#else
    asm volatile("trap;");
#endif
}
} // namespace hipstack
#endif
