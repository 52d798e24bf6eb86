//! Dropout, forward and backward.

use crate::convert::out;
use crate::raw::dropout as raw;
use crate::tensor::{is_packed, same_dims};
use crate::work::{Scratch, Work};
use crate::{DropoutDesc, Element, Error, Handle, Result, Tensor, TensorDesc, TensorMut};

/// The mask of kept elements of a dropout.
pub struct DropoutMask {
    scratch: Scratch,
    bytes: usize,
    /// The shape and type that it was made for.
    input: TensorDesc,
}

impl Handle {
    /// `y ← x`, where each element becomes 0 with the probability `rate` and is divided by 1 − `rate` otherwise. The mask is kept for
    /// [`Handle::dropout_backward`]. Both are contiguous: MIOpen reads and writes pairs of elements, also past the end of a row with a gap
    /// behind it.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for different shapes, or gaps between elements; the error of memory, stream or library.
    #[doc(alias = "miopenDropoutForward")]
    #[doc(alias = "miopenDropoutGetReserveSpaceSize")]
    pub fn dropout_forward<T: Element>(
        &self,
        dropout: &mut DropoutDesc,
        x: &Tensor<'_, T>,
        y: &mut TensorMut<'_, T>,
    ) -> Result<DropoutMask> {
        same_dims("the shape of a dropout's output", x.desc(), y.desc())?;
        is_packed("a dropout's input", x.desc())?;
        is_packed("a dropout's output", y.desc())?;
        let (desc, x_desc, y_desc) = (dropout.on(self)?, x.desc().on(self)?, y.desc().on(self)?);
        let bytes = self.call("what a dropout keeps", |m, _| {
            // SAFETY: S1: the descriptor is live, and the out-pointer too.
            out(|bytes| unsafe { raw::dropout_get_reserve_space_size(m, x_desc, bytes) })
        })?;
        let mut kept = DropoutMask { scratch: Scratch::new(self, bytes)?, bytes, input: x.desc().clone() };
        let mut work = Work::new(self, "a dropout");
        let (x, y, space) = (work.read(x), work.write(y), work.scratch(&mut kept.scratch));
        work.scratch(dropout.states());
        // SAFETY: S1, S2: the descriptors say how the tensors lie in memory that is named, as the generators are; the mask has the bytes
        // asked for.
        work.run(|m, h| unsafe {
            raw::dropout_forward(m, h, desc, x_desc, x_desc, x, y_desc, y, space, bytes)
        })?;
        Ok(kept)
    }

    /// `dx ← dy` with the same mask as in [`Handle::dropout_forward`], and the same divisor.
    ///
    /// # Errors
    /// As [`Handle::dropout_forward`]; [`Error::Mismatch`] also for the mask of something else.
    #[doc(alias = "miopenDropoutBackward")]
    pub fn dropout_backward<T: Element>(
        &self,
        dropout: &mut DropoutDesc,
        dy: &Tensor<'_, T>,
        dx: &mut TensorMut<'_, T>,
        mask: &mut DropoutMask,
    ) -> Result<()> {
        same_dims("the shape of an input's gradient", dy.desc(), dx.desc())?;
        is_packed("an output's gradient", dy.desc())?;
        is_packed("an input's gradient", dx.desc())?;
        if mask.input != *dx.desc() {
            return Err(Error::mismatch("what a dropout's mask was made for", dx.desc(), &mask.input));
        }
        let (desc, dy_desc, dx_desc) = (dropout.on(self)?, dy.desc().on(self)?, dx.desc().on(self)?);
        let bytes = mask.bytes;
        let mut work = Work::new(self, "the gradient of a dropout");
        let (dy, dx, space) = (work.read(dy), work.write(dx), work.scratch(&mut mask.scratch));
        work.scratch(dropout.states());
        // SAFETY: S1, S2: as in the forward step.
        work.run(|m, h| unsafe {
            raw::dropout_backward(m, h, desc, dx_desc, dy_desc, dy, dx_desc, dx, space, bytes)
        })
    }
}
