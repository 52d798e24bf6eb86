// Vector types: part of the whole here.
#include <hip/hip_runtime.h>
