//! Loops of elementwise operations for the host, by runs that its compiler vectorises.
//
// Included by elementwise.hip.
#pragma once
#include "portable.hpp"

namespace hipstack {

// A thread takes STEP contiguous elements, in runs along the innermost dimension, so that the loops vectorise.
static constexpr u64 STEP = 128;

// body(i, n) for runs of at most STEP elements.
template <class Body> DEVICE void for_runs(u64 count, Body body) {
    for (u64 i = thread_number() * STEP; i < count; i += thread_count() * STEP)
        body(i, count - i < STEP ? count - i : STEP);
}
// body(i, offsets, n) for runs that do not leave the innermost dimension.
template <class Body>
DEVICE void for_strided_runs(u64 count, u32 rank, const u64* dims, const u64* a, const u64* b, Body body) {
    const u64 inner = rank > 0 ? dims[rank - 1] : count;
    for_runs(count, [&](u64 i, u64 left) {
        while (left > 0) {
            const u64 rest = inner - i % inner, n = rest < left ? rest : left;
            body(i, offsets(i, count, rank, dims, a, b), n);
            i += n;
            left -= n;
        }
    });
}

template <class A, class O, class F> SHARED_CODE void run1(const A* a, u64 sa, O* out, u64 so, u64 n, F f) {
    if (sa == 1 && so == 1) {
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = f(a[j]);
    } else {
        for (u64 j = 0; j < n; j++) out[j * so] = f(a[j * sa]);
    }
}
template <class A, class O, class F>
SHARED_CODE void run2(const A* a, u64 sa, const A* b, u64 sb, O* out, u64 n, F f) {
    if (sa == 1 && sb == 1) {
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = f(a[j], b[j]);
    } else if (sa == 1 && sb == 0) {
        const A y = *b;
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = f(a[j], y);
    } else if (sa == 0 && sb == 1) {
        const A x = *a;
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = f(x, b[j]);
    } else {
        for (u64 j = 0; j < n; j++) out[j] = f(a[j * sa], b[j * sb]);
    }
}

} // namespace hipstack
