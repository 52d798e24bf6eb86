//! The ten element types, and their values.

use crate::round;

/// Element type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// Unsigned 8-bit integer; also the result of comparisons.
    U8,
    /// Unsigned 32-bit integer; also the result of argmin and argmax.
    U32,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// OCP 8-bit float, 4 exponent and 3 mantissa bits: no infinities, largest value 448, NaN is `0x7f` or
    /// `0xff`.
    F8E4M3,
    /// 16-bit float with the exponent range of `f32`.
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

    /// The name in kernels and reports: "u8", "f8e4m3", "bf16", …
    pub fn name(self) -> &'static str {
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

    /// The dtype of that name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        self.bits() as usize / 8
    }

    /// Bits of one element.
    pub fn bits(self) -> u32 {
        match self {
            DType::U8 | DType::F8E4M3 => 8,
            DType::I16 | DType::BF16 | DType::F16 => 16,
            DType::U32 | DType::I32 | DType::F32 => 32,
            DType::I64 | DType::F64 => 64,
        }
    }

    /// Whether the dtype is a floating point type.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F8E4M3 | DType::BF16 | DType::F16 | DType::F32 | DType::F64)
    }

    /// Whether the dtype is an integer type.
    pub fn is_int(self) -> bool {
        !self.is_float()
    }

    /// The minimum and maximum of an integer dtype; `None` for floats.
    pub fn int_range(self) -> Option<(i128, i128)> {
        match self {
            DType::U8 => Some((0, u8::MAX.into())),
            DType::U32 => Some((0, u32::MAX.into())),
            DType::I16 => Some((i16::MIN.into(), i16::MAX.into())),
            DType::I32 => Some((i32::MIN.into(), i32::MAX.into())),
            DType::I64 => Some((i64::MIN.into(), i64::MAX.into())),
            _ => None,
        }
    }

    /// The bit pattern, in the low bits, of the element at `index` of little-endian `bytes`; `None` past the end.
    pub fn read(self, bytes: &[u8], index: usize) -> Option<u64> {
        let start = index.checked_mul(self.size())?;
        let element = bytes.get(start..start.checked_add(self.size())?)?;
        Some(element.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
    }

    /// Appends a bit pattern as little-endian bytes.
    pub fn write(self, bits: u64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&bits.to_le_bytes()[..self.size()]);
    }

    /// The exact value of a bit pattern.
    pub fn decode(self, bits: u64) -> Value {
        match self {
            DType::U8 => Value::Int((bits as u8).into()),
            DType::U32 => Value::Int((bits as u32).into()),
            DType::I16 => Value::Int((bits as i16).into()),
            DType::I32 => Value::Int((bits as i32).into()),
            DType::I64 => Value::Int((bits as i64).into()),
            _ => Value::Float(round::decode_float(self, bits)),
        }
    }

    /// The bit pattern of `value` converted to this dtype, as `cast` does. Float to float and integer to float round
    /// once to nearest even; `f8e4m3` saturates. Float to integer truncates and saturates, and NaN becomes 0. Integer
    /// to integer wraps.
    pub fn encode(self, value: Value) -> u64 {
        match (self.int_range(), value) {
            (Some(range), Value::Float(x)) => round::wrap(self, round::saturate(range, x)),
            (Some(_), Value::Int(i)) => round::wrap(self, i),
            (None, Value::Float(x)) => round::round_f64(self, x),
            (None, Value::Int(i)) => round::round_int(self, i),
        }
    }

    /// Whether a bit pattern is a NaN of this dtype. Always false for integers.
    pub fn is_nan(self, bits: u64) -> bool {
        match self.decode(bits) {
            Value::Float(x) => x.is_nan(),
            Value::Int(_) => false,
        }
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A number: an element of an array, or a scalar argument. It represents every element of every dtype exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// An integer.
    Int(i128),
    /// A floating point number.
    Float(f64),
}

impl Value {
    /// The value rounded once to `dtype`. Scalar arguments are rounded this way before a kernel gets them.
    pub fn round_to(self, dtype: DType) -> Value {
        dtype.decode(dtype.encode(self))
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Float(x)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Int(i.into())
    }
}
