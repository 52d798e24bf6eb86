//! Recurrent networks: plain ones, LSTM and GRU, in both directions and any number of layers, forward and back.

mod backward;
pub(super) mod call;
pub(super) mod descriptor;
mod forward;
mod run;
mod sequence;
pub(super) mod sequences;
pub(super) mod sizes;
pub(super) mod weights;
