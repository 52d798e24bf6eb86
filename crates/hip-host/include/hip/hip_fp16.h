// HIP's half precision: __half and __half2, each operation rounded once, from the compiler's _Float16.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/half.hpp>
