//! Operations on one array: unary ones, those with scalars, affine and clamp.

use reference::{DType, ScalarOp, UnaryOp, Value};

use super::shapes::{LARGE, every, every_pattern};
use crate::case::{Case, Layout, Op, Operand};
use crate::inputs::Contents;

fn contents(op: UnaryOp) -> Contents {
    match op {
        UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tan => Contents::Angles,
        _ => Contents::Mixed,
    }
}

/// Every unary operation on every supported dtype and in every layout, and on all patterns of the 8-bit and 16-bit
/// floats.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for op in UnaryOp::ALL {
        for dtype in DType::ALL.into_iter().filter(|dtype| op.supports(*dtype)) {
            for (layout, shape, operand) in every(dtype, contents(op)) {
                cases.push(Case::new(Op::Unary(op), vec![operand], layout, shape));
            }
            if dtype.bits() <= 16 {
                let operand = every_pattern(dtype);
                cases.push(Case::new(Op::Unary(op), vec![operand], Layout::Contiguous, "every-pattern"));
            }
        }
    }
    for op in [UnaryOp::Neg, UnaryOp::Exp, UnaryOp::Gelu] {
        for dtype in [DType::BF16, DType::F16, DType::F32] {
            let operand = Operand::dense(dtype, &LARGE, contents(op));
            cases.push(Case::new(Op::Unary(op), vec![operand], Layout::Contiguous, "large"));
        }
    }
    cases
}

/// powf, elu and leaky_relu, with ordinary scalars in the first layouts and special ones in addition.
pub(super) fn scalar_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for op in ScalarOp::ALL {
        let (usual, others): (f64, &[(&str, f64)]) = match op {
            ScalarOp::Powf => {
                (2.5, &[("square", 2.0), ("inverse", -1.0), ("zero", 0.0), ("cube", 3.0), ("sqrt", 0.5)])
            }
            ScalarOp::Elu => (1.0, &[("small", 0.1), ("negative", -1.5)]),
            ScalarOp::LeakyRelu => (0.01, &[("half", 0.5), ("negative", -2.0)]),
        };
        for dtype in DType::ALL.into_iter().filter(|dtype| op.supports(*dtype)) {
            for (layout, shape, operand) in every(dtype, Contents::Mixed) {
                cases.push(Case::new(Op::Scalar(op, usual), vec![operand], layout, shape));
            }
            if dtype.bits() <= 16 {
                let operand = every_pattern(dtype);
                cases.push(Case::new(
                    Op::Scalar(op, usual),
                    vec![operand],
                    Layout::Contiguous,
                    "every-pattern",
                ));
            }
            for &(shape, scalar) in others {
                let operand = Operand::dense(dtype, &[1031], Contents::Mixed);
                cases.push(Case::new(Op::Scalar(op, scalar), vec![operand], Layout::Contiguous, shape));
            }
        }
    }
    cases
}

/// x · mul + add on all dtypes. The narrow floats cannot represent the scalars, so that their rounding matters.
pub(super) fn affine_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let op = if dtype.is_float() {
            Op::Affine { mul: Value::Float(1.7), add: Value::Float(-0.3) }
        } else {
            Op::Affine { mul: Value::Int(3), add: Value::Int(5) }
        };
        for (layout, shape, operand) in every(dtype, Contents::Mixed) {
            cases.push(Case::new(op.clone(), vec![operand], layout, shape));
        }
        if dtype.bits() <= 16 {
            cases.push(Case::new(op, vec![every_pattern(dtype)], Layout::Contiguous, "every-pattern"));
        }
    }
    cases
}

/// clamp on all dtypes.
pub(super) fn clamp_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in DType::ALL {
        let op = if dtype.is_float() {
            Op::Clamp { low: Value::Float(-0.7), high: Value::Float(3.3) }
        } else {
            Op::Clamp { low: Value::Int(2), high: Value::Int(100) }
        };
        for (layout, shape, operand) in every(dtype, Contents::Mixed) {
            cases.push(Case::new(op.clone(), vec![operand], layout, shape));
        }
        if dtype.is_float() {
            let zeros = Op::Clamp { low: Value::Float(-0.0), high: Value::Float(0.0) };
            let operand = Operand::dense(dtype, &[1031], Contents::Mixed);
            cases.push(Case::new(zeros, vec![operand], Layout::Contiguous, "between-zeros"));
        }
    }
    cases
}
