// What translated instructions call, and the instructions that are done here instead of by tinygrad's emulator (it lacks them, or gets them wrong).
#include "exec.h"
#include <math.h>

// ---- arithmetic that translated instructions call (exact_maths in corrections.py) ----
static float f32(u32 x) { float f; memcpy(&f, &x, 4); return f; }
static u32 b32(float f) { u32 x; memcpy(&x, &f, 4); return x; }
static double f64(u64 x) { double f; memcpy(&f, &x, 8); return f; }
static u64 b64(double f) { u64 x; memcpy(&x, &f, 8); return x; }
// a * b + c of f32, rounded to odd: rounding that to fewer digits gives what one rounding would.
static double fma_odd(float a, float b, float c) {
  double p = (double)a * b, s = p + c, z = s - p, lost = (p - (s - z)) + (c - z); u64 x = b64(s);
  if (isfinite(s) && lost != 0) { if ((lost < 0) != (s < 0)) x--; x |= 1; }
  return f64(x);
}
EXPORT float amdemu_fma_odd(float a, float b, float c) { // for f16
  double s = fma_odd(a, b, c); u64 x = b64(s), low = x & 0x1fffffff; return isfinite(s) && low ? f64((x - low) | 0x20000000) : s;
}
EXPORT float amdemu_ldexp_f32(float x, int n) { return ldexpf(x, n); }
EXPORT double amdemu_ldexp_f64(double x, int n) { return ldexp(x, n); }
EXPORT float amdemu_mantissa_f32(float x) { int n; return frexpf(x, &n); }
EXPORT double amdemu_mantissa_f64(double x) { int n; return frexp(x, &n); }
EXPORT int amdemu_frexp_exp_f32(float x) { int n; frexpf(x, &n); return n; }
EXPORT int amdemu_frexp_exp_f64(double x) { int n; frexp(x, &n); return n; }
// v_div_scale: by which powers of two denominator and numerator are scaled, and whether v_div_fmas has to scale the quotient back. Where the quotient
// and the denominator's reciprocal are both subnormal the documents scale the denominator up, to infinity; it has to go down.
struct format { int bias, by, far, near; };
static const struct format single = {127, 64, 96, 23}, twice = {1023, 128, 768, 53};
struct scale { int den, num, back; };
static struct scale scale(double den, double num, const struct format *f) {
  int dx, nx, least = 1 - f->bias; double d = frexp(fabs(den), &dx), n = frexp(fabs(num), &nx);
  if (!isfinite(den) || !isfinite(num)) return (struct scale){0, 0, 0};
  int de = dx > least ? dx - 1 + f->bias : 0, ne = nx > least ? nx - 1 + f->bias : 0; // exponents as they are stored
  int small = dx - 1 > -least || (dx - 1 == -least && d > 0.5), tiny = nx - dx < least || (nx - dx == least && n < d); // reciprocal, quotient
  if (ne - de >= f->far) return (struct scale){f->by, 0, 1};
  if (!de) return (struct scale){f->by, f->by, 0};
  if (small) return (struct scale){-f->by, tiny ? 0 : -f->by, tiny};
  if (tiny) return (struct scale){0, f->by, 1};
  return ne <= f->near ? (struct scale){f->by, f->by, 0} : (struct scale){0, 0, 0};
}
#define DIV_SCALE(T, bits, f, ld) \
  EXPORT u32 amdemu_div_scaled_f##bits(T d, T n) { return d != 0 && n != 0 && scale(d, n, &f).back; } \
  EXPORT T amdemu_div_scale_f##bits(T x, T d, T n) { if (d == 0 || n == 0) return NAN; struct scale s = scale(d, n, &f); return ld(x, x == d ? s.den : x == n ? s.num : 0); }
DIV_SCALE(float, 32, single, ldexpf)
DIV_SCALE(double, 64, twice, ldexp)
// v_div_fmas rounds once, after scaling: a quotient near the largest number down again, a subnormal one up.
EXPORT float amdemu_div_fmas_f32(float a, float b, float c, int back) { return back ? ldexp(fma_odd(a, b, c), fabsf(c) >= 2 ? 64 : -64) : fmaf(a, b, c); }
EXPORT double amdemu_div_fmas_f64(double a, double b, double c, int back) {
  if (!back) return fma(a, b, c);
  __float128 p = (__float128)a * b, s = p + c, z = s - p, lost = (p - (s - z)) + (c - z); unsigned __int128 x; memcpy(&x, &s, 16);
  if (isfinite((double)s) && lost != 0) { if ((lost < 0) != (s < 0)) x--; x |= 1; } // odd, as in fma_odd
  memcpy(&s, &x, 16); return s * (__float128)(fabs(c) >= 2 ? 0x1p128 : 0x1p-128);
}
// v_div_fixup, for rounding to nearest: a quotient below half the least number is 0.
static double fixup(double q, double d, double n, int exponents, int under) {
  double sign = copysign(1, d) * copysign(1, n);
  if (isnan(n) || isnan(d)) return isnan(n) ? n : d;
  if ((d == 0 && n == 0) || (isinf(d) && isinf(n))) return -NAN;
  if (d == 0 || isinf(n)) return sign * INFINITY;
  if (isinf(d) || n == 0) return sign * 0.0;
  int dx, nx; frexp(d, &dx); frexp(n, &nx); if (nx < exponents) nx = exponents; if (dx < exponents) dx = exponents; // subnormal numbers: 0 as stored
  if (nx - dx < under) return sign * 0.0;
  return isnan(q) ? sign * INFINITY : sign * fabs(q);
}
EXPORT float amdemu_div_fixup_f32(float q, float d, float n) { return fixup(q, d, n, -126, -150); }
EXPORT double amdemu_div_fixup_f64(double q, double d, double n) { return fixup(q, d, n, -1022, -1075); }

// ---- instructions done here instead of by the emulator (it lacks them, or gets them wrong) ----
#define NAT(name) EXPORT void name(u64 s_, u64 v_, u64 m_, u64 lds_, u64 sc_, u64 acc_)
#define S ((u32 *)s_)
#define V(r, l) ((u32 *)v_)[(u32)(r) * wave + (l)]
#define D64(r) (*(u64 *)(S + (r)))
#define NEXT(n) (*(u64 *)(S + PC) += (n))
#define UNUSED (void)v_, (void)m_, (void)lds_, (void)sc_, (void)acc_
NAT(nat_nop4) { UNUSED; NEXT(4); }
NAT(nat_nop8) { UNUSED; NEXT(8); }
NAT(nat_nop12) { UNUSED; NEXT(12); }
// register indexing: the operand is S0, the enables are the next field (or the immediate)
NAT(nat_gidx_on) { UNUSED; u32 w = *(u32 *)D64(PC); S[124] = (S[124] & ~0xf0ffu) | (S[w & 255] & 255) | (w >> 8 & 15) << 12; S[GIDX] = 1; NEXT(4); }
NAT(nat_gidx_off) { UNUSED; S[GIDX] = 0; NEXT(4); }
NAT(nat_gidx_mode) { UNUSED; S[124] = (S[124] & ~0xf000u) | (*(u32 *)D64(PC) & 15) << 12; NEXT(4); }
NAT(nat_gidx_idx) { UNUSED; S[124] = (S[124] & ~0xffu) | (S[*(u32 *)D64(PC) & 255] & 255); NEXT(4); }
static void movrel(u64 s_, u64 v_, int src, int dst) { // RDNA: M0 (scalar 125) is added to the source's number, the destination's, or both
  enum { wave = 32 }; const u32 *i = (u32 *)D64(PC); u32 w = i[0], m0 = S[125], d = (w >> 17 & 255) + (dst ? m0 : 0), r = w & 511, ex = S[126];
  for (int l = 0; l < wave; l++) if (ex >> l & 1) V(d & 255, l) = r > 255 ? V((r - 256 + (src ? m0 : 0)) & 255, l) : r == 255 ? i[1] : S[r];
  NEXT(r == 255 ? 8 : 4);
}
NAT(nat_movreld) { UNUSED; movrel(s_, v_, 0, 1); }
NAT(nat_movrels) { UNUSED; movrel(s_, v_, 1, 0); }
NAT(nat_movrelsd) { UNUSED; movrel(s_, v_, 1, 1); }
// jumps that read or write the program counter: SOP1 has sdst in bits 16-22 and ssrc0 in 0-7, SOPK its offset in 0-15
NAT(nat_getpc) { UNUSED; u64 pc = D64(PC); u32 w = *(u32 *)pc; D64(w >> 16 & 127) = pc + 4; D64(PC) = pc + 4; }
NAT(nat_setpc) { UNUSED; D64(PC) = D64(*(u32 *)D64(PC) & 255); }
NAT(nat_swappc) { UNUSED; u64 pc = D64(PC); u32 w = *(u32 *)pc; u64 to = D64(w & 255); D64(w >> 16 & 127) = pc + 4; D64(PC) = to; }
NAT(nat_call) { UNUSED; u64 pc = D64(PC); u32 w = *(u32 *)pc; D64(w >> 16 & 127) = pc + 4; D64(PC) = pc + 4 + (int16_t)w * 4ll; }
static inline u64 exec_of(u32 *s, int wave) { return wave == 64 ? *(u64 *)(s + 126) : s[126]; }
// ds_bpermute_b32: each lane reads the register of the lane it names; a lane that is off reads as 0.
static void bpermute(u64 s_, u64 v_, int wave) {
  u32 *i = (u32 *)*(u64 *)(S + PC), off = i[0] & 0xffff, addr = i[1] & 255, data = i[1] >> 8 & 255, dst = i[1] >> 24, tmp[64]; u64 ex = exec_of(S, wave);
  for (int l = 0; l < wave; l++) if (ex >> l & 1) { u32 k = (V(addr, l) + off) / 4 % wave; tmp[l] = ex >> k & 1 ? V(data, k) : 0; }
  for (int l = 0; l < wave; l++) if (ex >> l & 1) V(dst, l) = tmp[l];
  NEXT(8);
}
static void permute(u64 s_, u64 v_, int wave) {
  u32 *i = (u32 *)*(u64 *)(S + PC), off = i[0] & 0xffff, addr = i[1] & 255, data = i[1] >> 8 & 255, dst = i[1] >> 24, tmp[64] = {0}; u64 ex = exec_of(S, wave);
  for (int l = 0; l < wave; l++) if (ex >> l & 1) tmp[(V(addr, l) + off) / 4 % wave] = V(data, l);
  for (int l = 0; l < wave; l++) if (ex >> l & 1) V(dst, l) = tmp[l];
  NEXT(8);
}
// ds_swizzle_b32: quad permutation (bit 15) or and/or/xor masks within 32 lanes.
static void swizzle(u64 s_, u64 v_, int wave) {
  u32 *i = (u32 *)*(u64 *)(S + PC), off = i[0] & 0xffff, data = i[1] & 255, dst = i[1] >> 24, tmp[64]; u64 ex = exec_of(S, wave);
  for (int l = 0; l < wave; l++) {
    int k = off & 0x8000 ? (l & ~3) | (off >> (l & 3) * 2 & 3) : (l & ~31) | ((((l & (off & 31)) | (off >> 5 & 31)) ^ (off >> 10 & 31)) & 31);
    tmp[l] = ex >> k & 1 ? V(data, k) : 0;
  }
  for (int l = 0; l < wave; l++) if (ex >> l & 1) V(dst, l) = tmp[l];
  NEXT(8);
}
NAT(nat_bperm32) { UNUSED; bpermute(s_, v_, 32); }
NAT(nat_bperm64) { UNUSED; bpermute(s_, v_, 64); }
NAT(nat_perm32) { UNUSED; permute(s_, v_, 32); }
NAT(nat_perm64) { UNUSED; permute(s_, v_, 64); }
NAT(nat_swz32) { UNUSED; swizzle(s_, v_, 32); }
NAT(nat_swz64) { UNUSED; swizzle(s_, v_, 64); }

// Loads and stores, in the numbering of RDNA3's buffer instructions (CDNA's are brought to it): 16 to 23 and 30 to 35 load, 24 to 29, 36 and 37 store.
static int is_load(u32 op) { return (op >= 16 && op < 24) || (op >= 30 && op < 36); }
static int is_store(u32 op) { return (op >= 24 && op < 30) || op == 36 || op == 37; }
static u32 words(u32 op) { return op >= 20 && op < 24 ? op - 19 : op >= 26 && op < 30 ? op - 25 : 1; }
static u32 bytes(u32 op) { // of each word
  switch (op) {
  case 16: case 17: case 24: case 30: case 31: case 33: case 34: case 36: return 1;
  case 18: case 19: case 25: case 32: case 35: case 37: return 2;
  default: return 4;
  }
}
static u32 stored(u32 op, u32 x) { return op == 36 || op == 37 ? x >> 16 : x; }
static void loaded(u32 op, int arch, u32 *r, u32 x) { // 16 bits into half a register leave the other half, on CDNA (with SRAM ECC) they clear it
  switch (op) {
  case 17: *r = (int8_t)x; break;
  case 19: *r = (int16_t)x; break;
  case 31: x = (u16)(int8_t)x; /* fall through */ case 30: case 32: *r = (arch == CDNA ? 0 : *r & 0xffff0000) | (u16)x; break;
  case 34: x = (u16)(int8_t)x; /* fall through */ case 33: case 35: *r = (arch == CDNA ? 0 : *r & 0xffff) | x << 16; break;
  default: *r = x;
  }
}
static const u8 of_cdna[] = {24, 36, 25, 37, 26, 27, 28, 29, 30, 33, 31, 34, 32, 35}; // CDNA's numbers from 24 on

// FLAT and GLOBAL loads and stores, at any address (tinygrad's emulator has whole words only). FLAT reaches LDS and scratch through the apertures.
struct at { u32 op, flat, addr, data, dst, base; int imm; };
static void global(u64 s_, u64 v_, u64 lds_, u64 sc_, u32 *file, int wave, int arch, struct at m) {
  u64 ex = exec_of(S, wave); int based = !m.flat && m.base < 124; u32 n = words(m.op), size = bytes(m.op);
  for (int l = 0; l < wave; l++) if (ex >> l & 1) {
    u32 lo = V(m.addr, l), hi = based ? 0 : V(m.addr + 1, l), x[4] = {0};
    u64 to = based ? D64(m.base) + lo : m.flat && hi == SHARED_HI ? lds_ + lo : m.flat && hi == PRIVATE_HI ? sc_ + (u64)l * S[STRIDE] + lo : (u64)hi << 32 | lo;
    u8 *p = (u8 *)(to + (int64_t)m.imm);
    if (is_store(m.op)) for (u32 k = 0; k < n; k++) { x[k] = stored(m.op, file[(m.data + k) * wave + l]); memcpy(p + 4 * k, &x[k], size); }
    else {
      for (u32 k = 0; k < n; k++) memcpy(&x[k], p + 4 * k, size);
      for (u32 k = 0; k < n; k++) loaded(m.op, arch, &file[(m.dst + k) * wave + l], x[k]);
    }
  }
}
static int offset13(u32 w) { return (int)(w << 19) >> 19; }
NAT(nat_global_cdna) {
  (void)m_; const u32 *i = (u32 *)D64(PC); u32 a = i[0], b = i[1], op = a >> 18 & 127;
  global(s_, v_, lds_, sc_, (u32 *)(b >> 23 & 1 ? acc_ : v_), 64, CDNA, (struct at){op < 24 ? op : of_cdna[op - 24], !(a >> 14 & 3), b & 255, b >> 8 & 255, b >> 24, b >> 16 & 127, offset13(a)});
  NEXT(8);
}
NAT(nat_global_rdna3) {
  (void)m_; (void)acc_; const u32 *i = (u32 *)D64(PC); u32 a = i[0], b = i[1];
  global(s_, v_, lds_, sc_, (u32 *)v_, 32, RDNA3, (struct at){a >> 18 & 127, !(a >> 16 & 3), b & 255, b >> 8 & 255, b >> 24, b >> 16 & 127, offset13(a)});
  NEXT(8);
}
NAT(nat_global_rdna4) {
  (void)m_; (void)acc_; const u32 *i = (u32 *)D64(PC); u32 a = i[0], b = i[1], c = i[2];
  global(s_, v_, lds_, sc_, (u32 *)v_, 32, RDNA4, (struct at){a >> 14 & 255, !(a >> 24 & 3), c & 255, b >> 23 & 255, b & 255, a & 127, (int)c >> 8});
  NEXT(12);
}
// LDS loads and stores, of one or two values. Past LDS_END they read 0 and write nothing; rocBLAS clears registers that way.
static void lds(u64 s_, u64 v_, u64 lds_, u32 *file, int wave, int arch, u32 op, u32 w0, u32 w1) {
  static const u8 half[] = {36, 37, 30, 33, 31, 34, 32, 35}; u32 to, first = arch == CDNA ? 84 : 160, two = 0; u64 ex = exec_of(S, wave);
  switch (op) {
  case 14: case 78: case 55: case 119: two = 1; break;
  case 15: case 79: case 56: case 120: two = 64; break;
  }
  switch (op) {
  case 13: case 14: case 15: to = 26; break; case 77: case 78: case 79: to = 27; break; case 222: to = 28; break; case 223: to = 29; break;
  case 54: case 55: case 56: to = 20; break; case 118: case 119: case 120: to = 21; break; case 254: to = 22; break; case 255: to = 23; break;
  case 30: to = 24; break; case 31: to = 25; break; case 57: to = 17; break; case 58: to = 16; break; case 59: to = 19; break; case 60: to = 18; break;
  default: to = half[op - first];
  }
  u32 n = words(to), size = bytes(to), whole = n > 1 ? 4 * n : size, off[2] = {two ? (w0 & 255) * two * whole : w0 & 0xffff, (w0 >> 8 & 255) * two * whole};
  for (int l = 0; l < wave; l++) if (ex >> l & 1) {
    u32 x[2][4] = {{0}};
    for (u32 q = 0; q < (two ? 2 : 1); q++) {
      u32 at = V(w1 & 255, l) + off[q], data = w1 >> (q ? 16 : 8) & 255; u8 *p = (u8 *)lds_ + at; int in = (u64)at + whole <= S[LDS_END]; // the sum wraps: rocFFT counts on it
      if (is_load(to)) { if (in) for (u32 k = 0; k < n; k++) memcpy(&x[q][k], p + 4 * k, size); }
      else if (in) for (u32 k = 0; k < n; k++) { u32 y = stored(to, file[(data + k) * wave + l]); memcpy(p + 4 * k, &y, size); }
    }
    if (is_load(to)) for (u32 k = 0; k < n * (two ? 2 : 1); k++) loaded(to, arch, &file[((w1 >> 24) + k) * wave + l], x[k / n][k % n]);
  }
  NEXT(8);
}
NAT(nat_lds_cdna) { (void)m_; (void)sc_; const u32 *i = (u32 *)D64(PC); lds(s_, v_, lds_, (u32 *)(i[0] >> 25 & 1 ? acc_ : v_), 64, CDNA, i[0] >> 17 & 255, i[0], i[1]); }
NAT(nat_lds_rdna) { (void)m_; (void)sc_; (void)acc_; const u32 *i = (u32 *)D64(PC); lds(s_, v_, lds_, (u32 *)v_, 32, RDNA3, i[0] >> 18 & 255, i[0], i[1]); }

// Buffer loads, stores and atomics of every architecture, in the numbering of RDNA3 (others are brought to it; 200..202: f64 add, min, max).
// Out of range reads 0 and writes nothing; dwords are checked one by one, atomics whole; sums do not wrap.
// CDNA: a raw descriptor is checked in bytes less the scalar offset, a structured one (stride and index) by its index.
// RDNA: the descriptor's OOB_SELECT says which. Documents differ on whether the scalar offset counts there; rocBLAS's kernels read past
// their matrices unless it does.
// A CDNA descriptor with ADD_TID is the scratch of a gfx90a kernel: here each lane's is contiguous (stride in s[STRIDE]), so a
// wave-scaled scalar offset counts a 64th.
struct buf { u32 op, va, vd, sr, so, imm, offen, idxen, ret, lds; };
static u32 hadd2(u32 a, u32 b) { u32 r = 0; for (int k = 0; k < 2; k++) { u16 x = a >> 16 * k, y = b >> 16 * k, z; _Float16 f, g; memcpy(&f, &x, 2); memcpy(&g, &y, 2); f += g; memcpy(&z, &f, 2); r |= (u32)z << 16 * k; } return r; }
static u32 badd2(u32 a, u32 b) {
  u32 r = 0; for (int k = 0; k < 2; k++) { u32 x = (a >> 16 * k) << 16, y = (b >> 16 * k) << 16, z; float f, g; memcpy(&f, &x, 4); memcpy(&g, &y, 4); f += g; memcpy(&z, &f, 4); if (f == f) z += 0x7fff + (z >> 16 & 1); r |= z >> 16 << 16 * k; }
  return r;
}
static u64 atomic_op(u32 op, u64 old, u64 x, u64 cmp, int rdna4) {      // 32-bit forms get both zero-extended
  int32_t o = old, v = x; int64_t O = old, W = x;
  switch (op) {
  case 51: case 65: return x; case 52: case 66: return old == cmp ? x : old; case 53: case 67: return old + x; case 54: case 68: return old - x;
  case 55: return rdna4 ? ((u32)old < (u32)x ? 0 : old - x) : ((u32)old < (u32)x ? 0 : old - x); case 56: return o < v ? old : x; case 57: case 70: return old < x ? old : x; case 58: return o > v ? old : x;
  case 59: case 72: return old > x ? old : x; case 60: case 73: return old & x; case 61: case 74: return old | x; case 62: case 75: return old ^ x;
  case 63: case 76: return old >= x ? 0 : old + 1; case 64: case 77: return old == 0 || old > x ? x : old - 1; case 69: return O < W ? old : x; case 71: return O > W ? old : x;
  case 80: return rdna4 ? ((u32)old >= (u32)x ? old - x : old) : f32(old) == f32(cmp) ? x : old;
  case 81: return f32(x) < f32(old) || f32(old) != f32(old) ? x : old; case 82: return f32(x) > f32(old) || f32(old) != f32(old) ? x : old; case 86: return b32(f32(old) + f32(x));
  case 89: return hadd2(old, x); case 90: return badd2(old, x); case 200: return b64(f64(old) + f64(x));
  case 201: return f64(x) < f64(old) || f64(old) != f64(old) ? x : old; case 202: return f64(x) > f64(old) || f64(old) != f64(old) ? x : old;
  }
  return old;
}
static void buffer(u64 s_, u32 *v0, u32 *vd, u64 lds_, u64 sc_, int wave, int arch, struct buf b) {
  u64 ex = exec_of(S, wave), base = *(u64 *)(S + b.sr) & 0xffffffffffffull, soff = b.so; u32 w3 = S[b.sr + 3], stride = S[b.sr + 1] >> 16 & 0x3fff; u64 recs = S[b.sr + 2];
  int scratch = arch == CDNA && w3 >> 23 & 1, sel = w3 >> 28 & 3, op = b.op;
  int load = is_load(op), store = is_store(op), wide = (op >= 65 && op <= 77) || op >= 200, cas = op == 52 || op == 66 || (op == 80 && arch != RDNA4);
  u32 n = words(op), size = load || store ? bytes(op) : wide ? 8 : 4;
  for (int l = 0; l < wave; l++) if (ex >> l & 1) {
    u64 idx = b.idxen ? v0[b.va * wave + l] : 0, off = (u64)b.imm + (b.offen ? v0[(b.va + b.idxen) * wave + l] : 0), lin = off + stride * idx;
    for (u32 k = 0; k < n; k++) {
      u64 o = off + 4 * k, to = lin + 4 * k + size; int in;
      if (scratch) in = 1;
      else if (arch == CDNA) in = stride && b.idxen ? idx < recs : to + soff <= recs;
      else in = sel == 3 ? to + soff <= recs : sel == 2 ? recs != 0 : idx < recs && (sel == 1 || !stride || o + size <= stride);
      u8 *p = scratch ? (u8 *)sc_ + (u64)l * S[STRIDE] + soff / 64 + (u32)o : (u8 *)(base + soff + lin + 4 * k); u32 *r = &vd[(b.vd + k) * wave + l], x = 0;
      if (b.lds) { if (in) memcpy(&x, p, size); x = op == 17 ? (u32)(int8_t)x : op == 19 ? (u32)(int16_t)x : x; *(u32 *)(lds_ + (S[124] & 0x3ffff) + b.imm + l * 4 * n + 4 * k) = x; continue; }
      if (store) { x = stored(op, *r); if (in) memcpy(p, &x, size); continue; }
      if (load) { if (in) memcpy(&x, p, size); loaded(op, arch, r, x); continue; }
      u64 old = 0, y = r[0], c = 0; if (wide) { y |= (u64)r[wave] << 32; if (cas) c = r[2 * wave] | (u64)r[3 * wave] << 32; } else if (cas) c = r[wave];
      if (in) { memcpy(&old, p, size); u64 z = atomic_op(op, old, y, c, arch == RDNA4); memcpy(p, &z, size); }
      if (b.ret) { r[0] = old; if (wide) r[wave] = old >> 32; }
    }
  }
}
NAT(nat_mubuf) { // CDNA
  (void)m_; const u32 *i = (u32 *)D64(PC); u32 a = i[0], b = i[1], op = a >> 18 & 127;
  static const u8 at[] = {51, 52, 53, 54, 56, 57, 58, 59, 60, 61, 62, 63, 64, 86, 89, 200, 201, 202, 90};
  u32 to = op < 24 ? op : op < 38 ? of_cdna[op - 24] : op < 83 ? at[op - 64] : op - 96 + 65;
  buffer(s_, (u32 *)v_, (u32 *)(b >> 23 & 1 ? acc_ : v_), lds_, sc_, 64, CDNA, (struct buf){to, b & 255, b >> 8 & 255, (b >> 16 & 31) * 4, S[b >> 24], a & 0xfff, a >> 12 & 1, a >> 13 & 1, a >> 14 & 1, a >> 16 & 1});
  NEXT(8);
}
NAT(nat_mubuf3) { // RDNA3; scalar 124 is null
  (void)m_; (void)acc_; const u32 *i = (u32 *)D64(PC); u32 a = i[0], b = i[1];
  buffer(s_, (u32 *)v_, (u32 *)v_, lds_, sc_, 32, RDNA3, (struct buf){a >> 18 & 255, b & 255, b >> 8 & 255, (b >> 16 & 31) * 4, b >> 24 == 124 ? 0 : S[b >> 24], a & 0xfff, b >> 22 & 1, b >> 23 & 1, a >> 14 & 1, 0});
  NEXT(8);
}
NAT(nat_vbuffer) { // RDNA4
  (void)m_; (void)acc_; const u32 *i = (u32 *)D64(PC); u32 a = i[0], b = i[1], c = i[2];
  buffer(s_, (u32 *)v_, (u32 *)v_, lds_, sc_, 32, RDNA4, (struct buf){a >> 14 & 255, c & 255, b & 255, b >> 9 & 511, (a & 127) == 124 ? 0 : S[a & 127], c >> 8, b >> 30 & 1, b >> 31, b >> 20 & 1, 0});
  NEXT(12);
}
// CDNA v_pk_mov_b32: each half of the result is a half of a source pair.
NAT(nat_pkmov) {
  (void)m_; (void)lds_; (void)sc_; (void)acc_; enum { wave = 64 }; const u32 *i = (u32 *)D64(PC); u32 dst = i[0] & 255, src[2] = {i[1] & 511, i[1] >> 9 & 511}, sel[2] = {i[0] >> 11 & 1, i[0] >> 12 & 1}; u64 ex = *(u64 *)(S + 126);
  for (int l = 0; l < wave; l++) if (ex >> l & 1) {
    u32 r[2]; for (int k = 0; k < 2; k++) r[k] = src[k] > 255 ? V(src[k] - 256 + sel[k], l) : src[k] < 128 ? S[src[k] + sel[k]] : S[src[k]];
    V(dst, l) = r[0]; V(dst + 1, l) = r[1];
  }
  NEXT(8);
}
// CDNA matrix products of doubles: 16x16x4, and 4x4x4 in four blocks. A lane holds one element of A and of B; EXEC does not matter.
static void mfma64(u64 s_, u64 v_, u64 acc_, int m, int blocks) {
  enum { wave = 64, K = 4 }; const u32 *i = (u32 *)D64(PC); u32 w0 = i[0], w1 = i[1], src[3] = {w1 & 511, w1 >> 9 & 511, w1 >> 18 & 511}, neg = w1 >> 29; u32 *file[3] = {(u32 *)(w1 >> 27 & 1 ? acc_ : v_), (u32 *)(w1 >> 28 & 1 ? acc_ : v_), (u32 *)(w0 >> 15 & 1 ? acc_ : v_)};
  static double x[2][64], out[4][64]; int regs = m == 16 ? 4 : 1;
#define READ(k, r, l) (src[k] > 255 ? f64(file[k][(src[k] - 256 + 2 * (r)) * wave + (l)] | (u64)file[k][(src[k] - 255 + 2 * (r)) * wave + (l)] << 32) : src[k] >= 240 ? (double)f32(S[src[k]]) : f64(src[k] >= 128 ? (u64)(int64_t)(int32_t)S[src[k]] : D64(src[k])))
  for (int k = 0; k < 2; k++) for (int l = 0; l < wave; l++) { x[k][l] = READ(k, 0, l); if (neg >> k & 1) x[k][l] = -x[k][l]; }
  for (int r = 0; r < regs; r++) for (int l = 0; l < wave; l++) {
    int j = l % m, b = l / m % blocks, row = m == 16 ? 4 * r + l / 16 : l / 16; double c = READ(2, r, l); if (neg >> 2 & 1) c = -c;
    for (int k = 0; k < K; k++) c = fma(x[0][row + m * (b + blocks * k)], x[1][j + m * (b + blocks * k)], c);
    out[r][l] = c;
  }
  for (int r = 0; r < regs; r++) for (int l = 0; l < wave; l++) { u64 z = b64(out[r][l]); file[2][((w0 & 255) + 2 * r) * wave + l] = z; file[2][((w0 & 255) + 2 * r + 1) * wave + l] = z >> 32; }
  NEXT(8);
}
NAT(nat_mfma64_16) { (void)m_; (void)lds_; (void)sc_; mfma64(s_, v_, acc_, 16, 1); }
NAT(nat_mfma64_4) { (void)m_; (void)lds_; (void)sc_; mfma64(s_, v_, acc_, 4, 4); }
// CDNA matrix products (the emulator spreads the rows of some wrongly over the lanes, takes subnormal f16 for 0, and does not know f16
// infinities or sources in accumulation registers). A lane holds `per` elements
// of a row of A and of a column of B: element k of row i of block b is in lane i + m * (b + blocks * (k / per)).
enum { T_F32, T_F16, T_BF16, T_I8 };
static void mfma(u64 s_, u64 v_, u64 acc_, int m, int K, int blocks, int type) {
  enum { wave = 64 }; const u32 *i = (u32 *)D64(PC); u32 w0 = i[0], w1 = i[1], src[3] = {w1 & 511, w1 >> 9 & 511, w1 >> 18 & 511}, cbsz = w0 >> 8 & 7, abid = w0 >> 11 & 15; u32 *file[3] = {(u32 *)(w1 >> 27 & 1 ? acc_ : v_), (u32 *)(w1 >> 28 & 1 ? acc_ : v_), (u32 *)(w0 >> 15 & 1 ? acc_ : v_)};
  static union { float f; int32_t i; u32 u; } x[2][64][16], out[32][64]; int per = m * K * blocks / 64, each = type == T_F32 ? 1 : type == T_I8 ? 4 : 2, regs = m * m * blocks / 64;
  for (int o = 0; o < 2; o++) for (int l = 0; l < wave; l++) for (int k = 0; k < per; k++) {
    u32 r = src[o] > 255 ? file[o][(src[o] - 256 + k / each) * wave + l] : S[src[o]]; int at = k % each;
    if (type == T_F32) x[o][l][k].u = r;
    else if (type == T_I8) x[o][l][k].i = (int8_t)(r >> 8 * at);
    else if (type == T_BF16) x[o][l][k].u = r >> 16 * at << 16;
    else { u16 h = r >> 16 * at; _Float16 f; memcpy(&f, &h, 2); x[o][l][k].f = f; }
  }
  for (int r = 0; r < regs; r++) for (int l = 0; l < wave; l++) {
    int b = m == 4 ? l / 4 : m == 16 ? r / 4 : r / 16, q = m == 4 ? r : m == 16 ? r % 4 : r % 16, row = m == 4 ? q : m == 16 ? q + 4 * (l / 16) : q % 4 + 8 * (q / 4) + 4 * (l / 32), col = l % m, ba = cbsz ? (b >> cbsz << cbsz) + (int)abid : b;
    u32 c = src[2] > 255 ? file[2][(src[2] - 256 + r) * wave + l] : S[src[2]]; out[r][l].u = c;
    for (int k = 0; k < K; k++) {
      int la = row + m * (ba + blocks * (k / per)), lb = col + m * (b + blocks * (k / per));
      if (type == T_I8) out[r][l].u += (u32)(x[0][la][k % per].i * x[1][lb][k % per].i); else out[r][l].f += x[0][la][k % per].f * x[1][lb][k % per].f;
    }
  }
  for (int r = 0; r < regs; r++) for (int l = 0; l < wave; l++) file[2][((w0 & 255) + r) * wave + l] = out[r][l].u;
  NEXT(8);
}
#define MFMA(m, k, b, t, T) NAT(nat_mfma_##m##_##k##_##b##_##t) { (void)m_; (void)lds_; (void)sc_; mfma(s_, v_, acc_, m, k, b, T); }
MFMA(32, 1, 2, f32, T_F32) MFMA(32, 2, 1, f32, T_F32) MFMA(16, 1, 4, f32, T_F32) MFMA(16, 4, 1, f32, T_F32) MFMA(4, 1, 16, f32, T_F32)
MFMA(32, 4, 2, f16, T_F16) MFMA(32, 8, 1, f16, T_F16) MFMA(32, 16, 1, f16, T_F16) MFMA(16, 4, 4, f16, T_F16) MFMA(16, 16, 1, f16, T_F16) MFMA(16, 32, 1, f16, T_F16)
MFMA(4, 4, 16, f16, T_F16)
MFMA(32, 4, 2, bf16, T_BF16) MFMA(32, 8, 1, bf16, T_BF16) MFMA(32, 16, 1, bf16, T_BF16) MFMA(16, 4, 4, bf16, T_BF16) MFMA(16, 16, 1, bf16, T_BF16)
MFMA(16, 32, 1, bf16, T_BF16) MFMA(4, 4, 16, bf16, T_BF16)
MFMA(32, 2, 2, bf16, T_BF16) MFMA(32, 4, 1, bf16, T_BF16) MFMA(16, 2, 4, bf16, T_BF16) MFMA(16, 8, 1, bf16, T_BF16) MFMA(4, 2, 16, bf16, T_BF16) // gfx90a's
MFMA(32, 4, 2, i8, T_I8) MFMA(32, 16, 1, i8, T_I8) MFMA(32, 32, 1, i8, T_I8) MFMA(16, 4, 4, i8, T_I8) MFMA(16, 32, 1, i8, T_I8) MFMA(16, 64, 1, i8, T_I8)
MFMA(4, 4, 16, i8, T_I8) MFMA(32, 8, 1, i8, T_I8) MFMA(16, 16, 1, i8, T_I8) // the last two gfx90a's
