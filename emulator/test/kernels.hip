// The kernels of test.c: arithmetic, memory, lanes and faults that it knows the results of.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bfloat16.h>
#define K extern "C" __global__ void
__device__ float scale_by = 3.0f;                       // for hipModuleGetGlobal
K vector_add(const float *a, const float *b, float *c, unsigned n) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }
K block_sum(const float *x, float *out, unsigned n) {
  __shared__ float s[256]; unsigned t = threadIdx.x, i = blockIdx.x * 256 + t; s[t] = i < n ? x[i] : 0; __syncthreads();
  for (int o = 128; o > 0; o >>= 1) { if (t < o) s[t] += s[t + o]; __syncthreads(); }
  if (!t) out[blockIdx.x] = s[0]; }
K block_sum_dyn(const float *x, float *out, unsigned n) {
  extern __shared__ float s[]; unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t; s[t] = i < n ? x[i] : 0; __syncthreads();
  for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (t < o) s[t] += s[t + o]; __syncthreads(); }
  if (!t) out[blockIdx.x] = s[0]; }
K wave_sum(const float *x, float *out, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x; float a = i < n ? x[i] : 0;
  for (int o = 16; o > 0; o >>= 1) a += __shfl_xor(a, o, 32);
  if ((threadIdx.x & 31) == 0) out[i >> 5] = a; }
K shfl_divergent(const float *x, float *out) {           // only some lanes take part
  unsigned t = threadIdx.x; float a = x[t]; if (t & 1) a += __shfl(a, (t + 2) & 31, 32); else a -= __shfl_up(a, 2, 32); out[t] = a; }
template <typename T> __device__ void gelu(const T *x, T *y, size_t n) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) { float v = (float)x[i]; y[i] = (T)(0.5f * v * (1.0f + erff(v * 0.70710678f))); } }
K gelu_f32(const float *x, float *y, size_t n) { gelu(x, y, n); }
K gelu_f16(const _Float16 *x, _Float16 *y, size_t n) { gelu(x, y, n); }
K gelu_bf16(const hip_bfloat16 *x, hip_bfloat16 *y, size_t n) { gelu(x, y, n); }
K sgemm(const float *A, const float *B, float *C, int M, int N, int L) {
  __shared__ float a[16][17], b[16][17]; int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x; float s = 0;
  for (int k = 0; k < L; k += 16) {
    a[threadIdx.y][threadIdx.x] = r < M && k + threadIdx.x < L ? A[r * L + k + threadIdx.x] : 0.f; b[threadIdx.y][threadIdx.x] = k + threadIdx.y < L && c < N ? B[(k + threadIdx.y) * N + c] : 0.f; __syncthreads();
    for (int i = 0; i < 16; i++) s += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads(); }
  if (r < M && c < N) C[r * N + c] = s; }
K atomics(const float *x, float *fsum, unsigned *isum, int *imax, unsigned long long *lsum, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { atomicAdd(fsum, x[i]); atomicAdd(isum, i); atomicMax(imax, (int)i - 7); atomicAdd(lsum, (unsigned long long)i << 20); } }
K cas_add(float *sum, unsigned n) {                      // the loop that compilers make where there is no float atomic
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { unsigned *p = (unsigned *)sum, o = *p, s; do { s = o; o = atomicCAS(p, s, __float_as_uint(__uint_as_float(s) + 1.0f)); } while (s != o); } }
K lds_atomic(const unsigned *x, unsigned *hist, unsigned n) { __shared__ unsigned h[16]; if (threadIdx.x < 16) h[threadIdx.x] = 0; __syncthreads(); unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&h[x[i] & 15], 1u); __syncthreads(); if (threadIdx.x < 16) atomicAdd(&hist[threadIdx.x], h[threadIdx.x]); }
K use_global(float *x, unsigned n) { unsigned i = threadIdx.x; if (i < n) x[i] *= scale_by; }
K denormal(const float *x, float *y) { y[threadIdx.x] = x[threadIdx.x] * 0.5f; }
K doubles(const double *x, double *y, unsigned n) { unsigned i = threadIdx.x; if (i < n) y[i] = sqrt(x[i]) / 3.0 + exp(-x[i]) + sin(x[i]); }
K maths(const float *x, float *y, unsigned n) { unsigned i = threadIdx.x; if (i < n) { float v = x[i]; y[5 * i] = expf(v); y[5 * i + 1] = logf(fabsf(v) + 0.1f); y[5 * i + 2] = sinf(v); y[5 * i + 3] = tanhf(v) / (v * v + 1.7f); y[5 * i + 4] = powf(fabsf(v), 1.5f); } }
K ints(const unsigned *x, unsigned long long *y, unsigned n) { unsigned i = threadIdx.x; if (i < n) { unsigned v = x[i]; y[4 * i] = v / (i + 3); y[4 * i + 1] = (unsigned long long)v * (0x123456789ull + i) % 1000003ull; y[4 * i + 2] = __popc(v) + __clz(v) * 100; y[4 * i + 3] = (unsigned char)v * 7 + ((signed char)(v >> 8)) * 3; } }
K bytes(const unsigned char *x, unsigned char *y, unsigned short *z, unsigned n) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { y[n - 1 - i] = x[i]; z[i] = x[i] * 257u; } }
K private_array(const unsigned *x, unsigned *y, unsigned n) { unsigned i = threadIdx.x; unsigned a[40]; for (int k = 0; k < 40; k++) a[k] = x[(i + k) % n] + k; unsigned s = 0; for (int k = 0; k < 40; k++) s = s * 31 + a[(x[i] + k * 7) % 40]; y[i] = s; }
K dims(unsigned *o) { unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x, t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; o[b * blockDim.x * blockDim.y * blockDim.z + t] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20; }
struct Big { int a[20]; char c; double d; };
K by_value(Big b, char c, short s, double *o) { o[threadIdx.x] = b.a[threadIdx.x % 20] + b.c + b.d + c + s; }
K grid_sync(unsigned *count, unsigned *seen) {           // a hand-made grid barrier: only a cooperative launch may
  if (!threadIdx.x) { __hip_atomic_fetch_add(count, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT); while (__hip_atomic_load(count, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < gridDim.x) __builtin_amdgcn_s_sleep(1); seen[blockIdx.x] = *count; } }
K out_of_bounds(float *x, unsigned n) { x[n + threadIdx.x] = 1.0f; }
K endless(volatile unsigned *x) { while (*x == 0) ; }
K traps(unsigned *x) { if (x[threadIdx.x] == 7) __builtin_trap(); x[threadIdx.x] = 1; }
K lds_overrun(float *o, unsigned n) { extern __shared__ float s[]; s[threadIdx.x + n] = 1.0f; __syncthreads(); o[threadIdx.x] = s[threadIdx.x]; }
K fma_loop(float *x, unsigned iters) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; float a = x[i];
#pragma unroll 1
  for (unsigned k = 0; k < iters; k++) { a = fmaf(a, 1.0001f, 0.5f); a = fmaf(a, 0.999f, 0.25f); a = fmaf(a, 1.001f, -0.5f); a = fmaf(a, 0.5f, 0.125f); } x[i] = a; }
// One 16x16x16 product with the matrix instruction of the architecture.
typedef float f4 __attribute__((ext_vector_type(4))); typedef float f8 __attribute__((ext_vector_type(8)));
typedef _Float16 h4 __attribute__((ext_vector_type(4))); typedef _Float16 h8 __attribute__((ext_vector_type(8))); typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef short s4 __attribute__((ext_vector_type(4))); typedef short s8 __attribute__((ext_vector_type(8))); typedef short s16 __attribute__((ext_vector_type(16)));
#if __GFX11__
#define MM(T, V, OP) { int l = threadIdx.x; V a, b; f8 c = {}; for (int i = 0; i < 16; i++) { a[i] = A[l % 16 * 16 + i]; b[i] = B[i * 16 + l % 16]; } c = OP(a, b, c); for (int r = 0; r < 8; r++) C[(2 * r + l / 16) * 16 + l % 16] = c[r]; }
K mm_f16(const _Float16 *A, const _Float16 *B, float *C) MM(_Float16, h16, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32)
K mm_bf16(const short *A, const short *B, float *C) MM(short, s16, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32)
#elif __GFX12__
#define MM(T, V, OP) { int l = threadIdx.x; V a, b; f8 c = {}; for (int i = 0; i < 8; i++) { int k = l / 16 * 8 + i; a[i] = A[l % 16 * 16 + k]; b[i] = B[k * 16 + l % 16]; } c = OP(a, b, c); for (int r = 0; r < 8; r++) C[(l / 16 * 8 + r) * 16 + l % 16] = c[r]; }
K mm_f16(const _Float16 *A, const _Float16 *B, float *C) MM(_Float16, h8, __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
K mm_bf16(const short *A, const short *B, float *C) MM(short, s8, __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12)
#else
#define MM(T, V, OP) { int l = threadIdx.x; V a, b; f4 c = {}; for (int i = 0; i < 4; i++) { int k = l / 16 * 4 + i; a[i] = A[l % 16 * 16 + k]; b[i] = B[k * 16 + l % 16]; } c = OP(a, b, c, 0, 0, 0); for (int r = 0; r < 4; r++) C[(l / 16 * 4 + r) * 16 + l % 16] = c[r]; }
K mm_f16(const _Float16 *A, const _Float16 *B, float *C) MM(_Float16, h4, __builtin_amdgcn_mfma_f32_16x16x16f16)
K mm_bf16(const short *A, const short *B, float *C) MM(short, s4, __builtin_amdgcn_mfma_f32_16x16x16bf16_1k)
#endif
K lanes(const int *x, int *o) {                         // DPP, swizzle, readlane: six results a thread
  int t = threadIdx.x, v = x[t]; o[6 * t] = __builtin_amdgcn_ds_swizzle(v, 0x401F); o[6 * t + 1] = __builtin_amdgcn_readlane(v, 5); o[6 * t + 2] = __builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, false);
  o[6 * t + 3] = __builtin_amdgcn_mov_dpp(v, 0xb1, 0xf, 0xf, true); o[6 * t + 4] = __builtin_amdgcn_readfirstlane(v + 1); o[6 * t + 5] = __builtin_amdgcn_mbcnt_lo(~0u, 0) + __popcll(__ballot(v & 1)) * 100; }
K packed(const __half2 *x, const __half2 *y, __half2 *o) { int t = threadIdx.x; __half2 a = x[t], b = y[t]; o[t] = __hadd2(__hmul2(a, b), __hfma2(a, a, b)); }
// DPP where the masks or the source lane leave a lane alone, in place, in VOP3 form; buffer accesses past the end; 16-bit loads
K dpp_masks(const int *x, int *o) {
  int t = threadIdx.x, v = x[t], w = 1000 + t, n = blockDim.x; o[t] = __builtin_amdgcn_update_dpp(7, v, 0x112, 0x5, 0x3, false); // row_shr:2, rows 0 and 2, banks 0 and 1
  asm volatile("v_add_u32_dpp %0, %1, %0 row_shl:1 row_mask:0xf bank_mask:0xf" : "+v"(w) : "v"(v)); o[n + t] = w;
  int r = v; asm volatile("s_nop 4\n\tv_add_u32_dpp %0, %0, %0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0" : "+v"(r)); o[2 * n + t] = r;
#if __GFX9__
  int b = 5; asm volatile("s_nop 4\n\tv_mov_b32_dpp %0, %1 row_bcast:15 row_mask:0xa bank_mask:0xf" : "+v"(b) : "v"(v)); o[3 * n + t] = b;
#else
  int b = 0; asm volatile("v_add3_u32_e64_dpp %0, %1, %1, 1 row_ror:3 row_mask:0xf bank_mask:0xf" : "+v"(b) : "v"(v)); o[3 * n + t] = b;
#endif
}
typedef int i4 __attribute__((ext_vector_type(4)));
K buffer_range(const int *x, int *o, int bytes) {
  int t = threadIdx.x, off = t * 16; unsigned long long p = (unsigned long long)x; i4 d = {(int)p, (int)(p >> 32), bytes,
#if __GFX9__
    0x27000
#else
    0x31004000
#endif
  }, r; d.x = __builtin_amdgcn_readfirstlane(d.x); d.y = __builtin_amdgcn_readfirstlane(d.y); d.z = __builtin_amdgcn_readfirstlane(d.z); d.w = __builtin_amdgcn_readfirstlane(d.w);
#if __GFX9__
  asm volatile("buffer_load_dwordx4 %0, %1, %2, 0 offen\n\ts_waitcnt vmcnt(0)" : "=v"(r) : "v"(off), "s"(d));
#elif __GFX12__
  asm volatile("buffer_load_b128 %0, %1, %2, null offen\n\ts_wait_loadcnt 0" : "=v"(r) : "v"(off), "s"(d));
#else
  asm volatile("buffer_load_b128 %0, %1, %2, 0 offen\n\ts_waitcnt vmcnt(0)" : "=v"(r) : "v"(off), "s"(d));
#endif
  for (int i = 0; i < 4; i++) o[t * 4 + i] = r[i];
}
// Loads of 16 bits into half a register, v_cmpx, a subnormal f16 as an operand of f32, and minus the upper half of a register by SDWA.
// o has 5 results of each of n threads.
K halves(const unsigned short *x, unsigned *o) {
  __shared__ unsigned short s[128];
  int t = threadIdx.x, n = blockDim.x;
  s[t] = x[t];
  s[64 + t] = x[64 + t];
  __syncthreads();
  unsigned at = (unsigned)(size_t)(__attribute__((address_space(3))) unsigned short *)s + t * 2, low = 0xdeadbeef, high = 0xdeadbeef, same = 0, half = x[t];
  float wide, minus = -(float)t;
#if __GFX9__
  unsigned upper = __builtin_bit_cast(unsigned short, (_Float16)(float)t) << 16;
  asm volatile("v_cvt_f32_f16_sdwa %0, -%1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1" : "=v"(minus) : "v"(upper));
  asm volatile("ds_read_u16_d16 %0, %2\n\tds_read_u16_d16_hi %1, %2 offset:128\n\ts_waitcnt lgkmcnt(0)" : "+v"(low), "+v"(high) : "v"(at));
  asm volatile("s_mov_b64 s[52:53], exec\n\tv_cmpx_eq_u32_e64 s[54:55], 5, %1\n\tv_mov_b32 %0, 1\n\ts_mov_b64 exec, s[52:53]" : "+v"(same) : "v"(t) : "s52", "s53", "s54", "s55");
#else
#if __GFX12__
  asm volatile("ds_load_u16_d16 %0, %2\n\tds_load_u16_d16_hi %1, %2 offset:128\n\ts_wait_dscnt 0" : "+v"(low), "+v"(high) : "v"(at));
#else
  asm volatile("ds_load_u16_d16 %0, %2\n\tds_load_u16_d16_hi %1, %2 offset:128\n\ts_waitcnt lgkmcnt(0)" : "+v"(low), "+v"(high) : "v"(at));
#endif
  asm volatile("s_mov_b32 s52, exec_lo\n\tv_cmpx_eq_u32_e32 5, %1\n\tv_mov_b32 %0, 1\n\ts_mov_b32 exec_lo, s52" : "+v"(same) : "v"(t) : "s52");
#endif
  asm volatile("v_fma_mix_f32 %0, %1, 1.0, 0 op_sel_hi:[1,0,0]" : "=v"(wide) : "v"(half));
  o[t] = low;
  o[n + t] = high;
  o[2 * n + t] = same;
  o[3 * n + t] = __float_as_uint(wide);
  o[4 * n + t] = __float_as_uint(minus);
}
// Multiply-add, quotient, root and scaling, which are rounded once, and the parts of a number: five results a thread.
template <typename T> __device__ void exact(const T *x, T *o) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  T a = x[2 * i], b = x[2 * i + 1], n = (T)(int)(i % 600) - 300;
  int e;
  o[5 * i] = fma(a, b, -(a * b));
  o[5 * i + 1] = a / b;
  o[5 * i + 2] = sqrt(a);
  o[5 * i + 3] = ldexp(a, (int)n * (sizeof(T) == 8 ? 7 : 1));
  o[5 * i + 4] = frexp(a, &e);
  o[5 * i + 4] += e;
}
K exact_f32(const float *x, float *o) { exact(x, o); }
K exact_f64(const double *x, double *o) { exact(x, o); }
K exact_f16(const _Float16 *x, _Float16 *o) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = __builtin_fmaf16(x[3 * i], x[3 * i + 1], x[3 * i + 2]); }
// Both factors are the same for every lane.
K same_factors(double a, double b, const double *c, double *o) { o[threadIdx.x] = fma(a, b, c[threadIdx.x]); }
// 16 bits at every address, a register above 127 as an operand of 16 bits, and the carries of an addition in which only the first four lanes take part.
extern "C" __global__ void __launch_bounds__(64) odd(const unsigned char *x, unsigned *o) {
  unsigned t = threadIdx.x, n = blockDim.x, half = t, high;
  const unsigned char *p = x + t;
#if __GFX9__
  unsigned long long carries;
  asm volatile("global_load_ushort %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(half) : "v"(p));
  asm volatile("v_mov_b32 v130, %1\n\tv_mov_b32 v2, 0\n\tv_add_u16_e32 v131, v130, v130\n\tv_mov_b32 %0, v131" : "=v"(high) : "v"(t + 1) : "v2", "v3", "v130", "v131");
  asm volatile("s_mov_b64 s[52:53], exec\n\ts_mov_b64 exec, 15\n\tv_add_co_u32_e32 v130, vcc, %1, %1\n\ts_mov_b64 %0, vcc\n\ts_mov_b64 exec, s[52:53]" : "=s"(carries) : "v"(~t) : "s52", "s53", "vcc", "v130");
#else
  unsigned carries;
#if __GFX12__
  asm volatile("global_load_u16 %0, %1, off\n\ts_wait_loadcnt 0" : "=v"(half) : "v"(p));
#else
  asm volatile("global_load_u16 %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(half) : "v"(p));
#endif
  high = 2 * t + 2;
  asm volatile("s_mov_b32 s52, exec_lo\n\ts_mov_b32 vcc_lo, 0\n\ts_mov_b32 exec_lo, 15\n\tv_add_co_ci_u32_e32 v130, vcc_lo, %1, %1, vcc_lo\n\ts_mov_b32 %0, vcc_lo\n\ts_mov_b32 exec_lo, s52" : "=s"(carries) : "v"(~t) : "s52", "vcc", "v130");
#endif
  o[t] = half;
  o[n + t] = high;
  o[2 * n + t] = carries;
}
// 32 bits loaded from, and 64 stored to, addresses that 4 does not divide; LDS by a negative address, whose sum with the offset wraps.
K unaligned(const unsigned char *x, unsigned char *y, unsigned *o) {
  __shared__ unsigned s[64];
  unsigned t = threadIdx.x, word, below;
  const unsigned char *from = x + 5 * t + 1;
  unsigned char *to = y + 9 * t + 1;
  s[t] = t * t;
  __syncthreads();
  unsigned at = (unsigned)(size_t)(__attribute__((address_space(3))) unsigned *)s + 4 * t - 64;
#if __GFX9__
  asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(word) : "v"(from));
  asm volatile("ds_read_b32 %0, %1 offset:64\n\ts_waitcnt lgkmcnt(0)" : "=v"(below) : "v"(at) : "memory");
  asm volatile("global_store_dwordx2 %0, %1, off" ::"v"(to), "v"(word | (unsigned long long)~word << 32) : "memory");
#else
#if __GFX12__
  asm volatile("global_load_b32 %0, %1, off\n\ts_wait_loadcnt 0" : "=v"(word) : "v"(from));
  asm volatile("ds_load_b32 %0, %1 offset:64\n\ts_wait_dscnt 0" : "=v"(below) : "v"(at) : "memory");
#else
  asm volatile("global_load_b32 %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(word) : "v"(from));
  asm volatile("ds_load_b32 %0, %1 offset:64\n\ts_waitcnt lgkmcnt(0)" : "=v"(below) : "v"(at) : "memory");
#endif
  asm volatile("global_store_b64 %0, %1, off" ::"v"(to), "v"(word | (unsigned long long)~word << 32) : "memory");
#endif
  o[t] = below;
}
