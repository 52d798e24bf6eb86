//! Enums of operations, with their names in kernels and messages and the dtypes they support.

use crate::dtype::DType;

macro_rules! operations {
    ($(#[$doc:meta])* $enum:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $enum {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $enum {
            /// Every operation of this kind.
            pub const ALL: [$enum; [$($enum::$variant),+].len()] = [$($enum::$variant),+];

            /// The name in messages and in kernel names.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $name,)+
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

operations! {
    /// Operations on one element that take no argument.
    UnaryOp {
        /// −x; integers wrap.
        Neg = "neg",
        /// |x|; integers wrap, so that the minimum stays.
        Abs = "abs",
        /// 1, −1, or 0 for zeros and for NaN.
        Sign = "sign",
        /// x·x; integers wrap.
        Sqr = "sqr",
        /// √x; NaN below zero.
        Sqrt = "sqrt",
        /// 1/√x.
        Rsqrt = "rsqrt",
        /// 1/x.
        Recip = "recip",
        /// eˣ.
        Exp = "exp",
        /// The natural logarithm.
        Log = "log",
        /// The sine of x in radians.
        Sin = "sin",
        /// The cosine of x in radians.
        Cos = "cos",
        /// The tangent of x in radians.
        Tan = "tan",
        /// The hyperbolic tangent.
        Tanh = "tanh",
        /// 1/(1 + e⁻ˣ).
        Sigmoid = "sigmoid",
        /// The error function.
        Erf = "erf",
        /// GELU by its tanh formula: x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
        Gelu = "gelu",
        /// GELU by its definition: x/2·(1 + erf(x/√2)).
        GeluErf = "gelu_erf",
        /// max(x, 0); NaN gives NaN, −0 gives +0.
        Relu = "relu",
        /// x/(1 + e⁻ˣ); NaN at −∞.
        Silu = "silu",
        /// ln(1 + eˣ).
        Softplus = "softplus",
        /// The least integer not below x.
        Ceil = "ceil",
        /// The greatest integer not above x.
        Floor = "floor",
        /// The nearest integer, halves away from zero.
        Round = "round",
    }
}

operations! {
    /// Operations on one element that take one scalar.
    ScalarOp {
        /// xᵃ, as C's `pow`.
        Powf = "powf",
        /// x above zero, a·(eˣ − 1) elsewhere.
        Elu = "elu",
        /// x above zero, a·x elsewhere.
        LeakyRelu = "leaky_relu",
    }
}

operations! {
    /// Operations on two elements, with a result of the same dtype.
    BinaryOp {
        /// a + b.
        Add = "add",
        /// a − b.
        Sub = "sub",
        /// a · b.
        Mul = "mul",
        /// a / b; integers are truncated, x/0 is 0, MIN/−1 is MIN.
        Div = "div",
        /// The remainder with the sign of a, as C's `fmod`; for integers x%0 is 0.
        Rem = "rem",
        /// The smaller one; NaN propagates, −0 is less than +0.
        Minimum = "minimum",
        /// The larger one; NaN propagates, −0 is less than +0.
        Maximum = "maximum",
        /// aᵇ, as C's `pow`.
        Pow = "pow",
    }
}

operations! {
    /// Comparisons of two elements, with a `u8` result of 1 or 0. NaN is unequal to everything, −0 equals +0.
    CmpOp {
        /// a = b.
        Eq = "eq",
        /// a ≠ b.
        Ne = "ne",
        /// a < b.
        Lt = "lt",
        /// a ≤ b.
        Le = "le",
        /// a > b.
        Gt = "gt",
        /// a ≥ b.
        Ge = "ge",
    }
}

operations! {
    /// Reductions over a set of axes.
    ReduceOp {
        /// The sum, pairwise; 0 for no elements. Integers wrap.
        Sum = "sum",
        /// The product; 1 for no elements. Integers wrap.
        Prod = "prod",
        /// The minimum; NaN propagates, −0 is less than +0.
        Min = "min",
        /// The maximum; NaN propagates, −0 is less than +0.
        Max = "max",
        /// The position of the minimum, as `u32`; the first of several.
        ArgMin = "argmin",
        /// The position of the maximum, as `u32`; the first of several.
        ArgMax = "argmax",
    }
}

impl UnaryOp {
    /// Whether the operation supports this dtype: all support floats; neg, abs, sign, sqr and relu also support
    /// integers.
    pub const fn supports(self, dtype: DType) -> bool {
        let ints = matches!(self, UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Sign | UnaryOp::Sqr | UnaryOp::Relu);
        dtype.is_float() || ints
    }
}

impl ScalarOp {
    /// Whether the operation supports this dtype: floats only.
    pub const fn supports(self, dtype: DType) -> bool {
        dtype.is_float()
    }
}

impl BinaryOp {
    /// Whether the operation supports this dtype: all, except that pow supports floats only.
    pub const fn supports(self, dtype: DType) -> bool {
        dtype.is_float() || !matches!(self, BinaryOp::Pow)
    }
}

impl CmpOp {
    /// Whether the operation supports this dtype: all.
    pub const fn supports(self, _dtype: DType) -> bool {
        true
    }
}

impl ReduceOp {
    /// Whether the operation supports this dtype: all.
    pub const fn supports(self, _dtype: DType) -> bool {
        true
    }

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
