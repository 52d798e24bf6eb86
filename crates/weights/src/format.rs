//! How a tensor of a file stores its numbers.

use std::fmt;

use tensor_core::{DType, QuantFormat, Shape};

/// How a tensor of a file stores its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// One element after another, as tensors store them.
    Dense(DType),
    /// Blocks of quantized numbers along the last dimension.
    Quantized(QuantFormat),
}

/// ggml's numbers of the dtypes that tensors have.
const DENSE: [(u32, DType); 7] = [
    (0, DType::F32),
    (1, DType::F16),
    (25, DType::I16),
    (26, DType::I32),
    (27, DType::I64),
    (28, DType::F64),
    (30, DType::BF16),
];

/// More than ggml's greatest number of a format.
const MOST: u32 = 255;

impl Format {
    /// The name: that of the dtype or of the quantized format, such as "bf16" and "q4_k".
    pub fn name(self) -> &'static str {
        match self {
            Format::Dense(dtype) => dtype.name(),
            Format::Quantized(format) => format.name(),
        }
    }

    /// The number in GGUF files (`enum ggml_type`); `None` for dtypes that these files do not have, such as `u8`.
    pub fn ggml_type(self) -> Option<u32> {
        match self {
            Format::Dense(dtype) => {
                DENSE.iter().find(|(_, known)| *known == dtype).map(|(number, _)| *number)
            }
            Format::Quantized(format) => Some(format.ggml_type()),
        }
    }

    /// The format with that number in GGUF files, if it is known.
    pub fn from_ggml_type(number: u32) -> Option<Format> {
        let dense = DENSE.iter().find(|(known, _)| *known == number);
        dense
            .map(|(_, dtype)| Format::Dense(*dtype))
            .or_else(|| QuantFormat::from_ggml_type(number).map(Format::Quantized))
    }

    /// All formats that GGUF files have, in the order of their numbers there.
    pub fn all() -> impl Iterator<Item = Format> {
        (0..=MOST).filter_map(Format::from_ggml_type)
    }

    /// The format of that name, if GGUF files have it.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::all().find(|format| format.name() == name)
    }

    /// Whether the numbers are real: floats, or quantized. Such formats are converted to those of [`Format::can_convert_to`].
    pub fn can_convert_from(self) -> bool {
        match self {
            Format::Dense(dtype) => dtype.is_float(),
            Format::Quantized(_) => true,
        }
    }

    /// Whether [`convert`](crate::convert) makes this format: floats that GGUF files have, and quantized formats of weights
    /// that can be quantized to. `q8_1` and `q8_k` are formats of activations.
    pub fn can_convert_to(self) -> bool {
        match self {
            Format::Dense(dtype) => dtype.is_float() && self.ggml_type().is_some(),
            Format::Quantized(QuantFormat::Q8_1 | QuantFormat::Q8K) => false,
            Format::Quantized(format) => format.can_quantize(),
        }
    }

    /// Elements of a block: 1 for a dtype.
    pub fn block_size(self) -> usize {
        match self {
            Format::Dense(_) => 1,
            Format::Quantized(format) => format.block_size(),
        }
    }

    /// Bytes of a block: those of an element for a dtype.
    pub fn type_size(self) -> usize {
        match self {
            Format::Dense(dtype) => dtype.size_in_bytes(),
            Format::Quantized(format) => format.type_size(),
        }
    }

    /// The bytes of a tensor of this format: rows, along the last dimension, are whole blocks.
    ///
    /// # Errors
    /// What is wrong with the shape: its rows are not whole blocks, or its size does not fit the address space.
    pub fn byte_len(self, shape: &Shape) -> Result<usize, String> {
        let (block, row) = (self.block_size(), shape.dims().last().copied().unwrap_or(1));
        if row % block != 0 {
            return Err(format!(
                "its rows have {row} elements, which are not whole blocks of {block} ({self})"
            ));
        }
        let count = shape.elements("format").ok();
        let bytes = count.and_then(|count| (count / block).checked_mul(self.type_size()));
        bytes.ok_or_else(|| format!("{shape} of {self} does not fit the address space"))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<DType> for Format {
    fn from(dtype: DType) -> Format {
        Format::Dense(dtype)
    }
}

impl From<QuantFormat> for Format {
    fn from(format: QuantFormat) -> Format {
        Format::Quantized(format)
    }
}
