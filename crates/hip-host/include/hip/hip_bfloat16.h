// HIP's hip_bfloat16: 16 bits of storage, arithmetic in float, each result rounded to nearest even.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/bfloat16.hpp>
