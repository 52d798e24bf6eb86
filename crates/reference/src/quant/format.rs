//! The formats: names, sizes, and where the scales are.

/// A format of blocks. Each variant has the name that ggml gives it, without the underscore where Rust's style has none.
#[doc(alias = "ggml_type")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QuantFormat {
    /// 4 bits around zero, and a scale.
    Q4_0,
    /// 4 bits, a scale and a base.
    Q4_1,
    /// 5 bits around zero, and a scale.
    Q5_0,
    /// 5 bits, a scale and a base.
    Q5_1,
    /// 8 bits and a scale.
    Q8_0,
    /// 2 bits; for each 16 a scale and a base of 4 bits.
    Q2K,
    /// 3 bits around zero; for each 16 a scale of 6 bits.
    Q3K,
    /// 4 bits; for each 32 a scale and a base of 6 bits.
    Q4K,
    /// 5 bits; for each 32 a scale and a base of 6 bits.
    Q5K,
    /// 6 bits around zero; for each 16 a scale of 8 bits.
    Q6K,
    /// 4 bits that choose from 16 integers, and a scale.
    IQ4NL,
    /// The integers of [`QuantFormat::IQ4NL`]; for each 32 a scale of 6 bits.
    IQ4XS,
    /// 4-bit floats (`e2m1`) and a power of two.
    MXFP4,
}

/// What is known of a format.
struct Facts {
    format: QuantFormat,
    name: &'static str,
    length: usize,
    bytes: usize,
    scales: &'static [usize],
    largest: u32,
}

const fn row(
    format: QuantFormat,
    name: &'static str,
    (length, bytes): (usize, usize),
    scales: &'static [usize],
    largest: u32,
) -> Facts {
    Facts { format, name, length, bytes, scales, largest }
}

/// In the order of the variants.
#[rustfmt::skip]
const FACTS: [Facts; 13] = [
    row(QuantFormat::Q4_0, "q4_0", (32, 18), &[0], 8),
    row(QuantFormat::Q4_1, "q4_1", (32, 20), &[0, 2], 15),
    row(QuantFormat::Q5_0, "q5_0", (32, 22), &[0], 16),
    row(QuantFormat::Q5_1, "q5_1", (32, 24), &[0, 2], 31),
    row(QuantFormat::Q8_0, "q8_0", (32, 34), &[0], 128),
    row(QuantFormat::Q2K, "q2_k", (256, 84), &[80, 82], 15 * 3),
    row(QuantFormat::Q3K, "q3_k", (256, 110), &[108], 32 * 4),
    row(QuantFormat::Q4K, "q4_k", (256, 144), &[0, 2], 63 * 15),
    row(QuantFormat::Q5K, "q5_k", (256, 176), &[0, 2], 63 * 31),
    row(QuantFormat::Q6K, "q6_k", (256, 210), &[208], 128 * 32),
    row(QuantFormat::IQ4NL, "iq4_nl", (32, 18), &[0], 127),
    row(QuantFormat::IQ4XS, "iq4_xs", (256, 136), &[0], 32 * 127),
    row(QuantFormat::MXFP4, "mxfp4", (32, 17), &[], 12),
];

impl QuantFormat {
    /// All of them.
    pub const ALL: [QuantFormat; FACTS.len()] = {
        let mut all = [QuantFormat::Q4_0; FACTS.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = FACTS[i].format;
            i += 1;
        }
        all
    };

    /// The name: ggml's own in lower case, such as "q4_k".
    #[doc(alias = "ggml_type_name")]
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// Numbers in a block.
    #[doc(alias = "ggml_blck_size")]
    pub const fn block_size(self) -> usize {
        self.facts().length
    }

    /// Bytes of a block.
    #[doc(alias = "ggml_type_size")]
    pub const fn type_size(self) -> usize {
        self.facts().bytes
    }

    /// Where in a block its `f16` scales are, in bytes from the block's start: that of the integers, then that of the bases.
    /// Empty for [`QuantFormat::MXFP4`], whose scale is an exponent in the first byte.
    pub const fn scales(self) -> &'static [usize] {
        self.facts().scales
    }

    /// The largest magnitude of scale · integer if the first of [`QuantFormat::scales`] is 1: the scale of a group of 16 or
    /// 32 times its largest integer.
    pub const fn largest(self) -> u32 {
        self.facts().largest
    }

    const fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }
}

impl std::fmt::Display for QuantFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
