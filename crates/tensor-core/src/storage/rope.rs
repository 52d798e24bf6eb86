//! Rotary position embeddings, by device.

use super::{Storage, apart};
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;

/// What to turn, and how the result lies.
#[derive(Debug, Clone)]
pub(crate) struct Rope {
    /// The numbers, as `[batch, head, time, 2 · pairs]`.
    pub x: Layout,
    /// The cosines, as `[batch, time, pairs]`.
    pub cos: Layout,
    /// The sines, as `[batch, time, pairs]`.
    pub sin: Layout,
    /// Pairs are neighbours; otherwise a number of the first half goes with one of the second.
    pub interleaved: bool,
    /// The result is tight as `[batch, time, head, …]`; otherwise as `[batch, head, time, …]`.
    pub time_first: bool,
    /// The operation's name in messages.
    pub name: &'static str,
}

impl Storage {
    /// The pairs of `rope`, turned by the angles with these cosines and sines; all of one dtype, a float.
    pub(crate) fn rope(&self, cos: &Storage, sin: &Storage, rope: &Rope) -> Result<Storage> {
        match (self, cos, sin) {
            (Storage::Cpu(x), Storage::Cpu(cos), Storage::Cpu(sin)) => {
                cpu::ops::rope::rope(x, cos, sin, rope).map(Storage::Cpu)
            }
            (Storage::Hip(x), Storage::Hip(cos), Storage::Hip(sin)) => {
                hip::ops::rope::rope(x, cos, sin, rope).map(Storage::Hip)
            }
            (x, cos, _) => Err(apart(rope.name, x, cos)),
        }
    }
}
