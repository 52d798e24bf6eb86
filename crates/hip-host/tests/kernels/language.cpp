// Test kernels for features that older versions of HIP lack, so that the platforms' common cases cannot use
// them: the forms with a mask, matching lanes, more groups, operators of vectors, half precision.
#include <hip/hip_bfloat16.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
// A source that includes it again gets the C library's macro; the function that it calls must still be ours.
#include <cassert>

namespace cg = cooperative_groups;

HIPHOST_MODULE(test_language)

HIPHOST_KERNEL(with_a_mask, unsigned long long* out) {
    unsigned long long all = ~0ull;
    int t = threadIdx.x, lane = t % warpSize;
    unsigned long long* mine = out + 8 * t;
    mine[0] = __shfl_sync(all, t, 3, 8);
    mine[1] = __shfl_up_sync(all, t, 2, 8);
    mine[2] = __shfl_down_sync(all, t, 2, 8);
    mine[3] = __shfl_xor_sync(all, t, 5);
    mine[4] = __ballot_sync(all, lane % 4 == 1);
    mine[5] = __any_sync(all, lane == 9) + 2 * __all_sync(all, lane < 99);
    __syncwarp();
    mine[6] = __activemask();
    if (lane % 2) mine[7] = __activemask();
}

HIPHOST_KERNEL(matching, unsigned long long* out, int* predicates) {
    int t = threadIdx.x;
    out[3 * t] = __match_any(t % 3);
    out[3 * t + 1] = __match_all(77.5, &predicates[2 * t]);
    out[3 * t + 2] = __match_all_sync(~0ull, t / 5, &predicates[2 * t + 1]);
}

struct Twelve {
    float a;
    short b;
    int c;
};
struct Sixteen {
    double a;
    float b;
};
// One, two, twelve and sixteen bytes.
HIPHOST_KERNEL(odd_sizes, double* out) {
    int t = threadIdx.x;
    unsigned char one = __shfl_xor((unsigned char)t, 1);
    short two = __shfl_down((short)(-3 * t), 1, 4);
    Twelve twelve = __shfl_up(Twelve{t + 0.5f, (short)t, -t}, 1, 2);
    Sixteen sixteen = __shfl(Sixteen{t + 0.25, (float)t}, 2, 4);
    double* mine = out + 6 * t;
    mine[0] = one, mine[1] = two, mine[2] = twelve.a, mine[3] = twelve.b + twelve.c, mine[4] = sixteen.a, mine[5] = sixteen.b;
}

HIPHOST_KERNEL(tiles, unsigned long long* out) {
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, same = -1;
    unsigned long long* mine = out + 8 * t;
    mine[0] = tile.ballot(t % 3 == 0);
    mine[1] = (unsigned long long)(tile.any(t == 9) + 2 * tile.all(t < 16));
    mine[2] = tile.match_any(t / 3);
    mine[3] = tile.match_all(t / 16, same);
    mine[4] = (unsigned long long)same;
    mine[5] = tile.meta_group_rank() * 100 + tile.meta_group_size();
    mine[6] = tile.shfl_up(t, 3);
    cg::tiled_group half = cg::tiled_partition(tile, 4);
    mine[7] = half.shfl(t, 1) + 1000 * half.thread_rank();
}

// Lanes 1, 4, 7, ... have ranks 0, 1, 2, ...
HIPHOST_KERNEL(coalesced, unsigned long long* out) {
    int t = threadIdx.x;
    if (t % warpSize % 3 != 1) return;
    cg::coalesced_group here = cg::coalesced_threads();
    unsigned long long* mine = out + 5 * t;
    mine[0] = here.shfl_up(t, 1), mine[1] = here.shfl_down(t, 2);
    mine[2] = here.ballot(here.thread_rank() % 2 == 0);
    mine[3] = here.any(here.thread_rank() == 4) + 2 * here.all(t >= 0);
    here.sync();
    mine[4] = cg::group_size(here) + 100 * cg::thread_rank(here);
}

HIPHOST_KERNEL(vector_operators, float* out, int* ints) {
    float4 a(1, 2, 3, 4), b = make_float4(10, 20, 30, 40), c = 2.0f * a + b / 10.0f - 1.0f;
    c *= a;
    out[0] = c.x, out[1] = c.y, out[2] = c.z, out[3] = c.w, out[4] = a == b, out[5] = a != b, out[6] = (-a).w;
    int2 i = make_int2(13, -7), j = (i << 2) % 5;
    j |= int2(8);
    uchar4 u = make_uchar4(250, 1, 2, 3) + make_uchar4(10, 0, 0, 0);
    ints[0] = j.x, ints[1] = j.y, ints[2] = u.x, ints[3] = u.w, ints[4] = sizeof(float3), ints[5] = sizeof(double4);
    ints[6] = alignof(double4), ints[7] = alignof(int2), ints[8] = (~make_int2(5, 6)).y;
}

HIPHOST_KERNEL(more_atomics, float* floats, double* doubles, int* ints) {
    int t = threadIdx.x;
    unsafeAtomicAdd(&floats[0], 0.5f);
    atomicMin(&floats[1], 3.0f - t);
    atomicMax(&floats[2], 3.0f - t);
    atomicSub(&floats[3], 0.25f);
    unsafeAtomicAdd(&doubles[0], 0.125);
    atomicAdd_block(&ints[0], 2);
    atomicMin_system(&ints[1], -t);
    atomicCAS_block(&ints[2], 0, 5);
}

// Sums, products and comparisons with the formats' rounding.
HIPHOST_KERNEL(half_precision, float* out) {
    __half a = __float2half(1.0009765625f), b = __float2half(3.0f), c = __float2half(1.0029296875f);
    out[0] = __half2float(a + b), out[1] = __half2float(__hmul(a, b)), out[2] = __half2float(__float2half(65520.0f));
    out[3] = __half2float(__hfma(c, c, __float2half(-1.0f))), out[4] = a < b, out[5] = __half_as_ushort(b);
    __half2 pair = __floats2half2_rn(0.5f, -2.0f), twice = __hadd2(pair, pair);
    out[6] = __low2float(twice), out[7] = __high2float(twice), out[8] = __half2float(__ushort_as_half(0x3555));
}

HIPHOST_KERNEL(bfloat16, float* out) {
    hip_bfloat16 a(1.0078125f), b(3.0f);
    out[0] = (float)a, out[1] = (float)(a * b), out[2] = (float)hip_bfloat16(1.01171875f);
    out[3] = (float)hip_bfloat16(1.00390625f), out[4] = (float)hip_bfloat16(NAN), out[5] = b.data;
}

HIPHOST_KERNEL(assert_again, int* out) {
    assert(threadIdx.x != 5);
    out[threadIdx.x] = 1;
}
