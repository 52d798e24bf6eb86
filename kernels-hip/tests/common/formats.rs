//! Number formats from their definition: values are computed from exponent and fraction, and rounding searches a table of all values. It is
//! independent of the kernels' algorithms.

/// An exact value of any dtype.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    Int(i128),
    Float(f64),
}

/// A 16-bit or 8-bit float format.
pub struct Small {
    pub name: &'static str,
    pub bytes: usize,
    /// Values of the patterns 0, 1, 2, … up to the largest finite number.
    pub values: Vec<f64>,
    /// The pattern of overflow.
    overflow: u64,
    /// A NaN.
    nan: u64,
}

impl Small {
    pub fn all() -> [Small; 3] {
        [Small::f8e4m3(), Small::bf16(), Small::f16()]
    }
    pub fn f16() -> Small {
        Small { name: "f16", bytes: 2, values: values(10, -14, 0x7c00), overflow: 0x7c00, nan: 0x7e00 }
    }
    pub fn bf16() -> Small {
        Small { name: "bf16", bytes: 2, values: values(7, -126, 0x7f80), overflow: 0x7f80, nan: 0x7fc0 }
    }
    /// 0x7f is NaN; there is no infinity.
    pub fn f8e4m3() -> Small {
        Small { name: "f8e4m3", bytes: 1, values: values(3, -6, 0x7f), overflow: 0x7e, nan: 0x7f }
    }

    fn sign_bit(&self) -> u64 {
        1 << (8 * self.bytes - 1)
    }

    pub fn decode(&self, bits: u64) -> f64 {
        let magnitude = bits & (self.sign_bit() - 1);
        let value = match self.values.get(magnitude as usize) {
            Some(value) => *value,
            None if magnitude == self.overflow => f64::INFINITY,
            None => f64::NAN,
        };
        if bits & self.sign_bit() != 0 { -value } else { value }
    }

    /// The nearest pattern, ties to the even one.
    pub fn encode(&self, value: Number) -> u64 {
        let (negative, above) = match value {
            Number::Int(v) => (v < 0, self.count_below(|m| compare_int(v.abs(), m))),
            Number::Float(v) if v.is_nan() => return self.nan,
            Number::Float(v) => {
                (v.is_sign_negative(), self.count_below(|m| v.abs().partial_cmp(&m).expect("no NaN")))
            }
        };
        let magnitude = if above == self.values.len() { self.overflow } else { above as u64 };
        magnitude | if negative { self.sign_bit() } else { 0 }
    }

    /// Index of the value that `x` rounds to, where `order(m)` compares x with m: the number of midpoints below x.
    fn count_below(&self, order: impl Fn(f64) -> std::cmp::Ordering) -> usize {
        let (mut low, mut high) = (0, self.values.len());
        while low < high {
            let middle = (low + high) / 2;
            let up = match order(self.midpoint(middle)) {
                std::cmp::Ordering::Greater => true,
                // Half way between patterns `middle` and `middle + 1`.
                std::cmp::Ordering::Equal => middle % 2 == 1,
                std::cmp::Ordering::Less => false,
            };
            if up { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Midpoint of the values of patterns i and i + 1. Beyond the last pattern, the value that would follow is used.
    pub fn midpoint(&self, i: usize) -> f64 {
        let last = self.values.len() - 1;
        if i < last {
            (self.values[i] + self.values[i + 1]) / 2.0
        } else {
            self.values[last] + (self.values[last] - self.values[last - 1]) / 2.0
        }
    }
}

/// Values of the patterns below `end`, with `fraction` bits of fraction and the smallest normal exponent `min`.
fn values(fraction: i32, min: i32, end: u64) -> Vec<f64> {
    let one = |pattern: u64| {
        let exponent = (pattern >> fraction) as i32;
        let digits = (pattern & ((1 << fraction) - 1)) as f64;
        let hidden = if exponent == 0 { 0.0 } else { f64::from(1u32 << fraction) };
        (hidden + digits) * 2f64.powi(exponent.max(1) - 1 + min - fraction)
    };
    (0..end).map(one).collect()
}

/// Compares an integer with a float that is a multiple of 2^-24 and at most 2^129, as scaled integers.
fn compare_int(v: i128, m: f64) -> std::cmp::Ordering {
    if m >= 2f64.powi(100) {
        return std::cmp::Ordering::Less;
    }
    match v.cmp(&(m.floor() as i128)) {
        std::cmp::Ordering::Equal if m.fract() != 0.0 => std::cmp::Ordering::Less,
        order => order,
    }
}

/// The exact value of a pattern.
pub fn decode(dtype: &str, bits: u64) -> Number {
    match dtype {
        "u8" => Number::Int((bits as u8).into()),
        "u32" => Number::Int((bits as u32).into()),
        "i16" => Number::Int((bits as i16).into()),
        "i32" => Number::Int((bits as i32).into()),
        "i64" => Number::Int((bits as i64).into()),
        "f32" => Number::Float(f32::from_bits(bits as u32).into()),
        "f64" => Number::Float(f64::from_bits(bits)),
        _ => Number::Float(small(dtype).decode(bits)),
    }
}

/// The pattern of a value in a dtype: floats are rounded once, integers wrap, float to integer saturates.
pub fn encode(dtype: &str, value: Number) -> u64 {
    let int = |wrapped: fn(i128) -> u64, saturated: fn(f64) -> u64| match value {
        Number::Int(v) => wrapped(v),
        Number::Float(v) => saturated(v),
    };
    match dtype {
        "u8" => int(|v| (v as u8).into(), |v| (v as u8).into()),
        "u32" => int(|v| (v as u32).into(), |v| (v as u32).into()),
        "i16" => int(|v| (v as i16 as u16).into(), |v| (v as i16 as u16).into()),
        "i32" => int(|v| (v as i32 as u32).into(), |v| (v as i32 as u32).into()),
        "i64" => int(|v| v as u64, |v| v as i64 as u64),
        "f32" => int(|v| (v as f32).to_bits().into(), |v| (v as f32).to_bits().into()),
        "f64" => int(|v| (v as f64).to_bits(), f64::to_bits),
        _ => small(dtype).encode(value),
    }
}

/// Whether a pattern is a NaN.
pub fn is_nan(dtype: &str, bits: u64) -> bool {
    matches!(decode(dtype, bits), Number::Float(v) if v.is_nan())
}

/// Bytes of an element.
pub fn bytes(dtype: &str) -> usize {
    match dtype {
        "u8" | "f8e4m3" => 1,
        "i16" | "f16" | "bf16" => 2,
        "i64" | "f64" => 8,
        _ => 4,
    }
}

/// The format of that name.
pub fn small(dtype: &str) -> &'static Small {
    static ALL: std::sync::LazyLock<[Small; 3]> = std::sync::LazyLock::new(Small::all);
    ALL.iter().find(|format| format.name == dtype).unwrap_or_else(|| panic!("no format {dtype}"))
}
