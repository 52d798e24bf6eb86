// HIP's floats of 8 bits, __hip_fp8_e4m3 and its siblings, with their conversions, each rounded once.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/fp8.hpp>
