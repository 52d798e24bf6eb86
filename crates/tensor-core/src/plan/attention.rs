//! Scaled dot product attention.

use crate::layout::Layout;
use crate::plan::index::Indexed;

/// The name in messages.
pub(crate) const NAME: &str = "scaled_dot_product_attention";
/// The same, of attention to keys in pages.
pub(crate) const PAGED: &str = "paged_attention";

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

/// The operands and parameters of attention to keys in pages.
#[derive(Debug, Clone)]
pub(crate) struct Paged {
    /// Queries, `[sequences, heads, 1, d]`.
    pub q: Layout,
    /// Keys, `[1, heads of k, rows, d]`; the heads of q are a multiple of these.
    pub k: Layout,
    /// Values, `[1, heads of k, rows, dv]`.
    pub v: Layout,
    /// Ids of pages, `[sequences, pages of each]`.
    pub table: Layout,
    /// The last key that each query sees, `[sequences]`.
    pub positions: Layout,
    /// Rows of a page, a power of two below 2^32.
    pub rows: usize,
    /// What ids of pages index: `length` pages along the axis of rows.
    pub pages: Indexed,
    /// How many keys a query sees at most.
    pub window: usize,
    /// Factor of q kᵀ.
    pub scale: f64,
}

impl Paged {
    /// Heads of q that share a head of k and v.
    pub(crate) fn group(&self) -> usize {
        (self.q.dims()[1] / self.k.dims()[1].max(1)).max(1)
    }

    /// Keys of the pages of a sequence. The table's pages were counted.
    pub(crate) fn keys(&self) -> usize {
        self.table.dims()[1] * self.rows
    }

    /// The result's dimensions.
    pub(crate) fn result(&self) -> [usize; 4] {
        let dims = self.q.dims();
        [dims[0], dims[1], 1, self.v.dims()[3]]
    }
}
