//! The formulas of the operations on elements: one row an operation.
//!
//! Functions are those of the system's math library or of the crate `libm`, except for [`exp`] of `f32`. A formula of
//! several steps, and a function whose `f32` form is less exact, is computed in `f64` for `f32`, so that one rounding
//! remains.

use super::arith::Arith;
use super::blocks::{Kernel1, Kernel2};
use super::output::Output;
use super::real::Real;
use super::{exp, formulas};
use crate::ops::{BinaryOp, ScalarOp, UnaryOp};

/// A loop over elements, and its cost per element in units of [`crate::cpu::chunks`].
type Loop<C> = (fn(&[C], &mut Output<'_, C>), usize);

/// A compute type with the operations that it has.
pub(super) trait Functions: Arith {
    /// The loop of an operation on one element.
    fn unary(op: UnaryOp) -> Option<Loop<Self>>;

    /// The loop of an operation on one element and the scalar `a`.
    fn scalar(op: ScalarOp, a: Self) -> Option<Box<Kernel1<Self>>>;

    /// The loop of an operation on two elements.
    fn binary(op: BinaryOp) -> Option<Kernel2<Self>>;
}

/// Costs for `f32` and `f64`: an instruction or two.
const STEP: [usize; 2] = [1, 1];
/// A function of the system's math library.
const FUNCTION: [usize; 2] = [32, 32];
/// A formula with several such functions.
const FORMULA: [usize; 2] = [64, 64];
/// As [`FUNCTION`], vectorised for `f32`.
const FAST_FUNCTION: [usize; 2] = [8, 32];
/// As [`FORMULA`], vectorised for `f32`.
const FAST_FORMULA: [usize; 2] = [8, 64];

#[inline(always)]
fn silu_for_f32(x: f32) -> f32 {
    (f64::from(x) * exp::sigmoid_for_f32(x.into())) as f32
}

#[inline(always)]
fn gelu_for_f32(x: f32) -> f32 {
    formulas::gelu_for_f32(x.into()) as f32
}

macro_rules! unary {
    (|$x:ident|
        all { $($all:ident: $formula:expr;)+ }
        floats { $($op:ident: $cost:ident, $single:expr, $double:expr;)+ }
    ) => {
        fn unary_of_all<C: Arith>(op: UnaryOp) -> Option<Loop<C>> {
            match op {
                $(UnaryOp::$all => Some((|x, y| y.each(x, #[inline(always)] |$x: C| $formula), 1)),)+
                $(UnaryOp::$op)|+ => None,
            }
        }

        fn unary_of_f32(op: UnaryOp) -> Option<Loop<f32>> {
            match op {
                $(UnaryOp::$op => Some((|x, y| y.each(x, #[inline(always)] |$x: f32| $single), $cost[0])),)+
                op => unary_of_all(op),
            }
        }

        fn unary_of_f64(op: UnaryOp) -> Option<Loop<f64>> {
            match op {
                $(UnaryOp::$op => Some((|x, y| y.each(x, #[inline(always)] |$x: f64| $double), $cost[1])),)+
                op => unary_of_all(op),
            }
        }
    };
}

// `all`: one formula for every compute type. `floats`: the cost, the formula for f32, and that for f64.
unary! { |x|
    all {
        Neg: x.neg();
        Abs: x.abs();
        Sign: x.sign();
        Sqr: x.mul(x);
        Relu: x.max(C::default());
    }
    floats {
        Sqrt: STEP, x.sqrt(), x.sqrt();
        Rsqrt: STEP, (1.0 / f64::from(x).sqrt()) as f32, 1.0 / x.sqrt();
        Recip: STEP, 1.0 / x, 1.0 / x;
        Exp: FAST_FUNCTION, exp::exp(x), x.exp();
        Log: FUNCTION, x.ln(), x.ln();
        Sin: FUNCTION, x.sin(), x.sin();
        Cos: FUNCTION, x.cos(), x.cos();
        Tan: FUNCTION, x.tan(), x.tan();
        Tanh: FORMULA, f64::from(x).tanh() as f32, x.tanh();
        Sigmoid: FAST_FORMULA, exp::sigmoid_for_f32(x.into()) as f32, formulas::sigmoid(x);
        Erf: FORMULA, libm::erff(x), libm::erf(x);
        Gelu: FAST_FORMULA, gelu_for_f32(x), formulas::gelu(x);
        GeluErf: FORMULA, formulas::gelu_erf(x.into()) as f32, formulas::gelu_erf(x);
        Silu: FAST_FORMULA, silu_for_f32(x), formulas::silu(x);
        Softplus: FORMULA, formulas::softplus(x.into()) as f32, formulas::softplus(x);
        Ceil: STEP, x.ceil(), x.ceil();
        Floor: STEP, x.floor(), x.floor();
        Round: STEP, x.round(), x.round();
    }
}

/// The cost of an operation with a scalar, in units of [`crate::cpu::chunks`].
pub(super) const SCALAR_WORK: usize = FUNCTION[0];

macro_rules! scalar {
    (|$x:ident, $a:ident| floats { $($op:ident: $single:expr, $double:expr;)+ }) => {
        fn scalar_of_f32(op: ScalarOp, $a: f32) -> Option<Box<Kernel1<f32>>> {
            Some(match op {
                $(ScalarOp::$op => Box::new(move |x, y| y.each(x, #[inline(always)] |$x: f32| $single)),)+
            })
        }

        fn scalar_of_f64(op: ScalarOp, $a: f64) -> Option<Box<Kernel1<f64>>> {
            Some(match op {
                $(ScalarOp::$op => Box::new(move |x, y| y.each(x, #[inline(always)] |$x: f64| $double)),)+
            })
        }
    };
}

scalar! { |x, a|
    floats {
        Powf: x.pow(a), x.pow(a);
        Elu: formulas::elu(x.into(), a.into()) as f32, formulas::elu(x, a);
        LeakyRelu: if x > 0.0 { x } else { x * a }, if x > 0.0 { x } else { x * a };
    }
}

fn none_of_integers<C>(_: ScalarOp, _: C) -> Option<Box<Kernel1<C>>> {
    None
}

macro_rules! binary {
    (|$x:ident, $y:ident|
        all { $($all:ident: $formula:expr;)+ }
        floats { $($op:ident: $single:expr, $double:expr;)+ }
    ) => {
        fn binary_of_all<C: Arith>(op: BinaryOp) -> Option<Kernel2<C>> {
            match op {
                $(BinaryOp::$all => Some(|x, y, size, z| z.pairs(x, y, size, #[inline(always)] |$x: C, $y: C| $formula)),)+
                $(BinaryOp::$op)|+ => None,
            }
        }

        fn binary_of_f32(op: BinaryOp) -> Option<Kernel2<f32>> {
            match op {
                $(BinaryOp::$op => Some(|x, y, size, z| z.pairs(x, y, size, #[inline(always)] |$x: f32, $y: f32| $single)),)+
                op => binary_of_all(op),
            }
        }

        fn binary_of_f64(op: BinaryOp) -> Option<Kernel2<f64>> {
            match op {
                $(BinaryOp::$op => Some(|x, y, size, z| z.pairs(x, y, size, #[inline(always)] |$x: f64, $y: f64| $double)),)+
                op => binary_of_all(op),
            }
        }
    };
}

binary! { |x, y|
    all {
        Add: x.add(y);
        Sub: x.sub(y);
        Mul: x.mul(y);
        Div: x.div(y);
        Rem: x.rem(y);
        Minimum: x.min(y);
        Maximum: x.max(y);
    }
    floats {
        Pow: x.pow(y), x.pow(y);
        SiluMul: silu_for_f32(x) * y, formulas::silu(x) * y;
        GeluMul: gelu_for_f32(x) * y, formulas::gelu(x) * y;
    }
}

macro_rules! functions {
    ($($type:ty: $unary:path, $scalar:path, $binary:path;)+) => {
        $(impl Functions for $type {
            fn unary(op: UnaryOp) -> Option<Loop<$type>> {
                $unary(op)
            }

            fn scalar(op: ScalarOp, a: $type) -> Option<Box<Kernel1<$type>>> {
                $scalar(op, a)
            }

            fn binary(op: BinaryOp) -> Option<Kernel2<$type>> {
                $binary(op)
            }
        })+
    };
}

functions! {
    u8: unary_of_all, none_of_integers, binary_of_all;
    u32: unary_of_all, none_of_integers, binary_of_all;
    i16: unary_of_all, none_of_integers, binary_of_all;
    i32: unary_of_all, none_of_integers, binary_of_all;
    i64: unary_of_all, none_of_integers, binary_of_all;
    f32: unary_of_f32, scalar_of_f32, binary_of_f32;
    f64: unary_of_f64, scalar_of_f64, binary_of_f64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elu_and_leaky_relu_keep_nan() {
        for op in [ScalarOp::Elu, ScalarOp::LeakyRelu] {
            let mut y = [0.0];
            f64::scalar(op, 0.1).expect("floats have it")(&[f64::NAN], &mut Output::over(&mut y));
            assert!(y[0].is_nan());
        }
    }
}
