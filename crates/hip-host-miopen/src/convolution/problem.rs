//! The problem of a convolution call, and the checks of its tensors.

use super::descriptor::Convolution;
use super::geometry::Geometry;
use crate::answer::{BAD, NO_SOLVER, Outcome, check};
use crate::tensor::Tensor;
use hip_sys::miopen::miopenDataType_t;

/// The tensor that is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Direction {
    Forward,
    Data,
    Weights,
}

/// The tensors of a convolution; x, w and y keep their roles, whichever of them is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Problem {
    pub(crate) direction: Direction,
    pub(crate) convolution: Convolution,
    pub(crate) x: Tensor,
    pub(crate) w: Tensor,
    pub(crate) y: Tensor,
}

impl Problem {
    /// As the caller names the direction. In a transposed convolution x and y are exchanged, and forward becomes backward.
    pub(crate) fn new(direction: Direction, convolution: Convolution, [x, w, y]: [Tensor; 3]) -> Self {
        if !convolution.transposed {
            return Self { direction, convolution, x, w, y };
        }
        let direction = match direction {
            Direction::Forward => Direction::Data,
            Direction::Data => Direction::Forward,
            Direction::Weights => Direction::Weights,
        };
        Self { direction, convolution, x: y, w, y: x }
    }

    /// Whether it has two spatial dimensions.
    pub(crate) fn is_flat(&self) -> bool {
        self.convolution.rank() == 2
    }

    /// Its shape.
    ///
    /// # Errors
    /// BadParm if the tensors do not match, NotImplemented for types that are not supported here.
    pub(crate) fn geometry(&self) -> Outcome<Geometry> {
        let (x, w, y, convolution) = (&self.x, &self.w, &self.y, &self.convolution);
        let rank = convolution.rank();
        check([x, w, y].iter().all(|tensor| tensor.rank() == rank + 2), BAD)?;
        check(x.dtype == w.dtype && x.dtype == y.dtype, BAD)?;
        const TYPES: [miopenDataType_t; 3] =
            [miopenDataType_t::miopenFloat, miopenDataType_t::miopenHalf, miopenDataType_t::miopenBFloat16];
        check(x.is_of(&TYPES), NO_SOLVER)?;
        let groups = convolution.groups;
        check(x.lens[1].is_multiple_of(groups) && w.lens[0].is_multiple_of(groups), BAD)?;
        check(x.lens[1] / groups == w.lens[1], BAD)?;
        check(x.lens[0] == y.lens[0] && w.lens[0] == y.lens[1], BAD)?;
        check(convolution.reach(&x.lens[2..], &w.lens[2..])? == y.lens[2..], BAD)?;
        let whole = |list: &[usize], missing: usize| {
            let mut whole = [missing; 3];
            whole[3 - rank..].copy_from_slice(list);
            whole
        };
        Ok(Geometry {
            images: x.lens[0],
            groups,
            inputs: w.lens[1],
            outputs: w.lens[0] / groups,
            input: whole(&x.lens[2..], 1),
            output: whole(&y.lens[2..], 1),
            kernel: whole(&w.lens[2..], 1),
            pad: whole(&convolution.pads, 0),
            stride: whole(&convolution.strides, 1),
            dilation: whole(&convolution.dilations, 1),
        })
    }
}
