//! Convolutions and pooling on storage.

use super::{Storage, apart};
use crate::activation::Activation;
use crate::cpu;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;
use crate::window::{Convolution, Pooling};

impl Storage {
    /// The convolution of `x` `[batch, channels, h, w]` with `filter` (rank 4), an optional bias of rank 1, and an
    /// optional activation.
    pub(crate) fn conv(
        &self,
        x: &Layout,
        filter: (&Storage, &Layout),
        bias: Option<(&Storage, &Layout)>,
        activation: Option<Activation>,
        shape: &Convolution,
    ) -> Result<Storage> {
        let on_cpu = |a, b, bias| -> Result<Storage> {
            let mut out = cpu::ops::conv::conv((a, x), (b, filter.1), bias, shape)?;
            if let Some(activation) = activation {
                let layout = Layout::contiguous(out.len(), shape.operation)?;
                cpu::ops::unary::activate_assign(&mut out, &layout, activation)?;
            }
            Ok(Storage::Cpu(out))
        };
        let on_hip = |a, b, bias| {
            hip::ops::conv::conv((a, x), (b, filter.1), (bias, activation), shape).map(Storage::Hip)
        };
        match (self, filter.0, bias) {
            (Storage::Cpu(a), Storage::Cpu(b), None) => on_cpu(a, b, None),
            (Storage::Cpu(a), Storage::Cpu(b), Some((Storage::Cpu(c), bias))) => {
                on_cpu(a, b, Some((c, bias)))
            }
            (Storage::Hip(a), Storage::Hip(b), None) => on_hip(a, b, None),
            (Storage::Hip(a), Storage::Hip(b), Some((Storage::Hip(c), bias))) => {
                on_hip(a, b, Some((c, bias)))
            }
            (lhs, rhs, _) => Err(apart(shape.operation, lhs, rhs)),
        }
    }

    /// Pools or upsamples `x` `[batch, channels, h, w]`. Every output has a window.
    pub(crate) fn pool(&self, x: &Layout, shape: &Pooling) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::pool::pool(storage, x, shape).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::pool::pool(storage, x, shape).map(Storage::Hip),
        }
    }
}
