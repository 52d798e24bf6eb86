// HIP's mathematical constants, HIP_PI_F and the like.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/math_constants.hpp>
