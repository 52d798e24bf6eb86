//! Everything that kernels need, without standard headers; defines the dtype of the unit.
//
// The source compiles with hipcc, hiprtc, nvcc, NVRTC and a host C++ compiler (through hip-host's device.hpp).
//
// Macros that the build sets
//   DTYPE_<dtype>   the unit's element type: u8 u32 i16 i32 i64 f8e4m3 bf16 f16 f32 f64
//   WAVE_SIZE       lanes of a wave, 32 or 64. Host builds of units without warp operations do not set it.
// Contraction of a*b+c must be off: -ffp-contract=off (hipcc, hiprtc, g++), -fmad=false (nvcc, NVRTC).
//
// Everything here has internal linkage: a program may link many units that were built with different macros.
#pragma once
#include "platform.hpp"
#include "gpu.hpp"
#include "numbers.hpp"
#include "math.hpp"
#include "arithmetic.hpp"
#include "halves.hpp"
#include "registers.hpp"
#include "indices.hpp"
#include "packs.hpp"
#include "memory.hpp"
#include "lanes.hpp"

#if defined(DTYPE_u8)
#define DTYPE u8
#elif defined(DTYPE_u32)
#define DTYPE u32
#elif defined(DTYPE_i16)
#define DTYPE i16
#elif defined(DTYPE_i32)
#define DTYPE i32
#elif defined(DTYPE_i64)
#define DTYPE i64
#elif defined(DTYPE_f8e4m3)
#define DTYPE f8e4m3
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_bf16)
#define DTYPE bf16
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_f16)
#define DTYPE f16
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_f32)
#define DTYPE f32
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_f64)
#define DTYPE f64
#define DTYPE_IS_FLOAT 1
#endif
#ifndef DTYPE_IS_FLOAT
#define DTYPE_IS_FLOAT 0
#endif

#ifdef DTYPE
namespace hipstack {
typedef DTYPE T; // storage type
typedef Dtype<T>::Compute C; // compute type
} // namespace hipstack
#endif

#if ON_HOST && defined(HIPHOST_UNIT)
HIPHOST_MODULE(HIPHOST_UNIT)
#endif
