//! Rotary position embeddings.

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
