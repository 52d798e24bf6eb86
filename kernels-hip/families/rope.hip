//! Rotary position embedding: rotates pairs of numbers by angles given as cosines and sines.
//
// Strides describe all layouts: the two numbers of a pair are `pair` elements apart, neighbouring pairs `step`. Launch: one-dimensional,
// any block up to 256, any grid. No shared memory, no barriers.
//
// (x, y) becomes (x cos - y sin, x sin + y cos). Both products and the sum are rounded in the compute type, so that every device gives the
// same bits; the result is rounded once to the dtype.
#include "portable.hpp"
#include "ids.hpp"

namespace hipstack {

// Strides of [batch, head, time] for x and for the output, of [batch, time, pair] for cos and sin.
struct RopeArgs {
    u64 batch, heads, times, pairs; // lengths
    u64 x[3], x_step, x_pair;
    u64 out[3], out_step, out_pair;
    u64 cos[3], sin[3];
    u64 time_first; // 1: iterates over the output as [batch, time, head], else as [batch, head, time]
};
SIZE(RopeArgs, 168) OFFSET(RopeArgs, x, 32) OFFSET(RopeArgs, out, 72) OFFSET(RopeArgs, cos, 112) OFFSET(RopeArgs, time_first, 160)

// Rows of [head, row, 2 * pairs] arrays that keys and values [batch, head, 1, 2 * pairs] are written to, one of each batch. Strides of the values.
struct RopeWriteArgs {
    u64 length, v[3]; // rows; strides of batch, head and number
    u32 operation, axis;
};
SIZE(RopeWriteArgs, 40) OFFSET(RopeWriteArgs, v, 8) OFFSET(RopeWriteArgs, operation, 32)

// Rotates a pair.
DEVICE void turn_pair(const T* from, u64 pair, T* to, u64 out_pair, C cosine, C sine) {
    const C first = widen(from[0]), second = widen(from[pair]);
    to[0] = narrow<T>(first * cosine - second * sine);
    to[out_pair] = narrow<T>(first * sine + second * cosine);
}
// Rotates pair i. I is u32 where all numbers fit, because a 64-bit division costs several times more.
template <class I> DEVICE void turn(const T* x, const T* cosines, const T* sines, T* out, const RopeArgs& r, I i) {
    const I pair = i % (I)r.pairs, row = i / (I)r.pairs;
    const I inner = (I)(r.time_first != 0 ? r.heads : r.times), outer = (I)(r.time_first != 0 ? r.times : r.heads);
    const I rest = row / inner, a = row % inner, b = rest % outer;
    const u64 batch = rest / outer, time = r.time_first != 0 ? b : a, head = r.time_first != 0 ? a : b;
    const T* const from = x + batch * r.x[0] + head * r.x[1] + time * r.x[2] + pair * r.x_step;
    T* const to = out + batch * r.out[0] + head * r.out[1] + time * r.out[2] + pair * r.out_step;
    const C cosine = widen(cosines[batch * r.cos[0] + time * r.cos[1] + pair * r.cos[2]]);
    const C sine = widen(sines[batch * r.sin[0] + time * r.sin[1] + pair * r.sin[2]]);
    turn_pair(from, r.x_pair, to, r.out_pair, cosine, sine);
}

KERNEL(PASTE4(rope, _, DTYPE, ), const T* x, const T* cosines, const T* sines, T* out, RopeArgs r) {
    const u64 count = r.batch * r.heads * r.times * r.pairs;
    if (count >> 32 == 0) {
        for (u64 i = thread_number(); i < count; i += thread_count()) turn<u32>(x, cosines, sines, out, r, (u32)i);
    } else {
        for (u64 i = thread_number(); i < count; i += thread_count()) turn<u64>(x, cosines, sines, out, r, i);
    }
}

// Two arrays, such as queries and keys, by the same angles.
KERNEL(PASTE4(rope_, pair, _, DTYPE), const T* x, const T* y, const T* cosines, const T* sines, T* x_out, T* y_out, RopeArgs r,
       RopeArgs s) {
    const u64 first = r.batch * r.heads * r.times * r.pairs, count = first + s.batch * s.heads * s.times * s.pairs;
    const bool is_small = count >> 32 == 0;
    for (u64 i = thread_number(); i < count; i += thread_count()) {
        if (i < first) {
            if (is_small) turn<u32>(x, cosines, sines, x_out, r, (u32)i);
            else turn<u64>(x, cosines, sines, x_out, r, i);
        } else {
            if (is_small) turn<u32>(y, cosines, sines, y_out, s, (u32)(i - first));
            else turn<u64>(y, cosines, sines, y_out, s, i - first);
        }
    }
}

// Queries, and keys whose results are written to rows of an array by ids, as values are. There is one time. A wrong id is reported, and its key
// and value are not written. Of equal ids the last is written: no two threads write a number.
KERNEL(PASTE4(rope_, write, _, DTYPE), const T* x, const T* y, const T* v, const T* cosines, const T* sines, const u32* rows, T* x_out,
       T* keys, T* values, IndexFault* fault, RopeArgs r, RopeArgs s, RopeWriteArgs w) {
    const u32 pairs = (u32)s.pairs, heads = (u32)s.heads, each = (u32)s.batch * heads * pairs, first = (u32)(r.batch * r.heads * r.pairs);
    for (u64 i = thread_number(); i < (u64)first + 2 * (u64)each; i += thread_count()) {
        if (i < first) {
            turn<u32>(x, cosines, sines, x_out, r, (u32)i);
            continue;
        }
        const u64 behind = i - first;
        const bool is_key = behind < each;
        const u32 j = (u32)(is_key ? behind : behind - each), pair = j % pairs, row = j / pairs, head = row % heads, batch = row / heads;
        const u32 id = rows[batch];
        if (id >= w.length) {
            if (is_key && pair == 0 && head == 0) report(fault, w, (i64)id);
            continue;
        }
        bool again = false;
        for (u32 later = batch + 1; later < (u32)s.batch; later++) again |= rows[later] == id;
        if (again) continue;
        const u64 at = (head * w.length + id) * 2 * pairs;
        if (is_key) {
            const C cosine = widen(cosines[batch * s.cos[0] + pair * s.cos[2]]), sine = widen(sines[batch * s.sin[0] + pair * s.sin[2]]);
            turn_pair(y + batch * s.x[0] + head * s.x[1] + pair * s.x_step, s.x_pair, keys + at + pair * s.out_step, s.out_pair, cosine, sine);
        } else {
            const T* const from = v + batch * w.v[0] + head * w.v[1] + 2 * pair * w.v[2];
            T* const to = values + at + 2 * pair;
            to[0] = from[0];
            to[1] = from[w.v[2]];
        }
    }
}

} // namespace hipstack
