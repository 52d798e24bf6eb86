// The small floats and complex numbers of HIP's headers. tests/rtc/numbers.rs has the expected results.
#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>

#define EACH for (unsigned i = threadIdx.x; i < count; i += blockDim.x)

extern "C" __global__ void bf16_of_floats(const float* in, unsigned short* out, unsigned count) {
    EACH out[i] = __bfloat16_as_ushort(__float2bfloat16(in[i]));
}
extern "C" __global__ void old_bf16_of_floats(const float* in, unsigned short* out, unsigned count) {
    EACH out[i] = hip_bfloat16(in[i]).data;
}
extern "C" __global__ void half_of_floats(const float* in, unsigned short* out, unsigned count) {
    EACH out[i] = __half_as_ushort(__float2half(in[i]));
}
extern "C" __global__ void bf16_of_doubles(const double* in, unsigned short* out, unsigned count) {
    EACH out[i] = __bfloat16_as_ushort(__double2bfloat16(in[i]));
}
extern "C" __global__ void half_of_doubles(const double* in, unsigned short* out, unsigned count) {
    EACH out[i] = __half_as_ushort(__half(in[i]));
}
extern "C" __global__ void bf16_of_integers(const long long* in, unsigned short* out, unsigned count) {
    EACH {
        out[2 * i] = __bfloat16_as_ushort(__hip_bfloat16(in[i]));
        out[2 * i + 1] = __bfloat16_as_ushort(__hip_bfloat16((unsigned long long)in[i]));
    }
}

template <class H>
__device__ void arithmetic(H a, H b, H c, H* out) {
    out[0] = a + b, out[1] = a - b, out[2] = a * b, out[3] = a / b, out[4] = __hfma(a, b, c);
}
extern "C" __global__ void bf16_arithmetic(const __hip_bfloat16* in, __hip_bfloat16* out, unsigned count) {
    EACH arithmetic(in[3 * i], in[3 * i + 1], in[3 * i + 2], out + 5 * i);
}
extern "C" __global__ void half_arithmetic(const __half* in, __half* out, unsigned count) {
    EACH arithmetic(in[3 * i], in[3 * i + 1], in[3 * i + 2], out + 5 * i);
}

// One value, and the results of the comparisons, the parts of pairs and the functions, as floats.
template <class H, class V>
__device__ void tour(float* out, H one, H two, H nan) {
    int n = 0;
    out[n++] = __heq(one, nan), out[n++] = __hequ(one, nan), out[n++] = __hne(one, nan), out[n++] = __hlt(one, two);
    out[n++] = __hgtu(one, nan), out[n++] = one == nan, out[n++] = one != nan, out[n++] = __hisnan(nan), out[n++] = __hisinf(nan);
    out[n++] = (float)__hmax(one, nan), out[n++] = __hisnan(__hmax_nan(one, nan)), out[n++] = (float)__hmin(two, one);
    out[n++] = (float)__hneg(two), out[n++] = (float)__habs(-two), out[n++] = (float)__hadd_sat(one, two), out[n++] = (float)hsqrt(two);
    V pair(one, two);
    pair += V(two, two);
    pair = __hfma2(pair, pair, V(one, -one));
    out[n++] = __low2float(pair), out[n++] = __high2float(pair), out[n++] = __low2float(__lowhigh2highlow(pair));
    out[n++] = __hbeq2(pair, pair), out[n++] = __hbne2(pair, V(pair.x, one)), out[n++] = __low2float(__hlt2(pair, V(two, two)));
    H count = one;
    count++, ++count, count--;
    out[n++] = (float)count, out[n++] = (float)hfloor(H(2.75f)), out[n++] = (float)hexp2(two), out[n++] = (float)h2log2(V(two, two)).y;
}
extern "C" __global__ void bf16_tour(float* out) {
    tour<__hip_bfloat16, __hip_bfloat162>(out, HIPRT_ONE_BF16, __hip_bfloat16(2), HIPRT_NAN_BF16);
}
extern "C" __global__ void half_tour(float* out) {
    tour<__half, __half2>(out, 1.0f, 2, __ushort_as_half(0x7e00));
}

extern "C" __global__ void halves_of_integers(float* out) {
    out[0] = __half2int_rn(2.5f), out[1] = __half2int_rz(-2.5f), out[2] = __half2int_rd(-2.5f), out[3] = __half2int_ru(-2.5f);
    // 2049 lies between 2048 and 2050; beyond 65504 there is infinity.
    out[4] = __int2half_rn(2049), out[5] = __int2half_rz(2049), out[6] = __int2half_ru(2049), out[7] = __int2half_rd(-2049);
    out[8] = __uint2half_rz(70000u), out[9] = __ll2half_rd(-70000ll), out[10] = __float2half_ru(1e-10f), out[11] = __float2half_rd(1e-10f);
    out[12] = __float2half_rd(-1e-10f), out[13] = __float2half_rz(-1e-10f), out[14] = __ushort2half_rn(65535);
}

extern "C" __global__ void directions(double* out) {
    // 2^24 + 1 lies between two floats, 2^53 + 1 between two doubles.
    out[0] = __int2float_rd(16777217), out[1] = __int2float_ru(16777217), out[2] = __int2float_rz(-16777217);
    out[3] = __uint2float_rn(4294967295u), out[4] = __uint2float_rz(4294967295u), out[5] = __double2float_ru(1e300);
    out[6] = __double2float_rz(1e300), out[7] = __double2float_rd(-0.1), out[8] = __ull2float_rd(~0ull);
    out[9] = __ll2double_ru(9007199254740993ll), out[10] = __ll2double_rd(9007199254740993ll), out[11] = __ull2double_rz(~0ull);
    out[12] = __double2float_ru(1e-300), out[13] = __ll2float_rd(-1ll << 62);
}

extern "C" __global__ void dot_products(long long* out) {
    out[0] = amd_mixed_dot(short2(10), short2(20), 30, true), out[1] = amd_mixed_dot(short2(32767), short2(32767), 65536 * 32767, true);
    out[2] = amd_mixed_dot(short2(32767), short2(-32768), -2147483647 - 1, true), out[3] = amd_mixed_dot(uchar4(97), uchar4(98), 30u, true);
    out[4] = amd_mixed_dot(char4(1, -2, 3, -4), char4(5, 6, 7, 8), 100, false);
    // 10 is 0xa, -6 in four bits; 20 is 0x14, 4 and 1.
    out[5] = amd_mixed_dot(10, 20, 30, true), out[6] = amd_mixed_dot(10u, 20u, 30u, true);
    out[7] = amd_mixed_dot(~0u, ~0u, ~0u, true), out[8] = amd_mixed_dot(~0u, ~0u, ~0u, false);
    out[9] = amd_mixed_dot(__half2(1, 3), __half2(3, 3), 2, false), out[10] = amd_mixed_dot(__half2(1, 3), __half2(3, 3), 2, true);
    out[11] = __bitextract_u64(0x123456789abcdef0ull, 16, 20), out[12] = __bitinsert_u32(0xffffffffu, 0x25u, 8, 4);
}
extern "C" __global__ void vector_operators(int* out) {
    int2 a(3, 4);
    const int2 before = a++;
    out[0] = (before == int2(3, 4)) + 10 * (a == int2(4, 5)) + 100 * (--a == int2(3, 4)) + 1000 * (int2(7) == 7) + 10000 * (7 != int2(7, 8));
    struct Number {
        int v;
        bool operator<(Number other) const { return v < other.v; }
    };
    out[1] = min(Number{4}, Number{3}).v + 10 * max(Number{4}, Number{3}).v;
}

extern "C" __global__ void fp8_of_doubles(const double* in, unsigned char* out, unsigned count, int format, int saturation) {
    EACH {
        const auto s = (__hip_saturation_t)saturation;
        const auto f = (__hip_fp8_interpretation_t)format;
        out[2 * i] = __hip_cvt_double_to_fp8(in[i], s, f);
        out[2 * i + 1] = __hip_cvt_float_to_fp8((float)in[i], s, f);
    }
}
extern "C" __global__ void fp8_values(float* out, int format) {
    for (unsigned x = threadIdx.x; x < 256; x += blockDim.x)
        out[x] = __half2float(__hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)x, (__hip_fp8_interpretation_t)format));
}
extern "C" __global__ void fp8_types(float* out) {
    const __hip_fp8_e4m3 a(1.3f), large(1000), minus(-3.7);
    const __hip_fp8_e5m2 b(__half(1.3f));
    const __hip_fp8_e4m3_fnuz c(__hip_bfloat16(1.3f));
    out[0] = a, out[1] = b, out[2] = c, out[3] = large, out[4] = (int)minus, out[5] = (unsigned)minus, out[6] = (bool)minus;
    out[7] = __half2float(a), out[8] = (signed char)large;
    const __hip_fp8x2_e4m3 two(float2(1.0f, -2.0f));
    out[9] = two.__x, out[10] = ((float2)two).y, out[11] = __high2float((__half2)two);
    const __hip_fp8x4_e5m2 four(float4(1.0f, 2.0f, 4.0f, -8.0f));
    out[12] = ((float4)four).w, out[13] = four.__x & 0xff;
    out[14] = sizeof(a) + 10 * sizeof(two) + 100 * sizeof(four), out[15] = __hip_fp8_e5m2_fnuz::__we;
}

extern "C" __global__ void complex_numbers(double* out) {
    const hipDoubleComplex p = make_hipDoubleComplex(1, 2), q = make_hipDoubleComplex(3, -4);
    const hipDoubleComplex product = hipCmul(p, q), quotient = hipCdiv(product, q), sum = hipCadd(p, q), difference = hipCsub(p, q);
    const hipDoubleComplex fused = hipCfma(p, q, p), conjugate = hipConj(q);
    const double all[] = {product.x, product.y, quotient.x, quotient.y, sum.x, sum.y, difference.x, difference.y,
                          fused.x, fused.y, conjugate.y, hipCabs(q), hipCsqabs(q), hipCreal(q), hipCimag(q)};
    for (int i = 0; i < 15; i++) out[i] = all[i];
    const hipComplex f = make_hipComplex(0.1f, 0.7f), g = hipComplexDoubleToFloat(q), h = hipCmulf(f, g);
    out[15] = h.x, out[16] = h.y, out[17] = hipCabsf(g), out[18] = hipComplexFloatToDouble(f).x, out[19] = hipCdivf(h, g).y;
}
