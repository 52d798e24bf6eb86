//! Thread numbers, and offsets of elements in strided arrays.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

static constexpr u32 MAX_RANK = 8;
DEVICE u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 thread_count() { return (u64)gridDim.x * blockDim.x; }
// The thread's number for distributing work. On the host neighbouring threads share an OS thread, so consecutive numbers go to different
// blocks.
DEVICE u64 worker_number() {
    if constexpr (ON_HOST) return (u64)threadIdx.x * gridDim.x + blockIdx.x;
    else return thread_number();
}

struct Offsets { u64 a, b; };

// Iterates over all dimensions but the first. AMD's compilers hoist all loads of an unrolled loop to the kernel's entry; these exceed the
// scalar registers and are spilled to lanes of vector registers. Elsewhere constant indices are cheaper.
#define DIMS_FROM_THE_LAST(d, rank) ROLLED_ON_AMD for (u32 d = ON_AMD ? (rank) : MAX_RANK; d-- > 1;) if (ON_AMD || d < (rank))

// Offsets of the element with row-major number i in two arrays of the same dims. I is u32 where all numbers fit, because a 64-bit division
// costs several times more.
template <class I> DEVICE Offsets offsets_as(I i, u32 rank, const u64* dims, const u64* a, const u64* b) {
    Offsets at = {0, 0};
    DIMS_FROM_THE_LAST(d, rank) {
        const I quotient = i / (I)dims[d], remainder = i - quotient * (I)dims[d];
        at.a += remainder * a[d];
        at.b += remainder * b[d];
        i = quotient;
    }
    if (rank > 0) {
        at.a += i * a[0];
        at.b += i * b[0];
    }
    return at;
}
DEVICE Offsets offsets(u64 i, u64 count, u32 rank, const u64* dims, const u64* a, const u64* b) {
    return count >> 32 == 0 ? offsets_as<u32>((u32)i, rank, dims, a, b) : offsets_as<u64>(i, rank, dims, a, b);
}

// The same for three arrays.
struct ThreeOffsets { u64 a, b, c; };
template <class I> DEVICE ThreeOffsets three_offsets_as(I i, u32 rank, const u64* dims, const u64* a, const u64* b, const u64* c) {
    ThreeOffsets at = {0, 0, 0};
    DIMS_FROM_THE_LAST(d, rank) {
        const I quotient = i / (I)dims[d], remainder = i - quotient * (I)dims[d];
        at.a += remainder * a[d];
        at.b += remainder * b[d];
        at.c += remainder * c[d];
        i = quotient;
    }
    if (rank > 0) {
        at.a += i * a[0];
        at.b += i * b[0];
        at.c += i * c[0];
    }
    return at;
}
DEVICE ThreeOffsets three_offsets(u64 i, u64 count, u32 rank, const u64* dims, const u64* a, const u64* b, const u64* c) {
    return count >> 32 == 0 ? three_offsets_as<u32>((u32)i, rank, dims, a, b, c) : three_offsets_as<u64>(i, rank, dims, a, b, c);
}

} // namespace hipstack
