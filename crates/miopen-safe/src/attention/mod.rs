//! Attention: its descriptors, its factors on the device, and the solutions that a handle remembers.

mod desc;
mod params;
mod solution;

pub use desc::AttentionDesc;
pub use params::{AttentionFactors, AttentionParams};
pub(crate) use solution::{Attentions, Found, Key};
