// Warp operations among the active lanes: those that reach the same line together.
#pragma once

static constexpr int warpSize = HIPHOST_WAVE_SIZE;

namespace hiphost {
static inline hiphost_warp_view meet(unsigned line, const void* value, unsigned size, bool predicate) {
    Parked parked;
    hiphost_warp_view view;
    runtime->warp_sync(current, line, value, size, predicate, &view);
    return view;
}

// The value of the lane that `pick(own lane)` returns; the lane's own value if that lane is inactive.
template <class T, class Pick>
static inline T shuffle(unsigned line, T value, Pick pick) {
    static_assert(sizeof(T) <= 16 && std::is_trivially_copyable_v<T>, "a lane hands over at most 16 plain bytes");
    hiphost_warp_view view = meet(line, &value, sizeof value, false);
    int from = pick((int)view.lane);
    if (from < 0 || from >= warpSize || !(view.mask >> from & 1)) return value;
    T out;
    std::memcpy(&out, view.slots + 16 * from, sizeof out);
    return out;
}
static __forceinline__ int first_of(int lane, int width) { return lane & ~(width - 1); }
}  // namespace hiphost

template <class T>
static inline T __shfl(T value, int source, int width = warpSize, unsigned line = __builtin_LINE()) {
    return hiphost::shuffle(line, value,
                            [=](int lane) { return hiphost::first_of(lane, width) + (source & (width - 1)); });
}
template <class T>
static inline T __shfl_up(T value, unsigned delta, int width = warpSize, unsigned line = __builtin_LINE()) {
    return hiphost::shuffle(line, value, [=](int lane) {
        return lane - (int)delta < hiphost::first_of(lane, width) ? lane : lane - (int)delta;
    });
}
template <class T>
static inline T __shfl_down(T value, unsigned delta, int width = warpSize, unsigned line = __builtin_LINE()) {
    return hiphost::shuffle(line, value, [=](int lane) {
        return lane + (int)delta >= hiphost::first_of(lane, width) + width ? lane : lane + (int)delta;
    });
}
template <class T>
static inline T __shfl_xor(T value, int mask, int width = warpSize, unsigned line = __builtin_LINE()) {
    return hiphost::shuffle(line, value, [=](int lane) {
        return (lane ^ mask) >= hiphost::first_of(lane, width) + width ? lane : lane ^ mask;
    });
}

static inline unsigned long long __ballot(int predicate, unsigned line = __builtin_LINE()) {
    return hiphost::meet(line, "", 0, predicate != 0).predicates;
}
static inline int __any(int predicate, unsigned line = __builtin_LINE()) {
    return hiphost::meet(line, "", 0, predicate != 0).predicates != 0;
}
static inline int __all(int predicate, unsigned line = __builtin_LINE()) {
    hiphost_warp_view view = hiphost::meet(line, "", 0, predicate != 0);
    return view.predicates == view.mask;
}
static inline unsigned long long __activemask(unsigned line = __builtin_LINE()) {
    return hiphost::meet(line, "", 0, false).mask;
}
static inline void __syncwarp(unsigned long long = ~0ull, unsigned line = __builtin_LINE()) {
    hiphost::meet(line, "", 0, false);
}
static inline unsigned __lane_id() {
    using namespace hiphost;
    return (thread_x + block_dim_x * (thread_y + block_dim_y * thread_z)) % warpSize;
}

// The active lanes that hold the same value; below, whether all do. Values are compared bit by bit.
template <class T>
static inline unsigned long long __match_any(T value, unsigned line = __builtin_LINE()) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values of 4 or 8 bytes");
    hiphost_warp_view view = hiphost::meet(line, &value, sizeof value, false);
    unsigned long long equal = 0;
    for (unsigned lane = 0; lane < (unsigned)warpSize; lane++) {
        if (view.mask >> lane & 1 && std::memcmp(view.slots + 16 * lane, &value, sizeof value) == 0)
            equal |= 1ull << lane;
    }
    return equal;
}
// The active lanes if all hold the same value, otherwise 0; *predicate says whether they do.
template <class T>
static inline unsigned long long __match_all(T value, int* predicate, unsigned line = __builtin_LINE()) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values of 4 or 8 bytes");
    hiphost_warp_view view = hiphost::meet(line, &value, sizeof value, false);
    for (unsigned lane = 0; lane < (unsigned)warpSize; lane++) {
        if (view.mask >> lane & 1 && std::memcmp(view.slots + 16 * lane, &value, sizeof value) != 0)
            return *predicate = 0, 0;
    }
    return *predicate = 1, view.mask;
}

// The forms with a mask. The mask must name exactly the active lanes, as the hardware demands, so it is
// ignored.
template <class T>
static inline T __shfl_sync(unsigned long long, T value, int source, int width = warpSize,
                            unsigned line = __builtin_LINE()) {
    return __shfl(value, source, width, line);
}
template <class T>
static inline T __shfl_up_sync(unsigned long long, T value, unsigned delta, int width = warpSize,
                               unsigned line = __builtin_LINE()) {
    return __shfl_up(value, delta, width, line);
}
template <class T>
static inline T __shfl_down_sync(unsigned long long, T value, unsigned delta, int width = warpSize,
                                 unsigned line = __builtin_LINE()) {
    return __shfl_down(value, delta, width, line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned long long, T value, int mask, int width = warpSize,
                                unsigned line = __builtin_LINE()) {
    return __shfl_xor(value, mask, width, line);
}
static inline unsigned long long __ballot_sync(unsigned long long, int predicate, unsigned line = __builtin_LINE()) {
    return __ballot(predicate, line);
}
static inline int __any_sync(unsigned long long, int predicate, unsigned line = __builtin_LINE()) {
    return __any(predicate, line);
}
static inline int __all_sync(unsigned long long, int predicate, unsigned line = __builtin_LINE()) {
    return __all(predicate, line);
}
template <class T>
static inline unsigned long long __match_any_sync(unsigned long long, T value, unsigned line = __builtin_LINE()) {
    return __match_any(value, line);
}
template <class T>
static inline unsigned long long __match_all_sync(unsigned long long, T value, int* predicate,
                                                  unsigned line = __builtin_LINE()) {
    return __match_all(value, predicate, line);
}
