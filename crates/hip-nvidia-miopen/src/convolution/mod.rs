//! Convolutions.

mod algorithm;
mod backend;
mod bias;
mod descriptor;
mod find;
mod fused;
mod immediate;
mod math;
mod problem;
mod run;
mod solution;

pub(super) use algorithm::Choices;
use algorithm::class;
pub(super) use backend::Plans;
pub(super) use bias::*;
pub(super) use descriptor::*;
pub(super) use find::*;
pub(super) use fused::*;
pub(super) use immediate::*;
#[cfg(test)]
pub(super) use math::Math;
pub(super) use problem::{Buffers, Direction, Problem};
