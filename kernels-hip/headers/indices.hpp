//! Numbers of threads, and where elements of strided arrays lie.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

static constexpr u32 MAX_RANK = 8;
DEVICE u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

struct Offsets { u64 a, b; };

// The dims but the first. AMD's compilers read all that an unrolled loop needs of the maps when the kernel begins, more than there
// are scalar registers: they keep the rest in lanes of vector registers. Elsewhere indices that are constants cost less.
#if ON_AMD
#define DIMS_FROM_THE_LAST(d, rank) _Pragma("unroll 1") for (u32 d = rank; d-- > 1;)
#else
#define DIMS_FROM_THE_LAST(d, rank) UNROLL for (u32 d = MAX_RANK; d-- > 1;) if (d < rank)
#endif

// Offsets of the element with row-major number i in two arrays of the same dims. I is u32 where the numbers fit: a division
// of 64 bits costs several times more.
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

} // namespace hipstack
