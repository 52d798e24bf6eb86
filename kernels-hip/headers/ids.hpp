//! Ids of u8, u32, i32 or i64, and the report of one that is out of range.
//
// Included after portable.hpp.
#pragma once

namespace hipstack {

// The first invalid id since the host last read it. taken is 0 until a thread claims it.
struct IndexFault {
    u32 taken, operation, axis, reserved;
    i64 id;
    u64 length;
};
SIZE(IndexFault, 32) OFFSET(IndexFault, id, 16) OFFSET(IndexFault, length, 24)

static constexpr u32 ID_U8 = 0, ID_U32 = 1, ID_I32 = 2;

// Calls f(ids) with the type of the ids.
#define WITH_IDS(ids, type, f)                       \
    if (type == ID_U8) f((const u8*)ids);            \
    else if (type == ID_U32) f((const u32*)ids);     \
    else if (type == ID_I32) f((const i32*)ids);     \
    else f((const i64*)ids);

// Records an invalid id unless one is recorded already. The map has the operation, the axis, and the axis's length. The flag has 32 bits,
// because some devices lack a 64-bit compare-and-swap.
template <class Map> SHARED_CODE void report(IndexFault* fault, const Map& m, i64 id) {
    if (atomicCAS(&fault->taken, 0u, 1u) != 0u) return;
    fault->operation = m.operation;
    fault->axis = m.axis;
    fault->id = id;
    fault->length = m.length;
}

} // namespace hipstack
