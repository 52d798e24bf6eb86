//! Convolutions by im2col: matrix products of the filters with columns of the input.

mod backward;
pub(super) mod bias;
pub(super) mod call;
pub(super) mod descriptor;
pub(super) mod find;
mod forward;
mod geometry;
mod matrix;
mod problem;

pub(super) use descriptor::{CONVOLUTIONS, Convolution};
pub(super) use forward::forward;
pub(super) use geometry::{Geometry, Side};
pub(super) use matrix::{Factor, multiply};
pub(super) use problem::{Direction, Problem};
