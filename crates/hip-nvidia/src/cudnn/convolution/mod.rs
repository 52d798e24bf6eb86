//! Convolutions.

mod algorithm;
mod bias;
mod descriptor;
mod find;
mod fused;
mod immediate;
mod problem;
mod run;

pub(super) use algorithm::Choices;
pub(super) use bias::*;
pub(super) use descriptor::*;
pub(super) use find::*;
pub(super) use fused::*;
pub(super) use immediate::*;
pub(super) use problem::{Direction, Problem};
