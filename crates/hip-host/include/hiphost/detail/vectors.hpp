// Small vectors with HIP's names: float2, float4, make_float4 and so on.
#pragma once

#define HIPHOST_VECTORS(T, name)                                                                   \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                             \
    struct name##3 { T x, y, z; };                                                                 \
    struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; };                  \
    static inline name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                       \
    static inline name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }               \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }
// uint3 exists already: it is what an index is.
#define HIPHOST_VECTORS_BUT_3(T, name)                                                             \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                             \
    struct alignas(4 * sizeof(T)) name##4 { T x, y, z, w; };                                       \
    static inline name##2 make_##name##2(T x, T y) { return name##2{x, y}; }                       \
    static inline name##3 make_##name##3(T x, T y, T z) { return name##3{x, y, z}; }               \
    static inline name##4 make_##name##4(T x, T y, T z, T w) { return name##4{x, y, z, w}; }

HIPHOST_VECTORS(signed char, char)
HIPHOST_VECTORS(unsigned char, uchar)
HIPHOST_VECTORS(short, short)
HIPHOST_VECTORS(unsigned short, ushort)
HIPHOST_VECTORS(int, int)
HIPHOST_VECTORS_BUT_3(unsigned, uint)
HIPHOST_VECTORS(long long, longlong)
HIPHOST_VECTORS(unsigned long long, ulonglong)
HIPHOST_VECTORS(float, float)
HIPHOST_VECTORS(double, double)

#undef HIPHOST_VECTORS
#undef HIPHOST_VECTORS_BUT_3
