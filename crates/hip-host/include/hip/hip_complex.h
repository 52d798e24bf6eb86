// HIP's complex numbers: hipFloatComplex, hipDoubleComplex and their functions.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/complex.hpp>
