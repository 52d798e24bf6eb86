//! Functions that NVIDIA and the host share, because the host emulates NVIDIA's layouts. mma.hpp documents them.
//
// Included by mma_nvidia.hpp and mma_host.hpp.
#pragma once

namespace hipstack {

template <class Join> DEVICE f32 join_lanes(f32 mine, Join join) {
    const f32 two = join(mine, shuffle_xor(mine, 1));
    return join(two, shuffle_xor(two, 2));
}

template <class At> DEVICE void load_rows(Fragment& to, u32 lane, At at) {
    load_matrices<false>(to.at, lane, [&](u32 lane) { return at(lane % 16, lane / 16); });
}
template <class At> DEVICE void load_keys(Fragment& to, u32 lane, At at) {
    load_matrices<false>(to.at, lane, [&](u32 lane) { return at(lane / 16 * 8 + lane % 8, lane / 8 % 2); });
}
template <class At> DEVICE void load_values(Fragment& to, u32 lane, At at) {
    load_matrices<true>(to.at, lane, [&](u32 lane) { return at(lane % 16, lane / 16); });
}

} // namespace hipstack
