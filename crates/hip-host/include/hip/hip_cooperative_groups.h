// HIP's name for cooperative groups.
#pragma once
#include <hiphost/device.hpp>
#include <hiphost/detail/groups.hpp>
