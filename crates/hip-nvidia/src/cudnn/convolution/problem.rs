//! A convolution as cuDNN sees it.

use super::descriptor::{Convolution, convolution_of};
use super::math::Math;
use crate::cudnn::Outcome;
use crate::cudnn::library::Out;
use crate::cudnn::tensor::{Tensor, tensor_of};
use cudarc::cudnn::sys;
use hip_sys::miopen::{miopenConvolutionDescriptor_t, miopenTensorDescriptor_t};
use std::sync::Arc;

/// What is computed from the other two: the picture that comes out, the one that went in, or the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Forward,
    BackwardData,
    BackwardWeights,
}

/// In all directions `x` is what the weights `w` slide over and `y` what that gives; the one that is computed is
/// their gradient, or `y`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Problem {
    pub(crate) direction: Direction,
    pub(crate) x: Arc<Tensor>,
    pub(crate) w: Arc<Tensor>,
    pub(crate) y: Arc<Tensor>,
    pub(crate) conv: Arc<Convolution>,
}

/// The memory of the three.
#[derive(Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) x: Out,
    pub(crate) w: Out,
    pub(crate) y: Out,
}

/// cuDNN's descriptors of a problem.
pub(super) struct Raw {
    pub(super) x: sys::cudnnTensorDescriptor_t,
    pub(super) w: sys::cudnnFilterDescriptor_t,
    pub(super) y: sys::cudnnTensorDescriptor_t,
    pub(super) conv: sys::cudnnConvolutionDescriptor_t,
}

impl Problem {
    /// What MIOpen calls so. A transposed convolution is the gradient of an ordinary one by its picture: `x` and
    /// `y` change places.
    pub(crate) fn new(
        asked: Direction,
        x: miopenTensorDescriptor_t,
        w: miopenTensorDescriptor_t,
        y: miopenTensorDescriptor_t,
        conv: miopenConvolutionDescriptor_t,
    ) -> Outcome<Self> {
        Ok(Self::from_parts(asked, tensor_of(x)?, tensor_of(w)?, tensor_of(y)?, convolution_of(conv)?))
    }

    /// The same of what the descriptors mean.
    pub(crate) fn from_parts(
        asked: Direction,
        x: Arc<Tensor>,
        w: Arc<Tensor>,
        y: Arc<Tensor>,
        conv: Arc<Convolution>,
    ) -> Self {
        if !conv.transposed {
            return Self { direction: asked, x, w, y, conv };
        }
        let direction = match asked {
            Direction::Forward => Direction::BackwardData,
            Direction::BackwardData => Direction::Forward,
            Direction::BackwardWeights => Direction::BackwardWeights,
        };
        Self { direction, x: y, w, y: x, conv }
    }

    /// MIOpen's buffers, in the places where this has their tensors.
    pub(crate) fn place(&self, buffers: Buffers) -> Buffers {
        if self.conv.transposed { Buffers { x: buffers.y, w: buffers.w, y: buffers.x } } else { buffers }
    }

    pub(super) fn raw(&self, math: Math) -> Outcome<Raw> {
        let channels_last = [&self.x, &self.y, &self.w].iter().any(|tensor| tensor.is_channels_last());
        Ok(Raw {
            x: self.x.raw()?,
            w: self.w.filter(channels_last)?,
            y: self.y.raw()?,
            conv: self.conv.raw(math)?,
        })
    }
}
