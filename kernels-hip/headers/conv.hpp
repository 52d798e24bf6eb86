//! Arguments of convolutions, and which positions and taps belong together: shared by `conv`, `conv_wide`, `conv_split` and `conv_mma`.
//
// Output position y and tap k read input position i where i * up = y * step + first + k * tap. Forward: up is 1, step the stride, first
// -padding, tap the dilation. Transposed: up is the stride, step is 1, first the padding, tap -dilation. Outputs whose positions are equal
// modulo `up` (a phase) use the same taps. Each phase is a forward convolution with those taps alone, so no product with an inserted zero
// is computed, and no atomics are needed.
#pragma once

namespace hipstack {

// Lengths of the output, the input and the filter; the other fields as above. tap_step: distance between two taps of a phase.
struct ConvAxis {
    u64 out, in, taps, up, tap_step;
    i64 step, first, tap;
};
// Channels are those of one group. Strides of x: image, channel, row, column; of f: group, output channel, input channel, row, column; of
// the bias: output channel.
struct ConvArgs {
    u64 batch, groups, in_channels, out_channels;
    ConvAxis h, w;
    u64 x_n, x_c, x_h, x_w;
    u64 f_g, f_o, f_c, f_h, f_w;
    u64 bias_step;
    u32 has_bias, reserved;
};
SIZE(ConvAxis, 64) SIZE(ConvArgs, 248) OFFSET(ConvArgs, w, 96) OFFSET(ConvArgs, x_n, 160) OFFSET(ConvArgs, f_g, 192)
OFFSET(ConvArgs, bias_step, 232) OFFSET(ConvArgs, has_bias, 240)

// Quotient and remainder. A 64-bit division costs several times more than a 32-bit one.
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

// Output positions q * up + rest, q = 0, 1, ...: their taps are first + j * tap_step, j < count, at input positions q * step + start + j *
// move.
struct Phase { u64 first, count; i64 start, move; };
DEVICE Phase phase_of(const ConvAxis& a, u64 rest) {
    i64 at = (i64)rest * a.step + a.first;
    if (a.up == 1) return Phase{0, a.taps, at, a.tap};
    const i64 up = (i64)a.up;
    const u64 end = a.tap_step < a.taps ? a.tap_step : a.taps;
    u64 k = 0;
    while (k < end && at % up != 0) {
        at += a.tap;
        k++;
    }
    const u64 count = k < end ? (a.taps - k - 1) / a.tap_step + 1 : 0;
    return Phase{k, count, at / up, a.tap * (i64)a.tap_step / up};
}
// Positions q of an axis in its first phase, which has the most.
DEVICE u64 positions(const ConvAxis& a) { return (a.out + a.up - 1) / a.up; }
// Number of phases of an axis that have outputs; these are the first ones.
DEVICE u64 phases(const ConvAxis& a) { return a.up < a.out ? a.up : a.out; }

} // namespace hipstack
