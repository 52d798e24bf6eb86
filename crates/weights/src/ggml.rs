//! The quantized formats of ggml: their numbers in files, names and sizes.

use std::fmt;

/// A format of ggml that stores numbers in blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QuantFormat(usize);

/// In the order of their numbers: name, number, elements of a block, bytes of a block.
const FACTS: [(&str, u32, usize, usize); 25] = [
    ("q4_0", 2, 32, 18),
    ("q4_1", 3, 32, 20),
    ("q5_0", 6, 32, 22),
    ("q5_1", 7, 32, 24),
    ("q8_0", 8, 32, 34),
    ("q8_1", 9, 32, 36),
    ("q2_k", 10, 256, 84),
    ("q3_k", 11, 256, 110),
    ("q4_k", 12, 256, 144),
    ("q5_k", 13, 256, 176),
    ("q6_k", 14, 256, 210),
    ("q8_k", 15, 256, 292),
    ("iq2_xxs", 16, 256, 66),
    ("iq2_xs", 17, 256, 74),
    ("iq3_xxs", 18, 256, 98),
    ("iq1_s", 19, 256, 50),
    ("iq4_nl", 20, 32, 18),
    ("iq3_s", 21, 256, 110),
    ("iq2_s", 22, 256, 82),
    ("iq4_xs", 23, 256, 136),
    ("iq1_m", 29, 256, 56),
    ("tq1_0", 34, 256, 54),
    ("tq2_0", 35, 256, 66),
    ("mxfp4", 39, 32, 17),
    ("nvfp4", 40, 64, 36),
];

impl QuantFormat {
    /// The name: ggml's own in lower case, such as "q4_k".
    pub const fn name(self) -> &'static str {
        FACTS[self.0].0
    }

    /// The number of the format in files and in ggml's `enum ggml_type`.
    pub const fn ggml_type(self) -> u32 {
        FACTS[self.0].1
    }

    /// The format with that number; `None` if it is of no quantized format, or of one that this crate does not know.
    pub fn from_ggml_type(number: u32) -> Option<QuantFormat> {
        FACTS.iter().position(|facts| facts.1 == number).map(QuantFormat)
    }

    /// Numbers in a block.
    pub const fn block_size(self) -> usize {
        FACTS[self.0].2
    }

    /// Bytes of a block.
    pub const fn type_size(self) -> usize {
        FACTS[self.0].3
    }
}

impl fmt::Display for QuantFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for QuantFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
