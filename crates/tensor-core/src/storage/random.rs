//! Random numbers, on the device that they are for.

use super::Storage;
use crate::cpu::{self, philox::Draw};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::Result;
use crate::hip;
use crate::layout::Layout;
use crate::scalar::Scalar;

impl Storage {
    /// `count` numbers evenly spread over `low..high`, both rounded to `dtype`; `below` is the number before `high`. Floats only.
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

    /// `count` normally distributed numbers of this mean and deviation. Floats only.
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

    /// `count` integers evenly spread over the `span` numbers from `low` on, which `dtype` has. Integers only.
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

    /// `count` elements: 1 where the word is below `threshold`, else 0.
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

    /// The elements of `layout`: 0 where the word is below `threshold`, else the element times `scale`. Floats only.
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
