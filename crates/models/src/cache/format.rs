//! The numbers in which keys and values are kept.

use std::fmt;
use std::str::FromStr;

use tensor_core::DType;

/// Numbers of a vector that share a scale in [`CacheFormat::Q8_0`].
const GROUP: usize = 32;

/// The numbers in which keys and values are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheFormat {
    /// Four bytes a number.
    F32,
    /// Two bytes a number.
    F16,
    /// Two bytes a number.
    BF16,
    /// Integers of 8 bits, of which 32 share a scale of 16 bits, as in GGUF's `q8_0`. Each step makes floats of all that it
    /// reads: this saves memory, and costs time.
    Q8_0,
}

impl CacheFormat {
    /// All formats.
    pub const ALL: [CacheFormat; 4] =
        [CacheFormat::F32, CacheFormat::F16, CacheFormat::BF16, CacheFormat::Q8_0];

    /// The name: `f32`, `f16`, `bf16` or `q8_0`.
    pub const fn name(self) -> &'static str {
        match self {
            CacheFormat::F32 => "f32",
            CacheFormat::F16 => "f16",
            CacheFormat::BF16 => "bf16",
            CacheFormat::Q8_0 => "q8_0",
        }
    }

    /// The format that keeps activations of this dtype as they are.
    pub fn of(activations: DType) -> CacheFormat {
        match activations {
            DType::F16 => CacheFormat::F16,
            DType::BF16 => CacheFormat::BF16,
            _ => CacheFormat::F32,
        }
    }

    /// The dtype of the numbers, unless they are integers with scales.
    pub(crate) fn dense(self) -> Option<DType> {
        match self {
            CacheFormat::F32 => Some(DType::F32),
            CacheFormat::F16 => Some(DType::F16),
            CacheFormat::BF16 => Some(DType::BF16),
            CacheFormat::Q8_0 => None,
        }
    }

    /// The bytes of a vector of `length` numbers.
    pub(crate) fn bytes(self, length: usize) -> usize {
        match self.dense() {
            Some(dtype) => length * dtype.size_in_bytes(),
            None => length + length / group(length) * DType::F16.size_in_bytes(),
        }
    }
}

/// How many numbers of a vector share a scale: 32, or all of a vector that is no multiple of these.
pub(super) fn group(length: usize) -> usize {
    if length.is_multiple_of(GROUP) { GROUP } else { length }
}

impl fmt::Display for CacheFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CacheFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<CacheFormat, String> {
        let found = CacheFormat::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| "f32, f16, bf16 or q8_0".to_owned())
    }
}
