//! Local response normalisation, forward and backward.

use crate::convert::host;
use crate::raw::norm as raw;
use crate::tensor::{is_packed, same_dims};
use crate::work::{Scratch, Work};
use crate::{Blend, Element, Error, Handle, LrnDesc, Result, Tensor, TensorDesc, TensorMut};
use std::ptr::null_mut;

/// The denominators that a local response normalisation's training step keeps.
pub struct LrnWorkspace {
    scratch: Scratch,
    /// The normalisation and the shape that it was made for.
    lrn: crate::Lrn,
    output: TensorDesc,
}

impl Handle {
    /// `y ←` the normalised `x` `[n, c, h, w]`.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for different shapes, or gaps between elements; the error of memory, stream or library.
    #[doc(alias = "miopenLRNForward")]
    pub fn lrn_forward<T: Element>(
        &self,
        lrn: &LrnDesc,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        check(x.desc(), y.desc())?;
        let (desc, x_desc, y_desc) = (lrn.on(self)?, x.desc().on(self)?, y.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "a local response normalisation");
        let (x, y) = (work.read(x), work.write(y));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; no workspace is written.
        work.run(|m, h| unsafe {
            raw::lrn_forward(m, h, desc, host(&alpha), x_desc, x, host(&beta), y_desc, y, false, null_mut())
        })
    }

    /// As [`Handle::lrn_forward`], keeping what [`Handle::lrn_backward`] needs.
    ///
    /// # Errors
    /// As [`Handle::lrn_forward`].
    #[doc(alias = "miopenLRNForward")]
    #[doc(alias = "miopenLRNGetWorkSpaceSize")]
    pub fn lrn_forward_training<T: Element>(
        &self,
        lrn: &LrnDesc,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<LrnWorkspace> {
        check(x.desc(), y.desc())?;
        let bytes = lrn.workspace_bytes(y.desc(), self)?;
        let mut kept =
            LrnWorkspace { scratch: Scratch::new(self, bytes)?, lrn: lrn.lrn(), output: y.desc().clone() };
        let (desc, x_desc, y_desc) = (lrn.on(self)?, x.desc().on(self)?, y.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "a local response normalisation");
        let (x, y, space) = (work.read(x), work.write(y), work.scratch(&mut kept.scratch));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; the workspace has the bytes asked for.
        work.run(|m, h| unsafe {
            raw::lrn_forward(m, h, desc, host(&alpha), x_desc, x, host(&beta), y_desc, y, true, space)
        })?;
        Ok(kept)
    }

    /// The gradient `dx` of the input, from the output, its gradient, the input, and what [`Handle::lrn_forward_training`] kept.
    ///
    /// # Errors
    /// As [`Handle::lrn_forward`]; [`Error::Mismatch`] also for a workspace of something else.
    #[doc(alias = "miopenLRNBackward")]
    pub fn lrn_backward<T: Element>(
        &self,
        lrn: &LrnDesc,
        y: &Tensor<'_, T>,
        dy: &Tensor<'_, T>,
        x: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
        workspace: &mut LrnWorkspace,
    ) -> Result<()> {
        check(x.desc(), y.desc())?;
        check(x.desc(), dy.desc())?;
        check(x.desc(), dx.desc())?;
        if workspace.lrn != lrn.lrn() || workspace.output != *y.desc() {
            let (wanted, found) = ((lrn.lrn(), y.desc()), (workspace.lrn, &workspace.output));
            return Err(Error::mismatch("what a normalisation's workspace was made for", wanted, found));
        }
        let desc = lrn.on(self)?;
        let (y_desc, dy_desc) = (y.desc().on(self)?, dy.desc().on(self)?);
        let (x_desc, dx_desc) = (x.desc().on(self)?, dx.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "the gradient of a local response normalisation");
        let (y, dy, x, dx) = (work.read(y), work.read(dy), work.read(x), work.write(dx));
        let space = work.scratch(&mut workspace.scratch);
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; the workspace is of such an output.
        work.run(|m, h| unsafe {
            raw::lrn_backward(
                m,
                h,
                desc,
                host(&alpha),
                y_desc,
                y,
                dy_desc,
                dy,
                x_desc,
                x,
                host(&beta),
                dx_desc,
                dx,
                space.cast_const(),
            )
        })
    }
}

fn check(x: &TensorDesc, other: &TensorDesc) -> Result<()> {
    same_dims("the shape of a local response normalisation", x, other)?;
    is_packed("a local response normalisation's input", x)?;
    is_packed("a local response normalisation's tensor", other)?;
    if x.dims().len() == 4 {
        return Ok(());
    }
    Err(Error::invalid("the dimensions of a local response normalisation", x.dims().len(), "it has to be 4"))
}
