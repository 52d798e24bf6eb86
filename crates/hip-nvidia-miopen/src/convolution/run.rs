//! Running an algorithm.

use super::algorithm::{backward_data, backward_weights, forward};
use super::math::Math;
use super::problem::{Buffers, Direction, Problem};
use crate::Outcome;
use crate::entry::all_there;
use crate::factor::Factor;
use crate::handle::Session;
use crate::library::{Out, check, cudnn};

/// The caller's workspace.
#[derive(Clone, Copy)]
pub(super) struct Workspace {
    pub(super) memory: Out,
    pub(super) size: usize,
}

impl Workspace {
    /// A null workspace has no size, whatever the caller passes.
    pub(super) fn new(memory: Out, size: usize) -> Self {
        Self { memory, size: if memory.is_null() { 0 } else { size } }
    }
}

/// The factors of the result and of the old output.
#[derive(Clone, Copy)]
pub(super) struct Blend {
    pub(super) alpha: Factor,
    pub(super) beta: Factor,
}

impl Blend {
    /// The result replaces the old output.
    pub(super) fn replace(problem: &Problem) -> Self {
        let kind = problem.x.kind;
        Self { alpha: Factor::new(1.0, kind), beta: Factor::new(0.0, kind) }
    }
}

/// Submits the problem to the session's stream. The buffers are in the problem's order.
///
/// # Safety
/// The buffers fit the problem's tensors, and the workspace has its size.
pub(super) unsafe fn run(
    session: &Session,
    problem: &Problem,
    (number, math): (u32, Math),
    blend: Blend,
    buffers: Buffers,
    workspace: Workspace,
) -> Outcome {
    let library = cudnn()?;
    all_there(&[buffers.x.cast_const(), buffers.w, buffers.y])?;
    let raw = problem.raw(math)?;
    let (alpha, beta) = (blend.alpha.get(), blend.beta.get());
    let (Buffers { x, w, y }, Workspace { memory, size }) = (buffers, workspace);
    // SAFETY: S11: live descriptors and factors; the memory is the caller's word.
    check(unsafe {
        match problem.direction {
            Direction::Forward => (library.cudnnConvolutionForward)(
                session.raw,
                alpha,
                raw.x,
                x,
                raw.w,
                w,
                raw.conv,
                forward(number)?,
                memory,
                size,
                beta,
                raw.y,
                y,
            ),
            Direction::BackwardData => (library.cudnnConvolutionBackwardData)(
                session.raw,
                alpha,
                raw.w,
                w,
                raw.y,
                y,
                raw.conv,
                backward_data(number)?,
                memory,
                size,
                beta,
                raw.x,
                x,
            ),
            Direction::BackwardWeights => (library.cudnnConvolutionBackwardFilter)(
                session.raw,
                alpha,
                raw.x,
                x,
                raw.y,
                y,
                raw.conv,
                backward_weights(number)?,
                memory,
                size,
                beta,
                raw.w,
                w,
            ),
        }
    })
}
