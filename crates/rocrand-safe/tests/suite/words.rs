//! Numbers of AMD's own rocRAND 4.2, as its generators for the host's memory give them. hip-host gives the same, bit for bit; cuRAND seeds
//! its generators otherwise.

use crate::under_test;
use half::f16;
use hip_safe::bytemuck::{self, Pod};
use hip_safe::{AnyBits, DeviceBuffer, DeviceRepr, Stream};
use rocrand_safe::{Generator, Kind, Result};

/// What a kind gives for [`SEED`]: the first words, and digests of [`COUNT`] numbers each.
struct Known {
    kind: Kind,
    first: [u32; 4],
    words: u64,
    bytes: u64,
    halves: u64,
    singles: u64,
    doubles: u64,
    /// Poisson's distribution with a mean of 12.5.
    counts: u64,
    /// Words after the first [`OFFSET`] ones.
    later: u64,
    /// The first, the second and the 150002nd normal number of f64.
    normal: [f64; 3],
}

const SEED: u64 = 0x0123_4567_89ab_cdef;
/// As many as take each of the library's threads twice, and some a third time.
const COUNT: usize = 300_000;
/// More than the library has threads.
const OFFSET: u64 = 140_000;

const KNOWN: [Known; 9] = [
    Known {
        kind: Kind::Xorwow,
        first: [0x8dea_0907, 0xc286_7287, 0x2382_4e43, 0x1cfb_9cc3],
        words: 0x2b53_743d_ff35_17d5,
        bytes: 0x7d3e_d7dd_f8b9_6240,
        halves: 0x371b_a9da_3310_537d,
        singles: 0xf189_2c6b_20f7_5e28,
        doubles: 0x1597_bfde_cb59_2afb,
        counts: 0xa317_82f5_2d44_b1e8,
        later: 0x4e30_ac50_8087_867d,
        normal: [0.33015152319232, -2.37462150490534, -0.649661658160339],
    },
    Known {
        kind: Kind::Mrg32k3a,
        first: [0xafd5_f148, 0xe9eb_f52b, 0x8d39_6059, 0x4906_a9f5],
        words: 0xd436_f2bf_9711_6a2a,
        bytes: 0x6275_2030_fdc2_7216,
        halves: 0x75c5_7b4b_b48e_1fda,
        singles: 0xa988_c9bc_94d0_0e3b,
        doubles: 0x1748_9e81_a04b_452f,
        counts: 0x28ad_ea29_26e3_b75e,
        later: 0xac92_bfa0_32a3_664f,
        normal: [-0.694875201906934, -0.518076415304145, 0.129262902350868],
    },
    Known {
        kind: Kind::Philox4x32x10,
        first: [0xb850_222e, 0xc58c_b04b, 0x14a7_a020, 0x7a84_fff9],
        words: 0x8079_3067_b324_43cf,
        bytes: 0xb79b_784a_05a2_2ae3,
        halves: 0xdf35_18c1_e89e_e510,
        singles: 0x86dc_ce98_7558_3b21,
        doubles: 0x3018_2b59_da37_9a08,
        counts: 0xc73c_db55_2382_f687,
        later: 0x7aea_de03_8f07_db19,
        normal: [0.0965539404744341, -0.713479071509188, 0.0429084470480824],
    },
    Known {
        kind: Kind::Threefry2x32x20,
        first: [0xaaa4_d889, 0x6b35_c4f4, 0x75a5_2907, 0xd3dd_8613],
        words: 0x6f80_8e2a_e97b_eb0e,
        bytes: 0x484c_1dbd_43a1_88ee,
        halves: 0xdb9d_794a_5cf5_620b,
        singles: 0xd921_3762_6dc8_e2ed,
        doubles: 0x5cdc_167e_6ff7_3f27,
        counts: 0x2aeb_fdd8_1acc_2e98,
        later: 0x4b70_f9a7_f84b_0d5d,
        normal: [0.430509563191568, -0.204995096141748, 2.07635647529192],
    },
    Known {
        kind: Kind::Threefry2x64x20,
        first: [0x9925_94ba, 0xb854_acb8, 0x2af3_b0e0, 0xecde_c1b3],
        words: 0x5607_c8f2_985e_9624,
        bytes: 0x1337_52a2_428e_6fb8,
        halves: 0x6ffa_d8ef_6574_9eec,
        singles: 0xaef7_0fbf_d317_a2ae,
        doubles: 0xaf26_40b9_1334_0ba4,
        counts: 0x5179_77c0_d924_8e24,
        later: 0xbc14_622a_9cb6_eeca,
        normal: [-0.366710652685394, 0.722783082209956, -1.24392556221554],
    },
    Known {
        kind: Kind::Threefry4x32x20,
        first: [0x9ee6_5a74, 0x763f_b575, 0x3f5c_902c, 0x5815_2fbb],
        words: 0x3e65_3f5d_ac76_d4cd,
        bytes: 0xac1e_c467_a1aa_f784,
        halves: 0xfb2b_c6fd_6038_b9e0,
        singles: 0x2506_db4e_f107_6c9e,
        doubles: 0xcf60_09bc_314b_c338,
        counts: 0xaf33_6b80_94e4_ef0f,
        later: 0xa850_0f13_2886_0922,
        normal: [1.03202010879481, -0.692609259374205, 2.24656229419788],
    },
    Known {
        kind: Kind::Threefry4x64x20,
        first: [0xc82b_065a, 0x2bbf_b4e2, 0x4d1b_6c61, 0x9ec9_4583],
        words: 0x9b4e_899a_a210_3028,
        bytes: 0xe8aa_be41_b1bf_42c9,
        halves: 0xa40b_ce30_25dc_ed8d,
        singles: 0xb1b8_b08a_c0dc_f634,
        doubles: 0x66fb_983c_b9b0_ddb2,
        counts: 0xb870_8c07_df9d_544e,
        later: 0x2cb6_8b9b_fc78_374f,
        normal: [-1.28899766320269, -1.36817785822661, -0.0997049783301614],
    },
    Known {
        kind: Kind::Sobol32,
        first: [0, 0x8000_0000, 0xc000_0000, 0x4000_0000],
        words: 0x5184_d906_c9d0_1d76,
        bytes: 0x9440_5070_ec05_1c7e,
        halves: 0xf027_e335_6784_2b87,
        singles: 0x5432_2f2f_317d_e2ca,
        doubles: 0x2c75_bb77_8cde_d8bd,
        counts: 0xbb49_2ff9_cf8a_e2a4,
        later: 0x52a9_4e3d_fb39_ee9b,
        normal: [-6.23183529410853, 0.0, 0.164393188519544],
    },
    Known {
        kind: Kind::Sobol64,
        first: [0, 0x8000_0000, 0xc000_0000, 0x4000_0000],
        words: 0x5184_d906_c9d0_1d76,
        bytes: 0x9440_5070_ec05_1c7e,
        halves: 0xf027_e335_6784_2b87,
        singles: 0x5432_2f2f_317d_e2ca,
        doubles: 0x3f4d_318e_d1a2_36b1,
        counts: 0xbb49_2ff9_cf8a_e2a4,
        later: 0x52a9_4e3d_fb39_ee9b,
        normal: [-8.22230305802995, 0.0, 0.164393187927968],
    },
];

/// Words after the first 5 points of 1500 dimensions, of both Sobol kinds.
const DIMENSIONS: u64 = 0x7132_855c_1fc5_f4fe;

/// Runs a check of each kind that is known here.
fn each(check: impl Fn(&Stream, &Known, &mut dyn FnMut() -> Generator)) {
    if under_test::name() == "nvidia" {
        println!("skipped: cuRAND has other numbers for the same seed");
        return;
    }
    let stream = under_test::stream();
    let here = crate::kinds::here();
    for known in KNOWN.iter().filter(|known| here.contains(&known.kind)) {
        check(&stream, known, &mut || {
            let mut generator = under_test::generator(&stream, known.kind);
            if !known.kind.is_quasi() {
                generator.set_seed(SEED).unwrap();
            }
            generator
        });
    }
}

/// The numbers that a call fills.
fn drawn<T: DeviceRepr + AnyBits>(
    stream: &Stream,
    generator: &mut Generator,
    draw: impl FnOnce(&mut Generator, &mut DeviceBuffer<T>) -> Result<()>,
) -> Vec<T> {
    let mut numbers = stream.alloc_zeros::<T>(COUNT).unwrap();
    draw(generator, &mut numbers).unwrap();
    stream.download(&numbers).unwrap()
}

/// Depends on each bit of the numbers.
fn digest<T: Pod>(numbers: &[T]) -> u64 {
    bytemuck::cast_slice::<_, u8>(numbers).chunks_exact(4).fold(0xcbf2_9ce4_8422_2325, |sum, word| {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        (sum ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(17)
    })
}

#[test]
fn bits() {
    each(|stream, known, made| {
        let kind = known.kind;
        let words: Vec<u32> = drawn(stream, &mut made(), |g, out| g.fill_bits(out));
        assert_eq!(words[..4], known.first, "{kind:?}");
        assert_eq!(digest(&words), known.words, "{kind:?}");
        let bytes: Vec<u8> = drawn(stream, &mut made(), |g, out| g.fill_bits(out));
        assert_eq!(digest(&bytes), known.bytes, "{kind:?}, bytes");
    });
}

#[test]
fn bits_after_an_offset() {
    each(|stream, known, made| {
        let mut generator = made();
        generator.set_offset(OFFSET).unwrap();
        let words: Vec<u32> = drawn(stream, &mut generator, |g, out| g.fill_bits(out));
        assert_eq!(digest(&words), known.later, "{:?}", known.kind);
    });
}

#[test]
fn points_of_many_dimensions() {
    each(|stream, known, made| {
        if !known.kind.is_quasi() {
            return;
        }
        let mut generator = made();
        generator.set_offset(5).unwrap();
        generator.set_dimensions(1500).unwrap();
        let words: Vec<u32> = drawn(stream, &mut generator, |g, out| g.fill_bits(out));
        assert_eq!(digest(&words), DIMENSIONS, "{:?}", known.kind);
    });
}

#[test]
fn uniform_numbers() {
    each(|stream, known, made| {
        let kind = known.kind;
        let halves: Vec<f16> = drawn(stream, &mut made(), |g, out| g.fill_uniform(out));
        assert_eq!(digest(&halves), known.halves, "{kind:?}, f16");
        let singles: Vec<f32> = drawn(stream, &mut made(), |g, out| g.fill_uniform(out));
        assert_eq!(digest(&singles), known.singles, "{kind:?}, f32");
        let doubles: Vec<f64> = drawn(stream, &mut made(), |g, out| g.fill_uniform(out));
        assert_eq!(digest(&doubles), known.doubles, "{kind:?}, f64");
    });
}

#[test]
fn counts() {
    each(|stream, known, made| {
        let counts: Vec<u32> = drawn(stream, &mut made(), |g, out| g.fill_poisson(out, 12.5));
        assert_eq!(digest(&counts), known.counts, "{:?}", known.kind);
    });
}

/// The known values have 15 digits, and are at most 9. A logarithm, a root and a sine of f64 are off by a few of its rounding errors, of 1e-16
/// each.
#[test]
fn normal_numbers() {
    each(|stream, known, made| {
        let numbers: Vec<f64> = drawn(stream, &mut made(), |g, out| g.fill_normal(out, 0.0, 1.0));
        for (found, expected) in [numbers[0], numbers[1], numbers[150_001]].iter().zip(known.normal) {
            assert!((found - expected).abs() < 2e-14, "{:?}: {found}, not {expected}", known.kind);
        }
    });
}
