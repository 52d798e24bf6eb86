//! The types of values, and their numbers in files.

/// The types of values, by their numbers in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
}

impl Type {
    pub(super) fn of_number(number: u32) -> Option<Type> {
        const ALL: [Type; 13] = [
            Type::U8,
            Type::I8,
            Type::U16,
            Type::I16,
            Type::U32,
            Type::I32,
            Type::F32,
            Type::Bool,
            Type::String,
            Type::Array,
            Type::U64,
            Type::I64,
            Type::F64,
        ];
        ALL.get(number as usize).copied()
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Type::U8 => "u8",
            Type::I8 => "i8",
            Type::U16 => "u16",
            Type::I16 => "i16",
            Type::U32 => "u32",
            Type::I32 => "i32",
            Type::F32 => "f32",
            Type::Bool => "bool",
            Type::String => "str",
            Type::Array => "arr",
            Type::U64 => "u64",
            Type::I64 => "i64",
            Type::F64 => "f64",
        }
    }

    /// The fewest bytes that a value of this type takes in a file.
    pub(super) fn least(self) -> u64 {
        match self {
            Type::U8 | Type::I8 | Type::Bool => 1,
            Type::U16 | Type::I16 => 2,
            Type::U32 | Type::I32 | Type::F32 => 4,
            // A text has its length before it.
            Type::U64 | Type::I64 | Type::F64 | Type::String => 8,
            // The type of its values, and their number.
            Type::Array => 12,
        }
    }
}
