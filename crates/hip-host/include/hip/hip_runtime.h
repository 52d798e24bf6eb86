// HIP's header for kernels, under the name that kernels for GPUs include.
#ifndef HIP_HIP_RUNTIME_H
#define HIP_HIP_RUNTIME_H
#include <hiphost/device.hpp>
#endif
