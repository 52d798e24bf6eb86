// Block barriers. __builtin_LINE() as a default argument is the caller's line.
#pragma once

namespace hiphost {
struct Met {
    unsigned threads, trues;
};
static inline Met barrier(unsigned line, bool predicate) {
    Parked parked;
    uint64_t met = runtime->barrier(current, line, predicate);
    return Met{(unsigned)(met >> 32), (unsigned)met};
}
}  // namespace hiphost

static inline void __syncthreads(unsigned line = __builtin_LINE()) { hiphost::barrier(line, false); }
static inline int __syncthreads_count(int predicate, unsigned line = __builtin_LINE()) {
    return (int)hiphost::barrier(line, predicate != 0).trues;
}
static inline int __syncthreads_or(int predicate, unsigned line = __builtin_LINE()) {
    return hiphost::barrier(line, predicate != 0).trues != 0;
}
static inline int __syncthreads_and(int predicate, unsigned line = __builtin_LINE()) {
    hiphost::Met met = hiphost::barrier(line, predicate != 0);
    return met.trues == met.threads;
}

namespace hiphost {
// Returns false if the launch is not cooperative.
static inline bool grid_barrier(unsigned line) {
    Parked parked;
    return runtime->grid_sync(current, line) != 0;
}
}  // namespace hiphost
