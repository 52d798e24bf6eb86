//! Convolutions and pooling on storage.

use super::{Storage, apart};
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;
use crate::window::{Convolution, Pooling};

impl Storage {
    /// The convolution of `x` `[batch, channels, h, w]` with `filter` (rank 4) and, where there is one, a bias of rank 1.
    pub(crate) fn conv(
        &self,
        x: &Layout,
        filter: (&Storage, &Layout),
        bias: Option<(&Storage, &Layout)>,
        shape: &Convolution,
    ) -> Result<Storage> {
        match (self, filter.0, bias) {
            (Storage::Cpu(a), Storage::Cpu(b), None) => {
                cpu::ops::conv::conv((a, x), (b, filter.1), None, shape).map(Storage::Cpu)
            }
            (Storage::Cpu(a), Storage::Cpu(b), Some((Storage::Cpu(c), bias))) => {
                cpu::ops::conv::conv((a, x), (b, filter.1), Some((c, bias)), shape).map(Storage::Cpu)
            }
            (Storage::Hip(a), Storage::Hip(b), None) => {
                hip::ops::conv::conv((a, x), (b, filter.1), None, shape).map(Storage::Hip)
            }
            (Storage::Hip(a), Storage::Hip(b), Some((Storage::Hip(c), bias))) => {
                hip::ops::conv::conv((a, x), (b, filter.1), Some((c, bias)), shape).map(Storage::Hip)
            }
            (lhs, rhs, _) => Err(apart(shape.operation, lhs, rhs)),
        }
    }

    /// The pooling or upsampling of `x` `[batch, channels, h, w]`. If there are outputs, each has a window.
    pub(crate) fn pool(&self, x: &Layout, shape: &Pooling) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::pool::pool(storage, x, shape).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::pool::pool(storage, x, shape).map(Storage::Hip),
        }
    }
}
