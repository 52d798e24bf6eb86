//! Softmax and normalisation on a storage.

use super::{Storage, apart};
use crate::cpu::{self, CpuStorage};
use crate::error::Result;
use crate::hip::{self, HipStorage};
use crate::layout::Layout;

/// A normalisation of rows. The row-major elements of a tensor are divided into rows of `length`. Element i of row r
/// belongs to channel `r % groups · (length / inner) + i / inner` of weight and bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowNorm {
    /// The kind, which gives the name in messages and kernels.
    pub kind: RowNormKind,
    /// Elements of a row.
    pub length: usize,
    /// Rows that cover all channels once.
    pub groups: usize,
    /// Elements of one channel in a row.
    pub inner: usize,
    /// Added to the variance, or to the mean square.
    pub eps: f64,
}

/// Which normalisation of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowNormKind {
    /// By mean and variance, with a weight per element of a row.
    Layer,
    /// By the mean square, with a weight per element of a row.
    Rms,
    /// By mean and variance, with a weight per channel.
    Group,
}

impl RowNormKind {
    /// The operation's name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RowNormKind::Layer => "layer_norm",
            RowNormKind::Rms => "rms_norm",
            RowNormKind::Group => "group_norm",
        }
    }

    /// Whether the mean is subtracted.
    pub(crate) fn is_centred(self) -> bool {
        self != RowNormKind::Rms
    }
}

/// Parameters per channel: the storage, and a contiguous layout of rank 1.
pub(crate) struct Parameters<'a, S> {
    /// The memory.
    pub storage: &'a S,
    /// The layout of the numbers.
    pub layout: &'a Layout,
}

impl<S> Clone for Parameters<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Parameters<'_, S> {}

/// Optional weight and bias.
pub(crate) type Affine<'a, S> = [Option<Parameters<'a, S>>; 2];

/// Mean and variance of each channel, then weight and bias.
pub(crate) struct Channels<'a, S> {
    /// Mean and variance.
    pub statistics: [Parameters<'a, S>; 2],
    /// Weight and bias.
    pub affine: Affine<'a, S>,
    /// Added to the variance.
    pub eps: f64,
}

/// Operations with a new, contiguous, row-major result of the shape of `layout`. Floats only.
impl Storage {
    /// eˣ / Σeˣ along `axis`, or its logarithm.
    pub(crate) fn softmax(&self, layout: &Layout, axis: usize, log: bool) -> Result<Storage> {
        match self {
            Storage::Cpu(storage) => cpu::ops::softmax::softmax(storage, layout, axis, log).map(Storage::Cpu),
            Storage::Hip(storage) => hip::ops::softmax::softmax(storage, layout, axis, log).map(Storage::Hip),
        }
    }

    /// A normalisation of rows.
    pub(crate) fn row_norm(
        &self,
        layout: &Layout,
        norm: RowNorm,
        affine: Affine<'_, Storage>,
    ) -> Result<Storage> {
        let name = norm.kind.name();
        match self {
            Storage::Cpu(storage) => {
                let affine = [on_cpu(self, affine[0], name)?, on_cpu(self, affine[1], name)?];
                cpu::ops::norm::row_norm(storage, layout, norm, affine).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                let affine = [on_hip(self, affine[0], name)?, on_hip(self, affine[1], name)?];
                hip::ops::norm::row_norm(storage, layout, norm, affine).map(Storage::Hip)
            }
        }
    }

    /// (x − mean) / √(variance + eps) · weight + bias, with one parameter per channel, axis 1.
    pub(crate) fn batch_norm(&self, layout: &Layout, channels: &Channels<'_, Storage>) -> Result<Storage> {
        let Channels { statistics: [mean, variance], affine: [weight, bias], eps } = *channels;
        let name = "batch_norm";
        match self {
            Storage::Cpu(storage) => {
                let statistics = [cpu_of(self, mean, name)?, cpu_of(self, variance, name)?];
                let affine = [on_cpu(self, weight, name)?, on_cpu(self, bias, name)?];
                let channels = Channels { statistics, affine, eps };
                cpu::ops::norm::batch_norm(storage, layout, &channels).map(Storage::Cpu)
            }
            Storage::Hip(storage) => {
                let statistics = [hip_of(self, mean, name)?, hip_of(self, variance, name)?];
                let affine = [on_hip(self, weight, name)?, on_hip(self, bias, name)?];
                let channels = Channels { statistics, affine, eps };
                hip::ops::norm::batch_norm(storage, layout, &channels).map(Storage::Hip)
            }
        }
    }
}

/// What tensors have ruled out before is an error here: parameters on another kind of device than `x`.
fn cpu_of<'a>(
    x: &Storage,
    one: Parameters<'a, Storage>,
    operation: &'static str,
) -> Result<Parameters<'a, CpuStorage>> {
    match one.storage {
        Storage::Cpu(storage) => Ok(Parameters { storage, layout: one.layout }),
        Storage::Hip(_) => Err(apart(operation, x, one.storage)),
    }
}

/// As [`cpu_of`].
fn hip_of<'a>(
    x: &Storage,
    one: Parameters<'a, Storage>,
    operation: &'static str,
) -> Result<Parameters<'a, HipStorage>> {
    match one.storage {
        Storage::Hip(storage) => Ok(Parameters { storage, layout: one.layout }),
        Storage::Cpu(_) => Err(apart(operation, x, one.storage)),
    }
}

/// [`cpu_of`], if the parameter is given.
fn on_cpu<'a>(
    x: &Storage,
    one: Option<Parameters<'a, Storage>>,
    operation: &'static str,
) -> Result<Option<Parameters<'a, CpuStorage>>> {
    one.map(|one| cpu_of(x, one, operation)).transpose()
}

/// [`hip_of`], if the parameter is given.
fn on_hip<'a>(
    x: &Storage,
    one: Option<Parameters<'a, Storage>>,
    operation: &'static str,
) -> Result<Option<Parameters<'a, HipStorage>>> {
    one.map(|one| hip_of(x, one, operation)).transpose()
}
