// HIP's hip_bfloat16: storage of 16 bits, arithmetic in float, each result rounded to nearest even.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/bfloat16.hpp>
