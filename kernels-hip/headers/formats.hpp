//! Number formats of the dtypes as types, and their bit patterns.
//
// Included by numbers.hpp.
#pragma once

namespace hipstack {

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
// 16-bit and 8-bit floats are bit patterns in memory and f32 in registers.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct f8e4m3 { u8 bits; };

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "widths of the integer types");

DEVICE u32 bits_of(f32 v) { return __float_as_uint(v); }
DEVICE u64 bits_of(f64 v) { return (u64)__double_as_longlong(v); }
DEVICE f32 from_bits(u32 v) { return __uint_as_float(v); }
DEVICE f64 from_bits(u64 v) { return __longlong_as_double((i64)v); }

} // namespace hipstack
