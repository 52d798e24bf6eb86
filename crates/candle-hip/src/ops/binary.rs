//! Operations on two elements.

use candle_core::op::BinaryOpT;
use candle_core::{Error, Result};
use tensor_core::BinaryOp;

use super::super::{named, HipStorage};
use super::{pairs, Operand};

pub(in super::super) fn binary<B: BinaryOpT>(lhs: Operand, rhs: Operand) -> Result<HipStorage> {
    let Some(op) = Named::<B>::OP else {
        let what = format!("{} is no binary operation of HIP devices: write it as a CustomOp2", B::NAME);
        return Err(Error::Msg(what).bt());
    };
    pairs(lhs, rhs, |lhs, rhs| lhs.binary(rhs, op))
}

/// The operation of candle's name, found when the call is compiled.
struct Named<B>(B);

impl<B: BinaryOpT> Named<B> {
    const OP: Option<BinaryOp> = named::find(
        B::NAME,
        &[
            ("add", BinaryOp::Add),
            ("sub", BinaryOp::Sub),
            ("mul", BinaryOp::Mul),
            ("div", BinaryOp::Div),
            ("minimum", BinaryOp::Minimum),
            ("maximum", BinaryOp::Maximum),
        ],
    );
}
