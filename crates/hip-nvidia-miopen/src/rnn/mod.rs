//! Recurrent networks. MIOpen's weights have an order of their own: they are copied into cuDNN's, in the
//! caller's workspace, at each call.

mod descriptor;
mod layout;
mod params;
mod prepared;
mod run;
mod sequence;
mod sizes;
mod steps;

pub(super) use descriptor::*;
pub(super) use layout::*;
pub(super) use params::*;
pub(super) use run::*;
pub(super) use sequence::*;
pub(super) use sizes::*;
pub(super) use steps::*;
