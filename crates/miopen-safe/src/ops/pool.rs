//! Pooling, forward and backward.

use crate::convert::host;
use crate::raw::pooling as raw;
use crate::tensor::{has_dims, is_packed, same_dims};
use crate::work::{Scratch, Work};
use crate::{Blend, Element, Error, Handle, PoolingDesc, Result, Tensor, TensorDesc, TensorMut};
use std::ptr::null_mut;

/// The indices of the largest elements, which a pooling's training step keeps. Made for one pooling and one shape.
pub struct PoolingWorkspace {
    scratch: Scratch,
    bytes: usize,
    /// The pooling and the tensors that it was made for.
    pooling: crate::Pooling,
    input: TensorDesc,
    output: TensorDesc,
}

impl Handle {
    /// `y ←` the pooled `x` `[n, c, …]`, with the lengths of [`Pooling::output_dims`](crate::Pooling::output_dims). Both are contiguous: MIOpen's
    /// kernels ignore the last stride, and store the indices with the output's strides.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes that do not match, or gaps between elements; the error of memory, stream or library. MIOpen supports only
    /// [`Blend::SET`].
    #[doc(alias = "miopenPoolingForward")]
    pub fn pooling_forward<T: Element>(
        &self,
        pooling: &PoolingDesc,
        blend: Blend,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<()> {
        check(pooling, x.desc(), y.desc())?;
        let (desc, x_desc, y_desc) = (pooling.on(self)?, x.desc().on(self)?, y.desc().on(self)?);
        let mut work = Work::new(self, "a pooling");
        let (x, y) = (work.read(x), work.write(y));
        let (alpha, beta) = (host(&blend.alpha), host(&blend.beta));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; no workspace is written.
        work.run(|m, h| unsafe {
            raw::pooling_forward(m, h, desc, alpha, x_desc, x, beta, y_desc, y, false, null_mut(), 0)
        })
    }

    /// As [`Handle::pooling_forward`], keeping what [`Handle::pooling_backward`] needs.
    ///
    /// # Errors
    /// As [`Handle::pooling_forward`], and [`Error::Invalid`] where the type of the indices is too small for the positions.
    #[doc(alias = "miopenPoolingForward")]
    pub fn pooling_forward_training<T: Element>(
        &self,
        pooling: &PoolingDesc,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<PoolingWorkspace> {
        check(pooling, x.desc(), y.desc())?;
        pooling.pooling().check_indices(x.desc())?;
        let bytes = pooling.workspace_bytes(y.desc(), self)?;
        let mut kept = PoolingWorkspace {
            scratch: Scratch::new(self, bytes)?,
            bytes,
            pooling: pooling.pooling().clone(),
            input: x.desc().clone(),
            output: y.desc().clone(),
        };
        let (desc, x_desc, y_desc) = (pooling.on(self)?, x.desc().on(self)?, y.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "a pooling");
        let (x, y, space) = (work.read(x), work.write(y), work.scratch(&mut kept.scratch));
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named; the workspace has the bytes asked for.
        work.run(|m, h| unsafe {
            raw::pooling_forward(
                m,
                h,
                desc,
                host(&alpha),
                x_desc,
                x,
                host(&beta),
                y_desc,
                y,
                true,
                space,
                kept.bytes,
            )
        })?;
        Ok(kept)
    }

    /// The gradient `dx` of a pooling's input, from its output, the output's gradient, its input, and the indices of
    /// [`Handle::pooling_forward_training`].
    ///
    /// # Errors
    /// [`Error::Mismatch`] for shapes that do not match, also those of the workspace, or gaps between elements; the error of memory, stream or library.
    #[doc(alias = "miopenPoolingBackward")]
    pub fn pooling_backward<T: Element>(
        &self,
        pooling: &PoolingDesc,
        y: &Tensor<'_, T>,
        dy: &Tensor<'_, T>,
        x: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
        workspace: &mut PoolingWorkspace,
    ) -> Result<()> {
        check(pooling, x.desc(), y.desc())?;
        same_dims("the shape of an output's gradient", y.desc(), dy.desc())?;
        same_dims("the shape of an input's gradient", x.desc(), dx.desc())?;
        is_packed("an output's gradient", dy.desc())?;
        is_packed("an input's gradient", dx.desc())?;
        let made_for = (&workspace.pooling, &workspace.input, &workspace.output);
        let wanted = (pooling.pooling(), x.desc(), y.desc());
        if made_for != wanted {
            return Err(Error::mismatch("what a pooling's workspace was made for", wanted, made_for));
        }
        let desc = pooling.on(self)?;
        let (y_desc, dy_desc) = (y.desc().on(self)?, dy.desc().on(self)?);
        let (x_desc, dx_desc) = (x.desc().on(self)?, dx.desc().on(self)?);
        let Blend { alpha, beta } = Blend::SET;
        let mut work = Work::new(self, "the gradient of a pooling");
        let (y, dy, x, dx) = (work.read(y), work.read(dy), work.read(x), work.write(dx));
        let space = work.scratch(&mut workspace.scratch);
        // SAFETY: S1, S2, S24: the descriptors say how the tensors lie in memory that is named; the workspace was filled for this
        // pooling and shape, so its indices lie inside.
        work.run(|m, h| unsafe {
            raw::pooling_backward(
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
                space,
            )
        })
    }
}

fn check(pooling: &PoolingDesc, x: &TensorDesc, y: &TensorDesc) -> Result<()> {
    let wanted = pooling.pooling().output_dims(x.dims())?;
    has_dims("the shape of a pooling's output", &wanted, y)?;
    is_packed("a pooling's input", x)?;
    is_packed("a pooling's output", y)
}
