//! Scaled dot product attention.

use crate::layout::Layout;

/// The name in messages.
pub(crate) const NAME: &str = "scaled_dot_product_attention";

/// The operands and parameters of attention.
#[derive(Debug, Clone)]
pub(crate) struct Attention {
    /// Queries, `[batch, heads, queries, d]`.
    pub q: Layout,
    /// Keys, `[batch, heads of k, keys, d]`; the heads of q are a multiple of these.
    pub k: Layout,
    /// Values, `[batch, heads of k, keys, dv]`.
    pub v: Layout,
    /// The mask's layout, expanded to `[batch, heads, queries, keys]`.
    pub mask: Option<Layout>,
    /// Query i attends to the keys 0 to i.
    pub causal: bool,
    /// Factor of q kᵀ.
    pub scale: f64,
}

impl Attention {
    /// Heads of q that share a head of k and v.
    pub(crate) fn group(&self) -> usize {
        (self.q.dims()[1] / self.k.dims()[1].max(1)).max(1)
    }

    /// The result's dimensions.
    pub(crate) fn result(&self) -> [usize; 4] {
        let dims = self.q.dims();
        [dims[0], dims[1], dims[2], self.v.dims()[3]]
    }
}
