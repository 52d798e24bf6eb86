//! Operations on each element.

use candle_core::op::UnaryOpT;
use candle_core::{Error, Layout, Result};
use tensor_core::UnaryOp;

use super::super::{named, HipStorage};
use super::each;

pub(in super::super) fn unary<B: UnaryOpT>(x: &HipStorage, l: &Layout) -> Result<HipStorage> {
    let Some(op) = Named::<B>::OP else {
        let what = format!("{} is no unary operation of HIP devices: write it as a CustomOp1", B::NAME);
        return Err(Error::Msg(what).bt());
    };
    // Integers are whole.
    let rounds = matches!(op, UnaryOp::Ceil | UnaryOp::Floor | UnaryOp::Round);
    each((x, l), |x| if rounds && x.dtype().is_int() { x.copy() } else { x.unary(op) })
}

pub(in super::super) fn powf(x: &HipStorage, l: &Layout, exponent: f64) -> Result<HipStorage> {
    each((x, l), |x| x.powf(exponent))
}

pub(in super::super) fn elu(x: &HipStorage, l: &Layout, alpha: f64) -> Result<HipStorage> {
    each((x, l), |x| x.elu(alpha))
}

/// The operation of candle's name, found when the call is compiled.
struct Named<B>(B);

impl<B: UnaryOpT> Named<B> {
    const OP: Option<UnaryOp> = named::find(
        B::NAME,
        &[
            ("exp", UnaryOp::Exp),
            ("log", UnaryOp::Log),
            ("sin", UnaryOp::Sin),
            ("cos", UnaryOp::Cos),
            ("tanh", UnaryOp::Tanh),
            ("neg", UnaryOp::Neg),
            ("recip", UnaryOp::Recip),
            ("sqr", UnaryOp::Sqr),
            ("sqrt", UnaryOp::Sqrt),
            ("gelu", UnaryOp::Gelu),
            ("gelu_erf", UnaryOp::GeluErf),
            ("erf", UnaryOp::Erf),
            ("silu", UnaryOp::Silu),
            ("abs", UnaryOp::Abs),
            ("ceil", UnaryOp::Ceil),
            ("floor", UnaryOp::Floor),
            ("round", UnaryOp::Round),
            ("relu", UnaryOp::Relu),
            ("sign", UnaryOp::Sign),
        ],
    );
}
