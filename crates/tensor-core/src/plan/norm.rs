//! Normalisation by rows and by channels.

use crate::error::Result;
use crate::layout::Layout;
use crate::storage::{Backend, Storage, for_backend_of};

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

impl<'a> Parameters<'a, Storage> {
    /// The same, for the backend of `x`.
    fn for_backend_of<S: Backend>(self, x: &Storage, operation: &'static str) -> Result<Parameters<'a, S>> {
        Ok(Parameters { storage: for_backend_of(x, self.storage, operation)?, layout: self.layout })
    }
}

/// Weight and bias, for the backend of `x`.
pub(crate) fn affine_for_backend_of<'a, S: Backend>(
    x: &Storage,
    [weight, bias]: Affine<'a, Storage>,
    operation: &'static str,
) -> Result<Affine<'a, S>> {
    let convert =
        |one: Option<Parameters<'a, Storage>>| one.map(|one| one.for_backend_of(x, operation)).transpose();
    Ok([convert(weight)?, convert(bias)?])
}

impl<'a> Channels<'a, Storage> {
    /// The same, for the backend of `x`.
    pub(crate) fn for_backend_of<S: Backend>(&self, x: &Storage) -> Result<Channels<'a, S>> {
        let ([mean, variance], name) = (self.statistics, "batch_norm");
        Ok(Channels {
            statistics: [mean.for_backend_of(x, name)?, variance.for_backend_of(x, name)?],
            affine: affine_for_backend_of(x, self.affine, name)?,
            eps: self.eps,
        })
    }
}
