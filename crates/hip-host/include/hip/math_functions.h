// Mathematical functions: part of the whole here.
#include <hip/hip_runtime.h>
