//! Recurrent networks: plain ones, LSTM and GRU, unidirectional or bidirectional, with any number of layers, forward and backward.

mod backward;
pub(super) mod call;
pub(super) mod descriptor;
mod forward;
mod run;
mod sequence;
pub(super) mod sequences;
pub(super) mod sizes;
pub(super) mod weights;
