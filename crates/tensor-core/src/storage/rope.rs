//! Rotary position embeddings, by device.

use super::{Storage, apart};
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;

/// The layouts of the operands and of the result.
#[derive(Debug, Clone)]
pub(crate) struct Rope {
    /// The input, `[batch, head, time, 2 · pairs]`.
    pub x: Layout,
    /// The cosines, `[batch, time, pairs]`.
    pub cos: Layout,
    /// The sines, `[batch, time, pairs]`.
    pub sin: Layout,
    /// Whether pairs are neighbours. Otherwise a pair has one number from the first half and one from the second.
    pub interleaved: bool,
    /// Whether the result is contiguous as `[batch, time, head, …]`, or else as `[batch, head, time, …]`.
    pub time_first: bool,
    /// The operation's name in messages.
    pub name: &'static str,
}

impl Storage {
    /// Rotates the pairs of `rope` by the angles with these cosines and sines. All have the same float dtype.
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
