//! Quantized formats of ggml, taken apart 32 elements at a time.
//
// A device stores the bytes of a block elsewhere than a file: each block is cut into parts, and the same part of all blocks of a tensor lies
// together, so that the lanes of a wave read whole lines: see QuantParts. src/quant.rs says where in a block each part was.
//
// load reads what a piece is made of, and piece takes it apart: so that several pieces are under way before the first is taken apart.
//
// A piece is 32 elements of a block: 16 in a row from first(number, 0), and 16 from first(number, 1). Element j of half h is scale[h] * q + base[h],
// where q is a signed byte; each product and sum is rounded once. Without BASED there is no base: a negative zero stays one. Where
// ZERO_POINT is not 0, a format's `piece` gives q + ZERO_POINT, which is not negative, and whole_piece gives q. Products subtract ZERO_POINT * scale *
// the sum of the activations.
// The meaning of the bytes is that of ggml-common.h and ggml-quants.c (llama.cpp).
//
// Included after portable.hpp.
#pragma once
#include "bytes.hpp"
#include "read_only.hpp"

namespace hipstack {

// Four signed bytes in each word, element 4w + k of half h in byte k of q[4h + w].
struct Piece {
    u32 q[8];
    f32 scale[2], base[2];
};

// Where the parts of a tensor's blocks begin, at multiples of 16 bytes.
struct QuantParts { const u8* part[4]; };

// a - b in each of four bytes, both under 128.
DEVICE u32 sub_bytes(u32 a, u32 b) { return ((a | 0x80808080u) - b) ^ 0x80808080u; }
// Four bits, one in each byte.
DEVICE u32 spread(u32 bits) { return (bits & 0xfu) * 0x00204081u & 0x01010101u; }
static constexpr u32 LOW_NIBBLES = 0x0f0f0f0fu;

DEVICE Pack<u32, 4> sixteen(const u8* p) { return load_pack<4>((const u32*)p); }
DEVICE Pack<u32, 4> sixteen_read_only(const u8* p) { return load_read_only((const u32*)p); }
DEVICE u32 two(const u8* p) { return load_half_read_only((const u16*)p); }
DEVICE u32 four(const u8* p) { return load_word_read_only((const u32*)p); }
DEVICE f32 half_of(u32 bits) { return to_f32(f16{(u16)bits}); }
// Two halves, the scale and the minimum of a block.
struct TwoHalves { f32 first, second; };
DEVICE TwoHalves halves_of(u32 word) { return TwoHalves{half_of(word), half_of(word >> 16)}; }

// The low nibbles of 16 bytes are the first half of a piece, the high ones the second.
DEVICE void nibbles(const Pack<u32, 4>& both, u32 (&q)[8]) {
    UNROLL
    for (u32 w = 0; w < 4; w++) {
        q[w] = both.at[w] & LOW_NIBBLES;
        q[w + 4] = both.at[w] >> 4 & LOW_NIBBLES;
    }
}
DEVICE void one_scale(Piece& p, f32 scale, f32 base) {
    p.scale[0] = p.scale[1] = scale;
    p.base[0] = p.base[1] = base;
}
// FIRST, SECOND, THIRD and FOURTH are a block's bytes in each part. With ONE_SCALE both halves of a piece have the same scale and the same base.
template <u32 BLOCK_, bool BASED_, bool ONE_SCALE_, u32 FIRST, u32 SECOND, u32 THIRD = 0, u32 FOURTH = 0> struct Format {
    static constexpr u32 BLOCK = BLOCK_;
    static constexpr bool BASED = BASED_, ONE_SCALE = ONE_SCALE_;
    static METHOD u32 part_bytes(u32 i) { return i == 0 ? FIRST : i == 1 ? SECOND : i == 2 ? THIRD : FOURTH; }
    static constexpr u32 ZERO_POINT = 0;
    // Whether both halves are of the same 32 elements in a row, from a multiple of 32 on.
    static constexpr bool IN_A_ROW = true;
    static METHOD u32 first(u32 number, u32 half) { return 32 * number + 16 * half; }
};

// ---- blocks of 32 -----------------------------------------------------------------------------------------------------
// 16 bytes of nibbles and a word of something else, or two.
struct Nibbles {
    Pack<u32, 4> q;
    u32 d, high;
};
struct Q4_0 : Format<32, false, true, 16, 2> {
    static constexpr u32 ZERO_POINT = 8;
    typedef Nibbles Raw;
    static METHOD Raw load(const QuantParts& at, u32 block, u32) { return Raw{sixteen_read_only(at.part[0] + (u64)block * 16), two(at.part[1] + (u64)block * 2), 0}; }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        nibbles(raw.q, p.q);
        one_scale(p, half_of(raw.d), 0.0f);
        return p;
    }
};
struct Q4_1 : Format<32, true, true, 16, 4> {
    typedef Nibbles Raw;
    static METHOD Raw load(const QuantParts& at, u32 block, u32) { return Raw{sixteen_read_only(at.part[0] + (u64)block * 16), four(at.part[1] + (u64)block * 4), 0}; }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        nibbles(raw.q, p.q);
        const TwoHalves d = halves_of(raw.d);
        one_scale(p, d.first, d.second);
        return p;
    }
};
// Bit j of a word is the fifth bit of element j.
DEVICE void fifth_bits(u32 bits, u32 (&q)[8]) {
    UNROLL
    for (u32 w = 0; w < 8; w++) q[w] |= spread(bits >> 4 * w) << 4;
}
struct Q5_0 : Format<32, false, true, 16, 4, 2> {
    static constexpr u32 ZERO_POINT = 16;
    typedef Nibbles Raw;
    static METHOD Raw load(const QuantParts& at, u32 block, u32) {
        return Raw{sixteen_read_only(at.part[0] + (u64)block * 16), two(at.part[2] + (u64)block * 2), four(at.part[1] + (u64)block * 4)};
    }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        nibbles(raw.q, p.q);
        fifth_bits(raw.high, p.q);
        one_scale(p, half_of(raw.d), 0.0f);
        return p;
    }
};
struct Q5_1 : Format<32, true, true, 16, 4, 4> {
    typedef Nibbles Raw;
    static METHOD Raw load(const QuantParts& at, u32 block, u32) {
        return Raw{sixteen_read_only(at.part[0] + (u64)block * 16), four(at.part[2] + (u64)block * 4), four(at.part[1] + (u64)block * 4)};
    }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        nibbles(raw.q, p.q);
        fifth_bits(raw.high, p.q);
        const TwoHalves d = halves_of(raw.d);
        one_scale(p, d.first, d.second);
        return p;
    }
};
struct Q8_0 : Format<32, false, true, 32, 2> {
    struct Raw {
        Pack<u32, 4> low, high;
        u32 d;
    };
    static METHOD Raw load(const QuantParts& at, u32 block, u32) {
        const u8* const q = at.part[0] + (u64)block * 32;
        return Raw{sixteen_read_only(q), sixteen_read_only(q + 16), two(at.part[1] + (u64)block * 2)};
    }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        UNROLL
        for (u32 w = 0; w < 4; w++) p.q[w] = raw.low.at[w], p.q[w + 4] = raw.high.at[w];
        one_scale(p, half_of(raw.d), 0.0f);
        return p;
    }
};
// Each of four nibbles becomes the signed byte of that number in a table of 16.
template <u64 FIRST, u64 SECOND> DEVICE u32 look_up(u32 nibbles) {
    const u32 index = nibbles & 0x07070707u;
    const u32 low = pick_bytes((u32)FIRST, (u32)(FIRST >> 32), index), high = pick_bytes((u32)SECOND, (u32)(SECOND >> 32), index);
    // All bits of a byte whose number is 8 or more.
    const u32 upper = (nibbles >> 3 & 0x01010101u) * 0xffu;
    return (low & ~upper) | (high & upper);
}
// -127 -104 -83 -65 -49 -35 -22 -10, and 1 13 25 38 53 69 89 113.
static constexpr u64 NONLINEAR_LOW = 0xf6eaddcfbfad9881ull, NONLINEAR_HIGH = 0x7159453526190d01ull;
// Twice the numbers of FP4 E2M1: 0 1 2 3 4 6 8 12, and the same below zero.
static constexpr u64 FP4_LOW = 0x0c08060403020100ull, FP4_HIGH = 0xf4f8fafcfdfeff00ull;
struct IQ4_NL : Format<32, false, true, 16, 2> {
    typedef Nibbles Raw;
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) { return Q4_0::load(at, block, number); }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        nibbles(raw.q, p.q);
        UNROLL
        for (u32 w = 0; w < 8; w++) p.q[w] = look_up<NONLINEAR_LOW, NONLINEAR_HIGH>(p.q[w]);
        one_scale(p, half_of(raw.d), 0.0f);
        return p;
    }
};
struct MXFP4 : Format<32, false, true, 16, 1> {
    typedef Nibbles Raw;
    static METHOD Raw load(const QuantParts& at, u32 block, u32) { return Raw{sixteen_read_only(at.part[0] + (u64)block * 16), at.part[1][block], 0}; }
    static METHOD Piece piece(const Raw& raw, u32) {
        Piece p;
        nibbles(raw.q, p.q);
        UNROLL
        for (u32 w = 0; w < 8; w++) p.q[w] = look_up<FP4_LOW, FP4_HIGH>(p.q[w]);
        // Half of 2^(d - 127), which may be subnormal.
        one_scale(p, from_bits(raw.d < 2 ? 0x00200000u << raw.d : (raw.d - 1) << 23), 0.0f);
        return p;
    }
};

// ---- blocks of 256 ----------------------------------------------------------------------------------------------------
struct Q2_K : Format<256, true, false, 64, 16, 4> {
    struct Raw {
        Pack<u32, 4> low, high;
        u32 scales, d;
    };
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) {
        const u8* const q = at.part[0] + (u64)block * 64 + number / 4 * 32;
        return Raw{sixteen_read_only(q), sixteen_read_only(q + 16), two(at.part[1] + (u64)block * 16 + 2 * number), four(at.part[2] + (u64)block * 4)};
    }
    static METHOD Piece piece(const Raw& raw, u32 number) {
        Piece p;
        UNROLL
        for (u32 w = 0; w < 4; w++) {
            p.q[w] = raw.low.at[w] >> number % 4 * 2 & 0x03030303u;
            p.q[w + 4] = raw.high.at[w] >> number % 4 * 2 & 0x03030303u;
        }
        const TwoHalves d = halves_of(raw.d);
        UNROLL
        for (u32 h = 0; h < 2; h++) {
            p.scale[h] = d.first * (f32)(raw.scales >> 8 * h & 0xfu);
            p.base[h] = -(d.second * (f32)(raw.scales >> 8 * h + 4 & 0xfu));
        }
        return p;
    }
};
struct Q3_K : Format<256, false, false, 64, 32, 12, 2> {
    static constexpr u32 ZERO_POINT = 4;
    struct Raw {
        Pack<u32, 4> low[2], high[2];
        u32 nibbles, pairs, d;
    };
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) {
        const u8* const q = at.part[0] + (u64)block * 64 + number / 4 * 32;
        const u8* const mask = at.part[1] + (u64)block * 32;
        const u8* const scales = at.part[2] + (u64)block * 12;
        return Raw{{sixteen_read_only(q), sixteen_read_only(q + 16)}, {sixteen_read_only(mask), sixteen_read_only(mask + 16)}, four(scales + number / 2 % 2 * 4), four(scales + 8),
                   two(at.part[3] + (u64)block * 2)};
    }
    static METHOD Piece piece(const Raw& raw, u32 number) {
        Piece p;
        UNROLL
        for (u32 w = 0; w < 8; w++) {
            const u32 two = raw.low[w / 4].at[w % 4] >> number % 4 * 2 & 0x03030303u;
            const u32 third = raw.high[w / 4].at[w % 4] >> number & 0x01010101u;
            p.q[w] = two | third << 2;
        }
        // Four bits of each scale are a nibble, two more are in another word.
        const u32 whole = (raw.nibbles >> number / 4 * 4 & LOW_NIBBLES) | (raw.pairs >> number / 2 * 2 & 0x03030303u) << 4;
        const f32 d = half_of(raw.d);
        UNROLL
        for (u32 h = 0; h < 2; h++) {
            p.scale[h] = d * (f32)((i32)(whole >> (number % 2 * 2 + h) * 8 & 0xffu) - 32);
            p.base[h] = 0.0f;
        }
        return p;
    }
};
// A scale and a minimum for the whole block, then eight of each, six bits each, in three words; those of a piece are a pair.
DEVICE void pair_of_eight(const Pack<u32, 4>& header, u32 number, Piece& p) {
    // The last four have four bits in the third word and two in the first or second, which differs by lane only in shifts and masks.
    const bool late = number >= 4;
    const u32 behind = number / 2 % 2 * 16, high = behind + (late ? 2 : 0), own = late ? 0x3030u : 0x3f3fu, other = late ? 0x0f0fu : 0;
    const u32 scales = (header.at[1] >> high & own) | (header.at[3] >> behind & other);
    const u32 minima = (header.at[2] >> high & own) | (header.at[3] >> behind + 4 & other);
    const TwoHalves d = halves_of(header.at[0]);
    UNROLL
    for (u32 h = 0; h < 2; h++) {
        p.scale[h] = d.first * (f32)(scales >> 8 * h & 0xffu);
        p.base[h] = -(d.second * (f32)(minima >> 8 * h & 0xffu));
    }
}
// 16 bytes are the low nibbles of 16 elements, and the high ones of those 32 elements later.
struct Q4_K : Format<256, true, false, 128, 16> {
    struct Raw { Pack<u32, 4> q, header; };
    static constexpr bool IN_A_ROW = false;
    static METHOD u32 first(u32 number, u32 half) { return number / 2 * 64 + number % 2 * 16 + half * 32; }
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) {
        return Raw{sixteen_read_only(at.part[0] + (u64)block * 128 + 16 * number), sixteen_read_only(at.part[1] + (u64)block * 16)};
    }
    static METHOD Piece piece(const Raw& raw, u32 number) {
        Piece p;
        nibbles(raw.q, p.q);
        pair_of_eight(raw.header, number, p);
        return p;
    }
};
struct Q5_K : Format<256, true, false, 128, 32, 16> {
    struct Raw { Pack<u32, 4> q, high, header; };
    static constexpr bool IN_A_ROW = false;
    static METHOD u32 first(u32 number, u32 half) { return Q4_K::first(number, half); }
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) {
        return Raw{sixteen_read_only(at.part[0] + (u64)block * 128 + 16 * number), sixteen_read_only(at.part[1] + (u64)block * 32 + number % 2 * 16),
                   sixteen_read_only(at.part[2] + (u64)block * 16)};
    }
    static METHOD Piece piece(const Raw& raw, u32 number) {
        Piece p;
        nibbles(raw.q, p.q);
        UNROLL
        for (u32 w = 0; w < 4; w++) {
            const u32 bits = raw.high.at[w] >> number / 2 * 2;
            p.q[w] |= (bits & 0x01010101u) << 4;
            p.q[w + 4] |= (bits & 0x02020202u) << 3;
        }
        pair_of_eight(raw.header, number, p);
        return p;
    }
};
// 16 bytes are the low nibbles of 16 elements, and the high ones of those 64 elements later.
struct Q6_K : Format<256, false, false, 128, 64, 16, 2> {
    static constexpr u32 ZERO_POINT = 32;
    struct Raw {
        Pack<u32, 4> q, high;
        u32 scales[2], d;
    };
    static constexpr bool IN_A_ROW = false;
    static METHOD u32 first(u32 number, u32 half) { return number / 4 * 128 + number % 4 * 16 + half * 64; }
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) {
        const u8* const scales = at.part[2] + (u64)block * 16 + first(number, 0) / 16;
        return Raw{sixteen_read_only(at.part[0] + (u64)block * 128 + 16 * number), sixteen_read_only(at.part[1] + (u64)block * 64 + number / 4 * 32 + number % 2 * 16),
                   {scales[0], scales[4]}, two(at.part[3] + (u64)block * 2)};
    }
    static METHOD Piece piece(const Raw& raw, u32 number) {
        Piece p;
        nibbles(raw.q, p.q);
        UNROLL
        for (u32 w = 0; w < 4; w++) {
            const u32 shift = number / 2 % 2 * 2;
            p.q[w] |= raw.high.at[w] << 4 - shift & 0x30303030u;
            p.q[w + 4] |= raw.high.at[w] >> shift & 0x30303030u;
        }
        const f32 d = half_of(raw.d);
        UNROLL
        for (u32 h = 0; h < 2; h++) {
            p.scale[h] = d * (f32)(i32)(i8)raw.scales[h];
            p.base[h] = 0.0f;
        }
        return p;
    }
};
struct IQ4_XS : Format<256, false, true, 128, 8> {
    struct Raw {
        Pack<u32, 4> q;
        Pack<u32, 2> header;
    };
    static METHOD Raw load(const QuantParts& at, u32 block, u32 number) {
        return Raw{sixteen_read_only(at.part[0] + (u64)block * 128 + 16 * number), load_pack<2>((const u32*)(at.part[1] + (u64)block * 8))};
    }
    static METHOD Piece piece(const Raw& raw, u32 number) {
        Piece p;
        nibbles(raw.q, p.q);
        UNROLL
        for (u32 w = 0; w < 8; w++) p.q[w] = look_up<NONLINEAR_LOW, NONLINEAR_HIGH>(p.q[w]);
        const u32 low = raw.header.at[1] >> 4 * number & 0xfu, high = raw.header.at[0] >> 16 + 2 * number & 3u;
        one_scale(p, half_of(raw.header.at[0]) * (f32)((i32)(low | high << 4) - 32), 0.0f);
        return p;
    }
};

template <class Format> DEVICE Piece whole_piece(const typename Format::Raw& raw, u32 number) {
    Piece p = Format::piece(raw, number);
    if constexpr (Format::ZERO_POINT != 0) {
        UNROLL
        for (u32 w = 0; w < 8; w++) p.q[w] = sub_bytes(p.q[w], Format::ZERO_POINT * 0x01010101u);
    }
    return p;
}

} // namespace hipstack
