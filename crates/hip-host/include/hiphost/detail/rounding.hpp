// Rounding of floats to fewer bits, in one step. A value with more bits than a float is first rounded to odd.
#pragma once

namespace hiphost {
// The bits of a bfloat16, the upper half of a float. Rounds to nearest, ties to even; a NaN stays a NaN.
static __forceinline__ unsigned short bfloat16_bits(float v) {
    const unsigned u = bits<unsigned>(v);
    if (v != v) return (unsigned short)(u >> 16 | 0x40);
    return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// Rounds a double to a float, to odd: the last bit records whether anything was cut off. Rounding the result
// to a type of 22 bits or fewer gives the same as rounding the double itself.
static __forceinline__ float to_odd_float(double v) {
    const float f = (float)v;
    if (!(v - v == 0.0) || (double)f == v) return f;
    // Round towards zero, then set the last bit; an infinity becomes the largest number.
    const unsigned u = bits<unsigned>(f);
    const bool beyond = (v < 0 ? -(double)f : (double)f) > (v < 0 ? -v : v);
    return bits<float>((beyond ? u - 1 : u) | 1);
}

// a * b + c rounded to odd, if a double holds the product.
static __forceinline__ double fma_to_odd(double a, double b, double c) {
    const double p = a * b, s = p + c;
    // The rounding error of the sum.
    const double part = s - p, lost = (p - (s - part)) + (c - part);
    if (!(s - s == 0.0) || lost == 0.0) return s;
    const uint64_t u = bits<uint64_t>(s);
    if (u & 1) return s;
    return bits<double>((lost > 0.0) == (s > 0.0) ? u + 1 : u - 1);
}
}  // namespace hiphost
