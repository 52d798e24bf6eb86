//! Random numbers, generated on the device that stores them.

use super::Storage;
use crate::cpu::{self, philox::Draw};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;
use crate::scalar::Scalar;

impl Storage {
    /// `count` numbers uniformly distributed over `low..high`, both rounded to `dtype`. `below` is the next number
    /// below `high`. Floats only.
    pub(crate) fn uniform(
        device: &Device,
        dtype: DType,
        count: usize,
        draw: Draw,
        scalars: [Scalar; 3],
    ) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::random::uniform(dtype, count, draw, scalars).map(Storage::Cpu),
            Device::Hip(device) => {
                hip::ops::random::uniform(device, dtype, count, draw, scalars).map(Storage::Hip)
            }
        }
    }

    /// `count` normally distributed numbers with this mean and deviation. Floats only.
    pub(crate) fn normal(
        device: &Device,
        dtype: DType,
        count: usize,
        draw: Draw,
        scalars: [Scalar; 2],
    ) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::random::normal(dtype, count, draw, scalars).map(Storage::Cpu),
            Device::Hip(device) => {
                hip::ops::random::normal(device, dtype, count, draw, scalars).map(Storage::Hip)
            }
        }
    }

    /// `count` integers uniformly distributed over the `span` numbers from `low` on, which fit `dtype`. Integers only.
    pub(crate) fn randint(
        device: &Device,
        dtype: DType,
        count: usize,
        draw: Draw,
        low: i64,
        span: u64,
    ) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::random::randint(dtype, count, draw, low, span).map(Storage::Cpu),
            Device::Hip(device) => {
                hip::ops::random::randint(device, dtype, count, draw, low, span).map(Storage::Hip)
            }
        }
    }

    /// `count` elements: 1 where the random word is below `threshold`, else 0.
    pub(crate) fn bernoulli(
        device: &Device,
        dtype: DType,
        count: usize,
        draw: Draw,
        threshold: u64,
    ) -> Result<Storage> {
        match device {
            Device::Cpu => cpu::ops::random::bernoulli(dtype, count, draw, threshold).map(Storage::Cpu),
            Device::Hip(device) => {
                hip::ops::random::bernoulli(device, dtype, count, draw, threshold).map(Storage::Hip)
            }
        }
    }

    /// The elements of `layout`: 0 where the random word is below `threshold`, else the element times `scale`. Floats
    /// only.
    pub(crate) fn dropout(&self, layout: &Layout, draw: Draw, threshold: u64, scale: f64) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => {
                cpu::ops::random::dropout(storage, layout, draw, threshold, scale).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                hip::ops::random::dropout(storage, layout, draw, threshold, scale).map(Storage::Hip)
            }
        }
    }
}
