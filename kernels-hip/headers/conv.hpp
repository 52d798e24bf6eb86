//! Arguments of convolutions, and which places and taps meet: what the kernels of `conv`, `conv_wide`, `conv_split` and `conv_mma` share.
//
// Output place y and tap k meet input place i where i * up = y * step + first + k * tap. Forward: up is 1, step the stride,
// first -padding, tap the dilation. Transposed: up is the stride, step is 1, first the padding, tap -dilation. Outputs whose
// places are equal modulo `up` (a phase) meet the same taps: each phase is a forward convolution with those taps alone, so
// that nothing is multiplied by inserted zeros and nothing is added atomically.
#pragma once

namespace hipstack {

// Lengths of the output, the input and the filter; the rest as above. tap_step: how far apart two taps of a phase are.
struct ConvAxis {
    u64 out, in, taps, up, tap_step;
    i64 step, first, tap;
};
// Channels are those of one group. Strides of x: image, channel, row, column; of f: group, output channel, input channel, row,
// column; of the bias: output channel.
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

// a / b, and what remains. A division of 64 bits costs several times more than one of 32.
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

// Output places q * up + rest, q = 0, 1, ...: they meet the taps first + j * tap_step, j < count, at the input places
// q * step + start + j * move.
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
// How many places q an axis has in its first phase, which has the most.
DEVICE u64 positions(const ConvAxis& a) { return (a.out + a.up - 1) / a.up; }
// How many phases an axis has that have outputs: the first ones.
DEVICE u64 phases(const ConvAxis& a) { return a.up < a.out ? a.up : a.out; }

} // namespace hipstack
