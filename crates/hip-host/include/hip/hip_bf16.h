// HIP's __hip_bfloat16 and __hip_bfloat162, each operation rounded once.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/bf16.hpp>
