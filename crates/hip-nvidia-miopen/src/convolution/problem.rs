//! A convolution in cuDNN's terms.

use super::descriptor::{Convolution, convolution_of};
use super::math::Math;
use crate::Outcome;
use crate::library::Out;
use crate::tensor::{Tensor, tensor_of};
use cudarc::cudnn::sys;
use hip_sys::miopen::{miopenConvolutionDescriptor_t, miopenDataType_t, miopenTensorDescriptor_t};
use std::sync::Arc;

/// Which of the three tensors is computed: the output, the gradient by the input, or the gradient by the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Forward,
    BackwardData,
    BackwardWeights,
}

/// In all directions `x` is the ordinary convolution's input, `w` its weights and `y` its output. The computed tensor is
/// a gradient, or `y`.
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
    /// MIOpen's arguments. A transposed convolution is the gradient by the input of an ordinary one, so `x` and
    /// `y` are exchanged.
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

    /// MIOpen's buffers, in the order of this problem's tensors.
    pub(crate) fn in_problem_order(&self, buffers: Buffers) -> Buffers {
        if self.conv.transposed { Buffers { x: buffers.y, w: buffers.w, y: buffers.x } } else { buffers }
    }

    /// Whether one of the tensors has its channels innermost.
    pub(super) fn is_channels_last(&self) -> bool {
        [&self.x, &self.y, &self.w].iter().any(|tensor| tensor.is_channels_last())
    }

    /// The same problem with contiguous tensors in NCHW.
    pub(super) fn packed(&self) -> Outcome<Self> {
        let packed = |tensor: &Tensor| Tensor::new(tensor.kind, &tensor.dims, None).map(Arc::new);
        let Self { direction, x, w, y, conv } = self;
        Ok(Self {
            direction: *direction,
            x: packed(x)?,
            w: packed(w)?,
            y: packed(y)?,
            conv: Arc::clone(conv),
        })
    }

    /// Whether the type has 16 bits.
    pub(super) fn is_narrow(&self) -> bool {
        matches!(self.x.kind, miopenDataType_t::miopenHalf | miopenDataType_t::miopenBFloat16)
    }

    /// Whether only tensor cores sum without extra rounding. cuDNN's kernel for the gradient by the input without tensor cores
    /// processes `y` in parts of 128 positions and adds to the output: in 16 bits that rounds the sums between the parts.
    /// Depthwise convolutions have kernels of their own.
    pub(super) fn wants_tensor_cores(&self) -> bool {
        let channels = |tensor: &Tensor| tensor.dims.get(1).copied();
        let depthwise = channels(&self.w) == Some(1) && channels(&self.x) != Some(1);
        self.direction == Direction::BackwardData && self.is_narrow() && !depthwise
    }

    /// Whether cuDNN's older functions use tensor cores where they report it: for f16 only with a multiple of eight channels.
    pub(super) fn has_tensor_cores(&self) -> bool {
        let eights = match (&self.x.dims[..], &self.w.dims[..]) {
            ([_, all, ..], [filters, channels, ..]) if *channels > 0 => {
                channels % 8 == 0 && filters % (8 * (all / channels).max(1)) == 0
            }
            _ => false,
        };
        self.x.kind != miopenDataType_t::miopenHalf || eights
    }

    pub(super) fn raw(&self, math: Math) -> Outcome<Raw> {
        let channels_last = self.is_channels_last();
        Ok(Raw {
            x: self.x.raw()?,
            w: self.w.filter(channels_last)?,
            y: self.y.raw()?,
            conv: self.conv.raw(math)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_gradients_by_the_picture_want_tensor_cores() {
        use Direction::{BackwardData, BackwardWeights, Forward};
        use miopenDataType_t as Kind;
        let made = |direction, kind, channels: [usize; 2]| {
            let tensor = |dims: &[usize]| Arc::new(Tensor::new(kind, dims, None).unwrap());
            let groups = channels[0] / channels[1];
            let conv = Arc::new(Convolution::sample(&[1, 1], &[2, 2], &[1, 1], groups as i32));
            let (x, w, y) = ([2, channels[0], 9, 9], [6, channels[1], 3, 3], [2, 6, 5, 5]);
            Problem::from_parts(direction, tensor(&x), tensor(&w), tensor(&y), conv)
        };
        let of = |direction, kind, channels| made(direction, kind, channels).wants_tensor_cores();
        for kind in [Kind::miopenHalf, Kind::miopenBFloat16] {
            assert!(of(BackwardData, kind, [6, 6]) && of(BackwardData, kind, [6, 3]));
            assert!(of(BackwardData, kind, [1, 1]) && !of(BackwardData, kind, [6, 1]));
            assert!(!of(Forward, kind, [6, 6]) && !of(BackwardWeights, kind, [6, 6]));
        }
        assert!(!of(BackwardData, Kind::miopenFloat, [6, 6]));
        // Six filters: f16 does not use tensor cores.
        assert!(made(BackwardData, Kind::miopenBFloat16, [8, 8]).has_tensor_cores());
        assert!(!made(BackwardData, Kind::miopenHalf, [8, 8]).has_tensor_cores());
    }
}
