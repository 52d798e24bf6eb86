// HIP's header for kernels, as kernels written for GPUs include it.
#ifndef HIP_HIP_RUNTIME_H
#define HIP_HIP_RUNTIME_H
#include <hiphost/device.hpp>
#endif
