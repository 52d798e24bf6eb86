//! The formats of quantized numbers: names, sizes, and their numbers in files.

use std::fmt;

/// A format of ggml that stores numbers in blocks of small integers with common scales.
///
/// Each variant has the name that ggml gives it, without the underscore where Rust's style has none: `Q4K` is `q4_K`.
#[doc(alias = "GgmlDType")]
#[doc(alias = "ggml_type")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum QuantFormat {
    /// 4 bits around zero, and a scale.
    Q4_0,
    /// 4 bits, a scale and a minimum.
    Q4_1,
    /// 5 bits around zero, and a scale.
    Q5_0,
    /// 5 bits, a scale and a minimum.
    Q5_1,
    /// 8 bits and a scale.
    Q8_0,
    /// As [`QuantFormat::Q8_0`], with the sum of the numbers: a format of activations.
    Q8_1,
    /// 2 bits; 16 scales and minima of 4 bits.
    Q2K,
    /// 3 bits around zero; 16 scales of 6 bits.
    Q3K,
    /// 4 bits; 8 scales and minima of 6 bits.
    Q4K,
    /// 5 bits; 8 scales and minima of 6 bits.
    Q5K,
    /// 6 bits around zero; 16 scales of 8 bits.
    Q6K,
    /// 8 bits, a scale of 32 bits, and the sums of every 16 numbers: a format of activations.
    Q8K,
    /// Points of a grid of 256 in 8 dimensions, with signs.
    IQ2XXS,
    /// Points of a grid of 512 in 8 dimensions, with signs.
    IQ2XS,
    /// Points of a grid of 256 in 4 dimensions, with signs.
    IQ3XXS,
    /// Points of a grid of 2048 in 8 dimensions: −1, 0 and 1, shifted by an eighth.
    IQ1S,
    /// 4 bits, which choose from 16 unevenly spaced values, and a scale.
    IQ4NL,
    /// Points of a grid of 512 in 4 dimensions, with signs.
    IQ3S,
    /// Points of a grid of 1024 in 8 dimensions, with signs.
    IQ2S,
    /// The values of [`QuantFormat::IQ4NL`]; 8 scales of 6 bits.
    IQ4XS,
    /// As [`QuantFormat::IQ1S`], with twice as many scales.
    IQ1M,
    /// −1, 0 and 1, five in a byte, and a scale.
    TQ1_0,
    /// −1, 0 and 1 in 2 bits, and a scale.
    TQ2_0,
    /// 4-bit floats (`e2m1`) and a power of two: the format of OCP's Microscaling specification 1.0.
    MXFP4,
    /// 4-bit floats (`e2m1`), and a scale of 8 bits (`e4m3` without sign) for every 16.
    NVFP4,
}

/// What is known of a format.
struct Facts {
    format: QuantFormat,
    name: &'static str,
    /// ggml's `enum ggml_type`.
    number: u32,
    /// Numbers in a block.
    length: usize,
    /// Bytes of a block.
    bytes: usize,
    quantizes: bool,
}

macro_rules! facts {
    ($($format:ident $name:literal $number:literal $length:literal $bytes:literal $quantizes:literal;)+) => {
        [$(Facts {
            format: QuantFormat::$format,
            name: $name,
            number: $number,
            length: $length,
            bytes: $bytes,
            quantizes: $quantizes,
        }),+]
    };
}

/// In the order of the variants.
const FACTS: [Facts; 25] = facts! {
    Q4_0 "q4_0" 2 32 18 true;
    Q4_1 "q4_1" 3 32 20 true;
    Q5_0 "q5_0" 6 32 22 true;
    Q5_1 "q5_1" 7 32 24 true;
    Q8_0 "q8_0" 8 32 34 true;
    Q8_1 "q8_1" 9 32 36 true;
    Q2K "q2_k" 10 256 84 true;
    Q3K "q3_k" 11 256 110 true;
    Q4K "q4_k" 12 256 144 true;
    Q5K "q5_k" 13 256 176 true;
    Q6K "q6_k" 14 256 210 true;
    Q8K "q8_k" 15 256 292 true;
    IQ2XXS "iq2_xxs" 16 256 66 false;
    IQ2XS "iq2_xs" 17 256 74 false;
    IQ3XXS "iq3_xxs" 18 256 98 false;
    IQ1S "iq1_s" 19 256 50 false;
    IQ4NL "iq4_nl" 20 32 18 true;
    IQ3S "iq3_s" 21 256 110 false;
    IQ2S "iq2_s" 22 256 82 false;
    IQ4XS "iq4_xs" 23 256 136 true;
    IQ1M "iq1_m" 29 256 56 false;
    TQ1_0 "tq1_0" 34 256 54 false;
    TQ2_0 "tq2_0" 35 256 66 false;
    MXFP4 "mxfp4" 39 32 17 true;
    NVFP4 "nvfp4" 40 64 36 false;
};

impl QuantFormat {
    /// All formats, in the order of their numbers in files.
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

    /// The number of the format in files and in ggml's `enum ggml_type`.
    #[doc(alias = "to_u32")]
    pub const fn ggml_type(self) -> u32 {
        self.facts().number
    }

    /// The format with that number in ggml's `enum ggml_type`; `None` if it is of no quantized format, or of one that
    /// this crate does not know.
    #[doc(alias = "from_u32")]
    pub fn from_ggml_type(number: u32) -> Option<QuantFormat> {
        QuantFormat::ALL.into_iter().find(|format| format.ggml_type() == number)
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

    /// Whether [`crate::QTensor::quantize`] knows the format. All formats can be dequantized and multiplied.
    pub const fn can_quantize(self) -> bool {
        self.facts().quantizes
    }

    const fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }
}

impl fmt::Display for QuantFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_has_its_own_facts() {
        for (index, format) in QuantFormat::ALL.into_iter().enumerate() {
            assert_eq!(format as usize, index);
            assert_eq!(QuantFormat::from_ggml_type(format.ggml_type()), Some(format));
            let debug = format!("{format:?}").replace('_', "").to_lowercase();
            assert_eq!(format.to_string().replace('_', ""), debug);
        }
        // f32, f16, and the numbers of formats that ggml dropped.
        for number in [0, 1, 4, 5, 24, 30, 31, 36, 1000] {
            assert_eq!(QuantFormat::from_ggml_type(number), None);
        }
    }
}
