// The host's half of HIP, which a kernel's text may name and never uses.
#include <hip/hip_runtime.h>
