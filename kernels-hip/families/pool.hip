//! Pooling and upsampling of planes: max, average, PyTorch's adaptive average, nearest, bilinear.
//
// pool_*: one thread for each output. Launch: one-dimensional, any block up to 256, any grid. The output is tight; the input may have any
// strides. One-dimensional pooling has height 1.
//
// Sums are kept in f32 (f64 for f64), with partial sums for each row of the window and its spans. A mean is rounded to the dtype once.
// Source positions of upsampling are computed in integers, so that every device reads the same elements.
#include "portable.hpp"

namespace hipstack {

// Output position y has the `window` input positions from y * stride - padding on. Adaptive average and upsampling use the lengths only.
struct PoolAxis { u64 out, in, window, stride, padding; };
// count: outputs. Strides of x: image, channel, row, column. flag: pool_avg counts the padding; pool_bilinear aligns corners.
struct PoolArgs {
    u64 count, channels;
    PoolAxis h, w;
    u64 x_n, x_c, x_h, x_w;
    u32 flag, reserved;
};
SIZE(PoolAxis, 40) SIZE(PoolArgs, 136) OFFSET(PoolArgs, w, 56) OFFSET(PoolArgs, x_n, 96) OFFSET(PoolArgs, flag, 128)

DEVICE u64 divide(u64 a, u64 b, u64& rest) {
    if ((a | b) >> 32 == 0) {
        const u32 quotient = (u32)a / (u32)b;
        rest = (u32)a - quotient * (u32)b;
        return quotient;
    }
    const u64 quotient = a / b;
    rest = a - quotient * b;
    return quotient;
}

// Input positions begin..end, and the number of positions that the mean divides by.
struct Window { u64 begin, end, size; };
DEVICE Window window_of(const PoolAxis& a, u64 y, bool count_padding) {
    // Positions are shifted by the padding, so that none is negative.
    const u64 start = y * a.stride, last = a.in + 2 * a.padding;
    const u64 stop = start + a.window < last ? start + a.window : last;
    const u64 begin = start > a.padding ? start - a.padding : 0;
    const u64 end = stop > a.padding ? stop - a.padding : 0;
    const u64 inner = end < a.in ? end : a.in;
    return Window{begin, inner, count_padding ? stop - start : inner - begin};
}
// Bin y of `out` bins: from floor(y in / out) up to ceil((y + 1) in / out).
DEVICE Window bin_of(const PoolAxis& a, u64 y) {
    u64 rest;
    const u64 begin = divide(y * a.in, a.out, rest), whole = divide((y + 1) * a.in, a.out, rest);
    const u64 end = whole + (rest != 0 ? 1 : 0);
    return Window{begin, end, end - begin};
}
// Elements that are summed one by one; partial sums of spans and rows are added afterwards.
static constexpr u64 SPAN = 256;
DEVICE C mean(const T* x, const PoolArgs& m, const Window& h, const Window& w) {
    C sum = C(0);
    for (u64 i = h.begin; i < h.end; i++) {
        C row = C(0);
        for (u64 j = w.begin; j < w.end;) {
            const u64 stop = w.end - j < SPAN ? w.end : j + SPAN;
            C part = C(0);
            for (; j < stop; j++) part += widen(x[i * m.x_h + j * m.x_w]);
            row += part;
        }
        sum += row;
    }
    return sum / (C)(h.size * w.size);
}

// The two positions around y, and their weights. Each weight is the quotient of two integers.
struct Between { u64 a, b; C near, far; };
DEVICE Between between(const PoolAxis& s, u64 y, bool align) {
    u64 whole = 0, rest = 0, parts = 1;
    if (align) {
        if (s.out > 1) {
            parts = s.out - 1;
            whole = divide(y * (s.in - 1), parts, rest);
        }
    } else {
        // (y + 1/2) in / out - 1/2, clamped at 0.
        const u64 at = (2 * y + 1) * s.in;
        parts = 2 * s.out;
        if (at > s.out) whole = divide(at - s.out, parts, rest);
    }
    const u64 next = whole + 1 < s.in ? whole + 1 : s.in - 1;
    return Between{whole, next, (C)(parts - rest) / (C)parts, (C)rest / (C)parts};
}

struct max_op {
    static METHOD T of(const T* x, const PoolArgs& m, u64 y, u64 z) {
        const Window h = window_of(m.h, y, false), w = window_of(m.w, z, false);
        C best = widen(x[h.begin * m.x_h + w.begin * m.x_w]);
        for (u64 i = h.begin; i < h.end; i++) {
            for (u64 j = w.begin; j < w.end; j++) best = maximum(best, (C)widen(x[i * m.x_h + j * m.x_w]));
        }
        return narrow<T>(best);
    }
};
struct avg_op {
    static METHOD T of(const T* x, const PoolArgs& m, u64 y, u64 z) {
        return narrow<T>(mean(x, m, window_of(m.h, y, m.flag != 0), window_of(m.w, z, m.flag != 0)));
    }
};
struct adaptive_op {
    static METHOD T of(const T* x, const PoolArgs& m, u64 y, u64 z) {
        return narrow<T>(mean(x, m, bin_of(m.h, y), bin_of(m.w, z)));
    }
};
struct nearest_op {
    static METHOD T of(const T* x, const PoolArgs& m, u64 y, u64 z) {
        u64 rest;
        return x[divide(y * m.h.in, m.h.out, rest) * m.x_h + divide(z * m.w.in, m.w.out, rest) * m.x_w];
    }
};
struct bilinear_op {
    static METHOD T of(const T* x, const PoolArgs& m, u64 y, u64 z) {
        const Between h = between(m.h, y, m.flag != 0), w = between(m.w, z, m.flag != 0);
        const T *const top = x + h.a * m.x_h, *const low = x + h.b * m.x_h;
        const C above = w.near * widen(top[w.a * m.x_w]) + w.far * widen(top[w.b * m.x_w]);
        const C below = w.near * widen(low[w.a * m.x_w]) + w.far * widen(low[w.b * m.x_w]);
        return narrow<T>(h.near * above + h.far * below);
    }
};

template <class Op> DEVICE void run(const T* x, T* out, const PoolArgs& m) {
    for (u64 item = thread_number(); item < m.count; item += thread_count()) {
        u64 y, z, channel;
        const u64 plane = divide(divide(item, m.w.out, z), m.h.out, y);
        const u64 n = divide(plane, m.channels, channel);
        out[item] = Op::of(x + (n * m.x_n + channel * m.x_c), m, y, z);
    }
}

#define POOL(op) KERNEL(PASTE4(pool_, op, _, DTYPE), const T* x, T* out, PoolArgs m) { run<op##_op>(x, out, m); }
POOL(max)
POOL(avg)
POOL(adaptive)
POOL(nearest)
POOL(bilinear)

} // namespace hipstack
