// Clocks. All of them count nanoseconds, which is what the device's clock rates (1 GHz) say.
#pragma once

#include <ctime>

static inline long long wall_clock64() { return (long long)hiphost::runtime->clock(); }
static inline long long clock64() { return (long long)hiphost::runtime->clock(); }
static inline long long __clock64() { return clock64(); }
static inline long long __clock() { return clock64(); }
// The C library's clock() measures the process; a kernel means its device.
#define clock() clock64()
