//! The ten element types by name and size.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// The type of a tensor's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// Unsigned 8-bit integer; also the result of comparisons (0 or 1).
    U8,
    /// Unsigned 32-bit integer; also the result of argmin and argmax.
    U32,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// OCP 8-bit float: 4 exponent bits, 3 mantissa bits, no infinity, largest value 448.
    F8E4M3,
    /// bfloat16: the upper half of an `f32`.
    BF16,
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl DType {
    /// All ten, integers first.
    pub const ALL: [DType; 10] = [
        DType::U8,
        DType::U32,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F8E4M3,
        DType::BF16,
        DType::F16,
        DType::F32,
        DType::F64,
    ];

    /// Bytes of one element.
    pub const fn size_in_bytes(self) -> usize {
        match self {
            DType::U8 | DType::F8E4M3 => 1,
            DType::I16 | DType::BF16 | DType::F16 => 2,
            DType::U32 | DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// The name in messages, in kernel names and for [`DType::from_str`]: "u8", "f8e4m3", "bf16", ….
    pub const fn name(self) -> &'static str {
        match self {
            DType::U8 => "u8",
            DType::U32 => "u32",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F8E4M3 => "f8e4m3",
            DType::BF16 => "bf16",
            DType::F16 => "f16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }

    /// The name in the header of a safetensors file.
    pub const fn safetensors_name(self) -> &'static str {
        match self {
            DType::U8 => "U8",
            DType::U32 => "U32",
            DType::I16 => "I16",
            DType::I32 => "I32",
            DType::I64 => "I64",
            DType::F8E4M3 => "F8_E4M3",
            DType::BF16 => "BF16",
            DType::F16 => "F16",
            DType::F32 => "F32",
            DType::F64 => "F64",
        }
    }

    /// The dtype with that name in safetensors files, if it is one of the ten.
    pub fn from_safetensors_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.safetensors_name() == name)
    }

    /// NumPy's kind letter and size, such as "f4", without the byte order. NumPy has no `bf16` and no `f8e4m3`: `None`.
    pub const fn npy_name(self) -> Option<&'static str> {
        match self {
            DType::U8 => Some("u1"),
            DType::U32 => Some("u4"),
            DType::I16 => Some("i2"),
            DType::I32 => Some("i4"),
            DType::I64 => Some("i8"),
            DType::F16 => Some("f2"),
            DType::F32 => Some("f4"),
            DType::F64 => Some("f8"),
            DType::F8E4M3 | DType::BF16 => None,
        }
    }

    /// Whether this is one of `f8e4m3 bf16 f16 f32 f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F8E4M3 | DType::BF16 | DType::F16 | DType::F32 | DType::F64)
    }

    /// Whether this is one of `u8 u32 i16 i32 i64`.
    pub const fn is_int(self) -> bool {
        !self.is_float()
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Parses [`DType::name`].
    ///
    /// # Errors
    /// [`ErrorKind::UnknownDType`] for any other text.
    fn from_str(text: &str) -> Result<DType> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == text)
            .ok_or_else(|| Error::new("dtype", ErrorKind::UnknownDType { name: text.to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for dtype in DType::ALL {
            assert_eq!(dtype.name().parse::<DType>().unwrap(), dtype);
            assert_eq!(DType::from_safetensors_name(dtype.safetensors_name()), Some(dtype));
            assert_ne!(dtype.is_float(), dtype.is_int());
        }
        let message = "f31".parse::<DType>().unwrap_err().to_string();
        assert_eq!(message, "dtype: \"f31\" is none of u8 u32 i16 i32 i64 f8e4m3 bf16 f16 f32 f64");
    }

    #[test]
    fn sizes_are_those_of_the_rust_types() {
        use crate::{Element, F8E4M3};
        fn check<T: Element>() {
            assert_eq!(T::DTYPE.size_in_bytes(), size_of::<T>(), "{}", T::DTYPE);
        }
        check::<u8>();
        check::<u32>();
        check::<i16>();
        check::<i32>();
        check::<i64>();
        check::<F8E4M3>();
        check::<half::bf16>();
        check::<half::f16>();
        check::<f32>();
        check::<f64>();
    }
}
