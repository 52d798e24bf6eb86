// The host part of HIP, which kernel sources may include but do not use.
#include <hip/hip_runtime.h>
