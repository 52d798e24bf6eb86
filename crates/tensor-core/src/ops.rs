//! Enums of operations, with their names in kernels and messages and the dtypes they support. The rows are tables of
//! kernels-hip, because each operation has kernels.

use crate::dtype::DType;

/// The sentence that ends the documentation of an operation with these dtypes.
macro_rules! dtypes_in_words {
    (all) => {
        ""
    };
    (floats) => {
        "Floats only."
    };
}
pub(crate) use dtypes_in_words;

/// Whether the dtypes of a row are all.
macro_rules! are_all {
    (all) => {
        true
    };
    (floats) => {
        false
    };
}

/// Makes an enum of a table of `kernels_hip`.
macro_rules! operations {
    (
        $(#[$doc:meta])* enum $enum:ident;
        $($(#[$meta:meta])* $variant:ident, $name:ident $(($($more:tt)*))?, $($text:literal,)? $dtypes:ident;)+
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $(
                $(#[$meta])*
                $(#[doc = concat!($text, ".")])?
                #[doc = dtypes_in_words!($dtypes)]
                $variant,
            )+
        }

        impl $enum {
            /// Every operation of this kind.
            pub const ALL: [$enum; [$($enum::$variant),+].len()] = [$($enum::$variant),+];

            /// The name in messages and in kernel names.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => stringify!($name),)+
                }
            }

            /// Whether the operation supports this dtype. All support floats.
            pub const fn supports(self, dtype: DType) -> bool {
                match self {
                    $($enum::$variant => dtype.is_float() || are_all!($dtypes),)+
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

kernels_hip::unary_operations! { operations!
    /// Operations on one element that take no argument.
    enum UnaryOp;
}

kernels_hip::scalar_operations! { operations!
    /// Operations on one element that take one scalar.
    enum ScalarOp;
}

kernels_hip::binary_operations! { operations!
    /// Operations on two elements, with a result of the same dtype.
    enum BinaryOp;
}

kernels_hip::compare_operations! { operations!
    /// Comparisons of two elements, with a `u8` result of 1 or 0. NaN is unequal to everything, −0 equals +0.
    enum CmpOp;
}

kernels_hip::reduce_operations! { operations!
    /// Reductions over a set of axes.
    enum ReduceOp;
}

impl ReduceOp {
    /// The dtype of the result: `u32` for positions, else the dtype of the input.
    pub const fn result_dtype(self, dtype: DType) -> DType {
        if self.is_position() { DType::U32 } else { dtype }
    }

    /// Whether the result is a position: argmin and argmax.
    pub const fn is_position(self) -> bool {
        matches!(self, ReduceOp::ArgMin | ReduceOp::ArgMax)
    }

    /// Whether the operation has a result for no elements: sum and prod.
    pub const fn has_identity(self) -> bool {
        matches!(self, ReduceOp::Sum | ReduceOp::Prod)
    }
}
