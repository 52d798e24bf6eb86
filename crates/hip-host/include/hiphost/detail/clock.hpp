// Clocks. All count nanoseconds, which matches the device's clock rates (1 GHz).
#pragma once

#include <ctime>

static inline long long wall_clock64() { return (long long)hiphost::runtime->clock(); }
static inline long long clock64() { return (long long)hiphost::runtime->clock(); }
static inline long long __clock64() { return clock64(); }
static inline long long __clock() { return clock64(); }
// The C library's clock() measures the process; in a kernel it means the device's clock.
#define clock() clock64()
