//! Recurrent networks. MIOpen orders the weights in another way than cuDNN, so each call copies them into cuDNN's order, in the
//! caller's workspace.

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
