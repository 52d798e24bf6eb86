//! The values of metadata: numbers, booleans, texts, and arrays of them.

use std::fmt;

use super::kind::Type;
use super::strings::Strings;

/// A value of a GGUF file's metadata. Metadata of safetensors files are all [`Value::String`].
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the variants are the types that they hold")]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
    String(String),
    Array(Array),
}

/// An array of values of one type.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the variants are the types that they hold")]
pub enum Array {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    String(Strings),
    /// Arrays, which may differ in type and length. A file has twelve bytes or more for each, and a box takes eight:
    /// a vector of arrays would be larger than the file that it is read from.
    Array(Vec<Box<Array>>),
}

impl Value {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is an integer of any type, not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::U8(value) => Some(value.into()),
            Value::U16(value) => Some(value.into()),
            Value::U32(value) => Some(value.into()),
            Value::U64(value) => Some(value),
            Value::I8(value) => value.try_into().ok(),
            Value::I16(value) => value.try_into().ok(),
            Value::I32(value) => value.try_into().ok(),
            Value::I64(value) => value.try_into().ok(),
            _ => None,
        }
    }

    /// The number, if it is a float, or an integer of at most 32 bits.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Value::F32(value) => Some(value.into()),
            Value::F64(value) => Some(value),
            Value::U8(value) => Some(value.into()),
            Value::I8(value) => Some(value.into()),
            Value::U16(value) => Some(value.into()),
            Value::I16(value) => Some(value.into()),
            Value::U32(value) => Some(value.into()),
            Value::I32(value) => Some(value.into()),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The type's name as GGUF's tools print it in lower case: "u32", "str", `arr[f32,4]`.
    pub fn type_name(&self) -> String {
        match self {
            Value::Array(array) => format!("arr[{},{}]", array.type_of().name(), array.len()),
            other => other.type_of().name().to_owned(),
        }
    }

    pub(super) fn type_of(&self) -> Type {
        match self {
            Value::U8(_) => Type::U8,
            Value::I8(_) => Type::I8,
            Value::U16(_) => Type::U16,
            Value::I16(_) => Type::I16,
            Value::U32(_) => Type::U32,
            Value::I32(_) => Type::I32,
            Value::U64(_) => Type::U64,
            Value::I64(_) => Type::I64,
            Value::F32(_) => Type::F32,
            Value::F64(_) => Type::F64,
            Value::Bool(_) => Type::Bool,
            Value::String(_) => Type::String,
            Value::Array(_) => Type::Array,
        }
    }
}

/// Evaluates to an expression of the vector in any variant but the texts'.
macro_rules! each {
    ($array:expr, $values:ident => $use:expr, $strings:ident => $text:expr) => {
        match $array {
            Array::U8($values) => $use,
            Array::I8($values) => $use,
            Array::U16($values) => $use,
            Array::I16($values) => $use,
            Array::U32($values) => $use,
            Array::I32($values) => $use,
            Array::U64($values) => $use,
            Array::I64($values) => $use,
            Array::F32($values) => $use,
            Array::F64($values) => $use,
            Array::Bool($values) => $use,
            Array::Array($values) => $use,
            Array::String($strings) => $text,
        }
    };
}

impl Array {
    /// How many values it has.
    pub fn len(&self) -> usize {
        each!(self, values => values.len(), strings => strings.len())
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at an index, as a value of its own.
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            Array::U8(values) => values.get(index).copied().map(Value::U8),
            Array::I8(values) => values.get(index).copied().map(Value::I8),
            Array::U16(values) => values.get(index).copied().map(Value::U16),
            Array::I16(values) => values.get(index).copied().map(Value::I16),
            Array::U32(values) => values.get(index).copied().map(Value::U32),
            Array::I32(values) => values.get(index).copied().map(Value::I32),
            Array::U64(values) => values.get(index).copied().map(Value::U64),
            Array::I64(values) => values.get(index).copied().map(Value::I64),
            Array::F32(values) => values.get(index).copied().map(Value::F32),
            Array::F64(values) => values.get(index).copied().map(Value::F64),
            Array::Bool(values) => values.get(index).copied().map(Value::Bool),
            Array::String(strings) => strings.get(index).map(|text| Value::String(text.to_owned())),
            Array::Array(arrays) => arrays.get(index).map(|array| Value::Array((**array).clone())),
        }
    }

    /// The texts, if it is an array of texts.
    pub fn as_strings(&self) -> Option<&Strings> {
        match self {
            Array::String(strings) => Some(strings),
            _ => None,
        }
    }

    pub(super) fn type_of(&self) -> Type {
        match self {
            Array::U8(_) => Type::U8,
            Array::I8(_) => Type::I8,
            Array::U16(_) => Type::U16,
            Array::I16(_) => Type::I16,
            Array::U32(_) => Type::U32,
            Array::I32(_) => Type::I32,
            Array::U64(_) => Type::U64,
            Array::I64(_) => Type::I64,
            Array::F32(_) => Type::F32,
            Array::F64(_) => Type::F64,
            Array::Bool(_) => Type::Bool,
            Array::String(_) => Type::String,
            Array::Array(_) => Type::Array,
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident),+) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Value {
                Value::$variant(value)
            }
        })+
    };
}

from!(u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, u64 => U64, i64 => I64, f32 => F32, f64 => F64);
from!(bool => Bool, String => String, Array => Array);

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

/// As it is read by people: texts in quotes, arrays in brackets, all of it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::U8(value) => value.fmt(f),
            Value::I8(value) => value.fmt(f),
            Value::U16(value) => value.fmt(f),
            Value::I16(value) => value.fmt(f),
            Value::U32(value) => value.fmt(f),
            Value::I32(value) => value.fmt(f),
            Value::U64(value) => value.fmt(f),
            Value::I64(value) => value.fmt(f),
            Value::F32(value) => value.fmt(f),
            Value::F64(value) => value.fmt(f),
            Value::Bool(value) => value.fmt(f),
            Value::String(text) => write!(f, "{text:?}"),
            Value::Array(array) => array.fmt(f),
        }
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T: fmt::Display>(values: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("[")?;
            for (index, value) in values.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                value.fmt(f)?;
            }
            f.write_str("]")
        }
        each!(self, values => list(values, f), strings => fmt::Debug::fmt(strings, f))
    }
}
