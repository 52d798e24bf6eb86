// Kernels without barriers: they run as plain loops.
#define HIPHOST_NO_BARRIERS
#include <hiphost/device.hpp>

HIPHOST_MODULE(bench_plain)

#include "../../crates/hip-host/tests/kernels/vector_add.hpp"

HIPHOST_KERNEL(nothing) {}

