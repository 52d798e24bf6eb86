// Small vectors with HIP's names, alignments and operators: float2, float4, make_float4 and so on.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

// Operators work component by component; a number stands for a vector of it. == is true if all components are
// equal.
#define HIPHOST_VECTOR_BINARY(V, T, op)                                                     \
    static __forceinline__ V operator op(V a, const V& b) { return a op##= b; }             \
    static __forceinline__ V operator op(V a, T b) { return a op##= V(b); }                 \
    static __forceinline__ V operator op(T a, const V& b) { return V(a) op##= b; }
#define HIPHOST_VECTOR_OPERATORS(V, T)                                                      \
    HIPHOST_VECTOR_BINARY(V, T, +)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, -)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, *)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, /)                                                          \
    static __forceinline__ bool operator!=(const V& a, const V& b) { return !(a == b); }    \
    static __forceinline__ bool operator==(const V& a, T b) { return a == V(b); }           \
    static __forceinline__ bool operator==(T a, const V& b) { return V(a) == b; }           \
    static __forceinline__ bool operator!=(const V& a, T b) { return !(a == V(b)); }        \
    static __forceinline__ bool operator!=(T a, const V& b) { return !(V(a) == b); }        \
    static __forceinline__ V& operator++(V& a) { return a += V((T)1); }                     \
    static __forceinline__ V& operator--(V& a) { return a -= V((T)1); }                     \
    static __forceinline__ V operator++(V& a, int) { const V old = a; ++a; return old; }    \
    static __forceinline__ V operator--(V& a, int) { const V old = a; --a; return old; }    \
    static __forceinline__ V operator-(const V& a) { return V((T)0) - a; }
#define HIPHOST_VECTOR_BITS(V, T)                                                           \
    HIPHOST_VECTOR_BINARY(V, T, %)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, &)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, |)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, ^)                                                          \
    HIPHOST_VECTOR_BINARY(V, T, <<)                                                         \
    HIPHOST_VECTOR_BINARY(V, T, >>)                                                         \
    static __forceinline__ V operator~(const V& a) { return a ^ V((T)~(T)0); }

// Members of each type: constructors that keep the type trivial, and a compound assignment for each binary
// operator.
#define HIPHOST_EACH_1(op) x op v.x;
#define HIPHOST_EACH_2(op) HIPHOST_EACH_1(op) y op v.y;
#define HIPHOST_EACH_3(op) HIPHOST_EACH_2(op) z op v.z;
#define HIPHOST_EACH_4(op) HIPHOST_EACH_3(op) w op v.w;
#define HIPHOST_ASSIGN(V, each, op)               \
    __forceinline__ V& operator op(const V& v) {  \
        each(op) return *this;                    \
    }
#define HIPHOST_ASSIGN_NUMBERS(V, each) \
    HIPHOST_ASSIGN(V, each, +=)         \
    HIPHOST_ASSIGN(V, each, -=)         \
    HIPHOST_ASSIGN(V, each, *=)         \
    HIPHOST_ASSIGN(V, each, /=)
#define HIPHOST_ASSIGN_BITS(V, each) \
    HIPHOST_ASSIGN(V, each, %=)      \
    HIPHOST_ASSIGN(V, each, &=)      \
    HIPHOST_ASSIGN(V, each, |=)      \
    HIPHOST_ASSIGN(V, each, ^=)      \
    HIPHOST_ASSIGN(V, each, <<=)     \
    HIPHOST_ASSIGN(V, each, >>=)

#define HIPHOST_VECTORS(T, name, assign_more, more)                                                                 \
    struct name##1 {                                                                                                \
        T x;                                                                                                        \
        name##1() = default;                                                                                        \
        constexpr explicit name##1(T a) : x(a) {}                                                                   \
        HIPHOST_ASSIGN_NUMBERS(name##1, HIPHOST_EACH_1)                                                             \
        assign_more(name##1, HIPHOST_EACH_1)                                                                        \
    };                                                                                                              \
    struct alignas(2 * sizeof(T)) name##2 {                                                                         \
        T x, y;                                                                                                     \
        name##2() = default;                                                                                        \
        constexpr explicit name##2(T a) : x(a), y(a) {}                                                             \
        constexpr name##2(T a, T b) : x(a), y(b) {}                                                                 \
        HIPHOST_ASSIGN_NUMBERS(name##2, HIPHOST_EACH_2)                                                             \
        assign_more(name##2, HIPHOST_EACH_2)                                                                        \
    };                                                                                                              \
    struct name##3 {                                                                                                \
        T x, y, z;                                                                                                  \
        name##3() = default;                                                                                        \
        constexpr explicit name##3(T a) : x(a), y(a), z(a) {}                                                       \
        constexpr name##3(T a, T b, T c) : x(a), y(b), z(c) {}                                                      \
        HIPHOST_ASSIGN_NUMBERS(name##3, HIPHOST_EACH_3)                                                             \
        assign_more(name##3, HIPHOST_EACH_3)                                                                        \
    };                                                                                                              \
    struct alignas(4 * sizeof(T)) name##4 {                                                                         \
        T x, y, z, w;                                                                                               \
        name##4() = default;                                                                                        \
        constexpr explicit name##4(T a) : x(a), y(a), z(a), w(a) {}                                                 \
        constexpr name##4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}                                           \
        HIPHOST_ASSIGN_NUMBERS(name##4, HIPHOST_EACH_4)                                                             \
        assign_more(name##4, HIPHOST_EACH_4)                                                                        \
    };                                                                                                              \
    static __forceinline__ name##1 make_##name##1(T x) { return name##1(x); }                                       \
    static __forceinline__ name##2 make_##name##2(T x, T y) { return name##2(x, y); }                               \
    static __forceinline__ name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); }                       \
    static __forceinline__ name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }               \
    static __forceinline__ bool operator==(const name##1& a, const name##1& b) { return a.x == b.x; }               \
    static __forceinline__ bool operator==(const name##2& a, const name##2& b) { return a.x == b.x && a.y == b.y; } \
    static __forceinline__ bool operator==(const name##3& a, const name##3& b) {                                    \
        return a.x == b.x && a.y == b.y && a.z == b.z;                                                              \
    }                                                                                                               \
    static __forceinline__ bool operator==(const name##4& a, const name##4& b) {                                    \
        return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;                                                \
    }                                                                                                               \
    HIPHOST_VECTOR_OPERATORS(name##1, T)                                                                            \
    HIPHOST_VECTOR_OPERATORS(name##2, T)                                                                            \
    HIPHOST_VECTOR_OPERATORS(name##3, T)                                                                            \
    HIPHOST_VECTOR_OPERATORS(name##4, T)                                                                            \
    more(name##1, T) more(name##2, T) more(name##3, T) more(name##4, T)
#define HIPHOST_NOTHING(...)

#define HIPHOST_INTEGERS(T, name) HIPHOST_VECTORS(T, name, HIPHOST_ASSIGN_BITS, HIPHOST_VECTOR_BITS)
#define HIPHOST_FLOATS(T, name) HIPHOST_VECTORS(T, name, HIPHOST_NOTHING, HIPHOST_NOTHING)

HIPHOST_INTEGERS(signed char, char)
HIPHOST_INTEGERS(unsigned char, uchar)
HIPHOST_INTEGERS(short, short)
HIPHOST_INTEGERS(unsigned short, ushort)
HIPHOST_INTEGERS(int, int)
HIPHOST_INTEGERS(unsigned, uint)
HIPHOST_INTEGERS(long, long)
HIPHOST_INTEGERS(unsigned long, ulong)
HIPHOST_INTEGERS(long long, longlong)
HIPHOST_INTEGERS(unsigned long long, ulonglong)
HIPHOST_FLOATS(float, float)
HIPHOST_FLOATS(double, double)

#undef HIPHOST_INTEGERS
#undef HIPHOST_FLOATS
#undef HIPHOST_VECTORS
#undef HIPHOST_NOTHING
#undef HIPHOST_VECTOR_BINARY
#undef HIPHOST_VECTOR_OPERATORS
#undef HIPHOST_VECTOR_BITS
#undef HIPHOST_ASSIGN
#undef HIPHOST_ASSIGN_NUMBERS
#undef HIPHOST_ASSIGN_BITS
#undef HIPHOST_EACH_1
#undef HIPHOST_EACH_2
#undef HIPHOST_EACH_3
#undef HIPHOST_EACH_4
