// Device functions: bits, bytes, integers, conversions, arithmetic.

extern "C" __global__ void bits(const unsigned* in, unsigned* out) {
    unsigned t = threadIdx.x, v = in[t];
    unsigned long long w = (unsigned long long)v << 20;
    unsigned* mine = out + 8 * t;
    mine[0] = __popc(v), mine[1] = __clz((int)v), mine[2] = __ffs((int)v), mine[3] = __brev(v);
    mine[4] = __popcll(w), mine[5] = __clzll((long long)w), mine[6] = __ffsll(w), mine[7] = (unsigned)(__brevll(w) >> 32);
}

extern "C" __global__ void bytes(unsigned* out) {
    unsigned x = 0x33221100u, y = 0x77665544u;
    out[0] = __byte_perm(x, y, 0x7531), out[1] = __byte_perm(x, y, 0x0123), out[2] = __byte_perm(x, y, 0x4444);
    out[3] = __funnelshift_l(x, y, 8), out[4] = __funnelshift_r(x, y, 8);
    out[5] = __funnelshift_l(x, y, 0), out[6] = __funnelshift_r(x, y, 0);
    out[7] = __funnelshift_lc(x, y, 40), out[8] = __funnelshift_rc(x, y, 40);
}

extern "C" __global__ void whole_numbers(int* out) {
    out[0] = __mulhi(0x40000000, 12), out[1] = __mulhi(-0x40000000, 12), out[2] = (int)__umulhi(0xffffffffu, 0xffffffffu);
    out[3] = __mul24(0x00ffffff, 3), out[4] = (int)__umul24(0xff000005u, 0xff000007u);
    out[5] = (int)__sad(-7, 5, 100u), out[6] = (int)__usad(7u, 5u, 100u);
    out[7] = (int)__uhadd(0x7ffffffdu, 0x80000001u), out[8] = (int)__urhadd(6u, 3u);
    out[9] = (int)(__umul64hi(0xffffffffffffffffull, 0x100000000ull)), out[10] = (int)__mul64hi(-(1ll << 62), 8ll);
}

extern "C" __global__ void reinterpreted(const float* in, unsigned* out, const double* doubles, long long* longs) {
    int t = threadIdx.x;
    out[2 * t] = __float_as_uint(in[t]);
    out[2 * t + 1] = (unsigned)__float_as_int(-in[t]);
    longs[2 * t] = __double_as_longlong(doubles[t]);
    longs[2 * t + 1] = __double_as_longlong(__longlong_as_double(__double_as_longlong(doubles[t]) ^ (1ll << 63)));
}

// To nearest (even), towards zero, down, up.
extern "C" __global__ void roundings(const float* in, int* out) {
    int t = threadIdx.x;
    out[4 * t] = __float2int_rn(in[t]), out[4 * t + 1] = __float2int_rz(in[t]);
    out[4 * t + 2] = __float2int_rd(in[t]), out[4 * t + 3] = __float2int_ru(in[t]);
}

// Operations that IEEE 754 defines to the last bit.
extern "C" __global__ void exact(const float* in, unsigned* out) {
    float a = in[0], b = in[1], c = in[2];
    out[0] = __float_as_uint(__fadd_rn(a, b)), out[1] = __float_as_uint(__fmul_rn(a, b));
    out[2] = __float_as_uint(__fmaf_rn(a, b, c)), out[3] = __float_as_uint(fmaf(a, b, c));
    out[4] = __float_as_uint(__fdiv_rn(a, b)), out[5] = __float_as_uint(__fsqrt_rn(a));
    out[6] = __float_as_uint(floorf(c)), out[7] = __float_as_uint(ceilf(c)), out[8] = __float_as_uint(fabsf(c));
    out[9] = __float_as_uint(rintf(2.5f)), out[10] = __float_as_uint(copysignf(a, c));
}

extern "C" __global__ void least_and_most(const int* in, int* out, const float* floats, float* chosen) {
    int t = threadIdx.x, a = in[2 * t], b = in[2 * t + 1];
    out[4 * t] = min(a, b), out[4 * t + 1] = max(a, b);
    out[4 * t + 2] = (int)min((unsigned)a, (unsigned)b), out[4 * t + 3] = (int)max((unsigned)a, (unsigned)b);
    chosen[2 * t] = fminf(floats[2 * t], floats[2 * t + 1]), chosen[2 * t + 1] = fmaxf(floats[2 * t], floats[2 * t + 1]);
}

// Small types: char is signed, and overflow wraps.
extern "C" __global__ void small_types(int* out) {
    char c = (char)(200 + threadIdx.x);
    unsigned char u = (unsigned char)(250 + threadIdx.x);
    short s = (short)(32766 + threadIdx.x);
    unsigned short w = (unsigned short)(65534 + threadIdx.x);
    int* mine = out + 4 * threadIdx.x;
    mine[0] = c, mine[1] = u, mine[2] = s, mine[3] = w;
}

extern "C" __global__ void wide_arithmetic(const long long* in, long long* out) {
    int t = threadIdx.x;
    long long a = in[2 * t], b = in[2 * t + 1];
    long long* mine = out + 6 * t;
    mine[0] = a * b, mine[1] = a / b, mine[2] = a % b, mine[3] = a >> 5;
    mine[4] = (long long)((unsigned long long)a >> 5), mine[5] = (long long)((unsigned long long)a << 7);
}

template <class T>
__device__ T power(T base, int exponent) {
    T out = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
        if (exponent % 2) out *= base;
    return out;
}

__device__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void templates_and_recursion(long long* out) {
    int t = threadIdx.x;
    out[t] = power<long long>(3, t) + (long long)power<double>(2.0, t) + ackermann(2, t % 4);
}
