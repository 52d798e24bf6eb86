//! Convolutions.

mod algorithm;
mod bias;
mod descriptor;
mod find;
mod fused;
mod immediate;
mod math;
mod problem;
mod run;

pub(super) use algorithm::Choices;
pub(super) use bias::*;
pub(super) use descriptor::*;
pub(super) use find::*;
pub(super) use fused::*;
pub(super) use immediate::*;
#[cfg(test)]
pub(super) use math::Math;
pub(super) use problem::{Direction, Problem};
