//! Recurrent networks forward: plain ones, LSTM and GRU, in both directions and any number of layers.

pub(super) mod call;
pub(super) mod descriptor;
mod forward;
mod sequence;
pub(super) mod sequences;
pub(super) mod sizes;
pub(super) mod weights;
