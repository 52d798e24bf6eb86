//! The tables of the element-wise operations and of the reductions. Kernel lists, enums and methods are generated from them.
//!
//! A row has what is the same on every device: the meaning as documentation, the variant of an enum, the name in kernels,
//! methods and messages, and the dtypes, `all` or `floats`. A table is a macro. It calls another macro with the given
//! tokens and its rows. The build script makes names of kernels of the rows; tensor-core makes enums and methods of them.

/// Operations on one element that take no argument. A row is `Variant, name, dtypes;`.
#[macro_export]
macro_rules! unary_operations {
    ($with:ident! $($given:tt)*) => {
        $with! {
            $($given)*
            /// −x. Integers wrap.
            Neg, neg, all;
            /// |x|. Integers wrap, so that the minimum stays.
            Abs, abs, all;
            /// 1 above zero, −1 below, 0 for zeros and for NaN.
            Sign, sign, all;
            /// x·x. Integers wrap.
            Sqr, sqr, all;
            /// √x, correctly rounded; NaN below zero.
            Sqrt, sqrt, floats;
            /// 1/√x.
            Rsqrt, rsqrt, floats;
            /// 1/x, correctly rounded.
            Recip, recip, floats;
            /// eˣ.
            Exp, exp, floats;
            /// The natural logarithm.
            #[doc(alias = "ln")]
            Log, log, floats;
            /// The sine of x in radians.
            Sin, sin, floats;
            /// The cosine of x in radians.
            Cos, cos, floats;
            /// The tangent of x in radians.
            Tan, tan, floats;
            /// The hyperbolic tangent.
            Tanh, tanh, floats;
            /// 1/(1 + e⁻ˣ). [`Tensor::unary`](crate::Tensor::unary) says how types of 16 and 8 bits are rounded.
            Sigmoid, sigmoid, floats;
            /// The error function.
            Erf, erf, floats;
            /// GELU by its tanh formula: x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
            /// [`Tensor::unary`](crate::Tensor::unary) says how types of 16 and 8 bits are rounded.
            Gelu, gelu, floats;
            /// GELU by its definition: x/2·(1 + erf(x/√2)). [`Tensor::unary`](crate::Tensor::unary) says how types of 16
            /// and 8 bits are rounded.
            GeluErf, gelu_erf, floats;
            /// max(x, 0). NaN gives NaN, −0 gives +0.
            Relu, relu, all;
            /// x/(1 + e⁻ˣ); NaN at −∞. [`Tensor::unary`](crate::Tensor::unary) says how types of 16 and 8 bits are
            /// rounded.
            Silu, silu, floats;
            /// ln(1 + eˣ).
            Softplus, softplus, floats;
            /// The least integer not below x.
            Ceil, ceil, floats;
            /// The greatest integer not above x.
            Floor, floor, floats;
            /// The nearest integer, halves away from zero.
            Round, round, floats;
        }
    };
}

/// Operations on one element that take one scalar. A row is `Variant, name(scalar), dtypes;`.
#[macro_export]
macro_rules! scalar_operations {
    ($with:ident! $($given:tt)*) => {
        $with! {
            $($given)*
            /// xᵃ for the scalar a, as C's `pow`.
            Powf, powf(exponent), floats;
            /// x above zero, a·(eˣ − 1) elsewhere, for the scalar a.
            Elu, elu(alpha), floats;
            /// x above zero, a·x elsewhere, for the scalar a.
            LeakyRelu, leaky_relu(slope), floats;
        }
    };
}

/// Operations on two elements, with a result of the same dtype. A row is `Variant, name, dtypes;`.
#[macro_export]
macro_rules! binary_operations {
    ($with:ident! $($given:tt)*) => {
        $with! {
            $($given)*
            /// a + b. Integers wrap.
            Add, add, all;
            /// a − b. Integers wrap.
            Sub, sub, all;
            /// a · b. Integers wrap.
            Mul, mul, all;
            /// a / b. Integers are truncated toward zero; x/0 is 0, MIN/−1 is MIN.
            Div, div, all;
            /// The remainder with the sign of a, as C's `fmod`. For integers x%0 is 0.
            Rem, rem, all;
            /// The smaller one. NaN propagates; −0 is less than +0.
            Minimum, minimum, all;
            /// The larger one. NaN propagates; −0 is less than +0.
            Maximum, maximum, all;
            /// aᵇ, as C's `pow`.
            Pow, pow, floats;
            /// silu(a) · b, the gate of a SwiGLU network. [`Tensor::binary`](crate::Tensor::binary) says how it is rounded.
            SiluMul, silu_mul, floats;
            /// gelu(a) · b with GELU's tanh formula, the gate of a GeGLU network.
            /// [`Tensor::binary`](crate::Tensor::binary) says how it is rounded.
            GeluMul, gelu_mul, floats;
        }
    };
}

/// Comparisons of two elements, with a `u8` result of 1 or 0. A row is `Variant, name, dtypes;`.
#[macro_export]
macro_rules! compare_operations {
    ($with:ident! $($given:tt)*) => {
        $with! {
            $($given)*
            /// 1 where a = b.
            Eq, eq, all;
            /// 1 where a ≠ b.
            Ne, ne, all;
            /// 1 where a < b.
            Lt, lt, all;
            /// 1 where a ≤ b.
            Le, le, all;
            /// 1 where a > b.
            Gt, gt, all;
            /// 1 where a ≥ b.
            Ge, ge, all;
        }
    };
}

/// Reductions over a set of axes. A row is `Variant, name(name of the method that keeps the axes, of the one for all
/// axes), "the beginning of a sentence that goes on with: over the axes", dtypes;`.
#[macro_export]
macro_rules! reduce_operations {
    ($with:ident! $($given:tt)*) => {
        $with! {
            $($given)*
            Sum, sum(sum_keepdim, sum_all), "The sum (pairwise, 0 for no elements; integers wrap)", all;
            Prod, prod(prod_keepdim, prod_all), "The product (1 for no elements; integers wrap)", all;
            Min, min(min_keepdim, min_all), "The minimum (NaN propagates, −0 is less than +0)", all;
            Max, max(max_keepdim, max_all), "The maximum (NaN propagates, −0 is less than +0)", all;
            ArgMin, argmin(argmin_keepdim, argmin_all),
                "The position of the minimum (the first of several, as `u32`)", all;
            ArgMax, argmax(argmax_keepdim, argmax_all),
                "The position of the maximum (the first of several, as `u32`)", all;
        }
    };
}
